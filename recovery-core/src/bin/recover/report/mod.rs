//! What a command found and did, as one value, and its two forms.
//!
//! Promises: the report is made once, from facts and verdict; both forms only read it, so they cannot
//! disagree. Leaves out: any judgement of its own.

mod advice;
mod cause;
mod change;
mod fields;
mod ledger;
mod object;
mod partition_text;
mod segment_text;
mod step;
pub(crate) mod stop_text;

pub(crate) use object::{ErrorObject, PartitionObject};
pub(crate) use partition_text::text;

use recovery_core::decide::{Disposition, Losses, SegmentVerdict, Unacceptable, losses};
use recovery_core::observe::{PartitionFacts, SegmentFacts};

use crate::exit::Exit;
use crate::session::Found;
use crate::target::Target;

/// What a command does with a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Look.
    Check,
    /// Look, and list the steps of a repair.
    Plan,
    /// Repair.
    Apply,
    /// Give up what is lost, and repair.
    AcceptLoss,
    /// Set the ledger aside, and look.
    Adopt,
}

/// How far a plan is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Not at all.
    Planned,
    /// Up to a step that failed.
    Stopped,
    /// To its end.
    Applied,
}

/// One partition, looked at or repaired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report<'a> {
    /// The command.
    pub(crate) mode: Mode,
    /// The partition.
    pub(crate) target: &'a Target,
    /// How many replicas it has.
    pub(crate) replicas: u8,
    /// What the command came to.
    pub(crate) found: &'a Found,
}

impl<'a> Report<'a> {
    /// How the command ends.
    pub(crate) fn exit(&self) -> Exit {
        match self.found.verdict.disposition {
            Disposition::Serve | Disposition::ServeFrom { .. } if !self.repairs() => Exit::Clean,
            Disposition::Serve | Disposition::ServeFrom { .. } => Exit::Repair,
            Disposition::Refuse(_) => Exit::Refused,
            Disposition::Unavailable(_) => Exit::Unavailable,
        }
    }

    /// Whether something was repaired, or is to be.
    fn repairs(&self) -> bool {
        self.found.plan.repairs() || self.found.given_up.is_some()
    }

    /// What the partition has lost, if it is refused for that: ranges of offsets, or none.
    fn lost(&self) -> Option<Losses> {
        let is_refused = matches!(self.found.verdict.disposition, Disposition::Refuse(_));
        match self.facts().filter(|_| is_refused).map(losses) {
            Some(Ok(losses)) => Some(losses),
            Some(Err(Unacceptable::NotRefused | Unacceptable::Undecidable(_))) | None => None,
        }
    }

    /// How far the plan is carried out.
    fn outcome(&self) -> Outcome {
        match self.mode {
            Mode::Check | Mode::Plan | Mode::Adopt => Outcome::Planned,
            Mode::Apply | Mode::AcceptLoss if self.found.failed.is_some() => Outcome::Stopped,
            Mode::Apply | Mode::AcceptLoss => Outcome::Applied,
        }
    }

    /// What was found, if enough could be read to say.
    fn facts(&self) -> Option<&'a PartitionFacts> {
        self.found.facts.as_ref()
    }

    /// The facts of each segment beside its verdict.
    fn segments(&self) -> Vec<(&'a SegmentFacts, &'a SegmentVerdict)> {
        let Some(facts) = self.facts() else { return Vec::new() };
        let verdicts = &self.found.verdict.segments;
        assert!(facts.segments.len() == verdicts.len(), "one verdict a segment");
        facts.segments.iter().zip(verdicts).collect()
    }
}
