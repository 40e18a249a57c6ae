//! `sim replay`: one schedule again, with what happened and why.

mod dump;
mod stepping;

use std::io::{self, Write};

use crate::cli::Replay;
use crate::command::commit;
use crate::command::scenarios::fail_what_is_missed;
use crate::command::source::{Source, word};
use crate::exit::Exit;
use crate::oracle::Check;
use crate::report::{json, terminal};
use crate::run::counterfactual::is_left_out;
use crate::run::panics::remember_panics;
use crate::run::replay::{Expected, Replayed, narrowed, replay as run_again};
use crate::schedule::Schedule;

/// Replays a token or a file.
///
/// # Errors
///
/// When a stream cannot be written.
pub fn replay(options: &Replay, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let (mut source, schedule, until) = match read(options) {
        Ok(read) => read,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    if let Some(remark) = &source.remark {
        writeln!(err, "warning: {remark}")?;
    }
    if schedule != source.scenario.schedule || until.is_some() {
        // Of a world that is not the one which was recorded nothing is known but what to look for.
        source.expected.digest = None;
    }
    if schedule != source.scenario.schedule {
        source.expected = Expected::default();
    }
    remember_panics();
    let how = (source.sample, until);
    let mut replayed = run_again(schedule, how, &source.expected, source.image);
    // A file without an origin is a scenario that somebody wrote.
    if source.file.is_some() && source.token.is_none() && until.is_none() {
        fail_what_is_missed(&source.scenario, &mut replayed.report);
        // Where a fault is left out nothing was to be met.
        let steps = &replayed.schedule.steps;
        replayed.report.failures.retain(|failure| !steps.get(failure.step as usize).is_some_and(is_left_out));
    }
    let commit = commit::current();
    if options.json {
        json::write(out, &json::replay(&source, commit, &replayed))?;
    } else if options.step {
        stepping::walk(out, &source, &replayed)?;
        terminal::replay_end(out, &source, &replayed)?;
    } else {
        terminal::replay(out, &source, commit, &replayed, options.full)?;
    }
    if let Some(directory) = &options.dump {
        match dump::dump(directory, &replayed, source.image) {
            Ok(sentence) if !options.json => terminal::paragraph(out, "Dump", &sentence)?,
            Ok(_) => {}
            Err(sentence) => {
                writeln!(err, "error: {sentence}")?;
                return Ok(Exit::Usage.worst(exit_of(&replayed)));
            }
        }
    }
    Ok(exit_of(&replayed))
}

/// What is to run: the schedule, short of the faults that are left out, and the step behind which it ends, if that
/// is not the end. What a world with hosts goes on with behind its last step counts as one more.
fn read(options: &Replay) -> Result<(Source, Schedule, Option<u32>), String> {
    let checks = word(&options.checks)?;
    if let Some(directory) = &options.dump {
        dump::check(directory)?;
    }
    let source = Source::read(&options.subject, options.image.as_deref(), checks)?;
    let schedule = narrowed(&source.scenario.schedule, &options.without)?;
    let steps = schedule.steps.len();
    match options.until {
        Some(until) if until as usize == steps && schedule.needs_host() => Ok((source, schedule, None)),
        Some(until) if until as usize >= steps => {
            let last = steps.checked_sub(1).map_or("none".to_owned(), |last| last.to_string());
            let rest = if schedule.needs_host() {
                format!(", and {steps} is what the nodes do behind it")
            } else {
                String::new()
            };
            Err(format!("the schedule has no step {until}\nhint: its last one is {last}{rest}"))
        }
        until @ (Some(_) | None) => Ok((source, schedule, until)),
    }
}

fn exit_of(replayed: &Replayed) -> Exit {
    let failures = &replayed.report.failures;
    let is_mismatch = failures.iter().any(|failure| failure.violation.check == Check::Nondeterminism);
    let exit = match (replayed.is_harness_bug, is_mismatch) {
        (true, _) => Exit::Harness,
        (false, true) => Exit::Nondeterminism,
        (false, false) => Exit::Held,
    };
    exit.worst(if failures.is_empty() { Exit::Held } else { Exit::Failed })
}
