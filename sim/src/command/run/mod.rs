//! `sim run`: seeds through crashes and damage.

mod checkpoint;
mod parts;
mod reporting;
pub(crate) mod request;
mod resume;
mod shard;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use self::reporting::Reporting;
use self::request::Plan;
use crate::cli::Run;
use crate::command::outputs::Outputs;
use crate::command::{known, scenarios};
use crate::exit::Exit;
use crate::report::json;
use crate::report::lines::StartedLine;
use crate::report::progress::Progress;
use crate::run::known::Known;
use crate::run::panics::remember_panics;
use crate::run::session::{ScenarioCount, Summary, run_session};
use crate::world::Arena;

/// Where scenarios are kept.
const SCENARIOS: &str = "scenarios";

/// Runs seeds and reports.
///
/// # Errors
///
/// When a stream or a saved schedule cannot be written.
pub fn run(options: &Run, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let settled = request::plan(options).and_then(|plan| {
        let known = options.known.as_deref().map(known::read).transpose()?;
        Ok((plan, known.unwrap_or_default()))
    });
    match settled {
        Ok((plan, known)) => run_plan(options, plan, &known, (out, err)),
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
    (out, err): (&mut dyn Write, &mut dyn Write),
) -> io::Result<Exit> {
    remember_panics();
    let interrupted = interruption()?;
    let request = plan.request;
    let outputs = Outputs { html: options.html.as_deref(), junit: options.junit.as_deref() };
    let progress = Progress::begin(&request, !options.json);
    let started = StartedLine::of(&request);
    let (failures, mut summary) = match plan.resumed {
        Some(resumed) => (Some(resumed.failures), resumed.summary),
        None => (None, Summary::default()),
    };
    let mut reporting = Reporting::begin(&plan.directory, started, failures, options.json, &progress, out)?;
    summary.planted = reporting.plant()?;
    if plan.scenarios {
        run_scenarios(options.json, &mut summary, &mut reporting)?;
    }
    let mut summary = run_session(&request, known, summary, &interrupted, &mut reporting);
    progress.end();
    summary.parts =
        parts::run(&plan.parts, &plan.directory, options.json, &interrupted, &mut reporting, err)?;
    let whole = reporting.end(summary)?;
    outputs.write(&whole, request.image, err)?;
    Ok(whole.exit)
}

/// Runs the scenario files before the seeds, tells of those that do not hold, and counts their time.
#[expect(clippy::disallowed_types, reason = "how long a run may take is asked of the clock; no verdict is")]
fn run_scenarios(is_json: bool, summary: &mut Summary, reporting: &mut Reporting<'_>) -> io::Result<()> {
    let begin = std::time::Instant::now();
    let mut arena = Arena::new();
    let mut count = ScenarioCount::default();
    for path in scenarios::files(&[PathBuf::from(SCENARIOS)]) {
        let told = scenarios::run_file(Path::new(&path), &mut arena);
        let has_passed = told.as_ref().is_ok_and(scenarios::Told::has_passed);
        *(if has_passed { &mut count.passed } else { &mut count.failed }) += 1;
        reporting.aside(|out| match told {
            Ok(told) if is_json => json::write(out, &json::scenario(&told)),
            Ok(told) if told.has_passed() => Ok(()),
            Ok(told) => scenarios::tell(out, &told),
            Err(_) if is_json => Ok(()),
            Err(sentence) => writeln!(out, "    FAIL  {sentence}"),
        })?;
    }
    summary.scenarios = count;
    summary.elapsed += begin.elapsed();
    Ok(())
}

/// Set by the first signal that asks the program to end; the second one ends it.
pub(crate) fn interruption() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let exit = i32::from(Exit::Interrupted as u8);
        signal_hook::flag::register_conditional_shutdown(signal, exit, Arc::clone(&interrupted))?;
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    Ok(interrupted)
}
