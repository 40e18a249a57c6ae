//! The seeds judged: a fixed set of them runs, twice the same, and reaches what it must.

use std::sync::atomic::AtomicBool;

use crate::oracle::sample::Checks;
use crate::run::known::Known;
use crate::run::parallel::Seeds;
use crate::run::reach::{Line, lines};
use crate::run::session::{FailedSeed, Listener, Request, Summary, run_session};
use crate::schedule::generate::{Knobs, SizeKnob};
use crate::schedule::token::Commit;

/// Seeds of the set.
const SEEDS: u64 = 4000;

/// Hears nothing.
struct Deaf;

impl Listener for Deaf {
    fn failed(&mut self, _: &FailedSeed<'_>) {}

    fn progress(&mut self, _: &Summary) {}
}

/// `count` seeds from `from` on.
fn run(from: u64, count: u64, jobs: usize) -> Summary {
    let request = Request {
        profile: "default",
        knobs: Knobs { size: SizeKnob::Small, ..Knobs::default() },
        seeds: Seeds::all(from, count),
        seconds: None,
        failures: None,
        per_group: 0,
        require_reach: false,
        jobs,
        commit: Commit::Unknown,
        image: None,
        checks: Checks::Default,
        subject: None,
    };
    run_session(&request, &Known::default(), Summary::default(), &AtomicBool::new(false), &mut Deaf)
}

/// The same seeds on one thread and on three.
pub(super) fn determinism() -> Result<String, String> {
    let one = run(1, SEEDS / 4, 1);
    same_run(&one, &run(1, SEEDS / 4, 3))?;
    Ok(format!("{} worlds, {} of them run twice", one.seeds, one.reruns))
}

/// I24: two runs of the same seeds are one.
fn same_run(one: &Summary, other: &Summary) -> Result<(), String> {
    if one.mismatches > 0 {
        return Err(format!("{} of {} worlds run twice differed", one.mismatches, one.reruns));
    }
    let (left, right) = (one.digest.get(), other.digest.get());
    if left != right || one.tally != other.tally {
        return Err(format!("run digest {left:016x} at first, {right:016x} then"));
    }
    Ok(())
}

/// Runs that are not the same are told apart: of other seeds, of one seed more, and with a world whose second
/// run was another one.
pub(super) fn other_seeds() -> Result<String, String> {
    const FEW: u64 = 20;
    let few = run(1, FEW, 1);
    same_run(&few, &run(1, FEW, 1))?;
    let mut flawed = few.clone();
    flawed.mismatches = 1;
    for (first, second) in [(&few, &run(2, FEW, 1)), (&few, &run(1, FEW + 1, 1)), (&flawed, &few)] {
        if same_run(first, second).is_ok() {
            return Err("two runs differ, and it says nothing".to_owned());
        }
    }
    Ok(format!("{FEW} worlds, against three runs that differ"))
}

/// The goals that are due by then.
pub(super) fn reach() -> Result<String, String> {
    let summary = run(1, SEEDS, 2);
    let lines = lines(&summary.tally);
    let missed: Vec<String> =
        lines.iter().filter(|line| line.is_missed(summary.seeds)).map(Line::name).collect();
    if !missed.is_empty() {
        return Err(format!("missed within {} worlds: {}", summary.seeds, missed.join(", ")));
    }
    let due = lines.iter().filter(|line| line.is_due(summary.seeds)).count();
    Ok(format!("{due} goals due within {} worlds", summary.seeds))
}
