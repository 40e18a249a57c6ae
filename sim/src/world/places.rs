//! Where a fault does damage that no crash explains, as the oracle takes it.
//!
//! Promises: asked before the fault acts, since it may move the end of the file that it is aimed at; at
//! least everything that the fault changes is named. Leaves out: what is changed there.

use crate::oracle::damage::Place;
use crate::schedule::{Fault, FaultKind, FileRole, Target};

use super::aim::{self, Spot};
use super::damage::{destination, entry, moved};
use super::node::Node;

/// The places of a fault that acts now, each with the index of its partition's slot.
pub(super) fn places(node: &Node, fault: &Fault) -> Vec<(usize, Place)> {
    if matches!(&fault.target, Target::File { file: FileRole::Directory, .. }) {
        return anywhere(node, fault);
    }
    if matches!(&fault.target, Target::File { file, .. } if !file.is_inside()) {
        // It is beside the partition, and explains nothing in it.
        return Vec::new();
    }
    match fault.kind {
        FaultKind::LatentSectorError => {
            let spot = aim::spot(node, &fault.target);
            spot.map(|spot| unreadable(sectors_of(node, spot))).into_iter().collect()
        }
        FaultKind::BitFlip
        | FaultKind::Zeroed
        | FaultKind::Noise
        | FaultKind::ShornWrite
        | FaultKind::LostWrite => aim::spot(node, &whole_if_restamped(fault)).map(at).into_iter().collect(),
        FaultKind::ForeignBatch
        | FaultKind::DuplicateBatch
        | FaultKind::StaleGenerationBatch
        | FaultKind::MisdirectedWrite => laid(node, fault),
        FaultKind::LostDirectoryEntry
        | FaultKind::OperatorDeletesIndex
        | FaultKind::OperatorDropsLedger
        | FaultKind::UndoneUnlink
        | FaultKind::OperatorRestoresFile => {
            let slot = fault.target.partition().and_then(|namespace| aim::slot_of(node, namespace));
            slot.zip(entry(node, fault))
                .map(|(slot, (_, name))| (slot, Place::File(name)))
                .into_iter()
                .collect()
        }
        FaultKind::UndoneRename | FaultKind::OperatorCopiesSegment | FaultKind::StrayFile => {
            anywhere(node, fault)
        }
        // Reads and reports are told of apart, and an order of names is no damage.
        FaultKind::ListingOrder
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
        | FaultKind::ReadOnly => Vec::new(),
    }
}

fn at(spot: Spot) -> (usize, Place) {
    let range = spot.position..spot.position + spot.length;
    (spot.slot, Place::Bytes { file: spot.name, range })
}

fn unreadable(spot: Spot) -> (usize, Place) {
    let range = spot.position..spot.position + spot.length;
    (spot.slot, Place::Unreadable { file: spot.name, range })
}

/// A sector is readable or it is not, whatever part of it was aimed at.
fn sectors_of(node: &Node, spot: Spot) -> Spot {
    let sector = node.disk.geometry().sector_bytes();
    let position = spot.position - spot.position % sector;
    let end = (spot.position + spot.length).next_multiple_of(sector);
    Spot { position, length: end - position, ..spot }
}

/// Checksums that are made to fit change a batch in more than the field that is aimed at.
fn whole_if_restamped(fault: &Fault) -> Target {
    let mut target = fault.target.clone();
    if let Target::Batch { field, .. } = &mut target
        && fault.restamp
    {
        *field = None;
    }
    target
}

/// Where a batch is laid, and where it was meant to be.
fn laid(node: &Node, fault: &Fault) -> Vec<(usize, Place)> {
    let Some(partition) = fault.target.partition() else { return Vec::new() };
    let source = aim::slot_of(node, partition).map(|slot| node.slots[slot].truth.writes());
    let write = source.and_then(|writes| moved(writes, &fault.target));
    let Some(batch) = write.and_then(|write| write.batch) else { return Vec::new() };
    let meant = Target::Batch { partition, batch, field: None };
    let Some(meant) = aim::spot(node, &meant) else { return anywhere(node, fault) };
    let to = fault.to.partition.unwrap_or(partition);
    let Some(place) = destination(node, fault, to, batch) else { return Vec::new() };
    let mut places = vec![at(Spot { length: meant.length, ..place })];
    if fault.kind == FaultKind::MisdirectedWrite {
        places.push(at(meant));
    }
    places
}

/// Every partition that the fault names.
fn anywhere(node: &Node, fault: &Fault) -> Vec<(usize, Place)> {
    let named = [fault.target.partition(), fault.to.partition];
    let slots = named.into_iter().flatten().filter_map(|namespace| aim::slot_of(node, namespace));
    slots.map(|slot| (slot, Place::Anywhere)).collect()
}
