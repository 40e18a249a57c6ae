//! What a profile runs behind its seeds: the commands themselves, on the same stream and in the same form.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::reporting::Reporting;
use crate::cli::{Mutants, SelfCheck, Sweep};
use crate::command::{mutants, self_check, sweep};
use crate::exit::Exit;
use crate::run::part::{Part, PartEnd};

/// Crashes one after the other in the sweeps of a profile.
const DEPTH: u32 = 1;

/// Runs the parts, none of them once somebody has asked the program to end, and says how each ended.
///
/// # Errors
///
/// When a stream or a file cannot be written.
pub(super) fn run(
    parts: &[Part],
    directory: &Path,
    is_json: bool,
    interrupted: &AtomicBool,
    reporting: &mut Reporting<'_>,
    err: &mut dyn Write,
) -> io::Result<Vec<PartEnd>> {
    let mut ends = Vec::new();
    for part in parts.iter().copied() {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let mut exit = Exit::Held;
        reporting.aside(|out| {
            exit = match part {
                Part::SelfCheck => self_check::self_check(&SelfCheck { json: is_json }, out)?,
                Part::KillTable => mutants::mutants(&every_bug(is_json), out, err)?,
                Part::Sweeps => sweep::sweep(&every_scenario(directory, is_json), out, err)?,
            };
            Ok(())
        })?;
        ends.push(PartEnd { part, exit });
    }
    Ok(ends)
}

fn every_bug(json: bool) -> Mutants {
    Mutants { only: Vec::new(), sample: None, keep: None, accept: false, json }
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
