//! Copies a range of a file into a fence.
//!
//! Promises: a copy has its name only once it is durable, was read back, equals a second read of its
//! source, and both have the checksum that observation saw: three reads agree before anything is cut (N12,
//! N13). A copy that an earlier start has left counts as this one only once it equals a second read of the source, too:
//! one wrong read may have shown just what was set aside then. Leaves out: making the name durable, which one sync of the
//! fence does for all.

use super::copies::Copy;
use super::fence::Fence;
use super::range::{PAGE_BYTES, Range, slice_bytes};
use super::site::{Site, changed};
use crate::format::{CopyName, Hasher};
use crate::storage::{Access, Call, Name, Storage, StorageError, exact};

/// How far a copy is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// The source is read and written to the staging file.
    Copying,
    /// Both are read again and compared.
    Comparing,
}

/// A copy under way.
pub(super) struct Saving<S: Storage> {
    copy: CopyName,
    staging: Name,
    file: Name,
    source: Range<S>,
    target: S::File,
    /// Whether the copy has its name already.
    is_named: bool,
    pass: Pass,
    hasher: Hasher,
}

impl<S: Storage> Saving<S> {
    /// Opens the source and an empty staging file.
    pub(super) fn start(site: Site<'_, S>, copy: &Copy, fence: &Fence<S>) -> Result<Self, StorageError> {
        let name = copy.expect_name();
        let directory = &site.partition.directory;
        let source = Range::open(site, directory, &copy.file, name.position(), Some(name.length()))?;
        let staging = name.staging();
        match site.create_or_empty(&fence.directory, &staging) {
            Ok(target) => Ok(Self {
                copy: name,
                staging,
                file: copy.file,
                source,
                target,
                is_named: false,
                pass: Pass::Copying,
                hasher: Hasher::new(),
            }),
            Err(error) => {
                source.close(site.storage);
                Err(error)
            }
        }
    }

    /// Opens the source and the copy that is there already, to compare the two.
    pub(super) fn again(site: Site<'_, S>, copy: &Copy, fence: &Fence<S>) -> Result<Self, StorageError> {
        let name = copy.expect_name();
        let directory = &site.partition.directory;
        let source = Range::open(site, directory, &copy.file, name.position(), Some(name.length()))?;
        let opened = exact::uninterrupted(|| site.storage.drop_cache(&source.file))
            .and_then(|()| site.open(&fence.directory, &name.name(), Access::Read));
        match opened {
            Ok(target) => Ok(Self {
                copy: name,
                staging: name.name(),
                file: copy.file,
                source,
                target,
                is_named: true,
                pass: Pass::Comparing,
                hasher: Hasher::new(),
            }),
            Err(error) => {
                source.close(site.storage);
                Err(error)
            }
        }
    }

    /// Copies or compares a slice; says whether the copy has its name by then.
    ///
    /// # Errors
    ///
    /// [`crate::storage::Errno::STALE`] if any two of the three reads differ.
    pub(super) fn advance(
        &mut self,
        site: Site<'_, S>,
        fence: &Fence<S>,
        scratch: &mut [u8],
        limit: u64,
    ) -> Result<bool, StorageError> {
        match self.pass {
            Pass::Copying => self.copy_slice(site, scratch, limit).map(|()| false),
            Pass::Comparing => self.compare_slice(site, fence, scratch, limit),
        }
    }

    fn copy_slice(&mut self, site: Site<'_, S>, scratch: &mut [u8], limit: u64) -> Result<(), StorageError> {
        let at = self.source.progress();
        let count = slice_bytes(limit, 3, scratch.len());
        let bytes = self.source.read(site.storage, &mut scratch[..count])?;
        self.hasher.update(bytes);
        write_sparse(site.storage, &self.target, &self.staging, at, bytes)?;
        if self.source.is_read() { self.end_copying(site) } else { Ok(()) }
    }

    fn end_copying(&mut self, site: Site<'_, S>) -> Result<(), StorageError> {
        self.check_checksum()?;
        let length = self.copy.length().get();
        exact::uninterrupted(|| site.storage.set_length(&self.target, length))?;
        site.storage.sync(&self.target)?;
        // What is compared must come from the medium, not from what was just read and written.
        exact::uninterrupted(|| site.storage.drop_cache(&self.target))?;
        exact::uninterrupted(|| site.storage.drop_cache(&self.source.file))?;
        self.source.rewind();
        self.hasher.reset();
        self.pass = Pass::Comparing;
        Ok(())
    }

    fn compare_slice(
        &mut self,
        site: Site<'_, S>,
        fence: &Fence<S>,
        scratch: &mut [u8],
        limit: u64,
    ) -> Result<bool, StorageError> {
        let at = self.source.progress();
        let half = scratch.len().div_ceil(2);
        let count = slice_bytes(limit, 3, half).min(scratch.len() - half);
        assert!(count > 0, "comparing needs memory for two slices");
        let (left, right) = scratch.split_at_mut(half);
        let bytes = self.source.read(site.storage, &mut left[..count])?;
        let copied = &mut right[..bytes.len()];
        exact::read_all(site.storage, &self.target, &self.staging, at, copied)?;
        if bytes != copied {
            return Err(changed(Call::Read, &self.file));
        }
        self.hasher.update(bytes);
        if !self.source.is_read() {
            return Ok(false);
        }
        self.check_checksum()?;
        if self.is_named {
            return Ok(true);
        }
        site.rename((&fence.directory, &self.staging), (&fence.directory, &self.copy.name()))?;
        Ok(true)
    }

    fn check_checksum(&self) -> Result<(), StorageError> {
        assert!(self.source.is_read(), "a checksum is of the whole range");
        if self.hasher.finish() == self.copy.checksum() {
            Ok(())
        } else {
            Err(changed(Call::Read, &self.file))
        }
    }

    pub(super) fn close(self, storage: &S) {
        self.source.close(storage);
        storage.close(self.target);
    }
}

/// Writes the pages of `bytes` that hold anything but zeros; the others become a hole.
fn write_sparse<S: Storage>(
    storage: &S,
    file: &S::File,
    name: &Name,
    position: u64,
    bytes: &[u8],
) -> Result<(), StorageError> {
    let is_empty = |page: &[u8]| page.iter().all(|byte| *byte == 0);
    let mut at = 0;
    // Each run takes at least one page, so the slice bounds the loop.
    for run in bytes.chunks(PAGE_BYTES).collect::<Vec<_>>().chunk_by(|a, b| is_empty(a) == is_empty(b)) {
        let length: usize = run.iter().map(|page| page.len()).sum();
        if !is_empty(run[0]) {
            exact::write_all(storage, file, name, position + at as u64, &bytes[at..at + length])?;
        }
        at += length;
    }
    assert!(at == bytes.len(), "every page is written or left out");
    Ok(())
}
