//! I18 and I21: the verdict depends on the bytes of the partition alone.
//!
//! Asked at one drawn start of each boot about the same bytes in another guise: listed in another order,
//! with a cold cache, through another window, without indexes where the logs are whole, with a bit flipped
//! up and another one down in the same field, and beside a partition that was damaged (I21). Does not claim
//! that the same calls are made.
//!
//! Asked besides at some starts in which nothing went wrong, more often of those that found damage: the same start again,
//! and one read of it, made while it looked, shows a flipped bit, shows zeros or fails, once; or all reads come short.
//! Then the verdict is the same, and so is the plan, or the partition is unavailable: one read is no evidence (N13), and
//! an error is none. A log of which one read fails is read again (DESIGN section 6: "Unreadable (read twice)"), and so is
//! a whole one that one read shows damaged: there, and where reads are merely short, it is not unavailable either. Does
//! not claim that an index is kept that one read shows wrongly, that a refused partition is refused for the same reason
//! where the read was of an index or of a damaged log (what lies behind damage is read once, and compared with its copy
//! only where there is one), that zeros behind a prefix are not refused where one read of them shows something else (no
//! copy of them is made), that a read which is wrong and verifies is seen through, anything about a budget that runs out,
//! or about a second wrong read. The same is asked where signals interrupt calls, and of a ledger without the zeros that
//! its last record ends in.

use recovery_core::decide::{Action, Disposition, Verdict};
use recovery_core::format::FRAME_HEADER_BYTES;
use recovery_core::observe::{PartitionFacts, Residue, ResidueFacts};
use recovery_core::plan::{Plan, Step};
use recovery_core::units::Offset;

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

/// What a start may come to that is made again, with something going wrong in its reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "what may differ, each with its own name")]
pub struct Expected {
    /// What is compared, for a report.
    pub subject: &'static str,
    /// Whether it may be unavailable.
    pub may_be_unavailable: bool,
    /// Whether it may keep an index that the other one rebuilds, or the reverse.
    pub but_for_indexes: bool,
    /// Whether it may be refused for another reason, if both are refused.
    pub for_any_reason: bool,
    /// Whether it may be refused where the other one is not.
    pub may_be_refused: bool,
}

impl Expected {
    /// The same verdict, on the same plan.
    pub const fn the_same(subject: &'static str) -> Self {
        Self {
            subject,
            may_be_unavailable: false,
            but_for_indexes: false,
            for_any_reason: false,
            may_be_refused: false,
        }
    }
}

/// What is wrong with the second of two starts, in which reads went wrong.
pub fn check_misread(
    expected: &Expected,
    (first, first_plan): (&Verdict, &Plan),
    (second, second_plan): (&Verdict, &Plan),
) -> Option<Violation> {
    let Expected { subject, may_be_unavailable, but_for_indexes, for_any_reason, may_be_refused } = *expected;
    let is_refused = |verdict: &Verdict| matches!(verdict.disposition, Disposition::Refuse(_));
    let waits = may_be_unavailable && matches!(second.disposition, Disposition::Unavailable(_));
    let may_be_refused = if is_refused(first) { for_any_reason } else { may_be_refused };
    if waits || (may_be_refused && is_refused(second)) {
        return None;
    }
    let unlike = check_same_verdict(Check::I18, subject, (first, second), but_for_indexes);
    let unlike_plan = || if but_for_indexes { None } else { first_unlike_step(first_plan, second_plan) };
    unlike.or_else(unlike_plan)
}

/// The slot of the newest record that counts, of a ledger and of the same one without the zeros that it ended in: they are
/// there again as soon as anything is written behind it.
pub fn check_same_record(first: Option<u64>, second: Option<u64>) -> Option<Violation> {
    let slot = |newest: Option<u64>| newest.map_or(Value::None, Value::Number);
    let (expected, actual) = (slot(first), slot(second));
    let subject = "the newest record of a ledger without its last zeros";
    (expected != actual).then(|| Violation::new(Check::I18, subject, expected, actual))
}

/// Whether a probe ran out of its budget. Bait makes it: batches inside of batches. What is looked at twice is bounded as
/// well (F44), so there one wrong read may change what is spent, and with it how many offsets are skipped.
pub fn has_run_out(facts: &PartitionFacts) -> bool {
    facts.segments.iter().any(|segment| {
        let ResidueFacts { kind, length, survivors_next_offset, .. } = &segment.residue;
        let room = length.get() / FRAME_HEADER_BYTES as u64;
        let bound = match segment.proven.next_offset.checked_add(room) {
            Some(bound) => bound,
            None => Offset::new(u64::MAX),
        };
        *kind == Residue::Unproven || *survivors_next_offset == Some(bound)
    })
}

fn first_unlike_step(first: &Plan, second: &Plan) -> Option<Violation> {
    let (length, other_length) = (first.steps.len(), second.steps.len());
    let mut steps = (0..length.max(other_length)).map(|at| (first.steps.get(at), second.steps.get(at)));
    let (one, other) = steps.find(|(one, other)| one != other)?;
    let code = |step: Option<&Step>| step.map(Step::code);
    let actual = if code(one) == code(other) { Some("another of that kind") } else { code(other) };
    let value = |code: Option<&'static str>| code.map_or(Value::None, Value::Code);
    Some(Violation::new(Check::I18, "a step of the plan behind a read", value(code(one)), value(actual)))
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
