//! What a scenario expects: of the last `start`, of an answer, of a status, of an error.
//!
//! Promises: only what is named is compared. Leaves out: the comparing.

use recovery_core::observe::{Evidence, IndexState, Residue, Stop};
use recovery_core::units::{Namespace, Offset, Position, SegmentStart};

use super::step::{BatchId, OffsetRange};
use super::word::words;

/// One thing that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Of the recovery of a partition.
    Partition(Box<ExpectPartition>),
    /// Of a client's read.
    Poll(ExpectPoll),
    /// Of what the host says of a partition.
    Status {
        /// Which.
        partition: Namespace,
        /// What it says.
        state: StatusWord,
    },
    /// Of a failed append or flush.
    Error {
        /// Where.
        partition: Namespace,
        /// Its permanent code.
        code: String,
    },
}

impl Expectation {
    /// The partition that it speaks of.
    pub const fn partition(&self) -> Namespace {
        match self {
            Self::Partition(expected) => expected.partition,
            Self::Poll(expected) => expected.partition,
            Self::Status { partition, .. } | Self::Error { partition, .. } => *partition,
        }
    }
}

/// What is expected of the last recovery of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectPartition {
    /// Which.
    pub partition: Namespace,
    /// The disposition.
    pub disposition: Option<DispositionWord>,
    /// Why it is not served.
    pub reason: Option<ReasonWord>,
    /// The offset of the next message.
    pub next_offset: Option<Offset>,
    /// Messages that are served.
    pub messages: Option<u64>,
    /// Offsets that are served: ascending runs; empty for none at all.
    pub served: Option<Vec<OffsetRange>>,
    /// Segments, in the order they are written.
    pub segments: Vec<ExpectSegment>,
    /// Bytes that were copied aside.
    pub saved_bytes: Option<u64>,
    /// Whether the directory must be, byte for byte, what the start found.
    pub unchanged: bool,
}

impl ExpectPartition {
    /// Expects nothing yet.
    pub const fn new(partition: Namespace) -> Self {
        Self {
            partition,
            disposition: None,
            reason: None,
            next_offset: None,
            messages: None,
            served: None,
            segments: Vec::new(),
            saved_bytes: None,
            unchanged: false,
        }
    }
}

/// What is expected of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectSegment {
    /// Which.
    pub start: SegmentStart,
    /// Why the walk stopped.
    pub stop: Option<Stop>,
    /// What lies behind.
    pub residue: Option<Residue>,
    /// The relation to what was durable.
    pub evidence: Option<Evidence>,
    /// The index.
    pub index: Option<IndexState>,
    /// What is done.
    pub action: Option<ActionWord>,
    /// The batch at whose first byte it is cut.
    pub at_batch: Option<BatchId>,
    /// The position at which it is cut.
    pub at: Option<Position>,
}

impl ExpectSegment {
    /// Expects nothing yet.
    pub const fn new(start: SegmentStart) -> Self {
        Self {
            start,
            stop: None,
            residue: None,
            evidence: None,
            index: None,
            action: None,
            at_batch: None,
            at: None,
        }
    }
}

/// What is expected of a client's read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectPoll {
    /// Where.
    pub partition: Namespace,
    /// First offset asked for.
    pub from: Offset,
    /// The answer; `None` for any.
    pub answer: Option<ExpectAnswer>,
}

/// An answer to a client's read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectAnswer {
    /// That many messages.
    Messages(u64),
    /// An error.
    Error {
        /// What the client may make of it.
        class: ErrorClass,
        /// Its permanent code; `None` for any.
        code: Option<String>,
    },
}

words! {
    /// What happens to a partition, as a word.
    DispositionWord, "a disposition" {
        /// Served without a gap.
        Serve = "serve",
        /// Served, with a gap behind the last proven offset.
        ServeFrom = "serve-from",
        /// Not served.
        Refuse = "refuse",
        /// Nothing can be said now.
        Unavailable = "unavailable",
    }
}

words! {
    /// Why a partition is not served, as a word (CONTRACTS 2).
    ReasonWord, "a reason" {
        /// Durable bytes are damaged or gone.
        LostDurable = "lost-durable",
        /// Damage, and a batch that continues the partition behind it.
        InteriorDamage = "interior-damage",
        /// Damage, and the budget ran out.
        UnprovenResidue = "unproven-residue",
        /// A whole batch of another partition.
        ForeignBatch = "foreign-batch",
        /// A whole batch at another offset.
        OffsetDiscontinuity = "offset-discontinuity",
        /// A whole batch that leaves no next offset.
        OffsetOverflow = "offset-overflow",
        /// Offsets between two segments that nothing explains.
        Hole = "hole",
        /// Two segments hold one offset.
        Overlap = "overlap",
        /// An empty segment followed by another.
        EmptyNonTailSegment = "empty-non-tail-segment",
        /// A segment that was durable is not there.
        MissingSegment = "missing-segment",
        /// A name that ends in `.log` and is no segment.
        UnexpectedFile = "unexpected-file",
        /// A superblock that does not verify.
        SuperblockUnreadable = "superblock-unreadable",
        /// Evidence of somebody else.
        IdentityMismatch = "identity-mismatch",
        /// The log is not the one that the ledger speaks of.
        EvidenceConflict = "evidence-conflict",
        /// A whole batch that is too large.
        RecordCeiling = "record-ceiling",
        /// A partition that was made is not there.
        MissingPartition = "missing-partition",
        /// Unavailable: an error.
        Io = "io",
        /// Unavailable: somebody else holds the lock.
        Locked = "locked",
    }
}

words! {
    /// What happens to a segment, as a word.
    ActionWord, "an action" {
        /// Nothing.
        Keep = "keep",
        /// Its index is written anew.
        RebuildIndex = "rebuild-index",
        /// Its log is cut.
        Cut = "cut",
    }
}

words! {
    /// What a client may make of an error.
    ErrorClass, "a class of error" {
        /// Asking again is of no use.
        Terminal = "terminal",
        /// Asking again may help.
        Retriable = "retriable",
        /// These offsets are damaged; others are served.
        Damaged = "damaged",
    }
}

words! {
    /// What the host says of a partition.
    StatusWord, "a status" {
        /// It is served.
        Served = "served",
        /// It is refused.
        Refused = "refused",
        /// Nothing can be said now.
        Unavailable = "unavailable",
        /// It is filled from peers.
        Rebuilding = "rebuilding",
    }
}
