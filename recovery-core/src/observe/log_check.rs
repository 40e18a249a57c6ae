//! Walks one log that was just written, to see that it is just what it was meant to be.
//!
//! Promises: the walk is recovery's own, so what passes here is what recovery accepts (F40, I19); bounded steps.
//! Leaves out: who wrote it, and what becomes of it if it is something else.

use super::StopDetail;
use super::index_walk::IndexWalk;
use super::log_walk::{Checkpoints, LogWalk, WalkTools};
use super::meter::Meter;
use super::verifier::Verifier;
use super::window::Source;
use super::workspace::{Tenant, Workspace};
use crate::format::{ChainHash, IndexEntry, Mark};
use crate::storage::{Call, Name, Storage, StorageError};
use crate::units::{Incarnation, Namespace};

/// What a log must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogExpectation {
    /// Whose it is.
    pub(crate) namespace: Namespace,
    /// Which life.
    pub(crate) incarnation: Incarnation,
    /// Its segment and its end.
    pub(crate) end: Mark,
}

/// A check of one log under way.
pub(crate) struct LogCheck {
    expectation: LogExpectation,
    tenant: Tenant,
    walk: LogWalk,
    index_walk: IndexWalk,
    verifier: Verifier,
    meter: Meter,
}

impl LogCheck {
    pub(crate) fn new(expectation: LogExpectation, workspace: &mut Workspace) -> Self {
        let LogExpectation { namespace, incarnation, end } = expectation;
        let length = end.position.get();
        let start_hash = ChainHash::start(namespace, incarnation, end.segment);
        let walk = LogWalk::new(
            namespace.partition_id(),
            end.segment,
            length,
            None,
            Some(start_hash),
            Checkpoints::of(None),
        );
        Self {
            expectation,
            tenant: workspace.enroll(),
            walk,
            index_walk: IndexWalk::new(end.segment, None, length),
            verifier: Verifier::new(),
            meter: Meter::default(),
        }
    }

    /// Reads and hashes about `limit` bytes; says whether the log is what it must be, once that is known.
    ///
    /// # Errors
    ///
    /// When the log cannot be read, or two readings of it differ.
    pub(crate) fn step<S: Storage>(
        &mut self,
        storage: &S,
        file: &S::File,
        name: &Name,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<Option<bool>, StorageError> {
        workspace.hand_to(self.tenant);
        self.meter.begin_step(limit);
        let end = self.expectation.end;
        let log = Source { storage, file, name, length: end.position.get() };
        let mut tools = WalkTools {
            log: &log,
            log_window: &mut workspace.log,
            index: None,
            index_window: &mut workspace.index,
            index_walk: &mut self.index_walk,
            verifier: &mut self.verifier,
            meter: &mut self.meter,
        };
        let Some(stop) = self.walk.step(&mut tools)? else { return Ok(None) };
        if let StopDetail::Unreadable { errno, .. } = stop {
            return Err(StorageError { call: Call::Read, file: *name, errno });
        }
        let found = self.walk.proven();
        let is_end = stop == StopDetail::End
            && found.end == end.position
            && found.next_offset == end.next_offset
            && found.chain_hash == Some(end.chain_hash);
        Ok(Some(is_end))
    }

    /// The entries of an index over the log, once that is what it must be.
    pub(crate) fn into_index(self) -> Vec<IndexEntry> {
        let proven = self.walk.proven();
        self.index_walk.finish(proven.batches, proven.end, true).rebuilt
    }
}
