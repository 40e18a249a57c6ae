//! What the worlds of one regime came to: a clean crash and unlimited damage owe different things, so their
//! results are told apart (CONTRACTS 6).

use std::collections::BTreeMap;

use crate::oracle::Check;

/// Starts of partitions that are written without a ledger: of these a clean crash may be refused, and the
/// rate is what I13 leaves to be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WithoutLedger {
    /// How many.
    pub starts: u64,
    /// How many of them were refused.
    pub refused: u64,
}

impl WithoutLedger {
    /// Adds others to these.
    pub fn add(&mut self, other: Self) {
        self.starts += other.starts;
        self.refused += other.refused;
    }
}

/// Counts of one regime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegimeTally {
    /// Worlds completed.
    pub worlds: u64,
    /// Worlds in which a check was violated.
    pub failures: u64,
    /// Starts of partitions.
    pub starts: u64,
    /// Those among them without a ledger.
    pub without_ledger: WithoutLedger,
    /// Starts by disposition, or by reason code where refused.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// Worlds that violated each check.
    pub violations: BTreeMap<Check, u64>,
}

impl RegimeTally {
    /// Adds other worlds of the regime to these.
    pub fn add(&mut self, other: &Self) {
        self.worlds += other.worlds;
        self.failures += other.failures;
        self.starts += other.starts;
        self.without_ledger.add(other.without_ledger);
        super::tally::add(&mut self.verdicts, &other.verdicts);
        super::tally::add(&mut self.violations, &other.violations);
    }
}
