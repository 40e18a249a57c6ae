//! One node: its disk, and what it does with each of its partitions.
//!
//! Where a schedule needs no host, a partition is served or it is not, and the world itself stands in for a
//! server's tables. In a world with hosts ([`super::host`]) the service of every slot stays down: what is
//! served the host knows.

use recovery_core::decide::ReasonCode;
use recovery_core::format::partition_components;
use recovery_core::partition::{PartitionOptions, Writer};
use recovery_core::storage::Name;
use recovery_core::units::{Incarnation, Length};

use super::expect::Last;
use crate::disk::{Disturbance, SimDisk};
use crate::oracle::invariants::FailedSync;
use crate::oracle::truth::Truth;
use crate::schedule::{PartitionHeader, Times};

/// The first life of every partition, and the only one where none is deleted.
pub(super) const INCARNATION: Incarnation = Incarnation::new(1);

/// What a node does with a partition.
pub(super) enum Service {
    /// The node is down.
    Down,
    /// It is served.
    Serving(Box<Writer<SimDisk>>),
    /// It was refused at the last start.
    Refused(ReasonCode),
    /// Nothing can be said of it now.
    Unavailable,
}

/// One partition of a node.
pub(super) struct Slot {
    pub(super) header: PartitionHeader,
    pub(super) components: [Name; 6],
    /// Which life of the partition this is.
    pub(super) incarnation: Incarnation,
    pub(super) service: Service,
    pub(super) truth: Truth,
    /// What a scenario may ask about it.
    pub(super) last: Last,
    /// What was known when a sync of it failed, until its next start.
    pub(super) failed_sync: Option<FailedSync>,
}

impl Slot {
    pub(super) fn new(header: PartitionHeader) -> Self {
        Self::telling(header, Truth::default())
    }

    /// The same, in the memory of a truth that is told no more.
    pub(super) fn telling(header: PartitionHeader, mut truth: Truth) -> Self {
        truth.reset(header.first_offset);
        truth.has_ledger = header.ledger;
        if let Some(frontier) = header.superblock_frontier {
            truth.may_go_on_at(frontier);
        }
        Self {
            header,
            components: partition_components(header.namespace),
            incarnation: INCARNATION,
            service: Service::Down,
            truth,
            last: Last::default(),
            failed_sync: None,
        }
    }

    /// How the partition's writer is opened.
    pub(super) fn options(&self) -> PartitionOptions {
        let new_ledger = self.header.ledger.then_some(self.incarnation);
        PartitionOptions {
            segment_bytes: Length::new(self.header.segment_bytes),
            ..PartitionOptions::new(self.header.durability, new_ledger)
        }
    }
}

/// What faults do that calls do not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lies {
    /// Reads return what does not lie there.
    pub(super) reads: bool,
    /// Writes or syncs succeed that did not.
    pub(super) successes: bool,
    /// Looking twice does not help: reads lie more than once.
    pub(super) lasts: bool,
}

impl Lies {
    /// Adds what one fault does.
    pub(super) fn add(&mut self, disturbance: &Disturbance, times: Times) {
        self.successes |= disturbance.hides_a_failure();
        let repeats = times != Times::Count(1) || self.reads;
        self.lasts |= disturbance.changes_reads() && repeats;
        self.reads |= disturbance.changes_reads();
    }
}

/// One node of a world.
pub(super) struct Node {
    pub(super) disk: SimDisk,
    pub(super) slots: Vec<Slot>,
    pub(super) is_up: bool,
    /// Whether a fault lies in wait.
    pub(super) is_waiting: bool,
    /// What standing faults do that calls do not say.
    pub(super) lies: Lies,
}
