//! What can go wrong with a partition's writer.

use thiserror::Error;

use super::{OptionsError, Rejection};
use crate::ledger::LedgerError;
use crate::storage::{Name, StorageError};
use crate::units::{Length, Offset, SegmentStart};

/// A file is not as long as recovery left it: somebody changed it since (F01, F85). Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{file} has {found} bytes, and recovery left {expected}")]
pub struct StorageSizeMismatch {
    /// The file.
    pub file: Name,
    /// The length that recovery left.
    pub expected: Length,
    /// The length now.
    pub found: Length,
}

/// Why a writer could not be opened. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OpenError {
    /// An option passes a limit.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A file is not as long as recovery left it.
    #[error(transparent)]
    StorageSizeMismatch(#[from] StorageSizeMismatch),
    /// The ledger could not be opened.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A storage call failed.
    #[error("the partition was not opened: {0}")]
    Io(StorageError),
    /// A ledger is to be created, and a file of that name holds bytes that nobody has copied aside.
    #[error("a ledger is to be created, and the file of that name holds {length} bytes that are no ledger")]
    LedgerInTheWay {
        /// Its length.
        length: Length,
    },
    /// A ledger is to be created, and the walk over a segment computed no chain hash for its marks.
    #[error("a ledger is to be created, and segment {segment} was walked without an incarnation")]
    ChainHashUnknown {
        /// The segment.
        segment: SegmentStart,
    },
}

impl OpenError {
    /// The permanent code of this error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Options(error) => error.code(),
            Self::StorageSizeMismatch(_) => "storage-size-mismatch",
            Self::Ledger(error) => error.code(),
            Self::Io(_) => "io",
            Self::LedgerInTheWay { .. } => "ledger-in-the-way",
            Self::ChainHashUnknown { .. } => "chain-hash-unknown",
        }
    }
}

/// Why a call on a writer had no success. Nothing that it would have acknowledged is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WriterError {
    /// The batch is not taken in.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// A storage call failed, and what it wrote was taken back. The call may be made again.
    #[error("nothing was written: {0}")]
    Io(StorageError),
    /// The next offset leaves a gap, and without a ledger it could not be recorded; the next start would
    /// take it for a hole.
    #[error("offsets {first} to {last} are left out, and there is no ledger to record that in")]
    GapNeedsLedger {
        /// First offset of the gap.
        first: Offset,
        /// Last one, inclusive.
        last: Offset,
    },
    /// What is durable is not known any more: the partition is opened again through recovery.
    #[error("nothing is written any more since this happened: {cause}")]
    Poisoned {
        /// The failure that did it.
        cause: StorageError,
    },
}

impl WriterError {
    /// The permanent code of this error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Rejected(rejection) => rejection.code(),
            Self::Io(_) => "io",
            Self::GapNeedsLedger { .. } => "gap-needs-ledger",
            Self::Poisoned { .. } => "poisoned",
        }
    }
}
