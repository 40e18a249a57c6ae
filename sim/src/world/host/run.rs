//! One schedule on nodes with hosts, from its first step to its last, and to the rest that must follow.

use recovery_core::observe::{Progress, Workspace};
use recovery_core::partition::Polled;
use recovery_core::storage::Call;
use recovery_core::units::Namespace;

use super::cluster::{Cluster, Command};
use super::member::Member;
use super::sight::Sight;
use super::slices::{SLICES_MAX, slice_bytes, to_the_end};
use super::wire::Wire;
use crate::disk::{Disturbance, Event as DiskEvent, Geometry, Injection, SimDisk, Snapshot};
use crate::oracle::{Check, Value, Violation, judge};
use crate::run::tally::Tally;
use crate::schedule::{Action, Fault, FaultInside, Interruption, Schedule, Step};
use crate::world::arena::Arena;
use crate::world::event::{EventCode, Recorder, word};
use crate::world::frozen::FrozenNode;
use crate::world::left::NodeLeft;
use crate::world::meter::{Meter, Phase};
use crate::world::moment::{Moment, Pending};
use crate::world::node::{Lies, Service, Slot};
use crate::world::outcome::Outcome;
use crate::world::report::{Failure, Report};
use crate::world::run::phase_of;
use crate::world::serve::{Answer, Scratch};
use crate::world::start::is_an_answer;
use crate::world::told::Told;
use crate::world::watch::Watch;
use crate::world::{damage, interrupt, look};

/// A world with hosts.
pub(super) struct HostWorld<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) members: Vec<Member>,
    pub(super) cluster: Cluster,
    pub(super) workspace: Workspace,
    pub(super) polled: Polled,
    pub(super) recorder: Recorder,
    pub(super) scratch: Scratch,
    pub(super) snapshot: Snapshot,
    injections: Vec<Injection>,
    /// What goes wrong with bytes on their way from a peer.
    pub(super) wire: Wire,
    /// Calls of the step so far, on the node that it is about.
    pub(super) calls: Vec<DiskEvent>,
    /// Which slot has answered a client's call since then, and whether with success.
    pub(super) answers: Vec<(usize, bool)>,
    pub(super) outcome: Outcome,
    pub(super) failures: Vec<Failure>,
    pub(super) expects: bool,
    pub(super) meter: Meter,
    pub(super) step: u32,
    pub(super) told: Option<Told>,
    pending: Option<Pending>,
    until: Option<u32>,
    keeps_disks: bool,
    moment: Option<Moment>,
    plants_promise: bool,
}

/// Runs one schedule on nodes with hosts.
pub(in crate::world) fn run(
    schedule: &Schedule,
    arena: &mut Arena,
    tally: &mut Tally,
    watch: Watch,
) -> Report {
    let mut world = HostWorld::begin(schedule, arena, tally, watch);
    for (index, step) in schedule.steps.iter().enumerate() {
        world.step = u32::try_from(index).expect("a schedule is short");
        world.do_step(step, tally);
        if watch.until == Some(world.step) {
            let pending = world.pending.take();
            world.moment = Some(world.moment_of(pending));
            return world.end(arena, tally);
        }
    }
    world.settle(tally);
    world.end(arena, tally)
}

/// The nodes of a schedule as they are found in front of step `at`; past the last, in the end.
pub(in crate::world) fn freeze(
    schedule: &Schedule,
    arena: &mut Arena,
    at: u32,
    watch: Watch,
) -> Vec<FrozenNode> {
    let mut tally = Tally::default();
    let mut world = HostWorld::begin(schedule, arena, &mut tally, watch);
    for (index, step) in (0..at).zip(&schedule.steps) {
        world.step = index;
        world.do_step(step, &mut tally);
    }
    let frozen = world
        .members
        .iter()
        .map(|member| FrozenNode::of(&member.node, |index| !member.extras[index].is_deleted));
    frozen.collect()
}

impl<'a> HostWorld<'a> {
    fn begin(schedule: &'a Schedule, arena: &mut Arena, tally: &mut Tally, watch: Watch) -> Self {
        let header = &schedule.world;
        let geometry =
            Geometry::new(header.sector_bytes, header.page_bytes).expect("a schedule's geometry was checked");
        let members = (0..header.nodes).map(|_| {
            let disk = match arena.disks.pop() {
                Some(disk) => {
                    disk.reset(geometry, header.filesystem);
                    disk
                }
                None => SimDisk::new(geometry, header.filesystem),
            };
            Member::new(disk, header.partitions.iter().map(|partition| Slot::new(*partition)).collect())
        });
        let workspace = match arena.workspace.take() {
            Some((bytes, workspace)) if bytes == header.window_bytes => workspace,
            Some(_) | None => Workspace::new(header.window_bytes as usize),
        };
        let mut recorder = std::mem::take(&mut arena.recorder);
        recorder.reset(watch.keeps_events);
        let mut world = Self {
            schedule,
            members: members.collect(),
            cluster: Cluster::default(),
            workspace,
            polled: Polled::default(),
            recorder,
            scratch: std::mem::take(&mut arena.scratch),
            snapshot: std::mem::take(&mut arena.snapshot),
            injections: std::mem::take(&mut arena.injections),
            wire: Wire::default(),
            calls: Vec::new(),
            answers: Vec::new(),
            outcome: Outcome::new(),
            failures: Vec::new(),
            expects: schedule.steps.iter().any(Step::is_expectation),
            meter: arena.meter,
            step: 0,
            told: watch.keeps_events.then(Told::default),
            pending: None,
            until: watch.until,
            keeps_disks: watch.keeps_disks,
            moment: None,
            plants_promise: watch.plants_promise,
        };
        world.meter.enter(Phase::Write);
        world.create_partitions(tally);
        world
    }

    /// Before the first step every node is up, and every partition of the header is made and served.
    fn create_partitions(&mut self, tally: &mut Tally) {
        for partition in &self.schedule.world.partitions {
            let key = self.cluster.new_life(partition.namespace);
            self.cluster.commit(0, Command::Create(key));
        }
        for m in 0..self.members.len() {
            self.members[m].host = Some(self.members[m].new_host());
            self.start_host(m);
            self.members[m].hear(&self.cluster, 0);
            self.take_commands(m).expect("a disk without faults takes records");
            self.make_first_partitions(m);
            self.note_events(m, &Sight::default(), tally);
            for index in 0..self.members[m].node.slots.len() {
                assert!(self.members[m].is_served(index), "a partition is made on a disk without faults");
            }
            self.members[m].node.disk.record(true);
            self.members[m].node.disk.record_contents(true);
        }
    }

    /// Makes every partition, and lays the superblock that a world begins with before it is looked at.
    fn make_first_partitions(&mut self, m: usize) {
        let member = &mut self.members[m];
        let host = member.host.as_mut().expect("the node is up");
        for slot in &member.node.slots {
            host.queue_insert(slot.header.namespace).expect("it was created");
        }
        let limit = slice_bytes(self.schedule);
        let has_ended = to_the_end(|| {
            if host.apply_inserts(&member.node.disk, &mut self.workspace, limit) == Progress::Done {
                return Progress::Done;
            }
            for slot in &member.node.slots {
                let Some(frontier) = slot.header.superblock_frontier else { continue };
                let file = recovery_core::format::SuperblockSlot::A.name();
                let is_bare = look::file(&member.node.disk, &slot.components, &file).is_none();
                if is_bare && look::directory(&member.node.disk, &slot.components).is_some() {
                    look::lay_superblock(&member.node.disk, &slot.components, frontier)
                        .expect("a disk without faults takes a superblock");
                }
            }
            Progress::More
        });
        assert!(has_ended, "partitions are made within {SLICES_MAX} slices");
    }

    pub(super) fn do_step(&mut self, step: &Step, tally: &mut Tally) {
        self.meter.enter(phase_of(&step.action));
        self.recorder.at(step.node.0, self.step);
        self.recorder.note(EventCode::Step, word(step.action.word()), 0, 0);
        self.calls.clear();
        self.answers.clear();
        let m = usize::from(step.node.0);
        if m >= self.members.len() {
            self.miss(step, tally);
            return;
        }
        self.interrupt(m, step, tally);
        let sight = self.sight_before(m, step, tally);
        self.members[m].node.disk.begin_step(&self.injections);
        let answer = self.act(m, step, tally);
        self.remember(m, step, answer);
        let ended = self.members[m].node.disk.end_step();
        let syncs = (self.members[m].has_sync_failed, self.members[m].had_failed_sync);
        self.note_calls(m, tally);
        if ended.crashed.is_some() && self.only_goes_down(m) {
            // Behind the crash every call failed, and nothing else did.
            (self.members[m].has_sync_failed, self.members[m].had_failed_sync) = syncs;
        }
        if let Some(told) = &mut self.told {
            told.own_ends.insert(self.step, self.recorder.count());
        }
        let missed = ended.missed + self.wire.missed();
        tally.missed += u64::from(missed) + u64::from(answer == Answer::Missed);
        let is_ready = self.injections.len() + self.wire.len() == step.interruptions.len();
        let is_missed = answer == Answer::Missed || missed > 0 || !is_ready;
        if let Some(told) = self.told.as_mut().filter(|_| is_missed) {
            told.missed.push(self.step);
        }
        if answer == Answer::Missed {
            self.recorder.note(EventCode::Missed, word(step.action.word()), 0, 0);
        }
        if ended.crashed.is_none() {
            self.check_failed_syncs(m);
            self.check_taken_over(m, step);
        }
        self.look_behind(m, step, sight, ended.crashed.is_some(), tally);
        if let Some(restart) = ended.crashed {
            let crash = step.interruptions.iter().find_map(|interruption| match interruption {
                Interruption::Crash(inside) if inside.crash.restart() == restart => Some(&inside.crash),
                Interruption::Crash(_) | Interruption::Fault(_) => None,
            });
            self.go_down(m, crash.expect("a crash inside a step is one of its interruptions"), tally);
        }
        self.follow(tally);
    }

    fn miss(&mut self, step: &Step, tally: &mut Tally) {
        tally.missed += 1;
        self.recorder.note(EventCode::Missed, word(step.action.word()), 0, 0);
        if let Some(told) = &mut self.told {
            told.missed.push(self.step);
        }
    }

    /// Makes ready what is to go wrong inside the step.
    fn interrupt(&mut self, m: usize, step: &Step, tally: &mut Tally) {
        self.forget_injections();
        for interruption in &step.interruptions {
            if let Interruption::Fault(inside) = interruption
                && inside.at_peer
            {
                tally.missed += u64::from(!self.interrupt_wire(inside, step));
                continue;
            }
            match interrupt::injection(&self.members[m].node, interruption) {
                Some(injection) => self.injections.push(injection),
                None => tally.missed += 1,
            }
            if let Interruption::Fault(inside) = interruption
                && (!inside.fault.kind.is_legal() || self.is_told_late(m, &inside.fault, inside.at.on))
            {
                // A step of a host makes calls for every partition, so the fault may hit any of them.
                damage::mark_damaged(&mut self.members[m].node, &inside.fault, step.action.partition(), true);
                self.members[m].was_lied_to = true;
            }
        }
        self.note_damage(m);
    }

    /// Makes ready what is to go wrong with bytes on their way; whether there is a peer, and what it takes.
    fn interrupt_wire(&mut self, inside: &FaultInside, step: &Step) -> bool {
        let Action::Transfer { from, .. } = step.action else { return false };
        let Self { members, wire, .. } = self;
        members.get(usize::from(from.0)).is_some_and(|peer| wire.add(&peer.node, inside))
    }

    /// Whether what the fault does to a call is reported by a later one.
    pub(super) fn is_told_late(&self, m: usize, fault: &Fault, on: Option<Call>) -> bool {
        let disturbance = interrupt::disturbance(&self.members[m].node, fault);
        let filesystem = self.schedule.world.filesystem;
        disturbance.is_some_and(|disturbance| interrupt::is_told_late(filesystem, &disturbance, on))
    }

    /// What was to go wrong inside the step is over.
    pub(super) fn forget_injections(&mut self) {
        self.injections.clear();
        self.wire.clear();
    }

    /// Keeps in mind which partitions were ever damaged.
    pub(super) fn note_damage(&mut self, m: usize) {
        let Member { node, extras, .. } = &mut self.members[m];
        for (slot, extra) in node.slots.iter().zip(extras) {
            extra.was_damaged |= !slot.truth.damages.is_empty();
        }
    }

    /// Whether something is to go wrong inside the step, and all of it is that the node goes down.
    pub(super) fn only_goes_down(&self, m: usize) -> bool {
        let is_crash = |injection: &Injection| matches!(injection.disturbance, Disturbance::Crash { .. });
        let (has_any, is_waiting) = (!self.injections.is_empty(), self.members[m].node.is_waiting);
        has_any && !is_waiting && self.injections.iter().all(is_crash)
    }

    /// Whether anything is to go wrong inside the step, or lies in wait.
    pub(super) fn is_disturbed(&self, m: usize) -> bool {
        !self.injections.is_empty() || self.members[m].node.is_waiting
    }

    /// Whether every call of the step so far did what it said, and none failed.
    pub(super) fn is_calm(&self, m: usize) -> bool {
        let fails = |call: &DiskEvent| call.errno.is_some_and(|errno| !is_an_answer(errno));
        !self.is_disturbed(m) && !self.calls.iter().any(fails)
    }

    /// Whether what is to go wrong may put bytes where nobody asked for them, or show what is not there.
    pub(super) fn has_liars(&self, m: usize) -> bool {
        let lies = self.lies_of(m);
        lies.reads || lies.successes
    }

    /// In what the calls of the step may lie.
    pub(super) fn lies_of(&self, m: usize) -> Lies {
        let mut lies = self.members[m].node.lies;
        for injection in &self.injections {
            lies.add(&injection.disturbance, injection.times);
        }
        lies
    }

    /// Keeps what a scenario may ask about: how the last call of a client failed, and that an answer is the
    /// last thing that happened.
    fn remember(&mut self, m: usize, step: &Step, answer: Answer) {
        let is_look = step.is_expectation() || matches!(step.action, Action::Poll(_));
        if is_look {
            return;
        }
        for slot in &mut self.members[m].node.slots {
            slot.last.reply = None;
        }
        let error = match answer {
            Answer::Failed(code) => Some(code),
            Answer::Done | Answer::Missed => None,
        };
        if let Some(index) = step.action.partition().and_then(|namespace| self.members[m].index_of(namespace))
        {
            self.members[m].node.slots[index].last.error = error;
        }
        if let (Some(told), Some(code)) = (&mut self.told, error) {
            told.errors.push((self.step, code));
        }
    }

    /// Moves the disk's own events into the digest.
    pub(super) fn note_calls(&mut self, m: usize, tally: &mut Tally) {
        let before = self.meter.enter(Phase::Digest);
        let mut calls = Vec::new();
        self.members[m].node.disk.take_events(&mut calls);
        if let Some(told) = &mut self.told {
            told.calls(self.recorder.count(), &calls, &self.members[m].node.disk);
        }
        for call in &calls {
            match call.errno {
                None => self.recorder.call(call),
                Some(errno) => {
                    *tally.call_errors.entry(call.call).or_default() += u64::from(!is_an_answer(errno));
                    let is_sync = matches!(call.call, Call::Sync | Call::SyncDirectory);
                    self.members[m].has_sync_failed |= is_sync;
                    self.members[m].had_failed_sync |= is_sync;
                    let number = u64::from(errno.raw().unsigned_abs());
                    self.recorder.note(EventCode::CallFailed, call.subject(), call.position, number);
                }
            }
        }
        self.calls.extend_from_slice(&calls);
        let mut strikes = Vec::new();
        self.members[m].node.disk.take_strikes(&mut strikes);
        for strike in &strikes {
            if let Some(told) = &mut self.told {
                told.strike(self.recorder.count(), strike, &calls, &self.members[m].node.disk);
            }
            self.recorder.strike(strike, calls.len());
        }
        self.meter.enter(before);
    }

    /// Something of this step on a node is wrong.
    pub(super) fn fail(
        &mut self,
        partition: Option<Namespace>,
        violation: Violation,
        recovery_step: &'static str,
        remark: Option<String>,
    ) {
        let node = self.recorder.node();
        self.failures.push(Failure {
            violation,
            partition,
            remark,
            varied: None,
            node,
            step: self.step,
            recovery_step,
        });
    }

    /// Something came to no end.
    pub(super) fn fail_endless(&mut self, recovery_step: &'static str) {
        let violation = Violation::new(Check::I20, "slices of one pass", Value::Code("an end"), Value::None);
        self.fail(None, violation, recovery_step, None);
    }

    pub(super) fn will_end_behind(&self) -> bool {
        self.until == Some(self.step)
    }

    pub(super) fn set_pending(&mut self, pending: Pending) {
        self.pending = Some(pending);
    }

    pub(super) fn takes_planted_promise(&mut self) -> bool {
        std::mem::take(&mut self.plants_promise)
    }

    fn end(mut self, arena: &mut Arena, tally: &mut Tally) -> Report {
        self.meter.enter(Phase::Digest);
        for member in &self.members {
            self.outcome.disk(&member.node.disk);
        }
        tally.worlds += 1;
        *tally.filesystems.entry(self.schedule.world.filesystem).or_default() += 1;
        for member in &self.members {
            judge::count_faults(&member.node.disk.fault_tally(), tally);
        }
        let (events, times) = self.recorder.take_kept();
        let report = Report {
            digest: self.recorder.digest(),
            outcome: self.outcome.finish(),
            failures: self.failures,
            events,
            told: self.told.map(|told| told.at(times)),
            moment: self.moment,
        };
        if self.keeps_disks {
            arena.left = self.members.iter().map(|member| NodeLeft::of(&member.node)).collect();
        }
        self.meter.enter(Phase::Generate);
        arena.meter = self.meter;
        arena.disks.extend(self.members.into_iter().map(|member| {
            assert!(member.node.slots.iter().all(|slot| matches!(slot.service, Service::Down)));
            member.node.disk
        }));
        arena.workspace = Some((self.schedule.world.window_bytes, self.workspace));
        arena.recorder = self.recorder;
        arena.scratch = self.scratch;
        arena.snapshot = self.snapshot;
        arena.injections = self.injections;
        report
    }
}
