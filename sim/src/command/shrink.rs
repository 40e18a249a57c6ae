//! `sim shrink`: a failing schedule made simpler, and kept as a file.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cli::Shrink;
use crate::command::scenarios::fail_what_is_missed;
use crate::command::source::{Source, word};
use crate::exit::Exit;
use crate::oracle::Check;
use crate::oracle::sample::{Checks, Sample};
use crate::report::{json, terminal};
use crate::run::ending::FailureClass;
use crate::run::panics::remember_panics;
use crate::run::replay::twice;
use crate::run::shrink::{Shrunk, shrink as simplify, title};
use crate::schedule::{Extent, Kills, Origin, Scenario, Step, print, print_step};
use crate::world::{Arena, Watch};

/// What a shrunk schedule is shown as.
#[derive(Clone, Debug, PartialEq)]
pub struct ShrinkReport {
    /// What it says broke.
    pub title: String,
    /// How large it was.
    pub from: Extent,
    /// How large it is.
    pub to: Extent,
    /// What is left, a line a step.
    pub steps: Vec<String>,
    /// Worlds that were run.
    pub runs: u64,
    /// How long it took.
    pub seconds: f64,
    /// How it fails.
    pub class: FailureClass,
    /// The failure in words.
    pub sentence: String,
    /// Whether the budget or somebody ended it.
    pub is_cut_short: bool,
    /// Whether somebody did.
    pub is_interrupted: bool,
    /// What the file, read back, came to.
    pub verified: Verified,
    /// The file.
    pub file: String,
}

/// What a file that was written came to when it was read back and replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// It fails by the same check in the same recovery step, twice the same.
    Yes,
    /// So it does, and some step of it hits nothing, which a scenario must not have.
    WithMisses,
    /// It does not.
    No,
}

/// Shrinks a token or a file; once somebody has asked the program to end, what it has come to by then is kept.
///
/// # Errors
///
/// When a stream or the file cannot be written.
#[expect(clippy::disallowed_types, reason = "how long it may take is asked of the clock; no verdict is")]
pub fn shrink(
    options: &Shrink,
    interrupted: &AtomicBool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let read = word(&options.checks)
        .and_then(|checks| Source::read(&options.subject, options.image.as_deref(), checks))
        .and_then(|source| writable(&options.out, source.file.as_deref().map(Path::new)).map(|()| source));
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
    let is_interrupted = || interrupted.load(Ordering::Relaxed);
    let is_over = || is_interrupted() || begin.elapsed() >= most;
    let schedule = &source.scenario.schedule;
    let how = (source.sample, &source.expected);
    let Some(shrunk) = simplify(Arena::on(source.image), schedule, how, options.runs, is_over) else {
        writeln!(err, "error: {} does not fail, so there is nothing to shrink", options.subject)?;
        writeln!(err, "hint: cargo sim replay {} shows what happens", options.subject)?;
        return Ok(Exit::Nothing);
    };
    let scenario = kept(&source, &shrunk);
    fs::write(&options.out, print(&scenario))?;
    let report = ShrinkReport {
        title: scenario.title,
        from: shrunk.extents.0,
        to: shrunk.extents.1,
        steps: shrunk.schedule.steps.iter().map(line).collect(),
        runs: shrunk.runs,
        verified: verify(&options.out, &source, shrunk.class),
        seconds: begin.elapsed().as_secs_f64(),
        class: shrunk.class,
        sentence: shrunk.failure.violation.to_string(),
        is_cut_short: shrunk.is_cut_short,
        is_interrupted: shrunk.is_cut_short && is_interrupted(),
        file: options.out.display().to_string(),
    };
    if options.json {
        json::write(out, &json::shrink(&report))?;
    } else {
        terminal::shrink(out, &report)?;
    }
    let exit = if report.is_interrupted { Exit::Interrupted } else { Exit::Held };
    Ok(exit.worst(if report.verified == Verified::No { Exit::Harness } else { Exit::Held }))
}

fn line(step: &Step) -> String {
    print_step(step).trim().to_owned()
}

/// Whether the file could be written, asked before seconds are spent on what goes into it.
fn writable(file: &Path, source: Option<&Path>) -> Result<(), String> {
    let shown = file.display();
    let is_source =
        |source: &Path| matches!((file.canonicalize(), source.canonicalize()), (Ok(a), Ok(b)) if a == b);
    match file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) if !parent.is_dir() => {
            Err(format!("{shown} cannot be written: there is no directory {}", parent.display()))
        }
        _ if file.is_dir() => {
            Err(format!("{shown} is a directory\nhint: name the file, such as {shown}/NAME.kdl"))
        }
        _ if source.is_some_and(is_source) => {
            Err(format!("{shown} is what is to be shrunk: it is not written over\nhint: name a new file"))
        }
        _ if file.exists() && !may_be_shrunk(file) => Err(format!(
            "{shown} is there, and sim shrink has not written it: it is not written over\nhint: name a new file"
        )),
        Some(_) | None => Ok(()),
    }
}

/// Whether a file may be what an earlier run left: a scenario of which nobody has said what it kills.
fn may_be_shrunk(file: &Path) -> bool {
    let read = Source::read(&file.to_string_lossy(), None, Checks::Default);
    read.is_ok_and(|source| source.scenario.kills == Kills::Unsaid)
}

/// The scenario that is kept: its title says what broke. What somebody has written about the whole one stays
/// with what it expects, and no longer: the rest is another story.
fn kept(source: &Source, shrunk: &Shrunk) -> Scenario {
    let origin = source.token.clone().map(|token| Origin {
        token,
        check: shrunk.class.check.code().to_owned(),
        is_drawn: shrunk.sample != Sample::EVERYTHING,
    });
    let title = title(shrunk.class, &shrunk.schedule);
    // That the shorter one still kills what the long one did nobody has tried.
    let bare = Scenario { title, origin, ..Scenario::untold(String::new(), shrunk.schedule.clone()) };
    // Nothing makes an expectation simpler, so one that fails stands as it did.
    if shrunk.class.check == Check::Expect {
        let Scenario { stories, findings, reports, .. } = source.scenario.clone();
        Scenario { stories, findings, reports, ..bare }
    } else {
        bare
    }
}

/// Reads a file back and runs it, as `sim scenarios` does.
fn verify(file: &Path, source: &Source, class: FailureClass) -> Verified {
    let path = file.to_string_lossy().into_owned();
    let Ok(read) = Source::read(&path, None, Checks::Default) else { return Verified::No };
    let (mut report, _, _) =
        twice(&read.scenario.schedule, &mut Arena::on(read.image.or(source.image)), Watch::of(read.sample));
    let has_failed = |check: Check| report.failures.iter().any(|failure| failure.violation.check == check);
    let is_alike = report.failures.iter().any(|failure| FailureClass::of(failure) == class);
    if !is_alike || (has_failed(Check::Nondeterminism) && class.check != Check::Nondeterminism) {
        return Verified::No;
    }
    let failures = report.failures.len();
    fail_what_is_missed(&read.scenario, &mut report);
    if report.failures.len() > failures { Verified::WithMisses } else { Verified::Yes }
}
