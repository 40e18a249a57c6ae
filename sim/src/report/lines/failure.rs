//! A failing seed as a line.

use serde::{Deserialize, Serialize};

use super::{VERSION, digest};
use crate::report::timeline::sentence;
use crate::run::difference::Difference;
use crate::run::session::FailedSeed;
use crate::world::Failure;

/// `failure`, and whatever else tells of a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureLine {
    /// Of the line.
    pub version: u32,
    /// The word that replays it.
    pub token: Option<String>,
    /// Its seed.
    pub seed: Option<u64>,
    /// Digest of its world.
    pub digest: Option<String>,
    /// Its group.
    pub group: Option<String>,
    /// Whether that was known before.
    pub known: bool,
    /// The check that fired.
    pub check: String,
    /// In which step of the schedule, from 0.
    pub step: u32,
    /// Where in recovery or serving.
    pub recovery_step: String,
    /// On which node.
    pub node: u32,
    /// In which partition.
    pub partition: Option<String>,
    /// In which segment.
    pub segment: Option<u64>,
    /// At which bytes: `[first, end)`.
    pub range: Option<[u64; 2]>,
    /// What should be.
    pub expected: String,
    /// What is.
    pub actual: String,
    /// Both, in words.
    pub sentence: String,
    /// What the core said, or the words of a panic.
    pub remark: Option<String>,
    /// Fault kinds without one of which it would not be there.
    pub faults: Vec<String>,
    /// The saved schedule.
    pub file: Option<String>,
    /// Where a second run parted from the first.
    pub difference: Option<DifferenceLine>,
}

/// Where two runs part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferenceLine {
    /// Number of the record, from 0.
    pub record: usize,
    /// What the first run says there; null: it had ended.
    pub first: Option<String>,
    /// What the second one says.
    pub second: Option<String>,
}

impl FailureLine {
    /// What is known of a failure whoever tells of it.
    #[must_use]
    pub fn of(failure: &Failure) -> Self {
        let violation = &failure.violation;
        Self {
            version: VERSION,
            token: None,
            seed: None,
            digest: None,
            group: None,
            known: false,
            check: violation.check.code().to_owned(),
            step: failure.step,
            recovery_step: failure.recovery_step.to_owned(),
            node: failure.node.into(),
            partition: failure.partition.map(|namespace| namespace.to_string()),
            segment: violation.segment.map(recovery_core::units::SegmentStart::get),
            range: violation.range.as_ref().map(|range| [range.start, range.end]),
            expected: violation.expected.to_string(),
            actual: violation.actual.to_string(),
            sentence: violation.to_string(),
            remark: failure.said(),
            faults: Vec::new(),
            file: None,
            difference: None,
        }
    }

    /// A failing seed.
    #[must_use]
    pub fn of_seed(failed: &FailedSeed<'_>) -> Self {
        Self {
            token: failed.token.map(|token| token.to_string()),
            seed: failed.token.map(|token| token.seed),
            digest: Some(digest(failed.digest)),
            group: Some(failed.group.to_owned()),
            known: failed.is_known,
            faults: failed.faults.iter().map(|&kind| kind.to_owned()).collect(),
            difference: failed.difference.map(DifferenceLine::from),
            ..Self::of(failed.failure)
        }
    }
}

impl From<Difference> for DifferenceLine {
    fn from(difference: Difference) -> Self {
        Self {
            record: difference.at,
            first: difference.first.map(|event| sentence(&event, None)),
            second: difference.second.map(|event| sentence(&event, None)),
        }
    }
}
