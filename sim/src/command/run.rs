//! `sim run`: seeds through crashes and damage.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, thread};

use crate::cli::Run;
use crate::command::commit;
use crate::exit::Exit;
use crate::report::{json, terminal};
use crate::run::one::remember_panics;
use crate::run::parallel::Seeds;
use crate::run::session::{FailedSeed, Listener, Request, Summary, run_session};
use crate::schedule::generate::{FilesystemKnob, Knobs, RegimeKnob, ReplicasKnob, SizeKnob};
use crate::schedule::{Origin, Scenario, Word, print};

/// Seconds of a run without any limit.
const DEFAULT_SECONDS: u64 = 45;

/// Runs seeds and reports.
///
/// # Errors
///
/// When a stream or a saved schedule cannot be written.
pub fn run(options: &Run, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let knobs = match knobs(options) {
        Ok(knobs) => knobs,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    remember_panics();
    let request = request(options, knobs);
    if options.json {
        json::run_started(out, &request)?;
    } else {
        terminal::run_started(out, &request)?;
    }
    let mut listener = Reporting {
        is_json: options.json,
        shows_progress: !options.json && io::stderr().is_terminal(),
        directory: options.out.clone(),
        out,
        err,
        trouble: None,
    };
    let summary = run_session(&request, &mut listener);
    let Reporting { out, trouble, .. } = listener;
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    let exit = exit_of(&summary);
    if options.json {
        json::run_summary(out, &request, &summary, exit)?;
    } else {
        terminal::run_summary(out, &summary)?;
    }
    Ok(exit)
}

fn exit_of(summary: &Summary) -> Exit {
    let mut exit = if summary.seeds == 0 { Exit::Nothing } else { Exit::Held };
    if summary.failures > 0 {
        exit = exit.worst(Exit::Failed);
    }
    if summary.mismatches > 0 {
        exit = exit.worst(Exit::Nondeterminism);
    }
    if summary.is_harness_bug {
        exit = exit.worst(Exit::Harness);
    }
    exit
}

fn knobs(options: &Run) -> Result<Knobs, String> {
    Ok(Knobs {
        regime: word::<RegimeKnob>(&options.regime)?,
        filesystem: word::<FilesystemKnob>(&options.filesystem)?,
        size: word::<SizeKnob>(&options.size)?,
        replicas: ReplicasKnob::One,
    })
}

fn word<W: Word>(text: &str) -> Result<W, String> {
    W::from_word(text).ok_or_else(|| {
        let words: Vec<&str> = W::WORDS.iter().map(|word| word.word()).collect();
        format!("{text} is not {}: one of {}", W::KIND, words.join(", "))
    })
}

fn request(options: &Run, knobs: Knobs) -> Request {
    let limited = options.seeds.is_some() || options.seconds.is_some() || options.failures.is_some();
    let (shard, shards) = options.shard.unwrap_or((1, 1));
    let from = options.from_seed.unwrap_or_else(drawn_seed);
    let count = options.seeds.unwrap_or(u64::MAX);
    Request {
        knobs,
        seeds: Seeds { from, count, shard, shards },
        seconds: if limited { options.seconds } else { Some(DEFAULT_SECONDS) },
        failures: options.failures,
        per_group: options.per_group,
        jobs: options.jobs.unwrap_or_else(cores).max(1),
        commit: commit::current(),
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A seed nobody chose: it is printed, so the run can be repeated.
#[expect(clippy::disallowed_types, reason = "a fresh seed is drawn from the clock and printed")]
fn drawn_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |elapsed| elapsed.as_secs() << 20 | u64::from(elapsed.subsec_micros()))
}

/// Prints failures and progress, and saves failing schedules, as they come.
struct Reporting<'a> {
    is_json: bool,
    shows_progress: bool,
    directory: PathBuf,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    trouble: Option<io::Error>,
}

impl Listener for Reporting<'_> {
    fn failed(&mut self, failed: &FailedSeed<'_>) {
        let reported = save(&self.directory, failed).and_then(|file| {
            if self.is_json {
                json::failure(self.out, failed, &file)
            } else {
                terminal::failure(self.out, failed, &file)
            }
        });
        if let Err(trouble) = reported {
            self.trouble.get_or_insert(trouble);
        }
    }

    fn progress(&mut self, summary: &Summary, elapsed: Duration) {
        if self.shows_progress
            && let Err(trouble) = terminal::progress(self.err, summary, elapsed)
        {
            self.trouble.get_or_insert(trouble);
        }
    }
}

/// Writes the failing schedule as a scenario file that replays on every later version.
fn save(directory: &Path, failed: &FailedSeed<'_>) -> io::Result<PathBuf> {
    let folder = directory.join("failures").join(failed.group);
    fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{}.kdl", failed.token));
    let violation = &failed.failure.violation;
    let title = violation.to_string();
    let origin = Origin { token: failed.token.to_string(), check: violation.check.code().to_owned() };
    let scenario = Scenario { origin: Some(origin), ..Scenario::untold(title, failed.schedule.clone()) };
    fs::write(&file, print(&scenario))?;
    Ok(file)
}
