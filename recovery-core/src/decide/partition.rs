//! From the facts of a partition to its verdict: the partition and chain table of DESIGN section 6.
//!
//! Promises: `Unavailable` goes before `Refuse`, and `Refuse` before `Serve`; all segments are judged before
//! anything is said of one; what is not served has only `Keep`. A pure function: equal facts, equal verdict.

use super::chain::joints;
use super::next_offset::next_offset;
use super::segment::{action, segment_row, unavailable};
use super::{Disposition, Fault, Row, SegmentVerdict, Verdict};
use crate::observe::PartitionFacts;

/// Decides what may be done with a partition.
///
/// # Panics
///
/// When the facts break what observation promises of them: segments not ascending, a proven end below its
/// segment's start or behind its file's end. No bytes on a disk make such facts.
///
/// # Examples
///
/// ```
/// use recovery_core::decide::{Disposition, decide};
/// use recovery_core::observe::{Expectation, PartitionFacts};
/// use recovery_core::units::{Namespace, Offset};
///
/// // Facts come from an observation; these are those of an empty directory without a ledger.
/// let facts = PartitionFacts::of_nothing(Expectation::of(Namespace { stream: 1, topic: 1, partition: 0 }));
/// let verdict = decide(&facts);
/// assert_eq!(verdict.disposition, Disposition::Serve);
/// assert_eq!(verdict.next_offset, Some(Offset::ZERO));
/// ```
pub fn decide(facts: &PartitionFacts) -> Verdict {
    decide_telling(facts, &mut |_| ())
}

/// As [`decide`], and names each row of the tables that it used, in order: what reach counts.
///
/// # Panics
///
/// As [`decide`].
///
/// # Examples
///
/// ```
/// use recovery_core::decide::{Disposition, Row, decide_telling};
/// use recovery_core::observe::{Expectation, PartitionFacts};
/// use recovery_core::units::Namespace;
///
/// let facts = PartitionFacts::of_nothing(Expectation::of(Namespace { stream: 1, topic: 1, partition: 0 }));
/// let mut rows: Vec<Row> = Vec::new();
/// let verdict = decide_telling(&facts, &mut |row| rows.push(row));
/// assert_eq!(verdict.disposition, Disposition::Serve);
/// // No segment, no fault: what is left to look up is the next offset, which directly follows an empty chain.
/// assert_eq!(rows, [Row::NextOffsetMeets]);
/// ```
pub fn decide_telling(facts: &PartitionFacts, tell: &mut impl FnMut(Row)) -> Verdict {
    assert_promises(facts);
    let verdict = conclude(facts, tell);
    assert!(verdict.segments.len() == facts.segments.len(), "each segment has its verdict");
    assert!(verdict.is_served() == verdict.next_offset.is_some(), "only what is served has a next offset");
    verdict
}

fn conclude(facts: &PartitionFacts, tell: &mut impl FnMut(Row)) -> Verdict {
    for segment in &facts.segments {
        if let Some(cause) = unavailable(segment) {
            tell(segment_row(segment));
            tell(Row::PartitionUnavailable);
            return Verdict::unavailable(cause, &facts.segments);
        }
    }
    for fault in Fault::ALL {
        tell_looked_at(facts, fault, tell);
        if let Some(reason) = fault.find(facts) {
            tell(fault.row());
            return Verdict::untouched(Disposition::Refuse(reason), &facts.segments);
        }
    }
    serve(facts, tell)
}

/// Names the rows of what is looked at for `fault`, whether or not it is found.
fn tell_looked_at(facts: &PartitionFacts, fault: Fault, tell: &mut impl FnMut(Row)) {
    match fault {
        Fault::MissingSegment if !facts.expired.is_empty() => tell(Row::SegmentExpired),
        Fault::SegmentRefused => facts.segments.iter().map(segment_row).for_each(tell),
        Fault::LedgerMismatch
        | Fault::SuperblockMismatch
        | Fault::SuperblockUnreadable
        | Fault::UnexpectedFile
        | Fault::MissingSegment
        | Fault::ChainAboveFloor
        | Fault::Overlap
        | Fault::EmptyBefore
        | Fault::Hole => {}
    }
}

fn serve(facts: &PartitionFacts, tell: &mut impl FnMut(Row)) -> Verdict {
    for joint in joints(facts) {
        tell(joint.link.row());
    }
    // The file that the last seal promises is not there, or it would be the last segment. A mark of it would
    // have been a missing segment. So the roll ended between the two, and the writer makes the file.
    if facts.segments.last().is_some_and(|last| last.seal.is_some()) {
        tell(Row::RollCutShort);
    }
    let found = next_offset(facts);
    tell(found.row);
    let disposition = if found.next == found.chain {
        Disposition::Serve
    } else {
        let last = found.next.before().expect("an offset above another is above 0");
        Disposition::ServeFrom { first: found.chain, last }
    };
    let segments = facts
        .segments
        .iter()
        .map(|segment| SegmentVerdict { start: segment.start, action: action(segment) })
        .collect();
    Verdict { disposition, next_offset: Some(found.next), reserve: found.cut, segments }
}

fn assert_promises(facts: &PartitionFacts) {
    assert!(facts.segments.is_sorted_by_key(|segment| segment.start), "segments ascend");
    assert!(
        facts.segments.windows(2).all(|pair| pair[0].start != pair[1].start),
        "no segment is stated twice"
    );
    for segment in &facts.segments {
        assert!(segment.proven.next_offset >= segment.start.offset(), "a prefix ends behind its start");
        assert!(segment.proven.end <= segment.log_length.as_position(), "a prefix ends within its file");
    }
}
