//! Which states have been met: what goes on alike is gone on with once.
//!
//! Promises: two variants of one step count as one only if everything is alike that what comes next can
//! depend on: the disk, both views and all that is pending, and what was promised to whom. Leaves out: the
//! rest of the schedule, which is one for all variants of a step.

use std::collections::BTreeSet;

/// The states of one step.
#[derive(Debug)]
pub(super) struct States {
    met: BTreeSet<u64>,
    /// Whether states that were met before are gone on with all the same.
    keeps_equal: bool,
    /// States that were met before.
    pub(super) repeated: u64,
}

impl States {
    pub(super) fn new(keeps_equal: bool) -> Self {
        Self { met: BTreeSet::new(), keeps_equal, repeated: 0 }
    }

    /// Whether a state is to be gone on with.
    pub(super) fn is_new(&mut self, state: u64) -> bool {
        let is_new = self.met.insert(state);
        self.repeated += u64::from(!is_new);
        is_new || self.keeps_equal
    }

    /// How many different ones were met.
    pub(super) fn count(&self) -> u64 {
        self.met.len() as u64
    }
}
