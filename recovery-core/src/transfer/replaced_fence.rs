//! Finds the fence into which a directory went that a copy replaces, and that does not say so yet.
//!
//! Promises: found by what lies there; a fence that has a reason file is never one, so no reason is written over.
//! Leaves out: what is written into it ([`super::swap::explain`]).

use crate::format::{FenceName, FileName};
use crate::storage::{EntryKind, Name, Storage, StorageError, exact};

/// The fences of `partition` in `parent` that hold a whole directory and no reason file. `named` is what the copy calls
/// the fence: where none holds a file that only partitions have, it is taken at its word, since a directory that was
/// replaced may have been empty.
pub(super) fn unexplained<S: Storage>(
    storage: &S,
    parent: &S::Directory,
    partition: &Name,
    named: Option<&Name>,
) -> Result<Vec<Name>, StorageError> {
    let mut fences = names(storage, parent, |name, kind| {
        kind == EntryKind::Directory && FenceName::parse(partition, name).is_some()
    })?;
    let (mut whole, mut bare) = (Vec::new(), None);
    // Listings come in any order, and what is written depends on none.
    fences.sort_unstable();
    for fence in fences {
        let directory = match exact::uninterrupted(|| storage.open_directory(parent, &fence)) {
            Ok(directory) => directory,
            Err(error) if error.is_not_found() => continue,
            Err(error) => return Err(error),
        };
        let held = names(storage, &directory, |_, _| true).and_then(|held| {
            let is_explained = held.contains(&FileName::reason());
            if is_explained {
                // Whoever wrote it may have gone down before its name was durable.
                storage.sync_directory(&directory)?;
            }
            Ok((held, is_explained))
        });
        storage.close_directory(directory);
        let (held, is_explained) = held?;
        if is_explained {
            continue;
        }
        if held.iter().any(is_of_a_partition) {
            whole.push(fence);
        } else if named == Some(&fence) {
            bare = Some(fence);
        }
    }
    if whole.is_empty() {
        whole.extend(bare);
    }
    Ok(whole)
}

/// Whether a name is one that a partition directory has, and a fence of copies never: copies have longer names.
fn is_of_a_partition(name: &Name) -> bool {
    match FileName::classify(name) {
        FileName::Log(_) | FileName::Index(_) | FileName::Ledger | FileName::Superblock(_) => true,
        FileName::StrayLog | FileName::StrayIndex | FileName::Staging | FileName::Other => false,
    }
}

fn names<S: Storage>(
    storage: &S,
    directory: &S::Directory,
    is_wanted: impl Fn(&Name, EntryKind) -> bool,
) -> Result<Vec<Name>, StorageError> {
    let mut names = Vec::new();
    exact::uninterrupted(|| {
        names.clear();
        storage.list(directory, &mut |name, kind| {
            if is_wanted(name, kind) {
                names.push(*name);
            }
        })
    })?;
    Ok(names)
}
