//! JSON Lines (CONTRACTS 4): one object a line, each with `type` and `version`, the summary last.
//!
//! Promises: the fields of `docs/json.md`, every one in every line; absent is null. Leaves out: text for
//! people ([`super::terminal`]).

mod export;
mod kernel_check;
mod mutants;
mod partition;
mod replay;
mod scenario;
mod self_check;
mod shrink;
mod sweep;
#[cfg(test)]
mod tests;
mod verdicts;

use std::io::{self, Write};

use serde_json::{Map, Value};

pub use export::{expect, export};
pub use kernel_check::{kernel_check_summary, kernel_strange, kernel_wronged};
pub use mutants::{mutant, mutants_summary};
pub use partition::partition;
pub use replay::replay;
pub use scenario::{scenario, scenarios_summary};
pub use self_check::{self_check, self_check_summary};
pub use shrink::shrink;
pub use sweep::sweep_summary;
pub use verdicts::verdicts;

use crate::report::lines::{FailureLine, Line, VERSION};
use crate::world::Failure;

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
    match serde_json::to_value(Line::Failure(FailureLine::of(failure))) {
        Ok(Value::Object(object)) => object,
        Ok(_) | Err(_) => unreachable!("a line is an object"),
    }
}

/// A digest as JSON spells it.
fn digest(value: u64) -> String {
    format!("{value:016x}")
}
