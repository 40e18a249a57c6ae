//! One seed: generate, run, catch a panic, and now and then run it again.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::oracle::sample::Sample;
use crate::oracle::{Check, Value, Violation};
use crate::run::tally::Tally;
use crate::schedule::Schedule;
use crate::schedule::generate::{Knobs, generate};
use crate::schedule::tape::Tape;
use crate::world::meter::Phase;
use crate::world::{Arena, Failure, Report, Watch, run};

/// What one seed came to.
#[derive(Debug)]
pub struct Outcome {
    /// Digest of the world.
    pub digest: u64,
    /// What went wrong, in order.
    pub failures: Vec<Failure>,
    /// Whether a panic of the harness itself ended the world.
    pub is_harness_bug: bool,
    /// Whether it was run twice.
    pub is_rerun: bool,
    /// What it reached.
    pub tally: Tally,
}

thread_local! {
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Lets panics be remembered with their place instead of printed. Once a process.
pub fn remember_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
        let text = info.payload_as_str().unwrap_or("a panic without a message").to_owned();
        PANIC.with_borrow_mut(|panic| *panic = Some((place, text)));
    }));
}

/// The schedule of a seed.
pub fn schedule_of(seed: u64, knobs: Knobs) -> Schedule {
    generate(&mut Tape::from_seed(seed), knobs)
}

/// Which sampled checks the world of a seed runs.
pub fn sample_of(seed: u64) -> Sample {
    Sample::draw(&mut Tape::from_seed(seed))
}

/// Runs one seed on a thread's arena.
pub fn run_seed(arena: &mut Arena, seed: u64, knobs: Knobs) -> Outcome {
    arena.meter.enter(Phase::Generate);
    let mut tape = Tape::from_seed(seed);
    let schedule = generate(&mut tape, knobs);
    let sample = Sample::draw(&mut tape);
    let mut outcome = run_schedule(arena, &schedule, sample);
    if sample.is_rerun() || !outcome.failures.is_empty() {
        let again = run_schedule(arena, &schedule, sample);
        outcome.is_rerun = true;
        if again.digest != outcome.digest {
            outcome.failures.push(nondeterminism(outcome.digest, again.digest));
        }
    }
    outcome
}

/// Runs one schedule; a panic in it is a failure of the check `panic`.
pub fn run_schedule(arena: &mut Arena, schedule: &Schedule, sample: Sample) -> Outcome {
    let mut tally = Tally::default();
    let watch = Watch { keeps_events: false, sample };
    let report = catch_unwind(AssertUnwindSafe(|| run(schedule, arena, &mut tally, watch)));
    let Ok(Report { digest, failures, .. }) = report else {
        // Whatever the arena held belongs to the world that panicked.
        *arena = Arena::new();
        tally.worlds += 1;
        *tally.violations.entry(Check::Panic).or_default() += 1;
        return Outcome { tally, ..panic_of_this_thread() };
    };
    for failure in &failures {
        *tally.violations.entry(failure.violation.check).or_default() += 1;
    }
    Outcome { digest, failures, is_harness_bug: false, is_rerun: false, tally }
}

/// What a world came to that ended in the panic this thread has just caught.
fn panic_of_this_thread() -> Outcome {
    let (place, text) = PANIC.with_borrow_mut(Option::take).unwrap_or_default();
    let is_harness_bug = place.starts_with("sim/");
    let failures = vec![panicked(&place, &text)];
    let tally = Tally::default();
    Outcome { digest: 0, failures, is_harness_bug, is_rerun: false, tally }
}

fn panicked(place: &str, text: &str) -> Failure {
    let violation = Violation::new(Check::Panic, "a world", Value::Code("over"), Value::Code("a panic"));
    harness(violation, format!("{text} at {place}"))
}

fn nondeterminism(first: u64, second: u64) -> Failure {
    let (first, second) = (Value::Number(first), Value::Number(second));
    let violation = Violation::new(Check::Nondeterminism, "the digest of a second run", first, second);
    harness(violation, "the same schedule on the same arena gave another digest".to_owned())
}

fn harness(violation: Violation, remark: String) -> Failure {
    Failure { violation, partition: None, remark: Some(remark), step: 0, recovery_step: "decide" }
}
