//! Writes batches of one log into a new segment beside it.
//!
//! Promises: the new log is durable and was walked from the medium, by the acceptor that everything asks, to just
//! the end and chain hash that were judged, before it has a name. Leaves out: the name.

use super::range::{Range, slice_bytes};
use super::site::{Site, changed};
use crate::format::{FileName, Mark};
use crate::observe::{LogCheck, LogExpectation, Workspace};
use crate::storage::{Call, Name, Storage, StorageError, exact};
use crate::units::{Length, Position, SegmentStart};

/// What is written to the new log.
#[derive(Clone, Copy)]
pub(super) struct RunPlace {
    pub(super) segment: SegmentStart,
    pub(super) prefix: Length,
    pub(super) position: Position,
    pub(super) length: Length,
    pub(super) mark: Mark,
}

/// A new log under way.
pub(super) struct Carrying<S: Storage> {
    place: RunPlace,
    staging: Name,
    target: S::File,
    written: u64,
    /// The stretch that is being copied.
    source: Option<Range<S>>,
    check: Option<LogCheck>,
}

impl<S: Storage> Carrying<S> {
    /// Creates the staging file. What had its name was set aside.
    pub(super) fn start(site: Site<'_, S>, place: RunPlace) -> Result<Self, StorageError> {
        let staging = FileName::log_staging(place.mark.segment);
        let directory = &site.partition.directory;
        let target = exact::uninterrupted(|| site.storage.create(directory, &staging))?;
        Ok(Self { place, staging, target, written: 0, source: None, check: None })
    }

    /// Copies or verifies a slice; says whether that was the last.
    ///
    /// # Errors
    ///
    /// [`crate::storage::Errno::STALE`] if what was written is not what was judged.
    pub(super) fn advance(
        &mut self,
        site: Site<'_, S>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<bool, StorageError> {
        if self.written < self.place.mark.position.get() {
            self.copy_slice(site, workspace, limit)?;
            return Ok(false);
        }
        let check = match &mut self.check {
            Some(check) => check,
            unbegun => {
                site.storage.sync(&self.target)?;
                exact::uninterrupted(|| site.storage.drop_cache(&self.target))?;
                let newest = site.facts.ledger.known().expect("batches are carried by a ledger").newest;
                let expectation = LogExpectation {
                    namespace: newest.namespace,
                    incarnation: newest.incarnation,
                    end: self.place.mark,
                };
                unbegun.insert(LogCheck::new(expectation, workspace))
            }
        };
        match check.step(site.storage, &self.target, &self.staging, workspace, limit)? {
            None => Ok(false),
            Some(true) => Ok(true),
            Some(false) => Err(changed(Call::Read, &self.staging)),
        }
    }

    fn copy_slice(
        &mut self,
        site: Site<'_, S>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<(), StorageError> {
        let source = match &mut self.source {
            Some(source) => source,
            none => {
                let RunPlace { segment, prefix, position, length, .. } = self.place;
                let (position, length) =
                    if self.written < prefix.get() { (Position::ZERO, prefix) } else { (position, length) };
                let log = FileName::log(segment);
                let directory = &site.partition.directory;
                none.insert(Range::open(site, directory, &log, position, Some(length))?)
            }
        };
        let scratch = workspace.scratch();
        let count = slice_bytes(limit, 2, scratch.len());
        let bytes = source.read(site.storage, &mut scratch[..count])?;
        exact::write_all(site.storage, &self.target, &self.staging, self.written, bytes)?;
        self.written += bytes.len() as u64;
        if source.is_read()
            && let Some(source) = self.source.take()
        {
            source.close(site.storage);
        }
        Ok(())
    }

    pub(super) fn close(self, storage: &S) {
        if let Some(source) = self.source {
            source.close(storage);
        }
        storage.close(self.target);
    }
}

/// Gives the staged log its name.
pub(super) fn install<S: Storage>(site: Site<'_, S>, segment: SegmentStart) -> Result<(), StorageError> {
    let directory = &site.partition.directory;
    site.rename((directory, &FileName::log_staging(segment)), (directory, &FileName::log(segment)))
}
