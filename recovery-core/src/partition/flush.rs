//! The flush: what is buffered becomes what is acknowledged, in one order for every mode.
//!
//! Write log; syncs of the mode; write index entry; write mark (`Proven` syncs it); advance; acknowledge
//! (DESIGN section 7). Promises: a failure before the end takes back what was written, down to the cursor;
//! one that cannot be taken back, or a sync, ends all writing. Leaves out: retries.

use super::cursor::{Active, Cursor};
use super::{Writer, WriterError};
use crate::format::LedgerKind;
use crate::storage::{Storage, StorageError, exact};
use crate::units::{Durability, Offset};

/// All offsets below are acknowledged: what the mode promises holds for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an acknowledgement is what a client waits for"]
pub struct Acknowledged {
    /// One behind the last acknowledged offset; below it lie only acknowledged offsets and recorded gaps.
    pub next_offset: Offset,
}

impl<S: Storage> Writer<S> {
    /// Writes every buffered batch and acknowledges it. Without one this is no call.
    ///
    /// # Errors
    ///
    /// [`WriterError::Io`] when the files are as they were; the batches stay buffered, so that the call may
    /// be made again ([`Writer::discard`] drops them). [`WriterError::Poisoned`] when that is not known.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::{BatchBuilder, Message, partition_components};
    /// # use recovery_core::observe::{Expectation, Progress, Workspace};
    /// # use recovery_core::plan::PlanOptions;
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::storage::PartitionDirectory;
    /// # use recovery_core::units::Namespace;
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let storage = OsStorage::open(data.path())?;
    /// # let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # use recovery_core::partition::{Adopted, PartitionOptions, Writer};
    /// # use recovery_core::recovery::{Mode, Recovery};
    /// # use recovery_core::units::{Durability, Offset};
    /// # let expectation = Expectation::of(namespace);
    /// # let mut recovery = Recovery::new(expectation, Mode::Repair, PlanOptions::default(), &mut workspace);
    /// # while recovery.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let recovered = recovery.finish();
    /// # let adopted = Adopted::of(&recovered.facts, &recovered.verdict, &recovered.plan).expect("it is served");
    /// # let options = PartitionOptions::new(Durability::Synced, None);
    /// # let mut writer = Writer::open(&storage, partition, adopted, recovered.ledger, options)?;
    /// # let mut batch = Vec::new();
    /// # let mut builder = BatchBuilder::begin(&mut batch, 1);
    /// # builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// # builder.finish();
    /// writer.append(&storage, &batch, 2)?;
    /// writer.append(&storage, &batch, 3)?;
    /// // Both are written, synced and acknowledged at once.
    /// assert_eq!(writer.flush(&storage)?.next_offset, Offset::new(2));
    /// # writer.close(&storage).close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn flush(&mut self, storage: &S) -> Result<Acknowledged, WriterError> {
        self.poison.check()?;
        let Some(run) = self.buffer.run().copied() else {
            return Ok(Acknowledged { next_offset: self.acknowledged() });
        };
        self.reserve_block(storage, run.next_offset)?;
        self.write_log(storage)?;
        self.sync_for_mode(storage)?;
        self.write_index_entry(storage)?;
        let active = self.active.as_ref().expect("a batch was buffered for a segment");
        let cursor = active.cursor.after(self.buffer.length(), run.next_offset, run.chain_hash);
        match self.options.durability {
            Durability::Buffered => {}
            Durability::Synced => self.write_mark(storage, &cursor)?,
            Durability::Proven => {
                self.write_mark(storage, &cursor)?;
                self.sync_ledger(storage)?;
            }
        }
        // Nothing can fail from here on.
        let active = self.active.as_mut().expect("a batch was buffered for a segment");
        active.cursor = cursor;
        self.next_offset = cursor.next_offset;
        self.chain.acknowledge(cursor.end, cursor.next_offset, cursor.index_end.as_length());
        self.buffer.clear();
        Ok(Acknowledged { next_offset: cursor.next_offset })
    }

    pub(super) fn acknowledged(&self) -> Offset {
        self.chain.next_offset().unwrap_or(self.next_offset)
    }

    /// Reserves the block that the flush begins to use, durably, before any of it is acknowledged.
    fn reserve_block(&mut self, storage: &S, next_offset: Offset) -> Result<(), WriterError> {
        let Some(ledger) = &mut self.ledger else { return Ok(()) };
        if self.options.reserve_block == 0 || next_offset <= ledger.newest().reserved_offset {
            return Ok(());
        }
        // Where no whole block is left, what is used is reserved.
        let reserved = next_offset.checked_add(self.options.reserve_block).unwrap_or(next_offset);
        self.poison.after_ledger(ledger.reserve(storage, reserved))?;
        self.poison.after_ledger(ledger.sync(storage))
    }

    fn write_log(&mut self, storage: &S) -> Result<(), WriterError> {
        let Active { log, log_name, cursor, .. } = self.active.as_ref().expect("a batch has a segment");
        match exact::write_all(storage, log, log_name, cursor.end.get(), self.buffer.bytes()) {
            Ok(()) => Ok(()),
            Err(cause) => Err(self.cut_back(storage, &cause)),
        }
    }

    /// What the mode syncs before the acknowledgement. The ledger's sync covers the mark of the flush
    /// before; both could run side by side, as neither covers the other's bytes.
    fn sync_for_mode(&mut self, storage: &S) -> Result<(), WriterError> {
        let active = self.active.as_ref().expect("a batch has a segment");
        match self.options.durability {
            Durability::Buffered => Ok(()),
            Durability::Synced => {
                self.poison.sync(storage, &active.log)?;
                self.sync_ledger(storage)
            }
            Durability::Proven => self.poison.sync(storage, &active.log),
        }
    }

    fn write_index_entry(&mut self, storage: &S) -> Result<(), WriterError> {
        let run = self.buffer.run().expect("a flush writes batches");
        let Active { index, index_name, cursor, .. } = self.active.as_ref().expect("a batch has a segment");
        let entry = run.index_entry(cursor.end).encode();
        match exact::write_all(storage, index, index_name, cursor.index_end.get(), &entry) {
            Ok(()) => Ok(()),
            Err(cause) => Err(self.cut_back(storage, &cause)),
        }
    }

    fn write_mark(&mut self, storage: &S, cursor: &Cursor) -> Result<(), WriterError> {
        let Some(ledger) = &mut self.ledger else { return Ok(()) };
        let mark = LedgerKind::Frontier { mark: cursor.mark() };
        match self.poison.after_ledger(ledger.append(storage, mark)) {
            Err(WriterError::Io(cause)) => Err(self.cut_back(storage, &cause)),
            answer => answer,
        }
    }

    pub(super) fn sync_ledger(&mut self, storage: &S) -> Result<(), WriterError> {
        match &mut self.ledger {
            Some(ledger) => self.poison.after_ledger(ledger.sync(storage)),
            None => Ok(()),
        }
    }

    /// Takes back what a flush has written, so that the files end where the cursor is (I12).
    ///
    /// The log's own mark is never written when this runs, so nothing that was promised is cut.
    fn cut_back(&mut self, storage: &S, cause: &StorageError) -> WriterError {
        let Active { log, index, cursor, .. } = self.active.as_ref().expect("a batch has a segment");
        let taken_back = exact::uninterrupted(|| storage.set_length(index, cursor.index_end.get()))
            .and_then(|()| exact::uninterrupted(|| storage.set_length(log, cursor.end.get())));
        match taken_back {
            Ok(()) => WriterError::Io(*cause),
            Err(worse) => self.poison.set(&worse),
        }
    }
}
