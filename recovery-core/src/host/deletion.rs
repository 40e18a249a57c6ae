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
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::host::{Host, HostOptions};
    /// # use recovery_core::observe::{Progress, Workspace};
    /// # use recovery_core::storage::os::OsStorage;
    /// use recovery_core::host::{HostError, NewPartition, PartitionState};
    /// use recovery_core::units::{Durability, Incarnation, Namespace};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # let storage = OsStorage::open(data.path())?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # let mut host = Host::new(HostOptions::new())?;
    /// # while host.start(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// let (incarnation, durability) = (Incarnation::new(1), Durability::Synced);
    /// let new = NewPartition { namespace, incarnation, replicas: 1, durability };
    /// host.create(&storage, &new)?;
    /// // The record is durable; the directory is made by the next pass.
    /// assert_eq!(host.state(namespace), Some(PartitionState::Created));
    /// while host.reconcile(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// assert_eq!(host.state(namespace), Some(PartitionState::Served));
    /// // It is there once.
    /// assert_eq!(host.create(&storage, &new).unwrap_err().code(), "partition-exists");
    /// host.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::host::{Host, HostOptions, NewPartition, PartitionState};
    /// # use recovery_core::observe::{Progress, Workspace};
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::units::{Durability, Incarnation, Namespace};
    /// # let data = tempfile::tempdir()?;
    /// # let storage = OsStorage::open(data.path())?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # let mut host = Host::new(HostOptions::new())?;
    /// # while host.start(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let (incarnation, durability) = (Incarnation::new(1), Durability::Synced);
    /// # host.create(&storage, &NewPartition { namespace, incarnation, replicas: 1, durability })?;
    /// # while host.reconcile(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// assert_eq!(host.state(namespace), Some(PartitionState::Served));
    /// let key = host.delete(&storage, namespace)?;
    /// // Nothing is served from here on; the passes that follow remove the files.
    /// assert_eq!(host.state_of(&key), Some(PartitionState::Deleting));
    /// while host.reconcile(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # host.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
