//! Chains of steps of which each counts only in the state that the one before has left.
//!
//! Promises: which of them befalls a world comes from a stream of its own, so that a world that none befalls is as it
//! would be without this file; each draws its sizes, its places and its crashes anew; one takes no more downs than there
//! are left. Leaves out: the chains of one node without a host (`cuts`), those of a node with one (`hardships`), and
//! those of several nodes together (`replicas`, `replaced`).

use recovery_core::storage::Call;
use recovery_core::units::Durability;

use super::draft::Draft;
use super::hosted::NodeBook;
use super::workload::narrow;
use crate::schedule::crash::{CallPoint, Crash, CrashInside, Survival, Survivors};
use crate::schedule::fault::{Fault, FaultInside};
use crate::schedule::step::{Action, Append, BatchId, Interruption, LinkState, NodeId};
use crate::schedule::tape::Stream;
use crate::schedule::world::{Filesystem, Regime};

const STREAM: Stream = Stream::Motifs;

/// How many of 1000 worlds of a node without a host begin with one.
const BIRTH_SHARE: u32 = 60;
/// How many of 1000 phases of work of such a node end with one.
const SHARE: u32 = 120;
/// The same on the filesystem that keeps no order.
const UNORDERED_SHARE: u32 = 450;
/// How many of 1000 worlds with hosts begin with one.
const HOST_BIRTH_SHARE: u32 = 420;
/// How many of 1000 steps of a node with a host are one.
const HOST_SHARE: u32 = 20;
/// How many of 1000 worlds of several nodes end with a power loss everywhere.
const END_SHARE: u32 = 40;
/// The same on the filesystem that keeps no order.
const UNORDERED_END_SHARE: u32 = 300;

/// What befalls a node without a host.
#[derive(Clone, Copy)]
enum Single {
    FullDevice,
    CutAndVouched,
    TwoNames,
    TornAndWhole,
}

/// What befalls nodes with hosts.
#[derive(Clone, Copy)]
enum Hosted {
    LastNumber,
    Forgotten,
    MadeAnew,
    Holes,
    LeftOut,
    Unplaced,
    Waiting,
    Shorter,
    Stranger,
    WayAgain,
    FenceUnnamed,
    Outlived,
}

impl Draft<'_> {
    /// Perhaps the first batch of a world is all that is in doubt; how many downs that took.
    pub(super) fn birth(&mut self) -> u32 {
        if !self.tape.chance(STREAM, BIRTH_SHARE) {
            return 0;
        }
        self.doubt_the_first();
        1
    }

    /// Perhaps the node goes down by one of them, and is up again behind it; how many downs that took.
    pub(super) fn motif(&mut self, downs: u32) -> u32 {
        let is_unordered = self.world.filesystem == Filesystem::Adversarial;
        let share = if is_unordered { UNORDERED_SHARE } else { SHARE };
        if !self.tape.chance(STREAM, share) {
            return 0;
        }
        let at = self.pick_partition(STREAM);
        let is_unlimited = u32::from(self.world.regime == Regime::Unlimited);
        let has_two = u32::from(downs > 1);
        // Only there a name may be half changed, or what was cut come back behind a later sync of another file.
        let unordered = has_two * is_unlimited * (1 + 9 * u32::from(is_unordered));
        let motifs = [
            (2, Single::FullDevice),
            (unordered, Single::CutAndVouched),
            (unordered, Single::TwoNames),
            (4 * is_unlimited, Single::TornAndWhole),
        ];
        match self.tape.weighted(STREAM, &motifs) {
            Single::FullDevice => self.fill_the_device(at),
            Single::TornAndWhole => self.tear_before_a_whole_one(at),
            Single::CutAndVouched => {
                self.cut_and_vouch(at);
                return 2;
            }
            Single::TwoNames => {
                self.leave_two_names(at);
                return 2;
            }
        }
        1
    }

    /// Perhaps one of them befalls nodes with hosts; whether one did.
    pub(super) fn motif_of_host(&mut self, nodes: &[NodeBook]) -> bool {
        let is_one = self.tape.chance(STREAM, HOST_SHARE);
        if is_one {
            self.drawn_motif(nodes);
        }
        is_one
    }

    /// Perhaps a world with hosts begins with one, before anything else was done to any of its nodes.
    pub(super) fn birth_of_hosts(&mut self, nodes: &[NodeBook]) {
        if self.tape.chance(STREAM, HOST_BIRTH_SHARE) {
            let node = self.tape.index(STREAM, nodes.len());
            self.node = NodeId(u8::try_from(node).expect("a world has few nodes"));
            self.drawn_motif(nodes);
        }
    }

    /// Perhaps a world of several nodes ends with a power loss on all of them: what comes of it is seen when they settle.
    pub(super) fn end_of_hosts(&mut self, nodes: &[NodeBook]) {
        let is_unordered = self.world.filesystem == Filesystem::Adversarial;
        let share = if is_unordered { UNORDERED_END_SHARE } else { END_SHARE };
        if self.world.nodes == 1 || !self.tape.chance(STREAM, share) {
            return;
        }
        let at = self.pick_partition(STREAM);
        let all: Vec<NodeId> = (0..self.world.nodes).map(NodeId).collect();
        for node in &all {
            self.node = *node;
            if !nodes[usize::from(node.0)].is_up {
                self.push(Action::Start);
            }
            self.push(Action::Link(LinkState::Up));
        }
        self.node = self.tape.pick(STREAM, &all);
        let _is_apart = self.fail_everywhere(at, &all);
    }

    /// One of the motifs of hosts. Behind it the node is up.
    fn drawn_motif(&mut self, nodes: &[NodeBook]) {
        let at = self.pick_partition(STREAM);
        let has_damage = u32::from(self.world.regime == Regime::Unlimited);
        let has_superblock = has_damage * u32::from(self.books[at].header.superblock_frontier.is_some());
        let is_lone = u32::from(self.world.nodes == 1);
        let peers = self.peers(nodes);
        let has_peers = u32::from(!peers.is_empty());
        let replicas = has_peers * has_damage;
        let is_unordered = u32::from(self.world.filesystem == Filesystem::Adversarial);
        let motifs = [
            (1 + 4 * is_lone, Hosted::MadeAnew),
            ((2 + 4 * is_lone) * has_superblock, Hosted::LastNumber),
            ((2 + 4 * is_lone) * has_damage, Hosted::Forgotten),
            (has_peers * (4 + 14 * is_unordered), Hosted::Holes),
            (3 * replicas, Hosted::LeftOut),
            (replicas * (1 + 9 * is_unordered), Hosted::Unplaced),
            (2 * replicas, Hosted::Waiting),
            (4 * replicas, Hosted::Shorter),
            (4 * has_peers * has_superblock, Hosted::Stranger),
            (3 * replicas, Hosted::WayAgain),
            (3 * replicas, Hosted::FenceUnnamed),
            (3 * replicas, Hosted::Outlived),
        ];
        let motif = self.tape.weighted(STREAM, &motifs);
        let peer = if peers.is_empty() { self.node } else { self.tape.pick(STREAM, &peers) };
        match motif {
            Hosted::LastNumber => self.reach_the_last_number(at),
            Hosted::Forgotten => self.forget_what_was_given_up(at),
            Hosted::MadeAnew => self.make_anew(at),
            Hosted::Holes => self.leave_holes(at, nodes),
            Hosted::LeftOut => self.leave_out(at, peer),
            Hosted::Unplaced => self.place_and_go_down(at, peer),
            Hosted::Waiting => self.ask_one_that_waits(at, peer),
            Hosted::Shorter => self.ask_one_that_is_behind(at, peer),
            Hosted::Stranger => self.come_from_another_cluster(at, peer),
            Hosted::WayAgain => self.make_way_again(at, peer),
            Hosted::FenceUnnamed => self.damage_what_names_the_fence(at, peer),
            Hosted::Outlived => self.outlive_the_loss(at, peer),
        }
    }

    /// The other nodes that are up.
    fn peers(&self, nodes: &[NodeBook]) -> Vec<NodeId> {
        let all = (0..self.world.nodes).map(NodeId);
        all.filter(|node| *node != self.node && nodes[usize::from(node.0)].is_up).collect()
    }

    /// A partition that is only synced now and then, if there is one; else `at`.
    pub(super) fn buffered(&self, at: usize) -> usize {
        let is_buffered = |at: &usize| self.books[*at].header.durability == Durability::Buffered;
        std::iter::once(at).chain(0..self.books.len()).find(is_buffered).unwrap_or(at)
    }

    /// Appends batches of one message each, as far as the world and the partition have room; how many.
    pub(super) fn put_some(&mut self, at: usize, count: u32, payload_bytes: u32) -> u32 {
        let book = &self.books[at];
        let has_room = book.may_roll() || !book.is_full();
        let count = if has_room { count.min(self.batches_end - self.next_batch) } else { 0 };
        if count == 0 {
            return 0;
        }
        let first = BatchId(self.next_batch);
        let append = Append { count, payload_bytes, ..Append::new(book.namespace(), first) };
        for number in 0..count {
            self.books[at].append(BatchId(first.0 + number), append.messages, payload_bytes);
        }
        self.next_batch += count;
        self.push(Action::Append(append));
        count
    }

    /// A flush in which nothing goes wrong.
    pub(super) fn flush_all(&mut self, at: usize) {
        self.books[at].is_dirty = false;
        self.push(Action::Flush(self.books[at].namespace()));
    }

    /// A step with a fault at one of its calls.
    pub(super) fn push_faulty(&mut self, action: Action, on: Call, call: u64, fault: Fault) {
        let at = CallPoint { on: Some(on), call: narrow(call) };
        let inside = FaultInside { at, at_peer: false, fault };
        self.push_inside(action, vec![Interruption::Fault(inside)]);
    }

    /// A step with a crash inside. Should its call never come, the process goes down behind it.
    pub(super) fn push_crashing(&mut self, action: Action, on: Call, call: u64, crash: Crash) {
        let at = CallPoint { on: Some(on), call: narrow(call) };
        self.push_inside(action, vec![Interruption::Crash(CrashInside { at, inside: None, crash })]);
        self.push(Action::Crash(Crash::Process));
    }

    /// A power loss that mostly keeps nothing that was not synced.
    pub(super) fn deep_crash(&mut self) -> Crash {
        if self.tape.chance(STREAM, 700) {
            return Crash::Power(Survival::of(Survivors::None));
        }
        Crash::Power(self.survival())
    }
}
