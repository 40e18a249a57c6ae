//! The lines of runs, read back: each run a section that begins with its `run-started`.
//!
//! Promises: a line of another version is refused by number before anything else of it is looked at; a line
//! that a killed program left half-written at the end is no error. Leaves out: joining sections.

use serde_json::Value;
use thiserror::Error;

use super::{FailureLine, Line, ReachLine, StartedLine, SummaryLine, VERSION};

/// Why lines cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LineError {
    /// A line of another version.
    #[error("line {line} has version {found}, and this build reads version {VERSION}")]
    Version {
        /// Which, from 1.
        line: usize,
        /// What it says.
        found: String,
    },
    /// No line of this format.
    #[error("line {line} is no line of a run: {why}")]
    Shape {
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A line before the first `run-started`.
    #[error("line {line} stands before any run-started")]
    Headless {
        /// Which, from 1.
        line: usize,
    },
    /// A summary that counts more or fewer failed scenarios than it names.
    #[error("a summary counts {failed} failed scenarios and names {named}")]
    Unnamed {
        /// How many it counts.
        failed: u64,
        /// How many it names.
        named: u64,
    },
    /// A word of another build.
    #[error("{word} is a word that this build does not know")]
    Unknown {
        /// The word.
        word: String,
    },
}

/// One run, or one shard of it, as far as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// How it began.
    pub started: StartedLine,
    /// The planted failure, if it was found.
    pub planted: Option<FailureLine>,
    /// Failing seeds, in order.
    pub failures: Vec<FailureLine>,
    /// How far it came.
    pub reach: Vec<ReachLine>,
    /// How it ended, if it did.
    pub summary: Option<SummaryLine>,
}

/// Reads the sections of a text.
///
/// # Errors
///
/// When a line is of another version or none at all; the last one may be cut short.
pub fn read_sections(text: &str) -> Result<Vec<Section>, LineError> {
    let mut sections: Vec<Section> = Vec::new();
    let lines = text.split_inclusive('\n').zip(1..);
    for (text, line) in lines.filter(|(text, _)| text.ends_with('\n') && !text.trim().is_empty()) {
        let Some(read) = read_line(text, line)? else { continue };
        if let Line::RunStarted(started) = read {
            let (failures, reach) = (Vec::new(), Vec::new());
            sections.push(Section { started, planted: None, failures, reach, summary: None });
            continue;
        }
        let section = sections.last_mut().ok_or(LineError::Headless { line })?;
        match read {
            Line::RunStarted(_) => unreachable!("it began a section"),
            Line::Planted(planted) => section.planted = Some(planted),
            Line::Failure(failure) => section.failures.push(failure),
            Line::Reach(reach) => section.reach.push(reach),
            Line::RunSummary(summary) => section.summary = Some(summary),
        }
    }
    Ok(sections)
}

/// One line; `None` if it is of a type that only people and other programs read.
fn read_line(text: &str, line: usize) -> Result<Option<Line>, LineError> {
    let shape = |why: String| LineError::Shape { line, why };
    let value: Value = serde_json::from_str(text).map_err(|error| shape(error.to_string()))?;
    if value["version"] != VERSION {
        return Err(LineError::Version { line, found: value["version"].to_string() });
    }
    let Some(line_type) = value["type"].as_str() else {
        return Err(shape("it has no type".to_owned()));
    };
    if !["run-started", "planted", "failure", "reach", "run-summary"].contains(&line_type) {
        return Ok(None);
    }
    serde_json::from_value(value).map(Some).map_err(|error| shape(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_another_version_is_refused_by_its_number() {
        let text = "{\"type\":\"run-started\",\"version\":2}\n";
        let error = LineError::Version { line: 1, found: "2".to_owned() };
        assert_eq!(read_sections(text), Err(error));
    }

    #[test]
    fn a_line_that_was_cut_short_is_not_read() {
        assert_eq!(read_sections("{\"type\":\"run-sta"), Ok(Vec::new()));
        assert!(matches!(read_sections("{\"type\":\"run-sta\n"), Err(LineError::Shape { line: 1, .. })));
    }

    #[test]
    fn a_line_of_no_run_is_refused_and_one_of_another_command_passed_over() {
        let text = "{\"type\":\"scenario\",\"version\":1}\n";
        assert_eq!(read_sections(text), Ok(Vec::new()));
        let reach = "{\"type\":\"reach\",\"version\":1,\"kind\":\"row\",\"id\":\"x\",\"injected\":null,\
                     \"read\":null,\"decisive\":null,\"hits\":0,\"goal\":1}\n";
        assert_eq!(read_sections(&format!("{text}{reach}")), Err(LineError::Headless { line: 2 }));
    }
}
