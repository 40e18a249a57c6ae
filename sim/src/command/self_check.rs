//! `sim self-check`: the harness judged.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cli::SelfCheck;
use crate::exit::Exit;
use crate::report::{json, terminal};
use crate::run::panics::remember_panics;
use crate::self_check::parts;

/// What a self-check is shown as.
#[derive(Debug, Default)]
pub struct SelfCheckReport {
    /// Parts that ran.
    pub parts: u64,
    /// Names of those that failed.
    pub failed: Vec<&'static str>,
    /// Names of those that were not run, since somebody ended it.
    pub not_run: Vec<&'static str>,
    /// How long it took.
    pub elapsed: Duration,
}

impl SelfCheckReport {
    /// How the command ends.
    pub fn exit(&self) -> Exit {
        let exit = if self.failed.is_empty() { Exit::Held } else { Exit::Harness };
        exit.worst(if self.not_run.is_empty() { Exit::Held } else { Exit::Interrupted })
    }
}

/// Runs every part and reports each; none is begun once somebody has asked the program to end.
///
/// # Errors
///
/// When a stream cannot be written.
#[expect(clippy::disallowed_types, reason = "how long a part takes is shown; no verdict depends on it")]
pub fn self_check(options: &SelfCheck, interrupted: &AtomicBool, out: &mut dyn Write) -> io::Result<Exit> {
    remember_panics();
    let begin = std::time::Instant::now();
    let mut report = SelfCheckReport::default();
    for part in parts() {
        if interrupted.load(Ordering::Relaxed) {
            report.not_run.push(part.name);
            continue;
        }
        let result = part.run();
        report.parts += 1;
        if result.finding.is_err() {
            report.failed.push(result.name);
        }
        if options.json {
            json::write(out, &json::self_check(&result))?;
        } else {
            terminal::self_check(out, &result)?;
        }
        out.flush()?;
    }
    report.elapsed = begin.elapsed();
    if options.json {
        json::write(out, &json::self_check_summary(&report))?;
    } else {
        terminal::self_check_summary(out, &report)?;
    }
    Ok(report.exit())
}
