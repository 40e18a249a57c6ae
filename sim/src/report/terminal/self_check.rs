//! A self-check, a line a part.

use std::io::{self, Write};

use super::text::{counted, not_run, paragraph};
use crate::command::self_check::SelfCheckReport;
use crate::self_check::PartResult;

/// What a part came to.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn self_check(out: &mut dyn Write, result: &PartResult) -> io::Result<()> {
    match &result.finding {
        Ok(_) => paragraph(out, "held", &format!("self-check:{}: {}", result.name, result.claim)),
        Err(finding) => {
            paragraph(out, "FAIL", &format!("self-check:{}: {}", result.name, result.claim))?;
            paragraph(out, "", finding)
        }
    }
}

/// How many parts held.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn self_check_summary(out: &mut dyn Write, report: &SelfCheckReport) -> io::Result<()> {
    not_run(out, "part", &report.not_run)?;
    let held = match report.failed.as_slice() {
        [] if report.not_run.is_empty() => "all held".to_owned(),
        [] => "what ran held".to_owned(),
        failed => format!("NOT all held: {}", failed.join(", ")),
    };
    let (parts, seconds) = (counted(report.parts, "part"), report.elapsed.as_secs_f64());
    paragraph(out, "Summary", &format!("{parts} in {seconds:.1} s: {held}"))
}
