//! The copies that recovery set aside, read back from their names (CONTRACTS 2).
//!
//! Promises: a copy counts only if it holds what its name says, and is no other name of a file that still
//! lies in the partition, and changes with it. The names are read with code of our own.
//! Leaves out: what else lies in a fence.

use recovery_core::storage::Name;
use xxhash_rust::xxh3::xxh3_64;

use super::{Content, PartitionImage};

/// Bytes of one file, set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FenceCopy<'a> {
    file: &'a [u8],
    position: u64,
    bytes: &'a [u8],
}

/// Every copy in every fence of a partition.
pub fn copies(image: &PartitionImage) -> Vec<FenceCopy<'_>> {
    let entries = image.fences.iter().flat_map(|fence| &fence.image.entries);
    entries
        .filter_map(|entry| match &entry.content {
            Content::File(file) if !image.directory.holds(file) => read(&entry.name, &file.bytes),
            Content::File(_) | Content::Unopenable | Content::Directory | Content::Other => None,
        })
        .collect()
}

impl FenceCopy<'_> {
    /// Whether these are bytes of `file`.
    pub fn is_of(&self, file: &Name) -> bool {
        // The ledger is one a directory, and its copies carry digits like every other file's.
        let is_ledger = file.as_bytes() == b"ledger" && self.file == b"00000000000000000000.ledger";
        self.file == file.as_bytes() || is_ledger
    }

    /// The byte that its file had at `position`, if this copy holds it.
    pub fn byte(&self, position: u64) -> Option<u8> {
        let at = usize::try_from(position.checked_sub(self.position)?).expect("a copy lies in memory");
        self.bytes.get(at).copied()
    }
}

/// Reads `<file>.<position>-<length>.<xxh3 of the bytes>`.
fn read<'a>(name: &'a Name, bytes: &'a [u8]) -> Option<FenceCopy<'a>> {
    let mut parts = name.as_bytes().rsplitn(3, |byte| *byte == b'.');
    let (checksum, range, file) = (parts.next()?, parts.next()?, parts.next()?);
    let mut numbers = range.splitn(2, |byte| *byte == b'-');
    let (position, length) = (decimal(numbers.next()?)?, decimal(numbers.next()?)?);
    let holds_it = length == bytes.len() as u64 && checksum == format!("{:016x}", xxh3_64(bytes)).as_bytes();
    holds_it.then_some(FenceCopy { file, position, bytes })
}

fn decimal(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
