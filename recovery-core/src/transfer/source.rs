//! Where the bytes of an offer come from.
//!
//! Promises: a source over a storage gives no byte that is not offered. Leaves out: whether what comes is what was
//! offered; the installing side finds out.

use thiserror::Error;

use super::Offer;
use crate::format::FileName;
use crate::storage::{Access, PartitionDirectory, Storage, StorageError, exact};
use crate::units::{Position, SegmentStart};

/// Why a source gave nothing. It says nothing about the bytes here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SourceError {
    /// A storage call of the peer failed.
    #[error("the peer could not read: {0}")]
    Io(StorageError),
    /// The peer cannot be reached, or does not offer this any more.
    #[error("the peer is gone")]
    Gone,
}

/// The bytes behind an offer.
pub trait Source {
    /// Reads up to `buffer.len()` bytes of a segment's log at `position`; returns how many, 0 only past its end.
    ///
    /// # Errors
    ///
    /// [`SourceError`].
    fn read(
        &mut self,
        segment: SegmentStart,
        position: Position,
        buffer: &mut [u8],
    ) -> Result<usize, SourceError>;
}

/// The offered bytes of a partition directory.
pub struct StorageSource<'a, S: Storage> {
    storage: &'a S,
    partition: &'a PartitionDirectory<S>,
    offer: &'a Offer,
    open: Option<(SegmentStart, S::File)>,
}

impl<'a, S: Storage> StorageSource<'a, S> {
    /// A source over what `offer` says of `partition`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::decide::decide;
    /// # use recovery_core::format::partition_components;
    /// # use recovery_core::observe::{Expectation, Observation, Progress, Workspace};
    /// # use recovery_core::storage::PartitionDirectory;
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::units::{Incarnation, Namespace};
    /// use recovery_core::transfer::{Offer, Source, SourceError, StorageSource};
    /// use recovery_core::units::{Position, SegmentStart};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// # let mut batch = Vec::new();
    /// # recovery_core::format::BatchBuilder::begin(&mut batch, 1).finish();
    /// # let log = data.path().join("streams/1/topics/1/partitions/0/00000000000000000000.log");
    /// # std::fs::write(log, [&batch[..], b"noise behind it"].concat())?;
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let storage = OsStorage::open_read_only(data.path())?;
    /// # let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # let expectation = Expectation { incarnation: Some(Incarnation::new(1)), ..Expectation::of(namespace) };
    /// # let mut observation = Observation::new(expectation, &mut workspace);
    /// # while observation.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let facts = observation.finish().facts;
    /// # let offer = Offer::of(&facts, &decide(&facts), Incarnation::new(1)).expect("it is served");
    /// // The log holds a batch of 256 bytes, which is offered, and noise behind it, which is not.
    /// let mut source = StorageSource::new(&storage, &partition, &offer);
    /// let mut buffer = [0; 1_000];
    /// assert_eq!(source.read(SegmentStart::ZERO, Position::ZERO, &mut buffer), Ok(256));
    /// assert_eq!(source.read(SegmentStart::ZERO, Position::new(256), &mut buffer), Ok(0));
    /// // No segment begins at offset 7.
    /// assert_eq!(source.read(SegmentStart::new(7), Position::ZERO, &mut buffer), Err(SourceError::Gone));
    /// source.close();
    /// # partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn new(storage: &'a S, partition: &'a PartitionDirectory<S>, offer: &'a Offer) -> Self {
        Self { storage, partition, offer, open: None }
    }

    /// Closes what is open.
    pub fn close(self) {
        if let Some((_, file)) = self.open {
            self.storage.close(file);
        }
    }

    fn file(&mut self, segment: SegmentStart) -> Result<&S::File, StorageError> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != segment) {
            if let Some((_, file)) = self.open.take() {
                self.storage.close(file);
            }
            let directory = &self.partition.directory;
            let name = FileName::log(segment);
            let file = exact::uninterrupted(|| self.storage.open(directory, &name, Access::Read))?;
            self.open = Some((segment, file));
        }
        let (_, file) = self.open.as_ref().expect("it was opened above");
        Ok(file)
    }
}

impl<S: Storage> Source for StorageSource<'_, S> {
    fn read(
        &mut self,
        segment: SegmentStart,
        position: Position,
        buffer: &mut [u8],
    ) -> Result<usize, SourceError> {
        let offered =
            self.offer.segments.iter().find(|end| end.segment == segment).ok_or(SourceError::Gone)?;
        let Some(left) = offered.position.checked_since(position) else { return Ok(0) };
        let count = usize::try_from(left.get()).map_or(buffer.len(), |left| left.min(buffer.len()));
        let storage = self.storage;
        let file = self.file(segment).map_err(SourceError::Io)?;
        exact::uninterrupted(|| storage.read(file, position.get(), &mut buffer[..count]))
            .map_err(SourceError::Io)
    }
}
