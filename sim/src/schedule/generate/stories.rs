//! What takes hosts several steps in a row.
//!
//! Each of the steps counts only in the state that the one before has left, so drawn one by one they would hardly ever
//! meet: an insert is queued while nothing could be said of its partition; all nodes lose power at once; an operator gives up
//! what was lost, in a step that is cut short; a topic is deleted and made again. What copies go through is in `copies`.

use super::draft::Draft;
use super::errors::Moment;
use super::hosted::NodeBook;
use super::workload::narrow;
use crate::schedule::crash::{CallPoint, Crash, CrashInside, Restart, Survivors};
use crate::schedule::fault::{Edit, Fault, FaultKind};
use crate::schedule::field::{BatchField, FrameField, HeaderField};
use crate::schedule::step::{AcceptLoss, Action, Interruption, NodeId, OffsetRange};
use crate::schedule::tape::Stream;
use crate::schedule::target::Target;
use crate::schedule::world::Regime;
use recovery_core::storage::Call;
use recovery_core::units::Offset;

const STREAM: Stream = Stream::Host;

/// How many of 1000 topics that are made again are made in a step that is cut short.
const CUT_SHORT_SHARE: u32 = 600;
/// Most times that an operator gives something up in a row.
const GIVEN_UP_MOST: u64 = 3;

#[derive(Clone, Copy)]
enum Story {
    Copy,
    Blackout,
    QueuedInsert,
    Recreated,
    GivenUp,
}

impl Draft<'_> {
    /// One of the stories; says whether the node is down behind it.
    pub(super) fn story(&mut self, nodes: &[NodeBook]) -> bool {
        let at = self.pick_partition(STREAM);
        let has_peers = u32::from(self.world.nodes > 1);
        // Without damage nothing is ever refused.
        let has_damage = u32::from(self.world.regime == Regime::Unlimited);
        let stories = [
            (2, Story::Recreated),
            (8 * has_peers * has_damage, Story::Copy),
            (2 * has_peers, Story::Blackout),
            (3 * (1 - has_peers) * has_damage, Story::QueuedInsert),
            ((4 - 2 * has_peers) * has_damage, Story::GivenUp),
        ];
        match self.tape.weighted(STREAM, &stories) {
            Story::Copy => return self.copy(at, nodes),
            Story::Blackout => self.black_out(at, nodes),
            Story::QueuedInsert => self.queue_an_insert(at),
            Story::GivenUp => return self.give_up(at),
            Story::Recreated => {
                self.recreate(at);
                return self.make_again(at);
            }
        }
        false
    }

    /// The process goes down, and a batch that a mark covers is damaged; which one.
    pub(super) fn lose(&mut self, at: usize) -> Option<usize> {
        let partition = self.books[at].namespace();
        self.push(Action::Checkpoint(partition));
        self.crash_now(Crash::Process);
        let index = self.tape.index(STREAM, self.books[at].batches.len().max(1));
        self.flip_in_batch(at, index)
    }

    /// A batch of a node that is down is damaged; which one, if there is one of that number.
    pub(super) fn flip_in_batch(&mut self, at: usize, index: usize) -> Option<usize> {
        let partition = self.books[at].namespace();
        let written = self.books[at].batches.get(index).copied()?;
        let payload = BatchField::Frame { frame: 0, field: FrameField::Payload };
        let field = if written.payload_bytes > 0 && written.messages > 0 {
            payload
        } else {
            BatchField::Header(HeaderField::BatchChecksum)
        };
        let target = Target::Batch { partition, batch: written.batch, field: Some(field) };
        let mut fault = Fault::new(FaultKind::BitFlip, target);
        fault.edit = Some(Edit::Bit(7));
        self.push(Action::Fault { fault, cached: false });
        Some(index)
    }

    /// The offsets of a batch, if nothing was ever lost.
    pub(super) fn offsets_of(&self, at: usize, index: usize) -> Option<OffsetRange> {
        let batches = &self.books[at].batches;
        let first: u64 = batches.iter().take(index).map(|batch| u64::from(batch.messages)).sum();
        let last = first + u64::from(batches.get(index)?.messages.checked_sub(1)?);
        Some(OffsetRange { first: Offset::new(first), last: Offset::new(last) })
    }

    /// Every node that is up loses power at once, and comes up again.
    fn black_out(&mut self, at: usize, nodes: &[NodeBook]) {
        let here = self.node;
        self.append_and_flush(at, self.batches_end);
        let up = (0..self.world.nodes).map(NodeId).filter(|node| nodes[usize::from(node.0)].is_up);
        for node in up.clone() {
            self.node = node;
            let mut survival = self.survival();
            if self.tape.chance(Stream::Crashes, 500) {
                survival.survive = Survivors::None;
            }
            self.crash_now(Crash::Power(survival));
        }
        for node in up {
            self.node = node;
            self.push(Action::Start);
        }
        self.node = here;
    }

    /// An insert is queued while nothing can be said of its partition, which turns out to be refused.
    fn queue_an_insert(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        self.lose(at);
        let fault = Fault::new(FaultKind::ReadError, Target::Partition(partition));
        self.push(Action::Fault { fault, cached: false });
        self.push(Action::Start);
        self.push(Action::QueueInsert(partition));
        self.push(Action::Reconcile);
        self.push(Action::ApplyInserts);
    }

    /// A topic is deleted and made again before any pass has seen the deletion.
    pub(super) fn recreate(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        self.books[at].begin_life();
        self.push(Action::Delete(partition));
        self.push(Action::Create(partition));
        self.push(Action::Reconcile);
    }

    /// What was deleted is confirmed and made, perhaps in a step that is cut short; says whether the node is down.
    fn make_again(&mut self, at: usize) -> bool {
        let partition = self.books[at].namespace();
        self.push(Action::Confirm(partition));
        self.push(Action::Create(partition));
        self.push(Action::QueueInsert(partition));
        if self.tape.chance(Stream::Crashes, CUT_SHORT_SHARE) {
            let calls =
                [(3, Call::MakeDirectory), (2, Call::SyncDirectory), (2, Call::Sync), (1, Call::Write)];
            let on = self.tape.weighted(Stream::Crashes, &calls);
            let call = narrow(self.tape.range(Stream::Crashes, 1, 4));
            self.cut_short(Action::ApplyInserts, on, call);
            return true;
        }
        self.push(Action::ApplyInserts);
        false
    }

    /// A step with a crash inside, at a call of one kind.
    pub(super) fn cut_short(&mut self, action: Action, on: Call, call: u32) {
        let crash = self.crash();
        self.has_page_cache = crash.restart() == Restart::Process;
        let inside = CrashInside { at: CallPoint { on: Some(on), call }, inside: None, crash };
        self.push_inside(action, vec![Interruption::Crash(inside)]);
        self.push(Action::Crash(Crash::Process));
    }

    /// Something is lost, and an operator gives up what is not it, and then what is; says whether the node is down.
    fn give_up(&mut self, at: usize) -> bool {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        let lost = self.lose(at);
        self.push(Action::Start);
        let times = self.tape.range(STREAM, 0, GIVEN_UP_MOST - 1);
        for _ in 0..times {
            let range = self.lost_range(at);
            self.push(Action::AcceptLoss(AcceptLoss { partition, range }));
        }
        let range = lost.and_then(|batch| self.offsets_of(at, batch));
        self.of_host(Action::AcceptLoss(AcceptLoss { partition, range }), Moment::Pass)
    }
}
