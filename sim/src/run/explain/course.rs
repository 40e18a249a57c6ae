//! What lay in every log around each crash, each fault and each start of a schedule.
//!
//! Promises: each moment is that of a world of its own which ends there; right before a crash inside a step it
//! is that of the world in which the process alone ends there. Leaves out: nodes that the step is not of.

use recovery_core::units::{Namespace, SegmentStart};

use super::moments::{Moment, ended_gently, logs, partitions_behind};
use crate::schedule::{Action, Schedule, Step};
use crate::world::{Arena, NodeLeft};

/// A log of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogKey {
    /// The node, counted from 0.
    pub node: u8,
    /// Which partition.
    pub namespace: Namespace,
    /// The segment's start.
    pub segment: SegmentStart,
}

/// The logs of a step's node around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Around {
    /// Right before the step's crash, if it has one.
    pub before_crash: Option<Vec<(LogKey, Moment)>>,
    /// When the step is over.
    pub after: Vec<(LogKey, Moment)>,
}

/// What lay there around each step of a schedule, in order; `None` around a step that neither ends a node,
/// nor damages anything, nor lets recovery act.
pub fn course(arena: &mut Arena, schedule: &Schedule) -> Vec<Option<Around>> {
    let around = |(at, step): (usize, &Step)| {
        if !is_shown(step) {
            return None;
        }
        let until = u32::try_from(at).expect("a schedule is short");
        let goes_down = step.crashes().next().is_some();
        let mut logs_of = |schedule: &Schedule| {
            let left = partitions_behind(arena, schedule, Some(until));
            left.get(usize::from(step.node.0)).map_or_else(Vec::new, |left| of_node(step.node.0, left))
        };
        let before_crash = goes_down.then(|| logs_of(&ended_gently(schedule, at)));
        Some(Around { before_crash, after: logs_of(schedule) })
    };
    schedule.steps.iter().enumerate().map(around).collect()
}

/// Whether a step may change what lies in a log otherwise than by a client's call that goes well.
fn is_shown(step: &Step) -> bool {
    let acts = match &step.action {
        Action::Crash(_)
        | Action::Fault { .. }
        | Action::Plant(_)
        | Action::Start
        | Action::Delete(_)
        | Action::Reconcile
        | Action::AcceptLoss(_)
        | Action::Transfer { .. } => true,
        Action::Append(_)
        | Action::Flush(_)
        | Action::Roll(_)
        | Action::Checkpoint(_)
        | Action::Retain(_)
        | Action::Stop
        | Action::Poll(_)
        | Action::Evict(_)
        | Action::Create(_)
        | Action::Confirm(_)
        | Action::QueueInsert(_)
        | Action::ApplyInserts
        | Action::Link(_)
        | Action::Expect(_)
        | Action::Either(_) => false,
    };
    acts || !step.interruptions.is_empty()
}

fn of_node(node: u8, left: &NodeLeft) -> Vec<(LogKey, Moment)> {
    let partitions = left.partitions.iter().flat_map(|partition| {
        let namespace = partition.namespace;
        logs(partition)
            .into_iter()
            .map(move |(segment, moment)| (LogKey { node, namespace, segment }, moment))
    });
    partitions.collect()
}
