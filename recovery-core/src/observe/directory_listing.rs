//! What lies in a partition directory, by name alone.

use super::{Listing, OtherEntry};
use crate::format::{FileName, SuperblockSlot};
use crate::storage::{EntryKind, Name, PartitionDirectory, Storage, StorageError, exact};
use crate::units::SegmentStart;

/// The names of a partition directory, sorted into what they mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) listing: Listing,
    /// Segments whose index lies beside their log, ascending.
    pub(crate) indexes: Vec<SegmentStart>,
    pub(crate) has_ledger: bool,
    pub(crate) superblocks: Vec<SuperblockSlot>,
}

impl Names {
    /// Lists the directory. The order in which storage names the entries changes nothing.
    ///
    /// # Errors
    ///
    /// As [`Storage::list`].
    pub(crate) fn read<S: Storage>(
        storage: &S,
        partition: &PartitionDirectory<S>,
    ) -> Result<Self, StorageError> {
        // A listing that is interrupted starts again from nothing.
        exact::uninterrupted(|| {
            let mut names = Self::default();
            let mut beside = Vec::new();
            storage.list(&partition.directory, &mut |name, kind| names.note(name, kind, &mut beside))?;
            names.sort(&beside);
            Ok(names)
        })
    }

    fn note(&mut self, name: &Name, kind: EntryKind, beside: &mut Vec<(SegmentStart, OtherEntry)>) {
        let entry = OtherEntry { name: *name, kind };
        let is_file = kind == EntryKind::File;
        match FileName::classify(name) {
            FileName::Log(start) if is_file => self.listing.segments.push(start),
            FileName::Index(start) => beside.push((start, entry)),
            FileName::StrayIndex | FileName::Staging if is_file => self.listing.scratch.push(*name),
            FileName::Staging => match FileName::staged_index(name) {
                Some(start) => beside.push((start, entry)),
                None if *name == FileName::ledger_staging() => self.listing.unexpected.push(entry),
                None => self.listing.others.push(entry),
            },
            FileName::Ledger if is_file => self.has_ledger = true,
            FileName::Superblock(slot) if is_file => self.superblocks.push(slot),
            FileName::Log(_) | FileName::StrayLog | FileName::Ledger | FileName::Superblock(_) => {
                self.listing.unexpected.push(entry);
            }
            FileName::StrayIndex | FileName::Other => self.listing.others.push(entry),
        }
    }

    /// `beside` holds indexes whatever they are, and what has a staged index's name and is no file.
    fn sort(&mut self, beside: &[(SegmentStart, OtherEntry)]) {
        self.listing.segments.sort_unstable();
        for (start, entry) in beside {
            let has_log = self.listing.segments.binary_search(start).is_ok();
            match (has_log, entry.kind) {
                (true, EntryKind::File) => self.indexes.push(*start),
                // Recovery would need the name, and cannot open, copy or replace what has it.
                (true, EntryKind::Directory | EntryKind::Other) => self.listing.unexpected.push(*entry),
                (false, EntryKind::File) => self.listing.scratch.push(entry.name),
                (false, EntryKind::Directory | EntryKind::Other) => self.listing.others.push(*entry),
            }
        }
        self.indexes.sort_unstable();
        self.superblocks.sort_unstable();
        self.listing.scratch.sort_unstable();
        self.listing.unexpected.sort_unstable_by_key(|entry| entry.name);
        self.listing.others.sort_unstable_by_key(|entry| entry.name);
    }
}
