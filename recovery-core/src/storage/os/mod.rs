//! The real filesystem behind [`Storage`]: Linux system calls through rustix. The only module that
//! reaches a disk.
//!
//! Promises: every name is looked up in an open directory and never followed when it is a symbolic link;
//! only regular files are opened, and opening waits for nobody (no FIFO can hang it); a storage opened by
//! [`OsStorage::open_read_only`] makes no call that changes anything. Leaves out: retries (so a call may
//! be short or interrupted, as the trait says), caching, and systems other than Linux.

mod listing;

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Advice, AtFlags, CWD, FileType, FlockOperation, Mode, OFlags};

use super::{Access, Call, EntryKind, Errno, LockMode, Name, Storage, StorageError};

const DIRECTORY_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opening for reading alone waits for a FIFO's other end, and with `O_NONBLOCK` does not. On a regular
/// file the flag has no effect.
const FILE_FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// One data directory on a real filesystem.
#[derive(Debug)]
pub struct OsStorage {
    root: OsDirectory,
    is_read_only: bool,
}

/// An open directory and the name it was opened by.
#[derive(Debug)]
pub struct OsDirectory {
    descriptor: OwnedFd,
    name: Name,
}

/// An open regular file and the name it was opened by.
#[derive(Debug)]
pub struct OsFile {
    descriptor: OwnedFd,
    name: Name,
}

impl OsStorage {
    /// Opens the data directory at `path` for reading and changing.
    ///
    /// The directory stays open, so a later rename of it or of anything above it changes nothing. Links
    /// on the way to `path`, and `path` itself if it is one, are followed: what the operator names is
    /// what is meant. Nothing below it is.
    ///
    /// # Errors
    ///
    /// As `open(2)` with `O_DIRECTORY`.
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
    /// // Contents and name are made durable by a call each.
    /// storage.sync(&file)?;
    /// storage.sync_directory(&root)?;
    /// storage.close(file);
    /// storage.close_directory(root);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        Self::open_root(path, false)
    }

    /// Opens the data directory at `path` such that every call that could change what a later start
    /// finds ([`Call::is_mutating`]) fails with [`Errno::READ_ONLY`] and does nothing.
    ///
    /// # Errors
    ///
    /// As [`OsStorage::open`].
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::storage::os::OsStorage;
    /// use recovery_core::storage::{Errno, Name, Storage};
    ///
    /// # let data = tempfile::tempdir()?;
    /// let storage = OsStorage::open_read_only(data.path())?;
    /// let root = storage.root()?;
    /// let name = Name::new(b"a-file").expect("one component");
    /// assert_eq!(storage.create(&root, &name).unwrap_err().errno, Errno::READ_ONLY);
    /// storage.close_directory(root);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_read_only(path: &Path) -> Result<Self, StorageError> {
        Self::open_root(path, true)
    }

    fn open_root(path: &Path, is_read_only: bool) -> Result<Self, StorageError> {
        let name = path.file_name().and_then(|name| Name::new(name.as_bytes())).unwrap_or_else(nameless);
        let flags = DIRECTORY_FLAGS.difference(OFlags::NOFOLLOW);
        let descriptor = rustix::fs::openat(CWD, path, flags, Mode::empty())
            .map_err(|errno| failure(Call::Open, &name, errno))?;
        Ok(Self { root: OsDirectory { descriptor, name }, is_read_only })
    }

    /// Whether `call` may be made at all.
    fn admit(&self, call: Call, name: &Name) -> Result<(), StorageError> {
        if self.is_read_only && call.is_mutating() {
            return Err(StorageError { call, file: *name, errno: Errno::READ_ONLY });
        }
        Ok(())
    }
}

/// What errors call a data directory whose path ends in no name, such as `/` or `..`.
fn nameless() -> Name {
    Name::new(b"data directory").expect("a literal is one component")
}

fn failure(call: Call, name: &Name, errno: rustix::io::Errno) -> StorageError {
    StorageError { call, file: *name, errno: Errno::from_raw(errno.raw_os_error()) }
}

fn kind_of(file_type: FileType) -> Option<EntryKind> {
    match file_type {
        FileType::RegularFile => Some(EntryKind::File),
        FileType::Directory => Some(EntryKind::Directory),
        FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice => Some(EntryKind::Other),
        // Not every filesystem stores the kind in its directories.
        FileType::Unknown => None,
    }
}

/// Refuses what is no regular file, by the error that the trait names for it.
fn require_regular(name: &Name, file_type: FileType) -> Result<(), StorageError> {
    let errno = match file_type {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => Errno::IS_A_DIRECTORY,
        FileType::Symlink => Errno::SYMLINK,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Errno::NOT_SUPPORTED,
    };
    Err(StorageError { call: Call::Open, file: *name, errno })
}

impl Storage for OsStorage {
    type Directory = OsDirectory;
    type File = OsFile;

    fn root(&self) -> Result<OsDirectory, StorageError> {
        // An open file description of its own: locks belong to it.
        let name = self.root.name;
        let descriptor = rustix::fs::openat(&self.root.descriptor, c".", DIRECTORY_FLAGS, Mode::empty())
            .map_err(|errno| failure(Call::Open, &name, errno))?;
        Ok(OsDirectory { descriptor, name })
    }

    fn open_directory(&self, parent: &OsDirectory, name: &Name) -> Result<OsDirectory, StorageError> {
        let descriptor =
            rustix::fs::openat(&parent.descriptor, name.as_bytes(), DIRECTORY_FLAGS, Mode::empty())
                .map_err(|errno| failure(Call::Open, name, errno))?;
        Ok(OsDirectory { descriptor, name: *name })
    }

    fn make_directory(&self, parent: &OsDirectory, name: &Name) -> Result<(), StorageError> {
        self.admit(Call::MakeDirectory, name)?;
        rustix::fs::mkdirat(&parent.descriptor, name.as_bytes(), Mode::from_raw_mode(0o777))
            .map_err(|errno| failure(Call::MakeDirectory, name, errno))
    }

    fn sync_directory(&self, directory: &OsDirectory) -> Result<(), StorageError> {
        self.admit(Call::SyncDirectory, &directory.name)?;
        rustix::fs::fsync(&directory.descriptor)
            .map_err(|errno| failure(Call::SyncDirectory, &directory.name, errno))
    }

    fn list(
        &self,
        directory: &OsDirectory,
        visit: &mut dyn FnMut(&Name, EntryKind),
    ) -> Result<(), StorageError> {
        listing::list(directory, visit)
    }

    fn lock(&self, directory: &OsDirectory, mode: LockMode) -> Result<(), StorageError> {
        let operation = match mode {
            LockMode::Shared => FlockOperation::NonBlockingLockShared,
            LockMode::Exclusive => FlockOperation::NonBlockingLockExclusive,
        };
        rustix::fs::flock(&directory.descriptor, operation)
            .map_err(|errno| failure(Call::Lock, &directory.name, errno))
    }

    fn open(&self, directory: &OsDirectory, name: &Name, access: Access) -> Result<OsFile, StorageError> {
        let access_flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::ReadWrite if self.is_read_only => {
                return Err(StorageError { call: Call::Open, file: *name, errno: Errno::READ_ONLY });
            }
            Access::ReadWrite => OFlags::RDWR,
        };
        let flags = FILE_FLAGS.union(access_flags);
        let opened = rustix::fs::openat(&directory.descriptor, name.as_bytes(), flags, Mode::empty());
        let descriptor = match opened {
            Ok(descriptor) => descriptor,
            // A socket, or a device nobody drives. The kind decides what to say.
            Err(errno @ (rustix::io::Errno::NXIO | rustix::io::Errno::NODEV)) => {
                let stat =
                    rustix::fs::statat(&directory.descriptor, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW)
                        .map_err(|errno| failure(Call::Open, name, errno))?;
                require_regular(name, FileType::from_raw_mode(stat.st_mode))?;
                return Err(failure(Call::Open, name, errno));
            }
            Err(errno) => return Err(failure(Call::Open, name, errno)),
        };
        let stat = rustix::fs::fstat(&descriptor).map_err(|errno| failure(Call::Open, name, errno))?;
        require_regular(name, FileType::from_raw_mode(stat.st_mode))?;
        Ok(OsFile { descriptor, name: *name })
    }

    fn create(&self, directory: &OsDirectory, name: &Name) -> Result<OsFile, StorageError> {
        self.admit(Call::Create, name)?;
        let flags = FILE_FLAGS.union(OFlags::RDWR).union(OFlags::CREATE).union(OFlags::EXCL);
        let mode = Mode::from_raw_mode(0o666);
        let descriptor = rustix::fs::openat(&directory.descriptor, name.as_bytes(), flags, mode)
            .map_err(|errno| failure(Call::Create, name, errno))?;
        Ok(OsFile { descriptor, name: *name })
    }

    fn read(&self, file: &OsFile, position: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
        // A file ends at 2^63 - 1 at the latest, and pread(2) calls a position behind that an error.
        let Some(room) = i64::MAX.cast_unsigned().checked_sub(position) else { return Ok(0) };
        let length = usize::try_from(room).map_or(buffer.len(), |room| room.min(buffer.len()));
        rustix::io::pread(&file.descriptor, &mut buffer[..length], position)
            .map_err(|errno| failure(Call::Read, &file.name, errno))
    }

    fn write(&self, file: &OsFile, position: u64, bytes: &[u8]) -> Result<usize, StorageError> {
        self.admit(Call::Write, &file.name)?;
        rustix::io::pwrite(&file.descriptor, bytes, position)
            .map_err(|errno| failure(Call::Write, &file.name, errno))
    }

    fn length(&self, file: &OsFile) -> Result<u64, StorageError> {
        let stat =
            rustix::fs::fstat(&file.descriptor).map_err(|errno| failure(Call::Length, &file.name, errno))?;
        let overflow = StorageError { call: Call::Length, file: file.name, errno: Errno::OVERFLOW };
        u64::try_from(stat.st_size).map_err(|_| overflow)
    }

    fn set_length(&self, file: &OsFile, length: u64) -> Result<(), StorageError> {
        self.admit(Call::SetLength, &file.name)?;
        let stat = rustix::fs::fstat(&file.descriptor)
            .map_err(|errno| failure(Call::SetLength, &file.name, errno))?;
        let is_shorter = u64::try_from(stat.st_size).is_ok_and(|now| length < now);
        if is_shorter && stat.st_nlink > 1 {
            return Err(StorageError { call: Call::SetLength, file: file.name, errno: Errno::MANY_LINKS });
        }
        rustix::fs::ftruncate(&file.descriptor, length)
            .map_err(|errno| failure(Call::SetLength, &file.name, errno))
    }

    fn sync(&self, file: &OsFile) -> Result<(), StorageError> {
        self.admit(Call::Sync, &file.name)?;
        rustix::fs::fsync(&file.descriptor).map_err(|errno| failure(Call::Sync, &file.name, errno))
    }

    fn drop_cache(&self, file: &OsFile) -> Result<(), StorageError> {
        rustix::fs::fadvise(&file.descriptor, 0, None, Advice::DontNeed)
            .map_err(|errno| failure(Call::DropCache, &file.name, errno))
    }

    fn rename(
        &self,
        from_directory: &OsDirectory,
        from: &Name,
        to_directory: &OsDirectory,
        to: &Name,
    ) -> Result<(), StorageError> {
        self.admit(Call::Rename, from)?;
        let (from_descriptor, to_descriptor) = (&from_directory.descriptor, &to_directory.descriptor);
        rustix::fs::renameat(from_descriptor, from.as_bytes(), to_descriptor, to.as_bytes())
            .map_err(|errno| failure(Call::Rename, from, errno))
    }

    fn remove(&self, directory: &OsDirectory, name: &Name, kind: EntryKind) -> Result<(), StorageError> {
        self.admit(Call::Remove, name)?;
        let flags = match kind {
            EntryKind::File | EntryKind::Other => AtFlags::empty(),
            EntryKind::Directory => AtFlags::REMOVEDIR,
        };
        rustix::fs::unlinkat(&directory.descriptor, name.as_bytes(), flags)
            .map_err(|errno| failure(Call::Remove, name, errno))
    }

    fn close(&self, file: OsFile) {
        drop(file);
    }

    fn close_directory(&self, directory: OsDirectory) {
        drop(directory);
    }
}
