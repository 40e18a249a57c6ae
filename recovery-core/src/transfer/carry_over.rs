//! Copies what is this node's own from the old directory into its replacement: superblock and consumers' offsets.
//!
//! Promises: each file is durable before this is done; a superblock slot that does not verify, or is of another cluster
//! or replica, stays behind, in the fence. Leaves out: logs, indexes and ledger, which the replacement has of its own.

use crate::format::{FileName, SuperblockSlot};
use crate::observe::{SuperblockIdentity, read_superblock};
use crate::storage::{Access, EntryKind, Errno, Name, Storage, StorageError, exact};

/// How deep directories of offsets are followed.
const DEPTH_MAX: usize = 4;

/// Copies the superblock slots that verify and are of `identity`, where that is known.
pub(super) fn superblocks<S: Storage>(
    storage: &S,
    old: &S::Directory,
    new: &S::Directory,
    identity: Option<SuperblockIdentity>,
    scratch: &mut [u8],
) -> Result<(), StorageError> {
    for slot in [SuperblockSlot::A, SuperblockSlot::B] {
        match read_superblock(storage, old, slot) {
            Ok(Some(record)) if identity.is_none_or(|own| own == SuperblockIdentity::of(&record)) => {
                copy_file(storage, old, new, &slot.name(), scratch)?;
            }
            Ok(Some(_) | None) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Copies the directory of consumers' offsets, if there is one.
pub(super) fn offsets<S: Storage>(
    storage: &S,
    old: &S::Directory,
    new: &S::Directory,
    scratch: &mut [u8],
) -> Result<(), StorageError> {
    match copy_directory(storage, old, new, &FileName::offsets(), scratch, DEPTH_MAX) {
        Err(error) if error.is_not_found() || error.errno == Errno::NOT_A_DIRECTORY => Ok(()),
        copied => copied,
    }
}

fn copy_directory<S: Storage>(
    storage: &S,
    old: &S::Directory,
    new: &S::Directory,
    name: &Name,
    scratch: &mut [u8],
    depth: usize,
) -> Result<(), StorageError> {
    let from = exact::uninterrupted(|| storage.open_directory(old, name))?;
    let copied = exact::uninterrupted(|| storage.make_directory(new, name))
        .and_then(|()| exact::uninterrupted(|| storage.open_directory(new, name)))
        .and_then(|to| {
            let copied = copy_entries(storage, &from, &to, scratch, depth);
            storage.close_directory(to);
            copied
        });
    storage.close_directory(from);
    copied
}

fn copy_entries<S: Storage>(
    storage: &S,
    from: &S::Directory,
    to: &S::Directory,
    scratch: &mut [u8],
    depth: usize,
) -> Result<(), StorageError> {
    let mut entries = Vec::new();
    exact::uninterrupted(|| {
        entries.clear();
        storage.list(from, &mut |name, kind| entries.push((*name, kind)))
    })?;
    entries.sort_unstable();
    for (name, kind) in entries {
        match kind {
            EntryKind::File => copy_file(storage, from, to, &name, scratch)?,
            EntryKind::Directory if depth > 0 => {
                copy_directory(storage, from, to, &name, scratch, depth - 1)?;
            }
            EntryKind::Directory | EntryKind::Other => {}
        }
    }
    storage.sync_directory(to)
}

fn copy_file<S: Storage>(
    storage: &S,
    old: &S::Directory,
    new: &S::Directory,
    name: &Name,
    scratch: &mut [u8],
) -> Result<(), StorageError> {
    let from = exact::uninterrupted(|| storage.open(old, name, Access::Read))?;
    let copied = exact::uninterrupted(|| storage.create(new, name)).and_then(|to| {
        let copied = copy_bytes(storage, &from, &to, name, scratch).and_then(|()| storage.sync(&to));
        storage.close(to);
        copied
    });
    storage.close(from);
    copied
}

fn copy_bytes<S: Storage>(
    storage: &S,
    from: &S::File,
    to: &S::File,
    name: &Name,
    scratch: &mut [u8],
) -> Result<(), StorageError> {
    let mut at = 0;
    // Each pass copies a part of the file, and the last one finds its end.
    loop {
        let count = exact::read(storage, from, at, scratch)?;
        if count == 0 {
            return Ok(());
        }
        exact::write_all(storage, to, name, at, &scratch[..count])?;
        at += count as u64;
    }
}
