//! The fences that a plan uses: open directories beside the partition.
//!
//! Promises: whichever holds a copy that counts stays open to the end, so that its names can be made
//! durable before anything is cut. Leaves out: which fence is chosen ([`super::search`]).

use super::site::Site;
use crate::storage::{Name, Storage, StorageError, exact};

/// One fence.
pub(super) struct Fence<S: Storage> {
    pub(super) name: Name,
    pub(super) directory: S::Directory,
}

impl<S: Storage> Fence<S> {
    pub(super) fn open(site: Site<'_, S>, name: &Name) -> Result<Self, StorageError> {
        let parent = &site.partition.parent;
        let directory = exact::uninterrupted(|| site.storage.open_directory(parent, name))?;
        Ok(Self { name: *name, directory })
    }

    /// Makes the directory, and opens it.
    pub(super) fn make(site: Site<'_, S>, name: &Name) -> Result<Self, StorageError> {
        exact::uninterrupted(|| site.storage.make_directory(&site.partition.parent, name))?;
        Self::open(site, name)
    }

    pub(super) fn close(self, storage: &S) {
        storage.close_directory(self.directory);
    }
}

/// The fences in use, in the order in which they were found to be needed.
pub(super) struct Fences<S: Storage>(Vec<Fence<S>>);

impl<S: Storage> Fences<S> {
    pub(super) const fn none() -> Self {
        Self(Vec::new())
    }

    /// Takes a fence into use; returns its index.
    pub(super) fn push(&mut self, fence: Fence<S>) -> usize {
        assert!(self.index_of(&fence.name).is_none(), "a fence is taken into use once");
        self.0.push(fence);
        self.0.len() - 1
    }

    pub(super) fn index_of(&self, name: &Name) -> Option<usize> {
        self.0.iter().position(|fence| fence.name == *name)
    }

    pub(super) fn get(&self, index: usize) -> &Fence<S> {
        &self.0[index]
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Fence<S>> {
        self.0.iter()
    }

    pub(super) fn close(&mut self, storage: &S) {
        for fence in self.0.drain(..) {
            fence.close(storage);
        }
    }
}
