//! A failing schedule made shorter: steps, faults and crashes are dropped as long as it still fails alike.
//!
//! Promises: what is left fails by the same check in the same recovery step, and was run to know it; no
//! step is changed, only dropped, so each says what it said. Leaves out: making numbers smaller.

use super::ending::FailureClass;
use super::one::run_schedule;
use crate::oracle::sample::Sample;
use crate::schedule::{Action, Interruption, Schedule};
use crate::world::Arena;

/// How large a schedule is (CONTRACTS 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Steps, and crashes and faults inside them; expectations do not count.
    pub steps: usize,
    /// Those of them that are faults.
    pub faults: usize,
}

impl Extent {
    /// The size of a schedule.
    pub fn of(schedule: &Schedule) -> Self {
        let faults = schedule.steps.iter().map(|step| {
            let inside = step.interruptions.iter().filter(|found| matches!(found, Interruption::Fault(_)));
            inside.count() + usize::from(matches!(step.action, Action::Fault { .. }))
        });
        Self { steps: schedule.step_count() + schedule.interruption_count(), faults: faults.sum() }
    }
}

/// What shrinking came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The shortest schedule that was found.
    pub schedule: Schedule,
    /// How it fails.
    pub class: FailureClass,
    /// Worlds that were run.
    pub runs: u64,
}

/// Shortens a schedule until nothing more can be dropped, `runs` worlds were run, or `is_over`. `None` if it
/// does not fail.
pub fn shrink(
    mut arena: Arena,
    schedule: &Schedule,
    sample: Sample,
    runs: u64,
    is_over: impl Fn() -> bool,
) -> Option<Shrunk> {
    let outcome = run_schedule(&mut arena, schedule, sample);
    let class = FailureClass::first(&outcome)?;
    let mut shrinking = Shrinking {
        arena,
        sample,
        class,
        best: schedule.clone(),
        runs: 1,
        runs_max: runs,
        is_over: &is_over,
    };
    // What comes behind the failure cannot have caused it. A panic does not say in which step it was.
    let behind = outcome.failures[0].step as usize + 1;
    shrinking.try_without(behind..schedule.steps.len());
    // Every pass that changes something makes the schedule shorter.
    while shrinking.drop_steps() | shrinking.drop_interruptions() {}
    Some(Shrunk { schedule: shrinking.best, class, runs: shrinking.runs })
}

struct Shrinking<'a> {
    arena: Arena,
    sample: Sample,
    class: FailureClass,
    best: Schedule,
    runs: u64,
    runs_max: u64,
    is_over: &'a dyn Fn() -> bool,
}

impl Shrinking<'_> {
    /// Takes a schedule if it fails alike.
    fn try_this(&mut self, schedule: Schedule) -> bool {
        if self.runs >= self.runs_max || (self.is_over)() {
            return false;
        }
        self.runs += 1;
        let outcome = run_schedule(&mut self.arena, &schedule, self.sample);
        let is_alike = FailureClass::first(&outcome) == Some(self.class);
        if is_alike {
            self.best = schedule;
        }
        is_alike
    }

    fn try_without(&mut self, steps: std::ops::Range<usize>) -> bool {
        if steps.is_empty() {
            return false;
        }
        let mut shorter = self.best.clone();
        shorter.steps.drain(steps);
        self.try_this(shorter)
    }

    /// Drops runs of steps, long ones first, from the end on.
    fn drop_steps(&mut self) -> bool {
        let mut is_shorter = false;
        let mut length = self.best.steps.len().div_ceil(2);
        while length > 0 {
            let mut end = self.best.steps.len();
            while end > 0 {
                let start = end.saturating_sub(length);
                is_shorter |= self.try_without(start..end);
                end = start;
            }
            length /= 2;
        }
        is_shorter
    }

    /// Drops the crashes and faults inside steps, all of a step's first, then one by one.
    fn drop_interruptions(&mut self) -> bool {
        let mut is_shorter = false;
        for step in (0..self.best.steps.len()).rev() {
            let count = self.best.steps[step].interruptions.len();
            if count > 1 {
                let mut shorter = self.best.clone();
                shorter.steps[step].interruptions.clear();
                is_shorter |= self.try_this(shorter);
            }
            for at in (0..self.best.steps[step].interruptions.len()).rev() {
                let mut shorter = self.best.clone();
                shorter.steps[step].interruptions.remove(at);
                is_shorter |= self.try_this(shorter);
            }
        }
        is_shorter
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::generate::{Knobs, generate_seed};

    #[test]
    fn a_schedule_that_holds_is_not_shrunk() {
        let schedule = generate_seed(1, Knobs::default());
        assert_eq!(shrink(Arena::new(), &schedule, Sample::EVERYTHING, 100, || false), None);
    }

    #[test]
    fn steps_and_what_is_inside_them_count_and_expectations_do_not() {
        let text = r#"
scenario "counted" version=1
world filesystem="xfs" regime="unlimited" {
    partition "1/1/0" durability="buffered"
}
steps {
    append "1/1/0" batch=0 count=7
    flush "1/1/0" {
        fault "short-write" call=1
        crash "power" call=2 survive="none"
    }
    fault "noise" "1/1/0" batch=1
    start
    expect "1/1/0" disposition="serve"
}
"#;
        let schedule = crate::schedule::parse("counted.kdl", text).expect("the text reads").schedule;
        assert_eq!(Extent::of(&schedule), Extent { steps: 6, faults: 2 });
    }
}
