//! Looks for any batch that verifies in a file, whosever it is.
//!
//! Promises: the probe that recovery makes of a residue, with its budgets; what ran out of them is taken to hold
//! one. Leaves out: what it is good for.

use super::Residue;
use super::meter::Meter;
use super::residue_probe::{ProbeTools, ResidueProbe};
use super::run_collector::RunRules;
use super::verifier::Verifier;
use super::window::{Fill, Source};
use super::workspace::{Tenant, Workspace};
use crate::storage::{Name, Storage, StorageError};
use crate::units::{Length, Namespace, Offset, Position, SegmentStart};

/// A search of one file under way.
pub(crate) struct BatchSearch {
    tenant: Tenant,
    probe: ResidueProbe,
    length: u64,
    verifier: Verifier,
    meter: Meter,
}

impl BatchSearch {
    /// A search of a file of `length` bytes, which is not empty.
    pub(crate) fn new(namespace: Namespace, length: Length, workspace: &mut Workspace) -> Self {
        let rules = RunRules {
            segment: SegmentStart::ZERO,
            stop: Position::ZERO,
            next: Offset::ZERO,
            chain_hash: None,
            namespace,
            incarnation: None,
            barred: Vec::new(),
        };
        Self {
            tenant: workspace.enroll(),
            probe: ResidueProbe::new(rules, length, false),
            length: length.get(),
            verifier: Verifier::new(),
            meter: Meter::default(),
        }
    }

    /// Reads and hashes about `limit` bytes; says whether the search is over.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn step<S: Storage>(
        &mut self,
        storage: &S,
        file: &S::File,
        name: &Name,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<bool, StorageError> {
        workspace.hand_to(self.tenant);
        self.meter.begin_step(limit);
        let log = Source { storage, file, name, length: self.length };
        let mut tools = ProbeTools {
            log: &log,
            log_window: &mut workspace.log,
            candidate_window: &mut workspace.candidate,
            verifier: &mut self.verifier,
            meter: &mut self.meter,
        };
        Ok(self.probe.step(&mut tools)? == Fill::Ready)
    }

    /// Whether the file holds a batch that verifies, or may, once the search is over.
    pub(crate) fn may_hold_batch(self) -> bool {
        match self.probe.finish().kind {
            Residue::Survivor | Residue::Stray | Residue::Unproven => true,
            Residue::None | Residue::Zeros | Residue::Noise => false,
        }
    }
}
