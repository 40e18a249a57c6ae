//! The file under inspection, read through one small window.
//!
//! Promises: memory is bounded whatever a header claims; a read past the end is an error of the caller.

use recovery_core::format::Hasher;
use recovery_core::storage::{Name, Storage, StorageError, exact};

/// Bytes read at a time.
pub(super) const WINDOW_BYTES: usize = 64 * 1024;

/// A regular file that is open for reading.
pub(crate) struct Source<'a, S: Storage> {
    storage: &'a S,
    file: &'a S::File,
    /// Its name.
    pub(crate) name: Name,
    /// Its length.
    pub(crate) length: u64,
    window: Vec<u8>,
    window_at: u64,
}

impl<'a, S: Storage> Source<'a, S> {
    /// Wraps an open file.
    ///
    /// # Errors
    ///
    /// As [`Storage::length`].
    pub(crate) fn new(storage: &'a S, file: &'a S::File, name: Name) -> Result<Self, StorageError> {
        let length = exact::uninterrupted(|| storage.length(file))?;
        Ok(Self { storage, file, name, length, window: Vec::new(), window_at: 0 })
    }

    /// Bytes from `position` to the end of the file.
    pub(crate) fn left(&self, position: u64) -> u64 {
        self.length.checked_sub(position).expect("a position inside the file")
    }

    /// Reads `N` bytes at `position`, which the file has.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn array<const N: usize>(&mut self, position: u64) -> Result<[u8; N], StorageError> {
        assert!(self.left(position) >= N as u64, "the caller looked at the length");
        let mut array = [0; N];
        array.copy_from_slice(self.slice(position, N)?);
        Ok(array)
    }

    /// Reads `count` bytes at `position`, at most a window, which the file has.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn slice(&mut self, position: u64, count: usize) -> Result<&[u8], StorageError> {
        assert!(count <= WINDOW_BYTES, "a slice is at most a window");
        let held_until = self.window_at + self.window.len() as u64;
        if position < self.window_at || position + count as u64 > held_until {
            let wanted = self.left(position).min(WINDOW_BYTES as u64);
            self.window.resize(usize::try_from(wanted).expect("a window"), 0);
            self.window_at = position;
            let read = exact::read_all(self.storage, self.file, &self.name, position, &mut self.window);
            if let Err(error) = read {
                self.window.clear();
                return Err(error);
            }
        }
        let from = usize::try_from(position - self.window_at).expect("inside the window");
        Ok(&self.window[from..from + count])
    }

    /// Feeds bytes `[from, to)` to a hasher.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn hash(&mut self, from: u64, to: u64, hasher: &mut Hasher) -> Result<(), StorageError> {
        assert!(from <= to, "a range runs forward");
        let mut at = from;
        // Each pass moves `at` forward, so the range bounds the loop.
        while at < to {
            let count = (to - at).min(WINDOW_BYTES as u64);
            hasher.update(self.slice(at, usize::try_from(count).expect("a window"))?);
            at += count;
        }
        Ok(())
    }
}
