//! How a run begins, and a failing seed.

use std::io::{self, Write};

use super::text::{counted, hint, paragraph};
use crate::report::again::Again;
use crate::report::lines::{DifferenceLine, FailureLine, StartedLine};

/// The first lines of a run.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn run_started(out: &mut dyn Write, started: &StartedLine) -> io::Result<()> {
    let (limits, world) = (&started.limits, &started.world);
    let limit = match (limits.seconds, limits.seeds) {
        (Some(seconds), None) => counted(seconds, "second"),
        (Some(seconds), Some(count)) => {
            format!("{} or {}", counted(count, "seed"), counted(seconds, "second"))
        }
        (None, None) => "no limit but failures".to_owned(),
        (None, Some(count)) => counted(count, "seed"),
    };
    let shard = match started.shard.count {
        1 => String::new(),
        shards => format!(", shard {} of {shards}", started.shard.index),
    };
    let (from, jobs) = (started.from_seed, counted(started.jobs as u64, "thread"));
    let profile = &started.profile;
    paragraph(out, "Run", &format!("from seed {from:#x}: {limit}{shard}, {jobs}, profile {profile}"))?;
    let (regime, filesystem, size) = (&world.regime, &world.filesystem, &world.size);
    paragraph(out, "", &format!("regime {regime}, filesystem {filesystem}, size {size}"))?;
    match &started.subject {
        Some(subject) => paragraph(out, "Subject", subject),
        None => Ok(()),
    }
}

/// A failing seed.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn failure(out: &mut dyn Write, started: &StartedLine, line: &FailureLine) -> io::Result<()> {
    let place = line.partition.as_ref().map_or(String::new(), |namespace| format!(", partition {namespace}"));
    let seed = line.seed.map_or("no seed".to_owned(), |seed| format!("seed {seed:#x}"));
    let label = if line.known { "known" } else { "FAIL" };
    paragraph(out, label, &format!("{seed}, step {}{place}", line.step))?;
    paragraph(out, "", &line.sentence)?;
    if let Some(remark) = &line.remark {
        paragraph(out, "", &format!("said: {remark}"))?;
    }
    if let Some(difference) = &line.difference {
        parted(out, difference)?;
    }
    let again = Again::of_failure(started, line);
    let again = again.as_ref().map(|again| (again.word, &again.command));
    let group = line.group.as_ref().map(|group| ("group", group));
    let saved = line.file.as_ref().map(|file| ("saved", file));
    [group, again, saved].into_iter().flatten().try_for_each(|(word, text)| hint(out, word, text))
}

/// Where a second run parts from the first, from both.
pub(super) fn parted(out: &mut dyn Write, difference: &DifferenceLine) -> io::Result<()> {
    paragraph(out, "DIFFERS", &format!("a second run parts at record {}", difference.record))?;
    for (word, said) in [("first", &difference.first), ("second", &difference.second)] {
        hint(out, word, said.as_deref().unwrap_or("it had ended"))?;
    }
    Ok(())
}
