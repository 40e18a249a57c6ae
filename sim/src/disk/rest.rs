//! What a disk keeps between worlds: no list that only one large step needed.
//!
//! glibc takes a large piece of memory straight from the kernel, and gives it back there. But the first time that one
//! of 128 KiB or more is freed it takes all up to that size for everyday pieces, which lie in its heaps, and its heaps
//! fall apart over hundreds of thousands of worlds. So lists are made smaller than that before anybody frees them; to
//! make a large piece smaller is no free. Promises: nothing of a disk changes but how much memory it holds.

use super::SimDisk;
use super::snapshot::Snapshot;
use super::state::Disk;

/// The most bytes that a list keeps from world to world.
const KEPT_BYTES: usize = 96 << 10;

/// Lets go of the room of a list that only a large step needed.
pub fn keep_small<T>(list: &mut Vec<T>) {
    list.shrink_to(KEPT_BYTES / size_of::<T>());
}

impl SimDisk {
    /// Lets go of the room that only large steps needed.
    pub fn rest(&self) {
        let Disk { state, events, strikes, .. } = &mut *self.disk.borrow_mut();
        keep_small(events);
        keep_small(strikes);
        state.rest();
    }
}

impl Snapshot {
    /// Lets go of the room that only large steps needed.
    pub fn rest(&mut self) {
        self.state.rest();
    }
}
