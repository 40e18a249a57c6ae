//! What a host tells of: one typed event each time something changed that an operator may look for.
//!
//! Promises: a refusal is told again at every start, with its reason in the same event (F61). Leaves out:
//! the wording ([`super::sentence`]) and where it is printed, which is the server's.

use super::{Cause, RebuildCause, UnknownDirectory};
use crate::decide::{Reason, ReasonCode};
use crate::storage::StorageError;
use crate::transfer::InstallError;
use crate::units::{Length, Offset};
use crate::wal::{CutTail, Key, MetadataFault};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostEvent {
    /// The metadata log was read.
    MetadataOpened {
        /// Lives of partitions that have not been removed.
        partitions: u64,
    },
    /// The end of the metadata log was cut off.
    MetadataCut(CutTail),
    /// The metadata log is refused.
    MetadataRefused(MetadataFault),
    /// The metadata log cannot be read or written now.
    MetadataUnavailable(StorageError),
    /// A directory that the metadata log does not name.
    UnknownDirectory(UnknownDirectory),
    /// Directories could not be listed, so unknown ones may be there.
    NotListed(StorageError),
    /// A partition is to be.
    Created(Key),
    /// Its directory is durable.
    Made(Key),
    /// It is served.
    Served {
        /// Which one.
        key: Key,
        /// The offset of the next message.
        next_offset: Offset,
        /// Messages, counted one by one.
        messages: u64,
        /// Bytes cut off by this start, zeros included.
        cut: Length,
        /// Copies that lie in fences for it.
        copies: u64,
        /// Offsets that nobody holds, first and last, if the next offset leaves some out.
        gap: Option<(Offset, Offset)>,
    },
    /// It is refused: a tombstone.
    Refused {
        /// Which one.
        key: Key,
        /// Why.
        reason: Reason,
    },
    /// Nothing can be said of it now.
    Unavailable {
        /// Which one.
        key: Key,
        /// Why.
        cause: Cause,
    },
    /// Peers are asked.
    Rebuilding {
        /// Which one.
        key: Key,
        /// Why.
        cause: RebuildCause,
    },
    /// A whole copy from a peer has taken its place; what was there before, if anything, lies in a fence.
    Installed(Key),
    /// No copy was installed, and what was there is as it was.
    InstallFailed {
        /// Which one.
        key: Key,
        /// Why.
        error: InstallError,
    },
    /// It is to go.
    Deleting(Key),
    /// Nothing of it is left.
    Deleted(Key),
    /// Not all of it could be removed.
    DeleteFailed {
        /// Which one.
        key: Key,
        /// Why.
        error: StorageError,
    },
    /// A queued insert was not carried out.
    InsertRefused {
        /// Of which life.
        key: Key,
        /// Why.
        why: InsertRefusal,
    },
}

/// Why a queued insert is not carried out (F21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertRefusal {
    /// It is of a life that is not the newest any more.
    OldIncarnation,
    /// It is of a life that is being removed.
    Deleting,
    /// An older life of the partition is not removed yet.
    PredecessorPresent,
    /// The partition has files, and they are refused.
    Tombstoned(ReasonCode),
    /// Peers are asked for what is not here.
    Rebuilding,
    /// Nothing can be said of the partition now.
    Unavailable(Cause),
}

impl InsertRefusal {
    /// The permanent code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::OldIncarnation => "old-incarnation",
            Self::Deleting => "deleting",
            Self::PredecessorPresent => "predecessor-present",
            Self::Tombstoned(reason) => reason.code(),
            Self::Rebuilding => "rebuilding",
            Self::Unavailable(cause) => cause.code(),
        }
    }
}
