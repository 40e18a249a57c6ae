//! Removes everything of one life of a partition: its directory, its fences, and a copy half installed.
//!
//! Promises: begun only after `Deleting` was recorded, and repeated until nothing is left; nothing is taken
//! for gone before a listing shows it and the names are durable. Leaves out: the record that says so.

use super::directory::find_parent;
use super::removal::Removal;
use crate::format::{FenceName, partition_components};
use crate::observe::Progress;
use crate::storage::{Call, EntryKind, Errno, LockMode, Name, Storage, StorageError, exact};
use crate::units::Namespace;

/// What one name removed, or one directory listed, counts of a step's limit.
const CALL_BYTES: u64 = 512;

/// The suffix of a sibling in which a copy from peers is put together.
const REBUILD_SUFFIX: &[u8] = b".rebuild";

/// The removal of a partition, between and in its steps.
pub(super) struct Teardown<S: Storage> {
    work: Option<Work<S>>,
}

struct Work<S: Storage> {
    parent: S::Directory,
    removal: Option<Removal<S>>,
}

impl<S: Storage> Teardown<S> {
    pub(super) const fn new() -> Self {
        Self { work: None }
    }

    /// Removes some more. When it is done nothing is left, durably.
    ///
    /// # Errors
    ///
    /// Whatever a storage call returns, also that somebody holds the directory's lock. Everything is closed
    /// then, and the next call begins anew with what is left.
    pub(super) fn step(
        &mut self,
        storage: &S,
        namespace: Namespace,
        limit: u64,
    ) -> Result<Progress, StorageError> {
        let mut left = (limit / CALL_BYTES).max(1);
        // The limit bounds the loop.
        while left > 0 {
            match self.advance(storage, namespace) {
                Ok(Progress::Done) => {
                    self.close(storage);
                    return Ok(Progress::Done);
                }
                Ok(Progress::More) => left -= 1,
                Err(error) => {
                    self.close(storage);
                    return Err(error);
                }
            }
        }
        Ok(Progress::More)
    }

    fn advance(&mut self, storage: &S, namespace: Namespace) -> Result<Progress, StorageError> {
        let Some(work) = &mut self.work else {
            return match find_parent(storage, namespace)? {
                Some(parent) => {
                    self.work = Some(Work { parent, removal: None });
                    Ok(Progress::More)
                }
                None => Ok(Progress::Done),
            };
        };
        if let Some(removal) = &mut work.removal {
            if removal.step(storage, &work.parent)? {
                work.removal = None;
            }
            return Ok(Progress::More);
        }
        let Some((name, kind)) = first_of(storage, &work.parent, namespace)? else {
            storage.sync_directory(&work.parent)?;
            return Ok(Progress::Done);
        };
        if kind == EntryKind::Directory {
            work.removal = Some(begin(storage, &work.parent, name)?);
        } else {
            exact::uninterrupted(|| storage.remove(&work.parent, &name, EntryKind::File))?;
        }
        Ok(Progress::More)
    }

    pub(super) fn close(&mut self, storage: &S) {
        if let Some(Work { parent, removal }) = self.work.take() {
            if let Some(removal) = removal {
                removal.close(storage);
            }
            storage.close_directory(parent);
        }
    }
}

/// Opens and locks a directory that is to go.
fn begin<S: Storage>(storage: &S, parent: &S::Directory, name: Name) -> Result<Removal<S>, StorageError> {
    let directory = exact::uninterrupted(|| storage.open_directory(parent, &name))?;
    match exact::uninterrupted(|| storage.lock(&directory, LockMode::Exclusive)) {
        Ok(()) => Ok(Removal::new(directory, name)),
        Err(error) => {
            storage.close_directory(directory);
            Err(error)
        }
    }
}

/// The first name that is left of a partition, if any is.
pub(super) fn first_left<S: Storage>(
    storage: &S,
    namespace: Namespace,
) -> Result<Option<Name>, StorageError> {
    let Some(parent) = find_parent(storage, namespace)? else { return Ok(None) };
    let first = first_of(storage, &parent, namespace);
    // What a listing does not show must not come back.
    let synced = storage.sync_directory(&parent);
    storage.close_directory(parent);
    let first = first?;
    synced?;
    Ok(first.map(|(name, _)| name))
}

/// The first entry, by name, that belongs to a partition: its own directory before its fences, since its
/// name is their beginning.
fn first_of<S: Storage>(
    storage: &S,
    parent: &S::Directory,
    namespace: Namespace,
) -> Result<Option<(Name, EntryKind)>, StorageError> {
    let [.., own] = partition_components(namespace);
    let too_long = StorageError { call: Call::List, file: own, errno: Errno::NAME_TOO_LONG };
    let rebuild = own.with_suffix(REBUILD_SUFFIX).ok_or(too_long)?;
    let mut first: Option<(Name, EntryKind)> = None;
    exact::uninterrupted(|| {
        first = None;
        storage.list(parent, &mut |name, kind| {
            let is_ours = *name == own || *name == rebuild || FenceName::parse(&own, name).is_some();
            if is_ours && first.is_none_or(|(other, _)| *name < other) {
                first = Some((*name, kind));
            }
        })
    })?;
    Ok(first)
}

/// Whether `name` is a sibling of the partition called `own`: a fence, or a copy half installed.
pub(super) fn is_sibling(own: &Name, name: &Name) -> bool {
    FenceName::parse(own, name).is_some() || own.with_suffix(REBUILD_SUFFIX) == Some(*name)
}
