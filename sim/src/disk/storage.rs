//! The storage trait of the core, in front of a simulated disk.
//!
//! Promises: each method is one counted call. Leaves out: everything else; it is the calls' own modules
//! that do the work.

use recovery_core::storage::{Access, Call, EntryKind, Errno, LockMode, Name, Storage, StorageError};
use xxhash_rust::xxh3::xxh3_64;

use super::SimDisk;
use super::handle::{SimDirectory, SimFile};
use super::state::Disk;
use super::step::About;

/// A file's name for an error. A handle that outlived its process has none left.
fn file_name(disk: &Disk, object: u32) -> Name {
    disk.state.names.name_of(disk.state.file(super::file::FileId(object)).name)
}

impl Disk {
    /// The hash of the bytes that a call moved, if it moved any and contents are recorded.
    #[inline]
    fn content_of(&self, bytes: &[u8], answer: &Result<usize, Errno>) -> Option<u64> {
        match answer {
            Ok(count) if self.records_contents && *count > 0 => Some(xxh3_64(&bytes[..*count])),
            Ok(_) | Err(_) => None,
        }
    }
}

impl SimDisk {
    /// Makes a call on an open file.
    #[inline]
    fn on_file<T>(
        &self,
        call: Call,
        file: &SimFile,
        (position, asked): (u64, u64),
        run: impl FnOnce(&mut Disk) -> Result<T, Errno>,
        moved: impl FnOnce(&T) -> u64,
    ) -> Result<T, StorageError> {
        let mut disk = self.disk.borrow_mut();
        let object = disk.state.handles.file_of(file);
        let answer = run(&mut disk);
        disk.answer(call, About { object, position, asked, content: None }, answer, moved, |disk| {
            file_name(disk, object)
        })
    }

    /// Makes a call on a name in an open directory.
    #[inline]
    fn on_name<T>(
        &self,
        call: Call,
        directory: &SimDirectory,
        name: &Name,
        run: impl FnOnce(&mut Disk) -> Result<T, Errno>,
        moved: impl FnOnce(&Disk, &T) -> u64,
    ) -> Result<T, StorageError> {
        let mut disk = self.disk.borrow_mut();
        let object = disk.state.handles.directory_of(directory);
        let answer = run(&mut disk);
        let position = if disk.is_recording { disk.name_number(name) } else { 0 };
        let length = match &answer {
            Ok(value) if disk.is_recording => moved(&disk, value),
            Ok(_) | Err(_) => 0,
        };
        disk.answer(call, About { object, position, asked: 0, content: None }, answer, |_| length, |_| *name)
    }

    /// Makes a call on an open directory.
    #[inline]
    fn on_directory<T>(
        &self,
        call: Call,
        directory: &SimDirectory,
        run: impl FnOnce(&mut Disk) -> Result<T, Errno>,
        moved: impl FnOnce(&T) -> u64,
    ) -> Result<T, StorageError> {
        let mut disk = self.disk.borrow_mut();
        let object = disk.state.handles.directory_of(directory);
        let answer = run(&mut disk);
        let about = About { object, position: 0, asked: 0, content: None };
        disk.answer(call, about, answer, moved, |disk| {
            disk.directory_name(super::directory::DirectoryId(object))
        })
    }
}

impl Storage for SimDisk {
    type Directory = SimDirectory;
    type File = SimFile;

    fn root(&self) -> Result<SimDirectory, StorageError> {
        let mut disk = self.disk.borrow_mut();
        let answer = disk.root();
        let about = About { object: 0, position: 0, asked: 0, content: None };
        disk.answer(
            Call::Open,
            about,
            answer,
            |_| 0,
            |disk| disk.directory_name(super::directory::DirectoryId::ROOT),
        )
    }

    fn open_directory(&self, parent: &SimDirectory, name: &Name) -> Result<SimDirectory, StorageError> {
        let run = |disk: &mut Disk| disk.open_directory(parent, name);
        self.on_name(Call::Open, parent, name, run, |disk, opened| {
            u64::from(disk.state.handles.directory_of(opened))
        })
    }

    fn make_directory(&self, parent: &SimDirectory, name: &Name) -> Result<(), StorageError> {
        let run = |disk: &mut Disk| disk.make_directory(parent, name);
        self.on_name(Call::MakeDirectory, parent, name, run, |_, ()| 0)
    }

    fn sync_directory(&self, directory: &SimDirectory) -> Result<(), StorageError> {
        self.on_directory(Call::SyncDirectory, directory, |disk| disk.sync_directory(directory), |()| 0)
    }

    fn list(
        &self,
        directory: &SimDirectory,
        visit: &mut dyn FnMut(&Name, EntryKind),
    ) -> Result<(), StorageError> {
        // The visitor may make calls of its own, so the entries are taken out first.
        let mut found = std::mem::take(&mut *self.listed.borrow_mut());
        found.clear();
        let run = |disk: &mut Disk| {
            disk.list(directory, &mut found)?;
            Ok(found.len() as u64)
        };
        let answer = self.on_directory(Call::List, directory, run, |&count| count);
        for (name, kind) in &found {
            visit(name, *kind);
        }
        *self.listed.borrow_mut() = found;
        answer.map(|_| ())
    }

    fn lock(&self, directory: &SimDirectory, mode: LockMode) -> Result<(), StorageError> {
        self.on_directory(Call::Lock, directory, |disk| disk.lock(directory, mode), |()| 0)
    }

    fn open(&self, directory: &SimDirectory, name: &Name, access: Access) -> Result<SimFile, StorageError> {
        let run = |disk: &mut Disk| disk.open(directory, name, access);
        self.on_name(Call::Open, directory, name, run, |disk, opened| {
            u64::from(disk.state.handles.file_of(opened))
        })
    }

    fn create(&self, directory: &SimDirectory, name: &Name) -> Result<SimFile, StorageError> {
        let run = |disk: &mut Disk| disk.create(directory, name);
        self.on_name(Call::Create, directory, name, run, |disk, opened| {
            u64::from(disk.state.handles.file_of(opened))
        })
    }

    fn read(&self, file: &SimFile, position: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
        let asked = buffer.len() as u64;
        let mut disk = self.disk.borrow_mut();
        let answer = disk.read(file, position, buffer);
        let content = disk.content_of(buffer, &answer);
        let object = disk.state.handles.file_of(file);
        let about = About { object, position, asked, content };
        disk.answer(Call::Read, about, answer, |&count| count as u64, |disk| file_name(disk, object))
    }

    fn write(&self, file: &SimFile, position: u64, bytes: &[u8]) -> Result<usize, StorageError> {
        let mut disk = self.disk.borrow_mut();
        let answer = disk.write(file, position, bytes);
        let content = disk.content_of(bytes, &answer);
        let object = disk.state.handles.file_of(file);
        let about = About { object, position, asked: bytes.len() as u64, content };
        disk.answer(Call::Write, about, answer, |&count| count as u64, |disk| file_name(disk, object))
    }

    fn length(&self, file: &SimFile) -> Result<u64, StorageError> {
        self.on_file(Call::Length, file, (0, 0), |disk| disk.length(file), |&length| length)
    }

    fn set_length(&self, file: &SimFile, length: u64) -> Result<(), StorageError> {
        self.on_file(Call::SetLength, file, (length, 0), |disk| disk.set_length(file, length), |()| 0)
    }

    fn sync(&self, file: &SimFile) -> Result<(), StorageError> {
        self.on_file(Call::Sync, file, (0, 0), |disk| disk.sync(file), |()| 0)
    }

    fn drop_cache(&self, file: &SimFile) -> Result<(), StorageError> {
        self.on_file(Call::DropCache, file, (0, 0), |disk| disk.drop_cache(file), |()| 0)
    }

    fn rename(
        &self,
        from_directory: &SimDirectory,
        from: &Name,
        to_directory: &SimDirectory,
        to: &Name,
    ) -> Result<(), StorageError> {
        let run = |disk: &mut Disk| disk.rename(from_directory, from, to_directory, to);
        self.on_name(Call::Rename, from_directory, from, run, |disk, ()| disk.name_number(to))
    }

    fn remove(&self, directory: &SimDirectory, name: &Name, kind: EntryKind) -> Result<(), StorageError> {
        let run = |disk: &mut Disk| disk.remove(directory, name, kind);
        self.on_name(Call::Remove, directory, name, run, |_, ()| 0)
    }

    fn close(&self, file: SimFile) {
        self.disk.borrow_mut().close(&file);
    }

    fn close_directory(&self, directory: SimDirectory) {
        self.disk.borrow_mut().state.handles.close_directory(&directory);
    }
}
