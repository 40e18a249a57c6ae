//! `sim shrink`: a failing schedule made shorter, and kept as a file.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use crate::cli::Shrink;
use crate::command::source::{Source, word};
use crate::exit::Exit;
use crate::report::{json, terminal};
use crate::run::ending::FailureClass;
use crate::run::one::run_schedule;
use crate::run::panics::remember_panics;
use crate::run::shrink::{Extent, Shrunk, shrink as shorten};
use crate::schedule::{Origin, Scenario, parse, print};
use crate::world::Arena;

/// What a shrunk schedule is shown as.
#[derive(Clone, Debug, PartialEq)]
pub struct ShrinkReport {
    /// How large it was.
    pub from: Extent,
    /// How large it is.
    pub to: Extent,
    /// Worlds that were run.
    pub runs: u64,
    /// How long it took.
    pub seconds: f64,
    /// How it fails.
    pub class: FailureClass,
    /// Whether the file, read back, fails alike.
    pub is_verified: bool,
    /// The file.
    pub file: String,
}

/// Shrinks a token or a file.
///
/// # Errors
///
/// When a stream or the file cannot be written.
#[expect(clippy::disallowed_types, reason = "how long it may take is asked of the clock; no verdict is")]
pub fn shrink(options: &Shrink, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let read = word(&options.checks)
        .and_then(|checks| Source::read(&options.subject, options.image.as_deref(), checks));
    let source = match read {
        Ok(source) => source,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    remember_panics();
    let begin = std::time::Instant::now();
    let most = Duration::from_secs(options.seconds);
    let is_over = || begin.elapsed() >= most;
    let schedule = &source.scenario.schedule;
    let Some(shrunk) = shorten(Arena::on(source.image), schedule, source.sample, options.runs, is_over)
    else {
        writeln!(err, "error: {} does not fail, so there is nothing to shrink", options.subject)?;
        return Ok(Exit::Nothing);
    };
    let text = print(&kept(&source, &shrunk));
    fs::write(&options.out, &text)?;
    let report = ShrinkReport {
        from: Extent::of(schedule),
        to: Extent::of(&shrunk.schedule),
        runs: shrunk.runs,
        seconds: begin.elapsed().as_secs_f64(),
        class: shrunk.class,
        is_verified: is_verified(&options.out, &source, shrunk.class)?,
        file: options.out.display().to_string(),
    };
    if options.json {
        json::write(out, &json::shrink(&report))?;
    } else {
        terminal::shrink(out, &report)?;
    }
    Ok(if report.is_verified { Exit::Held } else { Exit::Harness })
}

/// The scenario that is kept: what it was, with fewer steps.
fn kept(source: &Source, shrunk: &Shrunk) -> Scenario {
    let token = source.token.clone();
    let origin = token.map(|token| Origin { token, check: shrunk.class.check.code().to_owned() });
    Scenario { origin, schedule: shrunk.schedule.clone(), ..source.scenario.clone() }
}

/// Whether a file fails by a class, twice.
fn is_verified(file: &Path, source: &Source, class: FailureClass) -> io::Result<bool> {
    let Ok(scenario) = parse(&file.display().to_string(), &fs::read_to_string(file)?) else {
        return Ok(false);
    };
    let mut arena = Arena::on(source.image);
    let mut fails =
        || FailureClass::first(&run_schedule(&mut arena, &scenario.schedule, source.sample)) == Some(class);
    Ok(fails() && fails())
}
