//! What one life of one partition is on this node: one state at a time.
//!
//! Promises: only [`SlotState::Served`] can be written or read; a state holds what it needs open and nothing
//! else. Leaves out: how one state follows another.

use super::rebuilding::Rebuilding;
use super::statistics::MessageCounts;
use super::superblock::SuperblockWriter;
use super::teardown::Teardown;
use crate::decide::Reason;
use crate::observe::Unavailable;
use crate::partition::{OpenError, Reader, Writer};
use crate::recovery::Recovery;
use crate::storage::{PartitionDirectory, Storage, StorageError};
use crate::units::Offset;
use crate::wal::Entry;

/// One life of one partition.
pub(super) struct Slot<S: Storage> {
    /// What the metadata log says of it.
    pub(super) entry: Entry,
    /// How often in a row a range of a log could not be read.
    pub(super) unreadable: u8,
    /// Where offsets go on behind a gap of which a quorum has said that nobody holds it.
    pub(super) gap_settled: Option<Offset>,
    pub(super) state: SlotState<S>,
}

impl<S: Storage> Slot<S> {
    pub(super) const fn new(entry: Entry, state: SlotState<S>) -> Self {
        Self { entry, unreadable: 0, gap_settled: None, state }
    }
}

/// What is remembered of one life of a partition besides its state, until the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    /// How often in a row a range of a log could not be read, up to [`super::UNREADABLE_TRIES`].
    pub unreadable: u8,
    /// Where offsets go on behind a gap of which a quorum has said that nobody holds it.
    pub gap_settled: Option<Offset>,
}

/// What it is.
pub(super) enum SlotState<S: Storage> {
    /// Its directory is to be made.
    Created,
    /// Its directory is to be judged.
    Waiting,
    /// Its directory is being judged.
    Recovering(Box<Recovering<S>>),
    /// It is written and read.
    Served(Box<Served<S>>),
    /// A tombstone: its files lie where they lay.
    Refused(Box<Reason>),
    /// Nothing can be said now.
    Unavailable(Cause),
    /// What lies here is not all, and peers are asked.
    Rebuilding(Box<Rebuilding<S>>),
    /// It is being removed.
    Deleting(Box<Teardown<S>>),
}

/// A partition that is being judged.
pub(super) struct Recovering<S: Storage> {
    /// Locked.
    pub(super) directory: PartitionDirectory<S>,
    pub(super) recovery: Recovery<S>,
}

/// A partition that is served.
pub(super) struct Served<S: Storage> {
    pub(super) writer: Writer<S>,
    pub(super) reader: Reader,
    pub(super) counts: MessageCounts,
    pub(super) superblock: Option<SuperblockWriter>,
}

impl<S: Storage> Served<S> {
    /// Does something that may acknowledge what was appended, and counts it if it has, whatever came of the rest: a roll
    /// or a stop may fail in front of that or behind it.
    pub(super) fn acknowledging<T>(&mut self, work: impl FnOnce(&mut Writer<S>) -> T) -> T {
        let before = self.writer.chain().next_offset();
        let done = work(&mut self.writer);
        if self.writer.chain().next_offset() != before {
            self.counts.acknowledge(self.writer.chain());
        }
        done
    }
}

/// Why nothing can be said of a partition now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Somebody else holds its lock.
    Locked,
    /// A storage call failed.
    Io(StorageError),
    /// The writer found something else than recovery left.
    Open(OpenError),
    /// A sync failed while it was written: what is durable is looked up by the next recovery.
    Poisoned(StorageError),
    /// A new partition is to be made, and its directory is there and holds what is not its own.
    Occupied,
}

impl Cause {
    /// The permanent code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Io(_) => "io",
            Self::Open(error) => error.code(),
            Self::Poisoned(_) => "poisoned",
            Self::Occupied => "occupied",
        }
    }
}

impl From<Unavailable> for Cause {
    fn from(unavailable: Unavailable) -> Self {
        match unavailable {
            Unavailable::Locked => Self::Locked,
            Unavailable::Io(error) => Self::Io(error),
        }
    }
}

impl From<StorageError> for Cause {
    fn from(error: StorageError) -> Self {
        Self::Io(error)
    }
}

/// The state of a partition, as a caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartitionState {
    /// It is to be made.
    Created,
    /// It is being judged, or waits for it.
    Recovering,
    /// It is written and read.
    Served,
    /// A tombstone.
    Refused,
    /// Nothing can be said now.
    Unavailable,
    /// Peers are asked for what is not here.
    Rebuilding,
    /// It is being removed.
    Deleting,
}

impl PartitionState {
    /// The permanent word.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Recovering => "recovering",
            Self::Served => "served",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::Rebuilding => "rebuilding",
            Self::Deleting => "deleting",
        }
    }
}

impl<S: Storage> SlotState<S> {
    pub(super) const fn summary(&self) -> PartitionState {
        match self {
            Self::Created => PartitionState::Created,
            Self::Waiting | Self::Recovering(_) => PartitionState::Recovering,
            Self::Served(_) => PartitionState::Served,
            Self::Refused(_) => PartitionState::Refused,
            Self::Unavailable(_) => PartitionState::Unavailable,
            Self::Rebuilding(_) => PartitionState::Rebuilding,
            Self::Deleting(_) => PartitionState::Deleting,
        }
    }

    /// Closes what it holds open.
    pub(super) fn close(self, storage: &S) {
        match self {
            Self::Recovering(mut recovering) => {
                recovering.recovery.close(storage);
                recovering.directory.close(storage);
            }
            Self::Served(served) => served.writer.close(storage).close(storage),
            Self::Deleting(mut teardown) => teardown.close(storage),
            Self::Rebuilding(mut rebuilding) => {
                if let Some(installing) = rebuilding.installing.take() {
                    installing.close(storage);
                }
            }
            Self::Created | Self::Waiting | Self::Refused(_) | Self::Unavailable(_) => {}
        }
    }
}
