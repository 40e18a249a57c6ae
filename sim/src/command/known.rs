//! The file of known groups, read where the tree's commits are at hand.

use std::fs;
use std::path::Path;

use crate::command::commit;
use crate::run::known::Known;

/// Reads it.
///
/// # Errors
///
/// When it cannot be read or is none; the text is for a person.
pub fn read(path: &Path) -> Result<Known, String> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    Known::read(&text, &commit::holds).map_err(|error| format!("{shown}: {error}"))
}
