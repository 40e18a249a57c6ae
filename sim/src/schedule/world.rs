//! The header of a schedule: what the world is like before its first step.
//!
//! Promises: plain data with the defaults of the language. Leaves out: anything that runs.

use recovery_core::units::{Durability, Namespace, Offset};

use super::step::NodeId;
use super::word::words;

/// Largest read window of the core in bytes, and the default of a header that names none.
pub const WINDOW_BYTES_DEFAULT: u32 = 4 * 1024 * 1024;

/// Smallest read window that the core accepts, in bytes.
pub const WINDOW_BYTES_MIN: u32 = 512;

/// Bytes of a sector when a header names none.
pub const SECTOR_BYTES_DEFAULT: u32 = 512;

/// Bytes of a page when a header names none.
pub const PAGE_BYTES_DEFAULT: u32 = 4096;

/// Bytes at which a partition rolls to a new segment when a header names none.
pub const SEGMENT_BYTES_DEFAULT: u64 = 1024 * 1024;

words! {
    /// A crash model: what may survive, and what a failed sync leaves behind (FAULT_MODEL 2.5 and 2.6).
    Filesystem, "a filesystem" {
        /// ext4, `data=ordered`.
        Ext4Ordered = "ext4-ordered",
        /// ext4, `data=writeback`: stale blocks may show.
        Ext4Writeback = "ext4-writeback",
        /// ext4, `data=journal`: everything in order, failed syncs reported late.
        Ext4Journal = "ext4-journal",
        /// XFS.
        Xfs = "xfs",
        /// Btrfs: copy on write, checksummed data.
        Btrfs = "btrfs",
        /// POSIX and nothing more: no order but that of successful syncs.
        Adversarial = "adversarial",
    }
}

words! {
    /// What may happen in a world, and so what its oracle may demand.
    Regime, "a regime" {
        /// Only what a correct disk and a crash may do, and errors that calls report.
        Legal = "legal",
        /// Anything.
        Unlimited = "unlimited",
    }
}

/// What a world is like before its first step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldHeader {
    /// The crash model of every node's disk.
    pub filesystem: Filesystem,
    /// What may happen.
    pub regime: Regime,
    /// How many nodes there are, at least 1. All are up before the first step.
    pub nodes: u8,
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// Bytes of a page, a multiple of the sector.
    pub page_bytes: u32,
    /// Bytes of the core's read window.
    pub window_bytes: u32,
    /// The partitions, in the order they were made.
    pub partitions: Vec<PartitionHeader>,
    /// Directories that nodes start with; a node that is not named starts with an empty disk.
    pub images: Vec<Image>,
}

impl WorldHeader {
    /// A world of one node and no partition, with every other property at its default.
    pub const fn new(filesystem: Filesystem, regime: Regime) -> Self {
        Self {
            filesystem,
            regime,
            nodes: 1,
            sector_bytes: SECTOR_BYTES_DEFAULT,
            page_bytes: PAGE_BYTES_DEFAULT,
            window_bytes: WINDOW_BYTES_DEFAULT,
            partitions: Vec::new(),
            images: Vec::new(),
        }
    }

    /// The place of a partition in [`WorldHeader::partitions`], or `None` if it is not of this world.
    pub fn index_of(&self, namespace: Namespace) -> Option<usize> {
        self.partitions.iter().position(|partition| partition.namespace == namespace)
    }
}

/// One partition and how its writer behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionHeader {
    /// Which partition.
    pub namespace: Namespace,
    /// What its writer promises before it acknowledges.
    pub durability: Durability,
    /// Whether its writer keeps a ledger. Without one the directory is as another server leaves it.
    pub ledger: bool,
    /// The offset of its first message, and the start of its first segment.
    pub first_offset: Offset,
    /// Bytes at which its writer rolls to a new segment.
    pub segment_bytes: u64,
    /// The frontier in slot a of a superblock that lies there from the start; `None` for no superblock.
    pub superblock_frontier: Option<Offset>,
}

impl PartitionHeader {
    /// A buffered partition with a ledger and every other property at its default.
    pub const fn new(namespace: Namespace) -> Self {
        Self {
            namespace,
            durability: Durability::Buffered,
            ledger: true,
            first_offset: Offset::ZERO,
            segment_bytes: SEGMENT_BYTES_DEFAULT,
            superblock_frontier: None,
        }
    }
}

/// A real directory that a node's disk starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its path, relative to the file that names it.
    pub directory: String,
    /// Whose disk.
    pub node: NodeId,
}
