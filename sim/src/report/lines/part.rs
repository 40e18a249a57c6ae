//! What ran beside the seeds, and what was not run, as parts of the summary's line.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::LineError;
use crate::exit::Exit;
use crate::run::part::{Part, PartEnd};
use crate::run::session::NotRun;
use crate::schedule::word::Word;

/// A command that ran beside the seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartLine {
    /// `self-check`, `kill-table` or `sweeps`.
    pub name: String,
    /// Its exit status.
    pub exit: u8,
    /// How long it took.
    #[serde(default)]
    pub seconds: f64,
}

/// What was not run, since somebody ended the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRunLine {
    /// Seeds of a limit.
    pub seeds: u64,
    /// Scenario files.
    pub scenarios: u64,
    /// Names of commands beside the seeds.
    pub parts: Vec<String>,
}

impl NotRunLine {
    pub(super) fn of(not_run: &NotRun) -> Self {
        let parts = not_run.parts.iter().map(|part| part.code().to_owned()).collect();
        Self { seeds: not_run.seeds, scenarios: not_run.scenarios, parts }
    }

    pub(super) fn read(&self) -> Result<NotRun, LineError> {
        let part =
            |name: &String| Part::from_word(name).ok_or_else(|| LineError::Unknown { word: name.clone() });
        let parts = self.parts.iter().map(part).collect::<Result<_, _>>()?;
        Ok(NotRun { seeds: self.seeds, scenarios: self.scenarios, parts })
    }
}

impl PartLine {
    pub(super) fn of(end: PartEnd) -> Self {
        Self { name: end.part.code().to_owned(), exit: end.exit as u8, seconds: end.elapsed.as_secs_f64() }
    }

    pub(super) fn end(&self) -> Result<PartEnd, LineError> {
        let wrong = || LineError::Unknown { word: format!("{} {}", self.name, self.exit) };
        let part = Part::from_word(&self.name).ok_or_else(wrong)?;
        let exit = Exit::ALL.into_iter().find(|exit| *exit as u8 == self.exit).ok_or_else(wrong)?;
        Ok(PartEnd { part, exit, elapsed: Duration::from_secs_f64(self.seconds.max(0.0)) })
    }
}
