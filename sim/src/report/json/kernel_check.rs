//! The lines of a check against a real kernel.

use serde_json::{Value, json};

use super::VERSION;
use crate::command::kernel_check::KernelReport;
use crate::kernel::{Kind, Strange, Wronged};

/// What a program left that the model does not allow.
pub fn kernel_strange(kind: Kind, strange: &Strange) -> Value {
    let steps: Vec<String> = strange.program.steps.iter().map(ToString::to_string).collect();
    json!({
        "type": "kernel-strange", "version": VERSION, "filesystem": kind.code(),
        "seed": strange.program.seed, "steps": steps, "before": strange.before.to_string(),
        "found": strange.found.to_string(),
    })
}

/// What is wrong with a partition that was recovered.
pub fn kernel_wronged(kind: Kind, wronged: &Wronged) -> Value {
    json!({
        "type": "kernel-wronged", "version": VERSION, "filesystem": kind.code(), "seed": wronged.seed,
        "sentences": wronged.sentences,
    })
}

/// The last line.
pub fn kernel_check_summary(report: &KernelReport) -> Value {
    let found = &report.found;
    json!({
        "type": "kernel-check-summary", "version": VERSION, "filesystem": report.kind.code(),
        "kernel": report.kernel, "from_seed": report.from_seed, "programs": found.programs,
        "crashes": found.crashes, "whole": found.whole, "strange": found.strange.len(),
        "shapes": report.found.shown.iter().map(|shown| json!({
            "name": shown.name, "allowed": shown.allowed.len(), "seen": shown.seen.len(),
        })).collect::<Vec<Value>>(),
        "shape_runs": found.shape_runs, "partitions": found.partitions, "wronged": found.wronged.len(),
        "missing": report.missing, "seconds": report.elapsed.as_secs_f64(),
        "not_run": report.not_run,
        "interrupted": report.not_run > 0, "exit": report.exit as u8,
    })
}
