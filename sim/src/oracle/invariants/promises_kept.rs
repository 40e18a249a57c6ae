//! I05, I13 and I20 in part: every promised batch is served, identical, at its offset, and one that was
//! damaged below a mark refuses its partition; a clean crash over a ledger is never refused; a start of a
//! partition without damage in which no call failed says serve or refuse.
//!
//! Asked at every boot, in both regimes. Damage is a place ([`crate::oracle::damage`]): it excuses what
//! lies behind it in its own log and nothing else, so damage elsewhere, in another log or another partition
//! is not allowed to show. Does not claim that a batch which was not promised survives, nor which reason a
//! refusal has: the reference does.

use recovery_core::decide::Disposition;
use recovery_core::format::FileName;

use crate::oracle::boot_view::BootView;
use crate::oracle::obligation::Obligation;
use crate::oracle::truth::{Truth, Write};
use crate::oracle::{Check, PartitionImage, Value, Violation};

/// The first promise that is broken.
pub fn check_promises(view: &BootView<'_>) -> Option<Violation> {
    match &view.verdict.disposition {
        Disposition::Serve | Disposition::ServeFrom { .. } => check_served(view),
        Disposition::Refuse(reason)
            if view.has_ledger && view.sees_truth && !view.truth.damages.explains_refusal() =>
        {
            let (served, refused) = (Value::Code("served"), Value::Code(reason.code()));
            Some(Violation::new(Check::I13, "a clean crash over a ledger", served, refused))
        }
        Disposition::Unavailable(_) if view.is_calm && view.sees_truth && view.truth.damages.is_empty() => {
            let (judged, actual) = (Value::Code("judged"), Value::Code("unavailable"));
            Some(Violation::new(Check::I20, "a start without errors", judged, actual))
        }
        Disposition::Refuse(_) | Disposition::Unavailable(_) => None,
    }
}

fn check_served(view: &BootView<'_>) -> Option<Violation> {
    if view.writes_land && view.sees_truth {
        // A damaged record with a checksum that fits may say that a segment was closed before a batch that lies in it.
        let heard = if view.truth.damages.explains_forgotten_offsets() { view.heard() } else { None };
        let is_behind_a_seal = |write: &Write| {
            let sealed = heard.as_ref().and_then(|heard| heard.sealed(write.segment));
            sealed.is_some_and(|sealed| sealed.get() <= write.position)
        };
        return view.truth.writes().iter().find_map(|write| {
            let was_intact = || view.before.is_none_or(|before| view.truth.lies_in(&before.directory, write));
            check_write(view.truth, view.after, write, was_intact, |owed| {
                owed != Obligation::MustKeep || !is_behind_a_seal(write)
            })
        });
    }
    if view.writes_land && view.lies_at_most_once {
        // A read that shows what a mark promised hides the damage that would be refused.
        let shown = |write: &Write, owed| {
            owed != Obligation::MustRefuse || !view.may_be_hidden(write.segment, write.position)
        };
        return view.truth.writes().iter().find_map(|write| {
            let was_intact = || view.before.is_none_or(|before| view.truth.lies_in(&before.directory, write));
            check_write(view.truth, view.after, write, was_intact, |owed| shown(write, owed))
        });
    }
    // What is shown wrongly twice is damaged to whoever acts on it, and what is overwritten behind the verdict
    // is damaged too late for a refusal, whole as it may have lain there.
    let is_broken = |obligation| obligation == Obligation::MustKeep;
    let mut writes = view.truth.writes().iter();
    writes.find_map(|write| check_write(view.truth, view.after, write, || false, is_broken))
}

/// The first batch that was promised, and is not served, of a partition that is. `before` is what lay there.
pub fn check_kept(
    truth: &Truth,
    before: Option<&PartitionImage>,
    after: &PartitionImage,
) -> Option<Violation> {
    truth.writes().iter().find_map(|write| {
        let was_intact = || before.is_none_or(|before| truth.lies_in(&before.directory, write));
        check_write(truth, after, write, was_intact, |_| true)
    })
}

fn check_write(
    truth: &Truth,
    after: &PartitionImage,
    write: &Write,
    was_intact: impl FnOnce() -> bool,
    is_broken: impl Fn(Obligation) -> bool,
) -> Option<Violation> {
    if !write.is_promised || truth.lies_in(&after.directory, write) {
        return None;
    }
    let owed = truth.owed(write, was_intact()).filter(|owed| is_broken(*owed))?;
    let (subject, expected, actual) = match owed {
        Obligation::MustKeep => ("a batch that was promised", "present", "gone"),
        Obligation::MustRefuse => ("a start with damage below a mark", "refused", "served"),
        Obligation::MayLose | Obligation::MustNotServe => return None,
    };
    let violation = Violation::new(Check::I05, subject, Value::Code(expected), Value::Code(actual));
    let end = write.position + u64::from(write.length);
    let name = FileName::log(write.segment);
    Some(violation.in_file(name).in_segment(write.segment).at(write.position..end))
}
