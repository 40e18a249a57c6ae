//! What a profile runs beside its seeds: the commands themselves, on the same stream and in the same form.
//!
//! Promises: no part is begun once somebody has asked the program to end, and those that were not run are told. Leaves
//! out: which of them run before the seeds, which every part says of itself.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::reporting::Reporting;
use crate::cli::{Mutants, SelfCheck, Sweep};
use crate::command::{mutants, self_check, sweep};
use crate::exit::Exit;
use crate::run::part::{Part, PartEnd};
use crate::run::session::Summary;

/// Crashes one after the other in the sweeps of a profile.
const DEPTH: u32 = 1;

/// What every part is told.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    /// Where the run is written.
    pub(super) directory: &'a Path,
    /// Whether lines are wanted, and not text.
    pub(super) is_json: bool,
    /// Set once somebody has asked the program to end.
    pub(super) interrupted: &'a AtomicBool,
}

impl Beside<'_> {
    /// Runs parts, adds how each ended or that it was not run, and returns how long all of them took.
    ///
    /// # Errors
    ///
    /// When a stream or a file cannot be written.
    #[expect(clippy::disallowed_types, reason = "how long a part takes is counted; no verdict depends on it")]
    pub(super) fn run(
        self,
        parts: &[Part],
        summary: &mut Summary,
        reporting: &mut Reporting<'_>,
        err: &mut dyn Write,
    ) -> io::Result<Duration> {
        let mut whole = Duration::ZERO;
        for part in parts.iter().copied() {
            if self.interrupted.load(Ordering::Relaxed) {
                summary.not_run.parts.push(part);
                continue;
            }
            let begin = std::time::Instant::now();
            let exit = self.run_one(part, reporting, err)?;
            let elapsed = begin.elapsed();
            summary.parts.push(PartEnd { part, exit, elapsed });
            whole += elapsed;
        }
        Ok(whole)
    }

    fn run_one(self, part: Part, reporting: &mut Reporting<'_>, err: &mut dyn Write) -> io::Result<Exit> {
        let Self { directory, is_json, interrupted } = self;
        let mut exit = Exit::Held;
        reporting.aside(|out| {
            exit = match part {
                Part::SelfCheck => self_check::self_check(&SelfCheck { json: is_json }, interrupted, out)?,
                Part::KillTable => mutants::mutants(&every_bug(is_json), interrupted, out, err)?,
                Part::Sweeps => sweep::sweep(&every_scenario(directory, is_json), interrupted, out, err)?,
            };
            Ok(())
        })?;
        Ok(exit)
    }
}

fn every_bug(json: bool) -> Mutants {
    Mutants { only: Vec::new(), sample: None, keep: None, jobs: None, accept: false, json }
}

fn every_scenario(directory: &Path, json: bool) -> Sweep {
    Sweep {
        subject: None,
        all: true,
        host: false,
        depth: DEPTH,
        kinds: Vec::new(),
        runs: None,
        jobs: None,
        keep_equal: false,
        out: directory.join("sweep"),
        json,
    }
}
