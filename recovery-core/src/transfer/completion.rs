//! The file `COMPLETE`: says that a replacement is whole, and what becomes of the directory that it replaces.
//!
//! Promises: it is there only if all else is durable; a start that finds it and no old directory ends what was
//! begun, whatever has become of its text. Leaves out: building the replacement.

use super::{replaced_fence, swap};
use crate::format::FileName;
use crate::storage::{Access, EntryKind, Errno, Name, Storage, StorageError, exact};
use crate::units::Namespace;

/// A longer file is none of ours.
const COMPLETE_BYTES_MAX: u64 = 64 * 1024;

/// What was found beside a partition, before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// Nothing that concerns a start.
    Nothing,
    /// A replacement that was not finished. It stays until one is built anew.
    Incomplete,
    /// A replacement that only lacked its name has it now.
    Installed,
}

/// What a replacement says of itself: the text of the reason file, which names the fence first.
pub(super) fn text(namespace: Namespace, fence: &Name, why: &str) -> String {
    let why = why.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "# The directory of partition {namespace} as it was before a whole copy from a peer took its place.\n\
         fence = \"{fence}\"\npartition = \"{namespace}\"\nwhy = \"{why}\"\n"
    )
}

/// What the reason file says where nobody can tell any more why a directory was replaced.
fn text_of_damaged(fence: &Name) -> String {
    format!(
        "# The directory of a partition as it was before a whole copy from a peer took its place.\n\
         fence = \"{fence}\"\nwhy = \"not known any more: the file COMPLETE of the copy, which said so, is damaged\"\n"
    )
}

/// The fence that the text names.
fn fence_of(text: &[u8]) -> Option<Name> {
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"fence = \""))?;
    Name::new(line.strip_suffix(b"\"")?)
}

/// Writes the file, durably, once all else is.
pub(super) fn write<S: Storage>(storage: &S, sibling: &S::Directory, text: &str) -> Result<(), StorageError> {
    storage.sync_directory(sibling)?;
    let name = FileName::complete();
    let file = exact::uninterrupted(|| storage.create(sibling, &name))?;
    let written =
        exact::write_all(storage, &file, &name, 0, text.as_bytes()).and_then(|()| storage.sync(&file));
    storage.close(file);
    written?;
    storage.sync_directory(sibling)
}

/// Takes the file away, durably, if it is there: what is in the directory called `name` is no replacement any more. That
/// it has its name is made durable first: whoever gave it that name may have gone down before it was, and a copy that
/// says no more that it is complete and has only its old name is one that nobody takes.
fn confirm<S: Storage>(
    storage: &S,
    parent: &S::Directory,
    directory: &S::Directory,
) -> Result<(), StorageError> {
    match exact::uninterrupted(|| storage.open(directory, &FileName::complete(), Access::Read)) {
        Ok(file) => storage.close(file),
        // A directory of that name is none of ours, and says nothing.
        Err(error) if error.is_not_found() || error.errno == Errno::IS_A_DIRECTORY => return Ok(()),
        Err(error) => return Err(error),
    }
    storage.sync_directory(parent)?;
    remove(storage, directory)
}

/// A replacement beside a directory that is there after all is not taken any more, whatever becomes of that directory:
/// what was judged and perhaps served since is newer. Durably, since what removed it before may have gone down.
fn outdate<S: Storage>(storage: &S, sibling: &S::Directory) -> Result<(), StorageError> {
    match exact::uninterrupted(|| storage.remove(sibling, &FileName::complete(), EntryKind::File)) {
        Ok(()) => storage.sync_directory(sibling),
        Err(error) if error.is_not_found() || error.errno == Errno::IS_A_DIRECTORY => {
            storage.sync_directory(sibling)
        }
        Err(error) => Err(error),
    }
}

/// Takes the file away, durably, if it is there.
pub(super) fn remove<S: Storage>(storage: &S, directory: &S::Directory) -> Result<(), StorageError> {
    match exact::uninterrupted(|| storage.remove(directory, &FileName::complete(), EntryKind::File)) {
        Ok(()) => storage.sync_directory(directory),
        Err(error) if error.is_not_found() || error.errno == Errno::IS_A_DIRECTORY => Ok(()),
        Err(error) => Err(error),
    }
}

fn read<S: Storage>(storage: &S, directory: &S::Directory) -> Result<Option<Vec<u8>>, StorageError> {
    let name = FileName::complete();
    let file = match exact::uninterrupted(|| storage.open(directory, &name, Access::Read)) {
        Ok(file) => file,
        Err(error) if error.is_not_found() || error.errno == Errno::IS_A_DIRECTORY => return Ok(None),
        Err(error) => return Err(error),
    };
    let read = exact::uninterrupted(|| storage.length(&file)).and_then(|length| {
        let mut text = vec![0; usize::try_from(length.min(COMPLETE_BYTES_MAX)).expect("it is small")];
        exact::read_all(storage, &file, &name, 0, &mut text)?;
        Ok(text)
    });
    storage.close(file);
    read.map(Some)
}

/// Ends an installation that a crash cut short, before the partition called `name` in `parent` is opened.
///
/// That the file `COMPLETE` exists is all that it says of the copy: it is made only once the ledger, every log and every
/// name are durable, and whoever serves the copy holds each log to the marks of that ledger. Its text is for the fence
/// alone and has no checksum, so where it is damaged the copy takes its place all the same, and the fence says that
/// nobody knows why any more: else no start would ever find the partition (I20), though both directories are whole.
/// The old directory is not brought back instead: it was refused, or it would not have been replaced.
///
/// # Errors
///
/// Whatever a storage call returns; a repeat does the rest.
///
/// # Examples
///
/// ```
/// use recovery_core::storage::os::OsStorage;
/// use recovery_core::storage::{Name, Storage};
/// use recovery_core::transfer::{Finished, finish_install};
///
/// # let data = tempfile::tempdir()?;
/// let storage = OsStorage::open(data.path())?;
/// let parent = storage.root()?;
/// let name = Name::new(b"0").expect("one component");
/// // Before a partition is opened: nothing lies beside this one.
/// assert_eq!(finish_install(&storage, &parent, &name)?, Finished::Nothing);
/// storage.close_directory(parent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn finish_install<S: Storage>(
    storage: &S,
    parent: &S::Directory,
    name: &Name,
) -> Result<Finished, StorageError> {
    let open = |name: &Name| match exact::uninterrupted(|| storage.open_directory(parent, name)) {
        Ok(directory) => Ok(Some(directory)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    };
    if let Some(directory) = open(name)? {
        let confirmed = confirm(storage, parent, &directory);
        storage.close_directory(directory);
        confirmed?;
        return Ok(match FileName::rebuild(name).map(|sibling| open(&sibling)).transpose()?.flatten() {
            Some(sibling) => {
                let outdated = outdate(storage, &sibling);
                storage.close_directory(sibling);
                outdated?;
                Finished::Incomplete
            }
            None => Finished::Nothing,
        });
    }
    let Some(sibling_name) = FileName::rebuild(name) else { return Ok(Finished::Nothing) };
    let Some(sibling) = open(&sibling_name)? else { return Ok(Finished::Nothing) };
    let finished = read(storage, &sibling).and_then(|text| {
        let Some(text) = text else { return Ok(Finished::Incomplete) };
        // That the old directory has the name of a fence comes before the file that says why.
        storage.sync_directory(parent)?;
        explain(storage, parent, name, &text)?;
        swap::take_place(storage, parent, &sibling_name, name)?;
        remove(storage, &sibling)?;
        Ok(Finished::Installed)
    });
    storage.close_directory(sibling);
    finished
}

/// Says in the fence of the old directory why it is there, unless that is said already.
fn explain<S: Storage>(
    storage: &S,
    parent: &S::Directory,
    partition: &Name,
    text: &[u8],
) -> Result<(), StorageError> {
    let named = fence_of(text);
    for fence in replaced_fence::unexplained(storage, parent, partition, named.as_ref())? {
        let damaged = text_of_damaged(&fence);
        // A flipped digit names another fence, of which the text is not true.
        let text = if named == Some(fence) { text } else { damaged.as_bytes() };
        swap::explain(storage, parent, &fence, text)?;
    }
    Ok(())
}
