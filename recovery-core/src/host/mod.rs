//! Many partitions on one node: boot, tombstones, making and removing, clients.
//!
//! Promises: each partition is judged on its own, and what befalls one changes no other (I21); only what the
//! metadata log names is ever made, judged, served or removed; a refused partition is refused again by its
//! own files at every start, and until its deletion is confirmed nothing routes it, serves it or shows it as
//! empty (F19 to F22). Every call is a slice of bounded work, and whoever calls says which partition goes
//! on next, so partitions recover in turns, in any order. Leaves out: how nodes agree, which clocks to ask, and threads:
//! all state is in the value, and dropping it does nothing to the disk. A host goes on with one partition at a time; who
//! wants to judge two on two threads runs a [`crate::recovery::Recovery`] for each, with a workspace of its own.
//!
//! A start: [`Host::start`] until it is done, then [`Host::step`] for each of [`Host::pending`]. Later:
//! [`Host::reconcile`] now and then, and [`Host::retry`] for what was unavailable.

mod accept_loss;
mod adopt;
mod boot;
mod client;
mod deletion;
mod directory;
mod disposition;
mod error;
mod event;
mod fence_limit;
mod insert;
mod installing;
mod loss_record;
mod making;
mod metadata;
mod options;
mod rebuilding;
mod reconcile;
pub(crate) mod removal;
mod sentence;
mod slot;
mod start;
mod statistics;
mod superblock;
mod teardown;
mod unknown;

use std::collections::{BTreeMap, VecDeque};

pub use accept_loss::{AcceptedLoss, AcceptingLoss, RangeMistake};
pub use adopt::{AdoptMistake, Adopting};
pub use client::{ClientError, Status};
pub use disposition::{Deed, Finding, Replication, deed};
pub use error::HostError;
pub use event::{HostEvent, InsertRefusal};
pub use fence_limit::{FENCE_BYTES_MAX, FenceTrim};
pub use options::{HostOptions, NewPartition};
pub use rebuilding::{OffsetRange, RebuildCause, UNREADABLE_TRIES};
pub use slot::{Cause, Memory, PartitionState};
pub use statistics::PartitionStatistics;
pub use superblock::{SuperblockError, SuperblockWriter};
pub use unknown::{UNKNOWN_LISTED_MAX, UnknownDirectory};

use crate::partition::PartitionOptions;
use crate::storage::{PartitionDirectory, Storage};
use crate::units::{Incarnation, Namespace};
use crate::wal::{Key, Registry};
use metadata::Metadata;
use reconcile::Pass;
use slot::{Slot, SlotState};
use unknown::Unknown;

/// All partitions of one data directory.
pub struct Host<S: Storage> {
    options: HostOptions,
    /// Options of single partitions, where they differ.
    special: BTreeMap<Namespace, PartitionOptions>,
    /// The data directory, locked: as the directory of the metadata log and of its fences.
    root: Option<PartitionDirectory<S>>,
    metadata: Metadata<S>,
    /// What the metadata log said when it was last open, so that a log that fails for a while makes no
    /// partition unknown.
    slots: BTreeMap<Key, Slot<S>>,
    inserts: VecDeque<Key>,
    pass: Option<Pass>,
    unknown: Unknown,
    events: Vec<HostEvent>,
}

impl<S: Storage> Host<S> {
    /// A host that has not looked at anything yet.
    ///
    /// # Errors
    ///
    /// The first limit that an option passes: the format's ceiling comes first (F75).
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{BatchBuilder, Message};
    /// use recovery_core::host::{Host, HostOptions, NewPartition, PartitionState};
    /// use recovery_core::observe::{Progress, Workspace};
    /// use recovery_core::storage::os::OsStorage;
    /// use recovery_core::units::{Durability, Incarnation, Namespace, Offset};
    ///
    /// const SLICE_BYTES: u64 = 1024 * 1024;
    /// # let data = tempfile::tempdir()?;
    /// let storage = OsStorage::open(data.path())?;
    /// let mut workspace = Workspace::new(64 * 1024);
    /// let mut host = Host::new(HostOptions::new())?;
    /// while host.start(&storage, &mut workspace, SLICE_BYTES) == Progress::More {}
    ///
    /// let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// let (incarnation, durability) = (Incarnation::new(1), Durability::Synced);
    /// host.create(&storage, &NewPartition { namespace, incarnation, replicas: 1, durability })?;
    /// while host.reconcile(&storage, &mut workspace, SLICE_BYTES) == Progress::More {}
    /// assert_eq!(host.state(namespace), Some(PartitionState::Served));
    ///
    /// let mut batch = Vec::new();
    /// let mut builder = BatchBuilder::begin(&mut batch, 1);
    /// builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// builder.finish();
    /// host.produce(&storage, namespace, &batch, 2)?;
    /// assert_eq!(host.flush(&storage, namespace)?.next_offset, Offset::new(1));
    /// host.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(options: HostOptions) -> Result<Self, HostError> {
        options.partition.validate()?;
        Ok(Self {
            options,
            special: BTreeMap::new(),
            root: None,
            metadata: Metadata::Closed,
            slots: BTreeMap::new(),
            inserts: VecDeque::new(),
            pass: None,
            unknown: Unknown::default(),
            events: Vec::new(),
        })
    }

    /// Sets how one partition is written, for the next time that it is opened. Not remembered from start to
    /// start.
    ///
    /// # Errors
    ///
    /// The first limit that an option passes.
    pub fn set_partition_options(
        &mut self,
        namespace: Namespace,
        options: PartitionOptions,
    ) -> Result<(), HostError> {
        options.validate()?;
        self.special.insert(namespace, options);
        Ok(())
    }

    /// What has happened since this was last asked. Each event renders as one line.
    pub fn take_events(&mut self) -> Vec<HostEvent> {
        std::mem::take(&mut self.events)
    }

    /// What the metadata log says, if it is open.
    pub const fn registry(&self) -> Option<&Registry> {
        self.metadata.registry()
    }

    /// Every partition that is meant to be there, and every life that is being removed, ascending.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.slots.keys().copied()
    }

    /// The newest life of a partition, as far as it is not removed yet.
    pub fn newest(&self, namespace: Namespace) -> Option<Key> {
        self.lives(namespace).next_back()
    }

    /// Every life of a partition that is not removed yet, oldest first.
    fn lives(&self, namespace: Namespace) -> impl DoubleEndedIterator<Item = Key> {
        let first = Key { namespace, incarnation: Incarnation::ZERO };
        let last = Key { namespace, incarnation: Incarnation::new(u64::MAX) };
        self.slots.range(first..=last).map(|(key, _)| *key)
    }

    /// The state of the newest life of a partition.
    pub fn state(&self, namespace: Namespace) -> Option<PartitionState> {
        self.state_of(&self.newest(namespace)?)
    }

    /// The state of one life of a partition.
    pub fn state_of(&self, key: &Key) -> Option<PartitionState> {
        self.slots.get(key).map(|slot| slot.state.summary())
    }

    /// What is remembered of one life of a partition besides its state.
    pub fn memory_of(&self, key: &Key) -> Option<Memory> {
        let slot = self.slots.get(key)?;
        Some(Memory { unreadable: slot.unreadable, gap_settled: slot.gap_settled })
    }

    /// Whether a pass is under way.
    pub const fn is_passing(&self) -> bool {
        self.pass.is_some()
    }

    /// Whether a request for this partition may be sent here: only if it is served.
    pub fn is_routed(&self, namespace: Namespace) -> bool {
        self.state(namespace) == Some(PartitionState::Served)
    }

    /// Closes everything and releases every lock. Nothing is written: for that, [`Host::stop`] first.
    pub fn close(mut self, storage: &S) {
        for (_, slot) in std::mem::take(&mut self.slots) {
            slot.state.close(storage);
        }
        self.metadata.close(storage);
        if let Some(root) = self.root.take() {
            root.close(storage);
        }
    }

    /// Exchanges a partition's state; what it had is handed back.
    fn replace(&mut self, key: &Key, state: SlotState<S>) -> Option<SlotState<S>> {
        self.slots.get_mut(key).map(|slot| std::mem::replace(&mut slot.state, state))
    }

    /// Exchanges a partition's state, and closes what it had.
    fn set(&mut self, storage: &S, key: &Key, state: SlotState<S>) {
        if let Some(old) = self.replace(key, state) {
            old.close(storage);
        }
    }
}
