//! What a fault hits: a batch, an entry, a record, a range of a file, a name.
//!
//! Promises: names only what the schedule itself names, or a place in a file. Leaves out: whether it is
//! there.

use std::borrow::Cow;

use recovery_core::units::{Namespace, SegmentStart};

use super::field::{BatchField, IndexField, LedgerField, SuperblockField};
use super::step::BatchId;
use super::word::words;

words! {
    /// One of the two superblock files.
    Slot, "a superblock slot" {
        /// `superblock.a`.
        A = "a",
        /// `superblock.b`.
        B = "b",
    }
}

words! {
    /// What a file of a partition directory is for, without its segment.
    FileWord, "a file of a partition" {
        /// See [`FileRole::Log`].
        Log = "log",
        /// See [`FileRole::Index`].
        Index = "index",
        /// See [`FileRole::IndexStaging`].
        IndexStaging = "index-staging",
        /// See [`FileRole::Ledger`].
        Ledger = "ledger",
        /// See [`FileRole::LedgerStaging`].
        LedgerStaging = "ledger-staging",
        /// See [`FileRole::Superblock`].
        SuperblockA = "superblock-a",
        /// See [`FileRole::Superblock`].
        SuperblockB = "superblock-b",
        /// See [`FileRole::CopyLog`].
        CopyLog = "copy-log",
        /// See [`FileRole::CopyLedger`].
        CopyLedger = "copy-ledger",
        /// See [`FileRole::Complete`].
        Complete = "complete",
        /// See [`FileRole::Fenced`].
        Fenced = "fenced",
        /// See [`FileRole::MetadataLog`].
        MetadataLog = "metadata-log",
        /// See [`FileRole::Directory`].
        Directory = "directory",
    }
}

/// A file of a partition directory, or beside it, by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileRole {
    /// The log of a segment.
    Log(SegmentStart),
    /// The index of a segment.
    Index(SegmentStart),
    /// The half-made index of a segment.
    IndexStaging(SegmentStart),
    /// The ledger.
    Ledger,
    /// The half-made ledger.
    LedgerStaging,
    /// A superblock.
    Superblock(Slot),
    /// The log of a segment in a copy from a peer that is not in its place yet.
    CopyLog(SegmentStart),
    /// The ledger of such a copy.
    CopyLedger,
    /// The file that says of such a copy that it is complete.
    Complete,
    /// The first copy in the newest fence of the partition.
    Fenced,
    /// The metadata log of the node.
    MetadataLog,
    /// The partition's own directory: no file, but a name that can be lost like one.
    Directory,
}

impl FileRole {
    /// The role without its segment.
    pub const fn word(self) -> FileWord {
        match self {
            Self::Log(_) => FileWord::Log,
            Self::Index(_) => FileWord::Index,
            Self::IndexStaging(_) => FileWord::IndexStaging,
            Self::Ledger => FileWord::Ledger,
            Self::LedgerStaging => FileWord::LedgerStaging,
            Self::Superblock(Slot::A) => FileWord::SuperblockA,
            Self::Superblock(Slot::B) => FileWord::SuperblockB,
            Self::CopyLog(_) => FileWord::CopyLog,
            Self::CopyLedger => FileWord::CopyLedger,
            Self::Complete => FileWord::Complete,
            Self::Fenced => FileWord::Fenced,
            Self::MetadataLog => FileWord::MetadataLog,
            Self::Directory => FileWord::Directory,
        }
    }

    /// The segment, for the files that belong to one.
    pub const fn segment(self) -> Option<SegmentStart> {
        match self {
            Self::Log(segment)
            | Self::Index(segment)
            | Self::IndexStaging(segment)
            | Self::CopyLog(segment) => Some(segment),
            Self::Ledger
            | Self::LedgerStaging
            | Self::Superblock(_)
            | Self::CopyLedger
            | Self::Complete
            | Self::Fenced
            | Self::MetadataLog
            | Self::Directory => None,
        }
    }

    /// Whether it lies in the partition's own directory.
    pub const fn is_inside(self) -> bool {
        match self {
            Self::Log(_)
            | Self::Index(_)
            | Self::IndexStaging(_)
            | Self::Ledger
            | Self::LedgerStaging
            | Self::Superblock(_) => true,
            Self::CopyLog(_)
            | Self::CopyLedger
            | Self::Complete
            | Self::Fenced
            | Self::MetadataLog
            | Self::Directory => false,
        }
    }
}

/// What a fault hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Nothing in particular: the whole node, or just the call that the fault is attached to.
    Any,
    /// A partition.
    Partition(Namespace),
    /// A batch, or one field of it.
    Batch {
        /// Whose.
        partition: Namespace,
        /// Which.
        batch: BatchId,
        /// Where in it; `None` for all of it.
        field: Option<BatchField>,
    },
    /// A segment, log and index.
    Segment {
        /// Whose.
        partition: Namespace,
        /// Which.
        segment: SegmentStart,
    },
    /// An entry of an index, or one field of it.
    IndexEntry {
        /// Whose.
        partition: Namespace,
        /// Of which segment.
        segment: SegmentStart,
        /// Which, counted from 0.
        index: u32,
        /// Where in it; `None` for all of it.
        field: Option<IndexField>,
    },
    /// A record of the ledger, or one field of it.
    LedgerRecord {
        /// Whose.
        partition: Namespace,
        /// Which, counted from 0.
        record: u32,
        /// Where in it; `None` for all of it.
        field: Option<LedgerField>,
    },
    /// A superblock, or one field of it.
    Superblock {
        /// Whose.
        partition: Namespace,
        /// Which.
        slot: Slot,
        /// Where in it; `None` for all of it.
        field: Option<SuperblockField>,
    },
    /// A range of a file.
    File {
        /// Whose.
        partition: Namespace,
        /// Which.
        file: FileRole,
        /// First byte.
        position: u64,
        /// How many bytes; `None` for all that follow.
        length: Option<u64>,
    },
    /// An entry of the partition's directory.
    Name {
        /// Whose directory.
        partition: Namespace,
        /// The entry.
        name: Cow<'static, str>,
    },
}

impl Target {
    /// The partition, if one is named.
    pub const fn partition(&self) -> Option<Namespace> {
        match self {
            Self::Any => None,
            Self::Partition(partition)
            | Self::Batch { partition, .. }
            | Self::Segment { partition, .. }
            | Self::IndexEntry { partition, .. }
            | Self::LedgerRecord { partition, .. }
            | Self::Superblock { partition, .. }
            | Self::File { partition, .. }
            | Self::Name { partition, .. } => Some(*partition),
        }
    }
}

impl Target {
    /// Whether one field is meant, and not all of what it lies in.
    pub const fn names_field(&self) -> bool {
        match self {
            Self::Batch { field, .. } => field.is_some(),
            Self::IndexEntry { field, .. } => field.is_some(),
            Self::LedgerRecord { field, .. } => field.is_some(),
            Self::Superblock { field, .. } => field.is_some(),
            Self::Any | Self::Partition(_) | Self::Segment { .. } | Self::File { .. } | Self::Name { .. } => {
                false
            }
        }
    }
}

/// Where misdirected or copied bytes go. What is `None` is as at the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Destination {
    /// In place of that batch.
    pub batch: Option<BatchId>,
    /// Into that segment.
    pub segment: Option<SegmentStart>,
    /// Into that partition.
    pub partition: Option<Namespace>,
}

impl Destination {
    /// Whether nothing is named.
    pub const fn is_none(&self) -> bool {
        self.batch.is_none() && self.segment.is_none() && self.partition.is_none()
    }
}
