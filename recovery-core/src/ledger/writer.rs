//! Appends records to a ledger, one slot each.
//!
//! Promises: floor and generation never fall; the reserved offset falls at a clean stop only; a record
//! that could not be written whole is cut back and its slot used again; a sync or a cut-back that failed
//! ends all writing, for good. Leaves out: whether what a record says is true.

use super::live_marks::LiveMarks;
use super::{LedgerError, staged_file};
use crate::format::{FileName, LEDGER_RECORD_BYTES, LedgerKind, LedgerRecord, Mark};
use crate::observe::{LedgerFacts, Seal};
use crate::storage::{Access, Storage, StorageError, exact};
use crate::units::{Durability, Incarnation, Length, Namespace, Offset, SegmentStart};

const RECORD_BYTES: u64 = LEDGER_RECORD_BYTES as u64;

/// What a new ledger says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewLedger {
    /// Whose partition.
    pub namespace: Namespace,
    /// Which life of it.
    pub incarnation: Incarnation,
    /// The writer's mode.
    pub durability: Durability,
    /// Above that of any ledger that this life of the partition had before; 1 for the first.
    pub epoch: u64,
    /// How often the partition was repaired or replaced before; 0 for a new one.
    pub generation: u64,
    /// Where the chain starts.
    pub floor: SegmentStart,
    /// No smaller offset will be minted.
    pub reserved_offset: Offset,
}

/// The open ledger of one partition.
pub struct LedgerWriter<S: Storage> {
    file: S::File,
    /// The newest record, written or read: it carries the fields that every record repeats.
    newest: LedgerRecord,
    /// The mode of the records from here on.
    durability: Durability,
    next_slot: u64,
    /// Bytes of the file: where a record that failed is cut back to.
    length: Length,
    /// Records were written since the last sync.
    is_unsynced: bool,
    live: LiveMarks,
    poison: Option<StorageError>,
}

impl<S: Storage> LedgerWriter<S> {
    /// Creates the ledger of a partition, with one `Floor` record, durably and under its own name.
    ///
    /// A file that has the name already is replaced; whoever calls has copied it aside.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Io`] when there is none afterwards; [`LedgerError::Poisoned`] when a directory sync
    /// failed, so that recovery has to look again.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::partition_components;
    /// use recovery_core::ledger::{LedgerWriter, NewLedger};
    /// use recovery_core::storage::PartitionDirectory;
    /// use recovery_core::storage::os::OsStorage;
    /// use recovery_core::units::{Durability, Incarnation, Namespace, Offset, SegmentStart};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// let storage = OsStorage::open(data.path())?;
    /// let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// let new = NewLedger {
    ///     namespace,
    ///     incarnation: Incarnation::new(1),
    ///     durability: Durability::Synced,
    ///     epoch: 1,
    ///     generation: 0,
    ///     floor: SegmentStart::ZERO,
    ///     reserved_offset: Offset::ZERO,
    /// };
    /// let mut ledger = LedgerWriter::create(&storage, &partition.directory, &new)?;
    /// // From here on no message gets an offset below 1,000, whatever becomes of the log.
    /// ledger.reserve(&storage, Offset::new(1_000))?;
    /// ledger.sync(&storage)?;
    /// ledger.close(&storage);
    /// partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create(storage: &S, directory: &S::Directory, new: &NewLedger) -> Result<Self, LedgerError> {
        Self::create_saying(storage, directory, new, &[])
    }

    /// As [`LedgerWriter::create`], and the new file says all of `kinds` from the first moment on: a ledger
    /// that does not say them yet would weaken what is known without one.
    ///
    /// # Errors
    ///
    /// As [`LedgerWriter::create`].
    pub fn create_saying(
        storage: &S,
        directory: &S::Directory,
        new: &NewLedger,
        kinds: &[LedgerKind],
    ) -> Result<Self, LedgerError> {
        assert!(new.namespace.is_packable(), "a namespace that a record can hold");
        let first = LedgerRecord {
            kind: LedgerKind::Floor,
            durability: new.durability,
            namespace: new.namespace,
            incarnation: new.incarnation,
            epoch: new.epoch,
            slot: 0,
            generation: new.generation,
            floor: new.floor,
            reserved_offset: new.reserved_offset,
        };
        let mut live = LiveMarks::default();
        let mut records = vec![first];
        for kind in kinds {
            assert!(
                kind.mark().is_none_or(|mark| mark.segment >= new.floor),
                "no record is void from its start"
            );
            records.push(LedgerRecord { kind: *kind, slot: records.len() as u64, ..first });
            live.note(kind);
        }
        let file = staged_file::install(storage, directory, &records)?;
        let next_slot = records.len() as u64;
        Ok(Self {
            file,
            newest: *records.last().expect("the floor is a record"),
            durability: new.durability,
            next_slot,
            length: Length::new(next_slot * RECORD_BYTES),
            is_unsynced: false,
            live,
            poison: None,
        })
    }

    /// Opens the ledger that `facts` were read from. Writes nothing.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Io`], and [`LedgerError::SizeMismatch`] when the file is not as long as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::partition_components;
    /// # use recovery_core::ledger::NewLedger;
    /// # use recovery_core::storage::PartitionDirectory;
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::units::{Durability, Incarnation, Namespace, SegmentStart};
    /// use recovery_core::ledger::LedgerWriter;
    /// use recovery_core::observe::{Expectation, Observation, Progress, Workspace};
    /// use recovery_core::units::Offset;
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let storage = OsStorage::open(data.path())?;
    /// # let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// # let new = NewLedger {
    /// #     namespace,
    /// #     incarnation: Incarnation::new(1),
    /// #     durability: Durability::Synced,
    /// #     epoch: 1,
    /// #     generation: 0,
    /// #     floor: SegmentStart::ZERO,
    /// #     reserved_offset: Offset::new(1_000),
    /// # };
    /// # LedgerWriter::create(&storage, &partition.directory, &new)?.close(&storage);
    /// // What a start has read goes on where it ended.
    /// let mut workspace = Workspace::new(64 * 1024);
    /// let mut observation = Observation::new(Expectation::of(namespace), &mut workspace);
    /// while observation.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
    /// let observed = observation.finish();
    /// let facts = observed.facts.ledger.known().expect("its ledger says something");
    /// assert_eq!((facts.next_slot, facts.newest.reserved_offset), (1, Offset::new(1_000)));
    /// let mut ledger = LedgerWriter::open(&storage, &partition.directory, facts)?;
    /// ledger.reserve(&storage, Offset::new(2_000))?;
    /// ledger.sync(&storage)?;
    /// ledger.close(&storage);
    /// # partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(storage: &S, directory: &S::Directory, facts: &LedgerFacts) -> Result<Self, LedgerError> {
        let name = FileName::ledger();
        let file = exact::uninterrupted(|| storage.open(directory, &name, Access::ReadWrite))
            .map_err(LedgerError::Io)?;
        match Self::check_length(storage, &file, facts) {
            Ok(length) => Ok(Self {
                file,
                newest: facts.newest,
                durability: facts.newest.durability,
                next_slot: facts.next_slot,
                length,
                is_unsynced: false,
                live: LiveMarks::of(facts),
                poison: None,
            }),
            Err(error) => {
                storage.close(file);
                Err(error)
            }
        }
    }

    fn check_length(storage: &S, file: &S::File, facts: &LedgerFacts) -> Result<Length, LedgerError> {
        assert!(facts.next_slot > facts.newest.slot, "the next slot lies behind every record");
        let found = exact::uninterrupted(|| storage.length(file)).map_err(LedgerError::Io)?;
        // The last slot may hold part of a record; the next one lies behind every byte.
        let longest = facts.next_slot.checked_mul(RECORD_BYTES).expect("slots were counted in a file");
        let shortest = longest - (RECORD_BYTES - 1);
        if found < shortest || found > longest {
            return Err(LedgerError::SizeMismatch {
                found: Length::new(found),
                shortest: Length::new(shortest),
                longest: Length::new(longest),
            });
        }
        Ok(Length::new(found))
    }

    /// Appends a record of `kind`. `Recovered` raises the generation by one, unless it is the largest there is
    /// (a hostile file may say so, and nothing depends on it); `Floor` and `Reserved` say
    /// again what holds ([`LedgerWriter::raise_floor`] and [`LedgerWriter::reserve`] raise it first).
    ///
    /// Nothing is durable before [`LedgerWriter::sync`].
    ///
    /// # Errors
    ///
    /// [`LedgerError::Io`] when the record was not written, and nothing of it is left;
    /// [`LedgerError::Poisoned`] when that could not be made sure, and ever after.
    ///
    /// # Panics
    ///
    /// On a `CleanStop`, which [`LedgerWriter::clean_stop`] writes; on a mark below the floor or below a
    /// mark of the same segment.
    pub fn append(&mut self, storage: &S, kind: LedgerKind) -> Result<(), LedgerError> {
        let mut record = LedgerRecord { kind, ..self.newest };
        match kind {
            LedgerKind::Recovered { .. } => {
                if let Some(next) = record.generation.checked_add(1) {
                    record.generation = next;
                }
            }
            LedgerKind::CleanStop { .. } => panic!("a clean stop also says the next offset"),
            LedgerKind::Opened { .. }
            | LedgerKind::Frontier { .. }
            | LedgerKind::Sealed { .. }
            | LedgerKind::Floor
            | LedgerKind::Reserved
            | LedgerKind::AcceptedLoss { .. } => {}
        }
        self.write(storage, record)
    }

    /// Appends a `CleanStop`: the one record that lets the reserved offset fall, to exactly `next_offset`.
    ///
    /// # Errors
    ///
    /// As [`LedgerWriter::append`].
    pub fn clean_stop(&mut self, storage: &S, mark: Mark, next_offset: Offset) -> Result<(), LedgerError> {
        assert!(next_offset >= mark.next_offset, "the next offset lies behind every offset held");
        let kind = LedgerKind::CleanStop { mark };
        self.write(storage, LedgerRecord { kind, reserved_offset: next_offset, ..self.newest })
    }

    /// Appends a `Reserved`: no offset below `offset`, nor below what was reserved before, will be minted.
    ///
    /// # Errors
    ///
    /// As [`LedgerWriter::append`].
    pub fn reserve(&mut self, storage: &S, offset: Offset) -> Result<(), LedgerError> {
        let reserved_offset = offset.max(self.newest.reserved_offset);
        self.write(storage, LedgerRecord { kind: LedgerKind::Reserved, reserved_offset, ..self.newest })
    }

    /// Appends a `Floor`: the chain starts at `floor`, and what lies below is void.
    ///
    /// # Errors
    ///
    /// As [`LedgerWriter::append`].
    ///
    /// # Panics
    ///
    /// If `floor` lies below the floor that holds.
    pub fn raise_floor(&mut self, storage: &S, floor: SegmentStart) -> Result<(), LedgerError> {
        assert!(floor >= self.newest.floor, "a floor never falls");
        self.write(storage, LedgerRecord { kind: LedgerKind::Floor, floor, ..self.newest })?;
        self.live.drop_below(floor);
        Ok(())
    }

    /// Writes one record at the next slot.
    ///
    /// A slot that failed is cut back and used again, rather than left behind as a skipped one: part of
    /// a record is no record, but what is left in the file must never be the record whole.
    fn write(&mut self, storage: &S, draft: LedgerRecord) -> Result<(), LedgerError> {
        self.check_poison()?;
        let record = LedgerRecord { slot: self.next_slot, durability: self.durability, ..draft };
        if let Some(mark) = record.kind.mark() {
            assert!(mark.segment >= record.floor, "a record below the floor would be void");
        }
        let bytes = record.encode();
        assert_eq!(LedgerRecord::decode(&bytes), Ok(record), "what is written can be read");
        let position = self.next_slot.checked_mul(RECORD_BYTES).expect("a ledger is compacted before that");
        assert!(position >= self.length.get(), "no record is written over another");
        if let Err(cause) = exact::write_all(storage, &self.file, &FileName::ledger(), position, &bytes) {
            return Err(self.cut_back(storage, &cause));
        }
        self.length = Length::new(position + RECORD_BYTES);
        self.next_slot += 1;
        self.is_unsynced = true;
        self.newest = record;
        self.live.note(&record.kind);
        Ok(())
    }

    fn cut_back(&mut self, storage: &S, cause: &StorageError) -> LedgerError {
        match exact::uninterrupted(|| storage.set_length(&self.file, self.length.get())) {
            Ok(()) => LedgerError::Io(named(cause)),
            Err(worse) => self.poison_with(&worse),
        }
    }

    /// Makes every record durable. Without one since the last sync this is no call.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Poisoned`]: after a sync that failed once, no later one proves anything
    /// (FAULT_MODEL 2.6).
    pub fn sync(&mut self, storage: &S) -> Result<(), LedgerError> {
        self.check_poison()?;
        if !self.is_unsynced {
            return Ok(());
        }
        // Not repeated after a signal either: what that call covered is not known.
        match storage.sync(&self.file) {
            Ok(()) => {
                self.is_unsynced = false;
                Ok(())
            }
            Err(cause) => Err(self.poison_with(&cause)),
        }
    }

    /// Writes what still counts to a new file with the next epoch, and gives it the ledger's name. All
    /// that it says is durable afterwards.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Io`], [`LedgerError::LossUnplaced`] or [`LedgerError::EpochsUsedUp`] when the old file
    /// stays in use;
    /// [`LedgerError::Poisoned`] when nobody knows which file a later start will find.
    pub fn compact(&mut self, storage: &S, directory: &S::Directory) -> Result<(), LedgerError> {
        self.check_poison()?;
        if let Some(loss) = self.live.unplaced_loss() {
            let last = loss.next.before().expect("a loss holds at least one offset");
            return Err(LedgerError::LossUnplaced { first: loss.first, last });
        }
        let Some(epoch) = self.newest.epoch.checked_add(1) else {
            return Err(LedgerError::EpochsUsedUp);
        };
        let mut records = Vec::new();
        let mut add = |kind| {
            let slot = records.len() as u64;
            records.push(LedgerRecord { kind, epoch, slot, ..self.newest });
        };
        self.live.visit(&mut add);
        // Last, since the newest record decides: whatever it says, it says again.
        add(self.newest.kind);
        match staged_file::install(storage, directory, &records) {
            Ok(file) => {
                storage.close(std::mem::replace(&mut self.file, file));
                self.newest = *records.last().expect("the newest record was added");
                self.next_slot = records.len() as u64;
                self.length = Length::new(self.next_slot * RECORD_BYTES);
                self.is_unsynced = false;
                Ok(())
            }
            Err(LedgerError::Poisoned { cause }) => Err(self.poison_with(&cause)),
            Err(error) => Err(error),
        }
    }

    /// How many bytes a compaction would leave, or `None` if none is possible now.
    pub fn compacted_length(&self) -> Option<Length> {
        if self.newest.epoch == u64::MAX {
            return None;
        }
        match self.live.unplaced_loss() {
            Some(_) => None,
            None => Some(Length::new((self.live.count() + 1) * RECORD_BYTES)),
        }
    }

    fn check_poison(&self) -> Result<(), LedgerError> {
        self.poison.map_or(Ok(()), |cause| Err(LedgerError::Poisoned { cause }))
    }

    fn poison_with(&mut self, cause: &StorageError) -> LedgerError {
        let cause = named(cause);
        self.poison = Some(cause);
        LedgerError::Poisoned { cause }
    }

    /// Says in which mode the records from here on are written.
    pub const fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// The newest record, as a reader of the whole file would find it.
    pub const fn newest(&self) -> &LedgerRecord {
        &self.newest
    }

    /// Whether no segment at or above the floor has a mark.
    pub fn has_no_mark(&self) -> bool {
        self.live.is_empty()
    }

    /// The newest mark of `segment`, if the ledger has one.
    pub fn newest_mark(&self, segment: SegmentStart) -> Option<Mark> {
        self.live.newest(segment)
    }

    /// The seal of `segment`, if it has one that is not void.
    pub fn seal(&self, segment: SegmentStart) -> Option<Seal> {
        self.live.seal(segment)
    }

    /// Bytes of the file.
    pub const fn length(&self) -> Length {
        self.length
    }

    /// Closes the file. Records that no sync has covered may be lost.
    pub fn close(self, storage: &S) {
        storage.close(self.file);
    }
}

/// A handle may have been opened under the staging name; by now the file is the ledger.
fn named(error: &StorageError) -> StorageError {
    StorageError { file: FileName::ledger(), ..*error }
}
