//! A self-check, a line a part.

use std::io::{self, Write};

use super::text::{counted, paragraph};
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
pub fn self_check_summary(out: &mut dyn Write, parts: u64, failed: &[&str], seconds: f64) -> io::Result<()> {
    let held = match failed {
        [] => "all held".to_owned(),
        _ => format!("NOT all held: {}", failed.join(", ")),
    };
    paragraph(out, "Summary", &format!("{} in {seconds:.1} s: {held}", counted(parts, "part")))
}
