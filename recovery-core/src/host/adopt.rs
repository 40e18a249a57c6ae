//! Sets a ledger aside after another program has changed the directory (DESIGN section 8).
//!
//! Promises: the ledger is durably in a fence before its name is gone, with a reason beside it; nothing else
//! changes, and the directory is judged without a ledger from then on. Leaves out: that judgement.

use thiserror::Error;

use crate::format::FileName;
use crate::observe::{Expectation, PartitionFacts, Progress, Workspace};
use crate::plan::{Applying, FencedFile, Plan};
use crate::storage::{Access, PartitionDirectory, Storage, StorageError, exact};

/// There is nothing to set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the directory holds no ledger, so it is judged without one already")]
pub struct AdoptMistake;

/// The setting aside of one ledger under way.
pub struct Adopting<S: Storage> {
    facts: PartitionFacts,
    applying: Applying<S>,
}

impl<S: Storage> Adopting<S> {
    /// Looks whether there is a ledger. Changes nothing.
    ///
    /// # Errors
    ///
    /// Whatever opening it returns, but for a definite "not found".
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::partition_components;
    /// use recovery_core::host::{AdoptMistake, Adopting};
    /// use recovery_core::observe::Expectation;
    /// use recovery_core::storage::PartitionDirectory;
    /// use recovery_core::storage::os::OsStorage;
    /// use recovery_core::units::Namespace;
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// let storage = OsStorage::open(data.path())?;
    /// let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// let begun = Adopting::begin(&storage, &partition, Expectation::of(namespace))?;
    /// assert_eq!(begun.err(), Some(AdoptMistake), "there is no ledger to set aside");
    /// partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin(
        storage: &S,
        partition: &PartitionDirectory<S>,
        expectation: Expectation,
    ) -> Result<Result<Self, AdoptMistake>, StorageError> {
        let ledger = FileName::ledger();
        match exact::uninterrupted(|| storage.open(&partition.directory, &ledger, Access::Read)) {
            Ok(file) => storage.close(file),
            Err(error) if error.is_not_found() => return Ok(Err(AdoptMistake)),
            Err(error) => return Err(error),
        }
        let facts = PartitionFacts::of_nothing(expectation);
        Ok(Ok(Self { facts, applying: Applying::new(Plan::of_ledger_set_aside()) }))
    }

    /// Goes on for about `limit` bytes of reading. `partition` is locked, every time.
    ///
    /// # Errors
    ///
    /// Whatever a storage call returns. The ledger is where it was or in the fence, and a repeat does the rest.
    ///
    /// # Panics
    ///
    /// If `limit` is below [`crate::observe::STEP_BYTES_MIN`].
    pub fn step(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<Progress, StorageError> {
        self.applying.step(storage, partition, &self.facts, workspace, limit)
    }

    /// What was set aside.
    ///
    /// # Panics
    ///
    /// If [`Adopting::step`] has not said [`Progress::Done`].
    pub fn finish(self, storage: &S) -> Vec<FencedFile> {
        self.applying.finish(storage).fenced
    }

    /// Closes what is open, of one that is given up half-way.
    pub fn close(&mut self, storage: &S) {
        self.applying.close(storage);
    }
}
