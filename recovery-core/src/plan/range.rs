//! A range of one file, read a slice at a time.

use super::site::{Site, changed};
use crate::storage::{Access, Call, Name, Storage, StorageError, exact};
use crate::units::{Length, Position};

/// Zeros are left out of a copy in units of this many bytes, so slices are cut at its multiples.
pub(super) const PAGE_BYTES: usize = 4096;

/// The open file and how far it was read.
pub(super) struct Range<S: Storage> {
    pub(super) file: S::File,
    name: Name,
    first: u64,
    next: u64,
    end: u64,
}

impl<S: Storage> Range<S> {
    /// Opens the file called `name` to read `length` bytes from `position`; to its end if `None`.
    ///
    /// # Errors
    ///
    /// As [`Storage::open`] and [`Storage::length`].
    pub(super) fn open(
        site: Site<'_, S>,
        directory: &S::Directory,
        name: &Name,
        position: Position,
        length: Option<Length>,
    ) -> Result<Self, StorageError> {
        let file = site.open(directory, name, Access::Read)?;
        let end = match length {
            Some(length) => position.checked_add(length).ok_or(changed(Call::Length, name)),
            None => exact::uninterrupted(|| site.storage.length(&file)).map(Position::new),
        };
        match end {
            Ok(end) => {
                let first = position.get();
                Ok(Self { file, name: *name, first, next: first, end: end.get() })
            }
            Err(error) => {
                site.storage.close(file);
                Err(error)
            }
        }
    }

    /// Reads the next bytes: as many as `buffer` takes, fewer only before the end of the range, none at it.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`]; [`crate::storage::Errno::STALE`] if the file ends inside the range.
    pub(super) fn read<'b>(&mut self, storage: &S, buffer: &'b mut [u8]) -> Result<&'b [u8], StorageError> {
        assert!(self.next <= self.end, "a range is not read past its end");
        let left = self.end - self.next;
        let count = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        exact::read_all(storage, &self.file, &self.name, self.next, &mut buffer[..count])?;
        self.next += count as u64;
        Ok(&buffer[..count])
    }

    /// How far behind the start of the range the next read begins.
    pub(super) const fn progress(&self) -> u64 {
        self.next - self.first
    }

    pub(super) const fn length(&self) -> Length {
        Length::new(self.end - self.first)
    }

    pub(super) const fn is_read(&self) -> bool {
        self.next == self.end
    }

    /// Starts again.
    pub(super) const fn rewind(&mut self) {
        self.next = self.first;
    }

    pub(super) fn close(self, storage: &S) {
        storage.close(self.file);
    }
}

/// How many bytes one slice may hold, if each is charged `charges` times against `limit`.
pub(super) fn slice_bytes(limit: u64, charges: u64, scratch_bytes: usize) -> usize {
    assert!(scratch_bytes > 0, "work needs memory");
    let allowed = usize::try_from(limit / charges).map_or(scratch_bytes, |bytes| bytes.min(scratch_bytes));
    // A limit too small for anything still moves on, byte by byte.
    if allowed < PAGE_BYTES { allowed.max(1) } else { allowed - allowed % PAGE_BYTES }
}
