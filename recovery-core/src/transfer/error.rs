//! Why nothing was installed.

use thiserror::Error;

use super::SourceError;
use crate::storage::StorageError;
use crate::units::{Incarnation, Namespace, Offset, SegmentStart};

/// What is wrong with an offer, before a byte of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OfferFault {
    /// It is of another partition, or of another life of this one.
    #[error(
        "partition {found} (incarnation {found_incarnation}) is offered, and {namespace} (incarnation {incarnation}) is wanted"
    )]
    Foreign {
        /// What is wanted.
        namespace: Namespace,
        /// Which life.
        incarnation: Incarnation,
        /// What is offered.
        found: Namespace,
        /// Which life.
        found_incarnation: Incarnation,
    },
    /// Its segments do not ascend, or one holds offsets of the next.
    #[error("segment {segment} is offered with offsets up to {next_offset}, and {next_start} behind it")]
    Overlap {
        /// The segment.
        segment: SegmentStart,
        /// One behind its last offset.
        next_offset: Offset,
        /// The segment behind it.
        next_start: SegmentStart,
    },
    /// Offsets between two segments are missing, and the offer does not say that nobody holds them.
    #[error("offsets {first} to {last} are in no segment that is offered")]
    Gap {
        /// The first.
        first: Offset,
        /// The last, inclusive.
        last: Offset,
    },
    /// The chain starts somewhere else than the offer says, or ends behind where it says.
    #[error("the offer says that its chain goes from {floor} to {next_offset}, and its segments do not")]
    Bounds {
        /// Where it starts.
        floor: SegmentStart,
        /// Its next offset.
        next_offset: Offset,
    },
}

/// Why nothing was installed. The directory that is there is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InstallError {
    /// The offer cannot be taken.
    #[error("the offer is not taken: {0}")]
    Offer(OfferFault),
    /// The peer gave nothing.
    #[error("the bytes did not come: {0}")]
    Source(SourceError),
    /// What came is not what was offered.
    #[error("segment {segment} did not come as it was offered")]
    NotAsOffered {
        /// The segment.
        segment: SegmentStart,
    },
    /// A storage call here failed.
    #[error("the copy was not installed: {0}")]
    Io(StorageError),
}

impl InstallError {
    /// The permanent code of this error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Offer(_) => "offer-not-taken",
            Self::Source(_) => "source-failed",
            Self::NotAsOffered { .. } => "not-as-offered",
            Self::Io(_) => "install-io",
        }
    }
}

impl From<StorageError> for InstallError {
    fn from(error: StorageError) -> Self {
        Self::Io(error)
    }
}
