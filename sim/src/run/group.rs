//! The cause of a failure, by which failures are grouped: `<check>.<recovery step>.<fault kinds>`.

use std::collections::BTreeSet;

use crate::schedule::{Action, Interruption, Schedule};
use crate::world::Failure;

/// The id of the group that a failure of a schedule belongs to. The fault kinds are those that the schedule
/// holds up to the step that failed.
pub fn group_id(schedule: &Schedule, failure: &Failure) -> String {
    let kinds = fault_kinds(schedule, failure.step);
    let faults = if kinds.is_empty() { "none".to_owned() } else { kinds.join("+") };
    format!("{}.{}.{faults}", failure.violation.check.code(), failure.recovery_step)
}

/// The fault kinds of a schedule up to a step, each once, by name.
pub fn fault_kinds(schedule: &Schedule, step: u32) -> Vec<&'static str> {
    let mut kinds = BTreeSet::new();
    for step in schedule.steps.iter().take(step as usize + 1) {
        if let Action::Fault { fault, .. } = &step.action {
            kinds.insert(fault.kind.code());
        }
        for interruption in &step.interruptions {
            if let Interruption::Fault(inside) = interruption {
                kinds.insert(inside.fault.kind.code());
            }
        }
    }
    kinds.into_iter().collect()
}
