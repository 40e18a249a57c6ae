//! The life of a world with hosts: nodes come and go one by one, topics are deleted and made again, links come and
//! go, copies are asked for, and clients go on throughout.
//!
//! Which node and what happens next comes from the stream of hosts; what is written, how nodes go down and what is
//! damaged from the streams of those.

use super::draft::Draft;
use super::errors::Moment;
use super::swarm::Habit;
use crate::schedule::step::{AcceptLoss, Action, LinkState, NodeId, OffsetRange};
use crate::schedule::tape::Stream;
use crate::schedule::world::Regime;
use recovery_core::units::Offset;

const STREAM: Stream = Stream::Host;

/// How many of 1000 steps of a host have a crash inside, where nodes go down inside steps at all.
const CRASH_SHARE: u32 = 150;
/// Most stories of a world.
const STORIES_MOST: u32 = 2;

/// What the generator knows of a node.
#[derive(Clone, Copy)]
pub(super) struct NodeBook {
    pub(super) is_up: bool,
    has_page_cache: bool,
}

#[derive(Clone, Copy)]
enum Deed {
    AppendAndFlush,
    Append,
    Flush,
    Poll,
    Checkpoint,
    Roll,
    Retain,
    Create,
    Delete,
    Confirm,
    Reconcile,
    QueueInsert,
    ApplyInserts,
    AcceptLoss,
    Link,
    Transfer,
    Story,
    Down,
}

/// What a world may still go through.
struct Left {
    downs: u32,
    stories: u32,
}

impl Draft<'_> {
    pub(super) fn live_hosted(&mut self) {
        let count = self.world.nodes;
        let mut nodes = vec![NodeBook { is_up: true, has_page_cache: false }; usize::from(count)];
        let last_batch = self.batches_end;
        let at = self.pick_partition(Stream::Workload);
        self.append_and_flush(at, last_batch);
        self.birth_of_hosts(&nodes);
        let mut left = Left { downs: 1 + self.draw_downs(), stories: STORIES_MOST };
        let rounds = self.tape.range(STREAM, 8, 8 + 2 * self.shape.actions);
        for _ in 0..rounds {
            let node = self.tape.index(STREAM, nodes.len());
            self.node = NodeId(u8::try_from(node).expect("a world has few nodes"));
            self.has_page_cache = nodes[node].has_page_cache;
            if nodes[node].is_up {
                if !self.motif_of_host(&nodes) && self.deed_of_host(&nodes, &mut left) {
                    nodes[node] = NodeBook { is_up: false, has_page_cache: self.has_page_cache };
                }
            } else if self.come_up_with_host() {
                nodes[node].is_up = true;
            } else {
                nodes[node].has_page_cache = self.has_page_cache;
            }
        }
        self.end_of_hosts(&nodes);
        self.node = NodeId(0);
    }

    /// What befalls a node that is down, and mostly a start; says whether it is up.
    fn come_up_with_host(&mut self) -> bool {
        self.crash_deeper();
        if self.world.regime == Regime::Unlimited {
            self.damage();
            self.operate();
            self.befall();
        }
        self.spoil_beside();
        if self.swarm.has(Habit::CrashInRecovery) && self.tape.chance(Stream::Crashes, 200) {
            self.crash_in_recovery();
            return false;
        }
        let errors = self.start_errors();
        self.push_inside(Action::Start, errors);
        true
    }

    /// One thing that happens to a node that is up; says whether it is down behind it.
    fn deed_of_host(&mut self, nodes: &[NodeBook], left: &mut Left) -> bool {
        let at = self.pick_partition(STREAM);
        let partition = self.books[at].namespace();
        let last_batch = self.batches_end;
        let has_peers = u32::from(self.world.nodes > 1);
        let deeds = [
            (8, Deed::AppendAndFlush),
            (3, Deed::Append),
            (2, Deed::Flush),
            (3, Deed::Poll),
            (self.swarm.weight(Habit::Checkpoint, 2), Deed::Checkpoint),
            (self.swarm.weight(Habit::Roll, 2), Deed::Roll),
            (self.swarm.weight(Habit::Retention, 2), Deed::Retain),
            (1, Deed::Delete),
            (2, Deed::Create),
            (1, Deed::Confirm),
            (3, Deed::Reconcile),
            (1, Deed::QueueInsert),
            (1, Deed::ApplyInserts),
            (2 - has_peers, Deed::AcceptLoss),
            (2 * has_peers, Deed::Link),
            (3 * has_peers, Deed::Transfer),
            (self.swarm.weight(Habit::Stories, 4 * left.stories.min(1)), Deed::Story),
            (6 * left.downs.min(1), Deed::Down),
        ];
        match self.tape.weighted(STREAM, &deeds) {
            Deed::AppendAndFlush => self.append_and_flush(at, last_batch),
            Deed::Append => self.append(at, last_batch),
            Deed::Flush => self.flush(at),
            Deed::Poll => self.poll(at),
            Deed::Checkpoint => self.disturbed(Action::Checkpoint(partition), Moment::Checkpoint),
            Deed::Roll => self.roll(at),
            Deed::Retain => self.retain(at),
            Deed::Create => return self.of_host(Action::Create(partition), Moment::Command),
            Deed::Delete => {
                self.books[at].begin_life();
                return self.of_host(Action::Delete(partition), Moment::Command);
            }
            Deed::Confirm => return self.of_host(Action::Confirm(partition), Moment::Command),
            Deed::Reconcile => return self.of_host(Action::Reconcile, Moment::Pass),
            Deed::QueueInsert => self.push(Action::QueueInsert(partition)),
            Deed::ApplyInserts => return self.of_host(Action::ApplyInserts, Moment::Pass),
            Deed::AcceptLoss => {
                let range = self.lost_range(at);
                return self.of_host(Action::AcceptLoss(AcceptLoss { partition, range }), Moment::Pass);
            }
            Deed::Link => {
                let state = self.tape.pick(STREAM, &LinkState::ALL);
                self.push(Action::Link(state));
            }
            Deed::Transfer => {
                let from = NodeId(self.tape.pick(STREAM, &[0, 1, 2]));
                let is_down = self.of_host(Action::Transfer { partition, from }, Moment::Copy);
                self.spoil_wire();
                return is_down;
            }
            Deed::Story => {
                left.stories -= 1;
                return self.story(nodes);
            }
            Deed::Down => {
                left.downs -= 1;
                self.go_down();
                return true;
            }
        }
        false
    }

    /// A step of a host, perhaps with a call that goes wrong, or a crash; says whether the node is down behind it.
    pub(super) fn of_host(&mut self, action: Action, moment: Moment) -> bool {
        if self.swarm.has(Habit::CrashInside) && self.tape.chance(Stream::Crashes, CRASH_SHARE) {
            self.crash_in(action, moment);
            return true;
        }
        self.disturbed(action, moment);
        false
    }

    /// What an operator may give up: the offsets of one batch, or nothing.
    pub(super) fn lost_range(&mut self, at: usize) -> Option<OffsetRange> {
        let count = self.books[at].batches.len();
        let chosen = self.tape.index(STREAM, count.max(1));
        let batches = &self.books[at].batches;
        let first: u64 = batches.iter().take(chosen).map(|batch| u64::from(batch.messages)).sum();
        let last = batches.get(chosen)?.messages.checked_sub(1)?;
        let range = OffsetRange { first: Offset::new(first), last: Offset::new(first + u64::from(last)) };
        self.tape.weighted(STREAM, &[(2, Some(range)), (1, None)])
    }
}
