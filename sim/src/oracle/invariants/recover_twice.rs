//! I09: recover twice = recover once; the second run writes nothing.

use recovery_core::decide::{Action, Disposition, Verdict};

use super::sameness::first_difference;
use crate::oracle::{Check, PartitionImage, Value, Violation};

/// Two recoveries in a row, with nothing between them.
#[derive(Clone, Copy, Debug)]
pub struct SecondRun<'a> {
    /// What the first one concluded.
    pub first_verdict: &'a Verdict,
    /// What the second one concluded.
    pub second_verdict: &'a Verdict,
    /// The disk after the first one.
    pub after_first: &'a PartitionImage,
    /// The disk after the second one.
    pub after_second: &'a PartitionImage,
    /// Calls of the second one that change names, lengths or contents.
    pub changing_calls: u64,
}

/// How the second run differs from no run at all. Nothing follows from a first one that was not finished.
pub fn check_recover_twice(run: SecondRun<'_>) -> Vec<Violation> {
    let (first, second) = (run.first_verdict, run.second_verdict);
    if matches!(first.disposition, Disposition::Unavailable(_)) {
        return Vec::new();
    }
    let mut violations = Vec::new();
    let mut expect = |subject, expected: Value, actual: Value| {
        if expected != actual {
            violations.push(Violation::new(Check::I09, subject, expected, actual));
        }
    };
    expect("changing calls of a second run", Value::Number(0), Value::Number(run.changing_calls));
    let code = |verdict: &Verdict| Value::Code(verdict.disposition.code());
    expect("disposition of a second run", code(first), code(second));
    expect("reason of a second run", reason(first), reason(second));
    expect("next offset of a second run", first.next_offset.into(), second.next_offset.into());
    expect("first offset of the gap of a second run", first_of_gap(first), first_of_gap(second));
    for segment in &second.segments {
        if segment.action != Action::Keep {
            let (expected, actual) = (Value::Code(Action::Keep.code()), Value::Code(segment.action.code()));
            let violation = Violation::new(Check::I09, "action of a second run", expected, actual);
            violations.push(violation.in_segment(segment.start));
        }
    }
    violations.extend(first_difference(Check::I09, run.after_first, run.after_second));
    violations
}

fn reason(verdict: &Verdict) -> Value {
    match &verdict.disposition {
        Disposition::Refuse(reason) => Value::Code(reason.code()),
        Disposition::Serve | Disposition::ServeFrom { .. } | Disposition::Unavailable(_) => Value::None,
    }
}

fn first_of_gap(verdict: &Verdict) -> Value {
    match verdict.disposition {
        Disposition::ServeFrom { first, .. } => first.into(),
        Disposition::Serve | Disposition::Refuse(_) | Disposition::Unavailable(_) => Value::None,
    }
}
