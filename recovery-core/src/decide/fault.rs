//! The faults of a partition, in the order in which they are looked for (DESIGN section 6).
//!
//! Promises: the order is [`Fault::ALL`] and nothing else; the first fault found is the reason. What says
//! that the directory is not ours comes before what lies in it, and what lies in one segment before how
//! segments join.

use super::chain::{Joint, joints};
use super::refusal::refusal;
use super::{FoundIdentity, Link, Reason, Row};
use crate::observe::{LedgerState, PartitionFacts, SuperblockState};

/// A fault for which a whole partition is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The ledger belongs to another partition, or to another life of this one.
    LedgerMismatch,
    /// The superblock belongs to another cluster or replica.
    SuperblockMismatch,
    /// A superblock slot holds bytes that do not verify.
    SuperblockUnreadable,
    /// A name ends in `.log` and is no segment.
    UnexpectedFile,
    /// A segment with a mark has no log.
    MissingSegment,
    /// The first segment starts above the floor.
    ChainAboveFloor,
    /// The segment table refuses a segment.
    SegmentRefused,
    /// A segment starts at an offset that the one before it holds.
    Overlap,
    /// A segment without a batch is followed by another.
    EmptyBefore,
    /// Offsets between two segments are gone.
    Hole,
}

impl Fault {
    /// Every fault, in the order in which they are looked for.
    pub const ALL: [Self; 10] = [
        Self::LedgerMismatch,
        Self::SuperblockMismatch,
        Self::SuperblockUnreadable,
        Self::UnexpectedFile,
        Self::MissingSegment,
        Self::ChainAboveFloor,
        Self::SegmentRefused,
        Self::Overlap,
        Self::EmptyBefore,
        Self::Hole,
    ];

    /// The row of this fault.
    pub const fn row(self) -> Row {
        match self {
            Self::LedgerMismatch => Row::LedgerMismatch,
            Self::SuperblockMismatch => Row::SuperblockMismatch,
            Self::SuperblockUnreadable => Row::SuperblockUnreadable,
            Self::UnexpectedFile => Row::UnexpectedFile,
            Self::MissingSegment => Row::MissingSegment,
            Self::ChainAboveFloor => Row::ChainAboveFloor,
            Self::SegmentRefused => Row::SegmentRefused,
            Self::Overlap => Row::LinkOverlap,
            Self::EmptyBefore => Row::LinkEmptyBefore,
            Self::Hole => Row::LinkHole,
        }
    }

    /// Looks for this fault.
    pub(super) fn find(self, facts: &PartitionFacts) -> Option<Reason> {
        match self {
            Self::LedgerMismatch => ledger_mismatch(facts),
            Self::SuperblockMismatch => superblock_mismatch(facts),
            Self::SuperblockUnreadable => superblock_unreadable(facts),
            Self::UnexpectedFile => unexpected_file(facts),
            Self::MissingSegment => missing_segment(facts),
            Self::ChainAboveFloor => chain_above_floor(facts),
            Self::SegmentRefused => {
                facts.segments.iter().find_map(|segment| refusal(segment, facts.namespace))
            }
            Self::Overlap => first_joint(facts, Link::Overlap).map(|joint| overlap(&joint)),
            Self::EmptyBefore => first_joint(facts, Link::EmptyBefore).map(|joint| empty_before(&joint)),
            Self::Hole => first_joint(facts, Link::Hole).map(|joint| hole(&joint)),
        }
    }
}

fn ledger_mismatch(facts: &PartitionFacts) -> Option<Reason> {
    match facts.ledger {
        LedgerState::Mismatch { namespace, incarnation, beside } => Some(Reason::IdentityMismatch {
            namespace: facts.namespace,
            found: FoundIdentity::Ledger { namespace, incarnation, beside },
        }),
        LedgerState::None { .. } | LedgerState::Known(_) => None,
    }
}

fn superblock_mismatch(facts: &PartitionFacts) -> Option<Reason> {
    match facts.superblock {
        SuperblockState::Mismatch { slot } => Some(Reason::IdentityMismatch {
            namespace: facts.namespace,
            found: FoundIdentity::Superblock { slot },
        }),
        SuperblockState::None | SuperblockState::Known { .. } | SuperblockState::Unreadable { .. } => None,
    }
}

fn superblock_unreadable(facts: &PartitionFacts) -> Option<Reason> {
    match facts.superblock {
        SuperblockState::Unreadable { slot, length } => {
            Some(Reason::SuperblockUnreadable { slot, length_bytes: length })
        }
        SuperblockState::None | SuperblockState::Known { .. } | SuperblockState::Mismatch { .. } => None,
    }
}

fn unexpected_file(facts: &PartitionFacts) -> Option<Reason> {
    let entries = &facts.listing.unexpected;
    entries.first().map(|entry| Reason::UnexpectedFile {
        file: entry.name,
        kind: entry.kind,
        files: entries.len() as u64,
    })
}

/// A mark says that bytes of the segment were durable, and a mark at 0 that its name was.
fn missing_segment(facts: &PartitionFacts) -> Option<Reason> {
    let ledger = facts.ledger.known()?;
    // Both lists ascend.
    let is_missing = |marked| facts.segments.binary_search_by_key(&marked, |segment| segment.start).is_err();
    let mut missing = ledger.segments.iter().filter(|marks| is_missing(marks.segment));
    let first = missing.next()?;
    Some(Reason::MissingSegment {
        segment: first.segment,
        durable_bytes: Some(first.newest.position.as_length()),
        first_present: facts.segments.first().map(|segment| segment.start),
        missing: 1 + missing.count() as u64,
    })
}

/// A directory without any segment is none of this: the ledger of a new partition is older than its first
/// log.
fn chain_above_floor(facts: &PartitionFacts) -> Option<Reason> {
    let floor = facts.ledger.known()?.newest.floor;
    let first = facts.segments.first()?.start;
    (first > floor).then_some(Reason::MissingSegment {
        segment: floor,
        durable_bytes: None,
        first_present: Some(first),
        missing: 1,
    })
}

fn first_joint(facts: &PartitionFacts, link: Link) -> Option<Joint<'_>> {
    joints(facts).into_iter().find(|joint| joint.link == link)
}

fn overlap(joint: &Joint<'_>) -> Reason {
    let next = joint.earlier.next_offset;
    Reason::Overlap {
        segment: joint.earlier.start,
        last_offset: next.before().expect("a segment that another starts inside of holds a message"),
        next_segment: joint.later.start,
    }
}

fn empty_before(joint: &Joint<'_>) -> Reason {
    Reason::EmptyNonTailSegment {
        segment: joint.earlier.start,
        log_bytes: joint.earlier.segment.log_length,
        next_segment: joint.later.start,
    }
}

fn hole(joint: &Joint<'_>) -> Reason {
    let start = joint.later.start.offset();
    Reason::Hole {
        segment: joint.earlier.start,
        next_segment: joint.later.start,
        first_missing_offset: joint.earlier.next_offset,
        last_missing_offset: start.before().expect("a segment that starts above another starts above 0"),
    }
}
