//! The line that moves while a run is under way: on a terminal only, gone when the run is over.
//!
//! Promises: what is printed meanwhile is not torn. This is the only file that knows the progress crate.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::run::session::{Request, Summary};

/// The moving line of one run.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// Seconds after which the run ends, if time is what ends it.
    seconds: Option<u64>,
}

impl Progress {
    /// A line for a run; one that is never drawn unless `is_wanted` and standard error is a terminal.
    pub fn begin(request: &Request, is_wanted: bool) -> Self {
        let is_shown = is_wanted && io::stderr().is_terminal();
        let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let limit = match (request.seconds, request.seeds.count) {
            (Some(seconds), _) => Some(seconds),
            (None, u64::MAX) => None,
            (None, seeds) => Some(seeds.div_ceil(request.seeds.shards)),
        };
        let bar = ProgressBar::with_draw_target(limit, target);
        let template = if limit.is_some() { "{bar:20} {msg}" } else { "{spinner} {msg}" };
        bar.set_style(ProgressStyle::with_template(template).expect("the template is right"));
        Self { bar, seconds: request.seconds }
    }

    /// Says how far the run is.
    pub fn show(&self, summary: &Summary) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_position(if self.seconds.is_some() { summary.elapsed.as_secs() } else { summary.seeds });
        self.bar.set_message(line(summary));
    }

    /// Writes something while the line is out of the way.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// Takes the line away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Worlds, their rate, faults injected, verdicts seen, failures: at most 58 columns.
fn line(summary: &Summary) -> String {
    let tally = &summary.tally;
    let faults: u64 = tally.faults.values().map(|reached| reached.injected).sum();
    format!(
        "{} seeds, {:.0}/s, {} faults, {} verdicts, {} failed",
        summary.seeds,
        summary.rate(),
        faults,
        tally.boots,
        summary.failures
    )
}
