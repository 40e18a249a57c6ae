//! Where a read begins: the last index entry at or below an offset.
//!
//! Promises: a number of reads that grows with the logarithm of the index, through 4 KiB of memory. Leaves
//! out: whether the entry is right. The index is derived data without a checksum, so whatever is wrong
//! with it, an error included, costs a scan and nothing else; the batch that it names is compared with it.

use super::ChainSegment;
use crate::format::{FileName, INDEX_ENTRY_BYTES, IndexEntry};
use crate::storage::{Access, PartitionDirectory, Storage, StorageError, exact};
use crate::units::Offset;

const ENTRY: u64 = INDEX_ENTRY_BYTES as u64;

/// Entries that are read at once when so few are left.
const BLOCK_ENTRIES: u64 = 170;

const BLOCK_BYTES: usize = 170 * INDEX_ENTRY_BYTES;

/// The entry to begin at, or `None` to begin at the segment's start.
pub(super) fn entry_at_or_below<S: Storage>(
    storage: &S,
    directory: &PartitionDirectory<S>,
    segment: &ChainSegment,
    from: Offset,
) -> Option<IndexEntry> {
    let name = FileName::index(segment.start);
    let file = exact::uninterrupted(|| storage.open(&directory.directory, &name, Access::Read));
    let Ok(file) = file else { return None };
    let found = search(storage, &file, segment.index_length.get() / ENTRY, from);
    storage.close(file);
    let Ok(Some(entry)) = found else { return None };
    let is_inside = entry.offset >= segment.start.offset() && entry.position < segment.end;
    (is_inside && entry.offset <= from).then_some(entry)
}

fn search<S: Storage>(
    storage: &S,
    file: &S::File,
    entries: u64,
    from: Offset,
) -> Result<Option<IndexEntry>, StorageError> {
    // Entries before `low` are at or below `from`, entries from `high` on above it.
    let (mut low, mut high) = (0, entries);
    let mut best = None;
    let mut block = [0; BLOCK_BYTES];
    // Each pass halves what is left.
    while high - low > BLOCK_ENTRIES {
        let middle = low + (high - low) / 2;
        let Some(entry) = read_entries(storage, file, middle, &mut block[..INDEX_ENTRY_BYTES])?.next() else {
            return Ok(None);
        };
        if entry.offset <= from {
            best = Some(entry);
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let left = usize::try_from(high - low).expect("no more than a block is left");
    let rest = left * INDEX_ENTRY_BYTES;
    let last =
        read_entries(storage, file, low, &mut block[..rest])?.take_while(|entry| entry.offset <= from).last();
    Ok(last.or(best))
}

/// Reads as many entries from number `first` on as fit `block` and are there.
fn read_entries<'a, S: Storage>(
    storage: &S,
    file: &S::File,
    first: u64,
    block: &'a mut [u8],
) -> Result<impl Iterator<Item = IndexEntry> + use<'a, S>, StorageError> {
    let count = exact::read(storage, file, first * ENTRY, block)?;
    let (entries, _) = block[..count].as_chunks::<INDEX_ENTRY_BYTES>();
    Ok(entries.iter().map(IndexEntry::decode))
}
