//! How closely a world is watched: nothing of it can change what happens there.

use crate::oracle::sample::Sample;

/// What whoever runs a world wants of it, besides running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Whether the report has every event, and not only their digest.
    pub keeps_events: bool,
    /// Which of the sampled checks are asked.
    pub sample: Sample,
    /// Whether the oracle is told of a promise that nobody made, right before the first start: then its check
    /// must fire. What happens in the world is the same.
    pub plants_promise: bool,
    /// The world ends behind this step, counted from 0, and the report says where it stands then.
    pub until: Option<u32>,
    /// Whether what the nodes leave behind is kept in the arena ([`super::Arena::left`]).
    pub keeps_disks: bool,
}

impl Watch {
    /// What a run of seeds wants: some checks, and nothing kept.
    pub const fn of(sample: Sample) -> Self {
        Self { keeps_events: false, sample, plants_promise: false, until: None, keeps_disks: false }
    }
}
