//! I06 and I07: nothing is served that was not written to that partition at that offset in this
//! generation, and offsets are dense or the gap is recorded.
//!
//! Each batch in a served log is, byte for byte, a living one that was written there. Above the newest mark
//! of its segment, or without one, a whole batch of the same partition id and exactly the next offset, put
//! exactly at the chain's end, cannot be told apart by anybody: such are counted, and no other is allowed.
//! Does not claim that offsets which were not promised are served, nor that a read which showed just what
//! was promised, or a log that is whole to its end, while something else lies there, is seen through: what
//! looks damaged is read twice, what verifies is not.

use recovery_core::units::Offset;

use crate::oracle::boot_view::BootView;
use crate::oracle::served_log::{Lying, for_each};
use crate::oracle::truth::{Life, Stranger, Write};
use crate::oracle::{Check, Value, Violation};

/// The first batch that should not be served.
pub fn check_served(view: &BootView<'_>) -> Option<Violation> {
    if !view.verdict.is_served() {
        return None;
    }
    let mut violation = None;
    let mut next: Option<Offset> = None;
    let walked = for_each(&view.after.directory, view.facts, |lying| {
        violation = violation.take().or_else(|| check_batch(view, &lying)).or_else(|| {
            let expected = next.filter(|next| *next != lying.base)?;
            gap(view, &lying, expected)
        });
        next = Some(lying.next);
    });
    violation.or_else(|| {
        let (segment, position) = walked.err()?;
        if view.may_be_hidden(segment, position) {
            return None;
        }
        let (expected, actual) = (Value::Code("batches"), Value::Code("noise"));
        let found = Violation::new(Check::I06, "a served log", expected, actual);
        Some(found.in_segment(segment).at(position..position))
    })
}

/// The batches that nobody wrote here and nobody can tell apart, of a start that came to no end after it
/// had found them: what it wrote into the ledger may cover them, and from then on they are what is proven.
pub fn adopted_strangers(view: &BootView<'_>) -> Vec<Stranger> {
    let mut strangers = Vec::new();
    // Behind the proven batches lies what this start did not come to cut: nothing of it was adopted.
    let _is_whole = for_each(&view.after.directory, view.facts, |lying| {
        let is_known = view
            .truth
            .living_at(lying.base)
            .is_some_and(|index| view.truth.bytes_of(&view.truth.writes()[index]) == lying.bytes);
        if !is_known && is_indistinguishable(view, &lying) {
            strangers.push(Stranger::of(&lying));
        }
    });
    strangers
}

fn check_batch(view: &BootView<'_>, lying: &Lying<'_>) -> Option<Violation> {
    let is_written = view.truth.living_at(lying.base).is_some_and(|index| {
        let write = &view.truth.writes()[index];
        view.truth.bytes_of(write) == lying.bytes
    });
    if is_written
        || is_back(view, lying)
        || is_indistinguishable(view, lying)
        || view.may_be_hidden(lying.segment, lying.position)
        || view.truth.strangers.contains(&Stranger::of(lying))
    {
        return None;
    }
    let was_lost = view.truth.writes().iter().any(|write| {
        write.life == Life::Lost && write.base == lying.base && view.truth.bytes_of(write) == lying.bytes
    });
    let actual = Value::Code(if was_lost { "one that an earlier start went on without" } else { "another" });
    let violation = Violation::new(Check::I06, "a served batch", Value::Code("as written"), actual);
    Some(place(violation, lying))
}

/// Whether retention had given the batch up, and the record of that is lost with bytes of the ledger, or was
/// never durable: what had not been deleted yet is served again.
fn is_back(view: &BootView<'_>, lying: &Lying<'_>) -> bool {
    let is_it = |write: &Write| {
        write.life == Life::Retained && write.base == lying.base && view.truth.bytes_of(write) == lying.bytes
    };
    let may_be_forgotten = view.truth.is_floor_doubtful || view.truth.damages.explains_forgotten_offsets();
    may_be_forgotten && view.truth.writes().iter().any(is_it)
}

/// Whether the ledger says nothing about the place of the batch. The core has compared partition id, offset
/// and place with the chain; the reference has too.
fn is_indistinguishable(view: &BootView<'_>, lying: &Lying<'_>) -> bool {
    let facts = view.facts.segments.iter().find(|facts| facts.start == lying.segment);
    facts.is_some_and(|facts| facts.mark.is_none_or(|mark| lying.position >= mark.position.get()))
}

/// A gap is legal between segments, where a record explains it; inside one it never is.
fn gap(view: &BootView<'_>, lying: &Lying<'_>, expected: Offset) -> Option<Violation> {
    if let Some(ledger) = view.facts.ledger.known().filter(|_| lying.position == 0) {
        // Gaps may follow each other, with nothing but empty segments between them.
        let mut reached = expected;
        for _ in &ledger.gaps {
            let gap = ledger.gaps.iter().find(|gap| gap.first <= reached && reached < gap.next);
            reached = gap.map_or(reached, |gap| gap.next);
        }
        if reached >= lying.base {
            return None;
        }
    }
    if view.may_be_hidden(lying.segment, lying.position) {
        return None;
    }
    let violation = Violation::new(Check::I07, "the next offset", expected.into(), lying.base.into());
    Some(place(violation, lying))
}

fn place(violation: Violation, lying: &Lying<'_>) -> Violation {
    let end = lying.position + lying.bytes.len() as u64;
    violation.in_segment(lying.segment).at(lying.position..end)
}
