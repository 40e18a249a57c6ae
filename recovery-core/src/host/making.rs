//! Makes the directory of a new partition.
//!
//! Promises: `Made` is recorded after the directory, every name that leads to it, and the ledger that says
//! whose it is are durable; what is there already is taken only if it is this life's own, half-made or
//! whole, and is left alone otherwise (F63, N27). Leaves out: opening it, which recovery does as for any
//! other.

use super::slot::SlotState;
use super::{Cause, Host, HostEvent, directory};
use crate::format::{FileName, LEDGER_RECORD_BYTES, LedgerRecord, MetadataKind};
use crate::ledger::{LedgerError, LedgerWriter, NewLedger};
use crate::storage::{Access, EntryKind, LockMode, PartitionDirectory, Storage, StorageError, exact};
use crate::units::{Offset, SegmentStart};
use crate::wal::{Entry, Key};

/// What lies in a directory that is to be a new partition's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contents {
    /// Nothing that counts.
    Nothing,
    /// This life's ledger.
    Own,
    /// Something else.
    Foreign,
}

impl<S: Storage> Host<S> {
    /// Makes the directory of a created partition, and records it. It is judged next.
    pub(super) fn make(&mut self, storage: &S, key: &Key) {
        let Some(entry) = self.slots.get(key).map(|slot| slot.entry) else { return };
        if let Err(cause) = self.make_directory(storage, key, entry) {
            self.set_unavailable(storage, key, &cause);
            return;
        }
        match self.record(storage, key, MetadataKind::Made) {
            Ok(()) => {
                self.events.push(HostEvent::Made(*key));
                self.set(storage, key, SlotState::Waiting);
            }
            Err(error) => {
                if let Some(cause) = error.cause() {
                    self.set_unavailable(storage, key, &Cause::Io(*cause));
                }
            }
        }
    }

    fn make_directory(&self, storage: &S, key: &Key, entry: Entry) -> Result<(), Cause> {
        let made = directory::make(storage, key.namespace)?;
        let filled = self.fill(storage, &made, key, entry);
        made.close(storage);
        filled
    }

    fn fill(&self, storage: &S, made: &PartitionDirectory<S>, key: &Key, entry: Entry) -> Result<(), Cause> {
        made.lock(storage, LockMode::Exclusive)?;
        match contents(storage, made, key)? {
            Contents::Foreign => return Err(Cause::Occupied),
            Contents::Nothing if self.options.makes_ledgers => {
                let new = NewLedger {
                    namespace: key.namespace,
                    incarnation: key.incarnation,
                    durability: entry.durability,
                    epoch: 1,
                    generation: 0,
                    floor: SegmentStart::ZERO,
                    reserved_offset: Offset::ZERO,
                };
                LedgerWriter::create(storage, &made.directory, &new)
                    .map_err(|error| io_of(&error))?
                    .close(storage);
            }
            Contents::Own => {
                // Whoever made it may have died before its name was durable.
                storage.sync_directory(&made.directory)?;
            }
            Contents::Nothing => {}
        }
        Ok(())
    }
}

fn io_of(error: &LedgerError) -> Cause {
    match error.cause() {
        Some(cause) => Cause::Io(cause),
        None => unreachable!("a new ledger fails by storage alone: {error}"),
    }
}

/// Looks at what is there. The ledger's own half-made file counts as nothing; a directory of its name is somebody
/// else's.
fn contents<S: Storage>(
    storage: &S,
    made: &PartitionDirectory<S>,
    key: &Key,
) -> Result<Contents, StorageError> {
    let (mut has_ledger, mut has_others) = (false, false);
    exact::uninterrupted(|| {
        (has_ledger, has_others) = (false, false);
        storage.list(&made.directory, &mut |name, kind| {
            if kind == EntryKind::File && *name == FileName::ledger() {
                has_ledger = true;
            } else if kind != EntryKind::File || *name != FileName::ledger_staging() {
                has_others = true;
            }
        })
    })?;
    match (has_ledger, has_others) {
        (false, false) => Ok(Contents::Nothing),
        (false, true) => Ok(Contents::Foreign),
        (true, _) => Ok(if is_own(storage, made, key)? { Contents::Own } else { Contents::Foreign }),
    }
}

/// Whether the first record of the ledger is of this life.
fn is_own<S: Storage>(storage: &S, made: &PartitionDirectory<S>, key: &Key) -> Result<bool, StorageError> {
    let name = FileName::ledger();
    let file = exact::uninterrupted(|| storage.open(&made.directory, &name, Access::Read))?;
    let mut bytes = [0; LEDGER_RECORD_BYTES];
    let read = exact::read(storage, &file, 0, &mut bytes);
    storage.close(file);
    if read? < LEDGER_RECORD_BYTES {
        return Ok(false);
    }
    Ok(match LedgerRecord::decode(&bytes) {
        Ok(record) => record.namespace == key.namespace && record.incarnation == key.incarnation,
        Err(_) => false,
    })
}
