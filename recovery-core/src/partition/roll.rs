//! The change to a new segment: behind a full one, behind a gap, or as the first of all.
//!
//! Promises: in this order, each part once, however often a failure cuts it short: log synced, `Sealed`
//! synced, log created, index created, directory synced, mark at position 0. A start that finds the last
//! segment sealed and no next one goes on where this stopped. So a gap lies on a segment boundary and is
//! recorded (F17), and a crash loop leaves no chain of empty files.

use super::cursor::{Active, Cursor};
use super::{Acknowledged, ChainSegment, Writer, WriterError};
use crate::format::{ChainHash, FileName, LedgerKind};
use crate::ledger::LedgerWriter;
use crate::storage::{PartitionDirectory, Storage, StorageError, exact};
use crate::units::{Length, Position, SegmentStart};

/// A change to a new segment that is under way, and which of its parts are done.
pub(super) struct Roll<S: Storage> {
    next: SegmentStart,
    is_sealed: bool,
    log: Option<S::File>,
    index: Option<S::File>,
    is_named: bool,
}

impl<S: Storage> Roll<S> {
    fn to(next: SegmentStart) -> Self {
        Self { next, is_sealed: false, log: None, index: None, is_named: false }
    }

    /// The roll that an earlier start began: the last segment is sealed, and there is no next one.
    pub(super) fn cut_short(last: &Active<S>, ledger: Option<&LedgerWriter<S>>) -> Option<Self> {
        let seal = ledger?.seal(last.cursor.segment)?;
        let is_whole = seal.mark == last.cursor.mark();
        is_whole.then(|| Self { is_sealed: true, ..Self::to(seal.next_start) })
    }

    fn create(&mut self, storage: &S, directory: &PartitionDirectory<S>) -> Result<(), StorageError> {
        let directory = &directory.directory;
        if self.log.is_none() {
            let name = FileName::log(self.next);
            self.log = Some(exact::uninterrupted(|| storage.create(directory, &name))?);
        }
        if self.index.is_none() {
            let name = FileName::index(self.next);
            self.index = Some(exact::uninterrupted(|| storage.create(directory, &name))?);
        }
        Ok(())
    }

    pub(super) fn close(self, storage: &S) {
        for file in self.log.into_iter().chain(self.index) {
            storage.close(file);
        }
    }
}

impl<S: Storage> Writer<S> {
    /// Closes the active segment now, whatever its size, and begins the next one. What is buffered is
    /// flushed first; a segment without a message stays the active one.
    ///
    /// # Errors
    ///
    /// As [`Writer::flush`], and whatever keeps a new segment from being made; the next call goes on.
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
    /// assert_eq!(writer.roll(&storage)?.next_offset, Offset::new(1));
    /// // The new segment starts where the old one ends.
    /// let starts: Vec<u64> = writer.chain().segments().iter().map(|segment| segment.start.get()).collect();
    /// assert_eq!(starts, [0, 1]);
    /// # writer.close(&storage).close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn roll(&mut self, storage: &S) -> Result<Acknowledged, WriterError> {
        let acknowledged = self.flush(storage)?;
        let holds_messages = self
            .active
            .as_ref()
            .is_some_and(|active| active.cursor.next_offset > active.cursor.segment.offset());
        if holds_messages && self.roll.is_none() {
            self.announce(storage)?;
            self.check_gap()?;
            self.roll = Some(Roll::to(SegmentStart::at(self.next_offset)));
        }
        if self.roll.is_some() {
            self.announce(storage)?;
            self.outdate_seal();
            self.seal(storage)?;
            self.begin_segment(storage)?;
        }
        Ok(acknowledged)
    }

    /// Begins a new segment if the next batch needs one, or goes on with one that was begun.
    pub(super) fn roll_if_due(&mut self, storage: &S) -> Result<(), WriterError> {
        assert!(self.buffer.run().is_none(), "a flush is written to one segment");
        if self.roll.is_none() {
            if !self.is_roll_due() {
                return Ok(());
            }
            self.check_gap()?;
            self.roll = Some(Roll::to(SegmentStart::at(self.next_offset)));
        }
        self.outdate_seal();
        self.seal(storage)?;
        self.begin_segment(storage)
    }

    /// The seal that an earlier start left may say less than what was reserved since: a newer one says it all.
    fn outdate_seal(&mut self) {
        let next = SegmentStart::at(self.next_offset);
        if self.roll.as_ref().is_some_and(|roll| roll.next < next && roll.log.is_none()) {
            self.roll = Some(Roll::to(next));
        }
    }

    fn is_roll_due(&self) -> bool {
        match &self.active {
            None => true,
            Some(Active { cursor, .. }) => {
                // A segment without a message starts at the next offset: a roll would create its name anew.
                let holds_messages = cursor.next_offset > cursor.segment.offset();
                let is_full = cursor.end.as_length() >= self.options.segment_bytes;
                self.next_offset > cursor.next_offset || (is_full && holds_messages)
            }
        }
    }

    /// A gap that nobody records would be a hole to the next start.
    fn check_gap(&self) -> Result<(), WriterError> {
        let Some(Active { cursor, .. }) = &self.active else { return Ok(()) };
        if self.ledger.is_some() || self.next_offset == cursor.next_offset {
            return Ok(());
        }
        let last = self.next_offset.before().expect("it lies above another offset");
        Err(WriterError::GapNeedsLedger { first: cursor.next_offset, last })
    }

    /// Makes the old segment durable, and says so, before there is a new one.
    fn seal(&mut self, storage: &S) -> Result<(), WriterError> {
        let roll = self.roll.as_mut().expect("a roll is under way");
        if roll.is_sealed {
            return Ok(());
        }
        if let Some(active) = &self.active {
            self.poison.sync(storage, &active.log)?;
            if let Some(ledger) = &mut self.ledger {
                let sealed = LedgerKind::Sealed { mark: active.cursor.mark(), next_start: roll.next };
                self.poison.after_ledger(ledger.append(storage, sealed))?;
                self.poison.after_ledger(ledger.sync(storage))?;
            }
        }
        roll.is_sealed = true;
        Ok(())
    }

    fn begin_segment(&mut self, storage: &S) -> Result<(), WriterError> {
        let roll = self.roll.as_mut().expect("a roll is under way");
        roll.create(storage, &self.directory).map_err(WriterError::Io)?;
        if !roll.is_named {
            self.poison.sync_directory(storage, &self.directory.directory)?;
            roll.is_named = true;
        }
        let incarnation = self.ledger.as_ref().map(|ledger| ledger.newest().incarnation);
        let chain_hash =
            incarnation.map(|incarnation| ChainHash::start(self.namespace, incarnation, roll.next));
        let cursor = Cursor::at_start(roll.next, chain_hash);
        if let Some(ledger) = &mut self.ledger {
            let named = LedgerKind::Frontier { mark: cursor.mark() };
            let is_first = ledger.has_no_mark();
            self.poison.after_ledger(ledger.append(storage, named))?;
            if is_first {
                // A ledger with segments and without a mark is a ledger that lost them: it says nothing.
                self.poison.after_ledger(ledger.sync(storage))?;
            }
        }
        let roll = self.roll.take().expect("a roll is under way");
        let files = roll.log.zip(roll.index).expect("both files were created");
        let active = Active::new(files.0, files.1, cursor);
        if let Some(before) = self.active.replace(active) {
            self.unsynced_indexes.push(before.cursor.segment);
            before.close(storage);
        }
        self.chain.push(ChainSegment {
            start: cursor.segment,
            end: Position::ZERO,
            next_offset: cursor.next_offset,
            index_length: Length::ZERO,
        });
        assert!(self.next_offset == cursor.next_offset, "a new segment starts at the next offset");
        Ok(())
    }
}
