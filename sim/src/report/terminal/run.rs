//! How a run begins, and a failing seed.

use std::io::{self, Write};
use std::path::Path;

use super::replay::parted;
use super::text::{counted, hint, paragraph};
use crate::run::session::{FailedSeed, Request};

/// The first lines of a run.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn run_started(out: &mut dyn Write, request: &Request) -> io::Result<()> {
    let (seeds, knobs) = (&request.seeds, request.knobs);
    let limit = match (request.seconds, seeds.count) {
        (Some(seconds), u64::MAX) => counted(seconds, "second"),
        (Some(seconds), count) => {
            format!("{} or {}", counted(count, "seed"), counted(seconds, "second"))
        }
        (None, u64::MAX) => "no limit but failures".to_owned(),
        (None, count) => counted(count, "seed"),
    };
    let shard = match seeds.shards {
        1 => String::new(),
        shards => format!(", shard {} of {shards}", seeds.shard),
    };
    let (from, jobs) = (seeds.from, counted(request.jobs as u64, "thread"));
    paragraph(out, "Run", &format!("from seed {from:#x}: {limit}{shard}, {jobs}"))?;
    let (regime, filesystem, size) = (knobs.regime.code(), knobs.filesystem.code(), knobs.size.code());
    paragraph(out, "", &format!("regime {regime}, filesystem {filesystem}, size {size}"))
}

/// A failing seed.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn failure(out: &mut dyn Write, failed: &FailedSeed<'_>, file: &Path) -> io::Result<()> {
    let failure = failed.failure;
    let place = failure.partition.map_or(String::new(), |namespace| format!(", partition {namespace}"));
    let (seed, step) = (failed.token.seed, failure.step);
    paragraph(out, "FAIL", &format!("seed {seed:#x}, step {step}{place}"))?;
    paragraph(out, "", &failure.violation.to_string())?;
    if let Some(remark) = &failure.remark {
        paragraph(out, "", &format!("said: {remark}"))?;
    }
    if let Some(difference) = failed.difference {
        parted(out, difference)?;
    }
    hint(out, "group", failed.group)?;
    hint(out, "replay", &format!("cargo sim replay {}", failed.token))?;
    hint(out, "saved", &file.display().to_string())
}
