//! I10: a process crash anywhere in recovery, then recovery, ends in the same state.
//!
//! Asked at one drawn storage call of each start: the same verdict on what is served, the same logs to the
//! byte, the same copies in fences. A power loss there is judged like any other start instead. Does not
//! claim that indexes, reason files or ledger records are the same bytes, nor the same actions: what the
//! first run did the second need not do.

use recovery_core::decide::{Disposition, Verdict};

use super::same_verdict::code;
use crate::oracle::boot_view::bytes_of;
use crate::oracle::fence_copy::copies;
use crate::oracle::{Check, PartitionImage, Value, Violation};

/// How a start that was cut short and made again ends, against one that was not: verdict, and image after.
pub fn check_interrupted(
    (whole, whole_image): (&Verdict, &PartitionImage),
    (again, again_image): (&Verdict, &PartitionImage),
) -> Option<Violation> {
    let differ = |subject, expected: Value, actual: Value| {
        (expected != actual).then(|| Violation::new(Check::I10, subject, expected, actual))
    };
    differ("the verdict behind a crash in recovery", code(whole), code(again))
        .or_else(|| {
            let subject = "the next offset behind a crash in recovery";
            differ(subject, whole.next_offset.into(), again.next_offset.into())
        })
        .or_else(|| {
            let subject = "the gap behind a crash in recovery";
            differ(subject, first_of_gap(whole), first_of_gap(again))
        })
        .or_else(|| first_other_log(whole_image, again_image))
        .or_else(|| {
            let (one, other) = (copies(whole_image), copies(again_image));
            let kept = one.iter().filter(|copy| other.contains(copy)).count() as u64;
            let subject = "copies in fences behind a crash in recovery";
            differ(subject, Value::Number(one.len() as u64), Value::Number(kept))
                .or_else(|| differ(subject, Value::Number(kept), Value::Number(other.len() as u64)))
        })
}

fn first_of_gap(verdict: &Verdict) -> Value {
    match verdict.disposition {
        Disposition::ServeFrom { first, .. } => first.into(),
        Disposition::Serve | Disposition::Refuse(_) | Disposition::Unavailable(_) => Value::None,
    }
}

fn first_other_log(whole: &PartitionImage, again: &PartitionImage) -> Option<Violation> {
    let both = [(whole, again), (again, whole)];
    both.iter().find_map(|(one, other)| {
        let logs = one.directory.entries.iter().filter(|entry| entry.name.as_bytes().ends_with(b".log"));
        logs.map(|entry| entry.name).find_map(|name| {
            let (expected, actual) = (bytes_of(&one.directory, &name), bytes_of(&other.directory, &name));
            if expected == actual {
                return None;
            }
            let length =
                |bytes: Option<&[u8]>| bytes.map_or(Value::None, |bytes| Value::Number(bytes.len() as u64));
            let subject = "a log behind a crash in recovery";
            let violation = Violation::new(Check::I10, subject, length(expected), length(actual));
            Some(violation.in_file(name))
        })
    })
}
