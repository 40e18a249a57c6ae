//! One schedule again, closely watched: twice, and once without each of its faults.

use std::collections::BTreeSet;

use super::counterfactual::{Suspect, suspects, without};
use super::difference::{Difference, first_difference};
use super::ending::FailureClass;
use super::explain::{Explanation, explain};
use super::one::{Counterfactual, counterfactuals, panicked, run_watched};
use super::panics::{Panicked, catch};
use super::tally::Tally;
use crate::oracle::sample::Sample;
use crate::oracle::{Check, Value, Violation};
use crate::schedule::Schedule;
use crate::world::{Arena, Failure, Report, Watch, WorldImage, run};

/// What is known of a world that is replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Digest of the world.
    pub digest: Option<u64>,
    /// The check that failed.
    pub check: Option<String>,
    /// Where it broke.
    pub recovery_step: Option<String>,
}

impl Expected {
    /// The class of the failure that is known, if it is among `failures`, and else that of the first one.
    pub fn class_in(&self, failures: &[Failure]) -> Option<FailureClass> {
        self.failure_in(failures).map(FailureClass::of)
    }

    /// The failure that is known, if it is among `failures`, and else the first one.
    pub fn failure_in<'a>(&self, failures: &'a [Failure]) -> Option<&'a Failure> {
        let is_known = |failure: &&Failure| {
            let is_check = self.check.as_deref().is_some_and(|check| failure.violation.check.code() == check);
            is_check && self.recovery_step.as_deref().is_none_or(|step| failure.recovery_step == step)
        };
        failures.iter().find(is_known).or_else(|| failures.first())
    }
}

/// Whether a replay shows what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reproduced {
    /// It does.
    Yes,
    /// Nothing fails.
    No,
    /// Something fails in another way, or all of it happens otherwise.
    Differs,
    /// Nothing is known.
    Unknown,
}

impl Reproduced {
    /// The permanent word.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Differs => "differs",
            Self::Unknown => "unknown",
        }
    }
}

/// What a replay came to.
#[derive(Debug)]
pub struct Replayed {
    /// The schedule that ran, without the faults that were left out.
    pub schedule: Schedule,
    /// The step behind which it ended, if one was asked for.
    pub until: Option<u32>,
    /// The world.
    pub report: Report,
    /// Where a second run of it parted from the first.
    pub difference: Option<Difference>,
    /// The world without each of its faults.
    pub counterfactuals: Vec<Counterfactual>,
    /// Why it failed, if it did.
    pub explanation: Option<Explanation>,
    /// Whether a panic of the harness itself ended it.
    pub is_harness_bug: bool,
}

impl Replayed {
    /// The kinds of the faults that the failure which is explained needs, each once.
    pub fn culprits(&self) -> Vec<&'static str> {
        let needed = self.counterfactuals.iter().filter(|counterfactual| counterfactual.is_culprit);
        let kinds: BTreeSet<&'static str> =
            needed.map(|counterfactual| counterfactual.suspect.kind.code()).collect();
        kinds.into_iter().collect()
    }
}

/// The schedule without the faults that `faults` name.
///
/// # Errors
///
/// When a name names no fault of the schedule; it holds those that there are.
pub fn narrowed(schedule: &Schedule, faults: &[String]) -> Result<Schedule, String> {
    let all = suspects(schedule);
    let mut left_out: Vec<Suspect> = Vec::new();
    for name in faults {
        let named: Vec<Suspect> = all.iter().filter(|suspect| suspect.is_named(name)).copied().collect();
        if named.is_empty() {
            let known: Vec<String> = all.iter().map(Suspect::to_string).collect();
            let hint = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("the schedule has no fault {name}\nhint: it has {hint}"));
        }
        left_out.extend(named);
    }
    Ok(without(schedule, &left_out))
}

/// Runs a schedule, up to the end of a step if one is asked for, and again on the memory that it leaves
/// behind, and without each of its faults; then says why it failed.
///
/// # Examples
///
/// ```
/// use sim::oracle::sample::Sample;
/// use sim::run::replay::{Expected, Reproduced, replay};
/// use sim::schedule::parse;
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
/// // What is known of it: the check that failed.
/// let expected = Expected { check: Some("expect".to_owned()), ..Expected::default() };
/// let replayed = replay(schedule, (Sample::EVERYTHING, None), &expected, None);
/// assert_eq!(replayed.reproduced(&expected), Reproduced::Yes);
/// assert_eq!(replayed.difference, None, "a second run went as the first");
/// // Without the flip the partition is served, and the story holds.
/// let culprits: Vec<&str> = replayed
///     .counterfactuals
///     .iter()
///     .filter(|without| without.is_culprit)
///     .map(|without| without.suspect.kind.code())
///     .collect();
/// assert_eq!(culprits, ["bit-flip"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn replay(
    schedule: Schedule,
    (sample, until): (Sample, Option<u32>),
    expected: &Expected,
    image: Option<&'static WorldImage>,
) -> Replayed {
    let mut arena = Arena::on(image);
    let watch = Watch { until, ..Watch::of(sample) };
    let (report, difference, is_harness_bug) = twice(&schedule, &mut arena, watch);
    let whole = run_watched(&mut arena, &schedule, watch);
    let counterfactuals = counterfactuals(&mut arena, &schedule, watch, &whole);
    let mut replayed =
        Replayed { schedule, until, report, difference, counterfactuals, explanation: None, is_harness_bug };
    replayed.explanation = explain(&mut arena, &replayed, sample, expected);
    replayed
}

/// Runs a schedule, and again on the memory that it leaves behind: the world, where the second run parted
/// from it, and whether a panic of the harness itself ended it.
///
/// # Examples
///
/// ```
/// use sim::oracle::sample::Sample;
/// use sim::run::replay::twice;
/// use sim::schedule::generate::{Knobs, SizeKnob, generate_seed};
/// use sim::world::{Arena, Watch};
///
/// let schedule = generate_seed(7, Knobs { size: SizeKnob::Small, ..Knobs::default() });
/// let (report, difference, is_harness_bug) =
///     twice(&schedule, &mut Arena::new(), Watch::of(Sample::EVERYTHING));
/// assert_eq!((report.failures.len(), difference, is_harness_bug), (0, None, false));
/// // Each event belongs to a step, and the last one to the last step of the schedule.
/// let last = report.events.last().expect("something happened");
/// assert_eq!(last.step as usize, schedule.steps.len() - 1);
/// ```
pub fn twice(schedule: &Schedule, arena: &mut Arena, watch: Watch) -> (Report, Option<Difference>, bool) {
    let (mut report, is_harness_bug) = watched(schedule, arena, watch);
    let (again, _) = watched(schedule, arena, watch);
    let difference = first_difference(&report.events, &again.events);
    if difference.is_some() || again.outcome != report.outcome {
        report.failures.push(nondeterminism(&report, &again));
    }
    (report, difference, is_harness_bug)
}

fn watched(schedule: &Schedule, arena: &mut Arena, watch: Watch) -> (Report, bool) {
    let mut tally = Tally::default();
    match catch(|| run(schedule, arena, &mut tally, Watch { keeps_events: true, ..watch })) {
        Ok(report) => (report, false),
        Err(panic) => {
            arena.renew();
            (panicked(&panic), Panicked::is_harness_bug(&panic))
        }
    }
}

fn nondeterminism(first: &Report, second: &Report) -> Failure {
    let (expected, actual) = (Value::Number(first.digest), Value::Number(second.digest));
    let violation = Violation::new(Check::Nondeterminism, "the digest of a second run", expected, actual);
    Failure {
        violation,
        partition: None,
        remark: None,
        varied: None,
        node: 0,
        step: 0,
        recovery_step: "decide",
    }
}

impl Replayed {
    /// The class of the first failure.
    pub fn class(&self) -> Option<FailureClass> {
        self.report.failures.first().map(FailureClass::of)
    }

    /// Whether it goes on behind the last step: a world with hosts does, until all is well.
    pub fn has_rest(&self) -> bool {
        let end = self.schedule.steps.len();
        let is_whole = self.until.is_none_or(|until| until as usize >= end);
        is_whole && self.schedule.needs_host()
    }

    /// Whether it shows what is known of the world.
    pub fn reproduced(&self, expected: &Expected) -> Reproduced {
        // What is recorded is of the whole world: of a part of it only a failure can be held against that.
        let is_part = self.until.is_some_and(|until| (until as usize) < self.schedule.steps.len());
        let class = self.class();
        let differs = |known: Option<&String>, found: fn(FailureClass) -> &'static str| {
            known.is_some_and(|known| class.is_some_and(|class| found(class) != known))
        };
        let is_other = differs(expected.check.as_ref(), |class| class.check.code())
            || differs(expected.recovery_step.as_ref(), |class| class.recovery_step)
            || (!is_part && expected.digest.is_some_and(|digest| digest != self.report.digest));
        match (&expected.check, class) {
            (None, _) if expected.digest.is_none() => Reproduced::Unknown,
            (_, None) if is_part => Reproduced::Unknown,
            (Some(_), None) => Reproduced::No,
            (Some(_), Some(_)) | (None, _) if is_other => Reproduced::Differs,
            (Some(_), Some(_)) | (None, _) => Reproduced::Yes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::generate::{Knobs, SizeKnob, generate_seed};

    fn schedule() -> Schedule {
        let knobs = Knobs { size: SizeKnob::Small, ..Knobs::default() };
        let seeds = (0..100).map(|seed| generate_seed(seed, knobs));
        seeds.into_iter().find(|schedule| suspects(schedule).len() > 2).expect("some seed has faults")
    }

    #[test]
    fn a_replay_is_narrowed_by_fault_and_ends_behind_a_step() {
        let whole = schedule();
        assert_eq!(narrowed(&whole, &[]), Ok(whole.clone()));
        let ended = replay(whole.clone(), (Sample::EVERYTHING, Some(2)), &Expected::default(), None);
        assert_eq!(ended.report.events.last().map(|event| event.step), Some(2));
        let first = suspects(&whole)[0];
        let narrower = narrowed(&whole, &[first.to_string()]).expect("it is there");
        assert_eq!(narrower, without(&whole, &[first]));
    }

    #[test]
    fn a_fault_that_is_not_there_is_told_with_those_that_are() {
        let error = narrowed(&schedule(), &["gamma-ray".to_owned()]).expect_err("no such fault");
        assert!(error.starts_with("the schedule has no fault gamma-ray\nhint: it has "), "{error}");
    }

    #[test]
    fn a_world_is_the_same_on_memory_that_held_another_one() {
        let replayed = replay(schedule(), (Sample::EVERYTHING, None), &Expected::default(), None);
        assert_eq!(replayed.difference, None);
        assert_eq!(replayed.reproduced(&Expected::default()), Reproduced::Unknown);
        let digest = Some(replayed.report.digest);
        assert_eq!(replayed.reproduced(&Expected { digest, ..Expected::default() }), Reproduced::Yes);
        let check = Some("I06".to_owned());
        assert_eq!(replayed.reproduced(&Expected { check, ..Expected::default() }), Reproduced::No);
    }
}
