//! Writes the superblock of a partition: two slots, in turn, the frontier only ever forward.
//!
//! Promises: a slot is replaced whole or not at all, since one with half a record would make the pair
//! unreadable; the slot with the newest record is never the one that is replaced; nothing is written while
//! the partition is not served whole, since only a served one has a writer. Leaves out: reserving ahead,
//! which the ledger does; another server that found a frontier past the log would skip those offsets.

use thiserror::Error;

use crate::format::{Superblock, SuperblockSlot};
use crate::observe::{SuperblockIdentity, SuperblockState, read_superblock};
use crate::storage::{Access, Errno, Storage, StorageError, exact};
use crate::units::Offset;

/// Why a superblock was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SuperblockError {
    /// A storage call failed, and both slots are as they were.
    #[error("the superblock was not written: {0}")]
    Io(StorageError),
    /// Which record a later start finds is not known any more, so nothing is written before it was read.
    #[error("no superblock is written any more since this happened: {cause}")]
    Blocked {
        /// The failure that did it.
        cause: StorageError,
    },
    /// The newest record has the last sequence number that there is, which only damage can have given it: none can be
    /// written that a later start would take for newer.
    #[error("the superblock was not written: its newest record has the last sequence number there is")]
    Exhausted,
}

/// The writer of one partition's superblock.
#[derive(Clone, Copy, Debug)]
pub struct SuperblockWriter {
    newest: Superblock,
    slot: Option<SuperblockSlot>,
    blocked: Option<StorageError>,
}

impl SuperblockWriter {
    /// A writer that goes on from what was found; without a superblock it begins one if `identity` is known,
    /// and there is none otherwise.
    ///
    /// # Errors
    ///
    /// As [`Storage::open`] and [`Storage::read`]; [`Errno::STALE`] if the slot is not what was found.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::host::SuperblockWriter;
    /// use recovery_core::observe::{SuperblockIdentity, SuperblockState};
    /// # use recovery_core::storage::Storage;
    /// # use recovery_core::storage::os::OsStorage;
    /// use recovery_core::units::Offset;
    ///
    /// # let data = tempfile::tempdir()?;
    /// # let storage = OsStorage::open(data.path())?;
    /// # let directory = storage.root()?;
    /// // Observation found no superblock, and the server knows which one it should be.
    /// let (found, identity) = (SuperblockState::None, SuperblockIdentity { cluster: 7, replica: 0, replica_count: 1 });
    /// let writer = SuperblockWriter::open(&storage, &directory, &found, Some(identity))?;
    /// let mut writer = writer.expect("one is begun where the identity is known");
    /// // From here on no message gets an offset below 1,000. The call has synced the slot and its name.
    /// writer.advance(&storage, &directory, Offset::new(1_000))?;
    /// assert_eq!(writer.frontier(), Offset::new(1_000));
    /// // Without an identity none is begun.
    /// assert!(SuperblockWriter::open(&storage, &directory, &found, None)?.is_none());
    /// # storage.close_directory(directory);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open<S: Storage>(
        storage: &S,
        directory: &S::Directory,
        found: &SuperblockState,
        identity: Option<SuperblockIdentity>,
    ) -> Result<Option<Self>, StorageError> {
        match *found {
            SuperblockState::Known { slot, sequence, .. } => {
                let newest = read_superblock(storage, directory, slot)?;
                let stale =
                    StorageError { call: crate::storage::Call::Read, file: slot.name(), errno: Errno::STALE };
                let newest = newest.filter(|newest| newest.sequence == sequence).ok_or(stale)?;
                Ok(Some(Self { newest, slot: Some(slot), blocked: None }))
            }
            SuperblockState::None => Ok(identity.map(|identity| Self {
                newest: Superblock {
                    sequence: 0,
                    cluster: identity.cluster,
                    replica: identity.replica,
                    replica_count: identity.replica_count,
                    view: 0,
                    log_view: 0,
                    commit: 0,
                    offset_frontier: Offset::ZERO,
                },
                slot: None,
                blocked: None,
            })),
            SuperblockState::Unreadable { .. } | SuperblockState::Mismatch { .. } => Ok(None),
        }
    }

    /// The frontier that is durable.
    pub const fn frontier(&self) -> Offset {
        self.newest.offset_frontier
    }

    /// Records that no offset below `frontier` will be minted, durably. One that is no further than the last
    /// is no call.
    ///
    /// # Errors
    ///
    /// [`SuperblockError`].
    pub fn advance<S: Storage>(
        &mut self,
        storage: &S,
        directory: &S::Directory,
        frontier: Offset,
    ) -> Result<(), SuperblockError> {
        if let Some(cause) = self.blocked {
            return Err(SuperblockError::Blocked { cause });
        }
        if frontier <= self.newest.offset_frontier {
            return Ok(());
        }
        let slot = match self.slot {
            Some(SuperblockSlot::A) => SuperblockSlot::B,
            Some(SuperblockSlot::B) | None => SuperblockSlot::A,
        };
        let sequence = self.newest.sequence.checked_add(1).ok_or(SuperblockError::Exhausted)?;
        let record = Superblock { sequence, offset_frontier: frontier, ..self.newest };
        replace(storage, directory, slot, &record).map_err(SuperblockError::Io)?;
        if let Err(cause) = storage.sync_directory(directory) {
            self.blocked = Some(cause);
            return Err(SuperblockError::Blocked { cause });
        }
        (self.newest, self.slot) = (record, Some(slot));
        Ok(())
    }
}

/// Stages the record, syncs it, and gives it the slot's name.
fn replace<S: Storage>(
    storage: &S,
    directory: &S::Directory,
    slot: SuperblockSlot,
    record: &Superblock,
) -> Result<(), StorageError> {
    let (name, staging) = (slot.name(), slot.staging());
    let file = create_or_empty(storage, directory, slot)?;
    let written =
        exact::write_all(storage, &file, &staging, 0, &record.encode()).and_then(|()| storage.sync(&file));
    storage.close(file);
    written?;
    exact::uninterrupted(|| storage.rename(directory, &staging, directory, &name))
}

/// What an earlier call left half-made is our own, and is written again.
fn create_or_empty<S: Storage>(
    storage: &S,
    directory: &S::Directory,
    slot: SuperblockSlot,
) -> Result<S::File, StorageError> {
    let staging = slot.staging();
    match exact::uninterrupted(|| storage.create(directory, &staging)) {
        Err(error) if error.errno == Errno::EXISTS => {
            let file = exact::uninterrupted(|| storage.open(directory, &staging, Access::ReadWrite))?;
            match exact::uninterrupted(|| storage.set_length(&file, 0)) {
                Ok(()) => Ok(file),
                Err(error) => {
                    storage.close(file);
                    Err(error)
                }
            }
        }
        answer => answer,
    }
}
