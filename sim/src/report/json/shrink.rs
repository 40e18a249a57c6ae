//! The line of a shrunk schedule.

use serde_json::{Value, json};

use super::VERSION;
use crate::command::shrink::{ShrinkReport, Verified};
use crate::schedule::Extent;

/// What shrinking came to.
pub fn shrink(report: &ShrinkReport) -> Value {
    let extent = |extent: Extent| {
        json!({
            "steps": extent.steps, "faults": extent.faults, "batches": extent.batches, "bytes": extent.bytes,
        })
    };
    json!({
        "type": "shrink", "version": VERSION, "title": report.title, "from": extent(report.from),
        "to": extent(report.to), "lines": report.steps, "runs": report.runs, "seconds": report.seconds,
        "cut_short": report.is_cut_short, "interrupted": report.is_interrupted, "check": report.class.check.code(),
        "recovery_step": report.class.recovery_step, "sentence": report.sentence,
        "verified": report.verified != Verified::No, "missed": report.verified == Verified::WithMisses,
        "file": report.file,
    })
}
