//! Retention: whole segments leave at the front of the chain.
//!
//! Promises: the floor is durable before the first file goes, so that a start in between knows what is
//! missing; a log goes before its index, so that no index is ever taken for one without damage. Leaves
//! out: which offsets are old enough, and who still needs them.

use super::{Writer, WriterError};
use crate::format::FileName;
use crate::storage::{EntryKind, Name, Storage, StorageError, exact};
use crate::units::{Offset, SegmentStart};

impl<S: Storage> Writer<S> {
    /// Removes every segment but the last whose offsets all lie below `below`, and what an earlier call
    /// or an earlier start left of others.
    ///
    /// # Errors
    ///
    /// [`WriterError::Io`] when not all files could be removed; those that are left are not read any more,
    /// and the next call removes them.
    pub fn retain(&mut self, storage: &S, below: Offset) -> Result<(), WriterError> {
        self.poison.check()?;
        let count = self.expiring(below);
        if count == 0 && self.expired.is_empty() {
            return Ok(());
        }
        self.announce(storage)?;
        if count > 0 {
            let floor = self.chain.segments()[count].start;
            if let Some(ledger) = &mut self.ledger {
                self.poison.after_ledger(ledger.raise_floor(storage, floor))?;
                self.poison.after_ledger(ledger.sync(storage))?;
            }
            self.expired.extend(self.chain.take_front(count).map(|segment| segment.start));
            self.unsynced_indexes.retain(|segment| *segment >= floor);
            self.unsynced_logs.retain(|segment| *segment >= floor);
        }
        self.remove_expired(storage)
    }

    /// How many segments of the chain hold only offsets below `below`.
    fn expiring(&self, below: Offset) -> usize {
        let Some((_, all_but_last)) = self.chain.segments().split_last() else { return 0 };
        all_but_last.iter().take_while(|segment| segment.next_offset <= below).count()
    }

    /// Removes the files of expired segments, oldest first.
    ///
    /// With a ledger one directory sync covers all. Without, nothing but the names says where the chain
    /// starts, so each segment's removal is durable before the next: whatever comes back is a whole tail.
    fn remove_expired(&mut self, storage: &S) -> Result<(), WriterError> {
        let has_floor = self.ledger.is_some();
        let mut removed = 0;
        while removed < self.expired.len() {
            self.remove_segment(storage, self.expired[removed]).map_err(WriterError::Io)?;
            removed += 1;
            if !has_floor {
                self.poison.sync_directory(storage, &self.directory.directory)?;
                self.expired.drain(..removed);
                removed = 0;
            }
        }
        if has_floor {
            self.poison.sync_directory(storage, &self.directory.directory)?;
            self.expired.clear();
        }
        Ok(())
    }

    fn remove_segment(&self, storage: &S, segment: SegmentStart) -> Result<(), StorageError> {
        self.remove_file(storage, &FileName::log(segment))?;
        self.remove_file(storage, &FileName::index(segment))
    }

    /// A file that is not there any more was removed by an earlier call that failed behind it.
    fn remove_file(&self, storage: &S, name: &Name) -> Result<(), StorageError> {
        let directory = &self.directory.directory;
        match exact::uninterrupted(|| storage.remove(directory, name, EntryKind::File)) {
            Err(error) if !error.is_not_found() => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
