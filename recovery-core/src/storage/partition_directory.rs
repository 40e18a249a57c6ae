//! A partition's directory and the one it lies in, both open.
//!
//! Promises: reached one component at a time from the data directory, so no symbolic link is followed on
//! the way; the lock is on the partition directory itself, so no lock file is ever written. Leaves out:
//! what lies in either.

use super::{Errno, LockMode, Name, Storage, StorageError, exact};
use crate::observe::Unavailable;

/// The two open directories that recovery of one partition works in.
///
/// Fences lie in `parent`, beside the partition. Closing `directory` drops the lock, so a server keeps
/// this value as long as it serves the partition.
pub struct PartitionDirectory<S: Storage> {
    /// The directory that holds the partition directory.
    pub parent: S::Directory,
    /// The partition directory.
    pub directory: S::Directory,
    /// Its name in `parent`.
    pub name: Name,
}

impl<S: Storage> PartitionDirectory<S> {
    /// Opens the directory that `components` lead to from the data directory.
    ///
    /// # Errors
    ///
    /// As [`Storage::open_directory`], of the first component that fails.
    pub fn open(storage: &S, components: &[Name]) -> Result<Self, StorageError> {
        let (name, above) = components.split_last().expect("a partition has a name");
        let mut parent = exact::uninterrupted(|| storage.root())?;
        for component in above {
            let below = exact::uninterrupted(|| storage.open_directory(&parent, component));
            storage.close_directory(parent);
            parent = below?;
        }
        match exact::uninterrupted(|| storage.open_directory(&parent, name)) {
            Ok(directory) => Ok(Self { parent, directory, name: *name }),
            Err(error) => {
                storage.close_directory(parent);
                Err(error)
            }
        }
    }

    /// Locks the partition directory, without waiting, until it is closed.
    ///
    /// # Errors
    ///
    /// [`Unavailable::Locked`] when somebody else holds a lock that excludes this one, else
    /// [`Unavailable::Io`].
    pub fn lock(&self, storage: &S, mode: LockMode) -> Result<(), Unavailable> {
        exact::uninterrupted(|| storage.lock(&self.directory, mode)).map_err(|error| {
            if error.errno == Errno::WOULD_BLOCK { Unavailable::Locked } else { Unavailable::Io(error) }
        })
    }

    /// Closes both directories and drops the lock.
    pub fn close(self, storage: &S) {
        storage.close_directory(self.directory);
        storage.close_directory(self.parent);
    }
}
