//! `sim run`: seeds through crashes and damage.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::cli::Run;
use crate::command::{commit, source};
use crate::exit::Exit;
use crate::report::progress::Progress;
use crate::report::{json, terminal};
use crate::run::panics::remember_panics;
use crate::run::parallel::Seeds;
use crate::run::reach;
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
    let request = match request(options) {
        Ok(request) => request,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    remember_panics();
    let interrupted = interruption()?;
    let progress = Progress::begin(&request, !options.json);
    let mut reporting = Reporting::begin(options, &progress, out)?;
    reporting.say(&json::run_started(&request), |out| terminal::run_started(out, &request))?;
    let summary = run_session(&request, &interrupted, &mut reporting);
    progress.end();
    reporting.end(options, &request, &summary)
}

/// Set by the first signal that asks the program to end; the second one ends it.
fn interruption() -> io::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let exit = i32::from(Exit::Interrupted as u8);
        signal_hook::flag::register_conditional_shutdown(signal, exit, Arc::clone(&interrupted))?;
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    Ok(interrupted)
}

fn exit_of(summary: &Summary, is_reach_missed: bool) -> Exit {
    [
        (summary.seeds == 0 || is_reach_missed, Exit::Nothing),
        (summary.is_interrupted, Exit::Interrupted),
        (summary.failures > 0, Exit::Failed),
        (summary.mismatches > 0, Exit::Nondeterminism),
        (summary.is_harness_bug, Exit::Harness),
    ]
    .into_iter()
    .filter(|(is_so, _)| *is_so)
    .fold(Exit::Held, |worst, (_, exit)| worst.worst(exit))
}

fn request(options: &Run) -> Result<Request, String> {
    let knobs = knobs(options)?;
    let is_whole = (knobs.regime, knobs.filesystem) == (RegimeKnob::Mixed, FilesystemKnob::Any);
    if options.require_reach && !is_whole {
        let why = "goals are set for all worlds: leave --regime and --filesystem out";
        return Err(format!("--require-reach is not for one regime or one filesystem\nhint: {why}"));
    }
    let limited = options.seeds.is_some() || options.seconds.is_some() || options.failures.is_some();
    let (shard, shards) = options.shard.unwrap_or((1, 1));
    let from = options.from_seed.unwrap_or_else(drawn_seed);
    let count = options.seeds.unwrap_or(u64::MAX);
    Ok(Request {
        knobs,
        seeds: Seeds { from, count, shard, shards },
        seconds: if limited { options.seconds } else { Some(DEFAULT_SECONDS) },
        failures: options.failures,
        per_group: options.per_group,
        jobs: options.jobs.unwrap_or_else(cores).max(1),
        commit: commit::current(),
        image: options.image.as_deref().map(source::image).transpose()?,
    })
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
        format!("{text} is not {}\nhint: one of {}", W::KIND, words.join(", "))
    })
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

/// Tells of a run as it goes, on one stream in one form, and in `run.jsonl`; saves failing schedules.
struct Reporting<'a> {
    is_json: bool,
    directory: PathBuf,
    lines: BufWriter<File>,
    progress: &'a Progress,
    out: &'a mut dyn Write,
    trouble: Option<io::Error>,
}

impl<'a> Reporting<'a> {
    fn begin(options: &Run, progress: &'a Progress, out: &'a mut dyn Write) -> io::Result<Self> {
        let directory = options.out.clone();
        fs::create_dir_all(&directory)?;
        let lines = BufWriter::new(File::create(directory.join("run.jsonl"))?);
        Ok(Self { is_json: options.json, directory, lines, progress, out, trouble: None })
    }

    fn say(&mut self, line: &Value, text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        json::write(&mut self.lines, line)?;
        let out = &mut *self.out;
        let is_json = self.is_json;
        self.progress.aside(|| if is_json { json::write(out, line) } else { text(out) })
    }

    fn end(mut self, options: &Run, request: &Request, summary: &Summary) -> io::Result<Exit> {
        if let Some(trouble) = self.trouble {
            return Err(trouble);
        }
        let reach = reach::lines(&summary.tally);
        let missed: Vec<String> =
            reach.iter().filter(|line| line.is_missed(summary.seeds)).map(reach::Line::name).collect();
        let exit = exit_of(summary, options.require_reach && !missed.is_empty());
        for line in &reach {
            self.say(&json::reach(line), |_| Ok(()))?;
        }
        let last = json::run_summary(request, summary, &missed, exit);
        self.say(&last, |out| terminal::run_summary(out, request, summary, &reach))?;
        self.lines.flush()?;
        Ok(exit)
    }
}

impl Listener for Reporting<'_> {
    fn failed(&mut self, failed: &FailedSeed<'_>) {
        let reported = save(&self.directory, failed).and_then(|file| {
            let line = json::failure(failed, &file);
            fs::write(file.with_extension("json"), format!("{line}\n"))?;
            self.say(&line, |out| terminal::failure(out, failed, &file))?;
            self.lines.flush()
        });
        if let Err(trouble) = reported {
            self.trouble.get_or_insert(trouble);
        }
    }

    fn progress(&mut self, summary: &Summary, elapsed: Duration) {
        self.progress.show(summary, elapsed);
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
