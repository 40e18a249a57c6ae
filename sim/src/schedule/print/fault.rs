//! Prints faults and crashes, with what they hit and what survives.

use recovery_core::units::SegmentStart;

use super::node::{Node, shown};
use crate::schedule::crash::{CallPoint, Crash, CrashInside, Exception, Fill, Survival, Survivors};
use crate::schedule::fault::{Edit, Fault, FaultInside, StrayEntry, Times};
use crate::schedule::field::BatchField;
use crate::schedule::target::{Destination, FileRole, Target};
use crate::schedule::word::Word;

pub(super) fn crash(crash: &Crash) -> Node {
    survival(Node::new("crash").word(crash.restart()), crash)
}

pub(super) fn crash_inside(inside: &CrashInside) -> Node {
    let node = call_point(Node::new("crash").word(inside.crash.restart()), inside.at);
    survival(node.set_some_word("inside", inside.inside), &inside.crash)
}

fn survival(node: Node, crash: &Crash) -> Node {
    let Some(Survival { survive, fill, size, exceptions }) = crash.survival() else { return node };
    let node = survivors(node, *survive);
    let node = if *fill == Fill::Zeros { node } else { node.set_word("fill", *fill) };
    node.set_some_word("size", *size).children(exceptions.iter().map(exception))
}

fn survivors(node: Node, survivors: Survivors) -> Node {
    let node = node.set_word("survive", survivors.word());
    match survivors {
        Survivors::None | Survivors::All => node,
        Survivors::Prefix { n } | Survivors::Suffix { n } => node.set("n", n),
        Survivors::Subset { mask } => node.set_hexadecimal("mask", mask),
        Survivors::Window { from, n } => node.set("from", from).set("n", n),
    }
}

fn exception(exception: &Exception) -> Node {
    match exception {
        Exception::File { partition, file, survive, fill, size } => {
            let node = file_role(Node::new("file").partition(*partition), *file);
            let node = match survive {
                None => node,
                Some(survive) => survivors(node, *survive),
            };
            node.set_some_word("fill", *fill).set_some_word("size", *size)
        }
        Exception::Names { survive } => survivors(Node::new("names"), *survive),
    }
}

fn file_role(node: Node, file: FileRole) -> Node {
    node.set_some("segment", file.segment().map(SegmentStart::get)).set_word("file", file.word())
}

fn call_point(node: Node, at: CallPoint) -> Node {
    node.set_some_word("on", at.on).set("call", at.call)
}

pub(super) fn fault_inside(inside: &FaultInside) -> Node {
    let node = call_point(fault_without_times(&inside.fault), inside.at);
    let node = if inside.at_peer { node.set_flag("at-peer", true) } else { node };
    times(node, inside.fault.times)
}

pub(super) fn fault(fault: &Fault) -> Node {
    times(fault_without_times(fault), fault.times)
}

fn times(node: Node, times: Times) -> Node {
    match times {
        Times::Count(count) => node.set_unless("times", count, 1_u64),
        Times::Always => node.set_text("times", "always"),
    }
}

fn fault_without_times(fault: &Fault) -> Node {
    let node = target(Node::new("fault").word(fault.kind), &fault.target);
    let node = match fault.edit {
        None => node,
        Some(Edit::Bit(bit)) => node.set("bit", bit),
        Some(Edit::Value(value)) => node.set("value", value),
    };
    let node = if fault.restamp { node.set_flag("restamp", true) } else { node };
    let node = destination(node, &fault.to).set_some("bytes", fault.bytes);
    if fault.entry == StrayEntry::File { node } else { node.set_word("entry", fault.entry) }
}

fn destination(node: Node, to: &Destination) -> Node {
    let node = node
        .set_some("to-batch", to.batch.map(|batch| batch.0))
        .set_some("to-segment", to.segment.map(SegmentStart::get));
    match to.partition {
        None => node,
        Some(partition) => node.set_text("to", &shown(partition)),
    }
}

fn target(node: Node, target: &Target) -> Node {
    let node = match target.partition() {
        None => node,
        Some(partition) => node.partition(partition),
    };
    match target {
        Target::Any | Target::Partition(_) => node,
        Target::Batch { batch, field, .. } => {
            let node = node.set("batch", batch.0);
            match field {
                None => node,
                Some(field) => node.set_text("field", &batch_field(*field)),
            }
        }
        Target::Segment { segment, .. } => node.set("segment", segment.get()),
        Target::IndexEntry { segment, index, field, .. } => {
            field_of(node.set("segment", segment.get()).set("index", *index), "index", *field)
        }
        Target::LedgerRecord { record, field, .. } => field_of(node.set("ledger", *record), "ledger", *field),
        Target::Superblock { slot, field, .. } => {
            field_of(node.set_word("superblock", *slot), "superblock", *field)
        }
        Target::File { file, position, length, .. } => {
            file_role(node, *file).set_unless("position", *position, 0_u64).set_some("length", *length)
        }
        Target::Name { name, .. } => node.set_text("name", name),
    }
}

fn field_of(node: Node, structure: &str, field: Option<impl Word>) -> Node {
    match field {
        None => node,
        Some(field) => node.set_text("field", &format!("{structure}.{}", field.word())),
    }
}

fn batch_field(field: BatchField) -> String {
    match field {
        BatchField::Header(field) => format!("header.{}", field.code()),
        BatchField::Frame { frame, field } => format!("frame.{frame}.{}", field.code()),
    }
}
