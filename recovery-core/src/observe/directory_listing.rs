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
            let mut orphans = Vec::new();
            storage.list(&partition.directory, &mut |name, kind| names.note(name, kind, &mut orphans))?;
            names.sort(&orphans);
            Ok(names)
        })
    }

    fn note(&mut self, name: &Name, kind: EntryKind, indexes: &mut Vec<(SegmentStart, OtherEntry)>) {
        let entry = OtherEntry { name: *name, kind };
        let is_file = kind == EntryKind::File;
        match FileName::classify(name) {
            FileName::Log(start) if is_file => self.listing.segments.push(start),
            FileName::Log(_) | FileName::StrayLog => self.listing.unexpected.push(entry),
            FileName::Index(start) => indexes.push((start, entry)),
            FileName::StrayIndex | FileName::Staging if is_file => self.listing.scratch.push(*name),
            FileName::Ledger => self.has_ledger = true,
            FileName::Superblock(slot) => self.superblocks.push(slot),
            FileName::StrayIndex | FileName::Staging | FileName::Other => {
                self.listing.others.push(entry);
            }
        }
    }

    fn sort(&mut self, indexes: &[(SegmentStart, OtherEntry)]) {
        self.listing.segments.sort_unstable();
        for (start, entry) in indexes {
            // Beside its log an index is opened whatever it is: one that is no file is an error there.
            if self.listing.segments.binary_search(start).is_ok() {
                self.indexes.push(*start);
            } else if entry.kind == EntryKind::File {
                self.listing.scratch.push(entry.name);
            } else {
                self.listing.others.push(*entry);
            }
        }
        self.indexes.sort_unstable();
        self.superblocks.sort_unstable();
        self.listing.scratch.sort_unstable();
        self.listing.unexpected.sort_unstable_by_key(|entry| entry.name);
        self.listing.others.sort_unstable_by_key(|entry| entry.name);
    }
}
