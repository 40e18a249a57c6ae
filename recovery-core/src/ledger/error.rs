//! What can go wrong with the ledger: a call that had no effect, or an end to all writing.

use thiserror::Error;

use crate::storage::StorageError;
use crate::units::{Length, Offset};

/// Why the ledger was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LedgerError {
    /// A storage call failed, and the ledger is as it was before.
    #[error("the ledger was not written: {0}")]
    Io(StorageError),
    /// The file is not the one that was read: somebody wrote it since, or cut it.
    #[error(
        "the ledger has {found} bytes, and when it was read its records ended between {shortest} and {longest}"
    )]
    SizeMismatch {
        /// Bytes of the file now.
        found: Length,
        /// The fewest that fit what was read.
        shortest: Length,
        /// The most.
        longest: Length,
    },
    /// Offsets were given up, and no mark is known where the range begins, so a new file could not say so.
    #[error("offsets {first} to {last} were given up, and no mark of the ledger ends there")]
    LossUnplaced {
        /// First offset given up.
        first: Offset,
        /// Last one, inclusive.
        last: Offset,
    },
    /// No new file could count above this one.
    #[error("the ledger's epoch is the largest there is, so no new file can take its place")]
    EpochsUsedUp,
    /// What the file holds is not known any more, so nothing is written to it again.
    #[error("nothing is written to the ledger any more since this happened: {cause}")]
    Poisoned {
        /// The failure that did it.
        cause: StorageError,
    },
}

impl LedgerError {
    /// The permanent code of this error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "ledger-io",
            Self::SizeMismatch { .. } => "ledger-size-mismatch",
            Self::LossUnplaced { .. } => "ledger-loss-unplaced",
            Self::EpochsUsedUp => "ledger-epochs-used-up",
            Self::Poisoned { .. } => "ledger-poisoned",
        }
    }

    /// The storage call behind it, if there is one.
    pub const fn cause(&self) -> Option<StorageError> {
        match self {
            Self::Io(cause) | Self::Poisoned { cause } => Some(*cause),
            Self::SizeMismatch { .. } | Self::LossUnplaced { .. } | Self::EpochsUsedUp => None,
        }
    }
}
