//! Where a plan is carried out: the storage, the open directories, and the facts that were judged.

use crate::observe::{PartitionFacts, SegmentFacts};
use crate::storage::{Access, Call, Errno, Name, PartitionDirectory, Storage, StorageError, exact};
use crate::units::SegmentStart;

/// Handed to every step, so that a half-done one holds nothing but its own handles.
pub(super) struct Site<'a, S: Storage> {
    pub(super) storage: &'a S,
    pub(super) partition: &'a PartitionDirectory<S>,
    pub(super) facts: &'a PartitionFacts,
}

impl<S: Storage> Clone for Site<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Storage> Copy for Site<'_, S> {}

impl<'a, S: Storage> Site<'a, S> {
    /// What was observed of `segment`, if it is one of the facts'.
    pub(super) fn segment(self, segment: SegmentStart) -> Option<&'a SegmentFacts> {
        let segments = &self.facts.segments;
        match segments.binary_search_by_key(&segment, |facts| facts.start) {
            Ok(at) => Some(&segments[at]),
            Err(_) => None,
        }
    }

    /// What was observed of a segment that a step is about.
    pub(super) fn expect_segment(self, segment: SegmentStart) -> &'a SegmentFacts {
        self.segment(segment).expect("a plan is about the segments of its facts")
    }

    pub(super) fn open(
        self,
        directory: &S::Directory,
        file: &Name,
        access: Access,
    ) -> Result<S::File, StorageError> {
        open(self.storage, directory, file, access)
    }

    /// Opens a file, works with it, and closes it whatever came of that.
    pub(super) fn with_file<T>(
        self,
        directory: &S::Directory,
        file: &Name,
        access: Access,
        work: impl FnOnce(&S::File) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let open = self.open(directory, file, access)?;
        let answer = work(&open);
        self.storage.close(open);
        answer
    }

    /// Creates a file to be written from its start, or empties one that an earlier run left half-made.
    pub(super) fn create_or_empty(
        self,
        directory: &S::Directory,
        file: &Name,
    ) -> Result<S::File, StorageError> {
        let error = match exact::uninterrupted(|| self.storage.create(directory, file)) {
            Ok(created) => return Ok(created),
            Err(error) => error,
        };
        if error.errno != Errno::EXISTS {
            return Err(error);
        }
        let left_over = self.open(directory, file, Access::ReadWrite)?;
        match exact::uninterrupted(|| self.storage.set_length(&left_over, 0)) {
            Ok(()) => Ok(left_over),
            Err(error) => {
                self.storage.close(left_over);
                Err(error)
            }
        }
    }

    pub(super) fn rename(
        self,
        from: (&S::Directory, &Name),
        to: (&S::Directory, &Name),
    ) -> Result<(), StorageError> {
        exact::uninterrupted(|| self.storage.rename(from.0, from.1, to.0, to.1))
    }
}

pub(super) fn open<S: Storage>(
    storage: &S,
    directory: &S::Directory,
    file: &Name,
    access: Access,
) -> Result<S::File, StorageError> {
    exact::uninterrupted(|| storage.open(directory, file, access))
}

/// The file is not what observation saw. Nothing is decided on it: the partition is unavailable for now,
/// and the next recovery looks again (N13).
pub(super) fn changed(call: Call, file: &Name) -> StorageError {
    StorageError { call, file: *file, errno: Errno::STALE }
}
