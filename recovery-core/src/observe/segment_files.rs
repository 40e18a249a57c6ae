//! The files of one segment while it is looked at.
//!
//! Promises: both are closed, or none was opened. Leaves out: what they hold.

use crate::format::FileName;
use crate::storage::{Access, Name, PartitionDirectory, Storage, StorageError, exact};
use crate::units::SegmentStart;

/// Files of one segment, open for reading.
pub(crate) struct Files<S: Storage> {
    pub(crate) log: S::File,
    pub(crate) log_name: Name,
    pub(crate) log_length: u64,
    pub(crate) index: Option<(S::File, Name, u64)>,
}

impl<S: Storage> Files<S> {
    /// Opens and measures them.
    ///
    /// # Errors
    ///
    /// When one of them cannot be.
    pub(crate) fn open(
        storage: &S,
        partition: &PartitionDirectory<S>,
        start: SegmentStart,
        has_index: bool,
    ) -> Result<Self, StorageError> {
        let log_name = FileName::log(start);
        let (log, log_length) = open(storage, partition, &log_name)?;
        let mut files = Self { log, log_name, log_length, index: None };
        if has_index {
            let name = FileName::index(start);
            match open(storage, partition, &name) {
                Ok((file, length)) => files.index = Some((file, name, length)),
                Err(error) => {
                    files.close(storage);
                    return Err(error);
                }
            }
        }
        Ok(files)
    }

    /// Closes them.
    pub(crate) fn close(self, storage: &S) {
        storage.close(self.log);
        if let Some((index, _, _)) = self.index {
            storage.close(index);
        }
    }
}

/// Opens a file for reading and measures it.
pub(crate) fn open<S: Storage>(
    storage: &S,
    partition: &PartitionDirectory<S>,
    name: &Name,
) -> Result<(S::File, u64), StorageError> {
    let file = exact::uninterrupted(|| storage.open(&partition.directory, name, Access::Read))?;
    match exact::uninterrupted(|| storage.length(&file)) {
        Ok(length) => Ok((file, length)),
        Err(error) => {
            storage.close(file);
            Err(error)
        }
    }
}
