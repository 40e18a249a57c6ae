//! What a run came to by regime, within its last line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LineError;
use super::totals::{check, verdict};
use crate::run::regime_tally::{RegimeTally, WithoutLedger};

/// One regime.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegimeLine {
    /// Worlds completed.
    pub seeds: u64,
    /// Failing seeds.
    pub failures: u64,
    /// Starts of partitions that were judged.
    pub starts: u64,
    /// Starts of partitions that are written without a ledger.
    pub without_ledger: WithoutLedgerLine,
    /// Starts by disposition or reason.
    pub verdicts: BTreeMap<String, u64>,
    /// Seeds that violated each check, of checks that any violated.
    pub violations_by_invariant: BTreeMap<String, u64>,
}

/// Starts of partitions that are written without a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithoutLedgerLine {
    /// How many.
    pub starts: u64,
    /// How many of them were refused.
    pub refused: u64,
}

impl RegimeLine {
    pub(super) fn of(tally: &RegimeTally) -> Self {
        let WithoutLedger { starts, refused } = tally.without_ledger;
        let words = |(word, count): (&str, &u64)| (word.to_owned(), *count);
        Self {
            seeds: tally.worlds,
            failures: tally.failures,
            starts: tally.starts,
            without_ledger: WithoutLedgerLine { starts, refused },
            verdicts: tally.verdicts.iter().map(|(code, count)| words((code, count))).collect(),
            violations_by_invariant: tally
                .violations
                .iter()
                .map(|(check, count)| words((check.code(), count)))
                .collect(),
        }
    }

    pub(super) fn tally(&self) -> Result<RegimeTally, LineError> {
        let WithoutLedgerLine { starts, refused } = self.without_ledger;
        let verdicts = self.verdicts.iter().map(|(code, count)| Ok((verdict(code)?, *count)));
        let violations = self.violations_by_invariant.iter().map(|(code, count)| Ok((check(code)?, *count)));
        Ok(RegimeTally {
            worlds: self.seeds,
            failures: self.failures,
            starts: self.starts,
            without_ledger: WithoutLedger { starts, refused },
            verdicts: verdicts.collect::<Result<_, LineError>>()?,
            violations: violations.collect::<Result<_, LineError>>()?,
        })
    }
}
