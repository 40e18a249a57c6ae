//! The lines of a run as data: what `run.jsonl` and `--json` hold, written and read back (CONTRACTS 4).
//!
//! Promises: what is written here reads back as the same value, so that a run can be resumed and shards be
//! merged; a field that an older line lacks has an honest default. Leaves out: the lines of other commands,
//! which nobody reads back ([`super::json`]).

mod failure;
mod part;
mod read;
mod regime;
mod started;
mod totals;

use serde::{Deserialize, Serialize};

pub use failure::{DifferenceLine, FailureLine};
pub use part::{NotRunLine, PartLine};
pub use read::{LineError, Section, read_sections};
pub use regime::{RegimeLine, WithoutLedgerLine};
pub use started::{LimitsLine, ShardLine, StartedLine, WorldLine};
pub use totals::{
    DeterminismLine, PlantedLine, ReachLine, ScenariosLine, SummaryLine, TriedLine, reach_lines, summary_of,
};

/// Version of every line.
pub const VERSION: u32 = 1;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Line {
    /// How a run begins.
    RunStarted(StartedLine),
    /// The failure that is planted in every run, as it was found.
    Planted(FailureLine),
    /// A failing seed.
    Failure(FailureLine),
    /// How far a run came with one word.
    Reach(ReachLine),
    /// How a run ends.
    RunSummary(SummaryLine),
}

impl Line {
    /// The line, without its end.
    ///
    /// # Panics
    ///
    /// Never: every field of a line can be written.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("every field of a line is a value of JSON")
    }
}

/// A digest as JSON spells it.
pub(super) fn digest(value: u64) -> String {
    format!("{value:016x}")
}
