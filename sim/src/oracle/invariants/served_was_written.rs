//! I06 and I07: nothing is served that was not written to that partition at that offset in this
//! generation, and offsets are dense or the gap is recorded.
//!
//! Each batch in a served log is, byte for byte, a living one that was written there. Above the newest mark
//! of its segment, or without one, a whole batch of the same partition id and exactly the next offset, put
//! exactly at the chain's end, cannot be told apart by anybody: such are counted, and no other is allowed.
//! Marks, gaps and batches are read by the reference, in what lay there when the core looked.
//! Does not claim that offsets which were not promised are served, nor that a read which showed just what
//! was promised, or a log that is whole to its end, while something else lies there, is seen through: what
//! looks damaged is read twice, what verifies is not.

use recovery_core::units::Offset;

use crate::oracle::boot_view::BootView;
use crate::oracle::reference::is_whole_batch;
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
        violation = violation.take().or_else(|| check_batch(view, &lying, next)).or_else(|| {
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
    let mut next: Option<Offset> = None;
    // Behind the proven batches lies what this start did not come to cut: nothing of it was adopted.
    let _is_whole = for_each(&view.after.directory, view.facts, |lying| {
        let is_known = view
            .truth
            .living_at(lying.base, lying.bytes)
            .is_some_and(|index| view.truth.bytes_of(&view.truth.writes()[index]) == lying.bytes);
        if !is_known && is_indistinguishable(view, &lying, next) {
            strangers.push(Stranger::of(&lying));
        }
        next = Some(lying.next);
    });
    strangers
}

fn check_batch(view: &BootView<'_>, lying: &Lying<'_>, next: Option<Offset>) -> Option<Violation> {
    let is_written = view.truth.living_at(lying.base, lying.bytes).is_some_and(|index| {
        let write = &view.truth.writes()[index];
        view.truth.bytes_of(write) == lying.bytes
    });
    if is_written
        || is_back(view, lying)
        || is_indistinguishable(view, lying, next)
        || view.may_be_hidden(lying.segment, lying.position)
        || view.truth.strangers.contains(&Stranger::of(lying))
    {
        return None;
    }
    let is_lost = |write: &&Write| {
        write.life == Life::Lost && write.base == lying.base && view.truth.bytes_of(write) == lying.bytes
    };
    let mut lost = view.truth.writes().iter().filter(is_lost).peekable();
    let was_lost = lost.peek().is_some();
    // A start went on with it, as far as that could see, and now it lies there again.
    if lost.any(|write| write.is_lost_unseen) {
        return None;
    }
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

/// Whether the ledger says nothing about the place of the batch, and the batch verifies as a whole, is of this
/// partition, and of the offset that is due there: that of the segment at its start, else the `next` one.
fn is_indistinguishable(view: &BootView<'_>, lying: &Lying<'_>, next: Option<Offset>) -> bool {
    let due = if lying.position == 0 { Some(lying.segment.offset()) } else { next };
    let is_ours =
        || is_whole_batch(lying.bytes, view.expectation.namespace.partition_id(), (lying.base, lying.next));
    due == Some(lying.base) && !view.is_marked(lying.segment, lying.position) && is_ours()
}

/// A gap is legal between segments, where records explain just it; inside one it never is.
fn gap(view: &BootView<'_>, lying: &Lying<'_>, expected: Offset) -> Option<Violation> {
    let is_between = lying.position == 0 && expected < lying.base;
    if is_between && view.heard().is_some_and(|heard| heard.explains_gap(expected, lying.base)) {
        return None;
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
