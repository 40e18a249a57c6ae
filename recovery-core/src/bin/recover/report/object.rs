//! The one JSON object that a command prints (CONTRACTS 2).
//!
//! Promises: the names, types and null rules of the contract. A field that is not known is null, never 0.

use recovery_core::decide::{Action, Disposition, LostRange, SegmentVerdict};
use recovery_core::observe::{PartitionFacts, SegmentFacts, Stop, Unavailable, Work};
use recovery_core::storage::StorageError;
use recovery_core::units::Offset;
use serde::Serialize;
use serde_json::Value;

use super::cause::CauseObject;
use super::ledger::LedgerObject;
use super::step::StepObject;
use super::{Mode, Report};
use crate::mistake::Mistake;

/// Version of every object.
const VERSION: u32 = 1;

/// One partition.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PartitionObject {
    version: u32,
    namespace: String,
    disposition: &'static str,
    reason: Option<CauseObject>,
    next_offset: Option<u64>,
    gap: Option<GapObject>,
    lost: Option<GapObject>,
    lost_ranges: Option<Vec<GapObject>>,
    messages: Option<u64>,
    bytes_read: Option<u64>,
    bytes_hashed: Option<u64>,
    bytes_walked: Option<u64>,
    longest_step_bytes: Option<u64>,
    ledger: Option<LedgerObject>,
    segments: Option<Vec<SegmentObject>>,
    expired: Option<Vec<u64>>,
    scratch: Option<Vec<String>>,
    others: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<StepObject>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    given_up: Option<Vec<GapObject>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fenced: Option<Value>,
}

/// Offsets that no message holds.
#[derive(Clone, Copy, Debug, Serialize)]
struct GapObject {
    first_offset: u64,
    last_offset: u64,
}

/// One segment.
#[derive(Clone, Debug, Serialize)]
struct SegmentObject {
    start_offset: u64,
    log_bytes: u64,
    proven_bytes: u64,
    end_offset: Option<u64>,
    messages: u64,
    batches: u64,
    stop: &'static str,
    residue: Option<&'static str>,
    evidence: &'static str,
    index: Option<&'static str>,
    action: &'static str,
    saved_bytes: u64,
}

impl PartitionObject {
    /// The object of a report.
    pub(crate) fn of(report: &Report<'_>) -> Self {
        let facts = report.facts();
        let verdict = &report.found.verdict;
        let lost = report.lost();
        let counted = |count: fn(&Work) -> u64| report.found.work.as_ref().map(count);
        Self {
            version: VERSION,
            namespace: report.target.namespace.to_string(),
            disposition: verdict.disposition.code(),
            reason: CauseObject::of(&verdict.disposition, &report.target.name()),
            next_offset: verdict.next_offset.map(Offset::get),
            gap: gap(&verdict.disposition),
            lost: lost.as_ref().and_then(|lost| hull(&lost.ranges)),
            lost_ranges: lost.as_ref().map(|lost| lost.ranges.iter().map(GapObject::of).collect()),
            messages: facts.map(messages),
            bytes_read: counted(|work| work.bytes_read),
            bytes_hashed: counted(|work| work.bytes_hashed),
            bytes_walked: counted(|work| work.bytes_walked),
            longest_step_bytes: counted(|work| work.longest_step_bytes),
            ledger: facts.map(LedgerObject::of),
            segments: facts.map(|_| {
                report.segments().into_iter().map(|(facts, verdict)| segment(facts, *verdict)).collect()
            }),
            expired: facts.map(|facts| facts.expired.iter().map(|start| start.get()).collect()),
            scratch: facts.map(|facts| facts.listing.scratch.iter().map(ToString::to_string).collect()),
            others: facts
                .map(|facts| facts.listing.others.iter().map(|entry| entry.name.to_string()).collect()),
            steps: match report.mode {
                Mode::Plan => Some(report.found.plan.steps.iter().map(StepObject::of).collect()),
                Mode::Check | Mode::Apply | Mode::AcceptLoss | Mode::Adopt => None,
            },
            given_up: report.found.given_up.as_ref().map(|ranges| ranges.iter().map(GapObject::of).collect()),
            fenced: matches!(report.mode, Mode::Apply | Mode::AcceptLoss | Mode::Adopt).then(
                || match &report.found.fenced {
                    Some(files) => files.iter().map(ToString::to_string).collect(),
                    None => Value::Null,
                },
            ),
        }
    }
}

impl GapObject {
    fn of(range: &LostRange) -> Self {
        Self { first_offset: range.first.get(), last_offset: range.last.get() }
    }
}

/// From the first offset that is lost to the last.
fn hull(ranges: &[LostRange]) -> Option<GapObject> {
    let (first, last) = (ranges.first()?, ranges.last()?);
    Some(GapObject { first_offset: first.first.get(), last_offset: last.last.get() })
}

/// Messages of all proven prefixes.
pub(crate) fn messages(facts: &PartitionFacts) -> u64 {
    facts.segments.iter().map(|segment| segment.proven.messages).sum()
}

/// The last offset that a segment's proven prefix holds.
pub(crate) fn last_offset(facts: &SegmentFacts) -> Option<u64> {
    match facts.proven.next_offset.before() {
        Some(last) if facts.proven.messages > 0 => Some(last.get()),
        Some(_) | None => None,
    }
}

/// Bytes of a residue that a cut copies aside.
pub(crate) const fn saved_bytes(action: Action) -> u64 {
    match action {
        Action::Keep | Action::RebuildIndex => 0,
        Action::Cut { save, .. } => save.get(),
    }
}

fn gap(disposition: &Disposition) -> Option<GapObject> {
    match disposition {
        Disposition::ServeFrom { first, last } => {
            Some(GapObject { first_offset: first.get(), last_offset: last.get() })
        }
        Disposition::Serve | Disposition::Refuse(_) | Disposition::Unavailable(_) => None,
    }
}

fn segment(facts: &SegmentFacts, verdict: SegmentVerdict) -> SegmentObject {
    assert!(facts.start == verdict.start, "facts and verdict speak of one segment");
    let stop = facts.stop.stop();
    SegmentObject {
        start_offset: facts.start.get(),
        log_bytes: facts.log_length.get(),
        proven_bytes: facts.proven.end.get(),
        end_offset: last_offset(facts),
        messages: facts.proven.messages,
        batches: facts.proven.batches,
        stop: stop.code(),
        // What lies behind a place that cannot be read is not known.
        residue: (stop != Stop::Unreadable).then(|| facts.residue.kind.code()),
        evidence: facts.evidence.code(),
        index: (stop != Stop::Unreadable).then(|| facts.index.state.code()),
        action: verdict.action.code(),
        saved_bytes: saved_bytes(verdict.action),
    }
}

/// What is printed instead when the command line is wrong, or a file to inspect cannot be read.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ErrorObject {
    version: u32,
    error: CauseObject,
}

impl ErrorObject {
    /// The object of a mistake.
    pub(crate) fn of(mistake: &Mistake) -> Self {
        Self { version: VERSION, error: CauseObject::of_mistake(mistake) }
    }

    /// The object of a call that failed.
    pub(crate) fn of_failure(error: &StorageError) -> Self {
        let cause = CauseObject::of_failure(&Unavailable::Io(*error), &error.file);
        Self { version: VERSION, error: cause }
    }
}
