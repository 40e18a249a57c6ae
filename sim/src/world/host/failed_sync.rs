//! I15 of a host: behind a sync that failed a partition acknowledges and promises nothing, and writes nothing to its
//! ledger, before it is opened again.
//!
//! Promises: asked behind every step in which clients call, and behind what a node follows. Leaves out: starts and
//! passes, in which partitions are opened again.

use recovery_core::format::FileName;

use super::run::HostWorld;
use crate::oracle::Violation;
use crate::oracle::invariants::{
    FailedSync, check_after_failed_sync, check_call_of_failed_sync, check_ledger_behind_failed_sync,
};
use crate::world::asked::failed_sync_of;
use crate::world::look;

impl HostWorld<'_> {
    /// Looks at every partition of a node that has answered a client since the calls of the disk were last cleared.
    pub(super) fn check_failed_syncs(&mut self, m: usize) {
        let answers = std::mem::take(&mut self.answers);
        for index in 0..self.members[m].node.slots.len() {
            // A call whose sync fails is the last one of its partition.
            let last = answers.iter().rev().find(|(answering, _)| *answering == index);
            let Some((_, is_success)) = last else { continue };
            let namespace = self.members[m].node.slots[index].header.namespace;
            for violation in self.behind_a_failed_sync(m, index, *is_success) {
                self.fail(Some(namespace), violation, "flush", None);
            }
        }
    }

    fn behind_a_failed_sync(&mut self, m: usize, index: usize, is_success: bool) -> Vec<Violation> {
        let node = &mut self.members[m].node;
        let slot = &mut node.slots[index];
        let at = failed_sync_of(&node.disk, slot, &self.calls);
        let (answered, calls) = match (slot.failed_sync, at) {
            (Some(known), _) => (check_after_failed_sync(&slot.truth, known), &self.calls[..]),
            (None, Some(at)) => (check_call_of_failed_sync(is_success), &self.calls[at + 1..]),
            (None, None) => return Vec::new(),
        };
        slot.failed_sync.get_or_insert(FailedSync::now(&slot.truth));
        let ledger = look::file(&node.disk, &slot.components, &FileName::ledger());
        let written = ledger.and_then(|ledger| check_ledger_behind_failed_sync(calls, ledger.number()));
        answered.into_iter().chain(written).collect()
    }
}
