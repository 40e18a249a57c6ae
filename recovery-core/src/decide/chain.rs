//! The chain of segments: reads the facts of [`link`] off two neighbours.
//!
//! Promises: a gap counts as recorded only if records cover it from its first offset to its last, and none
//! of them reaches out of it: a record that covers more was written for another gap (G15).

use super::piece::{Piece, pieces};
use super::{Content, Link, Place, link};
use crate::observe::{PartitionFacts, RecordedGap, Residue, SegmentFacts};
use crate::units::{Offset, Position};

/// Two neighbours and what they are to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint<'facts> {
    pub(super) earlier: Piece<'facts>,
    pub(super) later: Piece<'facts>,
    pub(super) link: Link,
}

/// The joints of the partition's chain, ascending.
pub(super) fn joints(facts: &PartitionFacts) -> Vec<Joint<'_>> {
    let gaps = facts.ledger.known().map_or(&[][..], |ledger| &ledger.gaps);
    let is_nothing_anywhere = facts.segments.iter().all(is_blank);
    let pieces = pieces(facts);
    pieces
        .windows(2)
        .map(|pair| {
            let [earlier, later] = pair else { unreachable!("windows of 2 hold 2") };
            let content = content(earlier, is_nothing_anywhere);
            Joint { earlier: *earlier, later: *later, link: link(place(earlier, later, gaps), content) }
        })
        .collect()
}

fn content(piece: &Piece<'_>, is_nothing_anywhere: bool) -> Content {
    let segment = piece.segment;
    let is_sealed_empty = segment.seal.is_some_and(|seal| seal.mark.position == Position::ZERO);
    if segment.proven.batches > 0 || piece.run.is_some() {
        Content::Batches
    } else if is_nothing_anywhere {
        Content::NothingAnywhere
    } else if is_sealed_empty {
        Content::SealedEmpty
    } else {
        Content::Nothing
    }
}

/// Whether the log is of 0 bytes or zeros. A mark above 0 would have made that a loss before.
fn is_blank(segment: &SegmentFacts) -> bool {
    let is_nothing_left = match segment.residue.kind {
        Residue::None | Residue::Zeros => true,
        Residue::Noise | Residue::Survivor | Residue::Stray | Residue::Unproven => false,
    };
    is_nothing_left && segment.proven.end == Position::ZERO
}

fn place(earlier: &Piece<'_>, later: &Piece<'_>, gaps: &[RecordedGap]) -> Place {
    let end = earlier.next_offset;
    let start = later.start.offset();
    if start < end {
        Place::Inside
    } else if start == end {
        Place::Adjacent
    } else if is_recorded(gaps, end, start) {
        Place::RecordedAbove
    } else {
        Place::Above
    }
}

/// Whether records that lie inside of `[first, next)` cover all of it. `gaps` ascend by first offset.
pub(crate) fn is_recorded(gaps: &[RecordedGap], first: Offset, next: Offset) -> bool {
    let inside = &gaps[gaps.partition_point(|gap| gap.first < first)..];
    let mut covered_to = first;
    for gap in inside.iter().take_while(|gap| gap.first < next) {
        if gap.first > covered_to {
            return false;
        }
        if gap.next <= next {
            covered_to = covered_to.max(gap.next);
        }
    }
    covered_to == next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(gaps: &[(u64, u64)], first: u64, next: u64, expected: bool) {
        let gaps: Vec<RecordedGap> = gaps
            .iter()
            .map(|(first, next)| RecordedGap { first: Offset::new(*first), next: Offset::new(*next) })
            .collect();
        assert_eq!(is_recorded(&gaps, Offset::new(first), Offset::new(next)), expected);
    }

    #[test]
    fn a_gap_is_recorded_by_a_record_of_just_this_gap() {
        check(&[(50, 100)], 50, 100, true);
        check(&[(10, 20), (50, 100), (200, 300)], 50, 100, true);
        check(&[], 50, 100, false);
    }

    #[test]
    fn a_record_that_covers_more_or_less_than_the_gap_explains_nothing() {
        check(&[(50, 101)], 50, 100, false);
        check(&[(49, 100)], 50, 100, false);
        check(&[(50, 99)], 50, 100, false);
        check(&[(51, 100)], 50, 100, false);
        check(&[(0, u64::MAX)], 50, 100, false);
    }

    #[test]
    fn consecutive_records_cover_a_gap_together() {
        check(&[(50, 60), (60, 100)], 50, 100, true);
        check(&[(50, 60), (61, 100)], 50, 100, false);
        check(&[(50, 60), (60, 99)], 50, 100, false);
        check(&[(50, 60), (60, 100), (60, 200)], 50, 100, true);
    }

    #[test]
    fn records_of_one_loss_may_overlap() {
        check(&[(50, 90), (50, 60), (60, 100)], 50, 100, true);
        check(&[(50, 90), (70, 100)], 50, 100, true);
        check(&[(50, 50), (50, 100), (50, 100)], 50, 100, true);
    }
}
