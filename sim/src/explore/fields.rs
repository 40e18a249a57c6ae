//! One damage at a time to everything that lies on a disk: every field of every structure, every sector,
//! every name.
//!
//! Promises: each field has its low bits, its middle and its highest one flipped, once as damage and, where
//! a structure has a checksum, once as a change that verifies. Leaves out: two damages at once, which seeds
//! have.

use std::borrow::Cow;

use recovery_core::units::Namespace;

use crate::schedule::{
    Action, BatchField, BatchId, Edit, Fault, FaultKind, FileRole, FrameField, HeaderField, IndexField,
    LedgerField, Schedule, Slot, SuperblockField, Target,
};
use crate::world::FileMeasure;

/// Most batches, and frames of each, that are damaged field by field: the oldest and the newest ones.
const BATCHES_MAX: usize = 6;
const FRAMES_MAX: u32 = 2;

/// Most records or entries of one file: the oldest and the newest ones.
const ELEMENTS_MAX: u64 = 6;

/// Most sectors of a file that are damaged one by one, the newest ones.
const SECTORS_MAX: u64 = 16;

/// Bytes that one message's user headers or payload are taken to have.
const PAYLOAD_BYTES: u32 = 16;

/// Every damage to what a schedule leaves on its disk. `files` are the files that lie there.
pub(super) fn of(schedule: &Schedule, files: &[(Namespace, FileMeasure)]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for partition in schedule.world.partitions.iter().map(|partition| partition.namespace) {
        for batch in ends(batches(schedule, partition), BATCHES_MAX) {
            of_batch(partition, batch, &mut faults);
        }
    }
    for (partition, file) in files {
        of_elements(*partition, file, &mut faults);
        of_sectors(*partition, file, schedule.world.sector_bytes, &mut faults);
        let name = Cow::Owned(file.name.to_string());
        faults.push(Fault::new(FaultKind::LostDirectoryEntry, Target::Name { partition: *partition, name }));
    }
    faults
}

/// The first half of `most` and the last.
fn ends<T: Copy>(all: Vec<T>, most: usize) -> Vec<T> {
    if all.len() <= most {
        return all;
    }
    let half = most / 2;
    [&all[..half], &all[all.len() - (most - half)..]].concat()
}

/// The batches that a schedule writes to a partition.
fn batches(schedule: &Schedule, partition: Namespace) -> Vec<BatchId> {
    let of_partition = schedule.steps.iter().filter(|step| step.action.partition() == Some(partition));
    of_partition
        .filter(|step| !matches!(step.action, Action::Plant(_)))
        .filter_map(|step| step.action.batches())
        .flat_map(|(first, last)| (first.0..=last.0).map(BatchId))
        .collect()
}

/// The bits that are flipped in a field of `bytes` bytes.
fn bits(bytes: u32) -> Vec<u32> {
    let last = bytes * 8 - 1;
    let mut bits = vec![0, 1, 2, 7, last / 2 + 1, last];
    bits.retain(|bit| *bit <= last);
    bits.sort_unstable();
    bits.dedup();
    bits
}

/// Flips the bits of a field, as damage and as a change that verifies.
fn flips(target: &Target, bytes: u32, has_checksum: bool, faults: &mut Vec<Fault>) {
    for bit in bits(bytes) {
        for restamp in [false, true].into_iter().take(1 + usize::from(has_checksum)) {
            let edit = Some(Edit::Bit(bit));
            faults.push(Fault { edit, restamp, ..Fault::new(FaultKind::BitFlip, target.clone()) });
        }
    }
}

fn of_batch(partition: Namespace, batch: BatchId, faults: &mut Vec<Fault>) {
    let target = |field| Target::Batch { partition, batch, field };
    for field in HeaderField::ALL {
        let is_checksum = field == HeaderField::BatchChecksum;
        flips(&target(Some(BatchField::Header(field))), field.span().width_bytes, !is_checksum, faults);
    }
    for frame in 0..FRAMES_MAX {
        for field in FrameField::ALL {
            let bytes = field.span().map_or(PAYLOAD_BYTES, |span| span.width_bytes);
            let is_checksum = field == FrameField::Checksum;
            flips(&target(Some(BatchField::Frame { frame, field })), bytes, !is_checksum, faults);
        }
    }
    for kind in [FaultKind::Zeroed, FaultKind::Noise, FaultKind::DuplicateBatch] {
        faults.push(Fault::new(kind, target(None)));
    }
}

fn of_elements(partition: Namespace, file: &FileMeasure, faults: &mut Vec<Fault>) {
    let numbers = |bytes: u64| {
        let all: Vec<u64> = (0..file.bytes / bytes).collect();
        let most = usize::try_from(ELEMENTS_MAX).expect("a few");
        ends(all, most).into_iter().map(|number| u32::try_from(number).expect("a file of a world is short"))
    };
    match file.role {
        FileRole::Index(segment) => {
            for index in numbers(24) {
                for field in IndexField::ALL {
                    let target = Target::IndexEntry { partition, segment, index, field: Some(field) };
                    flips(&target, field.span().width_bytes, false, faults);
                }
            }
        }
        FileRole::Ledger => {
            for record in numbers(128) {
                for field in LedgerField::ALL {
                    let target = Target::LedgerRecord { partition, record, field: Some(field) };
                    let is_checksum = field == LedgerField::Checksum;
                    flips(&target, field.span().width_bytes, !is_checksum, faults);
                }
            }
        }
        FileRole::Superblock(slot) => of_superblock(partition, slot, faults),
        FileRole::Log(_)
        | FileRole::IndexStaging(_)
        | FileRole::LedgerStaging
        | FileRole::CopyLog(_)
        | FileRole::CopyLedger
        | FileRole::Complete
        | FileRole::Fenced
        | FileRole::MetadataLog
        | FileRole::Directory => {}
    }
}

fn of_superblock(partition: Namespace, slot: Slot, faults: &mut Vec<Fault>) {
    for field in SuperblockField::ALL {
        let target = Target::Superblock { partition, slot, field: Some(field) };
        let is_checksum = field == SuperblockField::Checksum;
        flips(&target, field.span().width_bytes, !is_checksum, faults);
    }
}

fn of_sectors(partition: Namespace, file: &FileMeasure, sector_bytes: u32, faults: &mut Vec<Fault>) {
    let sector = u64::from(sector_bytes);
    let sectors = file.bytes.div_ceil(sector);
    let first = sectors - sectors.min(SECTORS_MAX);
    for at in first..sectors {
        for kind in [FaultKind::Zeroed, FaultKind::Noise, FaultKind::LatentSectorError] {
            let (position, length) = (at * sector, Some(sector));
            let target = Target::File { partition, file: file.role, position, length };
            faults.push(Fault::new(kind, target));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_its_low_bits_its_middle_and_its_highest_flipped() {
        assert_eq!(bits(1), [0, 1, 2, 4, 7]);
        assert_eq!(bits(8), [0, 1, 2, 7, 32, 63]);
    }

    #[test]
    fn of_many_things_the_oldest_and_the_newest_are_taken() {
        assert_eq!(ends(vec![1, 2, 3], 4), [1, 2, 3]);
        assert_eq!(ends((0..9).collect(), 5), [0, 1, 6, 7, 8]);
    }
}
