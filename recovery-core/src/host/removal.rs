//! Removes one directory with all that lies in it, a few names a call.
//!
//! Promises: bounded work a call and bounded memory, however many names there are; symbolic links are
//! removed and not followed. Leaves out: whether it may be removed, and making that durable.

use crate::storage::{EntryKind, Name, Storage, StorageError, exact};

/// Most names of one directory that are held at once; it is listed again for the others.
const NAMES_HELD_MAX: usize = 256;

/// A directory that is being emptied.
struct Level<S: Storage> {
    directory: S::Directory,
    name: Name,
    left: Vec<(Name, EntryKind)>,
}

/// A removal under way.
pub(crate) struct Removal<S: Storage> {
    /// The directory to remove, then those open below it.
    levels: Vec<Level<S>>,
}

impl<S: Storage> Removal<S> {
    /// Takes over `directory`, which is called `name` where it lies.
    pub(crate) fn new(directory: S::Directory, name: Name) -> Self {
        Self { levels: vec![Level { directory, name, left: Vec::new() }] }
    }

    /// Removes one name, or lists one directory; says whether all is gone. `parent` holds the directory.
    pub(crate) fn step(&mut self, storage: &S, parent: &S::Directory) -> Result<bool, StorageError> {
        let Some(top) = self.levels.last_mut() else { return Ok(true) };
        match top.left.pop() {
            Some((name, EntryKind::Directory)) => {
                let directory = exact::uninterrupted(|| storage.open_directory(&top.directory, &name))?;
                self.levels.push(Level { directory, name, left: Vec::new() });
            }
            Some((name, EntryKind::File | EntryKind::Other)) => {
                exact::uninterrupted(|| storage.remove(&top.directory, &name, EntryKind::File))?;
            }
            None => {
                top.left = list(storage, &top.directory)?;
                if top.left.is_empty() {
                    return self.leave(storage, parent);
                }
            }
        }
        Ok(false)
    }

    /// Removes the empty directory on top.
    fn leave(&mut self, storage: &S, parent: &S::Directory) -> Result<bool, StorageError> {
        let Some(top) = self.levels.pop() else { return Ok(true) };
        storage.close_directory(top.directory);
        let above = self.levels.last().map_or(parent, |level| &level.directory);
        exact::uninterrupted(|| storage.remove(above, &top.name, EntryKind::Directory))?;
        Ok(self.levels.is_empty())
    }

    /// Closes what is open.
    pub(crate) fn close(self, storage: &S) {
        for level in self.levels {
            storage.close_directory(level.directory);
        }
    }
}

/// The first names that a listing gives.
fn list<S: Storage>(storage: &S, directory: &S::Directory) -> Result<Vec<(Name, EntryKind)>, StorageError> {
    let mut names = Vec::new();
    exact::uninterrupted(|| {
        names.clear();
        storage.list(directory, &mut |name, kind| {
            if names.len() < NAMES_HELD_MAX {
                names.push((*name, kind));
            }
        })
    })?;
    // In an order of its own: what a crash leaves must not depend on how a filesystem lists.
    names.sort_unstable_by_key(|(name, _)| std::cmp::Reverse(*name));
    Ok(names)
}
