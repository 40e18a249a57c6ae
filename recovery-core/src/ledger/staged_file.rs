//! A new ledger: staged, synced, renamed, directory synced, in this order.
//!
//! Promises: the name `ledger` never stands for half a file, and a failure before the rename leaves the
//! old file as it was. Leaves out: what the records say.

use crate::format::{FileName, LEDGER_RECORD_BYTES, LedgerRecord};
use crate::ledger::LedgerError;
use crate::storage::{EntryKind, Errno, Storage, StorageError, exact};

/// Writes `records` to a new file and gives it the ledger's name.
///
/// # Errors
///
/// [`LedgerError::Io`] while the ledger's name still has what it had; [`LedgerError::Poisoned`] when the
/// directory sync behind the rename failed, so that nobody knows which file a later start will find.
pub(super) fn install<S: Storage>(
    storage: &S,
    directory: &S::Directory,
    records: &[LedgerRecord],
) -> Result<S::File, LedgerError> {
    assert!(!records.is_empty(), "a ledger without a record counts as none");
    let staging = FileName::ledger_staging();
    let file = create(storage, directory).map_err(LedgerError::Io)?;
    let written = fill(storage, &file, records).and_then(|()| {
        exact::uninterrupted(|| storage.rename(directory, &staging, directory, &FileName::ledger()))
    });
    if let Err(cause) = written {
        storage.close(file);
        // What is left over is our own half-made file. If it cannot be removed now, the next call does.
        let _left_over = storage.remove(directory, &staging, EntryKind::File);
        return Err(LedgerError::Io(cause));
    }
    match storage.sync_directory(directory) {
        Ok(()) => Ok(file),
        Err(cause) => {
            storage.close(file);
            Err(LedgerError::Poisoned { cause })
        }
    }
}

/// Creates the staging file; one that an earlier call left behind holds nothing that was promised.
fn create<S: Storage>(storage: &S, directory: &S::Directory) -> Result<S::File, StorageError> {
    let staging = FileName::ledger_staging();
    match exact::uninterrupted(|| storage.create(directory, &staging)) {
        Err(error) if error.errno == Errno::EXISTS => {
            exact::uninterrupted(|| storage.remove(directory, &staging, EntryKind::File))?;
            exact::uninterrupted(|| storage.create(directory, &staging))
        }
        answer => answer,
    }
}

fn fill<S: Storage>(storage: &S, file: &S::File, records: &[LedgerRecord]) -> Result<(), StorageError> {
    let mut bytes = Vec::with_capacity(records.len() * LEDGER_RECORD_BYTES);
    for (slot, record) in records.iter().enumerate() {
        assert!(record.slot == slot as u64, "a record is bound to its slot");
        bytes.extend_from_slice(&record.encode());
    }
    exact::write_all(storage, file, &FileName::ledger_staging(), 0, &bytes)?;
    storage.sync(file)
}
