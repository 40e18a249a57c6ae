//! I18 and I21: the verdict depends on the bytes of the partition alone.
//!
//! Asked at one drawn start of each boot about the same bytes in another guise: listed in another order,
//! with a cold cache, through another window, without indexes where the logs are whole, with a bit flipped
//! up and another one down in the same field, and beside a partition that was damaged (I21). Does not claim
//! that the same calls are made.

use recovery_core::decide::{Action, Disposition, Verdict};

use crate::oracle::{Check, Value, Violation};

/// The first difference between two verdicts that should be one. With `but_for_indexes` they may differ in
/// whether an index is kept or rebuilt.
pub fn check_same_verdict(
    check: Check,
    subject: &'static str,
    (first, second): (&Verdict, &Verdict),
    but_for_indexes: bool,
) -> Option<Violation> {
    let differ = |expected: Value, actual: Value| {
        (expected != actual).then(|| Violation::new(check, subject, expected, actual))
    };
    differ(code(first), code(second))
        .or_else(|| differ(first.next_offset.into(), second.next_offset.into()))
        .or_else(|| {
            let count = |verdict: &Verdict| Value::Number(verdict.segments.len() as u64);
            differ(count(first), count(second))
        })
        .or_else(|| {
            let mut pairs = first.segments.iter().zip(&second.segments);
            pairs.find_map(|(one, other)| {
                let violation = differ(one.start.offset().into(), other.start.offset().into())
                    .or_else(|| {
                        differ(action(one.action, but_for_indexes), action(other.action, but_for_indexes))
                    })
                    .or_else(|| differ(cut(one.action), cut(other.action)))?;
                Some(violation.in_segment(one.start))
            })
        })
}

/// The disposition, or the reason where it is refused.
pub(super) fn code(verdict: &Verdict) -> Value {
    Value::Code(match &verdict.disposition {
        Disposition::Refuse(reason) => reason.code(),
        Disposition::Serve | Disposition::ServeFrom { .. } | Disposition::Unavailable(_) => {
            verdict.disposition.code()
        }
    })
}

fn action(action: Action, but_for_indexes: bool) -> Value {
    Value::Code(match action {
        Action::RebuildIndex if but_for_indexes => Action::Keep.code(),
        Action::Keep | Action::RebuildIndex | Action::Cut { .. } => action.code(),
    })
}

fn cut(action: Action) -> Value {
    match action {
        Action::Cut { at, .. } => Value::Number(at.get()),
        Action::Keep | Action::RebuildIndex => Value::None,
    }
}
