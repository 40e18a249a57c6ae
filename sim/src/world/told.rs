//! What a world tells whoever watches closely: each start of a partition, and what its storage calls were
//! about. A timeline is made of it.
//!
//! Promises: kept beside the events, never in their digest. Leaves out: words ([`crate::report`]).

use std::collections::BTreeMap;

use recovery_core::decide::Verdict;
use recovery_core::observe::PartitionFacts;
use recovery_core::plan::Plan;
use recovery_core::storage::Call;
use recovery_core::units::{Namespace, Offset};

use super::boot::Boot;
use super::event::Event;
use super::poll::Reply;
use crate::disk::{Event as DiskEvent, Node, SimDisk, Strike, View};

/// A start of a partition, as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootTold {
    /// The node, counted from 0.
    pub node: u8,
    /// The step, counted from 0.
    pub step: u32,
    /// Which partition.
    pub namespace: Namespace,
    /// The facts; incomplete when the verdict is unavailable.
    pub facts: PartitionFacts,
    /// The verdict.
    pub verdict: Verdict,
    /// The plan, carried out unless something failed.
    pub plan: Plan,
    /// What the core says about it, if it does not simply serve.
    pub remark: Option<String>,
}

/// An answer to a client that read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerTold {
    /// The step, counted from 0.
    pub step: u32,
    /// Which partition.
    pub namespace: Namespace,
    /// The first offset that was asked for.
    pub from: Offset,
    /// What it was told.
    pub reply: Reply,
}

/// Everything that is told of a world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Starts of partitions, in order.
    pub boots: Vec<BootTold>,
    /// Answers to clients, in order.
    pub answers: Vec<AnswerTold>,
    /// Steps that were not there to be done, or held something that hit nothing.
    pub missed: Vec<u32>,
    /// How calls of clients failed, with their steps.
    pub errors: Vec<(u32, &'static str)>,
    /// Where the calls of a step's own node end, for steps of worlds with hosts: the number of the event behind them.
    /// What follows in the same step is other nodes', or goes on by itself.
    pub own_ends: BTreeMap<u32, u64>,
    /// The path that a storage call was about, or one that a fault hit, by the number of its event, counted from 0.
    pub subjects: BTreeMap<u64, String>,
    /// When each event happened, among those of its node, by its number.
    times: Vec<u64>,
    paths: Paths,
}

impl Told {
    /// Takes in a start.
    pub(super) fn boot(&mut self, (node, step): (u8, u32), namespace: Namespace, boot: &Boot) {
        self.boots.push(BootTold {
            node,
            step,
            namespace,
            facts: boot.facts.clone(),
            verdict: boot.verdict.clone(),
            plan: boot.plan.clone(),
            remark: boot.remark(),
        });
    }

    /// Takes in an answer.
    pub(super) fn answer(&mut self, step: u32, namespace: Namespace, from: Offset, reply: Reply) {
        self.answers.push(AnswerTold { step, namespace, from, reply });
    }

    /// Takes in calls, the first of which is the event `first`. What was removed meanwhile keeps the path
    /// that it had.
    pub(super) fn calls(&mut self, first: u64, calls: &[DiskEvent], disk: &SimDisk) {
        self.paths.learn(disk);
        let mut event = first;
        for call in calls {
            if let Some(subject) = self.paths.of(call, disk) {
                self.subjects.insert(event, subject);
            }
            // The hash of the bytes that it moved is a record of its own.
            event += 1 + u64::from(call.content.is_some());
        }
    }

    /// Takes in a fault that hit one of `calls`, of which the record is the event `event`.
    pub(super) fn strike(&mut self, event: u64, strike: &Strike, calls: &[DiskEvent], disk: &SimDisk) {
        let subject = calls.get(strike.at).and_then(|call| self.paths.of(call, disk));
        if let Some(subject) = subject {
            self.subjects.insert(event, subject);
        }
    }

    /// The same, of events that happened then.
    pub(super) fn at(self, times: Vec<u64>) -> Self {
        Self { times, ..self }
    }

    /// Events with their numbers, in the order in which they happened. A step's calls are recorded when it is over,
    /// behind what they led to. Nodes that take turns within a step keep their places.
    pub fn in_order<'a>(&self, events: &'a [Event]) -> Vec<(u64, &'a Event)> {
        let mut order: Vec<usize> = (0..events.len()).collect();
        let mut nodes: Vec<u8> = events.iter().map(|event| event.node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for step in order.chunk_by_mut(|left, right| events[*left].step == events[*right].step) {
            for node in &nodes {
                let places: Vec<usize> =
                    (0..step.len()).filter(|at| events[step[*at]].node == *node).collect();
                let mut own: Vec<usize> = places.iter().map(|at| step[*at]).collect();
                own.sort_by_key(|event| self.times[*event]);
                for (place, event) in places.into_iter().zip(own) {
                    step[place] = event;
                }
            }
        }
        order.into_iter().map(|event| (event as u64, &events[event])).collect()
    }
}

/// Where files and directories lie, by their numbers. What was removed meanwhile keeps the path that it had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Paths {
    files: BTreeMap<u32, String>,
    directories: BTreeMap<u32, String>,
}

impl Paths {
    /// Takes in what lies on a disk now.
    pub(super) fn learn(&mut self, disk: &SimDisk) {
        disk.walk(View::Visible, &mut |path, node| match node {
            Node::File(file) => drop(self.files.insert(file.number(), path.to_owned())),
            Node::Directory(directory) => drop(self.directories.insert(directory.number(), path.to_owned())),
            Node::Link | Node::Special => {}
        });
    }

    /// The path that a call was about.
    pub(super) fn of(&self, call: &DiskEvent, disk: &SimDisk) -> Option<String> {
        match call.call {
            Call::Read | Call::Write | Call::SetLength | Call::Sync | Call::Length | Call::DropCache => {
                self.files.get(&call.object).cloned()
            }
            Call::SyncDirectory | Call::List | Call::Lock => self.directories.get(&call.object).cloned(),
            Call::Open | Call::Create | Call::Remove | Call::MakeDirectory | Call::Rename => {
                let name = disk.name_numbered(call.position)?;
                // The root has no path of its own.
                let directory = self.directories.get(&call.object).map_or("", String::as_str);
                Some(if directory.is_empty() { name } else { format!("{directory}/{name}") })
            }
        }
    }
}

/// A path for a person: the partition, and what lies in it.
pub fn short_path(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["streams", stream, "topics", topic, "partitions", rest @ ..] if !rest.is_empty() => {
            format!("{stream}/{topic}/{}", rest.join("/"))
        }
        _ => path.to_owned(),
    }
}
