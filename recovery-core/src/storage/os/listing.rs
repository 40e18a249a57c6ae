//! Entries of a real directory.
//!
//! Promises: a listing is whole or an error, starts anew at every call, and skips only `.` and `..`.
//! Leaves out: order.

use std::mem::MaybeUninit;

use rustix::fs::{AtFlags, FileType, Mode, RawDir};

use super::{Call, DIRECTORY_FLAGS, EntryKind, Errno, Name, OsDirectory, StorageError, failure, kind_of};

/// Bytes for entries on their way from the kernel; one entry takes at most 280.
const BUFFER_BYTES: usize = 8 * 1024;

/// Calls `visit` for every entry. See [`crate::storage::Storage::list`].
pub(super) fn list(
    directory: &OsDirectory,
    visit: &mut dyn FnMut(&Name, EntryKind),
) -> Result<(), StorageError> {
    let failed = |errno| failure(Call::List, &directory.name, errno);
    // A read position of its own: two listings of one handle do not disturb each other, and none goes
    // on where another one stopped. It is not `rustix::fs::Dir`, which takes the error of a directory
    // that was removed meanwhile for its end.
    let stream =
        rustix::fs::openat(&directory.descriptor, c".", DIRECTORY_FLAGS, Mode::empty()).map_err(failed)?;
    let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
    let mut entries = RawDir::new(&stream, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(failed)?;
        let bytes = entry.file_name().to_bytes();
        if bytes == b"." || bytes == b".." {
            continue;
        }
        let name = Name::new(bytes).ok_or(failed(rustix::io::Errno::NAMETOOLONG))?;
        let kind = match kind_of(entry.file_type()) {
            Some(kind) => kind,
            None => looked_up_kind(directory, &name)?,
        };
        visit(&name, kind);
    }
    Ok(())
}

/// Asks the entry itself what it is.
fn looked_up_kind(directory: &OsDirectory, name: &Name) -> Result<EntryKind, StorageError> {
    let unclear = |errno| StorageError { call: Call::List, file: *name, errno };
    let stat = match rustix::fs::statat(&directory.descriptor, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        // It was listed a moment ago. "Not found" would read as if the directory were not there.
        Err(rustix::io::Errno::NOENT) => return Err(unclear(Errno::STALE)),
        Err(errno) => return Err(failure(Call::List, name, errno)),
    };
    kind_of(FileType::from_raw_mode(stat.st_mode)).ok_or(unclear(Errno::NOT_SUPPORTED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Storage;
    use crate::storage::os::OsStorage;

    #[test]
    fn a_kind_that_the_directory_does_not_tell_is_asked_of_the_entry() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let storage = OsStorage::open(directory.path()).expect("it was just made");
        let root = storage.root().expect("it was just made");
        let name = |text: &str| Name::new(text.as_bytes()).expect("one component");
        storage.create(&root, &name("file")).expect("the name is free");
        storage.make_directory(&root, &name("directory")).expect("the name is free");
        rustix::fs::symlinkat("file", &root.descriptor, "link").expect("the name is free");
        let kinds = ["file", "directory", "link", "gone"]
            .map(|text| looked_up_kind(&root, &name(text)).map_err(|error| (error.file, error.errno)));
        assert_eq!(
            kinds,
            [
                Ok(EntryKind::File),
                Ok(EntryKind::Directory),
                Ok(EntryKind::Other),
                Err((name("gone"), Errno::STALE)),
            ]
        );
    }
}
