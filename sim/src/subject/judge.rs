//! What is wrong with what a recovery program said and did, by what is owed.
//!
//! Promises: asks nothing of the core, and of a program only its answer and the files that it left; what a
//! program may do is what the [`Case`] demands, not what this project's policy is. Leaves out: running it
//! ([`super::trial`]), and whether it agrees with the linked core, which is no matter of right or wrong.

use recovery_core::units::{Offset, SegmentStart};

use super::answer::{Answer, Said};
use crate::oracle::case::Case;
use crate::oracle::invariants::{
    check_indexes, check_kept, check_nonzero_bytes, check_refused_untouched, check_verified_bytes,
};
use crate::oracle::obligation::Obligation;
use crate::oracle::served_log::{Lying, for_each_in};
use crate::oracle::truth::Life;
use crate::oracle::{Check, PartitionImage, Value, Violation};

/// Everything that is wrong with one answer, and with the files behind it.
pub fn judge(case: &Case, answer: &Answer, after: &PartitionImage) -> Vec<Violation> {
    let mut violations = check_verified_bytes(&case.before, after);
    violations.extend(check_nonzero_bytes(&case.before, after, &[]));
    match answer.said {
        Said::Serve | Said::ServeFrom => violations.extend(judge_served(case, answer, after)),
        Said::Refuse => {
            violations.extend(check_refused_untouched(&case.before, after));
            if !case.may_be_refused() {
                let (served, refused) = (Value::Code("served"), Value::Code("refused"));
                violations.push(Violation::new(Check::I13, "a clean crash over a ledger", served, refused));
            }
        }
        Said::Unavailable => {
            violations.extend(check_refused_untouched(&case.before, after));
            let (judged, unavailable) = (Value::Code("judged"), Value::Code("unavailable"));
            violations.push(Violation::new(Check::I20, "a start without errors", judged, unavailable));
        }
    }
    violations
}

fn judge_served(case: &Case, answer: &Answer, after: &PartitionImage) -> Vec<Violation> {
    let mut violations = Vec::new();
    violations.extend(check_kept(&case.truth, Some(&case.before), after));
    violations.extend(unclaimed(case, answer));
    let starts: Vec<SegmentStart> =
        answer.segments.iter().map(|segment| SegmentStart::new(segment.start_offset)).collect();
    let mut lying: Vec<Lying<'_>> = Vec::new();
    let walked = for_each_in(&after.directory, &starts, |batch| lying.push(batch));
    if let Err((segment, position)) = walked {
        let (batches, noise) = (Value::Code("batches"), Value::Code("noise"));
        let found = Violation::new(Check::I06, "a served log", batches, noise);
        violations.push(found.in_segment(segment).at(position..position));
    }
    violations.extend(lying.iter().find_map(|batch| not_written(case, batch)));
    violations.extend(gap(case, &lying));
    violations.extend(check_indexes(&after.directory, &lying));
    violations.extend(lengths(answer, after));
    let mut truth = case.truth.clone();
    truth.reconcile(&lying, Some(&case.before.directory), true);
    let set_aside = truth.writes().iter().filter(|write| write.life == Life::Lost && write.is_fenced);
    violations.extend(next_offset(case, answer, set_aside.map(|write| write.next).max(), lying.last()));
    violations
}

/// A promised batch that lies where it was put, in a segment that the program does not serve, or not so far.
fn unclaimed(case: &Case, answer: &Answer) -> Option<Violation> {
    let is_served = |segment: SegmentStart, end: u64| {
        let told = answer.segments.iter().find(|told| told.start_offset == segment.get());
        told.is_some_and(|told| told.proven_bytes.is_none_or(|proven| end <= proven))
    };
    case.truth.writes().iter().find_map(|write| {
        let is_intact = case.truth.lies_in(&case.before.directory, write);
        let end = write.position + u64::from(write.length);
        let is_kept = case.truth.owed(write, is_intact) == Some(Obligation::MustKeep);
        if !is_kept || is_served(write.segment, end) {
            return None;
        }
        let (served, left_out) = (Value::Code("served"), Value::Code("left out"));
        let found = Violation::new(Check::I05, "a batch that was promised", served, left_out);
        Some(found.in_segment(write.segment).at(write.position..end))
    })
}

/// A served batch that was not written there, where that can be told.
fn not_written(case: &Case, lying: &Lying<'_>) -> Option<Violation> {
    let end = lying.position + lying.bytes.len() as u64;
    let is_it = |index: usize| case.truth.bytes_of(&case.truth.writes()[index]) == lying.bytes;
    let is_back = case.truth.writes().iter().any(|write| {
        write.base == lying.base
            && case.truth.bytes_of(write) == lying.bytes
            && write.life == Life::Retained
            && case.may_be_served(write)
    });
    if case.truth.living_at(lying.base, lying.bytes).is_some_and(is_it)
        || is_back
        || case.is_proven(lying.segment, end)
    {
        return None;
    }
    let (written, another) = (Value::Code("as written"), Value::Code("another"));
    let found = Violation::new(Check::I06, "a served batch", written, another);
    Some(found.in_segment(lying.segment).at(lying.position..end))
}

/// Offsets that nobody holds, inside of a segment or where no record explains them.
fn gap(case: &Case, lying: &[Lying<'_>]) -> Option<Violation> {
    lying.windows(2).find_map(|pair| {
        let [before, behind] = pair else { return None };
        let is_explained = behind.position == 0 && case.explains_gap(Some(before.segment), before.next);
        if before.next == behind.base || is_explained {
            return None;
        }
        let end = behind.position + behind.bytes.len() as u64;
        let found = Violation::new(Check::I07, "the next offset", before.next.into(), behind.base.into());
        Some(found.in_segment(behind.segment).at(behind.position..end))
    })
}

/// A log that is longer or shorter than the program says that it is proven.
fn lengths(answer: &Answer, after: &PartitionImage) -> Option<Violation> {
    answer.segments.iter().find_map(|told| {
        let proven = told.proven_bytes?;
        let segment = SegmentStart::new(told.start_offset);
        let log = crate::oracle::boot_view::bytes_of(
            &after.directory,
            &recovery_core::format::FileName::log(segment),
        );
        let length = log.map(|log| log.len() as u64);
        if length == Some(proven) {
            return None;
        }
        let actual = length.map_or(Value::None, Value::Number);
        let found = Violation::new(Check::I12, "log length", Value::Number(proven), actual);
        Some(found.in_segment(segment))
    })
}

/// A next offset that somebody holds, or that leaves a gap for no reason.
fn next_offset(
    case: &Case,
    answer: &Answer,
    set_aside: Option<Offset>,
    last: Option<&Lying<'_>>,
) -> Option<Violation> {
    let next = answer.next_offset.map(Offset::new)?;
    let accepted = case.accepted().into_iter().find_map(|accepted| accepted.next_offset);
    // Where only a refusal is accepted, serving at all is what is wrong.
    let (from, to) = accepted.unwrap_or((Offset::ZERO, Offset::new(u64::MAX)));
    let held = [set_aside, last.map(|last| last.next)].into_iter().flatten();
    let from = held.fold(from, Offset::max);
    let wrong = |check, expected: Offset| {
        Some(Violation::new(check, "the next offset", expected.into(), next.into()))
    };
    if next < from {
        wrong(Check::I08, from)
    } else if next > to {
        wrong(Check::I07, to)
    } else {
        None
    }
}
