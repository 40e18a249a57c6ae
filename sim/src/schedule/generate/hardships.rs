//! What one node with a host goes through, alone or beside others: chains of steps of one node.
//!
//! Promises: a superblock with the last number there is, or one near it, is to have a successor; a disk forgets what a
//! ledger was given while an operator gives something up; a partition that is made
//! anew is cut short while its directory is made. Leaves out: which of them befalls a world (`motifs`).

use recovery_core::storage::Call;

use super::draft::Draft;
use crate::schedule::crash::{Crash, Survivors};
use crate::schedule::fault::{Edit, Fault, FaultKind, Times};
use crate::schedule::field::SuperblockField;
use crate::schedule::step::{AcceptLoss, Action};
use crate::schedule::tape::Stream;
use crate::schedule::target::{Slot, Target};

const STREAM: Stream = Stream::Motifs;

/// Syncs of a step in which an operator gives something up, about.
const SYNCS: u64 = 9;

impl Draft<'_> {
    /// A superblock has the last number there is, or nearly, with a checksum that fits, and the next one is to be written.
    pub(super) fn reach_the_last_number(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        let crash = self.crash();
        self.crash_now(crash);
        let slot = self.tape.weighted(STREAM, &[(3, Slot::A), (1, Slot::B)]);
        let short_of = self.tape.weighted(STREAM, &[(4, 0), (1, 1), (1, 2)]);
        let target = Target::Superblock { partition, slot, field: Some(SuperblockField::Sequence) };
        let fault = Fault::new(FaultKind::BitFlip, target);
        self.hurt(Fault { edit: Some(Edit::Value(u64::MAX - short_of)), restamp: true, ..fault });
        self.push(Action::Start);
        let times = self.tape.range(STREAM, 1, 3);
        for _ in 0..times {
            self.append_and_flush(at, self.batches_end);
            self.push(Action::Checkpoint(partition));
        }
    }

    /// Something is lost, an operator gives it up, and the disk forgets what is written of that from some sync on.
    pub(super) fn forget_what_was_given_up(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        let lost = self.lose(at);
        self.push(Action::Start);
        let range = lost.and_then(|batch| self.offsets_of(at, batch));
        let mut fault = Fault::new(FaultKind::SwallowedSyncError, Target::Any);
        fault.times =
            self.tape.weighted(STREAM, &[(3, Times::Always), (1, Times::Count(1)), (1, Times::Count(2))]);
        let call = self.tape.range(STREAM, 1, SYNCS);
        self.push_faulty(Action::AcceptLoss(AcceptLoss { partition, range }), Call::Sync, call, fault);
        if self.tape.chance(STREAM, 300) {
            self.push(Action::AcceptLoss(AcceptLoss { partition, range }));
        }
    }

    /// A partition is deleted and made again, in a step that is cut short about the making of its directory.
    pub(super) fn make_anew(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        self.books[at].begin_life();
        self.push(Action::Delete(partition));
        self.push(Action::Reconcile);
        self.push(Action::Confirm(partition));
        self.push(Action::Create(partition));
        let action = if self.tape.chance(STREAM, 700) {
            self.push(Action::QueueInsert(partition));
            Action::ApplyInserts
        } else {
            Action::Reconcile
        };
        let calls = [(4, Call::MakeDirectory), (1, Call::SyncDirectory), (1, Call::Create), (1, Call::Sync)];
        let on = self.tape.weighted(STREAM, &calls);
        let call = self.tape.weighted(STREAM, &[(4, 1), (1, 2), (1, 3)]);
        let crash = match self.tape.weighted(STREAM, &[(2, 0), (2, 1), (1, 2)]) {
            0 => Crash::Process,
            1 => {
                let mut survival = self.survival();
                survival.survive = Survivors::All;
                survival.exceptions.clear();
                Crash::Power(survival)
            }
            _ => self.crash(),
        };
        self.push_crashing(action, on, call, crash);
        self.push(Action::Start);
        if self.tape.chance(STREAM, 500) {
            self.push(Action::Reconcile);
            self.push(Action::QueueInsert(partition));
            self.push(Action::ApplyInserts);
        }
        self.append_and_flush(at, self.batches_end);
    }
}
