//! JSON Lines (CONTRACTS 4): one object a line, each with `type` and `version`, the summary last.
//!
//! Promises: the fields of `docs/json.md`, every one in every line; absent is null. Leaves out: text for
//! people ([`super::terminal`]).

mod partition;
mod replay;
mod run;
mod scenario;
mod self_check;
mod shrink;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use serde_json::{Map, Value, json};

pub use replay::replay;
pub use run::{failure, reach, run_started, run_summary};
pub use scenario::{scenario, scenarios_summary};
pub use self_check::{self_check, self_check_summary};
pub use shrink::shrink;

use crate::report::timeline::sentence;
use crate::run::difference::Difference;
use crate::world::Failure;

/// Version of every line.
const VERSION: u32 = 1;

/// Writes one line.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn write(out: &mut dyn Write, line: &Value) -> io::Result<()> {
    writeln!(out, "{line}")
}

/// What a failure line says of the failure itself. Who tells of it adds where it comes from.
fn failure_fields(failure: &Failure) -> Map<String, Value> {
    let violation = &failure.violation;
    let Value::Object(object) = json!({
        "type": "failure", "version": VERSION,
        "token": null, "seed": null, "digest": null, "group": null, "known": false,
        "check": violation.check.code(), "step": failure.step, "recovery_step": failure.recovery_step,
        "node": 0, "partition": failure.partition.map(|namespace| namespace.to_string()),
        "segment": violation.segment.map(recovery_core::units::SegmentStart::get),
        "range": violation.range.as_ref().map(|range| [range.start, range.end]),
        "expected": violation.expected.to_string(), "actual": violation.actual.to_string(),
        "sentence": violation.to_string(), "remark": failure.remark,
        "faults": [], "file": null, "difference": null,
    }) else {
        unreachable!("an object was written")
    };
    object
}

/// Where two runs part, in words.
fn difference(difference: Difference) -> Value {
    json!({
        "record": difference.at,
        "first": difference.first.map(|event| sentence(&event, None)),
        "second": difference.second.map(|event| sentence(&event, None)),
    })
}

/// A digest as JSON spells it.
fn digest(value: u64) -> String {
    format!("{value:016x}")
}
