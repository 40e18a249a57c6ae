//! The writer of one partition: its files, its state, and taking batches in.
//!
//! Promises: opened only on what recovery left, and byte for byte as long (F01); it never truncates or
//! replaces a segment's file, and creates one only under a name that nothing has. Leaves out: each of the
//! other calls, which has a file of its own.

use super::announcement::Announcement;
use super::buffer::{Buffer, Place};
use super::cursor::{Active, Cursor};
use super::poison::Poison;
use super::roll::Roll;
use super::{
    Admission, Adopted, AdoptedSegment, Chain, ChainSegment, OpenError, OptionsError, PartitionOptions,
    StorageSizeMismatch, WriterError,
};
use crate::format::{FileName, INDEX_ENTRY_BYTES, Mark};
use crate::ledger::LedgerWriter;
use crate::storage::{Access, Name, PartitionDirectory, Storage, StorageError, exact};
use crate::units::{Length, Namespace, Offset, SegmentStart};

/// Offsets that a batch has got. Nothing is promised before a flush acknowledges them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Offset of the batch's first message.
    pub base_offset: Offset,
    /// One behind its last message.
    pub next_offset: Offset,
}

/// The writer of one partition.
pub struct Writer<S: Storage> {
    pub(super) directory: PartitionDirectory<S>,
    pub(super) namespace: Namespace,
    pub(super) options: PartitionOptions,
    pub(super) chain: Chain,
    /// Segments below the floor whose files may still be there.
    pub(super) expired: Vec<SegmentStart>,
    /// Segments but the last whose index a clean stop has to sync still.
    pub(super) unsynced_indexes: Vec<SegmentStart>,
    /// Segments but the last that were closed before this writer was opened. A start that went down may have cut the log
    /// of one back to its end and not synced that, and the next start found it just as long as it should be.
    pub(super) unsynced_logs: Vec<SegmentStart>,
    /// The last segment; `None` until a partition without one is appended to.
    pub(super) active: Option<Active<S>>,
    pub(super) ledger: Option<LedgerWriter<S>>,
    /// What the ledger is told before anything is written.
    pub(super) announcement: Announcement,
    /// A change to a new segment that is under way.
    pub(super) roll: Option<Roll<S>>,
    pub(super) buffer: Buffer,
    /// The offset of the next message when the buffer is empty.
    pub(super) next_offset: Offset,
    /// Length at which the ledger is looked at again.
    pub(super) next_compaction: Length,
    pub(super) poison: Poison,
    admission: Admission,
}

impl<S: Storage> Writer<S> {
    /// Opens a partition that recovery has judged, settled and repaired. Writes nothing.
    ///
    /// `ledger` is the open ledger where carrying the plan out has written to it, else it is opened as it
    /// was read. The directory is locked by the caller; it is closed if the writer cannot be opened.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; the files are as they were.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::{BatchBuilder, Message, partition_components};
    /// # use recovery_core::observe::{Expectation, Progress, Workspace};
    /// # use recovery_core::plan::PlanOptions;
    /// # use recovery_core::recovery::{Mode, Recovery};
    /// # use recovery_core::storage::PartitionDirectory;
    /// # use recovery_core::storage::os::OsStorage;
    /// use recovery_core::partition::{Adopted, PartitionOptions, Writer};
    /// use recovery_core::units::{Durability, Incarnation, Namespace, Offset};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let storage = OsStorage::open(data.path())?;
    /// # let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # let options = PlanOptions { makes_ledger: true, ..PlanOptions::default() };
    /// # let mut recovery = Recovery::new(Expectation::of(namespace), Mode::Repair, options, &mut workspace);
    /// # while recovery.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let recovered = recovery.finish();
    /// // `recovered` is what recovery has just said of the directory `partition`.
    /// let adopted = Adopted::of(&recovered.facts, &recovered.verdict, &recovered.plan).expect("it is served");
    /// let options = PartitionOptions::new(Durability::Synced, Some(Incarnation::new(1)));
    /// let mut writer = Writer::open(&storage, partition, adopted, recovered.ledger, options)?;
    ///
    /// let mut batch = Vec::new();
    /// let mut builder = BatchBuilder::begin(&mut batch, 1);
    /// builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// builder.finish();
    /// writer.append(&storage, &batch, 2)?;
    /// // Now, and not before, a producer is told that its message is kept.
    /// assert_eq!(writer.flush(&storage)?.next_offset, Offset::new(1));
    /// writer.close(&storage).close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(
        storage: &S,
        directory: PartitionDirectory<S>,
        adopted: Adopted,
        ledger: Option<LedgerWriter<S>>,
        options: PartitionOptions,
    ) -> Result<Self, OpenError> {
        let mut opening = Opening { ledger, active: None };
        match opening.open(storage, &directory, &adopted, &options) {
            Ok(()) => Ok(Self::of(directory, adopted, opening, options)),
            Err(error) => {
                opening.close(storage);
                directory.close(storage);
                Err(error)
            }
        }
    }

    fn of(
        directory: PartitionDirectory<S>,
        adopted: Adopted,
        opening: Opening<S>,
        options: PartitionOptions,
    ) -> Self {
        let Opening { mut ledger, active } = opening;
        if let Some(ledger) = &mut ledger {
            ledger.set_durability(options.durability);
        }
        let was_stopped = ledger.as_ref().is_some_and(|ledger| ledger.newest().kind.is_clean_stop());
        let unsynced_indexes: Vec<SegmentStart> = match adopted.segments.split_last() {
            Some((_, older)) if !was_stopped => older.iter().map(|segment| segment.start).collect(),
            Some(_) | None => Vec::new(),
        };
        let has_ledger = ledger.is_some() || options.new_ledger.is_some();
        let segments = adopted.segments.iter().map(|segment| ChainSegment {
            start: segment.start,
            end: segment.end,
            next_offset: segment.next_offset,
            index_length: segment.index_length,
        });
        let writer = Self {
            namespace: adopted.namespace,
            chain: Chain::new(adopted.namespace.partition_id(), segments),
            unsynced_logs: unsynced_indexes.clone(),
            unsynced_indexes,
            announcement: if has_ledger { Announcement::of(adopted.segments) } else { Announcement::none() },
            roll: active.as_ref().and_then(|active| Roll::cut_short(active, ledger.as_ref())),
            next_offset: adopted.next_offset,
            next_compaction: options.ledger_bytes_max,
            admission: Admission::new(options.batch_bytes_max),
            expired: adopted.expired,
            buffer: Buffer::default(),
            poison: Poison::default(),
            directory,
            options,
            active,
            ledger,
        };
        let end = writer.chain.next_offset().unwrap_or(Offset::ZERO);
        assert!(writer.next_offset >= end, "no offset is minted twice");
        writer
    }

    /// Takes one batch in producer form in, behind all others. `timestamp` is the server's time in
    /// microseconds since the Unix epoch.
    ///
    /// The first append of an open writes to the ledger what recovery adopted, and one behind a full
    /// segment, or behind a gap, begins a new segment; all else stays in memory until [`Writer::flush`].
    ///
    /// # Errors
    ///
    /// [`WriterError`]; the batch has got no offset then, and the call may be made again unless the writer
    /// is poisoned.
    pub fn append(&mut self, storage: &S, batch: &[u8], timestamp: u64) -> Result<Appended, WriterError> {
        self.poison.check()?;
        let base_offset = self.next_offset();
        let (_, next_offset) = self.admission.check(batch, base_offset)?;
        self.prepare(storage)?;
        let cursor = &self.active.as_ref().expect("a prepared writer has a segment").cursor;
        let place = Place {
            partition: self.chain.partition(),
            base_offset,
            next_offset,
            timestamp,
            chain_hash: self.buffer.run().map_or(cursor.chain_hash, |run| run.chain_hash),
        };
        self.buffer.push(batch, &place);
        Ok(Appended { base_offset, next_offset })
    }

    /// Does all that must be done before a batch can be written behind the others.
    fn prepare(&mut self, storage: &S) -> Result<(), WriterError> {
        if self.buffer.run().is_some() {
            return Ok(());
        }
        self.announce(storage)?;
        self.compact(storage)?;
        self.roll_if_due(storage)
    }

    /// Compacts a ledger that has grown past its limit, where that is worth it.
    fn compact(&mut self, storage: &S) -> Result<(), WriterError> {
        let Some(ledger) = &mut self.ledger else { return Ok(()) };
        let length = ledger.length();
        if length < self.next_compaction {
            return Ok(());
        }
        // Whatever comes of it, it is not tried again soon.
        self.next_compaction = doubled(length);
        if ledger.compacted_length().is_some_and(|compacted| doubled(compacted) <= length) {
            let compacted = ledger.compact(storage, &self.directory.directory);
            self.poison.after_ledger(compacted)?;
            let length = ledger.length();
            self.next_compaction = self.options.ledger_bytes_max.max(doubled(length));
        }
        Ok(())
    }

    /// Forgets the batches that are not flushed; their offsets are given to the next ones. For a caller
    /// that has told its clients that they failed.
    pub fn discard(&mut self) {
        self.buffer.clear();
    }

    /// The offset that the next message gets.
    pub fn next_offset(&self) -> Offset {
        self.buffer.run().map_or(self.next_offset, |run| run.next_offset)
    }

    /// The end of each segment as far as it is acknowledged, ascending; `None` where no ledger says how each
    /// hashes. A ledger that lost a seal says it again at the first append.
    pub fn acknowledged_ends(&self) -> Option<Vec<Mark>> {
        let ledger = self.ledger.as_ref()?;
        let active = self.active.as_ref().map(|active| active.cursor);
        self.chain
            .segments()
            .iter()
            .map(|segment| match active.filter(|cursor| cursor.segment == segment.start) {
                Some(cursor) => cursor.chain_hash.map(|_| cursor.mark()),
                None => ledger.newest_mark(segment.start).filter(|mark| mark.position == segment.end),
            })
            .collect()
    }

    /// The offset that follows the acknowledged ones.
    pub const fn acknowledged_next_offset(&self) -> Offset {
        self.next_offset
    }

    /// Bytes of batches that the next flush writes.
    pub fn buffered_length(&self) -> Length {
        self.buffer.length()
    }

    /// What may be read.
    pub const fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The partition's directories.
    pub const fn directory(&self) -> &PartitionDirectory<S> {
        &self.directory
    }

    /// The open ledger, if there is one.
    pub const fn ledger(&self) -> Option<&LedgerWriter<S>> {
        self.ledger.as_ref()
    }

    /// Which partition this is.
    pub const fn namespace(&self) -> Namespace {
        self.namespace
    }

    /// What ended all writing, if anything did.
    pub const fn poisoned_by(&self) -> Option<&StorageError> {
        self.poison.cause()
    }

    /// Closes every file but the directory, which is handed back with its lock. Batches that are not
    /// flushed are forgotten.
    pub fn close(self, storage: &S) -> PartitionDirectory<S> {
        if let Some(active) = self.active {
            active.close(storage);
        }
        if let Some(roll) = self.roll {
            roll.close(storage);
        }
        if let Some(ledger) = self.ledger {
            ledger.close(storage);
        }
        self.directory
    }
}

fn doubled(length: Length) -> Length {
    length.checked_add(length).expect("a file is never longer than half of the largest number")
}

/// Files opened on the way to a writer.
struct Opening<S: Storage> {
    ledger: Option<LedgerWriter<S>>,
    active: Option<Active<S>>,
}

impl<S: Storage> Opening<S> {
    fn open(
        &mut self,
        storage: &S,
        directory: &PartitionDirectory<S>,
        adopted: &Adopted,
        options: &PartitionOptions,
    ) -> Result<(), OpenError> {
        options.validate()?;
        if self.ledger.is_none()
            && let Some(facts) = &adopted.ledger
        {
            self.ledger = Some(LedgerWriter::open(storage, &directory.directory, facts)?);
        }
        if self.ledger.is_some() || options.new_ledger.is_some() {
            check_chain_hashes(adopted)?;
        } else if options.reserve_block > 0 {
            let reserve_block = options.reserve_block;
            return Err(OptionsError::ReserveNeedsLedger { reserve_block }.into());
        }
        if self.ledger.is_none() && options.new_ledger.is_some() {
            check_ledger_name(storage, directory, adopted)?;
        }
        if let Some(last) = adopted.segments.last() {
            self.active = Some(open_segment(storage, directory, last)?);
        }
        Ok(())
    }

    fn close(self, storage: &S) {
        if let Some(active) = self.active {
            active.close(storage);
        }
        if let Some(ledger) = self.ledger {
            ledger.close(storage);
        }
    }
}

/// A ledger says of each segment how its batches hash together.
fn check_chain_hashes(adopted: &Adopted) -> Result<(), OpenError> {
    match adopted.segments.iter().find(|segment| segment.chain_hash.is_none()) {
        Some(segment) => Err(OpenError::ChainHashUnknown { segment: segment.start }),
        None => Ok(()),
    }
}

/// What has the ledger's name and is none has been set aside by the plan, or it would be replaced.
fn check_ledger_name<S: Storage>(
    storage: &S,
    directory: &PartitionDirectory<S>,
    adopted: &Adopted,
) -> Result<(), OpenError> {
    let length = adopted.invalid_ledger_length;
    if length == Length::ZERO {
        return Ok(());
    }
    let name = FileName::ledger();
    match exact::uninterrupted(|| storage.open(&directory.directory, &name, Access::Read)) {
        Ok(file) => {
            storage.close(file);
            Err(OpenError::LedgerInTheWay { length })
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(OpenError::Io(error)),
    }
}

fn open_segment<S: Storage>(
    storage: &S,
    directory: &PartitionDirectory<S>,
    segment: &AdoptedSegment,
) -> Result<Active<S>, OpenError> {
    let entry_bytes = INDEX_ENTRY_BYTES as u64;
    assert!(segment.index_length.get().is_multiple_of(entry_bytes), "recovery leaves whole entries (F97)");
    let cursor = Cursor {
        segment: segment.start,
        end: segment.end,
        next_offset: segment.next_offset,
        chain_hash: segment.chain_hash,
        index_end: segment.index_length.as_position(),
    };
    let log = open_at(storage, directory, &FileName::log(segment.start), segment.end.as_length())?;
    match open_at(storage, directory, &FileName::index(segment.start), segment.index_length) {
        Ok(index) => Ok(Active::new(log, index, cursor)),
        Err(error) => {
            storage.close(log);
            Err(error)
        }
    }
}

/// Opens a file that must be exactly as long as recovery left it.
fn open_at<S: Storage>(
    storage: &S,
    directory: &PartitionDirectory<S>,
    name: &Name,
    expected: Length,
) -> Result<S::File, OpenError> {
    let file = exact::uninterrupted(|| storage.open(&directory.directory, name, Access::ReadWrite))
        .map_err(OpenError::Io)?;
    match exact::uninterrupted(|| storage.length(&file)) {
        Ok(found) if found == expected.get() => Ok(file),
        Ok(found) => {
            storage.close(file);
            Err(StorageSizeMismatch { file: *name, expected, found: Length::new(found) }.into())
        }
        Err(error) => {
            storage.close(file);
            Err(OpenError::Io(error))
        }
    }
}
