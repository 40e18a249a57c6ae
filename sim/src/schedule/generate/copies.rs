//! Copies from peers, with what is the matter at either end, on the way, and behind them.
//!
//! Promises: each of the steps counts only in the state that the one before has left: something is lost here, of a peer
//! that is sound, behind, of another life, emptied, or that has given something up, all of it is asked for, and a crash
//! cuts the copy short, after which the node goes on, and down again. Leaves out: bytes that change on the way (`wire`).

use recovery_core::storage::Call;
use recovery_core::units::Offset;

use super::draft::Draft;
use super::errors::Moment;
use super::hosted::NodeBook;
use super::workload::narrow;
use crate::schedule::crash::{Crash, Survivors};
use crate::schedule::fault::{Edit, Fault, FaultKind, Times};
use crate::schedule::field::SuperblockField;
use crate::schedule::step::{AcceptLoss, Action, NodeId, Retain};
use crate::schedule::tape::Stream;
use crate::schedule::target::{FileRole, Slot, Target};

const STREAM: Stream = Stream::Host;

/// How many of 1000 copies have a crash inside.
const CRASH_SHARE: u32 = 500;
/// How many of 1000 of those have it at one of the calls that put the copy in its place.
const PLACING_SHARE: u32 = 500;
/// How many of 1000 copies that a crash has cut short are damaged before the next start.
const SPOILT_SHARE: u32 = 300;
/// How many of 1000 of the others are followed by more work, and another crash.
const GOES_ON_SHARE: u32 = 600;
/// Bytes behind the end of a log of a peer that is served.
const BEHIND_BYTES: u64 = 300;

/// What is the matter with the peer that a copy is asked of.
#[derive(Clone, Copy)]
enum Peer {
    Sound,
    Behind,
    OfAnotherLife,
    GaveUp,
    Emptied,
    Lengthened,
}

/// What is the matter here.
#[derive(Clone, Copy)]
enum Loss {
    Flip,
    Sector,
    Directory,
    Stranger,
}

impl Draft<'_> {
    /// Something is lost here, and a peer is asked for all of it; says whether the node is down.
    pub(super) fn copy(&mut self, at: usize, nodes: &[NodeBook]) -> bool {
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
        let lost = self.lose_any(at);
        let from = peers.get(index).copied().unwrap_or(NodeId((here.0 + 1) % self.world.nodes));
        let transfer = Action::Transfer { partition, from };
        if self.tape.chance(Stream::Crashes, CRASH_SHARE) {
            return self.copy_cut_short(at, transfer, lost);
        }
        self.push(transfer);
        self.spoil_wire();
        false
    }

    /// A crash cuts a copy short, and the node may go on from there; says whether it is down.
    fn copy_cut_short(&mut self, at: usize, transfer: Action, lost: Option<usize>) -> bool {
        if self.tape.chance(STREAM, PLACING_SHARE) {
            let on = self.tape.pick(STREAM, &[Call::Rename, Call::SyncDirectory]);
            let call = narrow(self.tape.range(STREAM, 1, 4));
            self.cut_short(transfer, on, call);
        } else {
            self.crash_in(transfer, Moment::Copy);
        }
        if self.tape.chance(STREAM, SPOILT_SHARE) {
            self.spoil_marker(at);
            return true;
        }
        if !self.tape.chance(STREAM, GOES_ON_SHARE) {
            return true;
        }
        let partition = self.books[at].namespace();
        self.push(Action::Start);
        if self.tape.chance(STREAM, 500) {
            // Where the copy did not get its place, the partition is served without what was lost.
            let range = lost.and_then(|batch| self.offsets_of(at, batch));
            self.push(Action::AcceptLoss(AcceptLoss { partition, range }));
        }
        self.append_and_flush(at, self.batches_end);
        if self.tape.chance(STREAM, 500) {
            self.crash_now(Crash::Process);
            self.lose_directory(at);
            self.push(Action::Start);
            return false;
        }
        let mut survival = self.survival();
        survival.survive = Survivors::None;
        self.crash_now(Crash::Power(survival));
        true
    }

    /// Something is lost here, and a start has found it; which batch, if it is one.
    fn lose_any(&mut self, at: usize) -> Option<usize> {
        let partition = self.books[at].namespace();
        let has_superblock = u32::from(self.books[at].header.superblock_frontier.is_some());
        let losses =
            [(6, Loss::Flip), (2, Loss::Sector), (1, Loss::Directory), (4 * has_superblock, Loss::Stranger)];
        match self.tape.weighted(STREAM, &losses) {
            Loss::Flip => {
                let lost = self.lose(at);
                self.push(Action::Start);
                return lost;
            }
            Loss::Sector => {
                let index = self.pick_batch(STREAM, at);
                let written = self.books[at].batches.get(index).copied()?;
                self.crash_now(Crash::Process);
                let target = Target::Batch { partition, batch: written.batch, field: None };
                let fault = Fault::new(FaultKind::LatentSectorError, target);
                self.push(Action::Fault { fault, cached: false });
                self.push(Action::Start);
                // A range is asked for once it has stayed unreadable.
                self.push(Action::Reconcile);
                self.push(Action::Reconcile);
            }
            Loss::Directory => {
                self.crash_now(Crash::Process);
                self.lose_directory(at);
                self.push(Action::Start);
            }
            Loss::Stranger => {
                self.crash_now(Crash::Process);
                self.take_superblocks(at);
                self.push(Action::Start);
            }
        }
        None
    }

    pub(super) fn lose_directory(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        let target = Target::File { partition, file: FileRole::Directory, position: 0, length: None };
        let fault = Fault::new(FaultKind::LostDirectoryEntry, target);
        self.push(Action::Fault { fault, cached: false });
    }

    /// A superblock is another cluster's, and the other one perhaps is too, or does not verify.
    pub(super) fn take_superblocks(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        let first = self.tape.pick(STREAM, &[Slot::A, Slot::B]);
        let other = if first == Slot::A { Slot::B } else { Slot::A };
        let hit = |slot, field| {
            let target = Target::Superblock { partition, slot, field: Some(field) };
            Fault { edit: Some(Edit::Bit(0)), ..Fault::new(FaultKind::BitFlip, target) }
        };
        let stranger = |slot| Fault { restamp: true, ..hit(slot, SuperblockField::Cluster) };
        self.push(Action::Fault { fault: stranger(first), cached: false });
        let seconds = [None, Some(false), Some(true)];
        if let Some(is_stranger) = self.tape.pick(STREAM, &seconds) {
            let fault = if is_stranger { stranger(other) } else { hit(other, SuperblockField::Checksum) };
            self.push(Action::Fault { fault, cached: false });
        }
    }

    /// Makes of a peer what it is to be when it is asked.
    fn prepare(&mut self, at: usize, peer: NodeId) {
        let partition = self.books[at].namespace();
        let here = self.node;
        let kinds = [
            (3, Peer::Sound),
            (2, Peer::Behind),
            (2, Peer::OfAnotherLife),
            (4, Peer::GaveUp),
            (2, Peer::Emptied),
            (2, Peer::Lengthened),
        ];
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
            Peer::Emptied => {
                self.node = peer;
                self.push(Action::Roll(partition));
                let below = Offset::new(self.books[at].next_offset);
                self.push(Action::Retain(Retain { partition, below }));
                self.node = here;
            }
            Peer::Lengthened => {
                self.node = peer;
                let last = self.books[at].last_segment();
                let (file, position) = (FileRole::Log(last.start), last.bytes);
                let target = Target::File { partition, file, position, length: Some(BEHIND_BYTES) };
                self.push(Action::Fault { fault: Fault::new(FaultKind::Noise, target), cached: false });
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
}
