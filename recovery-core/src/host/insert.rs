//! The queue of partitions to be mounted, and what is asked before one is.
//!
//! Promises: everything is asked when the insert is carried out, not when it was queued: a tombstone, a
//! deletion or a newer life that came in between refuses it (F21), before anything is built (F66). Leaves
//! out: what is mounted, which is made and judged like any other.

use super::slot::SlotState;
use super::{Cause, Host, HostError, HostEvent, InsertRefusal, PartitionState};
use crate::observe::{Progress, Workspace};
use crate::storage::Storage;
use crate::units::Namespace;
use crate::wal::{Key, Stage};

/// What is due for an insert.
enum Gate {
    /// It is carried out already.
    Done,
    /// Its directory is to be made.
    Make,
    /// Its directory is to be judged.
    Judge,
    /// It is not carried out.
    Refuse(InsertRefusal),
}

impl<S: Storage> Host<S> {
    /// Queues the newest life of a partition to be mounted.
    ///
    /// # Errors
    ///
    /// [`HostError::NoSuchPartition`], also for one that is being removed; [`HostError::Tombstoned`];
    /// [`HostError::WrongState`] for one that waits for peers.
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
    /// // What was created is mounted by the next pass in any case; what is unavailable is tried again.
    /// host.queue_insert(namespace)?;
    /// while host.reconcile(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// assert_eq!(host.state(namespace), Some(PartitionState::Served));
    /// let nobody = Namespace { partition: 7, ..namespace };
    /// assert_eq!(host.queue_insert(nobody).expect_err("it was never made").code(), "no-such-partition");
    /// # host.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn queue_insert(&mut self, namespace: Namespace) -> Result<(), HostError> {
        let no_such = HostError::NoSuchPartition { namespace };
        let key = self.newest(namespace).ok_or(no_such)?;
        let slot = self.slots.get(&key).ok_or(no_such)?;
        match &slot.state {
            SlotState::Refused(reason) => {
                return Err(HostError::Tombstoned { namespace, code: reason.code() });
            }
            SlotState::Rebuilding(_) => {
                return Err(HostError::WrongState { namespace, state: PartitionState::Rebuilding.code() });
            }
            SlotState::Deleting(_) => return Err(no_such),
            SlotState::Created
            | SlotState::Waiting
            | SlotState::Recovering(_)
            | SlotState::Served(_)
            | SlotState::Unavailable(_) => {}
        }
        if !self.inserts.contains(&key) {
            self.inserts.push_back(key);
        }
        Ok(())
    }

    /// The lives that are queued, in order.
    pub fn inserts(&self) -> impl Iterator<Item = Key> {
        self.inserts.iter().copied()
    }

    /// Goes on with the queue for about `limit` bytes.
    pub fn apply_inserts(&mut self, storage: &S, workspace: &mut Workspace, limit: u64) -> Progress {
        let Some(key) = self.inserts.front().copied() else { return Progress::Done };
        let is_done = match self.gate(&key) {
            Gate::Done => true,
            Gate::Make => {
                self.make(storage, &key);
                self.state_of(&key) == Some(PartitionState::Unavailable)
            }
            Gate::Judge => self.step_key(storage, &key, workspace, limit) == Progress::Done,
            Gate::Refuse(why) => {
                self.events.push(HostEvent::InsertRefused { key, why });
                true
            }
        };
        if is_done {
            self.inserts.pop_front();
        }
        if self.inserts.is_empty() { Progress::Done } else { Progress::More }
    }

    fn gate(&self, key: &Key) -> Gate {
        let Some(slot) = self.slots.get(key) else {
            return Gate::Refuse(InsertRefusal::OldIncarnation);
        };
        if self.newest(key.namespace) != Some(*key) {
            return Gate::Refuse(InsertRefusal::OldIncarnation);
        }
        match &slot.state {
            SlotState::Refused(reason) => Gate::Refuse(InsertRefusal::Tombstoned(reason.reason_code())),
            SlotState::Deleting(_) => Gate::Refuse(InsertRefusal::Deleting),
            SlotState::Rebuilding(_) => Gate::Refuse(InsertRefusal::Rebuilding),
            SlotState::Served(_) => Gate::Done,
            SlotState::Waiting | SlotState::Recovering(_) => Gate::Judge,
            SlotState::Unavailable(cause) if slot.entry.stage != Stage::Created => {
                Gate::Refuse(InsertRefusal::Unavailable(*cause))
            }
            SlotState::Created | SlotState::Unavailable(_) => self.gate_to_make(key),
        }
    }

    /// A new life has the directory of the older ones, so they go first.
    fn gate_to_make(&self, key: &Key) -> Gate {
        match &self.metadata.error() {
            None if self.has_predecessor(key) => Gate::Refuse(InsertRefusal::PredecessorPresent),
            None => Gate::Make,
            Some(HostError::MetadataUnavailable(error)) => {
                Gate::Refuse(InsertRefusal::Unavailable(Cause::Io(*error)))
            }
            Some(_) => Gate::Refuse(InsertRefusal::OldIncarnation),
        }
    }

    /// Whether an older life of the partition is not removed yet.
    pub(super) fn has_predecessor(&self, key: &Key) -> bool {
        self.lives(key.namespace).next() != Some(*key)
    }
}
