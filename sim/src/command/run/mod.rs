//! `sim run`: seeds through crashes and damage.

mod checkpoint;
mod parts;
mod reporting;
pub(crate) mod request;
mod resume;
mod shard;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use self::parts::Beside;
use self::reporting::Reporting;
use self::request::Plan;
use crate::cli::Run;
use crate::command::outputs::Outputs;
use crate::command::{commit, known, scenarios};
use crate::exit::Exit;
use crate::report::json;
use crate::report::lines::StartedLine;
use crate::report::progress::Progress;
use crate::run::known::Known;
use crate::run::panics::remember_panics;
use crate::run::part::Part;
use crate::run::session::{Summary, run_session};
use crate::world::Arena;

/// Where scenarios are kept.
const SCENARIOS: &str = "scenarios";

/// Runs seeds and reports; once somebody has asked the program to end, nothing more is begun.
///
/// # Errors
///
/// When a stream or a saved schedule cannot be written.
pub fn run(
    options: &Run,
    interrupted: &AtomicBool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let settled = request::plan(options).and_then(|plan| {
        let known = options.known.as_deref().map(known::read).transpose()?;
        Ok((plan, known.unwrap_or_default()))
    });
    match settled {
        Ok((plan, known)) => run_plan(options, plan, &known, interrupted, (out, err)),
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            Ok(Exit::Usage)
        }
    }
}

fn run_plan(
    options: &Run,
    plan: Plan,
    known: &Known,
    interrupted: &AtomicBool,
    (out, err): (&mut dyn Write, &mut dyn Write),
) -> io::Result<Exit> {
    remember_panics();
    let request = plan.request;
    let outputs = Outputs { html: options.html.as_deref(), junit: options.junit.as_deref() };
    let progress = Progress::begin(&request, !options.json);
    let started = StartedLine { program: commit::program(), ..StartedLine::of(&request) };
    let (failures, mut summary) = match plan.resumed {
        Some(resumed) => (Some(resumed.failures), resumed.summary),
        None => (None, Summary::default()),
    };
    let mut reporting = Reporting::begin(&plan.directory, started, failures, options.json, &progress, out)?;
    summary.planted = reporting.plant()?;
    if plan.scenarios {
        run_scenarios(options.json, interrupted, &mut summary, &mut reporting)?;
    }
    let beside = Beside { directory: &plan.directory, is_json: options.json, interrupted };
    let (first, behind): (Vec<Part>, Vec<Part>) = plan.parts.into_iter().partition(|part| part.comes_first());
    let took = beside.run(&first, &mut summary, &mut reporting, err)?;
    summary.elapsed += took;
    let mut summary = run_session(&request, known, summary, interrupted, &mut reporting);
    progress.end();
    beside.run(&behind, &mut summary, &mut reporting, err)?;
    summary.is_interrupted = interrupted.load(Ordering::Relaxed);
    let whole = reporting.end(summary)?;
    outputs.write(&whole, request.image, err)
}

/// Runs the scenario files before the seeds, tells of those that do not hold, and counts their time. Those that the
/// summary counts were run before; none is begun once somebody has asked the program to end.
#[expect(clippy::disallowed_types, reason = "how long a run may take is asked of the clock; no verdict is")]
fn run_scenarios(
    is_json: bool,
    interrupted: &AtomicBool,
    summary: &mut Summary,
    reporting: &mut Reporting<'_>,
) -> io::Result<()> {
    let begin = std::time::Instant::now();
    let mut arena = Arena::new();
    let mut ran = std::mem::take(&mut summary.scenarios);
    let mut left = scenarios::files(&[PathBuf::from(SCENARIOS)]).into_iter();
    for _ in 0..ran.passed + ran.failed.len() as u64 {
        left.next();
    }
    while !interrupted.load(Ordering::Relaxed) {
        let Some(path) = left.next() else { break };
        let told = scenarios::run_file(Path::new(&path), &mut arena);
        match scenarios::failed(&path, told.as_ref()) {
            None => ran.passed += 1,
            Some(failed) => ran.failed.push(failed),
        }
        reporting.aside(|out| match told {
            Ok(told) if is_json => json::write(out, &json::scenario(&told)),
            Ok(told) if told.has_passed() => Ok(()),
            Ok(told) => scenarios::tell(out, &told),
            Err(_) if is_json => Ok(()),
            Err(sentence) => writeln!(out, "    FAIL  {sentence}"),
        })?;
    }
    summary.scenarios = ran;
    summary.not_run.scenarios = left.count() as u64;
    summary.elapsed += begin.elapsed();
    Ok(())
}
