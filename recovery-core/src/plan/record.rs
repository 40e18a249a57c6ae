//! The records that recovery adds to a ledger.
//!
//! Promises: each is durable before the next step. Leaves out: making a ledger; only a writer does that.

use super::site::{Site, changed};
use crate::format::{FileName, LedgerKind, Mark};
use crate::ledger::{LedgerError, LedgerWriter};
use crate::storage::{Call, Storage, StorageError};
use crate::units::Offset;

/// The ledger, opened at the first record.
pub(super) struct Recorder<S: Storage>(Option<LedgerWriter<S>>);

impl<S: Storage> Recorder<S> {
    pub(super) const fn unopened() -> Self {
        Self(None)
    }

    pub(super) fn reserve(&mut self, site: Site<'_, S>, offset: Offset) -> Result<(), StorageError> {
        self.record(site, |ledger| ledger.reserve(site.storage, offset))
    }

    /// A record that says how far a segment is proven.
    pub(super) fn mark(&mut self, site: Site<'_, S>, kind: LedgerKind) -> Result<(), StorageError> {
        self.record(site, |ledger| ledger.append(site.storage, kind))
    }

    pub(super) fn recovered(&mut self, site: Site<'_, S>, mark: Mark) -> Result<(), StorageError> {
        self.record(site, |ledger| ledger.append(site.storage, LedgerKind::Recovered { mark }))
    }

    pub(super) fn clean_stop(
        &mut self,
        site: Site<'_, S>,
        mark: Mark,
        next_offset: Offset,
    ) -> Result<(), StorageError> {
        self.record(site, |ledger| ledger.clean_stop(site.storage, mark, next_offset))
    }

    fn record(
        &mut self,
        site: Site<'_, S>,
        append: impl FnOnce(&mut LedgerWriter<S>) -> Result<(), LedgerError>,
    ) -> Result<(), StorageError> {
        let ledger = match &mut self.0 {
            Some(ledger) => ledger,
            unopened => {
                let facts = site.facts.ledger.known().expect("records go to a ledger that is known");
                let opened = LedgerWriter::open(site.storage, &site.partition.directory, facts);
                unopened.insert(opened.map_err(|error| cause(&error))?)
            }
        };
        append(ledger).and_then(|()| ledger.sync(site.storage)).map_err(|error| cause(&error))
    }

    /// The ledger, if a record was added.
    pub(super) fn take(&mut self) -> Option<LedgerWriter<S>> {
        self.0.take()
    }
}

/// What failed. A ledger that is not the one that was read is a file that changed under recovery.
fn cause(error: &LedgerError) -> StorageError {
    error.cause().unwrap_or_else(|| changed(Call::Length, &FileName::ledger()))
}
