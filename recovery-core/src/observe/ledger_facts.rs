//! What a ledger says, as facts: marks, seals and recorded gaps, or why it says nothing.
//!
//! Promises: plain values; what is void or below the floor is left out already. Leaves out: reading
//! ([`super::ledger_reader`]) and what follows from a mark ([`super::SegmentFacts`]).

use crate::format::{LedgerRecord, Mark};
use crate::units::{Incarnation, Length, Namespace, Offset, SegmentStart};

/// How a segment was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The sealed end.
    pub mark: Mark,
    /// Where the next segment starts.
    pub next_start: SegmentStart,
}

/// Offsets that nobody holds, by a record of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedGap {
    /// First missing offset.
    pub first: Offset,
    /// One behind the last missing offset.
    pub next: Offset,
}

/// The evidence that the ledger holds about one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentMarks {
    /// The segment.
    pub segment: SegmentStart,
    /// Its newest mark by slot.
    pub newest: Mark,
    /// Its seal, unless a later record of the segment voids it.
    pub seal: Option<Seal>,
    /// Whether the newest mark is that of an accepted loss.
    pub accepts_loss: bool,
    /// Older marks below `newest` that are not void, ascending by position: checked on the way. Bounded
    /// in number ([`crate::observe::MARKS_CHECKED_MAX`]); the highest are kept.
    pub checks: Vec<Mark>,
}

/// What the ledger says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerFacts {
    /// The newest valid record: it speaks for floor, reserved offset, generation and a clean stop.
    pub newest: LedgerRecord,
    /// The slot that the next record takes: the first one behind every byte of the file.
    pub next_slot: u64,
    /// Valid records of the current epoch.
    pub valid: u64,
    /// Slots that hold bytes and no valid record of this ledger.
    pub skipped: u64,
    /// The segments at or above the floor that have a mark, ascending.
    pub segments: Vec<SegmentMarks>,
    /// Gaps that a record explains, ascending.
    pub gaps: Vec<RecordedGap>,
    /// Ranges that an operator gave up, ascending by their end: those below the floor too, and of more than
    /// [`crate::observe::LOSSES_MAX`] the last.
    pub given_up: Vec<RecordedGap>,
}

/// How the ledger was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerState {
    /// No file, an empty one, or one without a single valid record: inference mode.
    None {
        /// Length of the file, if there is one.
        length: Option<Length>,
    },
    /// Records of this partition.
    Known(LedgerFacts),
    /// Valid records, and all of another partition or another life of this one; or of two lives of this one,
    /// where the caller knows neither.
    Mismatch {
        /// Whose they are.
        namespace: Namespace,
        /// Which life.
        incarnation: Incarnation,
        /// The life that other records in it are of, where they name two.
        beside: Option<Incarnation>,
    },
}

impl LedgerState {
    /// The facts, if the ledger is this partition's.
    pub const fn known(&self) -> Option<&LedgerFacts> {
        match self {
            Self::Known(facts) => Some(facts),
            Self::None { .. } | Self::Mismatch { .. } => None,
        }
    }
}
