//! `sim merge`: the shards of one run joined, as if it had been run in one go.
//!
//! Promises: the order of the files changes nothing, and a file that is there twice counts once; what was
//! merged can be merged again and stays as it is. A shard that is missing, or has no summary, is named.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::Merge;
use crate::command::file;
use crate::command::outputs::Outputs;
use crate::exit::Exit;
use crate::report::lines::{FailureLine, Line, read_sections};
use crate::report::merged::{Conflict, Merged, merged};
use crate::report::terminal;
use crate::report::whole::Whole;

/// Joins shards and reports.
///
/// # Errors
///
/// When a stream or a file cannot be written.
pub fn merge(options: &Merge, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let read = read(&options.paths).and_then(|sections| merged(sections).map_err(|error| error.to_string()));
    let Merged { whole, failures, conflicts } = match read {
        Ok(merged) => merged,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    for conflict in &conflicts {
        let Conflict { what, first, second } = conflict;
        writeln!(err, "error: {what} is there twice, and not the same: {first} and {second}")?;
    }
    if options.json {
        lines(&whole, &whole.failures).iter().try_for_each(|line| writeln!(out, "{}", line.text()))?;
    } else {
        terminal::run_started(out, &whole.started)?;
        whole.failures.iter().try_for_each(|failure| terminal::failure(out, &whole.started, failure))?;
        terminal::run_summary(out, &whole)?;
    }
    if let Some(path) = &options.out {
        let text: String = lines(&whole, &failures).iter().map(|line| line.text() + "\n").collect();
        file::write(path, &text)?;
    }
    let outputs = Outputs { html: options.html.as_deref(), junit: options.junit.as_deref() };
    outputs.write(&whole, None, err)
}

fn lines(whole: &Whole, failures: &[FailureLine]) -> Vec<Line> {
    let failure = |line: &FailureLine| Line::Failure(line.clone());
    let mut lines = vec![Line::RunStarted(whole.started.clone())];
    lines.extend(whole.planted.clone().map(Line::Planted));
    lines.extend(failures.iter().map(failure));
    lines.extend(whole.last_lines());
    lines
}

/// The sections of every file, in any order.
fn read(paths: &[PathBuf]) -> Result<Vec<crate::report::lines::Section>, String> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    }
    let mut sections = Vec::new();
    for file in files {
        let shown = file.display();
        let text = fs::read_to_string(&file).map_err(|error| format!("{shown} cannot be read: {error}"))?;
        sections.extend(read_sections(&text).map_err(|error| format!("{shown}: {error}"))?);
    }
    Ok(sections)
}

/// A file, or the files of lines below a directory.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let below = entry?.path();
        if below.is_dir() {
            collect(&below, files)?;
        } else if below.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(below);
        }
    }
    Ok(())
}
