//! `sim replay`: one schedule again, with what happened.

use std::io::{self, Write};

use crate::cli::Replay;
use crate::command::commit;
use crate::command::scenarios::fail_what_is_missed;
use crate::command::source::{Source, word};
use crate::exit::Exit;
use crate::oracle::Check;
use crate::report::{json, terminal};
use crate::run::panics::remember_panics;
use crate::run::replay::{Expected, Replayed, narrowed, replay as run_again};

/// Replays a token or a file.
///
/// # Errors
///
/// When a stream cannot be written.
pub fn replay(options: &Replay, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let source = word(&options.checks)
        .and_then(|checks| Source::read(&options.subject, options.image.as_deref(), checks));
    let read = source.and_then(|source| {
        let schedule = narrowed(&source.scenario.schedule, options.until, &options.without)?;
        Ok((source, schedule))
    });
    let (mut source, schedule) = match read {
        Ok(read) => read,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    if let Some(remark) = &source.remark {
        writeln!(err, "warning: {remark}")?;
    }
    if schedule != source.scenario.schedule {
        // Of a world that is not the one which was recorded nothing is known.
        source.expected = Expected::default();
    }
    remember_panics();
    let mut replayed = run_again(schedule, source.sample, source.image);
    // A file without an origin is a scenario that somebody wrote.
    if source.file.is_some() && source.token.is_none() {
        fail_what_is_missed(&source.scenario, &mut replayed.report);
    }
    let commit = commit::current();
    if options.json {
        json::write(out, &json::replay(&source, commit, &replayed))?;
    } else {
        terminal::replay(out, &source, commit, &replayed, options.full)?;
    }
    Ok(exit_of(&replayed))
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
