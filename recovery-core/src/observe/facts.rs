//! What observation states: facts about one partition, with no opinion on any of them.
//!
//! Promises: plain values, equal for equal disks, whatever the window, the step limit, the listing order
//! or the warmth of a cache. Leaves out: verdicts ([`crate::decide`]).

use super::{Expectation, LedgerState, Seal, StopDetail};
use crate::format::{ChainHash, Checksum, IndexEntry, Mark, SuperblockSlot};
use crate::storage::{EntryKind, Name, StorageError};
use crate::units::{Durability, Length, Namespace, Offset, PartitionId, Position, SegmentStart};

/// What lies between the proven prefix and the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Residue {
    /// Nothing. Only with [`super::Stop::End`].
    None,
    /// Only zero bytes.
    Zeros,
    /// Bytes in which no batch verifies.
    Noise,
    /// A batch verifies that continues this partition.
    Survivor,
    /// A batch verifies, and none that continues this partition.
    Stray,
    /// The budget ran out before all of it was looked at, and no survivor was seen.
    Unproven,
}

impl Residue {
    /// Every residue, in the order of the decision table.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Zeros, Self::Noise, Self::Survivor, Self::Stray, Self::Unproven];

    /// The permanent word for this residue.
    pub const fn code(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Zeros => "zeros",
            Self::Noise => "noise",
            Self::Survivor => "survivor",
            Self::Stray => "stray",
            Self::Unproven => "unproven",
        }
    }
}

/// How a stop relates to what was durable (DESIGN section 4, "the relation").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// Nothing is known about this place.
    Unknown,
    /// Bytes behind the stop were durable.
    Below,
    /// Nothing behind the stop is known to have been durable.
    AtOrAbove,
}

impl Evidence {
    /// Every relation, in the order of the decision table.
    pub const ALL: [Self; 3] = [Self::Unknown, Self::Below, Self::AtOrAbove];

    /// The permanent word for this relation.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Below => "below",
            Self::AtOrAbove => "at-or-above",
        }
    }
}

/// How an index relates to its log. Derived data: never a reason to refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexState {
    /// Starts at the first batch, every entry names a proven batch. It may lag behind the log.
    Good,
    /// No file; or a file without an entry beside a log that has batches.
    Absent,
    /// Good entries, then 1 to 23 bytes that are none (F97).
    PartialTail,
    /// An entry that names no proven batch, in its place and order.
    Wrong,
}

impl IndexState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Good, Self::Absent, Self::PartialTail, Self::Wrong];

    /// The permanent word for this state.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Absent => "absent",
            Self::PartialTail => "partial-tail",
            Self::Wrong => "wrong",
        }
    }
}

/// The prefix of a log in which every batch verifies and continues the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proven {
    /// One behind its last byte.
    pub end: Position,
    /// One behind its last offset; the segment's start if it holds no message.
    pub next_offset: Offset,
    /// Batches, empty ones included.
    pub batches: u64,
    /// Messages, counted one by one (F39).
    pub messages: u64,
    /// Messages whose stored delta disagrees with their place in the batch.
    pub delta_mismatches: u64,
    /// The chain hash at `end`; `None` where neither a ledger nor the caller names an incarnation.
    pub chain_hash: Option<ChainHash>,
}

/// A batch that verifies, found in a residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Find {
    /// Where its header starts.
    pub position: Position,
    /// Its partition id.
    pub partition_id: PartitionId,
    /// Its base offset.
    pub base_offset: Offset,
    /// Its message count.
    pub message_count: u32,
    /// Its length.
    pub batch_length: Length,
}

/// Most finds of one kind that are listed one by one; the counts go on behind them.
pub const FINDS_LISTED_MAX: usize = 64;

/// Whole batches in a residue that follow each other without a gap in bytes or offsets, and that could go
/// into a segment of their own: none of their offsets is held or was given up elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where the first header starts.
    pub position: Position,
    /// Bytes of all batches.
    pub length: Length,
    /// Offset of the first message.
    pub first: Offset,
    /// One behind the last.
    pub next: Offset,
    /// The chain hash behind the last batch, if the batches begin a segment at `first`, or follow a prefix that
    /// they directly continue or that holds no message; `None` where no incarnation is known.
    pub chain_hash: Option<ChainHash>,
}

/// What lies past the proven prefix, and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidueFacts {
    /// Its kind.
    pub kind: Residue,
    /// Its length in bytes: log length minus proven end.
    pub length: Length,
    /// XXH3-64 of all of it as it was read once; `None` if it was not read to its end.
    pub checksum: Option<Checksum>,
    /// How many survivors there are.
    pub survivor_count: u64,
    /// The first survivors, by position.
    pub survivors: Vec<Find>,
    /// One behind the largest offset that a survivor holds or, where the budget ran out, could hold.
    pub survivors_next_offset: Option<Offset>,
    /// The batches that could be carried into segments of their own, ascending by position and by offset; at
    /// most [`crate::observe::RUNS_MAX`], the first.
    pub runs: Vec<Run>,
    /// How many strays there are.
    pub stray_count: u64,
    /// The first strays, by position.
    pub strays: Vec<Find>,
    /// Candidates looked at.
    pub candidates: u64,
}

/// An index as it was found, and what a rebuilt one would hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexFacts {
    /// Its state.
    pub state: IndexState,
    /// Its length in bytes; `None` if there is no such file.
    pub length: Option<Length>,
    /// XXH3-64 of all its bytes; `None` if there is no such file.
    pub checksum: Option<Checksum>,
    /// Whole entries.
    pub entries: u64,
    /// The last well-formed entry that names a place past the stop and an offset above the next one. It
    /// speaks only where there is no ledger and the directory was written `Synced` or `Proven`: then all
    /// bytes before its position were durable (DESIGN section 4, rule 1).
    pub beyond: Option<IndexEntry>,
    /// The entries of a new index over the proven prefix, sparse and bounded in number
    /// ([`crate::observe::REBUILT_ENTRIES_MAX`]); empty when `state` is good.
    pub rebuilt: Vec<IndexEntry>,
    /// Whether the file's bytes are a prefix of the encoded `rebuilt` entries, so that nothing would be
    /// lost by replacing it; true if there is no file.
    pub is_prefix_of_rebuilt: bool,
}

/// Everything known about one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFacts {
    /// The segment.
    pub start: SegmentStart,
    /// Length of its log.
    pub log_length: Length,
    /// How far the log is proven.
    pub proven: Proven,
    /// Why no further.
    pub stop: StopDetail,
    /// What follows.
    pub residue: ResidueFacts,
    /// How the stop relates to what was durable.
    pub evidence: Evidence,
    /// The newest valid mark of the segment, if the ledger has one.
    pub mark: Option<Mark>,
    /// The seal, if the ledger has one that is not void.
    pub seal: Option<Seal>,
    /// Whether `mark` is where the operator accepted a loss: the segment ends there, and what follows is still
    /// to be carried over or set aside.
    pub accepts_loss: bool,
    /// Its index.
    pub index: IndexFacts,
}

/// How the superblock pair was found (IGGY_FORMAT section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuperblockState {
    /// Both slots missing or empty.
    None,
    /// The newest valid record.
    Known {
        /// Next offset to mint; 0 says none was recorded.
        offset_frontier: Offset,
        /// The slot that holds it.
        slot: SuperblockSlot,
        /// Its sequence.
        sequence: u64,
    },
    /// A slot has bytes that do not verify. There is no fallback to the other one.
    Unreadable {
        /// The slot.
        slot: SuperblockSlot,
        /// Its length.
        length: Length,
    },
    /// The record is of another cluster, or of another replica.
    Mismatch {
        /// The slot that holds it.
        slot: SuperblockSlot,
    },
}

/// An entry of the directory that is neither segment nor any other file of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherEntry {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub kind: EntryKind,
}

/// What lies in the partition directory, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Segments that have a log, ascending.
    pub segments: Vec<SegmentStart>,
    /// Names that end in `.log` and are no segment, and names of the format on what is no regular file;
    /// ascending.
    pub unexpected: Vec<OtherEntry>,
    /// Scratch: `*.staging`, and indexes without a log; regular files only, ascending.
    pub scratch: Vec<Name>,
    /// Everything else that is not ledger or superblock, ascending: left alone.
    pub others: Vec<OtherEntry>,
}

/// How much was read and hashed to learn the facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bytes that storage returned.
    pub bytes_read: u64,
    /// Bytes given to a hash.
    pub bytes_hashed: u64,
    /// Frame bytes a probe stepped over.
    pub bytes_walked: u64,
    /// The most bytes read plus hashed in one step.
    pub longest_step_bytes: u64,
}

/// Everything known about one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionFacts {
    /// Which partition.
    pub namespace: Namespace,
    /// What the caller says the directory was written with; counts only without a ledger.
    pub durability: Durability,
    /// Names.
    pub listing: Listing,
    /// The ledger.
    pub ledger: LedgerState,
    /// The superblock.
    pub superblock: SuperblockState,
    /// Segments at or above the floor, ascending.
    pub segments: Vec<SegmentFacts>,
    /// Segments below the floor, ascending: expired, not judged and not served.
    pub expired: Vec<SegmentStart>,
    /// What it took.
    pub work: Work,
}

impl PartitionFacts {
    /// The facts on a partition that could not be looked at.
    pub fn of_nothing(expectation: Expectation) -> Self {
        Self {
            namespace: expectation.namespace,
            durability: expectation.durability,
            listing: Listing::default(),
            ledger: LedgerState::None { length: None },
            superblock: SuperblockState::None,
            segments: Vec::new(),
            expired: Vec::new(),
            work: Work::default(),
        }
    }
}

/// Why observation could not be finished: an error is not evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The directory is locked by somebody else.
    Locked,
    /// A storage call failed.
    Io(StorageError),
}
