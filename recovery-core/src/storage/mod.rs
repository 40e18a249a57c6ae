//! The only door to a disk.
//!
//! Promises: one [`Storage`] value is one node's data directory; every call names what it touches by an
//! open directory and one [`Name`], so no path is walked twice and no symbolic link is followed; every
//! effect on durability is a call of its own. Leaves out: retries, paths of more than one component,
//! buffering and threads. [`exact`] adds the loops that short transfers and signals ask for.
//!
//! The same trait is implemented by the real filesystem ([`os`]) and by the simulator's disk, so what is
//! tested is what ships.

mod error;
pub mod exact;
mod name;
pub mod os;
mod partition_directory;

pub use error::{Call, Errno, StorageError};
pub use name::{NAME_BYTES_MAX, Name};
pub use partition_directory::PartitionDirectory;

/// What kind of thing a directory entry is, without following it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else: symbolic link, FIFO, socket, device.
    Other,
}

/// What an open file may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Reading only. The simulator and a read-only mount refuse any change through it.
    Read,
    /// Reading and changing.
    ReadWrite,
}

/// How a directory is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockMode {
    /// With other readers (`recover check`).
    Shared,
    /// Alone (a server, `recover apply`).
    Exclusive,
}

/// One node's data directory. Every method is one storage call, with the errors that `call(2)` gives.
///
/// Rules that hold for every implementation:
///
/// - Reads and writes may be short and may return [`Errno::INTERRUPTED`]; [`exact`] loops.
/// - A read at or past the end of the file returns 0 bytes. It is never an error.
/// - Nothing is durable before the sync that covers it: [`Storage::sync`] for contents and length,
///   [`Storage::sync_directory`] for names. Syncing a new file says nothing about its name.
/// - A sync error belongs to the descriptors open at the time and is reported once to each
///   (`errseq_t`; FAULT_MODEL 2.6). A handle opened later need not see it.
/// - Handles are closed by [`Storage::close`] and [`Storage::close_directory`], which cannot fail.
/// - An error leaves the call without effect, but for a short write or a sync, whose effect is unknown.
pub trait Storage {
    /// An open directory.
    type Directory;
    /// An open regular file.
    type File;

    /// Opens the data directory itself. Call: `open`.
    ///
    /// # Errors
    ///
    /// As `openat(2)` with `O_DIRECTORY`.
    fn root(&self) -> Result<Self::Directory, StorageError>;

    /// Opens a directory inside another one. Call: `open`.
    ///
    /// # Errors
    ///
    /// As `openat(2)` with `O_DIRECTORY | O_NOFOLLOW`: whatever is no directory, a symbolic link to one
    /// included, is [`Errno::NOT_A_DIRECTORY`].
    fn open_directory(&self, parent: &Self::Directory, name: &Name) -> Result<Self::Directory, StorageError>;

    /// Makes a new directory. Call: `make-directory`.
    ///
    /// # Errors
    ///
    /// As `mkdirat(2)`; a taken name is [`Errno::EXISTS`].
    fn make_directory(&self, parent: &Self::Directory, name: &Name) -> Result<(), StorageError>;

    /// Makes the names in a directory durable, as they are now. Call: `sync-directory`.
    ///
    /// # Errors
    ///
    /// As `fsync(2)`.
    fn sync_directory(&self, directory: &Self::Directory) -> Result<(), StorageError>;

    /// Calls `visit` for every entry but `.` and `..`, in no particular order. Call: `list`.
    ///
    /// # Errors
    ///
    /// As `getdents64(2)`; also when the kind of one entry cannot be told. No entry is ever left out in
    /// silence (N04); what was visited before an error counts for nothing.
    fn list(
        &self,
        directory: &Self::Directory,
        visit: &mut dyn FnMut(&Name, EntryKind),
    ) -> Result<(), StorageError>;

    /// Takes the advisory lock on a directory without waiting; it lasts until the handle is closed or
    /// the process ends. Call: `lock`.
    ///
    /// # Errors
    ///
    /// As `flock(2)` with `LOCK_NB`; [`Errno::WOULD_BLOCK`] when another handle holds it.
    fn lock(&self, directory: &Self::Directory, mode: LockMode) -> Result<(), StorageError>;

    /// Opens an existing regular file. Never creates, truncates or follows a link. Call: `open`.
    ///
    /// # Errors
    ///
    /// As `openat(2)` with `O_NOFOLLOW`: a symbolic link is [`Errno::SYMLINK`], a directory
    /// [`Errno::IS_A_DIRECTORY`], any other thing that is no regular file [`Errno::NOT_SUPPORTED`].
    fn open(
        &self,
        directory: &Self::Directory,
        name: &Name,
        access: Access,
    ) -> Result<Self::File, StorageError>;

    /// Creates a file that must not exist yet, empty, open for reading and changing. Call: `create`.
    ///
    /// # Errors
    ///
    /// As `openat(2)` with `O_CREAT | O_EXCL`; a taken name is [`Errno::EXISTS`].
    fn create(&self, directory: &Self::Directory, name: &Name) -> Result<Self::File, StorageError>;

    /// Reads up to `buffer.len()` bytes at `position`; returns how many. Call: `read`.
    ///
    /// # Errors
    ///
    /// As `pread(2)`.
    fn read(&self, file: &Self::File, position: u64, buffer: &mut [u8]) -> Result<usize, StorageError>;

    /// Writes up to `bytes.len()` bytes at `position`; returns how many. Call: `write`.
    ///
    /// # Errors
    ///
    /// As `pwrite(2)`.
    fn write(&self, file: &Self::File, position: u64, bytes: &[u8]) -> Result<usize, StorageError>;

    /// The file's length in bytes. Call: `length`.
    ///
    /// # Errors
    ///
    /// As `fstat(2)`.
    fn length(&self, file: &Self::File) -> Result<u64, StorageError>;

    /// Cuts or extends the file to `length` bytes. Call: `set-length`.
    ///
    /// # Errors
    ///
    /// As `ftruncate(2)`; [`Errno::MANY_LINKS`] if the file would become shorter and has a second name (a hard
    /// link, as backups and de-duplicators make them): under that name the bytes would be gone too, and a copy
    /// in a fence may be that name.
    fn set_length(&self, file: &Self::File, length: u64) -> Result<(), StorageError>;

    /// Makes the file's contents and length durable. Call: `sync`.
    ///
    /// # Errors
    ///
    /// As `fsync(2)`. After an error nothing is known of what became durable, and a retry that succeeds
    /// proves nothing (FAULT_MODEL 2.6).
    fn sync(&self, file: &Self::File) -> Result<(), StorageError>;

    /// Drops the file's clean cached pages, so that the next read asks the medium. Call: `drop-cache`.
    ///
    /// On a real kernel this is a strong hint (`posix_fadvise(2)`, `POSIX_FADV_DONTNEED`).
    ///
    /// # Errors
    ///
    /// As `posix_fadvise(2)`.
    fn drop_cache(&self, file: &Self::File) -> Result<(), StorageError>;

    /// Gives an entry another name, replacing what has it. Call: `rename`.
    ///
    /// # Errors
    ///
    /// As `renameat(2)`. The error names `from`.
    fn rename(
        &self,
        from_directory: &Self::Directory,
        from: &Name,
        to_directory: &Self::Directory,
        to: &Name,
    ) -> Result<(), StorageError>;

    /// Removes a file, or an empty directory if `kind` says so. Call: `remove`.
    ///
    /// # Errors
    ///
    /// As `unlinkat(2)`, with `AT_REMOVEDIR` for [`EntryKind::Directory`].
    fn remove(&self, directory: &Self::Directory, name: &Name, kind: EntryKind) -> Result<(), StorageError>;

    /// Closes a file. Not a call that can be failed or crashed in.
    fn close(&self, file: Self::File);

    /// Closes a directory and drops its lock. Not a call that can be failed or crashed in.
    fn close_directory(&self, directory: Self::Directory);
}
