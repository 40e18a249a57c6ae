//! What each step of a schedule asks of its disk.
//!
//! Promises: the K-th call here is the one that `call=K` inside the step means. Leaves out: the calls that
//! partitions are made with before the first step, and in a world with hosts what nodes do by themselves behind a step.

use recovery_core::storage::Call;

use crate::oracle::sample::Sample;
use crate::run::one::report_of;
use crate::schedule::Schedule;
use crate::world::event::EventCode;
use crate::world::{Arena, Watch};

/// The storage calls of every step, in order; `None` if the world came to no end.
pub(super) fn count(arena: &mut Arena, schedule: &Schedule, sample: Sample) -> Option<Vec<Vec<Call>>> {
    let watch = Watch { keeps_events: true, ..Watch::of(sample) };
    let report = report_of(arena, schedule, watch)?;
    let own_ends = report.told.map(|told| told.own_ends).unwrap_or_default();
    let mut steps = vec![Vec::new(); schedule.steps.len()];
    for (at, event) in (0_u64..).zip(&report.events) {
        // What a world with hosts does behind its last step is no step.
        let Some(step) = schedule.steps.get(event.step as usize) else { continue };
        let is_own = event.node == step.node.0 && own_ends.get(&event.step).is_none_or(|end| at < *end);
        if is_own && matches!(event.code, EventCode::Call | EventCode::CallFailed) {
            let number = event.a & 0xff;
            let call = Call::ALL.into_iter().find(|call| *call as u64 == number);
            steps[event.step as usize].push(call.expect("an event names a call"));
        }
    }
    Some(steps)
}

/// The number of a call within its step, counted from 1.
pub(super) fn number(at: usize) -> u32 {
    u32::try_from(at + 1).expect("a step makes fewer than 2^32 calls")
}
