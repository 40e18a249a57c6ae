//! Names in the order in which a reader meets them.
//!
//! Promises: what was one name stays one, and what were two stay two, part by part: partitions that share a
//! stream, a topic or a number still do. Leaves out: whether a world with other names fails alike, which is
//! for whoever renames to find out; numbers that a plant or a fault writes into a header.

use std::collections::BTreeMap;

use recovery_core::units::Namespace;

use super::crash::{Crash, Exception};
use super::expect::Expectation;
use super::fault::Fault;
use super::scenario::Schedule;
use super::step::{Action, BatchId, Interruption, NodeId, Place, Step};
use super::target::Target;

/// The schedule with streams and topics numbered from 1, and partitions, batches and nodes from 0, each in
/// order of appearance.
#[must_use]
pub fn renamed(schedule: &Schedule) -> Schedule {
    let mut schedule = schedule.clone();
    let mut names = Names::default();
    for header in &mut schedule.world.partitions {
        names.namespace(&mut header.namespace);
    }
    // Batches of one append stay neighbours, so they are numbered where they are made.
    for (first, last) in schedule.steps.iter().filter_map(|step| step.action.batches()) {
        for id in first.0..=last.0 {
            number(&mut names.batches, id, 0);
        }
    }
    for step in &mut schedule.steps {
        names.step(step);
    }
    for image in &mut schedule.world.images {
        names.node(&mut image.node);
    }
    schedule
}

#[derive(Default)]
struct Names {
    streams: BTreeMap<u32, u32>,
    topics: BTreeMap<u32, u32>,
    partitions: BTreeMap<u32, u32>,
    batches: BTreeMap<u32, u32>,
    nodes: BTreeMap<u32, u32>,
}

/// The number of a name: that which it has, or the next one.
fn number(numbers: &mut BTreeMap<u32, u32>, name: u32, first: u32) -> u32 {
    let next = first + u32::try_from(numbers.len()).expect("a schedule has few names");
    *numbers.entry(name).or_insert(next)
}

impl Names {
    fn namespace(&mut self, name: &mut Namespace) {
        name.stream = number(&mut self.streams, name.stream, 1);
        name.topic = number(&mut self.topics, name.topic, 1);
        name.partition = number(&mut self.partitions, name.partition, 0);
    }

    fn batch(&mut self, batch: &mut BatchId) {
        batch.0 = number(&mut self.batches, batch.0, 0);
    }

    fn node(&mut self, node: &mut NodeId) {
        let name = number(&mut self.nodes, u32::from(node.0), 0);
        node.0 = u8::try_from(name).expect("no more nodes than before");
    }

    fn step(&mut self, step: &mut Step) {
        self.node(&mut step.node);
        self.action(&mut step.action);
        for interruption in &mut step.interruptions {
            match interruption {
                Interruption::Crash(inside) => self.crash(&mut inside.crash),
                Interruption::Fault(inside) => self.fault(&mut inside.fault),
            }
        }
    }

    fn action(&mut self, action: &mut Action) {
        match action {
            Action::Append(append) => {
                self.namespace(&mut append.partition);
                self.batch(&mut append.batch);
            }
            Action::Plant(plant) => {
                self.namespace(&mut plant.partition);
                self.batch(&mut plant.batch);
                plant.like.iter_mut().for_each(|like| self.namespace(like));
                match &mut plant.place {
                    Place::End | Place::Position { .. } => {}
                    Place::Batch(batch) | Place::Inside(batch) => self.batch(batch),
                }
            }
            Action::Retain(retain) => self.namespace(&mut retain.partition),
            Action::Poll(poll) => self.namespace(&mut poll.partition),
            Action::AcceptLoss(loss) => self.namespace(&mut loss.partition),
            Action::Flush(partition)
            | Action::Roll(partition)
            | Action::Checkpoint(partition)
            | Action::Create(partition)
            | Action::Delete(partition)
            | Action::Confirm(partition)
            | Action::QueueInsert(partition)
            | Action::Evict(Some(partition)) => self.namespace(partition),
            Action::Transfer { partition, from } => {
                self.namespace(partition);
                self.node(from);
            }
            Action::Crash(crash) => self.crash(crash),
            Action::Fault { fault, .. } => self.fault(fault),
            Action::Expect(expectation) => self.expectation(expectation),
            Action::Either(expectations) => {
                for expectation in expectations {
                    self.expectation(expectation);
                }
            }
            Action::Stop
            | Action::Start
            | Action::Evict(None)
            | Action::Reconcile
            | Action::ApplyInserts
            | Action::Link(_) => {}
        }
    }

    fn crash(&mut self, crash: &mut Crash) {
        let (Crash::Os(survival) | Crash::Power(survival)) = crash else { return };
        for exception in &mut survival.exceptions {
            match exception {
                Exception::File { partition, .. } => self.namespace(partition),
                Exception::Names { .. } => {}
            }
        }
    }

    fn fault(&mut self, fault: &mut Fault) {
        match &mut fault.target {
            Target::Any => {}
            Target::Batch { partition, batch, .. } => {
                self.namespace(partition);
                self.batch(batch);
            }
            Target::Partition(partition)
            | Target::Segment { partition, .. }
            | Target::IndexEntry { partition, .. }
            | Target::LedgerRecord { partition, .. }
            | Target::Superblock { partition, .. }
            | Target::File { partition, .. }
            | Target::Name { partition, .. } => self.namespace(partition),
        }
        fault.to.batch.iter_mut().for_each(|batch| self.batch(batch));
        fault.to.partition.iter_mut().for_each(|partition| self.namespace(partition));
    }

    fn expectation(&mut self, expectation: &mut Expectation) {
        match expectation {
            Expectation::Partition(expected) => {
                self.namespace(&mut expected.partition);
                let at = expected.segments.iter_mut().filter_map(|segment| segment.at_batch.as_mut());
                at.for_each(|batch| self.batch(batch));
            }
            Expectation::Poll(expected) => self.namespace(&mut expected.partition),
            Expectation::Status { partition, .. } | Expectation::Error { partition, .. } => {
                self.namespace(partition);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{parse, print_schedule};

    fn check(text: &str, expected: &str) {
        let schedule = parse("names.kdl", text).expect("the text reads").schedule;
        let expected = parse("names.kdl", expected).expect("the text reads").schedule;
        let printed = |schedule: &Schedule| print_schedule("", None, schedule);
        assert_eq!(printed(&renamed(&schedule)), printed(&expected));
        assert_eq!(renamed(&expected), expected);
    }

    #[test]
    fn names_are_numbered_as_a_reader_meets_them() {
        check(
            r#"
scenario "" version=1
world filesystem="xfs" regime="unlimited" nodes=3 {
    partition "7/2/5" durability="buffered"
    partition "7/9/5" durability="buffered"
}
steps {
    append "7/9/5" batch=40 count=3 node=2
    append "7/2/5" batch=12 node=2
    fault "foreign-batch" "7/2/5" batch=12 to-batch=41 to="7/9/5" node=2
    transfer "7/2/5" from=0 node=2
    expect "7/9/5" disposition="serve" node=2 { segment 0 at-batch=42; }
}
"#,
            r#"
scenario "" version=1
world filesystem="xfs" regime="unlimited" nodes=3 {
    partition "1/1/0" durability="buffered"
    partition "1/2/0" durability="buffered"
}
steps {
    append "1/2/0" batch=0 count=3
    append "1/1/0" batch=3
    fault "foreign-batch" "1/1/0" batch=3 to-batch=1 to="1/2/0"
    transfer "1/1/0" from=1
    expect "1/2/0" disposition="serve" { segment 0 at-batch=2; }
}
"#,
        );
    }
}
