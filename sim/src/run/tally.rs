//! What a run has seen, counted: each thread keeps its own tally, and they are added up.

use std::collections::BTreeMap;

use recovery_core::decide::{ReasonCode, Row};
use recovery_core::observe::{Residue, Stop};
use recovery_core::storage::Call;

use super::regime_tally::{RegimeTally, WithoutLedger};
use crate::oracle::Check;
use crate::schedule::{Filesystem, Regime, Restart};

/// Counts by kind. All are sums, so the order in which worlds are added changes nothing but which difference of
/// another program is the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Worlds completed.
    pub worlds: u64,
    /// Boots of partitions.
    pub boots: u64,
    /// Crashes, inside steps and between them.
    pub crashes: u64,
    /// Batches appended.
    pub batches: u64,
    /// Steps and targets that were not there.
    pub missed: u64,
    /// Served batches that cannot be told from ones written here (I06).
    pub indistinguishable: u64,
    /// Boots of partitions without a ledger.
    pub without_ledger: WithoutLedger,
    /// The same by regime, as far as regimes owe different things.
    pub regimes: BTreeMap<Regime, RegimeTally>,
    /// Boots by disposition, or by reason code where refused.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// Seeds that violated each check.
    pub violations: BTreeMap<Check, u64>,
    /// Decision-table rows.
    pub rows: BTreeMap<Row, u64>,
    /// Reasons.
    pub reasons: BTreeMap<ReasonCode, u64>,
    /// Stops.
    pub stops: BTreeMap<Stop, u64>,
    /// Residues.
    pub residues: BTreeMap<Residue, u64>,
    /// Restart kinds.
    pub restarts: BTreeMap<Restart, u64>,
    /// Worlds by filesystem.
    pub filesystems: BTreeMap<Filesystem, u64>,
    /// Storage calls of recovery and serving that failed, definite answers about names not counted.
    pub call_errors: BTreeMap<Call, u64>,
    /// Worlds run again without one of their faults.
    pub counterfactuals: u64,
    /// Worlds in which a fault kind was read and a start came to a verdict, by both.
    pub fault_verdicts: BTreeMap<(&'static str, &'static str), u64>,
    /// Fault kinds: injected, read, decisive.
    pub faults: BTreeMap<&'static str, Reached>,
    /// What another program did, if one was tried.
    pub subject: SubjectTally,
}

/// Starts that were put to another program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubjectTally {
    /// How many.
    pub starts: u64,
    /// Those in which it said and left what the linked core does.
    pub agreed: u64,
    /// Those that no real directory can hold, and that were not put to it.
    pub left_out: u64,
    /// The first difference, in words; the first to be added stays.
    pub difference: Option<String>,
}

impl SubjectTally {
    fn add(&mut self, other: &Self) {
        self.starts += other.starts;
        self.agreed += other.agreed;
        self.left_out += other.left_out;
        if self.difference.is_none() {
            self.difference.clone_from(&other.difference);
        }
    }
}

/// How far a fault kind came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Applied.
    pub injected: u64,
    /// A storage call returned bytes it damaged, or failed because of it.
    pub read: u64,
    /// The same world without that one fault ends differently.
    pub decisive: u64,
}

impl Tally {
    /// Of one world: which of its faults met which of its verdicts.
    pub fn pair(&mut self) {
        for kind in self.faults.iter().filter(|(_, reached)| reached.read > 0).map(|(kind, _)| *kind) {
            for verdict in self.verdicts.keys() {
                self.fault_verdicts.insert((kind, verdict), 1);
            }
        }
    }

    /// Of one world: says of which regime it was.
    pub fn belong_to(&mut self, regime: Regime) {
        let of_it = RegimeTally {
            worlds: self.worlds,
            failures: u64::from(!self.violations.is_empty()),
            starts: self.boots,
            without_ledger: self.without_ledger,
            verdicts: self.verdicts.clone(),
            violations: self.violations.clone(),
        };
        self.regimes.insert(regime, of_it);
    }

    /// Adds another tally to this one.
    pub fn add(&mut self, other: &Self) {
        self.worlds += other.worlds;
        self.boots += other.boots;
        self.crashes += other.crashes;
        self.batches += other.batches;
        self.missed += other.missed;
        self.indistinguishable += other.indistinguishable;
        self.without_ledger.add(other.without_ledger);
        for (regime, counts) in &other.regimes {
            self.regimes.entry(*regime).or_default().add(counts);
        }
        add(&mut self.verdicts, &other.verdicts);
        add(&mut self.violations, &other.violations);
        add(&mut self.rows, &other.rows);
        add(&mut self.reasons, &other.reasons);
        add(&mut self.stops, &other.stops);
        add(&mut self.residues, &other.residues);
        add(&mut self.restarts, &other.restarts);
        add(&mut self.filesystems, &other.filesystems);
        add(&mut self.call_errors, &other.call_errors);
        add(&mut self.fault_verdicts, &other.fault_verdicts);
        self.counterfactuals += other.counterfactuals;
        self.subject.add(&other.subject);
        for (kind, reached) in &other.faults {
            let sum = self.faults.entry(kind).or_default();
            sum.injected += reached.injected;
            sum.read += reached.read;
            sum.decisive += reached.decisive;
        }
    }
}

pub(super) fn add<K: Copy + Ord>(sums: &mut BTreeMap<K, u64>, counts: &BTreeMap<K, u64>) {
    for (key, count) in counts {
        *sums.entry(*key).or_default() += count;
    }
}
