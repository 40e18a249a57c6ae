//! A shrunk schedule.

use std::io::{self, Write};

use super::text::{counted, hint, paragraph};
use crate::command::shrink::ShrinkReport;

/// What shrinking came to.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn shrink(out: &mut dyn Write, report: &ShrinkReport) -> io::Result<()> {
    let (from, to) = (report.from, report.to);
    let (steps, faults) = (counted(to.steps as u64, "step"), counted(to.faults as u64, "fault"));
    let text = format!("from {} to {steps}, from {} to {faults}", from.steps, from.faults);
    paragraph(out, "Shrunk", &text)?;
    let (runs, seconds) = (counted(report.runs, "world"), report.seconds);
    let fails = format!("it fails by {} in {}", report.class.check.code(), report.class.recovery_step);
    let verified = if report.is_verified { "read back, it still does" } else { "read back, it does NOT" };
    paragraph(out, "Summary", &format!("{fails}; {verified}; {runs} in {seconds:.1} s"))?;
    hint(out, "replay", &format!("cargo sim replay {}", report.file))
}
