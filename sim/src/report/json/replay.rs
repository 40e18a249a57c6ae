//! The line of a replay.

use serde_json::{Map, Value, json};

use super::{VERSION, digest, failure_fields};
use crate::world::Report;

/// What a replay came to.
pub fn replay(token: Option<&str>, file: Option<&str>, report: &Report) -> Value {
    let failures: Vec<Map<String, Value>> = report.failures.iter().map(failure_fields).collect();
    json!({
        "type": "replay", "version": VERSION, "token": token, "file": file,
        "digest": digest(report.digest), "expected_digest": null,
        "reproduced": if report.failures.is_empty() { "no" } else { "yes" },
        "failures": failures,
    })
}
