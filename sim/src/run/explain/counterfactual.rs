//! The same world in which a crash loses nothing.

use crate::oracle::sample::Sample;
use crate::run::ending::{Ending, FailureClass};
use crate::run::one::run_watched;
use crate::run::replay::Replayed;
use crate::schedule::{Action, Crash, Interruption, Schedule, Survival, Survivors};
use crate::world::{Arena, Failure, Watch};

/// A crash, and how the world ends if everything survives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashCounterfactual {
    /// The step.
    pub step: usize,
    /// Which of the step's crashes and faults; `None`: the step itself.
    pub child: Option<usize>,
    /// How the world ends.
    pub ending: Ending,
    /// Whether the failure is gone.
    pub is_needed: bool,
}

/// Every crash that loses something, up to the failure.
pub(super) fn crashes(
    arena: &mut Arena,
    replayed: &Replayed,
    sample: Sample,
    failure: &Failure,
) -> Vec<CrashCounterfactual> {
    let (schedule, class) = (&replayed.schedule, FailureClass::of(failure));
    let watch = Watch { until: replayed.until, ..Watch::of(sample) };
    let mut found = Vec::new();
    for (at, step) in schedule.steps.iter().enumerate().take(failure.step as usize + 1) {
        let own = [matches!(step.action, Action::Crash(_)).then_some(None)];
        let inside = step.interruptions.iter().enumerate();
        let inside =
            inside.map(|(child, found)| matches!(found, Interruption::Crash(_)).then_some(Some(child)));
        for child in own.into_iter().chain(inside).flatten() {
            let Some(other) = surviving(schedule, at, child) else { continue };
            let outcome = run_watched(arena, &other, watch);
            let (ending, is_needed) = (Ending::of(&outcome), !class.is_in(&outcome));
            found.push(CrashCounterfactual { step: at, child, ending, is_needed });
        }
    }
    found
}

/// The same schedule in which everything survives one crash; `None` if everything does anyway.
fn surviving(schedule: &Schedule, step: usize, child: Option<usize>) -> Option<Schedule> {
    let mut other = schedule.clone();
    let step = &mut other.steps[step];
    let crash = match (child, &mut step.action) {
        (None, Action::Crash(crash)) => crash,
        (None, _) => return None,
        (Some(child), _) => match &mut step.interruptions[child] {
            Interruption::Crash(inside) => &mut inside.crash,
            Interruption::Fault(_) => return None,
        },
    };
    match crash {
        Crash::Process => return None,
        Crash::Os(survival) | Crash::Power(survival) => *survival = Survival::of(Survivors::All),
    }
    (other != *schedule).then_some(other)
}
