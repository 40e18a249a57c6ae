//! A failing schedule made as simple as it can be while it still fails alike.
//!
//! Promises: whatever is kept was run, and failed by the same check in the same recovery step; every change
//! makes it simpler by one order (`rank`), so it comes to an end, and its own result it leaves as it is.
//! Steps are known by one trait ([`Simpler`]), and never put together: dropping is the only way to fewer.
//! Leaves out: time, which whoever asks looks at.

mod likeness;
mod rank;
mod title;

pub use likeness::Likeness;
pub use title::title;

use self::rank::{Rank, extent, rank};
use super::ending::FailureClass;
use super::one::run_schedule;
use super::replay::Expected;
use crate::oracle::sample::Sample;
use crate::schedule::{Extent, Schedule, Simpler, Step, parse, print_schedule, renamed};
use crate::world::{Arena, Failure};

/// What shrinking came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The simplest schedule that was found.
    pub schedule: Schedule,
    /// How much there was of it, and is.
    pub extents: (Extent, Extent),
    /// How it fails.
    pub class: FailureClass,
    /// Its failure of that class.
    pub failure: Failure,
    /// The checks under which it fails: all of them, if it does so then.
    pub sample: Sample,
    /// Worlds that were run.
    pub runs: u64,
    /// Whether the budget ended it: it may still become simpler.
    pub is_cut_short: bool,
}

/// Makes a schedule simpler until nothing is left to try, `runs` worlds were run, or `is_over`. `None` if it
/// does not fail.
///
/// What counts is the failure that is `expected` of it, if that is there, and else its first one. All checks
/// are asked where it fails alike under them: what a seed draws of them it draws start by start, and starts
/// are dropped.
///
/// # Examples
///
/// ```
/// use sim::oracle::sample::Sample;
/// use sim::run::replay::Expected;
/// use sim::run::shrink::shrink;
/// use sim::schedule::{parse, print_schedule};
/// use sim::world::Arena;
///
/// let text = r#"
/// scenario "a flipped bit in what was acknowledged" version=1
/// world filesystem="xfs" regime="unlimited" {
///     partition "1/1/0" durability="synced"
/// }
/// steps {
///     append "1/1/0" batch=0 count=3
///     flush "1/1/0"
///     crash "process"
///     fault "bit-flip" "1/1/0" batch=1 field="frame.0.payload" bit=3
///     start
///     expect "1/1/0" disposition="serve"
/// }
/// "#;
/// let schedule = parse("flip.kdl", text)?.schedule;
/// let (expected, runs) = (Expected::default(), 1_000);
/// let shrunk = shrink(Arena::new(), &schedule, (Sample::EVERYTHING, &expected), runs, || false);
/// let shrunk = shrunk.expect("what it expects is wrong");
/// // Two of the three batches did not matter.
/// let (before, after) = shrunk.extents;
/// assert_eq!((before.batches, after.batches), (3, 1));
/// assert!(!shrunk.is_cut_short && shrunk.runs < runs);
/// assert!(print_schedule("one batch, flipped", None, &shrunk.schedule).contains("bit-flip"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn shrink(
    mut arena: Arena,
    schedule: &Schedule,
    (sample, expected): (Sample, &Expected),
    runs: u64,
    is_over: impl Fn() -> bool,
) -> Option<Shrunk> {
    let outcome = run_schedule(&mut arena, schedule, sample);
    let class = expected.class_in(&outcome.failures)?;
    let likeness = Likeness::of(class, &outcome);
    let failure = likeness.find(&outcome)?.clone();
    let mut shrinking = Shrinking {
        arena,
        sample,
        likeness,
        rank: rank(schedule),
        best: schedule.clone(),
        failure,
        runs: 1,
        runs_max: runs,
        is_over: &is_over,
        is_cut_short: false,
    };
    shrinking.drop_behind_failure();
    if sample != Sample::EVERYTHING {
        // Under few checks a world is run in no time.
        while shrinking.go_on() {}
        shrinking.ask_everything(schedule);
    }
    while shrinking.go_on() {}
    Some(Shrunk {
        extents: (extent(schedule), extent(&shrinking.best)),
        schedule: shrinking.best,
        class,
        failure: shrinking.failure,
        sample: shrinking.sample,
        runs: shrinking.runs,
        is_cut_short: shrinking.is_cut_short,
    })
}

struct Shrinking<'a> {
    arena: Arena,
    sample: Sample,
    likeness: Likeness,
    best: Schedule,
    rank: Rank,
    failure: Failure,
    runs: u64,
    runs_max: u64,
    is_over: &'a dyn Fn() -> bool,
    is_cut_short: bool,
}

impl Shrinking<'_> {
    /// Asks all checks from here on, if it still fails alike; if not, whether the whole schedule does, and else
    /// goes on under those that were asked.
    fn ask_everything(&mut self, whole: &Schedule) {
        for schedule in [self.best.clone(), whole.clone()] {
            self.runs += 1;
            let outcome = run_schedule(&mut self.arena, &schedule, Sample::EVERYTHING);
            if !self.likeness.class().is_in(&outcome) {
                continue;
            }
            self.likeness = Likeness::of(self.likeness.class(), &outcome);
            if let Some(failure) = self.likeness.find(&outcome) {
                (self.sample, self.failure, self.rank) =
                    (Sample::EVERYTHING, failure.clone(), rank(&schedule));
                self.best = schedule;
                return;
            }
        }
    }

    /// Tries everything once; says whether anything became simpler.
    fn go_on(&mut self) -> bool {
        self.drop_steps()
            | self.simplify_steps()
            | self.simplify_world()
            | self.crash_earlier()
            | self.rename()
    }

    /// Takes a schedule if it is simpler, fails alike, and can be read back.
    fn try_this(&mut self, schedule: Schedule) -> bool {
        let rank = rank(&schedule);
        if rank >= self.rank {
            return false;
        }
        self.is_cut_short |= self.runs >= self.runs_max || (self.is_over)();
        if self.is_cut_short {
            return false;
        }
        self.runs += 1;
        let outcome = run_schedule(&mut self.arena, &schedule, self.sample);
        match self.likeness.find(&outcome) {
            Some(failure) if is_readable(&schedule) => {
                (self.best, self.rank, self.failure) = (schedule, rank, failure.clone());
                true
            }
            Some(_) | None => false,
        }
    }

    /// What comes behind the failure cannot have caused it. A panic does not say in which step it was.
    fn drop_behind_failure(&mut self) {
        let behind = self.failure.step as usize + 1;
        self.try_without(behind..self.best.steps.len());
    }

    fn try_without(&mut self, steps: std::ops::Range<usize>) -> bool {
        if steps.is_empty() {
            return false;
        }
        let mut fewer = self.best.clone();
        fewer.steps.drain(steps);
        self.try_this(fewer)
    }

    /// Drops runs of steps, long ones first, from the end on; then two that are no neighbours, such as a
    /// write and what it makes necessary later.
    fn drop_steps(&mut self) -> bool {
        let mut is_simpler = false;
        let mut length = self.best.steps.len().div_ceil(2);
        while length > 0 {
            let mut end = self.best.steps.len();
            while end > 0 {
                let start = end.saturating_sub(length);
                is_simpler |= self.try_without(start..end);
                end = start;
            }
            length /= 2;
        }
        is_simpler || self.drop_pairs()
    }

    fn drop_pairs(&mut self) -> bool {
        let count = self.best.steps.len();
        for later in (0..count).rev() {
            for earlier in (0..later.saturating_sub(1)).rev() {
                let mut fewer = self.best.clone();
                fewer.steps.remove(later);
                fewer.steps.remove(earlier);
                if self.try_this(fewer) {
                    return true;
                }
            }
        }
        false
    }

    /// Says each step more simply, from the last on, for as long as it can be.
    fn simplify_steps(&mut self) -> bool {
        let mut is_simpler = false;
        for at in (0..self.best.steps.len()).rev() {
            while self.simplify(|best| {
                best.steps[at].simpler().into_iter().map(move |step| with_step(best, at, step)).collect()
            }) {
                is_simpler = true;
            }
        }
        is_simpler
    }

    fn simplify_world(&mut self) -> bool {
        let mut is_simpler = false;
        while self.simplify(|best| {
            let worlds = best.world.simpler().into_iter();
            worlds.map(|world| Schedule { world, ..best.clone() }).collect()
        }) {
            is_simpler = true;
        }
        is_simpler
    }

    /// Takes the first that will do.
    fn simplify(&mut self, others: impl FnOnce(&Schedule) -> Vec<Schedule>) -> bool {
        let others = others(&self.best);
        others.into_iter().any(|other| self.try_this(other))
    }

    /// Moves each crash before the step in front of it, for as long as it can be.
    fn crash_earlier(&mut self) -> bool {
        let mut is_simpler = false;
        for from in 1..self.best.steps.len() {
            let mut at = from;
            while at > 0 && self.best.steps[at].is_crash() {
                let mut other = self.best.clone();
                other.steps.swap(at - 1, at);
                if !self.try_this(other) {
                    break;
                }
                is_simpler = true;
                at -= 1;
            }
        }
        is_simpler
    }

    fn rename(&mut self) -> bool {
        let other = renamed(&self.best);
        self.try_this(other)
    }
}

fn with_step(schedule: &Schedule, at: usize, step: Step) -> Schedule {
    let mut other = schedule.clone();
    other.steps[at] = step;
    other
}

/// Whether the schedule is one that a file can hold.
fn is_readable(schedule: &Schedule) -> bool {
    let read = parse("shrunk", &print_schedule("shrunk", None, schedule));
    read.is_ok_and(|read| read.schedule == *schedule)
}

#[cfg(test)]
mod tests;
