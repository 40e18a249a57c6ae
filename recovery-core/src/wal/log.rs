//! The open metadata log: records are appended, one batch a call.
//!
//! Promises: when records are taken they are durable; a batch without records follows at once, which says
//! so, also durably, and so tells rot from a torn write later on. A write that failed is taken back; a sync
//! that failed, or a taking back, ends all appending until the log is opened, and read, again. Leaves out:
//! compaction; a record takes 32 bytes, and partitions come and go rarely.

use super::{MetadataError, Registry};
use crate::format::{
    BATCH_BYTES_MAX, Checksum, FileName, METADATA_HEADER_BYTES, METADATA_RECORD_BYTES, MetadataDraft,
    MetadataHeader, MetadataRecord,
};
use crate::storage::{Access, Errno, Storage, StorageError, exact};
use crate::units::{Length, Position};

/// The metadata log of one data directory.
pub struct MetadataLog<S: Storage> {
    /// `None` until the first record makes the file.
    file: Option<S::File>,
    tail: Tail,
    registry: Registry,
    poison: Option<StorageError>,
    /// Reused from one append to the next.
    bytes: Vec<u8>,
}

/// Where the next batch goes, and what it follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    pub(super) end: Position,
    pub(super) sequence: u64,
    pub(super) previous: Checksum,
    /// Nothing in the log says yet that the last batch was durable.
    pub(super) is_unconfirmed: bool,
}

impl<S: Storage> MetadataLog<S> {
    /// A log that has no file yet.
    pub(super) fn without_file() -> Self {
        let tail =
            Tail { end: Position::ZERO, sequence: 0, previous: Checksum::new(0), is_unconfirmed: false };
        Self { file: None, tail, registry: Registry::default(), poison: None, bytes: Vec::new() }
    }

    /// A log that was read from the medium up to `tail`, where its file ends.
    pub(super) fn of(file: S::File, tail: Tail, registry: Registry) -> Self {
        Self { file: Some(file), tail, registry, poison: None, bytes: Vec::new() }
    }

    /// What the records say.
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What ended all appending, if anything did.
    pub const fn poisoned_by(&self) -> Option<&StorageError> {
        self.poison.as_ref()
    }

    /// Appends `records`, each of another partition, as one batch: all of them hold afterwards, or none.
    ///
    /// `root` is the data directory, in which the first append makes the file.
    ///
    /// # Errors
    ///
    /// [`MetadataError`]. After [`MetadataError::Poisoned`] nobody knows whether the records hold.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::FileName;
    /// # use recovery_core::observe::{Progress, Workspace};
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::storage::{PartitionDirectory, Storage};
    /// # use recovery_core::wal::{Opened, Opening};
    /// use recovery_core::format::{MetadataKind, MetadataRecord};
    /// use recovery_core::units::{Durability, Incarnation, Namespace};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # let storage = OsStorage::open(data.path())?;
    /// # let (parent, directory) = (storage.root()?, storage.root()?);
    /// # let root = PartitionDirectory { parent, directory, name: FileName::metadata_log() };
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # let mut opening = Opening::default();
    /// # while opening.step(&storage, &root, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let Opened::Log(mut log, None) = opening.finish() else { panic!("there is no log yet") };
    /// let (namespace, incarnation) = (Namespace { stream: 1, topic: 1, partition: 0 }, Incarnation::new(1));
    /// let kind = MetadataKind::Created { replicas: 1, durability: Durability::Synced };
    /// let created = MetadataRecord { kind, namespace, incarnation };
    /// let deleting = MetadataRecord { kind: MetadataKind::Deleting, namespace, incarnation };
    /// log.append(&storage, &root.directory, &[created])?;
    /// log.append(&storage, &root.directory, &[deleting])?;
    /// // What contradicts the log is not written: this life has begun already.
    /// assert!(log.append(&storage, &root.directory, &[created]).is_err());
    /// # log.close(&storage);
    /// # root.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(
        &mut self,
        storage: &S,
        root: &S::Directory,
        records: &[MetadataRecord],
    ) -> Result<(), MetadataError> {
        self.check_poison()?;
        self.check(records)?;
        if self.file.is_none() {
            self.create(storage, root)?;
        }
        self.write(storage, records)?;
        self.sync(storage)?;
        for record in records {
            self.registry.apply(record).expect("every record was checked, and they are of other partitions");
        }
        // The records hold, whatever becomes of the batch that says so.
        match self.confirm(storage) {
            Ok(()) | Err(MetadataError::Io(_) | MetadataError::Poisoned { .. }) => Ok(()),
            Err(error @ (MetadataError::Contradiction(_) | MetadataError::TooLarge { .. })) => Err(error),
        }
    }

    fn check(&self, records: &[MetadataRecord]) -> Result<(), MetadataError> {
        let bytes = METADATA_HEADER_BYTES + records.len() * METADATA_RECORD_BYTES;
        let given = Length::new(bytes as u64);
        if given > BATCH_BYTES_MAX {
            return Err(MetadataError::TooLarge { given, ceiling: BATCH_BYTES_MAX });
        }
        let mut namespaces: Vec<_> = records.iter().map(|record| record.namespace).collect();
        namespaces.sort_unstable();
        let is_distinct = namespaces.windows(2).all(|pair| pair[0] != pair[1]);
        assert!(is_distinct, "the records of one batch are of different partitions");
        records.iter().try_for_each(|record| self.registry.check(record))?;
        Ok(())
    }

    /// Says durably that all that is there was durable, if nothing says so yet.
    pub(super) fn confirm(&mut self, storage: &S) -> Result<(), MetadataError> {
        if !self.tail.is_unconfirmed {
            return Ok(());
        }
        self.write(storage, &[])?;
        self.sync(storage)
    }

    /// Makes the file: its first batch is durable before it has its name, so that a log without one is
    /// damaged and nothing else.
    fn create(&mut self, storage: &S, root: &S::Directory) -> Result<(), MetadataError> {
        let staging = FileName::metadata_staging();
        let file = create_or_empty(storage, root).map_err(MetadataError::Io)?;
        let header = self.encode(&[]);
        let written = exact::write_all(storage, &file, &staging, 0, &self.bytes)
            .and_then(|()| storage.sync(&file))
            .and_then(|()| {
                exact::uninterrupted(|| storage.rename(root, &staging, root, &FileName::metadata_log()))
            });
        if let Err(cause) = written {
            // What is left over is our own half-made file, and the next call empties it.
            storage.close(file);
            return Err(MetadataError::Io(cause));
        }
        self.file = Some(file);
        self.advance(&header);
        storage.sync_directory(root).map_err(|cause| self.poison_with(&cause))
    }

    fn encode(&mut self, records: &[MetadataRecord]) -> MetadataHeader {
        let Tail { end, sequence, previous, .. } = self.tail;
        let draft = MetadataDraft { sequence, position: end, frontier: end, previous };
        MetadataHeader::encode(&draft, records, &mut self.bytes)
    }

    /// Writes one batch; what failed half-way is taken back.
    fn write(&mut self, storage: &S, records: &[MetadataRecord]) -> Result<(), MetadataError> {
        let header = self.encode(records);
        let file = self.file.as_ref().expect("a batch is written to a file that was made");
        let end = self.tail.end.get();
        match exact::write_all(storage, file, &FileName::metadata_log(), end, &self.bytes) {
            Ok(()) => {
                self.advance(&header);
                Ok(())
            }
            Err(cause) => match exact::uninterrupted(|| storage.set_length(file, end)) {
                Ok(()) => Err(MetadataError::Io(cause)),
                Err(worse) => Err(self.poison_with(&worse)),
            },
        }
    }

    fn advance(&mut self, header: &MetadataHeader) {
        let end =
            self.tail.end.checked_add(header.length).expect("a log is shorter than half of all numbers");
        self.tail = Tail {
            end,
            sequence: header.sequence + 1,
            previous: header.checksum,
            is_unconfirmed: header.record_count > 0,
        };
    }

    /// Once: what a sync that failed covered is not known, and no later one proves it (FAULT_MODEL 2.6).
    fn sync(&mut self, storage: &S) -> Result<(), MetadataError> {
        let file = self.file.as_ref().expect("a batch was written to it");
        storage.sync(file).map_err(|cause| self.poison_with(&cause))
    }

    fn check_poison(&self) -> Result<(), MetadataError> {
        self.poison.map_or(Ok(()), |cause| Err(MetadataError::Poisoned { cause }))
    }

    fn poison_with(&mut self, cause: &StorageError) -> MetadataError {
        self.poison = Some(*cause);
        MetadataError::Poisoned { cause: *cause }
    }

    /// Closes the file.
    pub fn close(self, storage: &S) {
        if let Some(file) = self.file {
            storage.close(file);
        }
    }
}

/// Creates the staging file, or empties one that an earlier call left half-made.
fn create_or_empty<S: Storage>(storage: &S, root: &S::Directory) -> Result<S::File, StorageError> {
    let staging = FileName::metadata_staging();
    match exact::uninterrupted(|| storage.create(root, &staging)) {
        Err(error) if error.errno == Errno::EXISTS => {
            let file = exact::uninterrupted(|| storage.open(root, &staging, Access::ReadWrite))?;
            match exact::uninterrupted(|| storage.set_length(&file, 0)) {
                Ok(()) => Ok(file),
                Err(error) => {
                    storage.close(file);
                    Err(error)
                }
            }
        }
        answer => answer,
    }
}
