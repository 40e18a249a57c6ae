//! Making all of it durable: now and then (a checkpoint), and before the process ends (a clean stop).

use super::announcement::Announcement;
use super::{Acknowledged, Writer, WriterError};
use crate::format::{LedgerKind, LedgerRecord, Mark};
use crate::storage::Storage;
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

    /// Flushes, makes log, index and directory durable, and says in the ledger that nothing follows: the
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
}

/// Whether the newest record is a clean stop at just this place.
fn says_stopped(newest: &LedgerRecord, end: Mark, next_offset: Offset) -> bool {
    match newest.kind {
        LedgerKind::CleanStop { mark } => mark == end && newest.reserved_offset == next_offset,
        LedgerKind::Opened { .. }
        | LedgerKind::Frontier { .. }
        | LedgerKind::Sealed { .. }
        | LedgerKind::Floor
        | LedgerKind::Reserved
        | LedgerKind::Recovered { .. }
        | LedgerKind::AcceptedLoss { .. } => false,
    }
}
