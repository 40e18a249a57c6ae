//! One schedule, from its first step to its last.

use std::rc::Rc;

use recovery_core::observe::Workspace;
use recovery_core::storage::Call;
use recovery_core::units::Namespace;

use super::again::Moments;
use super::arena::Arena;
use super::event::{EventCode, Recorder, word};
use super::frozen::FrozenNode;
use super::meter::{Meter, Phase};
use super::moment::{Moment, Pending};
use super::node::{Lies, Node};
use super::outcome::Outcome;
use super::poll::Reading;
use super::report::{Failure, Report};
use super::serve::{self, Answer, Scratch};
use super::start::is_an_answer;
use super::told::Told;
use super::watch::Watch;
use super::{aim, damage, interrupt, look, plant, struck};
use crate::disk::{Event as DiskEvent, Injection, Strike};
use crate::oracle::sample::Sample;
use crate::run::tally::Tally;
use crate::schedule::{Action, Fault, Interruption, Plant, Schedule, Step};
use crate::subject::trial::Trial;

/// Runs one schedule, on nodes with hosts if it needs one.
///
/// # Examples
///
/// ```
/// use sim::oracle::sample::Sample;
/// use sim::run::tally::Tally;
/// use sim::schedule::Tape;
/// use sim::schedule::generate::{Knobs, SizeKnob, generate};
/// use sim::world::{Arena, Watch, run};
///
/// let knobs = Knobs { size: SizeKnob::Small, ..Knobs::default() };
/// let schedule = generate(&mut Tape::from_seed(7), knobs);
/// let (mut arena, mut tally) = (Arena::new(), Tally::default());
/// let report = run(&schedule, &mut arena, &mut tally, Watch::of(Sample::EVERYTHING));
/// assert_eq!((report.failures.len(), tally.worlds), (0, 1));
/// ```
pub fn run(schedule: &Schedule, arena: &mut Arena, tally: &mut Tally, watch: Watch) -> Report {
    if schedule.needs_host() {
        return super::host::run(schedule, arena, tally, watch);
    }
    let mut world = World::begin(schedule, arena, watch);
    for (index, step) in schedule.steps.iter().enumerate() {
        let index = u32::try_from(index).expect("a schedule is short");
        world.step(index, step, tally);
        if watch.until == Some(index) {
            world.moment = Some(Moment::of(&world.node, world.pending.take()));
            break;
        }
    }
    world.end(arena, tally, watch.keeps_disks)
}

/// The nodes of a schedule as they are found in front of step `at`, counted from 0; past the last, in the end.
pub fn freeze(schedule: &Schedule, arena: &mut Arena, at: u32, watch: Watch) -> Vec<FrozenNode> {
    let mut tally = Tally::default();
    if schedule.needs_host() {
        return super::host::freeze(schedule, arena, at, watch);
    }
    let mut world = World::begin(schedule, arena, watch);
    for (index, step) in (0..at).zip(&schedule.steps) {
        world.step(index, step, &mut tally);
    }
    let frozen = FrozenNode::of(&world.node, |_| true);
    world.end(arena, &mut tally, false);
    vec![frozen]
}

pub(super) struct World<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) node: Node,
    pub(super) workspace: Workspace,
    pub(super) recorder: Recorder,
    pub(super) scratch: Scratch,
    pub(super) reading: Reading,
    pub(super) injections: Vec<Injection>,
    pub(super) calls: Vec<DiskEvent>,
    /// Faults that hit one of those.
    pub(super) strikes: Vec<Strike>,
    pub(super) outcome: Outcome,
    pub(super) failures: Vec<Failure>,
    /// Whether the schedule asks about starts.
    pub(super) expects: bool,
    pub(super) meter: Meter,
    /// Whether a sync has failed since the node started.
    pub(super) has_sync_failed: bool,
    pub(super) step: u32,
    pub(super) told: Option<Told>,
    /// What was pending when the node last went down, where that is asked for.
    pub(super) pending: Option<Pending>,
    /// The step behind which the world ends, and where it stood then.
    pub(super) until: Option<u32>,
    pub(super) moment: Option<Moment>,
    pub(super) sample: Sample,
    /// Whether the oracle is still to be told of a promise that nobody made.
    pub(super) plants_promise: bool,
    pub(super) moments: Moments,
    /// Starts of partitions so far.
    pub(super) boots: u64,
    pub(super) trial: Option<Rc<Trial>>,
}

impl World<'_> {
    fn step(&mut self, index: u32, step: &Step, tally: &mut Tally) {
        self.step = index;
        self.meter.enter(phase_of(&step.action));
        self.recorder.at(step.node.0, index);
        self.recorder.note(EventCode::Step, word(step.action.word()), 0, 0);
        self.interrupt(step, tally);
        self.node.disk.begin_step(&self.injections);
        let answer = self.act(step, tally);
        self.remember(step, answer);
        let outcome = self.node.disk.end_step();
        self.note_calls(tally);
        tally.missed += u64::from(outcome.missed) + u64::from(answer == Answer::Missed);
        let is_missed = answer == Answer::Missed || outcome.missed > 0 || !self.is_ready(step);
        if let Some(told) = self.told.as_mut().filter(|_| is_missed) {
            told.missed.push(index);
        }
        if answer == Answer::Missed {
            self.recorder.note(EventCode::Missed, word(step.action.word()), 0, 0);
        }
        if let Some(restart) = outcome.crashed {
            let crash = step.interruptions.iter().find_map(|interruption| match interruption {
                Interruption::Crash(inside) if inside.crash.restart() == restart => Some(&inside.crash),
                Interruption::Crash(_) | Interruption::Fault(_) => None,
            });
            self.go_down(crash.expect("a crash inside a step is one of its interruptions"), tally);
        }
    }

    /// Whether everything that is to go wrong inside the step found what it is about.
    fn is_ready(&self, step: &Step) -> bool {
        self.injections.len() == step.interruptions.len()
    }

    /// Keeps what a scenario may ask about: how the last call of a client failed, and that an answer is the
    /// last thing that happened.
    fn remember(&mut self, step: &Step, answer: Answer) {
        let is_look = step.is_expectation() || matches!(step.action, Action::Poll(_));
        if is_look {
            return;
        }
        for slot in &mut self.node.slots {
            slot.last.reply = None;
        }
        let error = match answer {
            Answer::Failed(code) => Some(code),
            Answer::Done | Answer::Missed => None,
        };
        let partition = step.action.partition();
        if let Some(index) = partition.and_then(|namespace| self.schedule.world.index_of(namespace)) {
            self.node.slots[index].last.error = error;
        }
        if let (Some(told), Some(code)) = (&mut self.told, error) {
            told.errors.push((self.step, code));
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
        }
    }

    fn act(&mut self, step: &Step, tally: &mut Tally) -> Answer {
        let partition = step.action.partition();
        let index = partition.and_then(|namespace| self.schedule.world.index_of(namespace));
        match (&step.action, index) {
            (Action::Stop, _) => self.stop(tally),
            (Action::Start, _) => self.start(tally),
            (Action::Crash(crash), _) => self.crash(crash, tally),
            (Action::Evict(namespace), _) => self.evict(*namespace),
            (Action::Fault { fault, cached }, _) => self.fault(fault, *cached),
            (Action::Plant(plant), _) => self.plant(plant),
            (Action::Poll(poll), Some(index)) => self.poll(poll, index, tally),
            (Action::Expect(expectation), _) => self.expect(std::slice::from_ref(expectation), tally),
            (Action::Either(alternatives), _) => self.expect(alternatives, tally),
            (action, Some(index)) => self.serve(action, index, tally),
            (_, None) => Answer::Missed,
        }
    }

    fn fault(&mut self, fault: &Fault, keeps_cache: bool) -> Answer {
        if damage::apply(&mut self.node, fault, keeps_cache).is_none() {
            return Answer::Missed;
        }
        self.recorder.note(EventCode::Fault, word(fault.kind.code()), 0, 0);
        Answer::Done
    }

    fn plant(&mut self, plant: &Plant) -> Answer {
        if plant::plant(&mut self.node, plant, self.step).is_none() {
            return Answer::Missed;
        }
        self.recorder.note(EventCode::Fault, word("plant"), u64::from(plant.batch.0), 0);
        Answer::Done
    }

    fn serve(&mut self, action: &Action, index: usize, tally: &mut Tally) -> Answer {
        if !self.node.is_up {
            return Answer::Missed;
        }
        let asked = self.about_to_ask(index, action);
        let answer = self.ask(action, index, tally);
        self.note_calls(tally);
        self.check_answer(asked, answer);
        answer
    }

    fn ask(&mut self, action: &Action, index: usize, tally: &mut Tally) -> Answer {
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
            | Action::Confirm(_)
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

    fn stop(&mut self, tally: &mut Tally) -> Answer {
        if !self.node.is_up {
            return Answer::Missed;
        }
        for index in 0..self.node.slots.len() {
            let asked = self.about_to_ask(index, &Action::Stop);
            serve::stop(&self.node.disk, &mut self.node.slots[index], &mut self.recorder);
            self.note_calls(tally);
            self.check_promises(asked);
        }
        let Node { disk, is_up, is_waiting, lies, .. } = &mut self.node;
        (*is_up, *is_waiting, *lies) = (false, false, Lies::default());
        disk.disarm();
        disk.remember();
        Answer::Done
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
    pub(super) fn note_calls(&mut self, tally: &mut Tally) {
        self.calls.clear();
        let before = self.meter.enter(Phase::Digest);
        self.node.disk.take_events(&mut self.calls);
        if let Some(told) = &mut self.told {
            told.calls(self.recorder.count(), &self.calls, &self.node.disk);
        }
        for call in &self.calls {
            match call.errno {
                None => self.recorder.call(call),
                Some(errno) => {
                    if !is_an_answer(errno) {
                        *tally.call_errors.entry(call.call).or_default() += 1;
                    }
                    self.has_sync_failed |= matches!(call.call, Call::Sync | Call::SyncDirectory);
                    let number = u64::from(errno.raw().unsigned_abs());
                    self.recorder.note(EventCode::CallFailed, call.subject(), call.position, number);
                }
            }
        }
        self.node.disk.take_strikes(&mut self.strikes);
        for strike in &self.strikes {
            if let Some(told) = &mut self.told {
                told.strike(self.recorder.count(), strike, &self.calls, &self.node.disk);
            }
            self.recorder.strike(strike, self.calls.len());
        }
        struck::mark(&mut self.node, &self.strikes);
        self.meter.enter(before);
    }
}

/// What the time of a step is spent on.
pub(super) const fn phase_of(action: &Action) -> Phase {
    match action {
        Action::Append(_)
        | Action::Flush(_)
        | Action::Roll(_)
        | Action::Checkpoint(_)
        | Action::Retain(_)
        | Action::Stop
        | Action::Poll(_)
        | Action::Create(_)
        | Action::Delete(_)
        | Action::Confirm(_)
        | Action::Reconcile
        | Action::QueueInsert(_)
        | Action::ApplyInserts
        | Action::AcceptLoss(_)
        | Action::Link(_)
        | Action::Transfer { .. } => Phase::Write,
        Action::Plant(_) | Action::Crash(_) | Action::Fault { .. } | Action::Evict(_) => Phase::Crash,
        Action::Start => Phase::Recover,
        Action::Expect(_) | Action::Either(_) => Phase::Oracle,
    }
}
