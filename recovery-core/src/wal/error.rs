//! What can go wrong with an append to the metadata log.

use thiserror::Error;

use super::Contradiction;
use crate::storage::StorageError;
use crate::units::Length;

/// Why records were not appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MetadataError {
    /// The records may not follow those that are there. Nothing was written.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// One batch would pass the ceiling that binds every batch. Nothing was written.
    #[error("the records take {given} bytes, and {ceiling} is the most that is let in")]
    TooLarge {
        /// Bytes of the batch.
        given: Length,
        /// The ceiling.
        ceiling: Length,
    },
    /// A storage call failed, and nothing of the records is left in the log.
    #[error("the metadata log was not written: {0}")]
    Io(StorageError),
    /// What the log holds is not known any more: it is opened again, and read, before anything is written.
    #[error("nothing is written to the metadata log any more since this happened: {cause}")]
    Poisoned {
        /// The failure that did it.
        cause: StorageError,
    },
}

impl MetadataError {
    /// The permanent code of this error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Contradiction(contradiction) => contradiction.code(),
            Self::TooLarge { .. } => "metadata-too-large",
            Self::Io(_) => "metadata-io",
            Self::Poisoned { .. } => "metadata-poisoned",
        }
    }
}
