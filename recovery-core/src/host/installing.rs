//! Takes a whole copy of a partition from a peer, for a replica that waits for one.
//!
//! Promises: the directory that is there stays locked, and as it is, until the copy is whole and durable; while
//! it comes the partition is neither served nor counted as held; a copy that ends before what verifies here is
//! not taken (N21, G25), nor one that leaves out a batch that does, nor one that ends before what the ledger or the
//! superblock here has as durable, or before what was set aside. What was installed is judged like any other directory. Leaves out: which peer is asked, and how its
//! bytes come.

use super::rebuilding::{RebuildCause, Rebuilding};
use super::slot::SlotState;
use super::{Host, HostError, HostEvent, directory};
use crate::format::partition_components;
use crate::observe::{PartitionFacts, Progress, SuperblockIdentity, SuperblockState, Workspace};
use crate::storage::{LockMode, PartitionDirectory, Storage, StorageError, exact};
use crate::transfer::{Install, InstallError, InstallOptions, Offer, Source};
use crate::units::{Namespace, Offset};
use crate::wal::{Entry, Key};

/// An installation under way, with the directories that it works in.
pub(super) struct Installing<S: Storage> {
    install: Install<S>,
    parent: S::Directory,
    /// The directory that will be replaced, locked; `None` if there is none.
    old: Option<PartitionDirectory<S>>,
}

impl<S: Storage> Installing<S> {
    pub(super) fn close(mut self, storage: &S) {
        self.install.close(storage);
        storage.close_directory(self.parent);
        if let Some(old) = self.old {
            old.close(storage);
        }
    }
}

impl<S: Storage> Host<S> {
    /// What this node can give a peer of a partition: all that is acknowledged. `None` unless it is served, and
    /// has a ledger that says of every segment how it hashes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::{BatchBuilder, Message};
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
    /// # let mut batch = Vec::new();
    /// # let mut builder = BatchBuilder::begin(&mut batch, 1);
    /// # builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// # builder.finish();
    /// # host.produce(&storage, namespace, &batch, 2)?;
    /// # assert_eq!(host.flush(&storage, namespace)?.next_offset.get(), 1);
    /// let offer = host.offer(namespace).expect("it is served, and has a ledger");
    /// // A peer gives it to its own host, which asks for these bytes.
    /// assert!(offer.bytes() > 0);
    /// # host.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn offer(&self, namespace: Namespace) -> Option<Offer> {
        Offer::of_writer(self.writer(namespace)?)
    }

    /// Begins to install what a peer offers, for a partition that waits for peers. One that was begun before is
    /// given up.
    ///
    /// # Errors
    ///
    /// [`HostError::NoSuchPartition`]; [`HostError::WrongState`] unless it waits for peers;
    /// [`HostError::OfferBehind`]; [`HostError::OfferLeavesOut`]; [`HostError::Io`], also when somebody holds the directory's lock.
    pub fn begin_install(
        &mut self,
        storage: &S,
        namespace: Namespace,
        offer: Offer,
    ) -> Result<(), HostError> {
        let no_such = HostError::NoSuchPartition { namespace };
        let key = self.newest(namespace).ok_or(no_such)?;
        let slot = self.slots.get_mut(&key).ok_or(no_such)?;
        let state = slot.state.summary().code();
        let SlotState::Rebuilding(rebuilding) = &mut slot.state else {
            return Err(HostError::WrongState { namespace, state });
        };
        let held = rebuilding.facts.as_deref().map_or(Offset::ZERO, known_end);
        if offer.next_offset < held {
            return Err(HostError::OfferBehind { namespace, held, offered: offer.next_offset });
        }
        let is_cut = matches!(rebuilding.cause, RebuildCause::Gap(_));
        if let Some(offset) = rebuilding.facts.as_deref().and_then(|facts| offer.leaves_out(facts, is_cut)) {
            return Err(HostError::OfferLeavesOut { namespace, offset });
        }
        if let Some(given_up) = rebuilding.installing.take() {
            given_up.close(storage);
        }
        let identity = self.options.superblock;
        let begun = begin(storage, &key, slot.entry, rebuilding, offer, identity)?;
        rebuilding.installing = Some(Box::new(begun));
        Ok(())
    }

    /// Whether a copy is being installed.
    pub fn is_installing(&self, namespace: Namespace) -> bool {
        self.rebuilding(namespace).is_some_and(|rebuilding| rebuilding.installing.is_some())
    }

    /// Goes on with the installation for about `limit` bytes; once it is done the partition is pending, and
    /// judged by [`Host::step`]. Does nothing where none was begun.
    ///
    /// # Errors
    ///
    /// [`InstallError`]. After `install-io` the partition is pending, and judged anew; after any other what was
    /// there is as it was, and it waits for peers as before.
    pub fn install<R: Source>(
        &mut self,
        storage: &S,
        namespace: Namespace,
        source: &mut R,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<Progress, InstallError> {
        let Some(key) = self.newest(namespace) else { return Ok(Progress::Done) };
        let Some(slot) = self.slots.get_mut(&key) else { return Ok(Progress::Done) };
        let SlotState::Rebuilding(rebuilding) = &mut slot.state else { return Ok(Progress::Done) };
        let Some(mut installing) = rebuilding.installing.take() else { return Ok(Progress::Done) };
        let [.., name] = partition_components(namespace);
        let Installing { install, parent, old: _ } = &mut *installing;
        match install.step(storage, parent, &name, source, workspace, limit) {
            Ok(Progress::More) => {
                rebuilding.installing = Some(installing);
                Ok(Progress::More)
            }
            Ok(Progress::Done) => {
                installing.close(storage);
                self.events.push(HostEvent::Installed(key));
                self.set(storage, &key, SlotState::Waiting);
                Ok(Progress::Done)
            }
            Err(error) => {
                installing.close(storage);
                self.events.push(HostEvent::InstallFailed { key, error });
                if matches!(error, InstallError::Io(_)) {
                    // It may have failed between two renames, which a start ends.
                    self.set(storage, &key, SlotState::Waiting);
                }
                Err(error)
            }
        }
    }
}

fn begin<S: Storage>(
    storage: &S,
    key: &Key,
    entry: Entry,
    rebuilding: &Rebuilding<S>,
    offer: Offer,
    identity: Option<SuperblockIdentity>,
) -> Result<Installing<S>, HostError> {
    let parent = directory::make_parent(storage, key.namespace).map_err(HostError::Io)?;
    let old = match lock_old(storage, key.namespace) {
        Ok(old) => old,
        Err(error) => {
            storage.close_directory(parent);
            return Err(HostError::Io(error));
        }
    };
    let options = InstallOptions {
        namespace: key.namespace,
        incarnation: key.incarnation,
        durability: entry.durability,
        superblock: identity,
        why: why(&rebuilding.cause),
    };
    let install = Install::new(offer, rebuilding.facts.as_deref(), options);
    Ok(Installing { install, parent, old })
}

fn lock_old<S: Storage>(
    storage: &S,
    namespace: Namespace,
) -> Result<Option<PartitionDirectory<S>>, StorageError> {
    let Some(old) = directory::find(storage, namespace)? else { return Ok(None) };
    match exact::uninterrupted(|| storage.lock(&old.directory, LockMode::Exclusive)) {
        Ok(()) => Ok(Some(old)),
        Err(error) => {
            old.close(storage);
            Err(error)
        }
    }
}

/// One behind the last offset that a verified batch here holds, in the chain or behind damage, or held before it was cut
/// and set aside, or that a mark or the superblock has as durable: what was promised here is not forgotten because all
/// of it is damaged. The superblock goes into the copy, which would be found to lack the same offsets again, for ever.
fn known_end(facts: &PartitionFacts) -> Offset {
    let ends = facts.segments.iter().filter(|segment| segment.proven.batches > 0);
    let survivors = facts.segments.iter().filter_map(|segment| segment.residue.survivors_next_offset);
    let ledger = facts.ledger.known();
    let marked = ledger.into_iter().flat_map(|ledger| &ledger.segments).map(|marks| marks.newest.next_offset);
    let reserved = ledger.map(|ledger| ledger.newest.reserved_offset);
    let frontier = match facts.superblock {
        SuperblockState::Known { offset_frontier, .. } => Some(offset_frontier),
        SuperblockState::None | SuperblockState::Unreadable { .. } | SuperblockState::Mismatch { .. } => None,
    };
    let proven = ends.map(|segment| segment.proven.next_offset);
    proven.chain(survivors).chain(marked).chain(reserved).chain(frontier).max().unwrap_or(Offset::ZERO)
}

fn why(cause: &RebuildCause) -> String {
    match cause {
        RebuildCause::Refused(reason) => format!("it was refused ({}): {reason}", reason.code()),
        RebuildCause::Gap(gap) => format!("offsets from {} on were not in it", gap.first),
        RebuildCause::Unreadable(cause) => format!("a part of it stayed unreadable: {cause}"),
    }
}
