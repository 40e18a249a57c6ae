//! Which of two schedules is the simpler one.
//!
//! Fewer steps, then fewer batches, then fewer bytes, then earlier crashes, then the shorter text, then the
//! one that comes first in the alphabet: a number that is smaller, a word that is listed before. The order is
//! total, and below any schedule there are only so many others, so whoever goes down it arrives.

use crate::schedule::{Extent, Schedule, Simpler, print_schedule};

/// The place of a schedule in the order; the lower, the simpler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    extent: Extent,
    text_bytes: usize,
    text: String,
}

/// The rank of a schedule.
pub(super) fn rank(schedule: &Schedule) -> Rank {
    let text = print_schedule("", None, schedule);
    Rank { extent: extent(schedule), text_bytes: text.len(), text }
}

/// How much there is of a schedule.
pub(super) fn extent(schedule: &Schedule) -> Extent {
    let steps: Extent = schedule.steps.iter().map(Simpler::extent).sum();
    let crashes = schedule.steps.iter().enumerate().filter(|(_, step)| step.is_crash());
    let places: u64 = crashes.map(|(at, _)| at as u64).sum();
    Extent { lateness: steps.lateness + places, ..steps }
}
