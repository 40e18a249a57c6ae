//! One schedule step by step, with what each came to.

use std::io::{self, Write};

use crate::schedule::{Schedule, print_step};
use crate::world::Report;
use crate::world::event::EventCode;

/// A schedule step by step, with what each came to.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn replay(out: &mut dyn Write, schedule: &Schedule, report: &Report, full: bool) -> io::Result<()> {
    for (index, step) in schedule.steps.iter().enumerate() {
        writeln!(out, "{index:>4}  {}", print_step(step).trim_end())?;
        for event in report.events.iter().filter(|event| event.step as usize == index) {
            let is_call = matches!(event.code, EventCode::Call | EventCode::CallFailed | EventCode::Step);
            if full || !is_call {
                writeln!(out, "        {:?} {:#x} {:#x} {:#x}", event.code, event.a, event.b, event.c)?;
            }
        }
        for failure in report.failures.iter().filter(|failure| failure.step as usize == index) {
            writeln!(out, "  FAIL  {} ({})", failure.violation, failure.recovery_step)?;
        }
    }
    writeln!(out, "digest {:016x}, outcome {:016x}", report.digest, report.outcome)
}
