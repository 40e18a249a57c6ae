//! One seed: generate, run, catch a panic, and now and then run it again, whole or short of one fault.

use super::counterfactual::{Suspect, suspects, without};
use super::difference::{Difference, first_difference};
use super::ending::{Ending, FailureClass};
use super::panics::{Panicked, catch};
use super::tally::Tally;
use crate::oracle::sample::{Checks, Sample};
use crate::oracle::{Check, Value, Violation};
use crate::schedule::Schedule;
use crate::schedule::generate::{Knobs, generate, generate_on};
use crate::schedule::tape::Tape;
use crate::world::meter::Phase;
use crate::world::{Arena, Failure, Report, Watch, WorldImage, run};

/// What one schedule came to.
#[derive(Debug)]
pub struct Outcome {
    /// Digest of everything that happened; 0 if a panic ended it.
    pub digest: u64,
    /// Digest of what a reviewer cares about; 0 if a panic ended it.
    pub outcome: u64,
    /// What went wrong, in order.
    pub failures: Vec<Failure>,
    /// Whether a panic of the harness itself ended the world.
    pub is_harness_bug: bool,
    /// Whether it was run twice.
    pub is_rerun: bool,
    /// Fault kinds without one of which the first failure would not be there; each once, sorted.
    pub culprits: Vec<&'static str>,
    /// Where a second run parted from the first, if it did and a third and fourth did again.
    pub difference: Option<Difference>,
    /// What it reached.
    pub tally: Tally,
}

/// The schedule of a seed.
pub fn schedule_of(seed: u64, knobs: Knobs, image: Option<&WorldImage>) -> Schedule {
    schedule_on(&mut Tape::from_seed(seed), knobs, image)
}

fn schedule_on(tape: &mut Tape, knobs: Knobs, image: Option<&WorldImage>) -> Schedule {
    match image {
        Some(image) => generate_on(tape, knobs, image.shape()),
        None => generate(tape, knobs),
    }
}

/// Which sampled checks the world of a seed runs.
pub fn sample_of(seed: u64, checks: Checks) -> Sample {
    checks.of(&mut Tape::from_seed(seed))
}

/// Runs one seed on a thread's arena.
///
/// # Examples
///
/// ```
/// use sim::oracle::sample::Checks;
/// use sim::run::one::run_seed;
/// use sim::schedule::generate::Knobs;
/// use sim::world::Arena;
///
/// let mut arena = Arena::new();
/// let outcome = run_seed(&mut arena, 7, Knobs::default(), Checks::Default);
/// // The same seed is the same world, whatever memory it runs in.
/// assert_eq!(outcome.digest, run_seed(&mut Arena::new(), 7, Knobs::default(), Checks::Default).digest);
/// assert_eq!(outcome.failures, []);
/// ```
pub fn run_seed(arena: &mut Arena, seed: u64, knobs: Knobs, checks: Checks) -> Outcome {
    arena.meter.enter(Phase::Generate);
    let mut tape = Tape::from_seed(seed);
    let schedule = schedule_on(&mut tape, knobs, arena.image);
    run_checked(arena, &schedule, checks.of(&mut tape))
}

/// Runs one schedule, and again as its sample says; every failure is run again, and compared with itself
/// short of each of its faults.
///
/// # Examples
///
/// ```
/// use sim::oracle::sample::Sample;
/// use sim::run::one::run_checked;
/// use sim::schedule::parse;
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
/// }
/// "#;
/// let schedule = parse("flip.kdl", text)?.schedule;
/// let outcome = run_checked(&mut Arena::new(), &schedule, Sample::EVERYTHING);
/// // The core refuses it, as it must, so no check fails; and short of the flip the world ends otherwise.
/// assert_eq!(outcome.failures, []);
/// assert_eq!(outcome.tally.verdicts.get("lost-durable"), Some(&1));
/// assert_eq!(outcome.tally.faults["bit-flip"].decisive, 1);
/// assert!(outcome.is_rerun);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_checked(arena: &mut Arena, schedule: &Schedule, sample: Sample) -> Outcome {
    let mut outcome = run_schedule(arena, schedule, sample);
    outcome.tally.pair();
    let has_failed = !outcome.failures.is_empty();
    if sample.is_compared() || has_failed {
        // What another program says changes no end of a world; only its own failures are looked for again.
        let trial = if has_failed { None } else { arena.trial.take() };
        blame(arena, schedule, sample, &mut outcome);
        arena.trial = trial.or_else(|| arena.trial.take());
    }
    if sample.is_rerun() || has_failed {
        let again = run_schedule(arena, schedule, sample);
        if !hold_to_second_run(&mut outcome, &again) {
            outcome.difference = part(arena, schedule, sample);
        }
    }
    outcome.tally.belong_to(schedule.world.regime);
    outcome
}

/// Notes that a world was run twice, and whether the second run was the same; says so, too.
pub(crate) fn hold_to_second_run(outcome: &mut Outcome, again: &Outcome) -> bool {
    outcome.is_rerun = true;
    let is_same = (again.digest, again.outcome) == (outcome.digest, outcome.outcome);
    if !is_same {
        outcome.failures.push(nondeterminism(outcome, again));
        outcome.tally.violations.insert(Check::Nondeterminism, 1);
    }
    is_same
}

/// Runs one schedule once; a panic in it is a failure of the check `panic`.
///
/// # Examples
///
/// ```
/// use sim::oracle::Check;
/// use sim::oracle::sample::Sample;
/// use sim::run::one::run_schedule;
/// use sim::schedule::parse;
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
/// let outcome = run_schedule(&mut Arena::new(), &schedule, Sample::EVERYTHING);
/// // What the story expects of the start is wrong. Steps are counted from 0.
/// let failure = outcome.failures.first().expect("it is refused");
/// assert_eq!((failure.violation.check, failure.step), (Check::Expect, 5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_schedule(arena: &mut Arena, schedule: &Schedule, sample: Sample) -> Outcome {
    run_watched(arena, schedule, Watch::of(sample))
}

/// The same, watched as asked.
pub fn run_watched(arena: &mut Arena, schedule: &Schedule, watch: Watch) -> Outcome {
    outcome_of(arena, |arena, tally| run(schedule, arena, tally, watch))
}

/// What a world came to that `run` runs.
pub(crate) fn outcome_of(arena: &mut Arena, run: impl FnOnce(&mut Arena, &mut Tally) -> Report) -> Outcome {
    let mut tally = Tally::default();
    let ended = catch(|| run(arena, &mut tally));
    let (report, is_harness_bug) = match ended {
        Ok(report) => (report, false),
        Err(panic) => {
            // Whatever the arena held belongs to the world that panicked.
            arena.renew();
            tally.worlds = 1;
            (panicked(&panic), panic.is_harness_bug())
        }
    };
    let mut checks: Vec<Check> = report.failures.iter().map(|failure| failure.violation.check).collect();
    checks.sort_unstable();
    checks.dedup();
    tally.violations.extend(checks.into_iter().map(|check| (check, 1)));
    Outcome {
        digest: report.digest,
        outcome: report.outcome,
        failures: report.failures,
        is_harness_bug,
        is_rerun: false,
        culprits: Vec::new(),
        difference: None,
        tally,
    }
}

/// What one schedule shows whoever watches it; `None` if a panic ended it.
pub fn report_of(arena: &mut Arena, schedule: &Schedule, watch: Watch) -> Option<Report> {
    let mut tally = Tally::default();
    let ended = catch(|| run(schedule, arena, &mut tally, watch));
    if ended.is_err() {
        arena.renew();
    }
    ended.ok()
}

/// Where two runs of a schedule part, on memory that held nothing and on memory that held other worlds.
fn part(arena: &mut Arena, schedule: &Schedule, sample: Sample) -> Option<Difference> {
    let mut tally = Tally::default();
    let watch = Watch { keeps_events: true, ..Watch::of(sample) };
    let mut events = |arena: &mut Arena| catch(|| run(schedule, arena, &mut tally, watch).events);
    let (Ok(first), Ok(second)) = (events(&mut Arena::on(arena.image)), events(arena)) else {
        arena.renew();
        return None;
    };
    first_difference(&first, &second)
}

/// One fault of a world, and how the world ended without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counterfactual {
    /// The fault that was left out.
    pub suspect: Suspect,
    /// How the world ended.
    pub ending: Ending,
    /// Whether that is another end.
    pub is_decisive: bool,
    /// Whether the first failure of the whole world is gone.
    pub is_culprit: bool,
    /// Whether the harness itself panicked in it.
    pub is_harness_bug: bool,
}

/// The world without each of its faults that were applied at all.
pub fn counterfactuals(
    arena: &mut Arena,
    schedule: &Schedule,
    watch: Watch,
    whole: &Outcome,
) -> Vec<Counterfactual> {
    let ending = Ending::of(whole);
    let class = FailureClass::first(whole);
    // A world that a panic ended has not counted its faults.
    let is_applied =
        |suspect: &Suspect| whole.digest == 0 || whole.tally.faults.contains_key(suspect.kind.code());
    suspects(schedule)
        .into_iter()
        .filter(is_applied)
        .map(|suspect| {
            let other = run_watched(arena, &without(schedule, &[suspect]), watch);
            Counterfactual {
                suspect,
                ending: Ending::of(&other),
                is_decisive: Ending::of(&other) != ending,
                is_culprit: class.is_some_and(|class| !class.is_in(&other)),
                is_harness_bug: other.is_harness_bug,
            }
        })
        .collect()
}

/// Counts which faults were decisive, and keeps those that a failure needs.
fn blame(arena: &mut Arena, schedule: &Schedule, sample: Sample, outcome: &mut Outcome) {
    // Where nothing has failed, the ends are compared and nothing else.
    let sample = if outcome.failures.is_empty() { Sample::NOTHING } else { sample };
    for counterfactual in counterfactuals(arena, schedule, Watch::of(sample), outcome) {
        let kind = counterfactual.suspect.kind.code();
        if counterfactual.is_decisive {
            outcome.tally.faults.entry(kind).or_default().decisive += 1;
        }
        if counterfactual.is_culprit {
            outcome.culprits.push(kind);
        }
        outcome.tally.counterfactuals += 1;
        if counterfactual.is_harness_bug {
            outcome.is_harness_bug = true;
            outcome.failures.push(broken(counterfactual.suspect));
        }
    }
    outcome.culprits.sort_unstable();
    outcome.culprits.dedup();
}

/// The report of a world that a panic ended.
pub fn panicked(panic: &Panicked) -> Report {
    let violation = Violation::new(Check::Panic, "a world", Value::Code("over"), Value::Code("a panic"));
    let failure = harness(violation, format!("{} at {}", panic.text, panic.place));
    Report { digest: 0, outcome: 0, failures: vec![failure], events: Vec::new(), told: None, moment: None }
}

fn nondeterminism(first: &Outcome, again: &Outcome) -> Failure {
    let (subject, first, again) = if first.digest == again.digest {
        ("the outcome of a second run", first.outcome, again.outcome)
    } else {
        ("the digest of a second run", first.digest, again.digest)
    };
    let (first, again) = (Value::Number(first), Value::Number(again));
    let violation = Violation::new(Check::Nondeterminism, subject, first, again);
    harness(violation, "the same schedule on the same arena ended otherwise".to_owned())
}

fn broken(suspect: Suspect) -> Failure {
    let violation = Violation::new(Check::Panic, "a world", Value::Code("over"), Value::Code("a panic"));
    harness(violation, format!("the harness panicked in the same world without {suspect}"))
}

fn harness(violation: Violation, remark: String) -> Failure {
    Failure {
        violation,
        partition: None,
        remark: Some(remark),
        varied: None,
        node: 0,
        step: 0,
        recovery_step: "decide",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::parse;

    /// A world in which one fault changes the verdict, and another one nothing.
    fn schedule() -> Schedule {
        let text = r#"
scenario "one fault decides" version=1
world filesystem="xfs" regime="unlimited" {
    partition "1/1/0" durability="synced"
}
steps {
    append "1/1/0" batch=0 count=3
    flush "1/1/0"
    crash "process"
    fault "bit-flip" "1/1/0" batch=1 field="frame.0.payload" bit=3
    start { fault "short-read" on="read" call=1 bytes=7; }
}
"#;
        parse("one.kdl", text).expect("the text reads").schedule
    }

    #[test]
    fn the_fault_that_decides_a_world_is_told_from_the_one_that_does_not() {
        let (mut arena, schedule) = (Arena::new(), schedule());
        let whole = run_schedule(&mut arena, &schedule, Sample::EVERYTHING);
        assert_eq!(whole.failures, []);
        assert_eq!(whole.tally.verdicts.get("lost-durable"), Some(&1));
        let found = counterfactuals(&mut arena, &schedule, Watch::of(Sample::EVERYTHING), &whole);
        let decisive: Vec<(String, bool)> =
            found.iter().map(|other| (other.suspect.to_string(), other.is_decisive)).collect();
        assert_eq!(decisive, [("bit-flip@3".to_owned(), true), ("short-read@4.0".to_owned(), false)]);
        let checked = run_checked(&mut arena, &schedule, Sample::EVERYTHING);
        let flips = checked.tally.faults["bit-flip"];
        assert_eq!((flips.injected, flips.read, flips.decisive), (1, 1, 1));
        assert_eq!((checked.is_rerun, checked.digest, checked.culprits.len()), (true, whole.digest, 0));
    }
}
