//! Does the core say what the reference says.
//!
//! Promises: every fact and every part of the verdict that both state is compared. Where the core's budget
//! ran out ("unproven"), the reference's own tables are asked what follows from that.
//! Leaves out: the numbers inside a reason, and what only one of the two states.

use recovery_core::decide::{Action as CoreAction, Disposition as CoreDisposition, Reason, Verdict};
use recovery_core::observe::{PartitionFacts, Residue, SegmentFacts, Stop};
use recovery_core::units::{Offset, SegmentStart};

use super::batch::FRAME_BYTES;
use super::rules::SegmentFindings;
use super::{Disposition, Reference, ReferenceSegment, conclude};
use crate::oracle::{Check, Value, Violation};

/// Compares the reference with the core's facts (`None` where observation was not finished) and verdict.
///
/// # Errors
///
/// The first thing on which they differ.
pub fn agrees(
    reference: &Reference,
    facts: Option<&PartitionFacts>,
    verdict: &Verdict,
) -> Result<(), Violation> {
    let compare_codes = || {
        let core = Value::Code(verdict.disposition.code());
        expect(None, "disposition", Value::Code(reference.disposition.code()), core)
    };
    let Some(facts) = facts.filter(|_| reference.findings.is_some()) else {
        return compare_codes();
    };
    if verdict.disposition.code() == Disposition::Unavailable.code() {
        return compare_codes();
    }
    let told = within_budget(reference, facts, verdict);
    compare_segments(&told, facts, verdict)?;
    compare_partition(&told, verdict)
}

/// What the tables say where the core's budget ran out: they are asked again with that answer.
fn within_budget(reference: &Reference, facts: &PartitionFacts, verdict: &Verdict) -> Reference {
    let Some(findings) = &reference.findings else { return reference.clone() };
    let mut findings = findings.clone();
    let mut unproven_next_offset = None;
    for segment in &mut findings.segments {
        let core = facts.segments.iter().find(|core| core.start.get() == segment.start);
        let Some(core) = core.map(|core| &core.residue) else { continue };
        if core.kind == Residue::Unproven && segment.has_bait && may_be_unproven(segment.residue) {
            segment.residue = Residue::Unproven;
            if segment.is_cut() {
                unproven_next_offset = unproven_next_offset.max(Some(most_it_could_hold(segment)));
            }
        } else if core.kind == Residue::Survivor && segment.has_bait {
            // A survivor was seen before the budget ran out: another may hold all that there is room for.
            let most = u64::try_from(most_it_could_hold(segment)).unwrap_or(u64::MAX);
            let is_all_skipped = core.survivors_next_offset == Some(Offset::new(most));
            if is_all_skipped && segment.survivors_next_offset.is_some_and(|seen| seen < most) {
                segment.survivors_next_offset = Some(most);
            }
        }
    }
    let told = conclude(findings, reference.expired.clone());
    match unproven_next_offset {
        Some(most) => skipping_what_was_not_seen(told, verdict, most),
        None => told,
    }
}

/// Compares only whether all was looked at: without bait a budget is enough for it, and for one wrong read besides.
///
/// # Errors
///
/// The first segment of which a budget ran out for no reason.
pub fn looks_at_all(
    reference: &Reference,
    facts: &PartitionFacts,
    verdict: &Verdict,
) -> Result<(), Violation> {
    if verdict.disposition.code() == Disposition::Unavailable.code() {
        // Where two readings differ, or one failed, nothing was judged.
        return Ok(());
    }
    let findings = reference.findings.iter().flat_map(|findings| &findings.segments);
    for (segment, core) in findings.zip(&facts.segments) {
        let ran_out = core.residue.kind == Residue::Unproven && !segment.has_bait;
        let (enough, actual) =
            (Value::Code("enough"), Value::Code(if ran_out { "used-up" } else { "enough" }));
        expect(Some(core.start), "what may be looked at behind one wrong read", enough, actual)?;
    }
    Ok(())
}

/// Compares only what is served: the disposition, and where each log ends.
///
/// # Errors
///
/// The first thing on which they differ.
pub fn serves_alike(
    reference: &Reference,
    facts: &PartitionFacts,
    verdict: &Verdict,
) -> Result<(), Violation> {
    let reference = &within_budget(reference, facts, verdict);
    let (told, core) = (reference.disposition.code(), verdict.disposition.code());
    expect(None, "disposition behind one wrong read", Value::Code(told), Value::Code(core))?;
    for (reference, core) in reference.segments.iter().zip(&facts.segments) {
        let (told, core) = (Value::Number(reference.proven_bytes.get()), core.proven.end.get());
        let subject = "proven bytes behind one wrong read";
        expect(Some(reference.start), subject, told, Value::Number(core))?;
    }
    let subject = "next offset behind one wrong read";
    expect(None, subject, reference.next_offset.into(), verdict.next_offset.into())
}

/// What a budget can hide: never that there is nothing, and zeros need none.
const fn may_be_unproven(residue: Residue) -> bool {
    match residue {
        Residue::Noise | Residue::Survivor | Residue::Stray => true,
        Residue::None | Residue::Zeros | Residue::Unproven => false,
    }
}

/// One behind the largest offset that the bytes of a residue have room for.
pub(super) fn most_it_could_hold(segment: &SegmentFindings) -> u128 {
    let rest_bytes = segment.log_bytes.checked_sub(segment.proven_bytes).expect("a prefix is no longer");
    u128::from(segment.next_offset) + u128::from(rest_bytes) / FRAME_BYTES as u128
}

fn expect(
    segment: Option<SegmentStart>,
    subject: &'static str,
    reference: Value,
    core: Value,
) -> Result<(), Violation> {
    if reference == core {
        return Ok(());
    }
    Err(Violation { segment, ..Violation::new(Check::Reference, subject, reference, core) })
}

fn compare_segments(
    reference: &Reference,
    facts: &PartitionFacts,
    verdict: &Verdict,
) -> Result<(), Violation> {
    let count = |length: usize| Value::Number(length as u64);
    expect(None, "segments", count(reference.segments.len()), count(facts.segments.len()))?;
    expect(None, "segments", count(reference.segments.len()), count(verdict.segments.len()))?;
    expect(None, "expired", count(reference.expired.len()), count(facts.expired.len()))?;
    for (reference, core) in reference.expired.iter().zip(&facts.expired) {
        expect(None, "expired", Value::Number(reference.get()), Value::Number(core.get()))?;
    }
    let pairs = reference.segments.iter().zip(facts.segments.iter().zip(&verdict.segments));
    for (reference, (facts, verdict)) in pairs {
        compare_facts(reference, facts)?;
        compare_action(reference, verdict.action)?;
    }
    Ok(())
}

fn compare_facts(reference: &ReferenceSegment, core: &SegmentFacts) -> Result<(), Violation> {
    let segment = Some(reference.start);
    let same_code =
        |field, reference, core| expect(segment, field, Value::Code(reference), Value::Code(core));
    let same_number =
        |field, reference, core| expect(segment, field, Value::Number(reference), Value::Number(core));
    same_number("start", reference.start.get(), core.start.get())?;
    same_number("log_bytes", reference.log_bytes.get(), core.log_length.get())?;
    same_code("stop", reference.stop.code(), core.stop.stop().code())?;
    same_code("evidence", reference.evidence.code(), core.evidence.code())?;
    if reference.stop == Stop::Conflict {
        // Where the prefix ends between the last mark that agrees and the first that does not is open.
        return Ok(());
    }
    same_number("proven_bytes", reference.proven_bytes.get(), core.proven.end.get())?;
    same_number("proven next offset", reference.next_offset.get(), core.proven.next_offset.get())?;
    same_number("messages", reference.messages, core.proven.messages)?;
    same_number("batches", reference.batches, core.proven.batches)?;
    same_code("residue", reference.residue.code(), core.residue.kind.code())?;
    same_code("index", reference.index.code(), core.index.state.code())
}

fn compare_action(reference: &ReferenceSegment, core: CoreAction) -> Result<(), Violation> {
    let segment = Some(reference.start);
    expect(segment, "action", Value::Code(reference.action.code()), Value::Code(core.code()))?;
    let CoreAction::Cut { at, save } = core else { return Ok(()) };
    let same_number =
        |field, reference, core| expect(segment, field, Value::Number(reference), Value::Number(core));
    same_number("cut position", reference.proven_bytes.get(), at.get())?;
    same_number("saved_bytes", reference.saved_bytes.get(), save.get())
}

fn compare_partition(reference: &Reference, verdict: &Verdict) -> Result<(), Violation> {
    let same_code = |field, reference, core| expect(None, field, Value::Code(reference), Value::Code(core));
    same_code("disposition", reference.disposition.code(), verdict.disposition.code())?;
    if let (Disposition::Refuse { code: expected, segment }, CoreDisposition::Refuse(reason)) =
        (&reference.disposition, &verdict.disposition)
    {
        same_code("reason", expected, reason.code())?;
        if let (Some(segment), Some(named)) = (segment, segment_of(reason)) {
            expect(None, "refused segment", Value::Number(segment.get()), Value::Number(named.get()))?;
        }
    }
    if let (
        Disposition::ServeFrom { first, last },
        CoreDisposition::ServeFrom { first: core_first, last: core_last },
    ) = (&reference.disposition, &verdict.disposition)
    {
        expect(None, "gap", Value::Number(first.get()), Value::Number(core_first.get()))?;
        expect(None, "gap", Value::Number(last.get()), Value::Number(core_last.get()))?;
    }
    expect(None, "next_offset", reference.next_offset.into(), verdict.next_offset.into())?;
    compare_reserve(reference, verdict)
}

/// Any reservation will do that covers every survivor and is not above what is minted next.
fn compare_reserve(reference: &Reference, verdict: &Verdict) -> Result<(), Violation> {
    let is_enough = match (reference.reserve, verdict.reserve) {
        (None, None) => true,
        (Some(least), Some(core)) => least <= core && Some(core) <= verdict.next_offset,
        (None, Some(_)) | (Some(_), None) => false,
    };
    if is_enough {
        return Ok(());
    }
    expect(None, "reserve", reference.reserve.into(), verdict.reserve.into())
}

/// The same verdict with the core's own next offset, where a residue is cut that nobody looked at to its
/// end: all that it could hold is skipped, and how much that is depends on how far the core came.
fn skipping_what_was_not_seen(reference: Reference, verdict: &Verdict, most: u128) -> Reference {
    let (Some(least), Some(next)) = (reference.next_offset, verdict.next_offset) else { return reference };
    if next < least || u128::from(next.get()) > most.max(u128::from(least.get())) {
        return reference;
    }
    let chain_end = match reference.disposition {
        Disposition::ServeFrom { first, .. } => first,
        Disposition::Serve | Disposition::Refuse { .. } | Disposition::Unavailable => least,
    };
    let disposition = Disposition::serve_from(chain_end, next);
    Reference { disposition, next_offset: Some(next), reserve: verdict.reserve, ..reference }
}

/// The segment that a reason is about, where both tables name it alike.
fn segment_of(reason: &Reason) -> Option<SegmentStart> {
    match reason {
        Reason::LostDurable { segment, .. }
        | Reason::InteriorDamage { segment, .. }
        | Reason::UnprovenResidue { segment, .. }
        | Reason::ForeignBatch { segment, .. }
        | Reason::OffsetDiscontinuity { segment, .. }
        | Reason::OffsetOverflow { segment, .. }
        | Reason::RecordCeiling { segment, .. }
        | Reason::Hole { segment, .. }
        | Reason::Overlap { segment, .. }
        | Reason::EmptyNonTailSegment { segment, .. }
        | Reason::EvidenceConflict { segment, .. } => Some(*segment),
        // Of several that are missing, either may be named.
        Reason::MissingSegment { .. }
        | Reason::UnexpectedFile { .. }
        | Reason::SuperblockUnreadable { .. }
        | Reason::IdentityMismatch { .. }
        | Reason::MissingPartition { .. } => None,
    }
}
