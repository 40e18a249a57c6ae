//! `sim sweep`: every crash point, error, survivor set and damaged field of a schedule, or of every scenario.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cli::Sweep;
use crate::command::scenarios::files;
use crate::command::source::Source;
use crate::exit::Exit;
use crate::explore::{Explored, HostStart, Kind, Request, Summary, explore_host, sweep as run_sweep};
use crate::oracle::sample::Checks;
use crate::report::{json, terminal};
use crate::run::panics::remember_panics;
use crate::schedule::{Scenario, Schedule, print};

/// What a sweep is shown as.
#[derive(Debug)]
pub struct SweepReport {
    /// What was swept, by token or path.
    pub subjects: Vec<String>,
    /// Files of which nothing was varied.
    pub skipped: Vec<String>,
    /// What was varied.
    pub kinds: Vec<Kind>,
    /// Crashes one after the other.
    pub depth: u32,
    /// What it came to.
    pub summary: Summary,
    /// Where the first variant of each group was saved, in their order.
    pub files: Vec<PathBuf>,
    /// Whether somebody ended it before it was complete.
    pub is_interrupted: bool,
    /// How long it took.
    pub elapsed: Duration,
    /// How the command ends.
    pub exit: Exit,
}

/// Sweeps over a token, a file or all scenarios, and reports; no world is begun once somebody has asked the program to
/// end.
///
/// # Errors
///
/// When a stream or a file cannot be written.
#[expect(clippy::disallowed_types, reason = "how long it took is shown; no verdict depends on it")]
pub fn sweep(
    options: &Sweep,
    interrupted: &AtomicBool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    if options.host {
        return sweep_host(options, interrupted, out);
    }
    let (names, schedules, skipped) = match subjects(options) {
        Ok(subjects) => subjects,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    remember_panics();
    let begin = std::time::Instant::now();
    let request = Request {
        kinds: if options.kinds.is_empty() { Kind::ALL.to_vec() } else { options.kinds.clone() },
        depth: options.depth,
        runs: options.runs.unwrap_or(u64::MAX),
        jobs: options.jobs.unwrap_or_else(cores),
        keeps_equal: options.keep_equal,
    };
    let summary = run_sweep(&schedules, &request, interrupted);
    let elapsed = begin.elapsed();
    let files = save(&options.out, &names, &summary)?;
    let is_interrupted = interrupted.load(Ordering::Relaxed) && !summary.is_complete();
    let exit = exit_of(&summary, is_interrupted);
    let report = SweepReport {
        subjects: names,
        skipped,
        kinds: request.kinds,
        depth: request.depth,
        summary,
        files,
        is_interrupted,
        elapsed,
        exit,
    };
    if options.json {
        json::write(out, &json::sweep_summary(&report))?;
    } else {
        terminal::sweep(out, &report)?;
    }
    Ok(exit)
}

/// Events of a sequence on a host, at most.
const HOST_EVENTS: u32 = 6;

/// Goes through sequences of events on a host, a thread a start, and holds the number of states to what was counted.
fn sweep_host(options: &Sweep, interrupted: &AtomicBool, out: &mut dyn Write) -> io::Result<Exit> {
    remember_panics();
    let explored: Vec<Explored> = std::thread::scope(|scope| {
        let starts =
            HostStart::ALL.map(|start| scope.spawn(move || explore_host(start, HOST_EVENTS, interrupted)));
        starts.map(|start| start.join().expect("a panic in a world is a failure of it")).into()
    });
    let mut exit = Exit::Held;
    for (start, found) in HostStart::ALL.into_iter().zip(&explored) {
        let failures = found.failures.len();
        let is_counted = found.states == start.states_within_six();
        exit = exit.worst(if failures > 0 { Exit::Failed } else { Exit::Held });
        exit = exit.worst(match (found.is_cut_short, is_counted) {
            (true, _) => Exit::Interrupted,
            (false, true) => Exit::Held,
            (false, false) => Exit::Harness,
        });
        if options.json {
            let line = serde_json::json!({
                "type": "host-sweep", "version": 1, "start": start.code(), "sequences": found.sequences,
                "states": found.states, "expected_states": start.states_within_six(), "runs": found.runs,
                "failures": failures, "interrupted": found.is_cut_short,
            });
            writeln!(out, "{line}")?;
        } else {
            writeln!(
                out,
                "   Start  {}: {} sequences, {} states (counted: {}), {} worlds, {failures} failures{}",
                start.code(),
                found.sequences,
                found.states,
                start.states_within_six(),
                found.runs,
                if found.is_cut_short { "; interrupted: longer sequences were not run" } else { "" }
            )?;
        }
        if let Some((text, failure)) = found.failures.first().filter(|_| !options.json) {
            writeln!(out, "    FAIL  {} in\n{text}", failure.violation)?;
        }
    }
    Ok(exit)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// What is said where nothing is named that could be swept.
const NOTHING_NAMED: &str = "name a token or a file, or --all for all of scenarios/, or --host for every sequence of \
                             events on a host";

type Subjects = (Vec<String>, Vec<Schedule>, Vec<String>);

fn subjects(options: &Sweep) -> Result<Subjects, String> {
    let asked: Vec<String> = match (&options.subject, options.all) {
        (Some(subject), false) => vec![subject.clone()],
        (None, true) => {
            let paths = files(&[PathBuf::from("scenarios")]);
            paths.iter().map(|path| path.to_string_lossy().replace('\\', "/")).collect()
        }
        (None, false) => return Err(NOTHING_NAMED.to_owned()),
        (Some(_), true) => return Err("--all is all of scenarios/; leave the token or file out".to_owned()),
    };
    let (mut names, mut schedules, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for name in asked {
        let source = Source::read(&name, None, Checks::Default)?;
        // A directory that worlds start with would have to be read by every thread, and worlds with hosts are varied by
        // crashes and errors alone.
        let is_varied = |kind| options.kinds.is_empty() || options.kinds.contains(&kind);
        let is_host = source.scenario.schedule.needs_host();
        if source.image.is_some() || (is_host && !is_varied(Kind::Crash) && !is_varied(Kind::Error)) {
            skipped.push(name);
            continue;
        }
        names.push(name);
        schedules.push(source.scenario.schedule);
    }
    Ok((names, schedules, skipped))
}

fn exit_of(summary: &Summary, is_interrupted: bool) -> Exit {
    let exit = if summary.is_harness_bug { Exit::Harness } else { Exit::Held };
    let exit = exit.worst(if summary.failures > 0 { Exit::Failed } else { Exit::Held });
    let exit = exit.worst(if is_interrupted { Exit::Interrupted } else { Exit::Held });
    // What was cut short is never green.
    exit.worst(if summary.is_complete() && summary.runs > 0 { Exit::Held } else { Exit::Nothing })
}

/// Saves the first variant of each group as a schedule that replays.
fn save(directory: &Path, names: &[String], summary: &Summary) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for group in &summary.groups {
        let folder = directory.join(&group.id);
        fs::create_dir_all(&folder)?;
        let subject = &names[group.subject];
        let stem = Path::new(subject)
            .file_stem()
            .map_or_else(|| subject.clone(), |stem| stem.to_string_lossy().into_owned());
        let file = folder.join(format!("{stem}.kdl"));
        let title = format!("a variant of {subject}");
        fs::write(&file, print(&Scenario::untold(title, group.schedule.clone())))?;
        files.push(file);
    }
    Ok(files)
}
