//! What replicas of a partition go through together: chains of steps on more than one node.
//!
//! Promises: power fails everywhere and leaves holes, near each other or not; a copy goes down before its place is
//! sure; a peer lacks what is here, or has given up what cannot be read here, or waits itself; what lies
//! beside a partition is another cluster's. Leaves out: which of them befalls a world (`motifs`), copies of the common kind
//! (`copies`).

use recovery_core::storage::Call;

use super::book::batch_bytes;
use super::draft::Draft;
use super::hosted::NodeBook;
use super::workload::narrow;
use crate::schedule::crash::{Crash, Exception, SizeChoice, Survival, Survivors};
use crate::schedule::fault::{Fault, FaultKind, Times};
use crate::schedule::step::{AcceptLoss, Action, LinkState, NodeId};
use crate::schedule::tape::Stream;
use crate::schedule::target::{FileRole, Target};

const STREAM: Stream = Stream::Motifs;

const SECTOR_BYTES: u64 = 512;
/// Payload bytes of the batches in which holes are: less than a sector to some of them.
const HOLED_BYTES: (u64, u64) = (60, 800);
/// Which sync of a directory is the one that makes the place of a copy sure, and which are about it.
const PLACED: u64 = 12;
const PLACING: (u64, u64) = (9, 14);

impl Draft<'_> {
    /// Power fails on every node while batches are not synced, and each keeps all of them but a sector or two.
    pub(super) fn leave_holes(&mut self, at: usize, nodes: &[NodeBook]) {
        let here = self.node;
        let up: Vec<NodeId> =
            (0..self.world.nodes).map(NodeId).filter(|node| nodes[usize::from(node.0)].is_up).collect();
        let is_apart = self.fail_everywhere(at, &up);
        for node in &up {
            self.node = *node;
            self.push(Action::Start);
        }
        if is_apart && self.tape.chance(STREAM, 500) {
            self.set_links(&up, here, LinkState::Up);
        }
        self.node = here;
    }

    /// The same on nodes that are up, and stay down behind it; whether one of them went further than the others heard of.
    pub(super) fn fail_everywhere(&mut self, at: usize, up: &[NodeId]) -> bool {
        let (at, here) = (self.buffered(at), self.node);
        let payload = narrow(self.tape.range(STREAM, HOLED_BYTES.0, HOLED_BYTES.1));
        let count = narrow(self.tape.range(STREAM, 3, 5));
        let put = self.put_some(at, count, payload);
        self.flush_all(at);
        let is_apart = self.tape.chance(STREAM, 500);
        if is_apart {
            // One of them goes further than the others hear of.
            self.set_links(up, here, LinkState::Down);
            let more = narrow(self.tape.range(STREAM, 1, 2));
            self.put_some(at, more, payload);
            self.flush_all(at);
        }
        let sectors = (u64::from(put) * batch_bytes(1, payload)).div_ceil(SECTOR_BYTES).clamp(2, 40);
        let common = self.tape.range(STREAM, 0, sectors - 1);
        for node in up {
            self.node = *node;
            let crash = self.crash_with_a_hole(at, common, sectors);
            self.crash_now(crash);
        }
        self.node = here;
        is_apart
    }

    /// Sets the links of all of them but one.
    fn set_links(&mut self, nodes: &[NodeId], but: NodeId, state: LinkState) {
        let here = self.node;
        for node in nodes.iter().filter(|node| **node != but) {
            self.node = *node;
            self.push(Action::Link(state));
        }
        self.node = here;
    }

    /// A power loss that keeps all but a sector of a log: the one that others lose too, or the next one, or any.
    fn crash_with_a_hole(&mut self, at: usize, common: u64, sectors: u64) -> Crash {
        let book = &self.books[at];
        let (partition, file) = (book.namespace(), FileRole::Log(book.last_segment().start));
        let any = self.tape.range(STREAM, 0, sectors - 1);
        let hole = self.tape.weighted(STREAM, &[(3, common), (2, common + 1), (2, any)]);
        let survive = Survivors::Subset { mask: !(1 << hole.min(63)) };
        let mut survival = Survival::of(Survivors::All);
        survival.fill = self.survival().fill;
        let size = Some(SizeChoice::New);
        let exception = Exception::File { partition, file, survive: Some(survive), fill: None, size };
        survival.exceptions.push(exception);
        Crash::Power(survival)
    }

    /// A peer has given a batch up, and here that one is whole, but what lies beside it cannot be read.
    pub(super) fn leave_out(&mut self, at: usize, peer: NodeId) {
        let (partition, here) = (self.books[at].namespace(), self.node);
        let payload = narrow(self.tape.range(STREAM, HOLED_BYTES.0, HOLED_BYTES.1));
        let count = narrow(self.tape.range(STREAM, 2, 4));
        self.put_some(at, count, payload);
        self.flush_all(at);
        self.push(Action::Checkpoint(partition));
        let batches = self.books[at].batches.len();
        let given_up = self.tape.index(STREAM, batches.max(1));
        let unread = if self.tape.chance(STREAM, 500) { given_up + 1 } else { given_up.saturating_sub(1) };
        self.node = peer;
        self.push(Action::Checkpoint(partition));
        self.crash_now(Crash::Process);
        self.flip_in_batch(at, given_up);
        self.push(Action::Start);
        let range = self.offsets_of(at, given_up);
        self.push(Action::AcceptLoss(AcceptLoss { partition, range }));
        self.node = here;
        self.crash_now(Crash::Process);
        let Some(written) = self.books[at].batches.get(unread.min(batches.max(1) - 1)).copied() else {
            return;
        };
        // A sector that has nothing of the batch that the peer gave up, where they are not small.
        let position = if unread > given_up {
            written.position.next_multiple_of(SECTOR_BYTES)
        } else {
            written.position
        };
        let file = FileRole::Log(written.segment);
        let length = Some(self.tape.pick(STREAM, &[1, SECTOR_BYTES]));
        let target = Target::File { partition, file, position, length };
        self.hurt(Fault::new(FaultKind::LatentSectorError, target));
        self.push(Action::Start);
        // A range is asked for once it has stayed unreadable.
        let tries = self.tape.weighted(STREAM, &[(4, 2), (1, 1), (1, 3)]);
        for _ in 0..tries {
            self.push(Action::Reconcile);
        }
        self.push(Action::Transfer { partition, from: peer });
    }

    /// A process ends between the rename that gives a copy its place and the sync of that.
    pub(super) fn place_and_go_down(&mut self, at: usize, peer: NodeId) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        self.lose(at);
        self.push(Action::Start);
        let around = self.tape.range(STREAM, PLACING.0, PLACING.1);
        let call = self.tape.weighted(STREAM, &[(3, PLACED), (2, around)]);
        let transfer = Action::Transfer { partition, from: peer };
        self.push_crashing(transfer, Call::SyncDirectory, call, Crash::Process);
        self.push(Action::Start);
        self.append_and_flush(at, self.batches_end);
        if self.tape.chance(STREAM, 500) {
            let crash = self.deep_crash();
            self.crash_now(crash);
            self.push(Action::Start);
        }
    }

    /// A replica that waits for peers is asked by another one that waits, too.
    pub(super) fn ask_one_that_waits(&mut self, at: usize, peer: NodeId) {
        let (partition, here) = (self.books[at].namespace(), self.node);
        self.append_and_flush(at, self.batches_end);
        self.push(Action::Checkpoint(partition));
        self.node = peer;
        match self.tape.weighted(STREAM, &[(4, 0), (2, 1), (1, 2)]) {
            0 => {
                self.crash_now(Crash::Process);
                let index = self.tape.index(STREAM, self.books[at].segments.len());
                let file = FileRole::Log(self.books[at].segments[index].start);
                let target = Target::File { partition, file, position: 0, length: None };
                self.hurt(Fault::new(FaultKind::LostDirectoryEntry, target));
            }
            1 => {
                self.lose(at);
            }
            _ => {
                self.crash_now(Crash::Process);
                self.lose_directory(at);
            }
        }
        self.push(Action::Start);
        self.node = here;
        self.lose(at);
        self.push(Action::Start);
        self.push(Action::Transfer { partition, from: peer });
    }

    /// A peer is whole and lacks what was written while it heard of nothing, and here that is damaged.
    pub(super) fn ask_one_that_is_behind(&mut self, at: usize, peer: NodeId) {
        let (partition, here) = (self.books[at].namespace(), self.node);
        self.append_and_flush(at, self.batches_end);
        self.node = peer;
        self.push(Action::Link(LinkState::Down));
        self.node = here;
        let payload = narrow(self.tape.range(STREAM, HOLED_BYTES.0, HOLED_BYTES.1));
        // Of what the peer lacks something verifies behind the damage, or nothing tells but a mark.
        let is_marked_only = self.tape.chance(STREAM, 500);
        let count = if is_marked_only { 1 } else { narrow(self.tape.range(STREAM, 1, 3)) };
        self.put_some(at, count, payload);
        self.flush_all(at);
        self.push(Action::Checkpoint(partition));
        self.crash_now(Crash::Process);
        let newest = self.books[at].batches.len().max(2) - 1;
        let lost = if is_marked_only { newest } else { self.tape.index(STREAM, newest) };
        self.flip_in_batch(at, lost);
        self.push(Action::Start);
        self.node = peer;
        // It takes nothing down any more, so that it stays behind when it hears of things again.
        let mut fault = Fault::new(FaultKind::NoSpace, Target::Any);
        fault.times = Times::Always;
        self.hurt(fault);
        // Over a slow link a step brings only a part of a copy.
        let slow = self.tape.range(STREAM, 2, 12);
        let links = [(4, (LinkState::Up, 1)), (1, (LinkState::Slow, slow))];
        let (state, times) = self.tape.weighted(STREAM, &links);
        self.push(Action::Link(state));
        self.node = here;
        for _ in 0..times {
            self.push(Action::Transfer { partition, from: peer });
        }
    }

    /// What lies beside a replica is another cluster's, and the next thing that happens to it is a copy.
    pub(super) fn come_from_another_cluster(&mut self, at: usize, peer: NodeId) {
        let partition = self.books[at].namespace();
        self.append_and_flush(at, self.batches_end);
        if self.tape.chance(STREAM, 600) {
            self.push(Action::Stop);
        } else {
            self.crash_now(Crash::Process);
        }
        self.take_superblocks(at);
        self.push(Action::Start);
        self.push(Action::Transfer { partition, from: peer });
    }
}
