//! What a run that was cut short has left: how it began, which seeds failed, and how far it had come.

use std::fs;
use std::path::Path;

use super::checkpoint;
use super::reporting::LINES;
use crate::exit::Exit;
use crate::report::lines::{FailureLine, Line, StartedLine, read_sections, summary_of};
use crate::run::session::{NotRun, Summary};

/// A run that goes on.
#[derive(Debug)]
pub(super) struct Resumed {
    /// How it began.
    pub(super) started: StartedLine,
    /// Failing seeds that its checkpoint counts. Later ones are run again.
    pub(super) failures: Vec<FailureLine>,
    /// How far it had come.
    pub(super) summary: Summary,
}

/// Reads what a run has left in its directory.
///
/// # Errors
///
/// When no run was begun there, or its lines are of another version; the text is for a person.
pub(super) fn read(directory: &Path) -> Result<Resumed, String> {
    let path = directory.join(LINES);
    let shown = path.display();
    let text = fs::read_to_string(&path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    let sections = read_sections(&text).map_err(|error| format!("{shown}: {error}"))?;
    let Some(section) = sections.into_iter().next() else {
        return Err(format!("{shown} holds no run that could go on"));
    };
    let started = section.started;
    let kept = checkpoint::read(directory).map_err(|error| format!("{shown}: {error}"))?;
    let summary = match kept {
        Some(lines) => {
            summary(&started, &lines).map_err(|error| format!("the checkpoint beside {shown}: {error}"))?
        }
        None => Summary::default(),
    };
    let is_counted = |seed| started.place_of(seed).is_some_and(|place| place < summary.seeds);
    let failures =
        section.failures.into_iter().filter(|failure| failure.seed.is_some_and(is_counted)).collect();
    Ok(Resumed { started, failures, summary })
}

fn summary(started: &StartedLine, lines: &str) -> Result<Summary, String> {
    // A checkpoint holds the end of a section; with its beginning it reads like any other.
    let text = format!("{}\n{lines}", Line::RunStarted(started.clone()).text());
    let sections = read_sections(&text).map_err(|error| error.to_string())?;
    let end = sections.first().and_then(|section| Some((&section.reach, section.summary.as_ref()?)));
    let (reach, line) = end.ok_or("it holds no summary")?;
    let summary = summary_of(reach, line).map_err(|error| error.to_string())?;
    let mut summary = Summary {
        is_interrupted: false,
        not_run: NotRun::default(),
        cut_by_time: None,
        known_gone: Vec::new(),
        ..summary
    };
    // What was ended on its way is run again.
    summary.parts.retain(|end| end.exit != Exit::Interrupted);
    Ok(summary)
}
