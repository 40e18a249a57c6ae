//! Finds and makes partition directories.
//!
//! Promises: one component at a time; only a definite "not found" is an absence; each name that leads to a
//! new partition is durable before anything says that it was made. Leaves out: what lies in a directory.

use crate::format::partition_components;
use crate::storage::{Errno, Name, PartitionDirectory, Storage, StorageError, exact};
use crate::units::Namespace;

/// Opens the directory of a partition; `None` if it, or one above it, is not there.
pub(super) fn find<S: Storage>(
    storage: &S,
    namespace: Namespace,
) -> Result<Option<PartitionDirectory<S>>, StorageError> {
    present(PartitionDirectory::open(storage, &partition_components(namespace)))
}

/// Opens the directory that holds that of a partition; `None` if it is not there.
pub(super) fn find_parent<S: Storage>(
    storage: &S,
    namespace: Namespace,
) -> Result<Option<S::Directory>, StorageError> {
    let [above @ .., _] = partition_components(namespace);
    present(open_path(storage, &above))
}

/// Opens the directory that `components` lead to from the data directory.
pub(super) fn open_path<S: Storage>(storage: &S, components: &[Name]) -> Result<S::Directory, StorageError> {
    let mut directory = exact::uninterrupted(|| storage.root())?;
    for component in components {
        let below = exact::uninterrupted(|| storage.open_directory(&directory, component));
        storage.close_directory(directory);
        directory = below?;
    }
    Ok(directory)
}

/// Takes a definite "not found" for an answer, and nothing else.
pub(super) fn present<T>(found: Result<T, StorageError>) -> Result<Option<T>, StorageError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens the directory of a partition, making what is missing on the way. Every name on the way is durable
/// then: one that is there may be of a call that did not get as far as that.
pub(super) fn make<S: Storage>(
    storage: &S,
    namespace: Namespace,
) -> Result<PartitionDirectory<S>, StorageError> {
    let [.., name] = partition_components(namespace);
    let parent = make_parent(storage, namespace)?;
    match open_or_make(storage, &parent, &name) {
        Ok(directory) => Ok(PartitionDirectory { parent, directory, name }),
        Err(error) => {
            storage.close_directory(parent);
            Err(error)
        }
    }
}

/// Opens the directory that holds that of a partition, making what is missing on the way, durably.
pub(super) fn make_parent<S: Storage>(
    storage: &S,
    namespace: Namespace,
) -> Result<S::Directory, StorageError> {
    let [above @ .., _] = partition_components(namespace);
    let mut parent = exact::uninterrupted(|| storage.root())?;
    for component in above {
        let below = open_or_make(storage, &parent, &component);
        storage.close_directory(parent);
        parent = below?;
    }
    Ok(parent)
}

fn open_or_make<S: Storage>(
    storage: &S,
    parent: &S::Directory,
    name: &Name,
) -> Result<S::Directory, StorageError> {
    match exact::uninterrupted(|| storage.make_directory(parent, name)) {
        Err(error) if error.errno != Errno::EXISTS => return Err(error),
        Ok(()) | Err(_) => {}
    }
    storage.sync_directory(parent)?;
    exact::uninterrupted(|| storage.open_directory(parent, name))
}
