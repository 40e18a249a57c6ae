//! `sim list`: the vocabularies.

use std::io::{self, Write};

use recovery_core::decide::{ReasonCode, Row};

use crate::cli::List;
use crate::exit::Exit;
use crate::oracle::Check;
use crate::schedule::{FaultKind, Filesystem};

/// What can be listed.
const SUBJECTS: &str = "faults, checks, reasons, rows, filesystems";

/// Prints one word a line.
///
/// # Errors
///
/// When a stream cannot be written.
pub fn list(options: &List, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let words: Vec<&str> = match options.what.as_str() {
        "faults" => FaultKind::ALL.iter().map(|kind| kind.code()).collect(),
        "checks" => Check::ALL.iter().map(|check| check.code()).collect(),
        "reasons" => ReasonCode::ALL.iter().map(|reason| reason.code()).collect(),
        "rows" => Row::ALL.iter().map(|row| row.code()).collect(),
        "filesystems" => Filesystem::ALL.iter().map(|filesystem| filesystem.code()).collect(),
        other => {
            writeln!(err, "error: {other} cannot be listed\nhint: one of {SUBJECTS}")?;
            return Ok(Exit::Usage);
        }
    };
    for word in words {
        writeln!(out, "{word}")?;
    }
    Ok(Exit::Held)
}
