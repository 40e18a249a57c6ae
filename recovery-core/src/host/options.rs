//! What a host is told: how partitions are written, and what a new one is to be.

use crate::observe::SuperblockIdentity;
use crate::partition::PartitionOptions;
use crate::units::{Durability, Incarnation, Namespace};

/// How a host works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostOptions {
    /// How partitions are written; mode and incarnation of each come from the metadata log.
    pub partition: PartitionOptions,
    /// Whether a new partition gets a ledger when it is made, and an old one before its first append.
    pub makes_ledgers: bool,
    /// Which cluster and replica this node is, for superblocks; `None` writes none where there is none.
    pub superblock: Option<SuperblockIdentity>,
}

impl HostOptions {
    /// The usual sizes, with ledgers, and no superblock of its own.
    pub const fn new() -> Self {
        Self {
            partition: PartitionOptions::new(Durability::Buffered, None),
            makes_ledgers: true,
            superblock: None,
        }
    }
}

impl Default for HostOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A partition that is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPartition {
    /// Its name.
    pub namespace: Namespace,
    /// Its life: above every incarnation that this name ever had.
    pub incarnation: Incarnation,
    /// On how many nodes; 1 at least.
    pub replicas: u8,
    /// What its writer promises.
    pub durability: Durability,
}
