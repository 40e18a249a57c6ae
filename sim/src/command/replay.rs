//! `sim replay`: one schedule again, with what happened.

use std::io::{self, Write};
use std::{fs, path::Path};

use crate::cli::Replay;
use crate::command::commit;
use crate::exit::Exit;
use crate::oracle::sample::Sample;
use crate::report::{json, terminal};
use crate::run::one::{sample_of, schedule_of};
use crate::run::tally::Tally;
use crate::schedule::token::{Commit, Token};
use crate::schedule::{Schedule, parse};
use crate::world::{Arena, Report, Watch, run};

/// What is replayed.
struct Subject {
    schedule: Schedule,
    /// The sampled checks that the token's seed drew; a file, which has no draw, gets all.
    sample: Sample,
    token: Option<String>,
    file: Option<String>,
    /// A remark on where it came from, if there is one to make.
    remark: Option<String>,
}

/// Replays a token or a file.
///
/// # Errors
///
/// When a stream cannot be written.
pub fn replay(options: &Replay, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let subject = match subject(&options.subject) {
        Ok(subject) => subject,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    if let Some(remark) = &subject.remark {
        writeln!(err, "warning: {remark}")?;
    }
    let mut tally = Tally::default();
    let watch = Watch { keeps_events: true, sample: subject.sample };
    let report: Report = run(&subject.schedule, &mut Arena::new(), &mut tally, watch);
    if options.json {
        json::write(out, &json::replay(subject.token.as_deref(), subject.file.as_deref(), &report))?;
    } else {
        terminal::replay(out, &subject.schedule, &report, options.full)?;
    }
    Ok(if report.failures.is_empty() { Exit::Held } else { Exit::Failed })
}

fn subject(text: &str) -> Result<Subject, String> {
    if Path::new(text).exists() {
        return from_file(text);
    }
    let token: Token = text.parse().map_err(|error| format!("{error}, and there is no file of that name"))?;
    token.check(None).map_err(|error| error.to_string())?;
    let here = commit::current();
    let remark = (token.commit != here && token.commit != Commit::Unknown)
        .then(|| format!("the token is of commit {}, and this is {here}", token.commit));
    Ok(Subject {
        schedule: schedule_of(token.seed, token.knobs),
        sample: sample_of(token.seed),
        token: Some(text.to_owned()),
        file: None,
        remark,
    })
}

fn from_file(path: &str) -> Result<Subject, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"))?;
    let scenario = parse(path, &text).map_err(|error| format!("{:?}", miette::Report::new(error)))?;
    Ok(Subject {
        token: scenario.origin.map(|origin| origin.token),
        schedule: scenario.schedule,
        sample: Sample::EVERYTHING,
        file: Some(path.to_owned()),
        remark: None,
    })
}
