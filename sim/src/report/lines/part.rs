//! What ran behind the seeds, as a part of the summary's line.

use serde::{Deserialize, Serialize};

use super::LineError;
use crate::exit::Exit;
use crate::run::part::{Part, PartEnd};
use crate::schedule::word::Word;

/// A command that ran behind the seeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartLine {
    /// `self-check`, `kill-table` or `sweeps`.
    pub name: String,
    /// Its exit status.
    pub exit: u8,
}

impl PartLine {
    pub(super) fn of(end: PartEnd) -> Self {
        Self { name: end.part.code().to_owned(), exit: end.exit as u8 }
    }

    pub(super) fn end(&self) -> Result<PartEnd, LineError> {
        let wrong = || LineError::Unknown { word: format!("{} {}", self.name, self.exit) };
        let part = Part::from_word(&self.name).ok_or_else(wrong)?;
        let exit = Exit::ALL.into_iter().find(|exit| *exit as u8 == self.exit).ok_or_else(wrong)?;
        Ok(PartEnd { part, exit })
    }
}
