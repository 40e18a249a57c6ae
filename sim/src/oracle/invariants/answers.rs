//! I05, I06, I07 and I20 of what clients read while a partition is served.
//!
//! Every batch of an answer is acknowledged, and byte for byte as it was written at its offset; the offsets
//! go on without a gap from the one asked for, but for gaps that hold no acknowledged batch; an answer is
//! empty only where nothing is acknowledged; what is called damaged is not a promise that nothing has hit;
//! and an error has a failed call behind it. Once damage that no crash explains has hit a partition, a batch
//! that verifies as a whole, of its own partition id and at the offset that is due, cannot be told apart by
//! its reader, and is let pass; bytes that do not verify never are.

use recovery_core::units::Offset;

use crate::oracle::answer::{Answer, AnswerView, Answered};
use crate::oracle::reference::is_whole_batch;
use crate::oracle::truth::{Life, Write};
use crate::oracle::{Check, Value, Violation};

/// What is wrong with an answer, if anything is.
pub fn check_answer(view: &AnswerView<'_>) -> Option<Violation> {
    match view.answer {
        Answer::Batches(batches) => check_batches(view, batches),
        Answer::Damaged { first, .. } => check_damaged(view, *first),
        Answer::Failed if view.is_calm => {
            let (expected, actual) = (Value::Code("answered"), Value::Code("io"));
            Some(Violation::new(Check::I20, "a poll without errors", expected, actual))
        }
        Answer::Failed => None,
    }
}

fn is_acknowledged(write: &Write) -> bool {
    matches!(write.life, Life::Acknowledged | Life::Adopted)
}

/// The first acknowledged offset at or above `from` and below `to`.
fn first_acknowledged(view: &AnswerView<'_>, from: Offset, to: Option<Offset>) -> Option<Offset> {
    let within = |write: &&Write| {
        is_acknowledged(write)
            && write.base < write.next
            && write.next > from
            && to.is_none_or(|to| write.base < to)
    };
    view.truth.writes().iter().filter(within).map(|write| write.base.max(from)).min()
}

fn check_batches(view: &AnswerView<'_>, batches: &[Answered<'_>]) -> Option<Violation> {
    let mut expected = view.from;
    for (index, batch) in batches.iter().enumerate() {
        let goes_on =
            batch.base == expected || (index == 0 && batch.base < expected && expected < batch.next);
        if !goes_on {
            let is_ahead = batch.base > expected;
            let skipped = first_acknowledged(view, expected, Some(batch.base));
            if !is_ahead || skipped.is_some() {
                let expected = skipped.unwrap_or(expected);
                let subject = "the next offset of an answer";
                return Some(Violation::new(Check::I07, subject, expected.into(), batch.base.into()));
            }
        }
        if let Some(violation) = check_batch(view, batch, goes_on) {
            return Some(violation);
        }
        expected = batch.next;
    }
    let missing = first_acknowledged(view, view.from, None).filter(|_| batches.is_empty())?;
    Some(Violation::new(Check::I07, "the first offset of an answer", missing.into(), Value::None))
}

fn check_batch(view: &AnswerView<'_>, batch: &Answered<'_>, goes_on: bool) -> Option<Violation> {
    let written = view.truth.living_at(batch.base, batch.bytes).map(|index| &view.truth.writes()[index]);
    let is_same = written.is_some_and(|write| view.truth.bytes_of(write) == batch.bytes);
    // Behind a gap the next offset is where a batch was acknowledged.
    let is_due = goes_on || written.is_some_and(is_acknowledged);
    let expected = Value::Code("as acknowledged");
    let actual = match written {
        Some(write) if is_same && is_acknowledged(write) => return None,
        Some(_) if is_same => Value::Code("not acknowledged"),
        Some(_) | None if is_due && is_indistinguishable(view, batch) => return None,
        Some(_) | None if !view.sees_truth && is_shown_again(view, batch) => return None,
        Some(_) => Value::Code("another"),
        None => Value::Code("one that nobody wrote"),
    };
    Some(Violation::new(Check::I06, "a batch of an answer", expected, actual))
}

/// Whether a reader of bytes that were damaged must take this for a batch of the partition.
fn is_indistinguishable(view: &AnswerView<'_>, batch: &Answered<'_>) -> bool {
    (!view.truth.damages.is_empty() || !view.sees_truth)
        && is_whole_batch(batch.bytes, view.partition_id, (batch.base, batch.next))
}

/// Whether a start was shown this batch when it did not lie there: then it counts as served, and another wrong read may
/// show it again.
fn is_shown_again(view: &AnswerView<'_>, batch: &Answered<'_>) -> bool {
    let was_misshown =
        |write: &&Write| write.life == Life::Lost && write.is_lost_unseen && write.base == batch.base;
    view.truth.writes().iter().filter(was_misshown).any(|write| view.truth.bytes_of(write) == batch.bytes)
}

fn check_damaged(view: &AnswerView<'_>, first: Offset) -> Option<Violation> {
    let holds = |write: &&Write| is_acknowledged(write) && write.base <= first && first < write.next;
    // A start that was shown it whole, when it was not, went on behind it.
    let was_misshown = |write: &&Write| write.life == Life::Lost && write.is_lost_unseen;
    let mut lost = view.truth.writes().iter().filter(was_misshown);
    if lost.any(|write| write.base <= first && first < write.next) {
        return None;
    }
    let is_promised = view.truth.writes().iter().rev().find(holds).is_some_and(|write| write.is_promised);
    if !view.truth.damages.is_empty() || !view.sees_truth || (view.has_sync_failed && !is_promised) {
        return None;
    }
    let (expected, actual) = (Value::Code("readable"), Value::Code("damaged"));
    Some(Violation::new(Check::I05, "a batch that nothing has hit", expected, actual))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::damage::Place;
    use crate::oracle::specimen::{NAMESPACE, batch, batch_of};
    use crate::oracle::truth::Truth;
    use recovery_core::units::SegmentStart;

    const SEGMENT: SegmentStart = SegmentStart::new(0);

    /// Two acknowledged batches, offsets 0 to 2 and 2 to 3, and one that is only buffered.
    fn truth() -> Truth {
        let mut truth = Truth::default();
        truth.reset(Offset::ZERO);
        let batches: [(u64, u64, &[u8]); 3] = [(0, 2, b"first"), (2, 3, b"second"), (3, 4, b"third")];
        for (base, next, bytes) in batches {
            let offsets = (Offset::new(base), Offset::new(next));
            truth.append(None, offsets, (SEGMENT, base * 10), bytes, Life::Buffered);
        }
        truth.acknowledge(Offset::new(3));
        truth
    }

    fn answered(base: u64, next: u64, bytes: &[u8]) -> Answered<'_> {
        Answered { base: Offset::new(base), next: Offset::new(next), bytes }
    }

    #[track_caller]
    fn check(from: u64, answer: &Answer<'_>, truth: &Truth, expected: Option<Check>) {
        let view = AnswerView {
            partition_id: NAMESPACE.partition_id(),
            from: Offset::new(from),
            is_calm: true,
            sees_truth: true,
            has_sync_failed: false,
            answer,
            truth,
        };
        assert_eq!(check_answer(&view).map(|violation| violation.check), expected);
    }

    #[test]
    fn a_right_answer_passes() {
        let both = Answer::Batches(vec![answered(0, 2, b"first"), answered(2, 3, b"second")]);
        check(0, &both, &truth(), None);
        check(1, &both, &truth(), None);
        check(2, &Answer::Batches(vec![answered(2, 3, b"second")]), &truth(), None);
        check(3, &Answer::Batches(Vec::new()), &truth(), None);
    }

    #[test]
    fn an_answer_that_skips_repeats_or_is_empty_is_a_violation() {
        let second = Answer::Batches(vec![answered(2, 3, b"second")]);
        check(0, &second, &truth(), Some(Check::I07));
        check(2, &Answer::Batches(Vec::new()), &truth(), Some(Check::I07));
        let twice = Answer::Batches(vec![answered(2, 3, b"second"), answered(2, 3, b"second")]);
        check(2, &twice, &truth(), Some(Check::I07));
    }

    #[test]
    fn a_batch_that_is_another_or_not_acknowledged_is_a_violation() {
        check(0, &Answer::Batches(vec![answered(0, 2, b"other")]), &truth(), Some(Check::I06));
        check(3, &Answer::Batches(vec![answered(3, 4, b"third")]), &truth(), Some(Check::I06));
        let mut damaged = truth();
        damaged.damages.add(Place::Anywhere);
        check(0, &Answer::Batches(vec![answered(0, 2, b"other")]), &damaged, Some(Check::I06));
        check(3, &Answer::Batches(vec![answered(3, 4, b"third")]), &damaged, Some(Check::I06));
    }

    #[test]
    fn only_a_whole_batch_that_is_due_passes_once_damage_has_hit() {
        let mut damaged = truth();
        damaged.damages.add(Place::Anywhere);
        let whole = batch(0, 2);
        check(0, &Answer::Batches(vec![answered(0, 2, &whole)]), &damaged, None);
        check(0, &Answer::Batches(vec![answered(0, 2, &whole)]), &truth(), Some(Check::I06));
        let mut flipped = whole.clone();
        flipped[300] ^= 1;
        let foreign = batch_of(4, 0, &[b"x", b"y"]);
        let longer = [&whole[..], &[0]].concat();
        let later = batch(1, 2);
        for bytes in [&flipped, &foreign, &longer, &later] {
            check(0, &Answer::Batches(vec![answered(0, 2, bytes)]), &damaged, Some(Check::I06));
        }
        // Nothing is acknowledged at offset 3 or behind it.
        let ahead = batch(5, 1);
        check(3, &Answer::Batches(vec![answered(5, 6, &ahead)]), &damaged, Some(Check::I06));
    }

    #[test]
    fn an_error_without_a_cause_is_a_violation() {
        let damaged = Answer::Damaged { first: Offset::new(2), last: Offset::new(2) };
        check(2, &damaged, &truth(), Some(Check::I05));
        check(2, &Answer::Failed, &truth(), Some(Check::I20));
        let mut hit = truth();
        hit.damages.add(Place::Anywhere);
        check(2, &damaged, &hit, None);
    }
}
