//! Making all of it durable: now and then (a checkpoint), and before the process ends (a clean stop).

use super::announcement::Announcement;
use super::{Acknowledged, Writer, WriterError};
use crate::format::{FileName, LedgerKind, LedgerRecord, Mark};
use crate::storage::{Access, Name, Storage, exact};
use crate::units::Offset;

impl<S: Storage> Writer<S> {
    /// Makes all that is acknowledged durable, and says so in the ledger: log synced, then its mark.
    ///
    /// # Errors
    ///
    /// [`WriterError`]; every acknowledgement stands as its mode has it.
    pub fn checkpoint(&mut self, storage: &S) -> Result<(), WriterError> {
        self.poison.check()?;
        self.announce(storage)?;
        let Some(active) = &self.active else { return Ok(()) };
        let Some(ledger) = &mut self.ledger else {
            return self.poison.sync(storage, &active.log);
        };
        let mark = active.cursor.mark();
        if ledger.newest_mark(mark.segment) != Some(mark) {
            self.poison.sync(storage, &active.log)?;
            self.poison.after_ledger(ledger.append(storage, LedgerKind::Frontier { mark }))?;
        }
        self.poison.after_ledger(ledger.sync(storage))
    }

    /// Flushes, makes log, indexes and directory durable, and says in the ledger that nothing follows: the
    /// reserved offset falls to exactly the next one. A partition that is stopped already stays as it is.
    ///
    /// The writer may go on afterwards; it is then as if it had been opened again.
    ///
    /// # Errors
    ///
    /// [`WriterError`]; the partition is not stopped then.
    pub fn stop(&mut self, storage: &S) -> Result<Acknowledged, WriterError> {
        let acknowledged = self.flush(storage)?;
        let Some(active) = &self.active else { return Ok(acknowledged) };
        if let Some(ledger) = &self.ledger
            && says_stopped(ledger.newest(), active.cursor.mark(), self.next_offset)
        {
            return Ok(acknowledged);
        }
        self.announce(storage)?;
        self.sync_older(storage)?;
        let active = self.active.as_ref().expect("announcing closes no segment");
        self.poison.sync(storage, &active.log)?;
        self.poison.sync(storage, &active.index)?;
        self.poison.sync_directory(storage, &self.directory.directory)?;
        if let Some(ledger) = &mut self.ledger {
            let stopped = ledger.clean_stop(storage, active.cursor.mark(), self.next_offset);
            self.poison.after_ledger(stopped)?;
            self.poison.after_ledger(ledger.sync(storage))?;
            self.announcement = Announcement::again();
        }
        Ok(acknowledged)
    }

    /// Syncs the indexes of the segments that were rolled away or adopted, and the logs of those that were adopted.
    /// Nothing syncs them before: an index is derived data, but who comes after a clean stop may know no better than to
    /// believe it; and a log that is longer than a clean stop says is refused, so that it stays as short must not be
    /// left to chance.
    fn sync_older(&mut self, storage: &S) -> Result<(), WriterError> {
        while let Some(segment) = self.unsynced_logs.last() {
            self.sync_file(storage, &FileName::log(*segment))?;
            self.unsynced_logs.pop();
        }
        while let Some(segment) = self.unsynced_indexes.last() {
            self.sync_file(storage, &FileName::index(*segment))?;
            self.unsynced_indexes.pop();
        }
        Ok(())
    }

    fn sync_file(&mut self, storage: &S, name: &Name) -> Result<(), WriterError> {
        let directory = &self.directory.directory;
        let file = exact::uninterrupted(|| storage.open(directory, name, Access::ReadWrite))
            .map_err(WriterError::Io)?;
        let synced = self.poison.sync(storage, &file);
        storage.close(file);
        synced
    }
}

/// Whether the newest record is a clean stop at just this place.
fn says_stopped(newest: &LedgerRecord, end: Mark, next_offset: Offset) -> bool {
    newest.kind.is_clean_stop() && newest.kind.mark() == Some(end) && newest.reserved_offset == next_offset
}
