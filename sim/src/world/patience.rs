//! How long a world waits for one recovery.
//!
//! Promises: a recovery that comes to no end is given up, behind more steps than any needs for what lies
//! there. Leaves out: one step that comes to no end by itself, which a person notices.

use crate::oracle::PartitionImage;
use crate::oracle::invariants::{STEPS_SPARE, steps_max};

/// Counts the steps of one recovery.
pub(super) struct Patience {
    steps: u64,
    most: Option<u64>,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self { steps: 0, most: None }
    }

    /// Whether one more step is waited for. `image` is what lies there, asked for once the steps are more
    /// than there are to spare for any partition.
    pub(super) fn waits_for_more(&mut self, image: impl FnOnce() -> PartitionImage) -> bool {
        self.steps += 1;
        if self.steps <= STEPS_SPARE {
            return true;
        }
        // Its own writing does not make it longer: the measure is taken once.
        let most = *self.most.get_or_insert_with(|| steps_max(&image()));
        self.steps <= most
    }

    /// Steps that were asked for, the one included that nobody waited for.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }
}
