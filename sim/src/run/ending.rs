//! How a world ended, for comparing it with one that differs by one fault.

use super::one::Outcome;
use crate::oracle::Check;
use crate::world::Failure;

/// What of a world decides whether another one ended differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Digest of what a reviewer cares about.
    pub outcome: u64,
    /// The first failure's class, if anything failed.
    pub class: Option<FailureClass>,
}

/// Failures of one class have one cause, as far as a machine can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureClass {
    /// The check that fired.
    pub check: Check,
    /// Where in recovery or in serving it broke.
    pub recovery_step: &'static str,
    /// What was expected of, where an expectation of a scenario failed: each is a cause of its own.
    pub expectation: Option<&'static str>,
}

impl Ending {
    /// How a world ended.
    pub fn of(outcome: &Outcome) -> Self {
        Self { outcome: outcome.outcome, class: FailureClass::first(outcome) }
    }
}

impl FailureClass {
    /// The class of a failure.
    pub fn of(failure: &Failure) -> Self {
        let violation = &failure.violation;
        let expectation = (violation.check == Check::Expect).then_some(violation.subject);
        Self { check: violation.check, recovery_step: failure.recovery_step, expectation }
    }

    /// What has happened, in plain words. One check is asked in two ways: of a start alone beside a damaged neighbour,
    /// and of what a host makes of a partition, which breaks outside of any start.
    pub const fn broken(self) -> &'static str {
        match (self.check, self.recovery_step.as_bytes()) {
            (Check::I21, b"boot") => "what a host makes of a partition is not what its start alone comes to",
            (check, _) => check.broken(),
        }
    }

    /// The class of a world's first failure.
    pub fn first(outcome: &Outcome) -> Option<Self> {
        outcome.failures.first().map(Self::of)
    }

    /// Whether a world failed in this way, among others.
    pub fn is_in(self, outcome: &Outcome) -> bool {
        outcome.failures.iter().any(|failure| Self::of(failure) == self)
    }
}
