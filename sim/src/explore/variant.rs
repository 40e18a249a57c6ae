//! One variant of a schedule: its beginning, what goes wrong, and its rest.

use recovery_core::units::Offset;

use crate::schedule::{Action, Crash, Interruption, NodeId, Poll, Schedule, Step};

/// Messages that the last polls ask for: more than any schedule holds.
const ALL_MESSAGES: u32 = 100_000;

/// The schedule without what only looks: expectations hold for it alone, and not for its variants.
pub(super) fn plain(schedule: &Schedule) -> Schedule {
    let mut plain = schedule.clone();
    plain.steps.retain(|step| !step.is_expectation());
    plain
}

/// A schedule that goes on, behind what is given of it, with a start, with `rest`, and with one more start
/// of a whole life: whatever went wrong has had its chance to show.
pub(super) fn continued(beginning: &Schedule, rest: &[Step]) -> Schedule {
    let mut whole = beginning.clone();
    let node = beginning.steps.last().map_or_else(NodeId::default, |step| step.node);
    whole.steps.push(Step { node, ..Step::new(Action::Start) });
    whole.steps.extend_from_slice(rest);
    close(&mut whole);
    whole
}

/// Ends a schedule, on each node, with a crash of the process, a start, and a look at everything.
pub(super) fn close(schedule: &mut Schedule) {
    for node in (0..schedule.world.nodes).map(NodeId) {
        let mut push = |action| schedule.steps.push(Step { node, ..Step::new(action) });
        push(Action::Crash(Crash::Process));
        push(Action::Start);
        for partition in &schedule.world.partitions {
            push(Action::Poll(Poll {
                partition: partition.namespace,
                from: Offset::ZERO,
                count: ALL_MESSAGES,
            }));
        }
    }
}

/// The steps before `step`, and that one with something more inside it.
pub(super) fn interrupted(plain: &Schedule, step: usize, interruption: Interruption) -> Schedule {
    let mut beginning = Schedule { world: plain.world.clone(), steps: plain.steps[..=step].to_vec() };
    beginning.steps[step].interruptions.push(interruption);
    beginning
}
