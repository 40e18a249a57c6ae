//! Reads a partition and states facts: listing, ledger, superblock, walk, residue probe.
//!
//! Promises: no opinion and no write; bounded work and memory, in steps of a size the caller chooses.

mod facts;

pub use facts::{
    BadChecksum, Evidence, FINDS_LISTED_MAX, Find, IndexFacts, IndexState, LedgerFacts, LedgerState, Listing,
    OtherEntry, PartitionFacts, Proven, RecordedGap, Residue, ResidueFacts, Seal, SegmentFacts, SegmentMarks,
    Stop, StopDetail, SuperblockState, Unavailable, Undecodable, Work,
};

/// Most entries of a rebuilt index; the spacing grows with the log instead.
pub const REBUILT_ENTRIES_MAX: usize = 16 * 1024;

/// Most older marks of one segment that are checked on the way to the newest.
pub const MARKS_CHECKED_MAX: usize = 64;
