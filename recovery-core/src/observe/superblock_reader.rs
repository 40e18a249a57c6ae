//! Reads the two superblock slots and says what they say together (IGGY_FORMAT section 6).

use super::SuperblockState;
use super::meter::Meter;
use crate::format::{SUPERBLOCK_BYTES_MAX, Superblock, SuperblockSlot};
use crate::storage::{Access, Call, Errno, PartitionDirectory, Storage, StorageError, exact};
use crate::units::Length;

/// Most bytes that reading both slots takes, read and hashed together: each whole, and twice where it does not
/// verify. They are read in one step, whatever its limit.
pub const SUPERBLOCK_STEP_BYTES: u64 = 2 * 2 * 2 * SUPERBLOCK_BYTES_MAX as u64;

/// Which cluster and replica a superblock must belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperblockIdentity {
    /// Cluster id.
    pub cluster: u128,
    /// Replica id.
    pub replica: u8,
    /// Replicas in the cluster.
    pub replica_count: u8,
}

impl SuperblockIdentity {
    /// What a superblock says that it belongs to.
    pub const fn of(record: &Superblock) -> Self {
        Self { cluster: record.cluster, replica: record.replica, replica_count: record.replica_count }
    }
}

/// One slot as it was found.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Empty,
    Valid(Superblock),
    Damaged(Length),
}

/// Reads the slots that the listing names. Bytes are few ([`SUPERBLOCK_STEP_BYTES`]), so the step's limit is
/// not asked; they are counted.
///
/// # Errors
///
/// When a slot cannot be opened or read.
pub(crate) fn read<S: Storage>(
    storage: &S,
    partition: &PartitionDirectory<S>,
    slots: &[SuperblockSlot],
    identity: Option<SuperblockIdentity>,
    meter: &mut Meter,
) -> Result<SuperblockState, StorageError> {
    let mut newest: Option<(SuperblockSlot, Superblock)> = None;
    let mut damaged = None;
    for slot in slots {
        match read_slot(storage, &partition.directory, *slot, meter)? {
            Slot::Empty => {}
            Slot::Damaged(length) => damaged = damaged.or(Some((*slot, length))),
            // On a tie the first slot counts.
            Slot::Valid(record) => {
                if newest.is_none_or(|(_, other)| record.sequence > other.sequence) {
                    newest = Some((*slot, record));
                }
            }
        }
    }
    if let Some((slot, length)) = damaged {
        return Ok(SuperblockState::Unreadable { slot, length });
    }
    let Some((slot, record)) = newest else { return Ok(SuperblockState::None) };
    let found = SuperblockIdentity::of(&record);
    if identity.is_some_and(|expected| expected != found) {
        return Ok(SuperblockState::Mismatch { slot });
    }
    Ok(SuperblockState::Known { offset_frontier: record.offset_frontier, slot, sequence: record.sequence })
}

/// The record in one slot; `None` if that is empty or does not verify.
///
/// # Errors
///
/// When the slot cannot be opened or read.
pub(crate) fn read_superblock<S: Storage>(
    storage: &S,
    directory: &S::Directory,
    slot: SuperblockSlot,
) -> Result<Option<Superblock>, StorageError> {
    match read_slot(storage, directory, slot, &mut Meter::default())? {
        Slot::Valid(record) => Ok(Some(record)),
        Slot::Empty | Slot::Damaged(_) => Ok(None),
    }
}

fn read_slot<S: Storage>(
    storage: &S,
    directory: &S::Directory,
    slot: SuperblockSlot,
    meter: &mut Meter,
) -> Result<Slot, StorageError> {
    let name = slot.name();
    let file = exact::uninterrupted(|| storage.open(directory, &name, Access::Read))?;
    let found = read_open_slot(storage, &file, &name, meter);
    storage.close(file);
    found
}

fn read_open_slot<S: Storage>(
    storage: &S,
    file: &S::File,
    name: &crate::storage::Name,
    meter: &mut Meter,
) -> Result<Slot, StorageError> {
    let length = exact::uninterrupted(|| storage.length(file))?;
    if length == 0 {
        return Ok(Slot::Empty);
    }
    let damaged = Slot::Damaged(Length::new(length));
    let Ok(bytes) = usize::try_from(length) else { return Ok(damaged) };
    if bytes > SUPERBLOCK_BYTES_MAX {
        return Ok(damaged);
    }
    let mut read = || {
        let mut buffer = [0; SUPERBLOCK_BYTES_MAX];
        exact::read_all(storage, file, name, 0, &mut buffer[..bytes])?;
        meter.note_outside_limit(length, length);
        Ok(buffer)
    };
    let first = read()?;
    if let Ok(record) = Superblock::decode(&first[..bytes]) {
        return Ok(Slot::Valid(record));
    }
    // One reading is no evidence of damage (N13).
    if read()? == first {
        return Ok(damaged);
    }
    Err(StorageError { call: Call::Read, file: *name, errno: Errno::STALE })
}
