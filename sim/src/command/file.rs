//! Files that a command writes: an error says which one could not be written.
//!
//! Promises: the system's own error, with the path before it. Leaves out: streams, which have no name.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

/// The name of the file by which a directory is held.
const LOCK: &str = "lock";

/// Writes a file whole, and makes the folders above it.
///
/// # Errors
///
/// When a folder cannot be made or the file not be written.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(folder)?;
    }
    fs::write(path, text).map_err(|error| named(path, &error))
}

/// Makes a folder, and those above it.
///
/// # Errors
///
/// When one cannot be made.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))
}

/// Holds a directory as long as the file is open: of two programs that write there one would lose what it found.
///
/// # Errors
///
/// When another program holds it, or the file cannot be made.
pub(super) fn hold(directory: &Path) -> io::Result<File> {
    let path = directory.join(LOCK);
    let file = File::create(&path).map_err(|error| named(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let sentence = format!("{} is being written to by another run: give --out", directory.display());
            Err(io::Error::new(io::ErrorKind::ResourceBusy, sentence))
        }
        // Not every filesystem can: then nobody is kept out.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(named(&path, &error)),
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_which_file() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let file = directory.path().join("file");
        write(&file, "text").expect("it takes text");
        let below = file.join("page.html");
        let error = write(&below, "text").expect_err("a file is no folder");
        assert!(error.to_string().starts_with(&format!("{}: ", file.display())), "{error}");
        let error = write(directory.path(), "text").expect_err("a folder is no file");
        assert!(error.to_string().starts_with(&format!("{}: ", directory.path().display())), "{error}");
    }

    #[test]
    fn a_directory_is_held_by_one_until_it_lets_go() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let held = hold(directory.path()).expect("nobody holds it");
        let error = hold(directory.path()).expect_err("it is held");
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        drop(held);
        hold(directory.path()).expect("it was let go");
    }
}
