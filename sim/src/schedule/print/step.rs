//! Prints steps.

use recovery_core::units::{Namespace, Offset, SegmentStart};

use super::expect::{either, expectation};
use super::fault::{crash, crash_inside, fault, fault_inside};
use super::node::{Node, shown};
use super::on_node;
use crate::schedule::step::{
    AcceptLoss, Action, Append, Interruption, MESSAGES_DEFAULT, PAYLOAD_BYTES_DEFAULT, Place, Plant, Step,
};

pub(super) fn step(step: &Step) -> Node {
    on_node(action(&step.action), step.node).children(step.interruptions.iter().map(interruption))
}

fn interruption(interruption: &Interruption) -> Node {
    match interruption {
        Interruption::Crash(inside) => crash_inside(inside),
        Interruption::Fault(inside) => fault_inside(inside),
    }
}

fn action(action: &Action) -> Node {
    match action {
        Action::Append(value) => append(value),
        Action::Plant(value) => plant(value),
        Action::Flush(partition) => about("flush", *partition),
        Action::Roll(partition) => about("roll", *partition),
        Action::Checkpoint(partition) => about("checkpoint", *partition),
        Action::Retain(value) => about("retain", value.partition).set("below", value.below.get()),
        Action::Stop => Node::new("stop"),
        Action::Start => Node::new("start"),
        Action::Poll(value) => {
            about("poll", value.partition).set("from", value.from.get()).set("count", value.count)
        }
        Action::Crash(value) => crash(value),
        Action::Fault { fault: value, cached } => {
            let node = fault(value);
            if *cached { node.set_flag("cached", true) } else { node }
        }
        Action::Evict(None) => Node::new("evict"),
        Action::Evict(Some(partition)) => about("evict", *partition),
        Action::Create(partition) => about("create", *partition),
        Action::Delete(partition) => about("delete", *partition),
        Action::Confirm(partition) => about("confirm", *partition),
        Action::Reconcile => Node::new("reconcile"),
        Action::QueueInsert(partition) => about("queue-insert", *partition),
        Action::ApplyInserts => Node::new("apply-inserts"),
        Action::AcceptLoss(value) => accept_loss(value),
        Action::Link(state) => Node::new("link").set_word("state", *state),
        Action::Transfer { partition, from } => about("transfer", *partition).set("from", from.0),
        Action::Expect(value) => expectation(value),
        Action::Either(values) => either(values),
    }
}

fn about(name: &str, partition: Namespace) -> Node {
    Node::new(name).partition(partition)
}

fn append(append: &Append) -> Node {
    about("append", append.partition)
        .set("batch", append.batch.0)
        .set_unless("count", append.count, 1_u64)
        .set_unless("messages", append.messages, MESSAGES_DEFAULT)
        .set_unless("payload", append.payload_bytes, PAYLOAD_BYTES_DEFAULT)
        .set_unless("content", append.content, 0_u64)
}

fn plant(plant: &Plant) -> Node {
    let node = about("plant", plant.partition).set("batch", plant.batch.0);
    let node = match plant.place {
        Place::End | Place::Inside(_) => node,
        Place::Batch(batch) => node.set_text("at", &format!("batch:{}", batch.0)),
        Place::Position { segment, position } => {
            node.set_some("segment", segment.map(SegmentStart::get)).set("position", position)
        }
    };
    let node = match plant.like {
        None => node,
        Some(like) => node.set_text("like", &shown(like)),
    };
    let node = node
        .set_some("partition-id", plant.partition_id)
        .set_some("base-offset", plant.base_offset.map(Offset::get))
        .set_unless("messages", plant.messages, MESSAGES_DEFAULT)
        .set_unless("payload", plant.payload_bytes, PAYLOAD_BYTES_DEFAULT)
        .set_unless("nested", plant.nested, 0_u8);
    match plant.place {
        Place::Inside(batch) => node.set("inside", batch.0),
        Place::End | Place::Batch(_) | Place::Position { .. } => node,
    }
}

fn accept_loss(loss: &AcceptLoss) -> Node {
    let node = about("accept-loss", loss.partition);
    match loss.range {
        None => node,
        Some(range) => node.set("first", range.first.get()).set("last", range.last.get()),
    }
}
