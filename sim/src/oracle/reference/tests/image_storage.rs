//! An image behind the core's door to a disk, for reading only.

use recovery_core::storage::{Access, Call, EntryKind, Errno, LockMode, Name, Storage, StorageError};

use crate::oracle::{Content, FileImage, Image};

/// A data directory that is one partition directory.
pub(super) struct ImageStorage<'a>(pub(super) &'a Image);

fn error(call: Call, name: &Name, errno: Errno) -> StorageError {
    StorageError { call, file: *name, errno }
}

fn root_name() -> Name {
    Name::new(b"partition").unwrap()
}

impl ImageStorage<'_> {
    fn file(&self, index: usize) -> (&Name, &FileImage) {
        let entry = &self.0.entries[index];
        let Content::File(file) = &entry.content else { panic!("only files are opened") };
        (&entry.name, file)
    }

    fn read_only<T>(call: Call) -> Result<T, StorageError> {
        Err(error(call, &root_name(), Errno::READ_ONLY))
    }
}

impl Storage for ImageStorage<'_> {
    type Directory = ();
    type File = usize;

    fn root(&self) -> Result<(), StorageError> {
        Ok(())
    }

    fn open_directory(&self, (): &(), _: &Name) -> Result<(), StorageError> {
        Ok(())
    }

    fn list(&self, (): &(), visit: &mut dyn FnMut(&Name, EntryKind)) -> Result<(), StorageError> {
        if !self.0.is_listable {
            return Err(error(Call::List, &root_name(), Errno::IO));
        }
        for entry in &self.0.entries {
            let kind = match entry.content {
                Content::File(_) | Content::Unopenable => EntryKind::File,
                Content::Directory => EntryKind::Directory,
                Content::Other => EntryKind::Other,
            };
            visit(&entry.name, kind);
        }
        Ok(())
    }

    fn lock(&self, (): &(), _: LockMode) -> Result<(), StorageError> {
        Ok(())
    }

    fn open(&self, (): &(), name: &Name, _: Access) -> Result<usize, StorageError> {
        let Some(index) = self.0.entries.iter().position(|entry| entry.name == *name) else {
            return Err(error(Call::Open, name, Errno::NOT_FOUND));
        };
        match self.0.entries[index].content {
            Content::File(_) => Ok(index),
            Content::Unopenable => Err(error(Call::Open, name, Errno::PERMISSION_DENIED)),
            Content::Directory => Err(error(Call::Open, name, Errno::IS_A_DIRECTORY)),
            Content::Other => Err(error(Call::Open, name, Errno::SYMLINK)),
        }
    }

    fn read(&self, file: &usize, position: u64, buffer: &mut [u8]) -> Result<usize, StorageError> {
        let (name, file) = self.file(*file);
        let from = usize::try_from(position).unwrap().min(file.bytes.len());
        let count = buffer.len().min(file.bytes.len() - from);
        let wanted = position..position + count as u64;
        if file.unreadable.iter().any(|bad| bad.start < wanted.end && wanted.start < bad.end) {
            return Err(error(Call::Read, name, Errno::IO));
        }
        buffer[..count].copy_from_slice(&file.bytes[from..from + count]);
        Ok(count)
    }

    fn length(&self, file: &usize) -> Result<u64, StorageError> {
        Ok(self.file(*file).1.bytes.len() as u64)
    }

    fn drop_cache(&self, _: &usize) -> Result<(), StorageError> {
        Ok(())
    }

    fn make_directory(&self, (): &(), _: &Name) -> Result<(), StorageError> {
        Self::read_only(Call::MakeDirectory)
    }

    fn sync_directory(&self, (): &()) -> Result<(), StorageError> {
        Self::read_only(Call::SyncDirectory)
    }

    fn create(&self, (): &(), _: &Name) -> Result<usize, StorageError> {
        Self::read_only(Call::Create)
    }

    fn write(&self, _: &usize, _: u64, _: &[u8]) -> Result<usize, StorageError> {
        Self::read_only(Call::Write)
    }

    fn set_length(&self, _: &usize, _: u64) -> Result<(), StorageError> {
        Self::read_only(Call::SetLength)
    }

    fn sync(&self, _: &usize) -> Result<(), StorageError> {
        Self::read_only(Call::Sync)
    }

    fn rename(&self, (): &(), _: &Name, (): &(), _: &Name) -> Result<(), StorageError> {
        Self::read_only(Call::Rename)
    }

    fn remove(&self, (): &(), _: &Name, _: EntryKind) -> Result<(), StorageError> {
        Self::read_only(Call::Remove)
    }

    fn close(&self, _: usize) {}

    fn close_directory(&self, (): ()) {}
}
