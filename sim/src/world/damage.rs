//! Faults as steps: damage now, at a place that the schedule names.
//!
//! Promises: a fault that finds no place is missed, and says so. Leaves out: faults inside a step
//! ([`super::interrupt`]).

use recovery_core::format::{FileName, stamp};
use recovery_core::storage::Name;
use recovery_core::units::Namespace;

use super::aim::{self, Spot};
use super::look;
use super::node::Node;
use super::places::places;
use crate::disk::{Cause, Damage, DirectoryId, FaultId, Stray, View};
use crate::oracle::damage::Place;
use crate::schedule::{BatchId, Edit, Fault, FaultKind, FileRole, StrayEntry, Target};

/// Applies a fault. `None` if it found no place.
pub(super) fn apply(node: &mut Node, fault: &Fault, keeps_cache: bool) -> Option<FaultId> {
    let places = places(node, fault);
    let applied = act(node, fault, keeps_cache);
    if applied.is_none() {
        node.disk.miss(Cause::Fault(fault.kind));
    } else if !fault.kind.is_legal() {
        for (slot, place) in places {
            node.slots[slot].truth.damages.add(place);
        }
    }
    applied
}

/// What no crash explains may hit the partitions of a fault inside a step, or any partition of the node, and
/// nobody says where. It hits that step's partition too: a write that lands elsewhere is missing here.
pub(super) fn mark_damaged(node: &mut Node, fault: &Fault, within: Option<Namespace>, hits_any: bool) {
    let hit = [fault.target.partition(), fault.to.partition, within];
    let all = hits_any || hit.iter().all(Option::is_none);
    for slot in &mut node.slots {
        if all || hit.contains(&Some(slot.header.namespace)) {
            slot.truth.damages.add(Place::Anywhere);
        }
    }
}

fn act(node: &Node, fault: &Fault, keeps_cache: bool) -> Option<FaultId> {
    let cause = Cause::Fault(fault.kind);
    let damage = |spot: Spot, damage: Damage<'_>| node.disk.damage(spot.file, damage, cause, keeps_cache);
    match fault.kind {
        FaultKind::BitFlip => edit(node, fault, keeps_cache),
        FaultKind::Zeroed => {
            let Spot { position, length, .. } = aim::spot(node, &fault.target)?;
            damage(aim::spot(node, &fault.target)?, Damage::Zero { position, length })
        }
        FaultKind::Noise => {
            let spot = aim::spot(node, &fault.target)?;
            damage(spot, Damage::Noise { position: spot.position, length: spot.length })
        }
        FaultKind::LatentSectorError => {
            let spot = aim::spot(node, &fault.target)?;
            damage(spot, Damage::Unreadable { position: spot.position, length: spot.length })
        }
        FaultKind::LostWrite => lose(node, fault, keeps_cache),
        FaultKind::ForeignBatch
        | FaultKind::DuplicateBatch
        | FaultKind::StaleGenerationBatch
        | FaultKind::MisdirectedWrite => lay(node, fault, keeps_cache),
        FaultKind::LostDirectoryEntry | FaultKind::OperatorDeletesIndex | FaultKind::OperatorDropsLedger => {
            let (directory, name) = entry(node, fault)?;
            node.disk.take_name(directory, &name, cause)
        }
        FaultKind::UndoneRename => {
            let (directory, name) = entry(node, fault)?;
            node.disk.undo_rename(directory, &name, cause)
        }
        FaultKind::UndoneUnlink => {
            let (directory, name) = entry(node, fault)?;
            node.disk.undo_unlink(directory, &name, cause)
        }
        FaultKind::OperatorRestoresFile => {
            let (directory, name) = entry(node, fault)?;
            node.disk.put_back(directory, &name, cause)
        }
        FaultKind::OperatorCopiesSegment => copy_segment(node, fault),
        FaultKind::StrayFile => stray(node, fault),
        FaultKind::ListingOrder => {
            let order = match fault.edit {
                Some(Edit::Value(value)) => value,
                Some(Edit::Bit(_)) | None => 1,
            };
            Some(node.disk.set_listing_order(order, cause))
        }
        FaultKind::ShornWrite
        | FaultKind::LyingFlush
        | FaultKind::MisdirectedRead
        | FaultKind::TransientReadCorruption
        | FaultKind::ReadError
        | FaultKind::WriteError
        | FaultKind::SyncFailure
        | FaultKind::DeferredSyncError
        | FaultKind::SwallowedSyncError
        | FaultKind::ShortRead
        | FaultKind::ShortWrite
        | FaultKind::Interrupted
        | FaultKind::NoSpace
        | FaultKind::TooManyFiles
        | FaultKind::PermissionDenied
        | FaultKind::ReadOnly => None,
    }
}

/// Flips a bit of a field, or gives it a value; with `restamp` the checksums are made to fit.
fn edit(node: &Node, fault: &Fault, keeps_cache: bool) -> Option<FaultId> {
    let cause = Cause::Fault(fault.kind);
    let spot = aim::spot(node, &fault.target)?;
    if spot.length == 0 {
        return None;
    }
    if fault.restamp {
        return edit_restamped(node, fault, spot, keeps_cache);
    }
    match fault.edit {
        Some(Edit::Value(value)) => {
            let width = spot.length.min(8) as usize;
            let bytes = &value.to_le_bytes()[..width];
            let damage = Damage::Overwrite { position: spot.position, bytes };
            node.disk.damage(spot.file, damage, cause, keeps_cache)
        }
        Some(Edit::Bit(bit)) => flip(node, spot, bit, cause, keeps_cache),
        None => flip(node, spot, 0, cause, keeps_cache),
    }
}

fn flip(node: &Node, spot: Spot, bit: u32, cause: Cause, keeps_cache: bool) -> Option<FaultId> {
    let position = spot.position + u64::from(bit / 8) % spot.length;
    let damage = Damage::FlipBit { position, bit: (bit % 8) as u8 };
    node.disk.damage(spot.file, damage, cause, keeps_cache)
}

fn edit_restamped(node: &Node, fault: &Fault, spot: Spot, keeps_cache: bool) -> Option<FaultId> {
    let Target::Batch { partition, batch, .. } = &fault.target else { return None };
    let truth = &node.slots[spot.slot].truth;
    let write = truth.find(*batch)?;
    let mut bytes = truth.bytes_of(write).to_vec();
    let at = usize::try_from(spot.position - write.position).ok()?;
    match fault.edit {
        Some(Edit::Value(value)) => {
            let width = spot.length.min(8) as usize;
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        Some(Edit::Bit(bit)) => bytes[at + field_byte(bit, spot.length)] ^= 1 << (bit % 8),
        None => bytes[at] ^= 1,
    }
    restamp(&mut bytes)?;
    let damage = Damage::Overwrite { position: write.position, bytes: &bytes };
    assert!(*partition == node.slots[spot.slot].header.namespace, "a spot lies in its target's partition");
    node.disk.damage(spot.file, damage, Cause::Fault(fault.kind), keeps_cache)
}

/// The byte of a field of `width` bytes in which a bit lies; bits behind the field start over.
fn field_byte(bit: u32, width: u64) -> usize {
    usize::try_from(u64::from(bit / 8) % width).expect("a field is short")
}

/// Makes the checksums of a batch fit what it says, so that the edit verifies.
fn restamp(bytes: &mut [u8]) -> Option<()> {
    let header = recovery_core::format::BatchHeader::read(bytes.get(..256)?.try_into().expect("256 bytes"));
    stamp(bytes, header.partition_id, header.base_offset, header.base_timestamp).ok().map(drop)
}

/// A range that was written and never reached the medium: zeros there, and the old length at the end.
fn lose(node: &Node, fault: &Fault, keeps_cache: bool) -> Option<FaultId> {
    let cause = Cause::Fault(fault.kind);
    let spot = aim::spot(node, &fault.target)?;
    let file_length = node.disk.length_of(spot.file, View::Visible);
    if spot.position >= file_length {
        return None;
    }
    let damage = if spot.position + spot.length >= file_length {
        Damage::Length { length: spot.position }
    } else {
        Damage::Zero { position: spot.position, length: spot.length }
    };
    node.disk.damage(spot.file, damage, cause, keeps_cache)
}

/// Lays the bytes of a batch somewhere else: over another batch, or at a chain's end.
fn lay(node: &Node, fault: &Fault, keeps_cache: bool) -> Option<FaultId> {
    let cause = Cause::Fault(fault.kind);
    let Target::Batch { partition, batch, .. } = &fault.target else { return None };
    let source = aim::slot_of(node, *partition)?;
    let truth = &node.slots[source].truth;
    let write = truth.find(*batch)?;
    let bytes = truth.bytes_of(write).to_vec();
    let to = fault.to.partition.unwrap_or(*partition);
    let place = destination(node, fault, to, *batch)?;
    // Where a write was meant to go must be there too, or the fault finds no place.
    let meant = if fault.kind == FaultKind::MisdirectedWrite {
        Some(aim::whole(node, *partition, FileRole::Log(write.segment))?)
    } else {
        None
    };
    let laid = node.disk.damage(
        place.file,
        Damage::Overwrite { position: place.position, bytes: &bytes },
        cause,
        keeps_cache,
    )?;
    if let Some(meant) = meant {
        let damage = Damage::Zero { position: write.position, length: u64::from(write.length) };
        node.disk.damage(meant.file, damage, cause, keeps_cache);
    }
    Some(laid)
}

pub(super) fn destination(node: &Node, fault: &Fault, to: Namespace, source: BatchId) -> Option<Spot> {
    let at_batch = match (fault.kind, fault.to.batch) {
        (_, Some(batch)) => Some(batch),
        (FaultKind::StaleGenerationBatch, None) if fault.to.segment.is_none() => Some(source),
        (_, None) => None,
    };
    if let Some(batch) = at_batch {
        return aim::spot(node, &Target::Batch { partition: to, batch, field: None });
    }
    let segment = fault.to.segment.or_else(|| aim::newest_segment(node, to))?;
    let mut spot = aim::whole(node, to, FileRole::Log(segment))?;
    spot.position = spot.length;
    Some(spot)
}

/// The directory entry that a fault on names is about.
pub(super) fn entry(node: &Node, fault: &Fault) -> Option<(DirectoryId, Name)> {
    let namespace = fault.target.partition()?;
    let slot = aim::slot_of(node, namespace)?;
    let directory = look::directory(&node.disk, &node.slots[slot].components)?;
    let name = match &fault.target {
        Target::Name { name, .. } => Name::new(name.as_bytes())?,
        Target::File { file, .. } => aim::name_of(*file),
        Target::Segment { segment, .. } if fault.kind == FaultKind::OperatorDeletesIndex => {
            FileName::index(*segment)
        }
        Target::Segment { segment, .. } => FileName::log(*segment),
        Target::IndexEntry { segment, .. } => FileName::index(*segment),
        Target::LedgerRecord { .. } => FileName::ledger(),
        Target::Superblock { slot, .. } => aim::name_of(FileRole::Superblock(*slot)),
        Target::Batch { .. } => aim::spot(node, &fault.target)?.name,
        Target::Partition(_) if fault.kind == FaultKind::OperatorDropsLedger => FileName::ledger(),
        Target::Partition(_) if fault.kind == FaultKind::OperatorDeletesIndex => {
            FileName::index(aim::newest_segment(node, namespace)?)
        }
        Target::Partition(_) => FileName::log(aim::newest_segment(node, namespace)?),
        Target::Any => return None,
    };
    Some((directory, name))
}

/// An operator copies a segment's log under another name, here or into another partition.
fn copy_segment(node: &Node, fault: &Fault) -> Option<FaultId> {
    let spot = aim::spot(node, &fault.target)?;
    let namespace = fault.to.partition.or(fault.target.partition())?;
    let target = aim::slot_of(node, namespace)?;
    let directory = look::directory(&node.disk, &node.slots[target].components)?;
    let name = fault.to.segment.map_or(spot.name, FileName::log);
    let bytes = node.disk.contents_of(spot.file, View::Visible);
    node.disk.put_file(directory, &name, &bytes, Cause::Fault(fault.kind))
}

fn stray(node: &Node, fault: &Fault) -> Option<FaultId> {
    let Target::Name { partition, name } = &fault.target else { return None };
    let slot = aim::slot_of(node, *partition)?;
    let directory = look::directory(&node.disk, &node.slots[slot].components)?;
    let name = Name::new(name.as_bytes())?;
    if node.disk.entry(directory, &name, View::Visible).is_some() {
        return None;
    }
    let bytes: Vec<u8> = (0..fault.bytes.unwrap_or(64))
        .map(|at| u8::try_from((at * 37 + 11) % 256).expect("a remainder fits"))
        .collect();
    let stray = match fault.entry {
        StrayEntry::File => Stray::File(&bytes),
        StrayEntry::Directory => Stray::Directory,
        StrayEntry::Other => Stray::Link,
    };
    node.disk.put_stray(directory, &name, stray, Cause::Fault(fault.kind))
}
