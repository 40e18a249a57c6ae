//! The commands that bring partitions into being and out of it.
//!
//! Promises: each is one durable record, and holds when the call returns; a deletion closes the partition at
//! once and lifts nothing: only what was looked up to be gone is ([`Host::confirm`], F22, F68). Leaves out:
//! the directories, which a pass makes and removes.

use super::slot::{Slot, SlotState};
use super::teardown::{Teardown, first_left};
use super::{Host, HostError, HostEvent, NewPartition};
use crate::format::MetadataKind;
use crate::storage::Storage;
use crate::units::Namespace;
use crate::wal::{Entry, Key, Stage};

impl<S: Storage> Host<S> {
    /// Records that a partition is to be. Its directory is made by the next pass, or by an insert.
    ///
    /// # Errors
    ///
    /// [`HostError`]; among them codes `partition-exists` and `incarnation-used`.
    pub fn create(&mut self, storage: &S, new: &NewPartition) -> Result<Key, HostError> {
        let NewPartition { namespace, incarnation, replicas, durability } = *new;
        if !namespace.is_packable() || replicas == 0 {
            return Err(HostError::Unrecordable { namespace, replicas });
        }
        let key = Key { namespace, incarnation };
        self.record(storage, &key, MetadataKind::Created { replicas, durability })?;
        let entry = Entry { replicas, durability, stage: Stage::Created };
        self.slots.insert(key, Slot::new(entry, SlotState::Created));
        self.events.push(HostEvent::Created(key));
        Ok(key)
    }

    /// Records that a partition is to go, and closes it. Whatever it was, refused or not, its files are
    /// removed by the passes that follow, fences included, until a confirmation lifts the rest.
    ///
    /// # Errors
    ///
    /// [`HostError`]; the partition is as it was.
    pub fn delete(&mut self, storage: &S, namespace: Namespace) -> Result<Key, HostError> {
        if let Some(error) = self.metadata.error() {
            return Err(error);
        }
        let target = self.registry().and_then(|registry| registry.target(namespace));
        let key = target.ok_or(HostError::NoSuchPartition { namespace })?;
        self.record(storage, &key, MetadataKind::Deleting)?;
        self.set(storage, &key, SlotState::Deleting(Box::new(Teardown::new())));
        self.events.push(HostEvent::Deleting(key));
        Ok(key)
    }

    /// Confirms that the oldest life of a partition that is being removed is gone: looks that nothing of it
    /// is left, and records it.
    ///
    /// # Errors
    ///
    /// [`HostError::NotDeleting`]; [`HostError::StillThere`]; [`HostError::Io`] when it could not be looked
    /// up. Nothing is lifted then.
    pub fn confirm(&mut self, storage: &S, namespace: Namespace) -> Result<Key, HostError> {
        if let Some(error) = self.metadata.error() {
            return Err(error);
        }
        let removing = self.registry().and_then(|registry| registry.removing(namespace));
        let key = removing.ok_or(HostError::NotDeleting { namespace })?;
        if let Some(name) = first_left(storage, namespace).map_err(HostError::Io)? {
            return Err(HostError::StillThere { namespace, name });
        }
        self.record(storage, &key, MetadataKind::Deleted)?;
        if let Some(slot) = self.slots.remove(&key) {
            slot.state.close(storage);
        }
        self.events.push(HostEvent::Deleted(key));
        Ok(key)
    }
}
