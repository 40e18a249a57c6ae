//! Loops over storage calls that may be short or interrupted.
//!
//! Promises: all or an error; a signal is no error until it has come [`ATTEMPTS_MAX`] times in a row.
//! Leaves out: retries of anything else. A failed sync is never repeated.

use super::{Call, Errno, Name, Storage, StorageError};

/// How often one call is repeated after [`Errno::INTERRUPTED`] before that is the answer.
pub const ATTEMPTS_MAX: u32 = 1024;

/// Repeats `call` while a signal interrupts it.
///
/// # Errors
///
/// The first error that is no interruption, or the last interruption.
pub fn uninterrupted<T>(mut call: impl FnMut() -> Result<T, StorageError>) -> Result<T, StorageError> {
    for _ in 1..ATTEMPTS_MAX {
        match call() {
            Err(error) if error.errno == Errno::INTERRUPTED => {}
            answer => return answer,
        }
    }
    call()
}

/// Reads until `buffer` is full or the file ends; returns how many bytes came.
///
/// # Errors
///
/// As [`Storage::read`].
///
/// # Examples
///
/// ```
/// use recovery_core::storage::os::OsStorage;
/// use recovery_core::storage::{Access, Name, Storage, exact};
///
/// # let data = tempfile::tempdir()?;
/// # std::fs::write(data.path().join("a-file"), b"kept")?;
/// let storage = OsStorage::open_read_only(data.path())?;
/// let root = storage.root()?;
/// let file = storage.open(&root, &Name::new(b"a-file").expect("one component"), Access::Read)?;
/// // Fewer bytes than the buffer takes mean the end of the file, and nothing else.
/// let mut buffer = [0; 100];
/// assert_eq!(exact::read(&storage, &file, 1, &mut buffer)?, 3);
/// assert_eq!(&buffer[..3], b"ept");
/// storage.close(file);
/// storage.close_directory(root);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read<S: Storage>(
    storage: &S,
    file: &S::File,
    position: u64,
    buffer: &mut [u8],
) -> Result<usize, StorageError> {
    let mut filled = 0;
    // Each pass that goes on has added at least one byte, so the buffer bounds the loop.
    while filled < buffer.len() {
        let at = position + filled as u64;
        let count = uninterrupted(|| storage.read(file, at, &mut buffer[filled..]))?;
        assert!(count <= buffer.len() - filled, "a read returns no more than was asked for");
        if count == 0 {
            break;
        }
        filled += count;
    }
    Ok(filled)
}

/// Reads exactly `buffer.len()` bytes of the file called `name`.
///
/// # Errors
///
/// As [`Storage::read`]; [`Errno::STALE`] if the file ends before, since every caller knows its length.
///
/// # Examples
///
/// ```
/// use recovery_core::storage::os::OsStorage;
/// use recovery_core::storage::{Access, Errno, Name, Storage, exact};
///
/// # let data = tempfile::tempdir()?;
/// # std::fs::write(data.path().join("a-file"), b"kept")?;
/// let storage = OsStorage::open_read_only(data.path())?;
/// let root = storage.root()?;
/// let name = Name::new(b"a-file").expect("one component");
/// let file = storage.open(&root, &name, Access::Read)?;
/// let mut bytes = [0; 4];
/// exact::read_all(&storage, &file, &name, 0, &mut bytes)?;
/// assert_eq!(&bytes, b"kept");
/// // A file that ends before is not the one that the caller knows.
/// assert_eq!(exact::read_all(&storage, &file, &name, 1, &mut bytes).unwrap_err().errno, Errno::STALE);
/// storage.close(file);
/// storage.close_directory(root);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_all<S: Storage>(
    storage: &S,
    file: &S::File,
    name: &Name,
    position: u64,
    buffer: &mut [u8],
) -> Result<(), StorageError> {
    if read(storage, file, position, buffer)? == buffer.len() {
        return Ok(());
    }
    Err(StorageError { call: Call::Read, file: *name, errno: Errno::STALE })
}

/// Writes all of `bytes`.
///
/// # Errors
///
/// As [`Storage::write`]; [`Errno::NO_SPACE`] if a call takes no byte at all. Some of the bytes may have
/// been written then.
///
/// # Examples
///
/// ```
/// use recovery_core::storage::os::OsStorage;
/// use recovery_core::storage::{Name, Storage, exact};
///
/// # let data = tempfile::tempdir()?;
/// let storage = OsStorage::open(data.path())?;
/// let root = storage.root()?;
/// let name = Name::new(b"a-file").expect("one component");
/// let file = storage.create(&root, &name)?;
/// exact::write_all(&storage, &file, &name, 0, b"kept")?;
/// assert_eq!(storage.length(&file)?, 4);
/// // It is written, and not durable yet: the file, and then its name.
/// storage.sync(&file)?;
/// storage.sync_directory(&root)?;
/// storage.close(file);
/// storage.close_directory(root);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_all<S: Storage>(
    storage: &S,
    file: &S::File,
    name: &Name,
    position: u64,
    bytes: &[u8],
) -> Result<(), StorageError> {
    let mut written = 0;
    // Each pass that goes on has written at least one byte, so the length bounds the loop.
    while written < bytes.len() {
        let at = position + written as u64;
        let count = uninterrupted(|| storage.write(file, at, &bytes[written..]))?;
        assert!(count <= bytes.len() - written, "a write takes no more than it was given");
        if count == 0 {
            return Err(StorageError { call: Call::Write, file: *name, errno: Errno::NO_SPACE });
        }
        written += count;
    }
    Ok(())
}
