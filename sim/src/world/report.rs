//! What a world came to, as data.

use recovery_core::units::Namespace;

use super::event::Event;
use super::moment::Moment;
use super::told::Told;
use super::varied::Varied;
use crate::oracle::Violation;

/// A violation, and where in the schedule it showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was violated.
    pub violation: Violation,
    /// In which partition, if in one.
    pub partition: Option<Namespace>,
    /// What cannot be said in numbers: the words of a panic.
    pub remark: Option<String>,
    /// What was changed, where it showed in a second look at a start, and not in the start itself.
    pub varied: Option<Box<Varied>>,
    /// The node, counted from 0.
    pub node: u8,
    /// The step, counted from 0.
    pub step: u32,
    /// Where in recovery or in serving it broke (CONTRACTS 1).
    pub recovery_step: &'static str,
}

impl Failure {
    /// What is said of it beside the violation: how it came, where that is not what the schedule asks for, and what
    /// the core says of what the schedule asks for.
    pub fn said(&self) -> Option<String> {
        match (&self.varied, &self.remark) {
            (None, remark) => remark.clone(),
            (Some(varied), None) => Some(varied.to_string()),
            (Some(varied), Some(remark)) => Some(format!("{varied}; the start itself: {remark}")),
        }
    }
}

impl Report {
    /// Its events with their numbers, in the order in which they happened; the digest has them in the order in which
    /// they were recorded.
    pub fn in_order(&self) -> Vec<(u64, &Event)> {
        self.told
            .as_ref()
            .map_or_else(|| (0..).zip(&self.events).collect(), |told| told.in_order(&self.events))
    }
}

/// What a world came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Digest of everything that happened.
    pub digest: u64,
    /// Digest of what a reviewer cares about: verdicts, answers and final bytes.
    pub outcome: u64,
    /// What went wrong, in order.
    pub failures: Vec<Failure>,
    /// The events, if they were kept.
    pub events: Vec<Event>,
    /// What else is told of it, if the events were kept.
    pub told: Option<Told>,
    /// Where it stood in the end, if it was to end behind a step.
    pub moment: Option<Moment>,
}
