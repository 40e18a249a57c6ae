//! The two renames that put a replacement in the place of a directory.
//!
//! Promises: in this order: the old directory gets the name of a fence, durably; its reason file; the replacement
//! gets the old name, durably. At every moment one of the two is whole under a name that a start looks for. Leaves
//! out: how the replacement came to be.

use crate::format::{FenceName, FileName};
use crate::storage::{Call, Errno, Name, Storage, StorageError, exact};

/// The first fence that nothing has the name of.
pub(super) fn free_fence<S: Storage>(
    storage: &S,
    parent: &S::Directory,
    partition: &Name,
) -> Result<Name, StorageError> {
    let mut taken = Vec::new();
    exact::uninterrupted(|| {
        taken.clear();
        storage.list(parent, &mut |name, _| {
            taken.extend(FenceName::parse(partition, name).map(|fence| fence.number));
        })
    })?;
    taken.sort_unstable();
    let mut number = 0;
    // Each pass that goes on has found one more of the numbers that are taken.
    while taken.binary_search(&number).is_ok() {
        number += 1;
    }
    let too_long = StorageError { call: Call::Rename, file: *partition, errno: Errno::NAME_TOO_LONG };
    FenceName { number }.name(partition).ok_or(too_long)
}

/// Moves the old directory out of the way, if there is one.
pub(super) fn set_aside<S: Storage>(
    storage: &S,
    parent: &S::Directory,
    partition: &Name,
    fence: &Name,
) -> Result<(), StorageError> {
    match exact::uninterrupted(|| storage.rename(parent, partition, parent, fence)) {
        Ok(()) => storage.sync_directory(parent),
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes into the fence why it is there, unless that is written already or there is no such fence.
pub(super) fn explain<S: Storage>(
    storage: &S,
    parent: &S::Directory,
    fence: &Name,
    text: &[u8],
) -> Result<(), StorageError> {
    let directory = match exact::uninterrupted(|| storage.open_directory(parent, fence)) {
        Ok(directory) => directory,
        Err(error) if error.is_not_found() => return Ok(()),
        Err(error) => return Err(error),
    };
    let explained = write_reason(storage, &directory, text);
    storage.close_directory(directory);
    explained
}

fn write_reason<S: Storage>(storage: &S, fence: &S::Directory, text: &[u8]) -> Result<(), StorageError> {
    let (reason, staging) = (FileName::reason(), FileName::reason_staging());
    let file = match exact::uninterrupted(|| storage.create(fence, &staging)) {
        Err(error) if error.errno == Errno::EXISTS => {
            let access = crate::storage::Access::ReadWrite;
            exact::uninterrupted(|| storage.open(fence, &staging, access))?
        }
        created => created?,
    };
    let written = exact::uninterrupted(|| storage.set_length(&file, 0))
        .and_then(|()| exact::write_all(storage, &file, &staging, 0, text))
        .and_then(|()| storage.sync(&file));
    storage.close(file);
    written?;
    exact::uninterrupted(|| storage.rename(fence, &staging, fence, &reason))?;
    storage.sync_directory(fence)
}

/// Gives the replacement the name of the partition.
pub(super) fn take_place<S: Storage>(
    storage: &S,
    parent: &S::Directory,
    sibling: &Name,
    partition: &Name,
) -> Result<(), StorageError> {
    exact::uninterrupted(|| storage.rename(parent, sibling, parent, partition))?;
    storage.sync_directory(parent)
}
