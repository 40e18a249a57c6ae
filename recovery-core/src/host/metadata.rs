//! The metadata log as the host has it: open, or the reason why it is not.
//!
//! Promises: once an append leaves unknown what the log holds, nothing more is written before it was read
//! again. Leaves out: the log itself ([`crate::wal`]).

use super::{Host, HostError, HostEvent};
use crate::format::{MetadataKind, MetadataRecord};
use crate::storage::{Storage, StorageError};
use crate::wal::{Key, MetadataFault, MetadataLog, Opening, Registry};

/// How the metadata log is.
pub(super) enum Metadata<S: Storage> {
    /// Not looked at.
    Closed,
    /// Being read.
    Opening(Box<Opening<S>>),
    /// Read, and open.
    Open(Box<MetadataLog<S>>),
    /// Nothing it says is acted on.
    Refused(MetadataFault),
    /// It cannot be read or written now.
    Unavailable(StorageError),
}

impl<S: Storage> Metadata<S> {
    pub(super) const fn registry(&self) -> Option<&Registry> {
        match self {
            Self::Open(log) => Some(log.registry()),
            Self::Closed | Self::Opening(_) | Self::Refused(_) | Self::Unavailable(_) => None,
        }
    }

    /// Why there is no registry now.
    pub(super) const fn error(&self) -> Option<HostError> {
        match self {
            Self::Open(_) => None,
            Self::Closed | Self::Opening(_) => Some(HostError::NotStarted),
            Self::Refused(fault) => Some(HostError::MetadataRefused(*fault)),
            Self::Unavailable(error) => Some(HostError::MetadataUnavailable(*error)),
        }
    }

    pub(super) fn close(self, storage: &S) {
        match self {
            Self::Opening(mut opening) => opening.close(storage),
            Self::Open(log) => log.close(storage),
            Self::Closed | Self::Refused(_) | Self::Unavailable(_) => {}
        }
    }
}

impl<S: Storage> Host<S> {
    /// Records `kind` of one life, durably.
    pub(super) fn record(&mut self, storage: &S, key: &Key, kind: MetadataKind) -> Result<(), HostError> {
        let Key { namespace, incarnation } = *key;
        let records = [MetadataRecord { kind, namespace, incarnation }];
        let (Metadata::Open(log), Some(root)) = (&mut self.metadata, &self.root) else {
            return Err(self.metadata.error().unwrap_or(HostError::NotStarted));
        };
        let appended = log.append(storage, &root.directory, &records);
        let poisoned = log.poisoned_by().copied();
        if let (Ok(()), Some(entry), Some(slot)) =
            (&appended, log.registry().get(key).copied(), self.slots.get_mut(key))
        {
            slot.entry = entry;
        }
        if let Some(cause) = poisoned {
            self.lose_metadata(storage, &cause);
        }
        appended.map_err(HostError::Metadata)
    }

    /// Gives the log up until it is read again.
    pub(super) fn lose_metadata(&mut self, storage: &S, cause: &StorageError) {
        std::mem::replace(&mut self.metadata, Metadata::Unavailable(*cause)).close(storage);
        self.events.push(HostEvent::MetadataUnavailable(*cause));
    }
}
