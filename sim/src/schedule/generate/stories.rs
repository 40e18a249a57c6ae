//! What takes hosts several steps in a row.
//!
//! Each of the steps counts only in the state that the one before has left, so drawn one by one they would hardly ever
//! meet: a copy is asked for where something was lost, of a peer that is behind, or of another life, or has given
//! something up; an insert is queued while nothing could be said of its partition; all nodes lose power at once.

use super::draft::Draft;
use super::errors::Moment;
use super::hosted::NodeBook;
use crate::schedule::crash::{Crash, Survivors};
use crate::schedule::fault::{Edit, Fault, FaultKind, Times};
use crate::schedule::field::{BatchField, FrameField, HeaderField};
use crate::schedule::step::{AcceptLoss, Action, NodeId, OffsetRange};
use crate::schedule::tape::Stream;
use crate::schedule::target::Target;
use crate::schedule::world::Regime;
use recovery_core::units::Offset;

const STREAM: Stream = Stream::Host;

/// How many of 1000 copies of a story have a crash inside.
const CRASH_SHARE: u32 = 500;
/// How many of 1000 copies that a crash has cut short are damaged before the next start.
const SPOILT_SHARE: u32 = 300;

#[derive(Clone, Copy)]
enum Story {
    Copy,
    Blackout,
    QueuedInsert,
    Recreated,
}

/// What is the matter with the peer that a copy is asked of.
#[derive(Clone, Copy)]
enum Peer {
    Sound,
    Behind,
    OfAnotherLife,
    GaveUp,
}

impl Draft<'_> {
    /// One of the stories; says whether the node is down behind it.
    pub(super) fn story(&mut self, nodes: &[NodeBook]) -> bool {
        let at = self.pick_partition(STREAM);
        let has_peers = u32::from(self.world.nodes > 1);
        // Without damage nothing is ever refused.
        let has_damage = u32::from(self.world.regime == Regime::Unlimited);
        let stories = [
            (1, Story::Recreated),
            (6 * has_peers * has_damage, Story::Copy),
            (2 * has_peers, Story::Blackout),
            (3 * (1 - has_peers) * has_damage, Story::QueuedInsert),
        ];
        match self.tape.weighted(STREAM, &stories) {
            Story::Copy => return self.copy(at, nodes),
            Story::Blackout => self.black_out(at, nodes),
            Story::QueuedInsert => self.queue_an_insert(at),
            Story::Recreated => self.recreate(at),
        }
        false
    }

    /// Something is lost here, and a peer is asked for all of it.
    fn copy(&mut self, at: usize, nodes: &[NodeBook]) -> bool {
        let partition = self.books[at].namespace();
        let here = self.node;
        let peers: Vec<NodeId> = (0..self.world.nodes)
            .map(NodeId)
            .filter(|node| *node != here && nodes[usize::from(node.0)].is_up)
            .collect();
        self.append_and_flush(at, self.batches_end);
        let index = self.tape.index(STREAM, peers.len().max(1));
        if let Some(peer) = peers.get(index) {
            self.prepare(at, *peer);
        }
        self.lose(at);
        self.push(Action::Start);
        let from = peers.get(index).copied().unwrap_or(NodeId((here.0 + 1) % self.world.nodes));
        let transfer = Action::Transfer { partition, from };
        if self.tape.chance(Stream::Crashes, CRASH_SHARE) {
            self.crash_in(transfer, Moment::Copy);
            if self.tape.chance(STREAM, SPOILT_SHARE) {
                self.spoil_marker(at);
            }
            return true;
        }
        self.push(transfer);
        self.spoil_wire();
        false
    }

    /// Makes of a peer what it is to be when it is asked.
    fn prepare(&mut self, at: usize, peer: NodeId) {
        let partition = self.books[at].namespace();
        let here = self.node;
        let kinds = [(3, Peer::Sound), (2, Peer::Behind), (2, Peer::OfAnotherLife), (3, Peer::GaveUp)];
        match self.tape.weighted(STREAM, &kinds) {
            Peer::Sound => {}
            Peer::Behind => {
                self.fill_disk_of(peer);
                self.append_and_flush(at, self.batches_end);
            }
            Peer::OfAnotherLife => {
                self.fill_disk_of(peer);
                self.recreate(at);
                self.append_and_flush(at, self.batches_end);
            }
            Peer::GaveUp => {
                self.node = peer;
                let lost = self.lose(at);
                self.push(Action::Start);
                let range = lost.and_then(|batch| self.offsets_of(at, batch));
                self.push(Action::AcceptLoss(AcceptLoss { partition, range }));
                self.node = here;
            }
        }
    }

    /// A node that takes nothing down any more is behind from here on, until it comes up again.
    fn fill_disk_of(&mut self, node: NodeId) {
        let here = std::mem::replace(&mut self.node, node);
        let mut fault = Fault::new(FaultKind::NoSpace, Target::Any);
        fault.times = Times::Always;
        self.push(Action::Fault { fault, cached: false });
        self.node = here;
    }

    /// The process goes down, and a batch that a mark covers is damaged; which one.
    fn lose(&mut self, at: usize) -> Option<usize> {
        let partition = self.books[at].namespace();
        self.push(Action::Checkpoint(partition));
        self.crash_now(Crash::Process);
        let index = self.tape.index(STREAM, self.books[at].batches.len().max(1));
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
    fn offsets_of(&self, at: usize, index: usize) -> Option<OffsetRange> {
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
    fn recreate(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        self.books[at].begin_life();
        self.push(Action::Delete(partition));
        self.push(Action::Create(partition));
        self.push(Action::Reconcile);
    }
}
