//! One node of a world with hosts: its disk, the real host on it, its link, and how far it has followed.

use recovery_core::host::{Host, HostOptions};
use recovery_core::partition::PartitionOptions;
use recovery_core::units::{Durability, Namespace, Offset};
use recovery_core::wal::Key;

use super::cluster::{Cluster, SLOW_STEPS};
use crate::disk::{DirectoryId, SimDisk};
use crate::oracle::damage::Damages;
use crate::oracle::invariants::Held;
use crate::oracle::truth::Truth;
use crate::schedule::{LinkState, NodeId};
use crate::world::look::OWN_SUPERBLOCK;
use crate::world::node::{Lies, Node, Slot};

/// What a node knows of a partition besides its slot.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "plain facts, each with its own name")]
pub(super) struct Extra {
    /// Whether its deletion was taken: nothing is owed any more.
    pub(super) is_deleted: bool,
    /// Whether an earlier life of it is not removed yet: what lies there is not its own.
    pub(super) is_crowded: bool,
    /// Whether its directory was made, by what the metadata log of its node said when it was last looked at. Before
    /// that, what lies there is half-made, and is made again instead of being judged.
    pub(super) is_made: bool,
    /// Whether a copy beside it that is not in its place yet was damaged, in a log or its ledger.
    pub(super) is_copy_damaged: bool,
    /// A copy that comes from a peer.
    pub(super) installing: Option<Installing>,
    /// What an operator gives up, until the partition is served again.
    pub(super) accepting: Option<Accepting>,
    /// Where offsets go on, once a quorum has told this process of the node that nobody holds those of its gap.
    pub(super) gap_settled: Option<Offset>,
    /// How often in a row nothing could be said of it, since the node came up.
    pub(super) tries: u8,
    /// The directory that was last served of this life.
    pub(super) served_from: Option<DirectoryId>,
    /// What was here when it began to wait for peers.
    pub(super) held: Held,
    /// Whether a fault of any kind was done to it, if only to an index.
    pub(super) had_fault: bool,
    /// Whether damage that no crash explains has hit this life of it at any time.
    pub(super) was_damaged: bool,
}

/// A copy that comes from a peer, or came and is not seen yet.
pub(super) struct Installing {
    /// Who gives it.
    pub(super) from: NodeId,
    /// What was true there when it was offered.
    pub(super) truth: Truth,
    /// The directory that is replaced.
    pub(super) replaces: Option<DirectoryId>,
    /// Whether damage had hit that partition at any time.
    pub(super) was_damaged: bool,
    /// Whether a call of its node had ever said that it did what it did not.
    pub(super) was_lied_to: bool,
    /// Damage to the copy since it has its place.
    pub(super) damages: Damages,
}

/// Offsets that are given up.
pub(super) struct Accepting {
    pub(super) ranges: Vec<(u64, u64)>,
}

/// One node.
pub(super) struct Member {
    pub(super) node: Node,
    /// `None` while it is down.
    pub(super) host: Option<Host<SimDisk>>,
    /// One for each slot.
    pub(super) extras: Vec<Extra>,
    pub(super) link: LinkState,
    /// Commands that have come.
    pub(super) seen: usize,
    /// Commands behind which all creations and deletions were taken.
    pub(super) taken: usize,
    pub(super) has_sync_failed: bool,
    /// Whether a sync has failed at any time: what the cache shows may not be what the medium holds.
    pub(super) had_failed_sync: bool,
    /// Whether a call has ever said that it did what it did not: then nothing is owed of the metadata log.
    pub(super) was_lied_to: bool,
}

impl Member {
    pub(super) fn new(disk: SimDisk, slots: Vec<Slot>) -> Self {
        let extras = slots.iter().map(|_| Extra::default()).collect();
        Self {
            node: Node { disk, slots, is_up: true, is_waiting: false, lies: Lies::default() },
            host: None,
            extras,
            link: LinkState::Up,
            seen: 0,
            taken: 0,
            has_sync_failed: false,
            had_failed_sync: false,
            was_lied_to: false,
        }
    }

    /// A host that has not looked at the disk yet.
    pub(super) fn new_host(&self) -> Host<SimDisk> {
        let makes_ledgers = self.node.slots.iter().all(|slot| slot.header.ledger);
        let has_superblocks = self.node.slots.iter().any(|slot| slot.header.superblock_frontier.is_some());
        let superblock = has_superblocks.then_some(OWN_SUPERBLOCK);
        let mut host = Host::new(HostOptions { makes_ledgers, superblock, ..HostOptions::new() })
            .expect("the usual options pass no limit");
        for slot in &self.node.slots {
            let options = PartitionOptions {
                segment_bytes: slot.options().segment_bytes,
                ..PartitionOptions::new(Durability::Buffered, None)
            };
            host.set_partition_options(slot.header.namespace, options)
                .expect("a schedule's segments are of a size that is allowed");
        }
        host
    }

    pub(super) fn index_of(&self, namespace: Namespace) -> Option<usize> {
        self.node.slots.iter().position(|slot| slot.header.namespace == namespace)
    }

    /// The life of a slot that this node knows.
    pub(super) fn key(&self, index: usize) -> Key {
        let slot = &self.node.slots[index];
        Key { namespace: slot.header.namespace, incarnation: slot.incarnation }
    }

    /// Whether a slot's newest life is served.
    pub(super) fn is_served(&self, index: usize) -> bool {
        let key = self.key(index);
        self.host
            .as_ref()
            .is_some_and(|host| host.newest(key.namespace) == Some(key) && host.is_routed(key.namespace))
    }

    /// Whether a client may be answered: it is served, or the metadata log was lied to, and has brought back a life of it
    /// that is.
    pub(super) fn may_answer(&self, index: usize) -> bool {
        let namespace = self.node.slots[index].header.namespace;
        let is_routed = self.host.as_ref().is_some_and(|host| host.is_routed(namespace));
        self.is_served(index) || (self.was_lied_to && is_routed)
    }

    /// Lets the link carry what it carries by `step`.
    pub(super) fn hear(&mut self, cluster: &Cluster, step: u32) {
        let carried = match self.link {
            LinkState::Up => cluster.len(),
            LinkState::Slow => cluster.carried(step, SLOW_STEPS),
            LinkState::Down => 0,
        };
        self.seen = self.seen.max(carried);
    }

    /// Another life of a partition begins: nothing of the one before is owed.
    pub(super) fn begin_life(&mut self, index: usize, key: Key) {
        let slot = &mut self.node.slots[index];
        slot.incarnation = key.incarnation;
        let is_crowded = self.extras[index].is_crowded;
        self.extras[index] = Extra { is_crowded, ..Extra::default() };
        self.forget(index);
    }

    /// A life of a partition is to go.
    pub(super) fn end_life(&mut self, index: usize) {
        // Its host may still tell how often in a row nothing could be said of it.
        let tries = self.extras[index].tries;
        self.extras[index] = Extra { is_deleted: true, is_crowded: true, tries, ..Extra::default() };
        self.forget(index);
    }

    /// A metadata log that was lied to may have forgotten that a life was made. Then the deletion of the one before takes its
    /// directory, another one is made in its place, and nothing is owed of what lay in the first.
    pub(super) fn forget_what_was_made_anew(&mut self, index: usize, directory: Option<DirectoryId>) {
        let served_from = self.extras[index].served_from;
        if self.was_lied_to && served_from.is_some() && served_from != directory {
            self.forget(index);
        }
    }

    fn forget(&mut self, index: usize) {
        let slot = &mut self.node.slots[index];
        slot.truth.reset(slot.header.first_offset);
        slot.truth.has_ledger = slot.header.ledger;
        slot.failed_sync = None;
        slot.last.reply = None;
    }
}
