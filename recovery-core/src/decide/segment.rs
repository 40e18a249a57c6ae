//! From one segment's facts to its ruling and its action.
//!
//! Promises: the ruling is the table's, and nothing here overrules it. Leaves out: the reason, if it is
//! refused ([`super::refusal`]).

use super::{Action, Row, Ruling, judge, row};
use crate::format::FileName;
use crate::observe::{IndexState, Residue, SegmentFacts, StopDetail, Unavailable};
use crate::storage::{Call, Errno, StorageError};
use crate::units::Length;

/// The table's ruling.
pub(super) fn ruling(facts: &SegmentFacts) -> Ruling {
    judge(facts.stop.stop(), facts.evidence, facts.residue.kind)
}

/// The table's row.
pub(super) fn segment_row(facts: &SegmentFacts) -> Row {
    row(facts.stop.stop(), facts.evidence, facts.residue.kind)
}

/// Why nothing can be said of the segment, if so: it cannot be read, or no bytes are like its facts, which
/// says that two readings of one place differ.
pub(super) fn unavailable(facts: &SegmentFacts) -> Option<Unavailable> {
    match ruling(facts) {
        Ruling::Keep | Ruling::Cut | Ruling::Refuse(_) => return None,
        Ruling::Unavailable | Ruling::Impossible => {}
    }
    let errno = if let StopDetail::Unreadable { errno, .. } = facts.stop { errno } else { Errno::STALE };
    Some(Unavailable::Io(StorageError { call: Call::Read, file: FileName::log(facts.start), errno }))
}

/// What happens to a segment of a partition that is served.
pub(super) fn action(facts: &SegmentFacts) -> Action {
    match ruling(facts) {
        Ruling::Keep => match facts.index.state {
            IndexState::Good => Action::Keep,
            IndexState::Absent | IndexState::PartialTail | IndexState::Wrong => Action::RebuildIndex,
        },
        Ruling::Cut => {
            let at = facts.proven.end;
            let residue = facts.log_length.as_position().checked_since(at);
            assert!(
                residue == Some(facts.residue.length),
                "a residue reaches from the proven end to the file's"
            );
            let is_above_marks = facts.mark.is_none_or(|mark| mark.position <= at);
            assert!(is_above_marks, "a cut never goes below a mark");
            Action::Cut { at, save: saved_length(facts) }
        }
        Ruling::Refuse(_) | Ruling::Unavailable | Ruling::Impossible => {
            unreachable!("a partition with such a segment is not served")
        }
    }
}

/// All of the residue is copied aside, unless there is nothing in it but zeros.
fn saved_length(facts: &SegmentFacts) -> Length {
    match facts.residue.kind {
        Residue::Zeros => Length::ZERO,
        Residue::None | Residue::Noise | Residue::Survivor | Residue::Stray | Residue::Unproven => {
            facts.residue.length
        }
    }
}
