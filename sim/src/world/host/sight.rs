//! What is looked at around a step: each partition that the step may judge, alone and undisturbed, on the same disk
//! before it.
//!
//! Promises: looking leaves no trace on the disk. Every start of a partition alone is held to all checks of a start;
//! what the host makes of it is looked at behind the step ([`super::behind`]). Leaves out: faults inside the step, of
//! which only what they leave is checked.

use recovery_core::format::FileName;
use recovery_core::host::PartitionState;
use recovery_core::storage::Name;
use recovery_core::units::Offset;
use recovery_core::wal::Key;

use super::run::HostWorld;
use crate::disk::DirectoryId;
use crate::oracle::invariants::adopted_strangers;
use crate::oracle::{Check, Forgotten, PartitionImage, Violation, judge};
use crate::run::tally::Tally;
use crate::schedule::{Action, Step};
use crate::world::boot::{self, Boot};
use crate::world::event::{EventCode, word};
use crate::world::look;
use crate::world::meter::Phase;
use crate::world::start::{Circumstances, bytes_read, is_an_answer};

/// What was seen before a step, for each slot.
#[derive(Default)]
pub(super) struct Sight {
    pub(super) looks: Vec<Option<Look>>,
}

/// One partition before a step.
pub(super) struct Look {
    /// Which life.
    pub(super) key: Key,
    /// What lay there as reads saw it.
    pub(super) seen: PartitionImage,
    pub(super) unsettled: Vec<(u32, Forgotten)>,
    /// Whether its directory was made: the ledger of one that was not may be half-made, and is begun anew.
    pub(super) is_made: bool,
    /// What the host said of it.
    pub(super) state: Option<PartitionState>,
    /// Its directory.
    pub(super) directory: Option<DirectoryId>,
    /// Whether a start first ends what an installation has begun: there is no directory, or a replacement has its place
    /// and still says that it is one.
    pub(super) is_half_installed: bool,
    /// Whether a copy beside it says that it is complete.
    pub(super) has_complete: bool,
    /// How often in a row nothing could be said of it.
    pub(super) tries: u8,
    /// What a start of it alone came to, and what went wrong in that.
    pub(super) alone: Option<(Boot, Circumstances)>,
}

impl Sight {
    pub(super) fn before(&self, index: usize) -> Option<&PartitionImage> {
        self.looks.get(index)?.as_ref().map(Look::settled)
    }

    /// Whether a start of the partition was run alone, and its checks know what it found.
    pub(super) fn was_looked_at_alone(&self, index: usize) -> bool {
        self.looks.get(index).and_then(Option::as_ref).is_some_and(|look| look.alone.is_some())
    }

    /// Whether a fence of a partition was there before; `None` if nobody looked.
    pub(super) fn was_there(&self, index: usize, fence: &Name) -> Option<bool> {
        let look = self.looks.get(index)?.as_ref()?;
        Some(look.seen.fences.iter().any(|there| there.name == *fence))
    }
}

impl Look {
    /// What a start finds: what the medium holds once it is settled.
    pub(super) fn settled(&self) -> &PartitionImage {
        self.alone.as_ref().and_then(|(boot, _)| boot.before.as_ref()).unwrap_or(&self.seen)
    }
}

/// Whether a step may touch partitions that are not served.
const fn touches(action: &Action) -> bool {
    match action {
        Action::Start
        | Action::Reconcile
        | Action::ApplyInserts
        | Action::QueueInsert(_)
        | Action::Create(_)
        | Action::Delete(_)
        | Action::Confirm(_)
        | Action::AcceptLoss(_)
        | Action::Transfer { .. } => true,
        Action::Append(_)
        | Action::Plant(_)
        | Action::Flush(_)
        | Action::Roll(_)
        | Action::Checkpoint(_)
        | Action::Retain(_)
        | Action::Stop
        | Action::Poll(_)
        | Action::Crash(_)
        | Action::Fault { .. }
        | Action::Evict(_)
        | Action::Link(_)
        | Action::Expect(_)
        | Action::Either(_) => false,
    }
}

impl HostWorld<'_> {
    /// Looks at what a step may touch.
    pub(super) fn sight_before(&mut self, m: usize, step: &Step, tally: &mut Tally) -> Sight {
        let is_start = matches!(step.action, Action::Start) && !self.members[m].node.is_up;
        if !touches(&step.action) || (self.members[m].host.is_none() && !is_start) {
            return Sight::default();
        }
        if is_start && self.takes_planted_promise() {
            self.members[m].node.slots[0].truth.invent_promise();
        }
        let phase = self.meter.enter(Phase::Oracle);
        let may_judge = is_start || matches!(step.action, Action::Reconcile | Action::ApplyInserts);
        // A pass reads the metadata log first, if that could not be read before, and then judges all that it names.
        let has_registry = self.members[m].host.as_ref().is_some_and(|host| host.registry().is_some());
        let may_begin = !has_registry && (is_start || matches!(step.action, Action::Reconcile));
        let looks = (0..self.members[m].node.slots.len()).map(|index| {
            let member = &self.members[m];
            let host = member.host.as_ref();
            let state = host.and_then(|host| host.state_of(&member.key(index)));
            let extra = &member.extras[index];
            let is_elsewhere = extra.is_deleted || extra.is_crowded;
            if state == Some(PartitionState::Served) || is_elsewhere {
                return None;
            }
            let is_judged = extra.is_made
                && match state {
                    None => may_begin,
                    Some(PartitionState::Unavailable | PartitionState::Recovering) => may_judge,
                    Some(_) => false,
                };
            let mut look = self.look(m, index);
            // What a crash has left of an installation is ended first, which is the host's.
            if is_judged && !look.is_half_installed {
                look.alone = self.start_alone(m, index, tally);
            }
            Some(look)
        });
        let looks = looks.collect();
        self.meter.enter(phase);
        Sight { looks }
    }

    /// Looks at every partition for which a copy is under way: it goes on behind steps that are about something else.
    pub(super) fn sight_of_copies(&mut self, m: usize) -> Sight {
        let phase = self.meter.enter(Phase::Oracle);
        let extras = self.members[m].extras.iter().enumerate();
        let looks =
            extras.map(|(index, extra)| extra.installing.is_some().then(|| self.look(m, index))).collect();
        self.meter.enter(phase);
        Sight { looks }
    }

    fn look(&self, m: usize, index: usize) -> Look {
        let member = &self.members[m];
        let (disk, components) = (&member.node.disk, &member.node.slots[index].components);
        let directory = look::directory(disk, components);
        let mut seen = look::image(disk, components);
        let is_half_installed = match directory {
            Some(_) => look::file(disk, components, &FileName::complete()).is_some(),
            None => look::has_sibling(disk, components, b".rebuild"),
        };
        let complete = look::complete_sibling(disk, components);
        if let (None, Some(sibling)) = (directory, complete) {
            // It only lacks its name.
            seen.directory = look::image_of(disk, sibling);
        }
        Look {
            key: member.key(index),
            seen,
            unsettled: look::unsettled(disk, components),
            is_made: member.extras[index].is_made,
            state: member.host.as_ref().and_then(|host| host.state_of(&member.key(index))),
            directory,
            is_half_installed,
            has_complete: complete.is_some(),
            tries: member.extras[index].tries,
            alone: None,
        }
    }

    /// Starts one partition on a disk that is put back afterwards.
    fn start_alone(&mut self, m: usize, index: usize, tally: &mut Tally) -> Option<(Boot, Circumstances)> {
        let member = &self.members[m];
        let (disk, slot) = (&member.node.disk, &member.node.slots[index]);
        look::directory(disk, &slot.components)?;
        disk.snapshot(&mut self.snapshot);
        let phase = self.meter.enter(Phase::Recover);
        disk.begin_step(&[]);
        // What is looked at alone enters no digest.
        disk.record_contents(false);
        let mut events = Vec::new();
        disk.take_events(&mut events);
        let (mut boot, service) =
            boot::start(disk, slot, &mut self.workspace, &mut self.meter, boot::Sight::MEDIUM);
        self.meter.enter(phase);
        disk.take_events(&mut events);
        // Its handles go with the disk that it was started on.
        drop(service);
        disk.take_strikes(&mut Vec::new());
        disk.restore(&self.snapshot);
        disk.record_contents(true);
        boot.keep_forgotten(&events);
        let lies = member.node.lies;
        let fails = |call: &crate::disk::Event| call.errno.is_some_and(|errno| !is_an_answer(errno));
        let circumstances = Circumstances {
            is_calm: !lies.successes && !events.iter().any(fails),
            is_disturbed: member.node.is_waiting,
            goes_down: false,
            writes_land: !lies.successes,
            lies_at_most_once: !lies.lasts,
            sees_truth: !lies.reads,
            bytes_read: bytes_read(&events),
            window_bytes: u64::from(self.schedule.world.window_bytes),
        };
        judge::count(&boot.facts, &boot.verdict, circumstances.sees_truth, tally);
        if !self.members[m].node.slots[index].header.ledger {
            judge::count_without_ledger(&boot.verdict, tally);
        }
        Some((boot, circumstances))
    }

    /// Looks at what became of everything.
    pub(super) fn look_behind(
        &mut self,
        m: usize,
        step: &Step,
        mut sight: Sight,
        has_crashed: bool,
        tally: &mut Tally,
    ) {
        let phase = self.meter.enter(Phase::Oracle);
        self.judge_alone(m, &mut sight);
        let judged = self.note_events(m, &sight, tally);
        let is_calm = self.is_calm(m) && !has_crashed;
        for (index, look) in sight.looks.iter().enumerate() {
            if let Some(look) = look.as_ref().filter(|look| look.key == self.members[m].key(index)) {
                let is_given_up = matches!(&step.action, Action::AcceptLoss(_))
                    && step.action.partition() == Some(look.key.namespace);
                self.look_at_bytes(m, index, is_given_up, look, judged.contains(&index));
                self.look_at_complete(m, index, look);
                if is_calm && judged.contains(&index) {
                    self.compare(m, index, look);
                }
            }
        }
        if !has_crashed {
            self.look_at_the_dark(m);
        }
        if self.expects {
            for (index, look) in sight.looks.into_iter().enumerate() {
                if let Some((boot, _)) = look.and_then(|look| look.alone) {
                    self.members[m].node.slots[index].last.boot = Some(Box::new(boot));
                }
            }
        }
        self.meter.enter(phase);
    }

    /// Holds every start alone to all checks of a start.
    fn judge_alone(&mut self, m: usize, sight: &mut Sight) {
        for index in 0..sight.looks.len() {
            let Some(Look { key, alone: Some((boot, circumstances)), .. }) = &sight.looks[index] else {
                continue;
            };
            let key = *key;
            // A pass may have heard of another life since, and what is true now is true of that.
            if key != self.members[m].key(index) {
                continue;
            }
            let is_owed = !self.cluster.is_deleted(key);
            if let Some(first) = boot.facts.segments.first() {
                self.members[m].node.slots[index].truth.learn_floor(first.start.offset());
            }
            let Self { members, meter, .. } = self;
            let slot = &members[m].node.slots[index];
            let view = circumstances.view(slot, boot);
            let mut violations = if is_owed { judge::judge(&view, meter) } else { Vec::new() };
            let strangers = adopted_strangers(&view);
            let goes_on_at = boot.verdict.next_offset;
            let remark = boot.remark();
            let in_step = |violation: &Violation| boot.recovery_step(violation.check);
            let code = word(judge::verdict_code(&boot.verdict));
            let next = boot.verdict.next_offset.map_or(u64::MAX, Offset::get);
            if let Some(told) = &mut self.told {
                told.boot((self.recorder.node(), self.step), key.namespace, boot);
            }
            self.outcome.verdict(key.namespace, &boot.verdict);
            self.recorder.note(EventCode::Verdict, key.namespace.packed(), code, next);
            self.recorder.plan(&boot.plan);
            let extra = &self.members[m].extras[index];
            if extra.accepting.is_some() || extra.installing.is_some() {
                // What an operator gives up is gone, and what a peer gave is not told of yet.
                violations.retain(|violation| {
                    !matches!(
                        violation.check,
                        Check::I05 | Check::I06 | Check::I07 | Check::I13 | Check::Reference
                    )
                });
            }
            let violations: Vec<(&'static str, Violation)> =
                violations.into_iter().map(|violation| (in_step(&violation), violation)).collect();
            for (recovery_step, violation) in violations {
                self.fail(Some(key.namespace), violation, recovery_step, remark.clone());
            }
            let truth = &mut self.members[m].node.slots[index].truth;
            truth.strangers.extend(strangers);
            truth.may_go_on_at(goes_on_at.unwrap_or(Offset::ZERO));
        }
    }
}
