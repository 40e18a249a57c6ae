//! The lines of a self-check.

use serde_json::{Value, json};

use super::VERSION;
use crate::command::self_check::SelfCheckReport;
use crate::self_check::PartResult;

/// What a part came to.
pub fn self_check(result: &PartResult) -> Value {
    let (Ok(sentence) | Err(sentence)) = &result.finding;
    json!({
        "type": "self-check", "version": VERSION, "name": result.name, "claim": result.claim,
        "passed": result.finding.is_ok(), "sentence": sentence,
    })
}

/// The last line.
pub fn self_check_summary(report: &SelfCheckReport) -> Value {
    json!({
        "type": "self-check-summary", "version": VERSION, "parts": report.parts, "failed": report.failed,
        "not_run": report.not_run, "interrupted": !report.not_run.is_empty(),
        "seconds": report.elapsed.as_secs_f64(), "exit": report.exit() as u8,
    })
}
