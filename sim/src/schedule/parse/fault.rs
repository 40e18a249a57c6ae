//! Reads faults and what they hit.

use std::borrow::Cow;

use recovery_core::units::{Namespace, SegmentStart};

use super::compound::{BatchFieldText, FieldText, TimesValue};
use super::crash::{call_point, file_role};
use super::error::{ParseFault, Read};
use super::reader::Reader;
use crate::schedule::fault::{Edit, Fault, FaultInside, StrayEntry, Times};
use crate::schedule::field::{IndexField, LedgerField, SuperblockField};
use crate::schedule::step::BatchId;
use crate::schedule::target::{Destination, Slot, Target};

/// Reads a fault but for what only a step or only a child of one has.
fn fault(reader: &mut Reader<'_>) -> Read<Fault> {
    let kind = reader.argument("a fault kind")?;
    let target = match reader.next_argument("a partition")? {
        None => Target::Any,
        Some(partition) => target(reader, partition)?,
    };
    reader.not_both("bit", "value")?;
    let edit = match reader.property("bit")? {
        Some(bit) => Some(Edit::Bit(bit)),
        None => reader.property("value")?.map(Edit::Value),
    };
    Ok(Fault {
        kind,
        target,
        edit,
        restamp: reader.property_or("restamp", false)?,
        to: Destination {
            batch: reader.property("to-batch")?,
            segment: reader.property("to-segment")?,
            partition: reader.property("to")?,
        },
        bytes: reader.property("bytes")?,
        entry: reader.property_or("entry", StrayEntry::File)?,
        times: reader.property_or("times", TimesValue(Times::Count(1)))?.0,
    })
}

/// Reads a fault that is a step, but for what only a step has.
pub(super) fn fault_as_step(reader: &mut Reader<'_>) -> Read<Fault> {
    let fault = fault(reader)?;
    sensible(reader, &fault, fault.nonsense_as_step())?;
    Ok(fault)
}

fn sensible(reader: &Reader<'_>, fault: &Fault, nonsense: Option<&'static str>) -> Read<()> {
    match nonsense {
        Some(why) => reader.misfit(ParseFault::Meaningless { kind: fault.kind.code(), why }),
        None => Ok(()),
    }
}

/// Reads a fault inside a step, which may be a transfer.
pub(super) fn fault_inside(mut reader: Reader<'_>, is_transfer: bool) -> Read<FaultInside> {
    let fault = fault(&mut reader)?;
    sensible(&reader, &fault, fault.nonsense_inside())?;
    let at = call_point(&mut reader)?;
    let at_peer = reader.property_or("at-peer", false)?;
    if at_peer {
        let is_elsewhere = !is_transfer || at.on.is_some();
        let why = is_elsewhere.then_some("only a transfer reads at a peer, and nothing else is done there");
        sensible(&reader, &fault, why.or(fault.nonsense_at_peer()))?;
    }
    reader.finish()?;
    Ok(FaultInside { at, at_peer, fault })
}

/// The properties of which at most one says what a target is; `segment` joins `index` and `file`.
const TARGETS: [&str; 5] = ["batch", "ledger", "superblock", "name", "segment"];

fn target(reader: &mut Reader<'_>, partition: Namespace) -> Read<Target> {
    for (index, left) in TARGETS.into_iter().enumerate() {
        for right in TARGETS.into_iter().skip(index + 1).chain(["file", "index"]) {
            if left != "segment" {
                reader.not_both(left, right)?;
            }
        }
    }
    reader.not_both("index", "file")?;
    if let Some(batch) = reader.property::<BatchId>("batch")? {
        let field = reader.property::<BatchFieldText>("field")?.map(|field| field.0);
        return Ok(Target::Batch { partition, batch, field });
    }
    if let Some(record) = reader.property("ledger")? {
        let field = reader.property::<FieldText<LedgerField>>("field")?.map(|field| field.0);
        return Ok(Target::LedgerRecord { partition, record, field });
    }
    if let Some(slot) = reader.property::<Slot>("superblock")? {
        let field = reader.property::<FieldText<SuperblockField>>("field")?.map(|field| field.0);
        return Ok(Target::Superblock { partition, slot, field });
    }
    if let Some(name) = reader.property::<Cow<'static, str>>("name")? {
        return Ok(Target::Name { partition, name });
    }
    place_in_file(reader, partition)
}

fn place_in_file(reader: &mut Reader<'_>, partition: Namespace) -> Read<Target> {
    if reader.has("file") {
        let file = file_role(reader)?;
        let position = reader.property_or("position", 0)?;
        return Ok(Target::File { partition, file, position, length: reader.property("length")? });
    }
    let segment = reader.property::<SegmentStart>("segment")?;
    match (segment, reader.property("index")?) {
        (None, None) => Ok(Target::Partition(partition)),
        (Some(segment), None) => Ok(Target::Segment { partition, segment }),
        (Some(segment), Some(index)) => {
            let field = reader.property::<FieldText<IndexField>>("field")?.map(|field| field.0);
            Ok(Target::IndexEntry { partition, segment, index, field })
        }
        (None, Some(_)) => {
            let node = reader.name().to_owned();
            reader.misfit(ParseFault::MissingProperty { node, name: "segment" })
        }
    }
}
