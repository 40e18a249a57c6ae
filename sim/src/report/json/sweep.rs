//! The line of a sweep.

use serde_json::{Map, Value, json};

use super::{VERSION, digest};
use crate::command::sweep::SweepReport;
use crate::oracle::Check;

/// What a sweep came to.
pub fn sweep_summary(report: &SweepReport) -> Value {
    let summary = &report.summary;
    let groups: Vec<Value> = summary
        .groups
        .iter()
        .zip(&report.files)
        .map(|(group, file)| {
            json!({
                "id": group.id, "check": group.class.check.code(),
                "recovery_step": group.class.recovery_step, "faults": group.faults, "count": group.count,
                "subject": report.subjects[group.subject], "sentence": group.sentence,
                "file": file.to_string_lossy().replace('\\', "/"),
            })
        })
        .collect();
    let violations: Map<String, Value> = Check::ALL
        .iter()
        .map(|check| {
            let count = summary.violations.get(check).copied().unwrap_or_default();
            (check.code().to_owned(), json!(count))
        })
        .collect();
    let incomplete: Vec<&str> =
        summary.incomplete.iter().map(|subject| report.subjects[*subject].as_str()).collect();
    json!({
        "type": "sweep-summary", "version": VERSION,
        "subjects": report.subjects.len(), "skipped": report.skipped,
        "kinds": report.kinds.iter().map(|kind| kind.code()).collect::<Vec<_>>(), "depth": report.depth,
        "calls": summary.calls, "states": summary.states, "deduplicated": summary.deduplicated,
        "runs": summary.runs, "complete": summary.is_complete(), "incomplete": incomplete,
        "interrupted": report.is_interrupted, "failures": summary.failures,
        "groups": groups, "violations_by_invariant": violations, "digest": digest(summary.digest),
        "seconds": report.elapsed.as_secs_f64(), "exit": report.exit as u8,
    })
}
