//! Reads a partition and states facts: listing, ledger, superblock, walk, residue probe.
//!
//! Promises: no opinion and no write; bounded work and memory, in steps of a size the caller chooses. The
//! facts do not depend on the window, the limit of a step, the order of a listing or what is cached.
//! Leaves out: what follows from the facts ([`crate::decide`]).

mod batch_search;
mod candidate;
mod directory_listing;
mod drive;
mod facts;
mod finds;
mod index_again;
mod index_walk;
mod ledger_facts;
mod ledger_reader;
mod ledger_reading;
mod log_check;
mod log_walk;
mod meter;
mod observation;
mod payload;
mod placement;
mod residue_probe;
mod residue_reader;
mod run_collector;
mod segment_files;
mod segment_walk;
mod stop;
mod superblock_reader;
mod verifier;
mod window;
mod workspace;

#[cfg(test)]
mod tests;

pub(crate) use batch_search::BatchSearch;
pub(crate) use directory_listing::Names;
pub(crate) use drive::{Allowance, Drive, Drover};
pub use facts::{
    Evidence, FINDS_LISTED_MAX, Find, IndexFacts, IndexState, Listing, OtherEntry, PartitionFacts, Proven,
    Residue, ResidueFacts, Run, SegmentFacts, SuperblockState, Unavailable, Work,
};
pub use ledger_facts::{LedgerFacts, LedgerState, RecordedGap, Seal, SegmentMarks};
pub(crate) use ledger_reader::LedgerReader;
pub(crate) use log_check::{LogCheck, LogExpectation};
pub(crate) use meter::Meter;
pub use observation::{Expectation, Observation, Observed, Progress, STEP_BYTES_MIN};
pub use placement::misplacement;
pub use residue_probe::{
    PROBE_BYTES_PER_RESIDUE_BYTE, PROBE_READS_PER_RESIDUE_BYTE, RESIDUE_BYTES_PER_CANDIDATE,
    SECOND_LOOKS_PER_RESIDUE_BYTE,
};
pub use stop::{BadChecksum, Stop, StopDetail, Undecodable};
pub(crate) use superblock_reader::read_superblock;
pub use superblock_reader::{SUPERBLOCK_STEP_BYTES, SuperblockIdentity};
pub use verifier::{Depth, HEADER_HASHED_BYTES_MAX, Taken, Verifier, Want};
pub(crate) use window::{Fill, Source};
pub(crate) use workspace::Tenant;
pub use workspace::{WINDOW_BYTES_MAX, WINDOW_BYTES_MIN, Workspace};

/// Most entries of a rebuilt index; the spacing grows with the log instead.
pub const REBUILT_ENTRIES_MAX: usize = 16 * 1024;

/// Most older marks of one segment that are checked on the way to the newest.
pub const MARKS_CHECKED_MAX: usize = 64;

/// Most segments without a log whose marks are kept, the newest: one at or above the floor is enough to
/// refuse, and those below it count for nothing.
pub const ABSENT_SEGMENTS_MAX: usize = 4096;

/// Most runs of batches in one residue that are stated one by one. What lies behind them is not carried over by
/// an accepted loss, only set aside.
pub const RUNS_MAX: usize = 1024;

/// Most ranges that an operator gave up that are kept, the newest. Where an older one is forgotten, the gap
/// is unexplained, and refused.
pub const LOSSES_MAX: usize = 1024;
