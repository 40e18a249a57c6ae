//! Who put every byte where it lies, what was promised of it, and what went wrong with it.
//!
//! The four ledgers of the harness: what was *submitted*, what was *promised*, what is *durable*, and the
//! *faults*. From them follow the obligations of a recovery ([`Obligation`]).
//!
//! Promises: plain data that only the world writes to, kept as runs and not per byte; it never asks the
//! core, and knows no disk. Leaves out: whether a promise was kept, which each invariant asks for itself.

mod file_truth;
mod obligation;
mod partition_truth;
#[cfg(test)]
mod tests;

use std::ops::Range;

use recovery_core::storage::Name;
use recovery_core::units::{Incarnation, Namespace};

use crate::schedule::FaultKind;

pub use file_truth::{FileTruth, Run, Source, Standing};
pub use obligation::{Obligation, Owed};
pub use partition_truth::{DurableMark, PartitionTruth, Submission, SubmissionId};

/// The number of a fault in the fault ledger, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaultId(pub u32);

/// One fault that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultHit {
    /// What kind.
    pub kind: FaultKind,
    /// The step of the schedule that it came with, counted from 0.
    pub step: u32,
    /// Whose directory it hit, if any partition's.
    pub namespace: Option<Namespace>,
    /// The file it hit, if any.
    pub file: Option<Name>,
    /// The bytes of that file, if any.
    pub range: Option<Range<u64>>,
}

/// Everything that the harness knows of one node.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    partitions: Vec<PartitionTruth>,
    faults: Vec<FaultHit>,
}

impl Provenance {
    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        self.partitions.clear();
        self.faults.clear();
    }

    /// Begins a life of a partition; an earlier life of the same name stays known.
    pub fn begin(&mut self, namespace: Namespace, incarnation: Incarnation) -> &mut PartitionTruth {
        self.partitions.push(PartitionTruth::new(namespace, incarnation));
        self.partitions.last_mut().expect("one was just pushed")
    }

    /// The current life of a partition.
    pub fn partition(&self, namespace: Namespace) -> Option<&PartitionTruth> {
        self.partitions.iter().rev().find(|partition| partition.namespace() == namespace)
    }

    /// The same, to be told something.
    pub fn partition_mut(&mut self, namespace: Namespace) -> Option<&mut PartitionTruth> {
        self.partitions.iter_mut().rev().find(|partition| partition.namespace() == namespace)
    }

    /// Every life of every partition, in the order they began.
    pub fn partitions(&self) -> &[PartitionTruth] {
        &self.partitions
    }

    /// Notes a fault, and marks the bytes it hit, if they are of a log that the ledgers know.
    pub fn note_fault(&mut self, hit: FaultHit) -> FaultId {
        let id = FaultId(u32::try_from(self.faults.len()).expect("a world has few faults"));
        if let (Some(namespace), Some(file), Some(range)) = (hit.namespace, hit.file, hit.range.clone())
            && let Some(partition) = self.partition_mut(namespace)
        {
            partition.damage(&file, range, id);
        }
        self.faults.push(hit);
        id
    }

    /// Every fault, in the order they were applied.
    pub fn faults(&self) -> &[FaultHit] {
        &self.faults
    }
}
