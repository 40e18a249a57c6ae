//! Names as small numbers.
//!
//! Promises: a name has one id for as long as the table is not reset, and an id never changes its name.
//! Leaves out: which directory a name is in.

use std::cell::Cell;

use hashbrown::HashTable;
use recovery_core::storage::Name;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NameId(u32);

/// Every name that was ever given to something on this disk.
#[derive(Clone, Debug, Default)]
pub(super) struct NameTable {
    ids: HashTable<NameId>,
    ends: Vec<u32>,
    bytes: Vec<u8>,
    /// The last one that was found, and its hash: what a call looks up, it looks up again for its event.
    found: Cell<Option<(u64, NameId)>>,
}

impl NameTable {
    pub(super) fn reset(&mut self) {
        self.ids.clear();
        self.found.set(None);
        self.ends.clear();
        self.bytes.clear();
    }

    /// The id of a name that is in the table.
    pub(super) fn find(&self, name: &[u8]) -> Option<NameId> {
        self.find_hashed(hash_of(name), name)
    }

    fn find_hashed(&self, hash: u64, name: &[u8]) -> Option<NameId> {
        let is_name = |id: &NameId| self.bytes_of(*id) == name;
        if let Some((_, id)) = self.found.get().filter(|(other, id)| *other == hash && is_name(id)) {
            return Some(id);
        }
        let id = self.ids.find(hash, is_name).copied()?;
        self.found.set(Some((hash, id)));
        Some(id)
    }

    /// The id of a name, which is put into the table if it is new.
    pub(super) fn intern(&mut self, name: &[u8]) -> NameId {
        let hash = hash_of(name);
        if let Some(id) = self.find_hashed(hash, name) {
            return id;
        }
        let id = NameId(u32::try_from(self.ends.len()).expect("a disk has under 2^32 names"));
        self.bytes.extend_from_slice(name);
        self.ends.push(u32::try_from(self.bytes.len()).expect("all names together are short"));
        let Self { ids, ends, bytes, .. } = self;
        ids.insert_unique(hash, id, |id| hash_of(bytes_of(ends, bytes, *id)));
        id
    }

    /// The id with a number, if a name has it.
    pub(super) fn numbered(&self, number: u64) -> Option<NameId> {
        u32::try_from(number).ok().filter(|at| (*at as usize) < self.ends.len()).map(NameId)
    }

    /// The bytes of a name.
    pub(super) fn bytes_of(&self, id: NameId) -> &[u8] {
        bytes_of(&self.ends, &self.bytes, id)
    }

    /// The name itself. Slow: for errors, listings and reports.
    pub(super) fn name_of(&self, id: NameId) -> Name {
        Name::new(self.bytes_of(id)).expect("only names are interned")
    }

    /// Takes over another table without giving memory back.
    pub(super) fn copy_from(&mut self, other: &Self) {
        // Most steps name nothing new, and the same names in the same order have the same ids.
        if self.ends == other.ends && self.bytes == other.bytes {
            return;
        }
        self.ids.clone_from(&other.ids);
        self.found.set(None);
        self.ends.clone_from(&other.ends);
        self.bytes.clone_from(&other.bytes);
    }
}

fn bytes_of<'a>(ends: &[u32], bytes: &'a [u8], id: NameId) -> &'a [u8] {
    let at = id.0 as usize;
    let start = if at == 0 { 0 } else { ends[at - 1] as usize };
    &bytes[start..ends[at] as usize]
}

/// A hash of a short name, word by word: names of one disk are few and nobody chooses them to collide.
fn hash_of(name: &[u8]) -> u64 {
    /// An odd number without a pattern: the golden ratio's fraction in 64 bits.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| {
        let product = (hash ^ word).wrapping_mul(SPREAD);
        product ^ product >> 32
    };
    let (words, rest) = name.as_chunks::<8>();
    let hash = words.iter().fold(name.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    match name.last_chunk::<8>() {
        // Some of its bytes are in the word before, too.
        Some(last) => mix(hash, u64::from_le_bytes(*last)),
        None => rest.iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte))),
    }
}

impl NameId {
    /// The bare number, for events and digests.
    pub(super) const fn number(self) -> u32 {
        self.0
    }
}
