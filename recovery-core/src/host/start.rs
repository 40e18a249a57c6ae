//! The start of a node: the metadata log is read, and every directory that it does not name is told of.
//!
//! Promises: a log that is refused or cannot be read starts no partition and touches none; what was served
//! before a log failed goes on being served. Leaves out: judging partitions ([`super::boot`]).

use super::metadata::Metadata;
use super::slot::{Slot, SlotState};
use super::teardown::Teardown;
use super::{Host, HostError, HostEvent, PartitionState};
use crate::format::FileName;
use crate::observe::{Progress, Workspace};
use crate::storage::{LockMode, PartitionDirectory, Storage, StorageError, exact};
use crate::units::Namespace;
use crate::wal::{Entry, Key, Opened, Opening, Stage};

impl<S: Storage> Host<S> {
    /// Goes on with the start for about `limit` bytes. When it is done the metadata log is open, refused or
    /// unavailable, and an event says which.
    ///
    /// # Panics
    ///
    /// If `limit` is below [`crate::observe::STEP_BYTES_MIN`].
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::host::{Host, HostEvent, HostOptions};
    /// use recovery_core::observe::{Progress, Workspace};
    /// use recovery_core::storage::os::OsStorage;
    ///
    /// # let data = tempfile::tempdir()?;
    /// let storage = OsStorage::open(data.path())?;
    /// let mut workspace = Workspace::new(64 * 1024);
    /// let mut host = Host::new(HostOptions::new())?;
    /// // Between two slices, of a megabyte each, a server looks at what else there is to do.
    /// while host.start(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// let events = host.take_events();
    /// assert!(events.contains(&HostEvent::MetadataOpened { partitions: 0 }));
    /// host.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(&mut self, storage: &S, workspace: &mut Workspace, limit: u64) -> Progress {
        match &mut self.metadata {
            Metadata::Closed => {
                match self.lock_root(storage) {
                    Ok(()) => self.metadata = Metadata::Opening(Box::default()),
                    Err(error) => self.lose_metadata(storage, &error),
                }
                Progress::More
            }
            Metadata::Opening(opening) => {
                let root = self.root.as_ref().expect("a log is opened in a data directory that is open");
                if opening.step(storage, root, workspace, limit) == Progress::Done {
                    self.end_opening(storage);
                }
                Progress::More
            }
            Metadata::Open(_) => self.list_unknown(storage),
            Metadata::Refused(_) | Metadata::Unavailable(_) => Progress::Done,
        }
    }

    /// Lets everything that was unavailable be tried again: the metadata log by [`Host::start`], partitions
    /// by [`Host::step`].
    pub fn retry(&mut self) {
        if matches!(self.metadata, Metadata::Unavailable(_)) {
            self.metadata = Metadata::Closed;
        }
        for slot in self.slots.values_mut() {
            if matches!(slot.state, SlotState::Unavailable(_)) {
                slot.state =
                    if slot.entry.stage == Stage::Created { SlotState::Created } else { SlotState::Waiting };
            }
        }
    }

    /// Lets a refused partition, or one that waits for peers, be judged again by [`Host::step`]: for an operator
    /// who has put it right, or has accepted its loss. Nothing is believed but the files.
    ///
    /// # Errors
    ///
    /// [`HostError::NoSuchPartition`]; [`HostError::WrongState`] for one that is neither.
    pub fn judge_again(&mut self, storage: &S, namespace: Namespace) -> Result<(), HostError> {
        let no_such = HostError::NoSuchPartition { namespace };
        let key = self.newest(namespace).ok_or(no_such)?;
        let state = self.state_of(&key).ok_or(no_such)?;
        match state {
            PartitionState::Refused | PartitionState::Rebuilding => {
                self.set(storage, &key, SlotState::Waiting);
                Ok(())
            }
            PartitionState::Created
            | PartitionState::Recovering
            | PartitionState::Served
            | PartitionState::Unavailable
            | PartitionState::Deleting => Err(HostError::WrongState { namespace, state: state.code() }),
        }
    }

    /// The partitions that [`Host::step`] has something to do for, ascending.
    pub fn pending(&self) -> impl Iterator<Item = Namespace> {
        let is_pending = |slot: &Slot<S>| matches!(slot.state, SlotState::Waiting | SlotState::Recovering(_));
        self.slots.iter().filter(move |(_, slot)| is_pending(slot)).map(|(key, _)| key.namespace)
    }

    fn lock_root(&mut self, storage: &S) -> Result<(), StorageError> {
        if self.root.is_some() {
            return Ok(());
        }
        let parent = exact::uninterrupted(|| storage.root())?;
        let directory = match exact::uninterrupted(|| storage.root()) {
            Ok(directory) => directory,
            Err(error) => {
                storage.close_directory(parent);
                return Err(error);
            }
        };
        let root = PartitionDirectory { parent, directory, name: FileName::metadata_log() };
        if let Err(error) = exact::uninterrupted(|| storage.lock(&root.directory, LockMode::Exclusive)) {
            root.close(storage);
            return Err(error);
        }
        self.root = Some(root);
        Ok(())
    }

    fn end_opening(&mut self, storage: &S) {
        let Metadata::Opening(opening) = std::mem::replace(&mut self.metadata, Metadata::Closed) else {
            unreachable!("an opening ends where it was under way")
        };
        match Opening::finish(*opening) {
            Opened::Log(log, cut) => {
                self.events.extend(cut.map(HostEvent::MetadataCut));
                let partitions = log.registry().entries().count() as u64;
                self.metadata = Metadata::Open(Box::new(log));
                self.events.push(HostEvent::MetadataOpened { partitions });
                self.merge(storage);
                self.unknown.begin();
            }
            Opened::Refused(fault) => {
                self.metadata = Metadata::Refused(fault);
                self.events.push(HostEvent::MetadataRefused(fault));
            }
            Opened::Unavailable(error) => self.lose_metadata(storage, &error),
        }
    }

    /// Brings the partitions in line with a log that was just read.
    fn merge(&mut self, storage: &S) {
        let Some(registry) = self.metadata.registry() else { return };
        let entries: Vec<(Key, Entry)> = registry.entries().map(|(key, entry)| (*key, *entry)).collect();
        let gone: Vec<Key> = self.keys().filter(|key| registry.get(key).is_none()).collect();
        for key in gone {
            // Its last record holds although nobody was told so.
            if let Some(slot) = self.slots.remove(&key) {
                slot.state.close(storage);
                self.events.push(HostEvent::Deleted(key));
            }
        }
        for (key, entry) in entries {
            match self.slots.get_mut(&key) {
                None => {
                    let state = first_state(entry.stage);
                    self.slots.insert(key, Slot::new(entry, state));
                }
                Some(slot) => {
                    let has_moved = slot.entry.stage != entry.stage;
                    slot.entry = entry;
                    if has_moved {
                        self.set(storage, &key, first_state(entry.stage));
                    }
                }
            }
        }
    }
}

/// What a partition is before anything was looked at.
fn first_state<S: Storage>(stage: Stage) -> SlotState<S> {
    match stage {
        Stage::Created => SlotState::Created,
        Stage::Made => SlotState::Waiting,
        // Half gone or not: it is finished, and never judged.
        Stage::Deleting => SlotState::Deleting(Box::new(Teardown::new())),
    }
}
