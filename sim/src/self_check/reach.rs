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

fn run(count: u64, jobs: usize) -> Summary {
    let request = Request {
        profile: "default",
        knobs: Knobs { size: SizeKnob::Small, ..Knobs::default() },
        seeds: Seeds::all(1, count),
        seconds: None,
        failures: None,
        per_group: 0,
        require_reach: false,
        jobs,
        commit: Commit::Unknown,
        image: None,
        checks: Checks::Default,
    };
    run_session(&request, &Known::default(), Summary::default(), &AtomicBool::new(false), &mut Deaf)
}

/// The same seeds on one thread and on three.
pub(super) fn determinism() -> Result<String, String> {
    let (one, three) = (run(SEEDS / 4, 1), run(SEEDS / 4, 3));
    if one.mismatches > 0 {
        return Err(format!("{} of {} worlds run twice differed", one.mismatches, one.reruns));
    }
    let (left, right) = (one.digest.get(), three.digest.get());
    if left != right || one.tally != three.tally {
        return Err(format!("run digest {left:016x} on one thread, {right:016x} on three"));
    }
    Ok(format!("{} worlds, {} of them run twice", one.seeds, one.reruns))
}

/// The goals that are due by then.
pub(super) fn reach() -> Result<String, String> {
    let summary = run(SEEDS, 2);
    let lines = lines(&summary.tally);
    let missed: Vec<String> =
        lines.iter().filter(|line| line.is_missed(summary.seeds)).map(Line::name).collect();
    if !missed.is_empty() {
        return Err(format!("missed within {} worlds: {}", summary.seeds, missed.join(", ")));
    }
    let due = lines.iter().filter(|line| line.is_due(summary.seeds)).count();
    Ok(format!("{due} goals due within {} worlds", summary.seeds))
}
