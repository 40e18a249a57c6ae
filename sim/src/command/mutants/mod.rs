//! `sim mutants`: each planted bug is built, and must die by the check that it names.
//!
//! Promises: the sources without any bug run clean first, by the same commands; what came of each bug is
//! compared with the table that is kept, and what scenarios say that they kill with what they did kill.
//! Leaves out: what a kill is ([`crate::subject::kill`]).
//!
//! What F12 asks for: a bug is planted for each guard.

mod bench;
mod lanes;
mod show;
mod tally;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use self::bench::Bench;
use self::lanes::{deal, lanes_of};
pub use self::tally::Numbers;
use self::tally::Tally;
use super::commit;
use super::scenarios::files;
use crate::cli::Mutants;
use crate::exit::Exit;
use crate::report::{json, terminal};
use crate::schedule::{Kills, Scenario, parse};
use crate::subject::collection::{self, FOLDER};
use crate::subject::kill::Fate;
use crate::subject::kill_table::{FILE, KillTable, Move, Row};
use crate::subject::mutant::Mutant;

/// Where everything is built and run.
const SCRATCH: &str = "target/mutants";

/// Draws a sample where no commit says which.
const SEED_WITHOUT_COMMIT: u64 = 1;

/// What became of one bug.
#[derive(Debug)]
pub struct Judged<'a> {
    /// Which.
    pub mutant: &'a Mutant,
    /// What became of it.
    pub fate: Fate,
    /// The scenarios that kill it.
    pub scenarios: Vec<String>,
    /// How long it took to build and to judge.
    pub seconds: f64,
}

/// Plants and judges, in each lane one bug after the other; none is planted once somebody has asked the program to end.
///
/// # Errors
///
/// When a stream, the copy of the sources or the table cannot be written.
pub fn mutants(
    options: &Mutants,
    interrupted: &AtomicBool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let asked = match Asked::read(options) {
        Ok(asked) => asked,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let count = options.jobs.unwrap_or_else(|| lanes_of(asked.chosen.len(), processors()));
    let benches = benches(count)?;
    let mut tally = Tally::begin();
    let trouble = benches[0].trouble_without_a_bug(&asked.chosen, interrupted)?;
    // On a terminal the compiler and the program were asked to end, too.
    if let Some(sentence) = trouble.filter(|_| !interrupted.load(Ordering::Relaxed)) {
        writeln!(err, "error: without any bug {sentence}")?;
        return Ok(Exit::Harness);
    }
    let keep = options.keep.as_deref();
    let judge = |bench: &Bench, mutant| bench.judge(mutant, keep, interrupted);
    let mut rows = Vec::new();
    deal(&benches, &asked.chosen, &judge, &mut |judged| {
        tally.count(&judged.fate);
        if options.json {
            json::write(out, &json::mutant(&judged))?;
        } else {
            show::row(out, &judged)?;
        }
        out.flush()?;
        rows.push(Row::of(judged.mutant, &judged.fate, judged.scenarios));
        Ok(())
    })?;
    rows.sort_by(|one, other| one.id.cmp(&other.id));
    asked.conclude(options, &tally, &rows, out, err)
}

/// So many places to build in, each with a copy of the sources. The first is where one alone would be.
fn benches(count: usize) -> io::Result<Vec<Bench>> {
    let scratch = |lane: usize| match lane {
        0 => PathBuf::from(SCRATCH),
        _ => Path::new(SCRATCH).join(format!("lane-{}", lane + 1)),
    };
    (0..count.max(1)).map(|lane| Bench::set_up(Path::new("."), &scratch(lane))).collect()
}

/// What is asked for, and what it is held against.
struct Asked {
    chosen: Vec<Mutant>,
    /// Every bug that there is a file of.
    known: Vec<String>,
    kept: KillTable,
    scenarios: Vec<(String, Scenario)>,
}

impl Asked {
    fn read(options: &Mutants) -> Result<Self, String> {
        let all = collection::read(Path::new(FOLDER))?;
        let known: Vec<String> = all.iter().map(|mutant| mutant.id.clone()).collect();
        if let Some(id) = options.only.iter().find(|id| !known.contains(id)) {
            return Err(format!("there is no planted bug {id} in {FOLDER}"));
        }
        let is_wanted = |mutant: &Mutant| options.only.is_empty() || options.only.contains(&mutant.id);
        let mut chosen: Vec<Mutant> = all.into_iter().filter(is_wanted).collect();
        if let Some(count) = options.sample {
            chosen = collection::sample(chosen, count, commit::seed().unwrap_or(SEED_WITHOUT_COMMIT));
        }
        let kept = match fs::read_to_string(FILE) {
            Ok(text) => KillTable::read(&text).map_err(|error| format!("{FILE}: {error}"))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => KillTable::default(),
            Err(error) => return Err(format!("{FILE}: {error}")),
        };
        Ok(Self { chosen, known, kept, scenarios: scenarios()? })
    }

    /// Compares, keeps what is to be kept, and tells.
    fn conclude(
        mut self,
        options: &Mutants,
        tally: &Tally,
        rows: &[Row],
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> io::Result<Exit> {
        let unconfirmed = self.unconfirmed(rows);
        let strayed = self.strayed(rows);
        let moves = if options.accept { Vec::new() } else { self.kept.moves(rows, &self.known) };
        let missing = self.kept.missing(&self.known).count();
        // A table that is written has no row too many.
        let missing = if options.accept { 0 } else { missing };
        let has_run = |id: &str| rows.iter().any(|row| row.id == id);
        let ids = self.chosen.iter().map(|mutant| mutant.id.as_str());
        let not_run: Vec<&str> = ids.filter(|id| !has_run(id)).collect();
        let mut exit = tally.exit();
        if !not_run.is_empty() {
            exit = exit.worst(Exit::Interrupted);
        }
        if missing > 0
            || !unconfirmed.is_empty()
            || !strayed.is_empty()
            || moves.iter().any(|moved| moved.is_worse)
        {
            exit = exit.worst(Exit::Failed);
        }
        if options.accept {
            self.kept.take(rows, &self.known);
            fs::write(FILE, self.kept.print())?;
        }
        // What a person is told beside the lines of a program goes to the other stream.
        let told: &mut dyn Write = if options.json { err } else { &mut *out };
        for Move { id, sentence, is_worse } in &moves {
            writeln!(told, "{}  {id}: {sentence}", if *is_worse { "worse" } else { "moved" })?;
        }
        for (path, id) in &unconfirmed {
            writeln!(told, "wrong  {path}: it says that it kills {id}, and did not")?;
        }
        for (id, sentence) in &strayed {
            writeln!(told, "wrong  {id}: {sentence}")?;
        }
        let total = self.known.len();
        if options.json {
            json::write(out, &json::mutants_summary(&tally.numbers(missing, total), &not_run))?;
        } else {
            terminal::not_run(out, "planted bug", &not_run)?;
            show::summary(out, &tally.numbers(missing, total))?;
        }
        Ok(exit)
    }

    /// Bugs that died another way than their files say.
    fn strayed(&self, rows: &[Row]) -> Vec<(String, &'static str)> {
        let mutant = |row: &Row| self.chosen.iter().find(|mutant| mutant.id == row.id);
        let complaint = |row: &Row| mutant(row)?.complaint(row.how.as_deref()?);
        rows.iter().filter_map(|row| Some((row.id.clone(), complaint(row)?))).collect()
    }

    /// Scenarios that say that they kill a bug which ran, and did not.
    fn unconfirmed(&self, rows: &[Row]) -> Vec<(String, String)> {
        let ran = |id: &String| rows.iter().find(|row| row.id == *id);
        let mut unconfirmed = Vec::new();
        for (path, scenario) in &self.scenarios {
            let named = match &scenario.kills {
                Kills::Mutants(named) => named.as_slice(),
                Kills::None(_) | Kills::Unsaid => &[],
            };
            let missed = named.iter().filter(|id| ran(id).is_some_and(|row| !row.scenarios.contains(path)));
            unconfirmed.extend(missed.map(|id| (path.clone(), id.clone())));
        }
        unconfirmed
    }
}

/// Every scenario of the sources.
fn scenarios() -> Result<Vec<(String, Scenario)>, String> {
    let read = |path: PathBuf| {
        let path = path.to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let scenario = parse(&path, &text).map_err(|error| format!("{path}: {error}"))?;
        Ok((path, scenario))
    };
    files(&[PathBuf::from("scenarios")]).into_iter().map(read).collect()
}
