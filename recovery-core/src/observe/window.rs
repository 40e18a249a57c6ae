//! A sliding view of one file through a fixed buffer.
//!
//! Promises: bytes come from storage in order and never more than asked, the step's limit and the known
//! length allow; a byte that is still in the buffer is not read again. Leaves out: which file is looked at;
//! whoever changes the file forgets the contents first.

use super::meter::Meter;
use crate::storage::{Errno, Name, Storage, StorageError, exact};

/// Scratch memory with the file positions it shows.
#[derive(Debug)]
pub(crate) struct Window {
    buffer: Box<[u8]>,
    start: u64,
    filled: usize,
}

/// One file to look at, with the length it is judged by.
#[derive(Debug)]
pub(crate) struct Source<'a, S: Storage> {
    pub(crate) storage: &'a S,
    pub(crate) file: &'a S::File,
    pub(crate) name: &'a Name,
    pub(crate) length: u64,
}

/// Whether the bytes asked for are in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// They are.
    Ready,
    /// The step's limit ended first.
    Paused,
}

impl Window {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { buffer: vec![0; bytes].into_boxed_slice(), start: 0, filled: 0 }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.buffer.len()
    }

    /// Drops what is shown, so that the next look asks storage again.
    pub(crate) fn forget(&mut self) {
        self.start = 0;
        self.filled = 0;
    }

    /// Lends the buffer, and shows nothing from then on.
    pub(crate) fn scratch(&mut self) -> &mut [u8] {
        self.forget();
        &mut self.buffer
    }

    /// One behind the last position shown.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.filled as u64
    }

    /// Whether `[position, position + count)` is shown.
    #[inline]
    pub(crate) fn covers(&self, position: u64, count: u64) -> bool {
        position >= self.start && position <= self.end() && self.end() - position >= count
    }

    /// Everything shown from `position` on; empty if nothing is.
    #[inline]
    pub(crate) fn from(&self, position: u64) -> &[u8] {
        if !self.covers(position, 0) {
            return &[];
        }
        let at = in_buffer(position - self.start);
        &self.buffer[at..self.filled]
    }

    /// Makes `[position, position + need)` shown, reading ahead as far as the buffer, the file and
    /// `ahead` allow, where `ahead` is the most bytes one call may add.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`]; [`Errno::STALE`] if the file ends before its known length.
    pub(crate) fn ensure<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        position: u64,
        need: usize,
        ahead: u64,
        meter: &mut Meter,
    ) -> Result<Fill, StorageError> {
        assert!(need <= self.capacity(), "a window shows no more than its buffer holds");
        assert!(position + need as u64 <= source.length, "nothing is looked for past the end");
        if self.covers(position, need as u64) {
            return Ok(Fill::Ready);
        }
        self.slide_to(position);
        // However short the reads are, together they take no more than one whole read would have taken: what
        // the caller means to do with the bytes is still affordable afterwards.
        let mut most = ahead.max((need - need.min(self.filled)) as u64);
        // Each pass that goes on has added at least one byte, so the buffer bounds the loop.
        while self.filled < need {
            let room = ((self.capacity() - self.filled) as u64).min(source.length - self.end());
            let count = in_buffer(room.min(ahead).min(most).min(meter.left()));
            if count == 0 {
                return Ok(Fill::Paused);
            }
            let target = &mut self.buffer[self.filled..self.filled + count];
            let at = self.start + self.filled as u64;
            let got = exact::uninterrupted(|| source.storage.read(source.file, at, target))?;
            if got == 0 {
                let call = crate::storage::Call::Read;
                return Err(StorageError { call, file: *source.name, errno: Errno::STALE });
            }
            meter.read(got as u64);
            self.filled += got;
            most -= got as u64;
        }
        Ok(Fill::Ready)
    }

    /// Lets the window start at `position`, keeping what it already shows from there on.
    fn slide_to(&mut self, position: u64) {
        if self.covers(position, 0) {
            let at = in_buffer(position - self.start);
            self.buffer.copy_within(at..self.filled, 0);
            self.filled -= at;
        } else {
            self.filled = 0;
        }
        self.start = position;
    }
}

/// A count of bytes that lie in a buffer, as an index into it.
#[inline]
pub(crate) fn in_buffer(count: u64) -> usize {
    usize::try_from(count).expect("what lies in memory is addressable")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::os::OsStorage;

    #[test]
    fn nothing_is_read_behind_the_known_length_of_a_file() {
        let directory = tempfile::tempdir().expect("there is room for a directory");
        let storage = OsStorage::open(directory.path()).expect("the directory is there");
        let root = storage.root().expect("the directory is there");
        let name = Name::new(b"log").expect("a name");
        let file = storage.create(&root, &name).expect("nothing has the name");
        assert_eq!(storage.write(&file, 0, &[7; 600]), Ok(600));

        let source = Source { storage: &storage, file: &file, name: &name, length: 100 };
        let mut window = Window::new(512);
        let mut meter = Meter::default();
        meter.begin_step(1_000);
        assert_eq!(window.ensure(&source, 40, 10, 1_000, &mut meter), Ok(Fill::Ready));
        assert_eq!((window.end(), meter.work().bytes_read), (100, 60));
        assert_eq!(window.ensure(&source, 90, 10, 1_000, &mut meter), Ok(Fill::Ready));
        assert_eq!(window.from(90), [7; 10]);
        storage.close(file);
        storage.close_directory(root);
    }
}
