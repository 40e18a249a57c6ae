//! `sim scenarios`: scenario files, each run with every check and held to what it expects.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::Scenarios;
use crate::command::source::Source;
use crate::exit::Exit;
use crate::oracle::sample::Checks;
use crate::oracle::{Check, Value, Violation};
use crate::report::{json, terminal};
use crate::run::panics::remember_panics;
use crate::run::replay::twice;
use crate::run::session::FailedScenario;
use crate::schedule::{Scenario, print_step, step_lines};
use crate::world::{Arena, Failure, Report, Watch};

/// What one scenario file came to.
#[derive(Debug)]
pub struct Told {
    /// Its path, as it was found.
    pub path: String,
    /// What it says.
    pub scenario: Scenario,
    /// The line of each step.
    lines: Vec<usize>,
    /// What happened. Its failures hold what hit nothing, too.
    pub report: Report,
    is_harness_bug: bool,
}

impl Told {
    /// Whether everything held.
    pub fn has_passed(&self) -> bool {
        self.report.failures.is_empty()
    }

    /// What does not hold first.
    fn first_failure(&self) -> Option<String> {
        let failure = self.report.failures.first()?;
        Some(format!("line {}: {}", self.line(failure), failure.violation))
    }

    /// The line of the file that a failure belongs to.
    pub fn line(&self, failure: &Failure) -> usize {
        self.lines.get(failure.step as usize).copied().unwrap_or(1)
    }

    fn exit(&self) -> Exit {
        let is_mismatch = |failure: &Failure| failure.violation.check == Check::Nondeterminism;
        if self.is_harness_bug {
            Exit::Harness
        } else if self.report.failures.iter().any(is_mismatch) {
            Exit::Nondeterminism
        } else if self.has_passed() {
            Exit::Held
        } else {
            Exit::Failed
        }
    }
}

/// Runs scenario files and reports; none is begun once somebody has asked the program to end.
///
/// # Errors
///
/// When a stream cannot be written.
pub fn scenarios(
    options: &Scenarios,
    interrupted: &AtomicBool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    remember_panics();
    let mut arena = Arena::new();
    let (mut exit, mut passed, mut failed) = (Exit::Held, 0, 0);
    let mut left = files(&options.paths).into_iter();
    while !interrupted.load(Ordering::Relaxed) {
        let Some(path) = left.next() else { break };
        let told = match run_file(&path, &mut arena) {
            Ok(told) => told,
            Err(sentence) => {
                writeln!(err, "error: {sentence}")?;
                exit = exit.worst(Exit::Usage);
                continue;
            }
        };
        exit = exit.worst(told.exit());
        *(if told.has_passed() { &mut passed } else { &mut failed }) += 1;
        if options.json {
            json::write(out, &json::scenario(&told))?;
        } else {
            tell(out, &told)?;
        }
    }
    let not_run: Vec<String> = left.map(|path| shown(&path)).collect();
    if !not_run.is_empty() {
        exit = exit.worst(Exit::Interrupted);
    } else if passed + failed == 0 {
        exit = exit.worst(Exit::Nothing);
    }
    if options.json {
        json::write(out, &json::scenarios_summary(passed, failed, &not_run, exit))?;
    } else {
        terminal::not_run(out, "scenario", &not_run)?;
        writeln!(
            out,
            " Summary  {}: {passed} passed, {failed} failed",
            terminal::counted(passed + failed, "scenario")
        )?;
    }
    Ok(exit)
}

/// What a person is told of a scenario.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn tell(out: &mut dyn Write, told: &Told) -> io::Result<()> {
    let word = if told.has_passed() { "pass" } else { "FAIL" };
    writeln!(out, "    {word}  {}", told.path)?;
    for failure in &told.report.failures {
        terminal::paragraph(out, "", &format!("line {}: {}", told.line(failure), failure.violation))?;
        if let Some(remark) = failure.said() {
            terminal::paragraph(out, "", &remark)?;
        }
    }
    Ok(())
}

/// What a summary keeps of a file that does not hold, or that nobody can run; `None` of one that holds.
pub fn failed(path: &Path, told: Result<&Told, &String>) -> Option<FailedScenario> {
    let sentence = told.map_or_else(|sentence| Some(sentence.clone()), Told::first_failure)?;
    Some(FailedScenario { path: shown(path), sentence })
}

/// The files that paths name, each directory with all that is below it, in order of their names.
pub fn files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in paths {
        match fs::read_dir(path) {
            Ok(entries) => {
                let mut below: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
                below.retain(|path| path.is_dir() || path.extension().is_some_and(|end| end == "kdl"));
                below.sort();
                found.extend(files(&below));
            }
            // What is no directory is a file, or the error of reading it says what it is.
            Err(_) => found.push(path.clone()),
        }
    }
    found
}

/// A path as it is shown on every system.
fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// Runs one file with every check.
///
/// # Errors
///
/// When it is no scenario that can be run; the text is for a person.
pub fn run_file(path: &Path, arena: &mut Arena) -> Result<Told, String> {
    let path = shown(path);
    let text = fs::read_to_string(&path).map_err(|error| format!("{path} cannot be read: {error}"))?;
    let source = Source::read(&path, None, Checks::Default)?;
    arena.image = source.image;
    let (mut report, _, is_harness_bug) = twice(&source.scenario.schedule, arena, Watch::of(source.sample));
    fail_what_is_missed(&source.scenario, &mut report);
    let lines = step_lines(&text);
    Ok(Told { path, scenario: source.scenario, lines, report, is_harness_bug })
}

/// Makes a failure of every step that was not there to be done, or held something that hit nothing: what is
/// counted in a generated schedule is an error in a file that somebody wrote.
pub fn fail_what_is_missed(scenario: &Scenario, report: &mut Report) {
    let missed = report.told.as_ref().map(|told| told.missed.clone()).unwrap_or_default();
    report.failures.extend(missed.into_iter().map(|step| hit_nothing(scenario, step)));
}

/// A step of a scenario that was not there to be done, or held something that hit nothing.
fn hit_nothing(scenario: &Scenario, step: u32) -> Failure {
    let (expected, actual) = (Value::Code("met"), Value::Code("missed"));
    let violation = Violation::new(Check::Expect, "what the step names", expected, actual);
    let remark = scenario.schedule.steps.get(step as usize).map(|step| print_step(step).trim().to_owned());
    let node = scenario.schedule.steps.get(step as usize).map_or(0, |step| step.node.0);
    Failure { violation, partition: None, remark, varied: None, node, step, recovery_step: "decide" }
}
