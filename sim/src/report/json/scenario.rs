//! The lines of `sim scenarios`.

use serde_json::{Value, json};

use super::{VERSION, digest, failure_fields};
use crate::command::scenarios::Told;
use crate::exit::Exit;

/// What one scenario came to.
pub fn scenario(told: &Told) -> Value {
    let failures: Vec<Value> = told
        .report
        .failures
        .iter()
        .map(|failure| {
            let mut object = failure_fields(failure);
            object.insert("file".into(), json!(told.path));
            object.insert("line".into(), json!(told.line(failure)));
            Value::Object(object)
        })
        .collect();
    json!({
        "type": "scenario", "version": VERSION, "path": told.path, "passed": told.has_passed(),
        "failures": failures, "outcome": digest(told.report.outcome),
    })
}

/// The last line.
pub fn scenarios_summary(passed: u64, failed: u64, not_run: &[String], exit: Exit) -> Value {
    json!({
        "type": "scenarios-summary", "version": VERSION, "scenarios": passed + failed,
        "passed": passed, "failed": failed, "not_run": not_run, "interrupted": !not_run.is_empty(),
        "exit": exit as u8,
    })
}
