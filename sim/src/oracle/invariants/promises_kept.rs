//! I05, I13 and I20 in part: after a clean crash every promised batch is served, nothing is refused with a
//! ledger, and a start that was not disturbed says serve or refuse.
//!
//! Holds as long as nothing but crashes and reported errors has hit a partition, in either regime, so
//! damage in one partition is not allowed to show in another. Does not claim anything once damage that no
//! crash explains has hit the partition itself.

use recovery_core::decide::Disposition;
use recovery_core::format::FileName;

use crate::oracle::boot_view::{BootView, bytes_of};
use crate::oracle::truth::{Life, Write};
use crate::oracle::{Check, Value, Violation};

/// The first promise that is broken.
pub fn check_promises(view: &BootView<'_>) -> Option<Violation> {
    if view.truth.is_damaged {
        return None;
    }
    let served = Value::Code("served");
    match &view.verdict.disposition {
        Disposition::Serve | Disposition::ServeFrom { .. } => {
            view.truth.writes().iter().find_map(|write| check_write(view, write))
        }
        Disposition::Refuse(reason) if view.has_ledger && view.sees_truth => Some(Violation::new(
            Check::I13,
            "a clean crash over a ledger",
            served,
            Value::Code(reason.code()),
        )),
        Disposition::Unavailable(_) if view.is_calm && view.sees_truth => {
            let actual = Value::Code("unavailable");
            Some(Violation::new(Check::I20, "a start without errors", served, actual))
        }
        Disposition::Refuse(_) | Disposition::Unavailable(_) => None,
    }
}

fn check_write(view: &BootView<'_>, write: &Write) -> Option<Violation> {
    if !write.is_promised || matches!(write.life, Life::Lost | Life::Retained) {
        return None;
    }
    let bytes = view.truth.bytes_of(write);
    let name = FileName::log(write.segment);
    let from = usize::try_from(write.position).expect("a simulated file fits memory");
    let log = bytes_of(&view.after.directory, &name);
    if log.and_then(|log| log.get(from..from + bytes.len())) == Some(bytes) {
        return None;
    }
    let (present, gone) = (Value::Code("present"), Value::Code("gone"));
    let violation = Violation::new(Check::I05, "a batch that was promised", present, gone);
    let end = write.position + u64::from(write.length);
    Some(violation.in_file(name).in_segment(write.segment).at(write.position..end))
}
