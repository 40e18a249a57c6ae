//! Reads steps.

use kdl::KdlNode;
use recovery_core::units::SegmentStart;

use super::compound::PlantAt;
use super::crash::{crash, crash_inside};
use super::error::{Misfit, ParseFault, Read};
use super::expect::{either, expectation};
use super::fault::{fault_as_step, fault_inside};
use super::reader::{Reader, unknown_node};
use super::value::Positive;
use crate::schedule::step::{
    AcceptLoss, Action, Append, BatchId, Interruption, MESSAGES_DEFAULT, NodeId, OffsetRange,
    PAYLOAD_BYTES_DEFAULT, Place, Plant, Poll, Retain, Step,
};

const STEPS: [&str; 26] = [
    "append",
    "plant",
    "flush",
    "roll",
    "checkpoint",
    "retain",
    "stop",
    "start",
    "poll",
    "crash",
    "fault",
    "evict",
    "create",
    "delete",
    "confirm",
    "reconcile",
    "queue-insert",
    "apply-inserts",
    "accept-loss",
    "link",
    "transfer",
    "expect",
    "expect-poll",
    "expect-status",
    "expect-error",
    "either",
];

pub(super) fn step(node: &KdlNode) -> Read<Step> {
    let mut reader = Reader::new(node)?;
    let on = reader.property_or("node", NodeId::default())?;
    // These three have children of their own, and nothing can happen inside them.
    let action = match reader.name() {
        "crash" => Action::Crash(crash(reader)?),
        "either" => Action::Either(either(reader)?),
        name if name.starts_with("expect") => match expectation(reader)? {
            Some(expectation) => Action::Expect(expectation),
            None => return unknown_step(node),
        },
        _ => return interruptible(node, on, reader),
    };
    Ok(Step { node: on, action, interruptions: Vec::new() })
}

fn interruptible(node: &KdlNode, on: NodeId, mut reader: Reader<'_>) -> Read<Step> {
    let Some(action) = action(&mut reader)? else { return unknown_step(node) };
    let is_transfer = matches!(action, Action::Transfer { .. });
    let children = reader.finish_entries()?.iter().map(|child| interruption(child, is_transfer));
    let interruptions = children.collect::<Read<_>>()?;
    Ok(Step { node: on, action, interruptions })
}

fn unknown_step<T>(node: &KdlNode) -> Read<T> {
    unknown_node(node, "steps", &STEPS)
}

fn interruption(node: &KdlNode, is_transfer: bool) -> Read<Interruption> {
    let reader = Reader::new(node)?;
    match reader.name() {
        "crash" => crash_inside(reader).map(Interruption::Crash),
        "fault" => fault_inside(reader, is_transfer).map(Interruption::Fault),
        _ => unknown_node(node, "a step", &["crash", "fault"]),
    }
}

/// Reads the action of a step that can be interrupted; `None` for a name that is no step.
fn action(reader: &mut Reader<'_>) -> Read<Option<Action>> {
    const PARTITION: &str = "a partition";
    let action = match reader.name() {
        "append" => Action::Append(append(reader)?),
        "plant" => Action::Plant(plant(reader)?),
        "flush" => Action::Flush(reader.argument(PARTITION)?),
        "roll" => Action::Roll(reader.argument(PARTITION)?),
        "checkpoint" => Action::Checkpoint(reader.argument(PARTITION)?),
        "retain" => Action::Retain(Retain {
            partition: reader.argument(PARTITION)?,
            below: reader.required("below")?,
        }),
        "stop" => Action::Stop,
        "start" => Action::Start,
        "poll" => Action::Poll(Poll {
            partition: reader.argument(PARTITION)?,
            from: reader.required("from")?,
            count: reader.required("count")?,
        }),
        "fault" => {
            Action::Fault { fault: fault_as_step(reader)?, cached: reader.property_or("cached", false)? }
        }
        "evict" => Action::Evict(reader.next_argument(PARTITION)?),
        "create" => Action::Create(reader.argument(PARTITION)?),
        "delete" => Action::Delete(reader.argument(PARTITION)?),
        "confirm" => Action::Confirm(reader.argument(PARTITION)?),
        "reconcile" => Action::Reconcile,
        "queue-insert" => Action::QueueInsert(reader.argument(PARTITION)?),
        "apply-inserts" => Action::ApplyInserts,
        "accept-loss" => Action::AcceptLoss(accept_loss(reader)?),
        "link" => Action::Link(reader.required("state")?),
        "transfer" => {
            Action::Transfer { partition: reader.argument(PARTITION)?, from: reader.required("from")? }
        }
        _ => return Ok(None),
    };
    Ok(Some(action))
}

fn append(reader: &mut Reader<'_>) -> Read<Append> {
    let append = Append {
        partition: reader.argument("a partition")?,
        batch: reader.required("batch")?,
        count: reader.property_or("count", Positive(1))?.0,
        messages: reader.property_or("messages", MESSAGES_DEFAULT)?,
        payload_bytes: reader.property_or("payload", PAYLOAD_BYTES_DEFAULT)?,
        content: reader.property_or("content", 0)?,
    };
    if append.batch.checked_add(append.count - 1).is_none() {
        let most = u64::from(u32::MAX - append.batch.0) + 1;
        let found = append.count.to_string();
        return reader.misfit(ParseFault::OutOfRange { name: "count", least: 1, most, found });
    }
    Ok(append)
}

fn plant(reader: &mut Reader<'_>) -> Read<Plant> {
    reader.not_both("at", "position")?;
    reader.not_both("at", "inside")?;
    reader.not_both("position", "inside")?;
    let partition = reader.argument("a partition")?;
    let batch = reader.required("batch")?;
    let place = place(reader)?;
    Ok(Plant {
        partition,
        batch,
        place,
        like: reader.property("like")?,
        partition_id: reader.property("partition-id")?,
        base_offset: reader.property("base-offset")?,
        messages: reader.property_or("messages", MESSAGES_DEFAULT)?,
        payload_bytes: reader.property_or("payload", PAYLOAD_BYTES_DEFAULT)?,
        nested: reader.property_or("nested", 0)?,
    })
}

fn place(reader: &mut Reader<'_>) -> Read<Place> {
    if let Some(batch) = reader.property::<BatchId>("inside")? {
        return Ok(Place::Inside(batch));
    }
    if let Some(position) = reader.property("position")? {
        return Ok(Place::Position { segment: reader.property::<SegmentStart>("segment")?, position });
    }
    Ok(match reader.property_or("at", PlantAt::End)? {
        PlantAt::End => Place::End,
        PlantAt::Batch(batch) => Place::Batch(batch),
    })
}

fn accept_loss(reader: &mut Reader<'_>) -> Read<AcceptLoss> {
    let partition = reader.argument("a partition")?;
    let range = if reader.has("first") || reader.has("last") {
        let range = OffsetRange { first: reader.required("first")?, last: reader.required("last")? };
        if range.last < range.first {
            let (least, found) = (range.first.get(), range.last.to_string());
            let fault = ParseFault::OutOfRange { name: "last", least, most: u64::MAX, found };
            return Err(Misfit::at(reader.span(), fault));
        }
        Some(range)
    } else {
        None
    };
    Ok(AcceptLoss { partition, range })
}
