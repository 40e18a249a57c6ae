//! What recovery concludes: one disposition for the partition, one action a segment (DESIGN section 6).
//!
//! Promises: plain values; a refusal or an unavailable partition has only `Keep` actions.

use super::Reason;
use crate::observe::{SegmentFacts, Unavailable};
use crate::units::{Length, Offset, Position, SegmentStart};

/// What happens to one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Keep,
    /// Its index is written anew; the log is whole.
    RebuildIndex,
    /// Its log ends at `at` from now on. Its index follows.
    Cut {
        /// The proven end.
        at: Position,
        /// Bytes that are copied aside first; 0 if all of the residue is zeros.
        save: Length,
    },
}

impl Action {
    /// The permanent word for this action.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::RebuildIndex => "rebuild-index",
            Self::Cut { .. } => "cut",
        }
    }
}

/// The action for one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentVerdict {
    /// The segment.
    pub start: SegmentStart,
    /// What happens to it.
    pub action: Action,
}

/// What happens to the partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// It is served; the next offset directly follows the last proven one.
    Serve,
    /// It is served, and the next offset leaves a gap behind the last proven one.
    ServeFrom {
        /// First offset of the gap.
        first: Offset,
        /// Last offset of the gap, inclusive.
        last: Offset,
    },
    /// It is not served, and not one byte of it is touched.
    Refuse(Reason),
    /// Nothing can be said now; try again later.
    Unavailable(Unavailable),
}

impl Disposition {
    /// The permanent word for this disposition.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Serve => "serve",
            Self::ServeFrom { .. } => "serve-from",
            Self::Refuse(_) => "refuse",
            Self::Unavailable(_) => "unavailable",
        }
    }
}

/// The verdict on one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an unread verdict hides discarded bytes"]
pub struct Verdict {
    /// What happens to the partition.
    pub disposition: Disposition,
    /// The offset that the next message gets; `None` when it is not served.
    pub next_offset: Option<Offset>,
    /// The least reserved offset that must be durable before a cut removes survivors; `None` if no
    /// survivor is cut (DESIGN section 7, step 2).
    pub reserve: Option<Offset>,
    /// One a segment of the facts, in their order.
    pub segments: Vec<SegmentVerdict>,
}

impl Verdict {
    /// Whether the partition is served.
    pub const fn is_served(&self) -> bool {
        match self.disposition {
            Disposition::Serve | Disposition::ServeFrom { .. } => true,
            Disposition::Refuse(_) | Disposition::Unavailable(_) => false,
        }
    }

    /// The verdict on a partition of which nothing could be learnt.
    pub fn unavailable(cause: Unavailable, segments: &[SegmentFacts]) -> Self {
        Self::untouched(Disposition::Unavailable(cause), segments)
    }

    pub(super) fn untouched(disposition: Disposition, segments: &[SegmentFacts]) -> Self {
        let segments = segments
            .iter()
            .map(|facts| SegmentVerdict { start: facts.start, action: Action::Keep })
            .collect();
        Self { disposition, next_offset: None, reserve: None, segments }
    }
}
