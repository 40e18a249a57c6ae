//! Making all of it durable: now and then (a checkpoint), and before the process ends (a clean stop).

use super::announcement::Announcement;
use super::{Acknowledged, Writer, WriterError};
use crate::format::{FileName, LedgerKind, LedgerRecord, Mark};
use crate::storage::{Access, Storage, exact};
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
        self.sync_older_indexes(storage)?;
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

    /// Syncs the indexes of the segments that were rolled away or adopted. Nothing syncs them before: an
    /// index is derived data, but who comes after a clean stop may know no better than to believe it.
    fn sync_older_indexes(&mut self, storage: &S) -> Result<(), WriterError> {
        while let Some(segment) = self.unsynced_indexes.last() {
            let name = FileName::index(*segment);
            let directory = &self.directory.directory;
            let index = exact::uninterrupted(|| storage.open(directory, &name, Access::ReadWrite))
                .map_err(WriterError::Io)?;
            let synced = self.poison.sync(storage, &index);
            storage.close(index);
            synced?;
            self.unsynced_indexes.pop();
        }
        Ok(())
    }
}

/// Whether the newest record is a clean stop at just this place.
fn says_stopped(newest: &LedgerRecord, end: Mark, next_offset: Offset) -> bool {
    newest.kind.is_clean_stop() && newest.kind.mark() == Some(end) && newest.reserved_offset == next_offset
}
