//! Writes a new index beside the old one, and puts it in its place (F07).

use super::range::slice_bytes;
use super::site::Site;
use crate::format::{FileName, INDEX_ENTRY_BYTES};
use crate::storage::{Name, Storage, StorageError, exact};
use crate::units::SegmentStart;

/// A new index under way.
pub(super) struct Staging<S: Storage> {
    name: Name,
    file: S::File,
    segment: SegmentStart,
    /// Entries written.
    written: usize,
    sync: bool,
}

impl<S: Storage> Staging<S> {
    /// Creates the staging file: what had its name is set aside, or was our own and is gone.
    pub(super) fn start(site: Site<'_, S>, segment: SegmentStart, sync: bool) -> Result<Self, StorageError> {
        let name = FileName::index_staging(segment);
        let file = exact::uninterrupted(|| site.storage.create(&site.partition.directory, &name))?;
        Ok(Self { name, file, segment, written: 0, sync })
    }

    /// Writes some entries; says whether those were the last.
    pub(super) fn advance(
        &mut self,
        site: Site<'_, S>,
        scratch: &mut [u8],
        limit: u64,
    ) -> Result<bool, StorageError> {
        let left = &site.expect_segment(self.segment).index.rebuilt[self.written..];
        let room = slice_bytes(limit, 1, scratch.len()) / INDEX_ENTRY_BYTES;
        assert!(scratch.len() >= INDEX_ENTRY_BYTES, "work needs memory for one entry");
        let slice = &left[..left.len().min(room.max(1))];
        let bytes = &mut scratch[..slice.len() * INDEX_ENTRY_BYTES];
        for (entry, target) in slice.iter().zip(bytes.chunks_exact_mut(INDEX_ENTRY_BYTES)) {
            target.copy_from_slice(&entry.encode());
        }
        let position = (self.written * INDEX_ENTRY_BYTES) as u64;
        exact::write_all(site.storage, &self.file, &self.name, position, bytes)?;
        self.written += slice.len();
        let is_written = slice.len() == left.len();
        if is_written && self.sync {
            site.storage.sync(&self.file)?;
        }
        Ok(is_written)
    }

    pub(super) fn close(self, storage: &S) {
        storage.close(self.file);
    }
}

/// Gives the staged index its name.
pub(super) fn install<S: Storage>(site: Site<'_, S>, segment: SegmentStart) -> Result<(), StorageError> {
    let directory = &site.partition.directory;
    site.rename((directory, &FileName::index_staging(segment)), (directory, &FileName::index(segment)))
}
