//! The line of a shrunk schedule.

use serde_json::{Value, json};

use super::VERSION;
use crate::command::shrink::ShrinkReport;
use crate::run::shrink::Extent;

/// What shrinking came to.
pub fn shrink(report: &ShrinkReport) -> Value {
    let extent = |extent: Extent| json!({ "steps": extent.steps, "faults": extent.faults });
    json!({
        "type": "shrink", "version": VERSION, "from": extent(report.from), "to": extent(report.to),
        "runs": report.runs, "seconds": report.seconds, "check": report.class.check.code(),
        "recovery_step": report.class.recovery_step, "verified": report.is_verified, "file": report.file,
    })
}
