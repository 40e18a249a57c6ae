//! The end of all writing: what is durable is not known any more, and only recovery can find out.
//!
//! A sync that failed leaves pages clean that were never written, and its retry succeeds (FAULT_MODEL 2.6).
//! So there is no retry, no mark and no acknowledgement after it. A write that cannot be taken back is the
//! same: the file is longer than the cursor says.

use super::WriterError;
use crate::ledger::LedgerError;
use crate::storage::{Storage, StorageError};

/// What ended all writing, if anything did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Poison(Option<StorageError>);

impl Poison {
    /// What every call asks first.
    pub(super) fn check(&self) -> Result<(), WriterError> {
        self.0.map_or(Ok(()), |cause| Err(WriterError::Poisoned { cause }))
    }

    /// The first cause, if there is one.
    pub(super) const fn cause(&self) -> Option<&StorageError> {
        self.0.as_ref()
    }

    /// Ends all writing because of `cause`.
    pub(super) fn set(&mut self, cause: &StorageError) -> WriterError {
        assert!(self.0.is_none(), "nothing is tried any more once something was the end");
        self.0 = Some(*cause);
        WriterError::Poisoned { cause: *cause }
    }

    /// Syncs a file, once: a signal too leaves unknown what that call covered.
    pub(super) fn sync<S: Storage>(&mut self, storage: &S, file: &S::File) -> Result<(), WriterError> {
        storage.sync(file).map_err(|cause| self.set(&cause))
    }

    /// Syncs a directory, once.
    pub(super) fn sync_directory<S: Storage>(
        &mut self,
        storage: &S,
        directory: &S::Directory,
    ) -> Result<(), WriterError> {
        storage.sync_directory(directory).map_err(|cause| self.set(&cause))
    }

    /// Takes over what happened to the ledger.
    pub(super) fn after_ledger<T>(&mut self, written: Result<T, LedgerError>) -> Result<T, WriterError> {
        written.map_err(|error| match error {
            LedgerError::Poisoned { cause } => self.set(&cause),
            LedgerError::Io(cause) => WriterError::Io(cause),
            LedgerError::SizeMismatch { .. }
            | LedgerError::LossUnplaced { .. }
            | LedgerError::EpochsUsedUp => {
                unreachable!("an open ledger is appended to, and compacted only where that is possible")
            }
        })
    }
}
