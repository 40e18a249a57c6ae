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
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::partition_components;
    /// use recovery_core::storage::os::OsStorage;
    /// use recovery_core::storage::{LockMode, PartitionDirectory};
    /// use recovery_core::units::Namespace;
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// let storage = OsStorage::open(data.path())?;
    /// let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// // The lock comes first: nothing is looked at that somebody else may be changing.
    /// assert!(partition.lock(&storage, LockMode::Exclusive).is_ok());
    /// partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
