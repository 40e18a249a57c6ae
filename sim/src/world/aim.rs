//! From a target of the schedule to a place on a disk.
//!
//! Promises: a target that is not there is nothing, and counted as missed by whoever aims. Batches are
//! found where they were written, whatever lies there now. Leaves out: what is done at the place.

use recovery_core::format::{FileName, SuperblockSlot};
use recovery_core::storage::Name;
use recovery_core::units::{Namespace, SegmentStart};

use super::look;
use super::node::Node;
use crate::disk::{DirectoryId, FileChoice, FileId, Node as DiskNode, SurvivorChoice, View};
use crate::schedule::{
    BatchField, BatchId, Exception, FieldSpan, FileRole, FrameField, IndexField, LedgerField,
    Slot as SuperblockWord, Target,
};

/// Bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// Index of the partition's slot.
    pub(super) slot: usize,
    /// The file.
    pub(super) file: FileId,
    /// Its name.
    pub(super) name: Name,
    /// The first byte.
    pub(super) position: u64,
    /// How many.
    pub(super) length: u64,
}

/// Index of a partition's slot.
pub(super) fn slot_of(node: &Node, namespace: Namespace) -> Option<usize> {
    node.slots.iter().position(|slot| slot.header.namespace == namespace)
}

/// The name of a file by its role; `None` for the partition's directory, which has the name that it has.
pub(super) fn name_of(role: FileRole) -> Option<Name> {
    Some(match role {
        FileRole::Log(segment) | FileRole::CopyLog(segment) => FileName::log(segment),
        FileRole::Index(segment) => FileName::index(segment),
        FileRole::IndexStaging(segment) => FileName::index_staging(segment),
        FileRole::Ledger | FileRole::CopyLedger => FileName::ledger(),
        FileRole::LedgerStaging => FileName::ledger_staging(),
        FileRole::Superblock(SuperblockWord::A) => SuperblockSlot::A.name(),
        FileRole::Superblock(SuperblockWord::B) => SuperblockSlot::B.name(),
        FileRole::Complete => FileName::complete(),
        FileRole::Fenced => FileName::reason(),
        FileRole::MetadataLog => FileName::metadata_log(),
        FileRole::Directory => return None,
    })
}

/// The role of a file by its name; `None` for a file that has none.
pub(super) fn role_of(name: &Name) -> Option<FileRole> {
    match FileName::classify(name) {
        FileName::Log(segment) => Some(FileRole::Log(segment)),
        FileName::Index(segment) => Some(FileRole::Index(segment)),
        FileName::Ledger => Some(FileRole::Ledger),
        FileName::Superblock(SuperblockSlot::A) => Some(FileRole::Superblock(SuperblockWord::A)),
        FileName::Superblock(SuperblockSlot::B) => Some(FileRole::Superblock(SuperblockWord::B)),
        FileName::Staging if *name == FileName::ledger_staging() => Some(FileRole::LedgerStaging),
        FileName::Staging => FileName::staged_index(name).map(FileRole::IndexStaging),
        FileName::StrayLog | FileName::StrayIndex | FileName::Other => None,
    }
}

/// The bytes that a target names.
pub(super) fn spot(node: &Node, target: &Target) -> Option<Spot> {
    match target {
        Target::Any => None,
        Target::Partition(namespace) => {
            let segment = newest_segment(node, *namespace)?;
            whole(node, *namespace, FileRole::Log(segment))
        }
        Target::Batch { partition, batch, field } => batch_spot(node, *partition, *batch, *field),
        Target::Segment { partition, segment } => whole(node, *partition, FileRole::Log(*segment)),
        Target::IndexEntry { partition, segment, index, field } => {
            let span = field.map_or(FieldSpan { at: 0, width_bytes: 24 }, IndexField::span);
            element(node, *partition, FileRole::Index(*segment), (*index, 24), span)
        }
        Target::LedgerRecord { partition, record, field } => {
            let span = field.map_or(FieldSpan { at: 0, width_bytes: 128 }, LedgerField::span);
            element(node, *partition, FileRole::Ledger, (*record, 128), span)
        }
        Target::Superblock { partition, slot, field } => {
            let mut spot = whole(node, *partition, FileRole::Superblock(*slot))?;
            if let Some(field) = field {
                let span = field.span();
                spot.position = u64::from(span.at);
                spot.length = u64::from(span.width_bytes);
            }
            Some(spot)
        }
        Target::File { partition, file, position, length } => {
            let mut spot = whole(node, *partition, *file)?;
            let rest = spot.length - spot.length.min(*position);
            spot.position = *position;
            spot.length = length.unwrap_or(rest);
            Some(spot)
        }
        Target::Name { partition, name } => {
            let name = Name::new(name.as_bytes())?;
            named(node, *partition, &name)
        }
    }
}

/// The whole of what a target names a field of, where that has a checksum of its own: a batch, a record of
/// the ledger, a superblock.
pub(super) fn whole_element(node: &Node, target: &Target) -> Option<Spot> {
    let whole = match target {
        Target::Batch { partition, batch, .. } => {
            Target::Batch { partition: *partition, batch: *batch, field: None }
        }
        Target::LedgerRecord { partition, record, .. } => {
            Target::LedgerRecord { partition: *partition, record: *record, field: None }
        }
        Target::Superblock { partition, slot, .. } => {
            Target::Superblock { partition: *partition, slot: *slot, field: None }
        }
        Target::Any
        | Target::Partition(_)
        | Target::Segment { .. }
        | Target::IndexEntry { .. }
        | Target::File { .. }
        | Target::Name { .. } => return None,
    };
    spot(node, &whole)
}

/// Where a batch was written, or a field of it.
fn batch_spot(node: &Node, namespace: Namespace, batch: BatchId, field: Option<BatchField>) -> Option<Spot> {
    let slot = slot_of(node, namespace)?;
    let truth = &node.slots[slot].truth;
    let write = truth.find(batch)?;
    let (at, length) = match field {
        None => (0, u64::from(write.length)),
        Some(field) => field_span(truth.bytes_of(write), field)?,
    };
    let log = whole(node, namespace, FileRole::Log(write.segment))?;
    Some(Spot { position: write.position + at, length, ..log })
}

/// Where a field lies in a whole batch, in bytes from its start, and how wide it is.
fn field_span(batch: &[u8], field: BatchField) -> Option<(u64, u64)> {
    let (frame, field) = match field {
        BatchField::Header(field) => {
            let span = field.span();
            return Some((u64::from(span.at), u64::from(span.width_bytes)));
        }
        BatchField::Frame { frame, field } => (frame, field),
    };
    let length_at = |at: usize| {
        let bytes = batch.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().expect("4 bytes")) as usize)
    };
    let mut start = 256;
    // Each pass skips a frame, so the batch's bytes bound the loop.
    for _ in 0..frame {
        start += 48 + length_at(start + 32)? + length_at(start + 36)?;
        if start >= batch.len() {
            return None;
        }
    }
    let (headers, payload) = (length_at(start + 32)? as u64, length_at(start + 36)? as u64);
    match (field.span(), field) {
        (Some(span), _) => Some((start as u64 + u64::from(span.at), u64::from(span.width_bytes))),
        (None, FrameField::Payload) if payload > 0 => Some((start as u64 + 48, payload)),
        (None, FrameField::UserHeaders) if headers > 0 => Some((start as u64 + 48 + payload, headers)),
        (None, _) => None,
    }
}

/// All of a file.
pub(super) fn whole(node: &Node, namespace: Namespace, role: FileRole) -> Option<Spot> {
    let name = name_of(role)?;
    let slot = slot_of(node, namespace)?;
    let (disk, components) = (&node.disk, &node.slots[slot].components);
    let directory = match role {
        FileRole::Log(_)
        | FileRole::Index(_)
        | FileRole::IndexStaging(_)
        | FileRole::Ledger
        | FileRole::LedgerStaging
        | FileRole::Superblock(_) => return named(node, namespace, &name),
        FileRole::CopyLog(_) | FileRole::CopyLedger | FileRole::Complete => look::sibling(disk, components)?,
        FileRole::Fenced => *look::fence_directories(disk, components).last()?,
        FileRole::MetadataLog => DirectoryId::ROOT,
        FileRole::Directory => return None,
    };
    let found = if role == FileRole::Fenced {
        let entries = disk.entries(directory, View::Visible).into_iter();
        entries.filter(|(other, _)| *other != name).find_map(|(name, found)| Some((name, file_of(found)?)))
    } else {
        disk.entry(directory, &name, View::Visible).and_then(file_of).map(|file| (name, file))
    };
    let (name, file) = found?;
    Some(Spot { slot, file, name, position: 0, length: disk.length_of(file, View::Visible) })
}

fn file_of(found: DiskNode) -> Option<FileId> {
    match found {
        DiskNode::File(file) => Some(file),
        DiskNode::Directory(_) | DiskNode::Link | DiskNode::Special => None,
    }
}

fn named(node: &Node, namespace: Namespace, name: &Name) -> Option<Spot> {
    let slot = slot_of(node, namespace)?;
    let file = look::file(&node.disk, &node.slots[slot].components, name)?;
    let length = node.disk.length_of(file, View::Visible);
    Some(Spot { slot, file, name: *name, position: 0, length })
}

/// A field of the `index`-th element of a file of elements of one size.
fn element(
    node: &Node,
    namespace: Namespace,
    role: FileRole,
    (index, size): (u32, u64),
    span: FieldSpan,
) -> Option<Spot> {
    let mut spot = whole(node, namespace, role)?;
    let position = u64::from(index) * size;
    if position + size > spot.length {
        return None;
    }
    spot.position = position + u64::from(span.at);
    spot.length = u64::from(span.width_bytes);
    Some(spot)
}

/// The newest segment that a partition has on disk.
pub(super) fn newest_segment(node: &Node, namespace: Namespace) -> Option<SegmentStart> {
    let slot = slot_of(node, namespace)?;
    let directory = look::directory(&node.disk, &node.slots[slot].components)?;
    let entries = node.disk.entries(directory, View::Visible);
    let segments = entries.iter().filter_map(|(name, _)| match FileName::classify(name) {
        FileName::Log(segment) => Some(segment),
        FileName::Index(_)
        | FileName::StrayLog
        | FileName::StrayIndex
        | FileName::Staging
        | FileName::Ledger
        | FileName::Superblock(_)
        | FileName::Other => None,
    });
    segments.max()
}

/// Adds what the schedule says of one file, or of names, to a choice of survivors.
pub(super) fn except(node: &Node, exception: &Exception, choice: &mut SurvivorChoice) {
    match exception {
        Exception::Names { survive } => choice.names = *survive,
        Exception::File { partition, file, survive, fill, size } => {
            if let Some(spot) = whole(node, *partition, *file) {
                let everything = choice.everything;
                let own = FileChoice {
                    survive: survive.unwrap_or(everything.survive),
                    length: size.or(everything.length),
                    fill: fill.unwrap_or(everything.fill),
                    old_lengths_from: everything.old_lengths_from,
                };
                choice.files.push((spot.file, own));
            }
        }
    }
}
