//! A shrunk schedule.

use std::io::{self, Write};

use super::text::{counted, hint, line_of_many, paragraph};
use crate::command::shrink::{ShrinkReport, Verified};
use crate::schedule::Extent;

/// What shrinking came to.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn shrink(out: &mut dyn Write, report: &ShrinkReport) -> io::Result<()> {
    paragraph(out, "Before", &extent(report.from))?;
    paragraph(out, "After", &extent(report.to))?;
    paragraph(out, "Shrunk", &report.title)?;
    for step in &report.steps {
        line_of_many(out, step)?;
    }
    let (check, recovery_step) = (report.class.check.code(), report.class.recovery_step);
    paragraph(out, "Fails", &format!("by {check} in {recovery_step}, as before"))?;
    paragraph(out, "", &report.sentence)?;
    let verified = match report.verified {
        Verified::Yes => "read back and replayed, it still fails so",
        Verified::WithMisses => {
            "read back and replayed, it still fails so; some step of it hits nothing, which sim scenarios \
             will not take"
        }
        Verified::No => "read back and replayed, it does NOT fail so: this is a bug of sim shrink",
    };
    let end = match (report.is_interrupted, report.is_cut_short) {
        (true, _) => "; interrupted: simpler ones were not run",
        (false, true) => "; the budget ended it, it may become simpler",
        (false, false) => "",
    };
    let (runs, seconds) = (counted(report.runs, "world"), report.seconds);
    paragraph(out, "Summary", &format!("{verified}; {runs} in {seconds:.1} s{end}"))?;
    hint(out, "replay", &format!("cargo sim replay {}", report.file))
}

fn extent(extent: Extent) -> String {
    let (steps, faults) = (counted(extent.steps, "step"), counted(extent.faults, "fault"));
    let (batches, bytes) = (counted(extent.batches, "batch"), counted(extent.bytes, "payload byte"));
    format!("{steps}, of them {faults}; {batches} of {bytes}")
}
