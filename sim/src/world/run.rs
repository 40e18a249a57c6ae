//! One schedule, from its first step to its last.

use recovery_core::decide::Action as SegmentAction;
use recovery_core::observe::Workspace;
use recovery_core::storage::Errno;
use recovery_core::units::{Namespace, Offset};

use super::boot::{self, Boot};
use super::event::{Event, EventCode, Recorder, word};
use super::node::{Node, Service, Slot};
use super::outcome::Outcome;
use super::serve::{self, Answer, Scratch};
use super::{aim, damage, interrupt, look};
use crate::disk::{Event as DiskEvent, Geometry, Injection, SimDisk};
use crate::oracle::boot_view::BootView;
use crate::oracle::{Violation, judge};
use crate::run::tally::Tally;
use crate::schedule::{Action, Crash, FaultKind, Filesystem, Interruption, Restart, Schedule, Step};

/// Memory that one thread reuses from world to world.
pub struct Arena {
    disk: Option<SimDisk>,
    workspace: Option<(u32, Workspace)>,
    recorder: Recorder,
    scratch: Scratch,
    injections: Vec<Injection>,
}

impl Arena {
    /// Memory that has not held a world yet.
    pub fn new() -> Self {
        Self {
            disk: None,
            workspace: None,
            recorder: Recorder::new(),
            scratch: Scratch::default(),
            injections: Vec::new(),
        }
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

/// A violation, and where in the schedule it showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was violated.
    pub violation: Violation,
    /// In which partition, if in one.
    pub partition: Option<Namespace>,
    /// What cannot be said in numbers: the words of a panic.
    pub remark: Option<String>,
    /// The step, counted from 0.
    pub step: u32,
    /// Where in recovery or in serving it broke (CONTRACTS 1).
    pub recovery_step: &'static str,
}

/// What a world came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Digest of everything that happened.
    pub digest: u64,
    /// Digest of what a reviewer cares about: verdicts, answers and final bytes.
    pub outcome: u64,
    /// What went wrong, in order.
    pub failures: Vec<Failure>,
    /// The events, if they were kept.
    pub events: Vec<Event>,
}

/// Runs one schedule.
pub fn run(schedule: &Schedule, arena: &mut Arena, tally: &mut Tally, keep_events: bool) -> Report {
    let mut world = World::begin(schedule, arena, keep_events);
    for (index, step) in schedule.steps.iter().enumerate() {
        world.step(u32::try_from(index).expect("a schedule is short"), step, tally);
    }
    world.end(arena, tally)
}

struct World<'a> {
    schedule: &'a Schedule,
    node: Node,
    workspace: Workspace,
    recorder: Recorder,
    scratch: Scratch,
    injections: Vec<Injection>,
    calls: Vec<DiskEvent>,
    outcome: Outcome,
    failures: Vec<Failure>,
    step: u32,
}

impl<'a> World<'a> {
    fn begin(schedule: &'a Schedule, arena: &mut Arena, keep_events: bool) -> Self {
        let header = &schedule.world;
        let geometry =
            Geometry::new(header.sector_bytes, header.page_bytes).expect("a schedule's geometry was checked");
        let disk = match arena.disk.take() {
            Some(disk) => {
                disk.reset(geometry, header.filesystem);
                disk
            }
            None => SimDisk::new(geometry, header.filesystem),
        };
        let workspace = match arena.workspace.take() {
            Some((bytes, workspace)) if bytes == header.window_bytes => workspace,
            Some(_) | None => Workspace::new(header.window_bytes as usize),
        };
        let mut recorder = std::mem::take(&mut arena.recorder);
        recorder.reset(keep_events);
        let slots = header.partitions.iter().map(|partition| Slot::new(*partition)).collect();
        let mut world = Self {
            schedule,
            node: Node { disk, slots, is_up: true },
            workspace,
            recorder,
            scratch: std::mem::take(&mut arena.scratch),
            injections: std::mem::take(&mut arena.injections),
            calls: Vec::new(),
            outcome: Outcome::new(),
            failures: Vec::new(),
            step: 0,
        };
        world.create_partitions();
        world
    }

    /// Before the first step every partition of the header is made and open.
    fn create_partitions(&mut self) {
        self.node.disk.begin_step(&[]);
        for slot in &mut self.node.slots {
            let boot = boot::create(&self.node.disk, slot, &mut self.workspace)
                .expect("a partition is made on a disk without faults");
            assert!(boot.open_error.is_none(), "a new partition opens");
            assert!(boot.verdict.is_served(), "a new partition is served");
        }
        self.node.disk.end_step();
        self.node.disk.record(true);
    }

    fn step(&mut self, index: u32, step: &Step, tally: &mut Tally) {
        self.step = index;
        self.recorder.at(step.node.0, index);
        self.recorder.note(EventCode::Step, word(action_word(&step.action)), 0, 0);
        self.interrupt(step, tally);
        self.node.disk.begin_step(&self.injections);
        let answer = self.act(step, tally);
        let outcome = self.node.disk.end_step();
        self.note_calls();
        tally.missed += u64::from(outcome.missed) + u64::from(answer == Answer::Missed);
        if answer == Answer::Missed {
            self.recorder.note(EventCode::Missed, word(action_word(&step.action)), 0, 0);
        }
        if let Some(restart) = outcome.crashed {
            let crash = step.interruptions.iter().find_map(|interruption| match interruption {
                Interruption::Crash(inside) if inside.crash.restart() == restart => Some(&inside.crash),
                Interruption::Crash(_) | Interruption::Fault(_) => None,
            });
            self.go_down(crash.expect("a crash inside a step is one of its interruptions"), tally);
        }
    }

    /// Makes ready what is to go wrong inside the step.
    fn interrupt(&mut self, step: &Step, tally: &mut Tally) {
        self.injections.clear();
        for interruption in &step.interruptions {
            match interrupt::injection(&self.node, interruption) {
                Some(injection) => self.injections.push(injection),
                None => tally.missed += 1,
            }
            if let Interruption::Fault(inside) = interruption
                && (!inside.fault.kind.is_legal() || self.lies(inside.fault.kind))
            {
                // A start counts the calls of every partition, so the fault may hit any of them.
                let hits_any = matches!(step.action, Action::Start | Action::Stop);
                damage::mark_damaged(&mut self.node, &inside.fault, hits_any);
            }
        }
    }

    /// Whether a fault that calls are to report is not reported in time: with data in the journal, the sync
    /// whose write failed succeeds, and only the next one says so (FAULT_MODEL 2.6).
    fn lies(&self, kind: FaultKind) -> bool {
        kind == FaultKind::SyncFailure && self.schedule.world.filesystem == Filesystem::Ext4Journal
    }

    fn act(&mut self, step: &Step, tally: &mut Tally) -> Answer {
        let partition = step.action.partition();
        let index = partition.and_then(|namespace| self.schedule.world.index_of(namespace));
        match (&step.action, index) {
            (Action::Stop, _) => self.stop(),
            (Action::Start, _) => self.start(tally),
            (Action::Crash(crash), _) => self.crash(crash, tally),
            (Action::Evict(namespace), _) => self.evict(*namespace),
            (Action::Fault { fault, cached }, _) => match damage::apply(&mut self.node, fault, *cached) {
                Some(_) => {
                    self.recorder.note(EventCode::Fault, word(fault.kind.code()), 0, 0);
                    Answer::Done
                }
                None => Answer::Missed,
            },
            (action, Some(index)) => self.serve(action, index, tally),
            (_, None) => Answer::Missed,
        }
    }

    fn serve(&mut self, action: &Action, index: usize, tally: &mut Tally) -> Answer {
        if !self.node.is_up {
            return Answer::Missed;
        }
        let Node { disk, slots, .. } = &mut self.node;
        let (slot, recorder) = (&mut slots[index], &mut self.recorder);
        match action {
            Action::Append(append) => {
                tally.batches += u64::from(append.count);
                let mut append_to =
                    serve::Appending { disk, slot, step: self.step, scratch: &mut self.scratch, recorder };
                append_to.run(append)
            }
            Action::Flush(_) => serve::flush(disk, slot, recorder),
            Action::Roll(_) => serve::roll(disk, slot, recorder),
            Action::Checkpoint(_) => serve::checkpoint(disk, slot, recorder),
            Action::Retain(retain) => serve::retain(disk, slot, retain, recorder),
            Action::Stop
            | Action::Start
            | Action::Crash(_)
            | Action::Evict(_)
            | Action::Fault { .. }
            | Action::Plant(_)
            | Action::Poll(_)
            | Action::Create(_)
            | Action::Delete(_)
            | Action::Reconcile
            | Action::QueueInsert(_)
            | Action::ApplyInserts
            | Action::AcceptLoss(_)
            | Action::Link(_)
            | Action::Transfer { .. }
            | Action::Expect(_)
            | Action::Either(_) => Answer::Missed,
        }
    }

    fn stop(&mut self) -> Answer {
        if !self.node.is_up {
            return Answer::Missed;
        }
        let Node { disk, slots, is_up } = &mut self.node;
        for slot in slots {
            serve::stop(disk, slot, &mut self.recorder);
        }
        *is_up = false;
        disk.remember();
        Answer::Done
    }

    fn start(&mut self, tally: &mut Tally) -> Answer {
        if self.node.is_up {
            return Answer::Missed;
        }
        self.node.is_up = true;
        let sees_truth = !self.injections.iter().any(|injection| injection.disturbance.changes_reads());
        for index in 0..self.node.slots.len() {
            let Node { disk, slots, .. } = &mut self.node;
            let slot = &mut slots[index];
            let boot = boot::boot(disk, slot, &mut self.workspace);
            self.note_boot(index, &boot, tally);
            self.judge(index, &boot, sees_truth, tally);
        }
        Answer::Done
    }

    fn note_boot(&mut self, index: usize, boot: &Boot, tally: &mut Tally) {
        self.note_calls();
        let namespace = self.node.slots[index].header.namespace;
        let code = judge::verdict_code(&boot.verdict);
        let next = boot.verdict.next_offset.map_or(u64::MAX, Offset::get);
        self.recorder.note(EventCode::Verdict, namespace.packed(), word(code), next);
        for segment in &boot.verdict.segments {
            let at = match segment.action {
                SegmentAction::Cut { at, .. } => at.get(),
                SegmentAction::Keep | SegmentAction::RebuildIndex => 0,
            };
            self.recorder.note(EventCode::Action, segment.start.get(), word(segment.action.code()), at);
        }
        self.outcome.verdict(namespace, &boot.verdict);
        judge::count(&boot.facts, &boot.verdict, tally);
    }

    /// Lets the oracle look at a start, and tells the truth what became of every batch.
    fn judge(&mut self, index: usize, boot: &Boot, sees_truth: bool, tally: &mut Tally) {
        let is_calm = !self.calls.iter().any(|call| call.errno.is_some_and(|errno| !is_an_answer(errno)));
        let slot = &mut self.node.slots[index];
        let view = BootView {
            has_ledger: slot.header.ledger,
            is_calm,
            sees_truth,
            expectation: boot::expectation(slot),
            before: boot.before.as_ref(),
            after: &boot.after,
            facts: &boot.facts,
            verdict: &boot.verdict,
            plan: &boot.plan,
            is_open: boot.open_error.is_none(),
            truth: &slot.truth,
        };
        let recovery_step = boot.recovery_step();
        for violation in judge::judge(&view) {
            self.failures.push(Failure {
                violation,
                partition: Some(slot.header.namespace),
                remark: boot.remark(),
                step: self.step,
                recovery_step,
            });
        }
        let lying = judge::lying(&boot.after.directory, &boot.facts, &boot.verdict);
        let is_served = boot.verdict.is_served() && boot.open_error.is_none();
        if is_served {
            let next = boot.verdict.next_offset.unwrap_or(Offset::ZERO);
            tally.indistinguishable += u64::from(slot.truth.reconcile(&lying, next));
        }
    }

    fn crash(&mut self, crash: &Crash, tally: &mut Tally) -> Answer {
        if !self.node.is_up && crash.restart() == Restart::Process {
            return Answer::Missed;
        }
        self.go_down(crash, tally);
        Answer::Done
    }

    fn go_down(&mut self, crash: &Crash, tally: &mut Tally) {
        let choice = interrupt::survivors(&self.node, crash);
        for slot in &mut self.node.slots {
            // Handles die with the process: nothing is closed.
            slot.service = Service::Down;
        }
        let report = self.node.disk.crash(crash.restart(), &choice);
        self.node.is_up = false;
        tally.crashes += 1;
        *tally.restarts.entry(crash.restart()).or_default() += 1;
        let counts = u64::from(report.kept) << 32 | u64::from(report.lost);
        self.recorder.note(EventCode::Crashed, crash.restart() as u64, report.digest, counts);
    }

    fn evict(&mut self, namespace: Option<Namespace>) -> Answer {
        let Some(namespace) = namespace else {
            self.node.disk.evict_all();
            return Answer::Done;
        };
        let Some(slot) = aim::slot_of(&self.node, namespace) else { return Answer::Missed };
        look::evict(&self.node.disk, &self.node.slots[slot].components);
        Answer::Done
    }

    /// Moves the disk's own events into the digest.
    fn note_calls(&mut self) {
        self.calls.clear();
        self.node.disk.take_events(&mut self.calls);
        for call in &self.calls {
            let a = u64::from(call.object) << 8 | call.call as u64;
            match call.errno {
                None => self.recorder.note(EventCode::Call, a, call.position, call.length),
                Some(errno) => {
                    let number = u64::from(errno.raw().unsigned_abs());
                    self.recorder.note(EventCode::CallFailed, a, call.position, number);
                }
            }
        }
    }

    fn end(mut self, arena: &mut Arena, tally: &mut Tally) -> Report {
        self.outcome.disk(&self.node.disk);
        tally.worlds += 1;
        *tally.filesystems.entry(self.schedule.world.filesystem).or_default() += 1;
        judge::count_faults(&self.node.disk.fault_tally(), tally);
        let report = Report {
            digest: self.recorder.digest(),
            outcome: self.outcome.finish(),
            failures: self.failures,
            events: self.recorder.take_kept(),
        };
        for slot in &mut self.node.slots {
            slot.service = Service::Down;
        }
        arena.disk = Some(self.node.disk);
        arena.workspace = Some((self.schedule.world.window_bytes, self.workspace));
        arena.recorder = self.recorder;
        arena.scratch = self.scratch;
        arena.injections = self.injections;
        report
    }
}

/// Whether an error number is a definite answer about a name, and no failure.
fn is_an_answer(errno: Errno) -> bool {
    errno == Errno::NOT_FOUND || errno == Errno::EXISTS
}

/// The word of an action, for the digest.
const fn action_word(action: &Action) -> &'static str {
    match action {
        Action::Append(_) => "append",
        Action::Plant(_) => "plant",
        Action::Flush(_) => "flush",
        Action::Roll(_) => "roll",
        Action::Checkpoint(_) => "checkpoint",
        Action::Retain(_) => "retain",
        Action::Stop => "stop",
        Action::Start => "start",
        Action::Poll(_) => "poll",
        Action::Crash(_) => "crash",
        Action::Fault { .. } => "fault",
        Action::Evict(_) => "evict",
        Action::Create(_) => "create",
        Action::Delete(_) => "delete",
        Action::Reconcile => "reconcile",
        Action::QueueInsert(_) => "queue-insert",
        Action::ApplyInserts => "apply-inserts",
        Action::AcceptLoss(_) => "accept-loss",
        Action::Link(_) => "link",
        Action::Transfer { .. } => "transfer",
        Action::Expect(_) => "expect",
        Action::Either(_) => "either",
    }
}
