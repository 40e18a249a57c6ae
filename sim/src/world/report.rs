//! What a world came to, as data.

use recovery_core::units::Namespace;

use super::event::Event;
use super::moment::Moment;
use super::told::Told;
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
    /// The node, counted from 0.
    pub node: u8,
    /// The step, counted from 0.
    pub step: u32,
    /// Where in recovery or in serving it broke (CONTRACTS 1).
    pub recovery_step: &'static str,
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
