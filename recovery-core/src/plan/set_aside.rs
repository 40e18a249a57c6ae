//! Moves scratch into a fence.

use super::copies::{Copy, Place};
use super::fence::Fences;
use super::site::Site;
use crate::storage::{Access, EntryKind, Storage, StorageError, exact};

/// Moves the file as it is, under its copy's name. Its bytes are durable before its name changes: it may
/// take the place of a copy that is.
///
/// Where a fence holds the same bytes already, durably, only the second name goes: both may be names of
/// one file, which a rename would leave as they are (`rename(2)`).
pub(super) fn set_aside<S: Storage>(
    site: Site<'_, S>,
    copy: &Copy,
    fences: &Fences<S>,
) -> Result<(), StorageError> {
    let directory = &site.partition.directory;
    match copy.place {
        // Our own half-made index. It is not written over: a rename that a crash cut short may have left the
        // index itself under this name too, and what is written through one name shows under both.
        Place::Spared => exact::uninterrupted(|| site.storage.remove(directory, &copy.file, EntryKind::File)),
        Place::Found(_) => {
            exact::uninterrupted(|| site.storage.remove(directory, &copy.file, EntryKind::File))
        }
        Place::Assigned(fence) => {
            site.with_file(directory, &copy.file, Access::Read, |file| site.storage.sync(file))?;
            let name = copy.expect_name().name();
            site.rename((directory, &copy.file), (&fences.get(fence).directory, &name))
        }
        Place::Missing => unreachable!("every copy has its place once a fence was made"),
    }
}
