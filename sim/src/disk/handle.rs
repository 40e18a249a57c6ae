//! Open files, open directories and their locks: all that dies with the process.
//!
//! Promises: a handle of before a restart is never taken for a new one. Leaves out: what they lead to.

use recovery_core::storage::{Access, Errno, LockMode};

use super::directory::DirectoryId;
use super::file::FileId;
use super::geometry::index;

/// An open file of the simulated disk. It dies with the process that opened it.
#[derive(Debug)]
pub struct SimFile {
    pub(super) slot: u32,
    pub(super) epoch: u32,
}

/// An open directory of the simulated disk. It dies with the process that opened it.
#[derive(Debug)]
pub struct SimDirectory {
    pub(super) slot: u32,
    pub(super) epoch: u32,
}

/// What the process holds open of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenFile {
    pub(super) file: FileId,
    pub(super) access: Access,
    /// The newest write error of the file that this descriptor knows of.
    pub(super) error_cursor: u32,
    is_open: bool,
}

/// What the process holds open of a directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenDirectory {
    pub(super) directory: DirectoryId,
    lock: Option<LockMode>,
    is_open: bool,
}

/// The process's descriptor table.
#[derive(Clone, Debug, Default)]
pub(super) struct Handles {
    files: Vec<OpenFile>,
    directories: Vec<OpenDirectory>,
    epoch: u32,
    open_count: u32,
}

impl Handles {
    /// Forgets all handles: the process is gone.
    pub(super) fn reset(&mut self) {
        self.files.clear();
        self.directories.clear();
        self.epoch += 1;
        self.open_count = 0;
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.files.clone_from(&other.files);
        self.directories.clone_from(&other.directories);
        self.epoch = other.epoch;
        self.open_count = other.open_count;
    }

    /// How many are open.
    pub(super) fn open_count(&self) -> u32 {
        self.open_count
    }

    pub(super) fn open_file(&mut self, file: FileId, access: Access, error_cursor: u32) -> SimFile {
        let slot = u32::try_from(self.files.len()).expect("a process opens under 2^32 files");
        self.files.push(OpenFile { file, access, error_cursor, is_open: true });
        self.open_count += 1;
        SimFile { slot, epoch: self.epoch }
    }

    pub(super) fn open_directory(&mut self, directory: DirectoryId) -> SimDirectory {
        let slot = u32::try_from(self.directories.len()).expect("a process opens under 2^32 directories");
        self.directories.push(OpenDirectory { directory, lock: None, is_open: true });
        self.open_count += 1;
        SimDirectory { slot, epoch: self.epoch }
    }

    /// The open file behind a handle.
    ///
    /// # Panics
    ///
    /// If the handle is of before a restart: whoever uses it has outlived its process.
    #[inline]
    pub(super) fn file(&mut self, handle: &SimFile) -> &mut OpenFile {
        assert!(handle.epoch == self.epoch, "a file handle is used after its process is gone");
        let open = &mut self.files[index(u64::from(handle.slot))];
        assert!(open.is_open, "a closed file handle is used");
        open
    }

    /// The directory behind a handle.
    ///
    /// # Panics
    ///
    /// As [`Handles::file`].
    #[inline]
    pub(super) fn directory(&self, handle: &SimDirectory) -> DirectoryId {
        assert!(handle.epoch == self.epoch, "a directory handle is used after its process is gone");
        let open = &self.directories[index(u64::from(handle.slot))];
        assert!(open.is_open, "a closed directory handle is used");
        open.directory
    }

    /// The number of the file behind a handle, for events and errors.
    #[inline]
    pub(super) fn file_of(&self, handle: &SimFile) -> u32 {
        assert!(handle.epoch == self.epoch, "a file handle is used after its process is gone");
        self.files[index(u64::from(handle.slot))].file.number()
    }

    /// The number of the directory behind a handle, for events and errors.
    #[inline]
    pub(super) fn directory_of(&self, handle: &SimDirectory) -> u32 {
        assert!(handle.epoch == self.epoch, "a directory handle is used after its process is gone");
        self.directories[index(u64::from(handle.slot))].directory.number()
    }

    /// Takes the lock, or says that another handle has it.
    pub(super) fn lock(&mut self, handle: &SimDirectory, mode: LockMode) -> Result<(), Errno> {
        let directory = self.directory(handle);
        let own = index(u64::from(handle.slot));
        let is_taken = self.directories.iter().enumerate().any(|(slot, open)| {
            let excludes = open.lock == Some(LockMode::Exclusive)
                || (open.lock == Some(LockMode::Shared) && mode == LockMode::Exclusive);
            slot != own && open.is_open && open.directory == directory && excludes
        });
        if is_taken {
            // flock(2) converts by letting go first: a refused conversion loses the old lock.
            self.directories[own].lock = None;
            return Err(Errno::WOULD_BLOCK);
        }
        self.directories[own].lock = Some(mode);
        Ok(())
    }

    /// Closes a file; `None` if its process is gone.
    pub(super) fn close_file(&mut self, handle: &SimFile) -> Option<FileId> {
        if handle.epoch != self.epoch {
            return None;
        }
        let open = &mut self.files[index(u64::from(handle.slot))];
        assert!(open.is_open, "a file handle is closed once");
        open.is_open = false;
        self.open_count -= 1;
        Some(open.file)
    }

    /// Closes a directory and drops its lock.
    pub(super) fn close_directory(&mut self, handle: &SimDirectory) {
        if handle.epoch != self.epoch {
            return;
        }
        let open = &mut self.directories[index(u64::from(handle.slot))];
        assert!(open.is_open, "a directory handle is closed once");
        open.is_open = false;
        open.lock = None;
        self.open_count -= 1;
    }
}
