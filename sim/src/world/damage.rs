//! Faults as steps: damage now, at a place that the schedule names.
//!
//! Promises: a fault that finds no place is missed, and says so. Leaves out: faults inside a step
//! ([`super::interrupt`]).

use recovery_core::format::FileName;
use recovery_core::storage::Name;
use recovery_core::units::Namespace;

use super::aim::{self, Spot};
use super::node::Node;
use super::places::places;
use super::{interrupt, look, restamp, standing};
use crate::disk::{Cause, Damage, DirectoryId, FaultId, Stray, View};
use crate::oracle::damage::Place;
use crate::oracle::truth::Write;
use crate::schedule::{AsStep, BatchId, Edit, Fault, FaultKind, FileRole, StrayEntry, Target};

/// Applies a fault, or arms it. The places of damage that no crash explains, each with the index of its partition's
/// slot; `None` if it found no place.
pub(super) fn apply(node: &mut Node, fault: &Fault, keeps_cache: bool) -> Option<Vec<(usize, Place)>> {
    let waits = fault.kind.as_step() == AsStep::Calls;
    let mut places = places(node, fault);
    let found = if waits { standing::arm(node, fault) } else { act(node, fault, keeps_cache).map(drop) };
    if found.is_none() {
        node.disk.miss(Cause::Fault(fault.kind));
        return None;
    }
    if fault.kind.is_legal() || waits {
        places.clear();
    }
    for (slot, place) in &places {
        node.slots[*slot].truth.damages.add(place.clone());
    }
    Some(places)
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
        FaultKind::LostWrite | FaultKind::ShornWrite => lose(node, fault, keeps_cache),
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
        FaultKind::ListingOrder => Some(node.disk.set_listing_order(interrupt::listing_order(fault), cause)),
        FaultKind::LyingFlush
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

/// Flips a bit of a field, or gives it a value; with `restamp` the checksums are made to fit, where there
/// are any and the bytes still have a form that can have them.
fn edit(node: &Node, fault: &Fault, keeps_cache: bool) -> Option<FaultId> {
    let spot = aim::spot(node, &fault.target).filter(|spot| spot.length > 0)?;
    let whole = if fault.restamp { aim::whole_element(node, &fault.target) } else { None };
    let (around, bytes) = match (whole, fault.edit) {
        (Some(whole), _) => (whole, edit_whole(node, fault, &spot, &whole)?),
        (None, Some(Edit::Value(_))) => {
            // Where no field is named, a value is as wide as it is.
            let length = if fault.target.names_field() { spot.length } else { spot.length.min(8) };
            let mut bytes = bytes_at(node, &Spot { length, ..spot })?;
            change(&mut bytes, fault);
            (spot, bytes)
        }
        (None, Some(Edit::Bit(bit))) => return flip(node, spot, bit, keeps_cache),
        (None, None) => return flip(node, spot, 0, keeps_cache),
    };
    let damage = Damage::Overwrite { position: around.position, bytes: &bytes };
    node.disk.damage(around.file, damage, Cause::Fault(fault.kind), keeps_cache)
}

fn flip(node: &Node, spot: Spot, bit: u32, keeps_cache: bool) -> Option<FaultId> {
    let position = spot.position + u64::from(bit / 8) % spot.length;
    let damage = Damage::FlipBit { position, bit: (bit % 8) as u8 };
    node.disk.damage(spot.file, damage, Cause::Fault(FaultKind::BitFlip), keeps_cache)
}

/// A batch, record or superblock with one field changed, and its checksums made to fit.
fn edit_whole(node: &Node, fault: &Fault, spot: &Spot, whole: &Spot) -> Option<Vec<u8>> {
    let mut bytes = bytes_at(node, whole)?;
    let from = usize::try_from(spot.position - whole.position).ok()?;
    let to = (from + usize::try_from(spot.length).ok()?).min(bytes.len());
    change(bytes.get_mut(from..to).filter(|field| !field.is_empty())?, fault);
    if let Target::Batch { .. } = &fault.target {
        // What is no batch any more has no checksums that could fit.
        let _is_stamped = restamp::batch(&mut bytes);
    } else {
        restamp::record(&mut bytes);
    }
    Some(bytes)
}

/// The bytes at a place as reads see them; as many as there are.
fn bytes_at(node: &Node, spot: &Spot) -> Option<Vec<u8>> {
    let length = node.disk.length_of(spot.file, View::Visible);
    let end = spot.position.saturating_add(spot.length).min(length);
    let mut bytes = vec![0; usize::try_from(end.checked_sub(spot.position)?).ok()?];
    node.disk.peek(spot.file, View::Visible, spot.position, &mut bytes);
    (!bytes.is_empty()).then_some(bytes)
}

/// Changes a field as the fault says. Bits behind its end start over.
fn change(field: &mut [u8], fault: &Fault) {
    let width = field.len();
    match fault.edit {
        Some(Edit::Value(value)) => {
            let value = value.to_le_bytes();
            let short = width.min(value.len());
            field[..short].copy_from_slice(&value[..short]);
            if fault.target.names_field() {
                field[short..].fill(0);
            }
        }
        Some(Edit::Bit(bit)) => field[(bit / 8) as usize % width] ^= 1 << (bit % 8),
        None => field[0] ^= 1,
    }
}

/// A range that was written and never reached the medium, or all of it but its first bytes: zeros there, and
/// the old length at the end.
fn lose(node: &Node, fault: &Fault, keeps_cache: bool) -> Option<FaultId> {
    let cause = Cause::Fault(fault.kind);
    let mut spot = aim::spot(node, &fault.target)?;
    if fault.kind == FaultKind::ShornWrite {
        // Something of it is new, and something is not, or it would not be shorn.
        let new = fault.bytes.unwrap_or(spot.length.div_ceil(2)).clamp(1, spot.length.max(2) - 1);
        spot.position += new;
        spot.length = spot.length.checked_sub(new).filter(|rest| *rest > 0)?;
    }
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
    let partition = fault.target.partition()?;
    let source = aim::slot_of(node, partition)?;
    let truth = &node.slots[source].truth;
    let write = moved(truth.writes(), &fault.target)?;
    let bytes = truth.bytes_of(write).to_vec();
    let to = fault.to.partition.unwrap_or(partition);
    let place = destination(node, fault, to, write.batch?)?;
    // Where a write was meant to go must be there too, or the fault finds no place.
    let meant = if fault.kind == FaultKind::MisdirectedWrite {
        Some(aim::whole(node, partition, FileRole::Log(write.segment))?)
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

/// The batch that a fault moves: the one it names, or the newest that the schedule has a name for.
pub(super) fn moved<'a>(writes: &'a [Write], target: &Target) -> Option<&'a Write> {
    let named = match target {
        Target::Batch { batch, .. } => Some(*batch),
        Target::Any
        | Target::Partition(_)
        | Target::Segment { .. }
        | Target::IndexEntry { .. }
        | Target::LedgerRecord { .. }
        | Target::Superblock { .. }
        | Target::File { .. }
        | Target::Name { .. } => None,
    };
    writes.iter().rev().find(|write| match named {
        Some(batch) => write.batch == Some(batch),
        None => write.batch.is_some(),
    })
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
    let components = &node.slots[slot].components;
    if let Target::File { file: FileRole::Directory, .. } = &fault.target {
        let (name, above) = components.split_last()?;
        return Some((look::directory(&node.disk, above)?, *name));
    }
    let directory = look::directory(&node.disk, components)?;
    let name = match &fault.target {
        Target::Name { name, .. } => Name::new(name.as_bytes())?,
        // Names beside the directory are not in it.
        Target::File { file, .. } if !file.is_inside() => return None,
        Target::File { file, .. } => aim::name_of(*file)?,
        Target::Segment { segment, .. } if fault.kind == FaultKind::OperatorDeletesIndex => {
            FileName::index(*segment)
        }
        Target::Segment { segment, .. } => FileName::log(*segment),
        Target::IndexEntry { segment, .. } => FileName::index(*segment),
        Target::LedgerRecord { .. } => FileName::ledger(),
        Target::Superblock { slot, .. } => aim::name_of(FileRole::Superblock(*slot))?,
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
