//! Every check of one start, in the order in which a person wants to hear of them.

use recovery_core::decide::{Disposition, Verdict, decide_telling};
use recovery_core::observe::PartitionFacts;

use super::boot_view::BootView;
use super::invariants::{
    check_ends, check_indexes, check_lengths, check_nonzero_bytes, check_not_adopted, check_not_skipped,
    check_promises, check_refused_untouched, check_served, check_settling, check_verified_bytes, check_work,
    recovered_lengths,
};
use super::reference::{agrees, looks_at_all, recover, serves_alike};
use super::served_log::{self, Lying};
use super::{Check, Image, Value, Violation};
use crate::disk::{Cause, FaultTally};
use crate::run::regime_tally::WithoutLedger;
use crate::run::tally::Tally;
use crate::world::meter::{Meter, Phase};

/// What is wrong with a start, if anything is.
///
/// The rules are those of DESIGN section 9; each violation names its check.
///
/// # Examples
///
/// ```
/// use recovery_core::decide::decide;
/// use recovery_core::observe::{Expectation, PartitionFacts};
/// use recovery_core::plan::Plan;
/// use recovery_core::units::Namespace;
/// use sim::oracle::boot_view::BootView;
/// use sim::oracle::judge::judge;
/// use sim::oracle::truth::Truth;
/// use sim::oracle::{Check, PartitionImage};
/// use sim::world::meter::Meter;
///
/// // A start that finds an empty directory and serves it; no call of it failed, and nothing was done.
/// let expectation = Expectation::of(Namespace { stream: 1, topic: 1, partition: 0 });
/// let facts = PartitionFacts::of_nothing(expectation);
/// let (verdict, plan, image) = (decide(&facts), Plan::default(), PartitionImage::default());
/// let truth = Truth::default();
/// let view = BootView {
///     has_ledger: false,
///     is_calm: true,
///     is_disturbed: false,
///     writes_land: true,
///     lies_at_most_once: true,
///     failed_to_act: false,
///     sees_truth: true,
///     expectation,
///     before: Some(&image),
///     judged: Some(&image),
///     after: &image,
///     forgotten: &[],
///     facts: &facts,
///     verdict: &verdict,
///     plan: &plan,
///     is_open: true,
///     cursor: None,
///     settling_changes: 0,
///     steps: 1,
///     bytes_read: 0,
///     // Bytes of a step, and of the window over a log.
///     limits: (1024 * 1024, 64 * 1024),
///     truth: &truth,
/// };
/// assert_eq!(judge(&view, &mut Meter::OFF), []);
///
/// // The same start, if a batch was promised there.
/// let mut promised = Truth::default();
/// promised.invent_promise();
/// let violations = judge(&BootView { truth: &promised, ..view }, &mut Meter::OFF);
/// assert_eq!(violations.iter().map(|violation| violation.check).collect::<Vec<_>>(), [Check::I05]);
/// ```
pub fn judge(view: &BootView<'_>, meter: &mut Meter) -> Vec<Violation> {
    let mut violations = Vec::new();
    // A write that the disk puts elsewhere destroys what nobody asked it to.
    if let Some(before) = view.before.filter(|_| view.writes_land && view.lies_at_most_once) {
        violations.extend(check_verified_bytes(before, view.after));
        violations.extend(check_nonzero_bytes(before, view.after, view.forgotten));
        if !view.verdict.is_served() && view.plan.is_empty() {
            violations.extend(check_refused_untouched(before, view.after));
        }
    }
    if let Some(before) = view.before {
        violations.extend(check_work(before, view.facts, view.bytes_read, view.limits));
    }
    violations.extend(check_settling(view.settling_changes));
    violations.extend(check_ends(view.before.unwrap_or(view.after), view.steps));
    violations.extend(check_not_adopted(view.facts, view.verdict, view.plan));
    violations.extend(check_promises(view));
    if view.writes_land && view.lies_at_most_once {
        violations.extend(check_served(view));
    }
    violations.extend(check_not_skipped(view));
    if view.verdict.is_served() {
        if view.writes_land && view.sees_truth {
            let lying = lying(&view.after.directory, view.facts, view.verdict);
            violations.extend(check_indexes(&view.after.directory, &lying));
        }
        let lengths = recovered_lengths(view.facts, view.verdict);
        violations.extend(check_lengths(&view.after.directory, &lengths, view.cursor));
        if view.is_calm && !view.is_open {
            let (open, refused) = (Value::Code("open"), Value::Code("refused"));
            violations.push(Violation::new(Check::I12, "the writer on what recovery left", open, refused));
        }
    }
    let phase = meter.enter(Phase::Reference);
    violations.extend(reference_agrees(view));
    violations.extend(sees_through_one_lie(view));
    meter.enter(phase);
    violations
}

/// The reference recoverer, asked about the same image, agrees.
fn reference_agrees(view: &BootView<'_>) -> Option<Violation> {
    let judged = view.judged?;
    // Where the schedule makes calls fail, the core sees less than the image holds; bad sectors the image
    // shows. What cannot be written is no matter of what lies there.
    let sees_less = (view.is_disturbed && !view.is_calm) || view.failed_to_act;
    if !view.sees_truth || (sees_less && matches!(view.verdict.disposition, Disposition::Unavailable(_))) {
        return None;
    }
    let reference = recover(&judged.directory, &view.expectation);
    agrees(&reference, Some(view.facts), view.verdict).err()
}

/// Behind one read that lied, what is served is what the reference serves of the bytes that lie there, and what is not
/// was all looked at.
fn sees_through_one_lie(view: &BootView<'_>) -> Option<Violation> {
    let is_asked = !view.sees_truth && view.lies_at_most_once && view.writes_land && !view.failed_to_act;
    let judged = view.judged.filter(|_| is_asked)?;
    let reference = recover(&judged.directory, &view.expectation);
    if !view.verdict.is_served() {
        return looks_at_all(&reference, view.facts, view.verdict).err();
    }
    let is_hidden = reference.segments.iter().zip(&view.facts.segments).any(|(reference, facts)| {
        let (end, shown) = (reference.proven_bytes.get(), facts.proven.end.get());
        // One wrong read may show a whole other log of the same length, where no mark tells the two apart.
        let is_another = end == shown
            && reference.next_offset != facts.proven.next_offset
            && view.is_shown_whole(reference.start)
            && !end.checked_sub(1).is_some_and(|last| view.is_marked(reference.start, last));
        is_another || (end < shown && view.may_be_hidden(reference.start, end))
    });
    if is_hidden { None } else { serves_alike(&reference, view.facts, view.verdict).err() }
}

/// The batches that are served now.
pub fn lying<'a>(after: &'a Image, facts: &PartitionFacts, verdict: &Verdict) -> Vec<Lying<'a>> {
    let mut found = Vec::new();
    if verdict.is_served() {
        // A log that does not go on in batches is a violation already; what lies before it is served.
        let _ends_early = served_log::for_each(after, facts, |lying| found.push(lying)).is_err();
    }
    found
}

/// The word that a verdict is counted under: its reason where it refuses, else its disposition.
pub fn verdict_code(verdict: &Verdict) -> &'static str {
    match &verdict.disposition {
        Disposition::Refuse(reason) => reason.code(),
        Disposition::Serve | Disposition::ServeFrom { .. } | Disposition::Unavailable(_) => {
            verdict.disposition.code()
        }
    }
}

/// Counts what a start reached. Rows of the table count where reads told the truth: facts put together from
/// two readings that differ are of no disk.
pub fn count(facts: &PartitionFacts, verdict: &Verdict, sees_truth: bool, tally: &mut Tally) {
    tally.boots += 1;
    *tally.verdicts.entry(verdict_code(verdict)).or_default() += 1;
    if let Disposition::Refuse(reason) = &verdict.disposition {
        *tally.reasons.entry(reason.reason_code()).or_default() += 1;
    }
    for segment in &facts.segments {
        let (stop, residue) = (segment.stop.stop(), segment.residue.kind);
        *tally.stops.entry(stop).or_default() += 1;
        *tally.residues.entry(residue).or_default() += 1;
    }
    // Where something failed on the way, the verdict is not what the tables say of these facts.
    let mut rows = Vec::new();
    if sees_truth && decide_telling(facts, &mut |row| rows.push(row)) == *verdict {
        for row in rows {
            *tally.rows.entry(row).or_default() += 1;
        }
    }
}

/// Counts a start of a partition that is written without a ledger.
pub fn count_without_ledger(verdict: &Verdict, tally: &mut Tally) {
    let refused = u64::from(matches!(verdict.disposition, Disposition::Refuse(_)));
    tally.without_ledger.add(WithoutLedger { starts: 1, refused });
}

/// Counts which faults were applied and read.
pub fn count_faults(faults: &FaultTally, tally: &mut Tally) {
    for cause in Cause::all() {
        let (injected, read) = (faults.injected[cause.index()], faults.read[cause.index()]);
        if injected > 0 {
            let reached = tally.faults.entry(cause.code()).or_default();
            reached.injected += u64::from(injected);
            reached.read += u64::from(read);
        }
    }
}
