//! Why a command to the host was not carried out. Nothing of it holds then, unless the error says so.

use thiserror::Error;

use crate::partition::OptionsError;
use crate::storage::{Name, StorageError};
use crate::units::{Namespace, Offset};
use crate::wal::{MetadataError, MetadataFault};

/// Why a command was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HostError {
    /// An option passes a limit.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The metadata log has not been read yet.
    #[error("the metadata log has not been read yet")]
    NotStarted,
    /// The metadata log is refused: nothing is made or removed until somebody has put it right.
    #[error(transparent)]
    MetadataRefused(MetadataFault),
    /// The metadata log cannot be read or written now.
    #[error("the metadata log is unavailable: {0}")]
    MetadataUnavailable(StorageError),
    /// The metadata log did not take the record. After `metadata-poisoned` nobody knows whether it holds
    /// before the log has been read again.
    #[error(transparent)]
    Metadata(MetadataError),
    /// A namespace that no record can hold, or no replica at all.
    #[error("partition {namespace} on {replicas} nodes cannot be recorded")]
    Unrecordable {
        /// The namespace.
        namespace: Namespace,
        /// The replicas asked for.
        replicas: u8,
    },
    /// No such partition is meant to be there.
    #[error("there is no partition {namespace}")]
    NoSuchPartition {
        /// The namespace.
        namespace: Namespace,
    },
    /// No life of the partition is being removed.
    #[error("no life of partition {namespace} is being removed")]
    NotDeleting {
        /// The namespace.
        namespace: Namespace,
    },
    /// The deletion is not complete, so it is not confirmed.
    #[error("partition {namespace} is not deleted as long as {name} is there")]
    StillThere {
        /// The namespace.
        namespace: Namespace,
        /// What is left of it, in the directory that holds its own.
        name: Name,
    },
    /// The partition has files, and they are not opened: a tombstone.
    #[error("partition {namespace} is refused ({code}), and nothing is mounted over it")]
    Tombstoned {
        /// The namespace.
        namespace: Namespace,
        /// Its reason.
        code: &'static str,
    },
    /// What is offered ends before what verified here, or was durable here.
    #[error(
        "partition {namespace} is offered up to offset {offered}, and what verified or was durable here goes up to {held}"
    )]
    OfferBehind {
        /// The namespace.
        namespace: Namespace,
        /// One behind the last offset that verifies, or that is known to have been held.
        held: Offset,
        /// The next offset of the offer.
        offered: Offset,
    },
    /// What is offered ends late enough, and leaves out what verifies here, or may lie in a log that cannot be read.
    #[error(
        "partition {namespace} is offered without offset {offset}, which a batch holds that verifies here, or may lie in a log that cannot be read"
    )]
    OfferLeavesOut {
        /// The namespace.
        namespace: Namespace,
        /// The first offset that would be lost.
        offset: Offset,
    },
    /// The partition is not in the state that the command is for.
    #[error("partition {namespace} is {state}")]
    WrongState {
        /// The namespace.
        namespace: Namespace,
        /// Its state.
        state: &'static str,
    },
    /// A storage call failed.
    #[error("the command was not carried out: {0}")]
    Io(StorageError),
}

impl HostError {
    /// The storage call behind it, if there is one.
    pub const fn cause(&self) -> Option<&StorageError> {
        match self {
            Self::MetadataUnavailable(cause)
            | Self::Metadata(MetadataError::Io(cause) | MetadataError::Poisoned { cause })
            | Self::Io(cause) => Some(cause),
            Self::Options(_)
            | Self::NotStarted
            | Self::MetadataRefused(_)
            | Self::Metadata(MetadataError::Contradiction(_) | MetadataError::TooLarge { .. })
            | Self::Unrecordable { .. }
            | Self::NoSuchPartition { .. }
            | Self::NotDeleting { .. }
            | Self::StillThere { .. }
            | Self::Tombstoned { .. }
            | Self::OfferBehind { .. }
            | Self::OfferLeavesOut { .. }
            | Self::WrongState { .. } => None,
        }
    }

    /// The permanent code of this error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Options(error) => error.code(),
            Self::NotStarted => "not-started",
            Self::MetadataRefused(fault) => fault.code(),
            Self::MetadataUnavailable(_) => "metadata-unavailable",
            Self::Metadata(error) => error.code(),
            Self::Unrecordable { .. } => "unrecordable",
            Self::NoSuchPartition { .. } => "no-such-partition",
            Self::NotDeleting { .. } => "not-deleting",
            Self::StillThere { .. } => "still-there",
            Self::Tombstoned { code, .. } => code,
            Self::OfferBehind { .. } => "offer-behind",
            Self::OfferLeavesOut { .. } => "offer-leaves-out",
            Self::WrongState { .. } => "wrong-state",
            Self::Io(_) => "io",
        }
    }
}
