//! Reads a range to learn what its copy will be called, or to make sure that it holds only zeros. A whole
//! file, which is moved and not copied, is read twice: nothing else would see that one reading was wrong.

use super::copies::{Copies, Place};
use super::range::{Range, slice_bytes};
use super::site::{Site, changed};
use crate::format::{Checksum, CopyName, FileName, Hasher, INDEX_ENTRY_BYTES, IndexEntry};
use crate::observe::IndexState;
use crate::storage::{Call, Name, Storage, StorageError, exact};
use crate::units::{Length, Position, SegmentStart};

/// A range whose checksum is being taken.
pub(super) struct Identifying<S: Storage> {
    range: Range<S>,
    file: Name,
    position: Position,
    hasher: Hasher,
    /// What the first of two readings came to.
    first: Option<Checksum>,
    is_read_twice: bool,
    /// Whether this may still be an index of ours that was not finished.
    may_be_ours: bool,
}

impl<S: Storage> Identifying<S> {
    pub(super) fn start(
        site: Site<'_, S>,
        file: &Name,
        position: Position,
        length: Option<Length>,
    ) -> Result<Self, StorageError> {
        let range = Range::open(site, &site.partition.directory, file, position, length)?;
        let may_be_ours = new_index(site, file).is_some();
        let (hasher, is_read_twice) = (Hasher::new(), length.is_none());
        Ok(Self { range, file: *file, position, hasher, first: None, is_read_twice, may_be_ours })
    }

    /// Reads a slice; says whether that was the last. Then `copies` knows the copy's name.
    ///
    /// # Errors
    ///
    /// [`crate::storage::Errno::STALE`] if two readings differ.
    ///
    /// A staged index that this plan writes again, and that holds nothing which the new one does not, is
    /// our own half-made file: it is removed instead of being set aside.
    pub(super) fn advance(
        &mut self,
        site: Site<'_, S>,
        copies: &mut Copies,
        scratch: &mut [u8],
        limit: u64,
    ) -> Result<bool, StorageError> {
        let at = self.range.progress();
        let count = slice_bytes(limit, 2, scratch.len());
        let bytes = self.range.read(site.storage, &mut scratch[..count])?;
        self.hasher.update(bytes);
        if self.may_be_ours {
            let entries = new_index(site, &self.file).expect("facts do not change under a plan");
            self.may_be_ours = holds_nothing_else(entries, at, bytes);
        }
        if !self.range.is_read() {
            return Ok(false);
        }
        let checksum = self.hasher.finish();
        if self.is_read_twice && self.first.is_none() {
            self.first = Some(checksum);
            self.hasher = Hasher::new();
            // The cache is left alone: what is not synced may be nowhere else.
            self.range.rewind();
            return Ok(false);
        }
        if self.first.is_some_and(|first| first != checksum) {
            return Err(changed(Call::Read, &self.file));
        }
        let copy = copies.of_file(&self.file);
        copy.name = Some(CopyName::new(&self.file, self.position, self.range.length(), checksum));
        if self.may_be_ours {
            copy.place = Place::Spared;
        }
        Ok(true)
    }

    pub(super) fn close(self, storage: &S) {
        self.range.close(storage);
    }
}

/// The entries that will be staged under the name `file`, if any will.
fn new_index<'a, S: Storage>(site: Site<'a, S>, file: &Name) -> Option<&'a [IndexEntry]> {
    let start = FileName::staged_index(file)?;
    let index = &site.segment(start)?.index;
    (index.state != IndexState::Good).then_some(&index.rebuilt[..])
}

/// Whether every non-zero byte of `bytes`, found at `position`, stands at the same place in the encoded
/// `entries`.
fn holds_nothing_else(entries: &[IndexEntry], position: u64, bytes: &[u8]) -> bool {
    let entry_bytes = INDEX_ENTRY_BYTES as u64;
    let mut encoded = None;
    bytes.iter().zip(position..).filter(|(byte, _)| **byte != 0).all(|(byte, at)| {
        let Some(entry) = usize::try_from(at / entry_bytes).map_or(None, |number| entries.get(number)) else {
            return false;
        };
        if encoded.is_none_or(|(number, _)| number != at / entry_bytes) {
            encoded = Some((at / entry_bytes, entry.encode()));
        }
        let within = usize::try_from(at % entry_bytes).expect("an entry is small");
        encoded.is_some_and(|(_, bytes)| bytes[within] == *byte)
    })
}

/// A range that must hold only zeros.
pub(super) struct CheckingZeros<S: Storage> {
    range: Range<S>,
    file: Name,
}

impl<S: Storage> CheckingZeros<S> {
    pub(super) fn start(
        site: Site<'_, S>,
        segment: SegmentStart,
        position: Position,
        length: Length,
    ) -> Result<Self, StorageError> {
        let file = FileName::log(segment);
        let range = Range::open(site, &site.partition.directory, &file, position, Some(length))?;
        match exact::uninterrupted(|| site.storage.drop_cache(&range.file)) {
            Ok(()) => Ok(Self { range, file }),
            Err(error) => {
                range.close(site.storage);
                Err(error)
            }
        }
    }

    /// Reads a slice; says whether that was the last.
    ///
    /// # Errors
    ///
    /// [`crate::storage::Errno::STALE`] if a byte is not zero.
    pub(super) fn advance(
        &mut self,
        site: Site<'_, S>,
        scratch: &mut [u8],
        limit: u64,
    ) -> Result<bool, StorageError> {
        let count = slice_bytes(limit, 1, scratch.len());
        let bytes = self.range.read(site.storage, &mut scratch[..count])?;
        if bytes.iter().any(|byte| *byte != 0) {
            return Err(changed(Call::Read, &self.file));
        }
        Ok(self.range.is_read())
    }

    pub(super) fn close(self, storage: &S) {
        self.range.close(storage);
    }
}
