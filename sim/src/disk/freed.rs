//! The pool of freed blocks: what an unwritten block may show of its last owner (FAULT_MODEL 1.2, fault 9).
//!
//! Promises: old contents stay whole, valid checksums included; which block shows at a place is a function
//! of the place. Leaves out: when a filesystem lets them show.

use super::arena::Run;
use super::directory::DirectoryId;

/// Most blocks that are kept; beyond it the oldest goes.
const BLOCKS_MAX: usize = 128;

/// One freed page.
#[derive(Clone, Copy, Debug)]
struct Freed {
    run: Run,
    home: DirectoryId,
}

/// Freed pages, oldest first until the pool is full.
#[derive(Clone, Debug, Default)]
pub(super) struct FreedPool {
    blocks: Vec<Freed>,
    next: usize,
}

impl FreedPool {
    pub(super) fn reset(&mut self) {
        self.blocks.clear();
        self.next = 0;
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.blocks.clone_from(&other.blocks);
        self.next = other.next;
    }

    /// Takes a page that nobody owns any more.
    pub(super) fn free(&mut self, run: Run, home: DirectoryId) {
        if !run.is_stored() {
            return;
        }
        if self.blocks.len() < BLOCKS_MAX {
            self.blocks.push(Freed { run, home });
        } else {
            self.blocks[self.next] = Freed { run, home };
            self.next = (self.next + 1) % BLOCKS_MAX;
        }
    }

    /// Every freed page and where it was, as far as they are kept.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (Run, DirectoryId)> {
        self.blocks.iter().map(|block| (block.run, block.home))
    }

    /// A page of a file that was in `home` (or in another directory, if `is_foreign`), chosen by `place`.
    pub(super) fn choose(&self, home: DirectoryId, is_foreign: bool, place: u64) -> Option<Run> {
        let fits = |block: &&Freed| (block.home == home) != is_foreign;
        let count = self.blocks.iter().filter(fits).count();
        let nth = usize::try_from(mix(place) % (count.max(1) as u64)).expect("it is below a length");
        self.blocks.iter().filter(fits).nth(nth).map(|block| block.run)
    }
}

/// A well mixed function of a place (the finalizer of `splitmix64`).
pub(super) fn mix(place: u64) -> u64 {
    let mut value = place.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Fills bytes with noise that is a function of the place.
pub(super) fn noise(place: u64, bytes: &mut [u8]) {
    for (at, chunk) in bytes.chunks_mut(8).enumerate() {
        let word = mix(place.wrapping_add(at as u64)).to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
}
