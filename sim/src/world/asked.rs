//! What a client's call must leave true, asked right behind it (I03, I08, I12, I14, I15).
//!
//! Promises: nothing here changes the world. Leaves out: starts, which are judged apart.

use super::look;
use super::node::{Service, Slot};
use super::report::Failure;
use super::run::World;
use super::serve::Answer;
use crate::disk::{Event as DiskEvent, Node, SimDisk, View};
use crate::oracle::Violation;
use crate::oracle::invariants::{
    Cursor, FailedSync, check_after_failed_sync, check_call_of_failed_sync, check_cursor,
    check_ledger_behind_failed_sync, check_own_offsets, check_promise_durable, check_success, failed_sync,
};
use crate::schedule::Action;
use recovery_core::format::FileName;
use recovery_core::storage::Call;
use recovery_core::units::{Length, Offset};

/// What was known of a partition before a client's call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    index: usize,
    is_served: bool,
    writes: usize,
    promised: Offset,
    /// The call, in the words of CONTRACTS 1.
    recovery_step: &'static str,
}

impl World<'_> {
    /// A client is about to call a partition.
    pub(super) fn about_to_ask(&self, index: usize, action: &Action) -> Asked {
        let slot = &self.node.slots[index];
        Asked {
            index,
            is_served: matches!(slot.service, Service::Serving(_)),
            writes: slot.truth.writes().len(),
            promised: slot.truth.promised_next,
            recovery_step: recovery_step(action),
        }
    }

    /// It was answered, and the calls to the disk that this took are noted.
    pub(super) fn check_answer(&mut self, asked: Asked, answer: Answer) {
        let slot = &self.node.slots[asked.index];
        let mut violations: Vec<Violation> = Vec::new();
        violations.extend(check_success(asked.is_served, answer == Answer::Done));
        let new = asked.writes..slot.truth.writes().len();
        violations.extend(new.filter_map(|write| check_own_offsets(&slot.truth, write)));
        violations.extend(self.behind_the_cursor(asked));
        violations.extend(self.behind_a_failed_sync(asked, answer));
        if self.failed_sync(asked.index).is_some() {
            let slot = &mut self.node.slots[asked.index];
            slot.failed_sync.get_or_insert(FailedSync::now(&slot.truth));
        }
        self.fail_call(asked, violations);
        self.check_promises(asked);
    }

    /// I12: the log ends where its writer goes on, unless that has ended all writing, or damage has made of the log what
    /// it is.
    fn behind_the_cursor(&self, asked: Asked) -> Option<Violation> {
        let slot = &self.node.slots[asked.index];
        let Service::Serving(writer) = &slot.service else { return None };
        if writer.poisoned_by().is_some() || !slot.truth.damages.is_empty() {
            return None;
        }
        let last = writer.chain().segments().last()?;
        let disk = &self.node.disk;
        let log = look::file(disk, &slot.components, &FileName::log(last.start));
        let length = log.map(|log| Length::new(disk.length_of(log, View::Visible)));
        check_cursor(Cursor { segment: last.start, position: last.end }, length)
    }

    /// I14: what has just been promised is in every crash state.
    pub(super) fn check_promises(&mut self, asked: Asked) {
        let slot = &self.node.slots[asked.index];
        if slot.truth.promised_next == asked.promised {
            return;
        }
        let Some(directory) = look::directory(&self.node.disk, &slot.components) else { return };
        let violation = check_promise_durable(&slot.truth, asked.promised, |file, range| {
            self.node.disk.is_durable(directory, file, range)
        });
        self.fail_call(asked, violation.into_iter().collect());
    }

    fn failed_sync(&self, index: usize) -> Option<usize> {
        failed_sync_of(&self.node.disk, &self.node.slots[index], &self.calls)
    }

    /// I15: from the sync that failed on, in this call or an earlier one.
    fn behind_a_failed_sync(&self, asked: Asked, answer: Answer) -> Vec<Violation> {
        let slot = &self.node.slots[asked.index];
        // What a call had acknowledged before its sync failed is acknowledged; it must not say that all is well.
        let (answered, calls) = match (slot.failed_sync, self.failed_sync(asked.index)) {
            (Some(known), _) => (check_after_failed_sync(&slot.truth, known), &self.calls[..]),
            (None, Some(at)) => (check_call_of_failed_sync(answer == Answer::Done), &self.calls[at + 1..]),
            (None, None) => return Vec::new(),
        };
        let ledger = look::file(&self.node.disk, &slot.components, &FileName::ledger());
        let written = ledger.and_then(|ledger| check_ledger_behind_failed_sync(calls, ledger.number()));
        answered.into_iter().chain(written).collect()
    }

    fn fail_call(&mut self, asked: Asked, violations: Vec<Violation>) {
        for violation in violations {
            self.failures.push(Failure {
                violation,
                partition: Some(self.node.slots[asked.index].header.namespace),
                remark: None,
                varied: None,
                node: self.recorder.node(),
                step: self.step,
                recovery_step: asked.recovery_step,
            });
        }
    }
}

/// Where it broke if a call of a client broke it. A checkpoint and a clean stop flush, and add what the ledger
/// says of that.
pub(super) const fn recovery_step(action: &Action) -> &'static str {
    match action {
        Action::Append(_) => "append",
        Action::Flush(_) | Action::Checkpoint(_) | Action::Stop => "flush",
        Action::Roll(_) => "roll",
        Action::Retain(_) => "retain",
        Action::Poll(_) => "poll",
        Action::Start => "open-writer",
        Action::Reconcile | Action::Create(_) | Action::Delete(_) | Action::Confirm(_) => "reconcile",
        Action::QueueInsert(_) | Action::ApplyInserts => "boot",
        Action::AcceptLoss(_) => "accept-loss",
        Action::Transfer { .. } => "transfer-install",
        // No call of a client.
        Action::Crash(_)
        | Action::Fault { .. }
        | Action::Plant(_)
        | Action::Evict(_)
        | Action::Link(_)
        | Action::Expect(_)
        | Action::Either(_) => "decide",
    }
}

/// The place among `calls` of the first sync that failed, of a log or the ledger of a partition.
pub(super) fn failed_sync_of(disk: &SimDisk, slot: &Slot, calls: &[DiskEvent]) -> Option<usize> {
    let fails = |call: &DiskEvent| call.call == Call::Sync && call.errno.is_some();
    if !calls.iter().any(fails) {
        return None;
    }
    let directory = look::directory(disk, &slot.components)?;
    let entries = disk.entries(directory, View::Visible);
    failed_sync(calls, |object| {
        entries.iter().any(|(name, node)| {
            let is_covering = name.as_bytes().ends_with(b".log") || *name == FileName::ledger();
            is_covering && matches!(node, Node::File(file) if file.number() == object)
        })
    })
}
