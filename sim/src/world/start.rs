//! A start of a node: every partition recovered in turn, and each judged by the oracle.

use recovery_core::decide::Action as SegmentAction;
use recovery_core::format::FileName;
use recovery_core::storage::{Call, Errno, Name};
use recovery_core::units::{Offset, SegmentStart};

use super::again::{Again, Found};
use super::boot::{self, Boot, STEP_BYTES, Sight};
use super::event::{EventCode, word};
use super::look;
use super::meter::Phase;
use super::node::{Node, Slot};
use super::report::Failure;
use super::run::World;
use super::serve::Answer;
use super::struck::Struck;
use crate::disk::{Disturbance, Event as DiskEvent, Exposed, Injection, SimDisk, View};
use crate::oracle::boot_view::BootView;
use crate::oracle::damage::Place;
use crate::oracle::invariants::adopted_strangers;
use crate::oracle::served_log::Lying;
use crate::oracle::{Content, PartitionImage, judge};
use crate::run::tally::Tally;

impl World<'_> {
    pub(super) fn start(&mut self, tally: &mut Tally) -> Answer {
        if self.node.is_up {
            return Answer::Missed;
        }
        self.node.is_up = true;
        self.has_sync_failed = false;
        if std::mem::take(&mut self.plants_promise) {
            self.node.slots[0].truth.invent_promise();
        }
        let comes_back = self.injections.is_empty() && !self.node.is_waiting;
        for index in 0..self.node.slots.len() {
            self.meter.enter(Phase::Again);
            if comes_back {
                self.moments.keep_before(&self.node);
            }
            let case = self.case_of_subject(index, tally);
            let Node { disk, slots, .. } = &mut self.node;
            let slot = &mut slots[index];
            self.meter.enter(Phase::Recover);
            let sight = if comes_back { Sight::ALL } else { Sight::MEDIUM };
            let mut boot = boot::boot(disk, slot, &mut self.workspace, &mut self.meter, sight);
            self.note_boot(index, &boot, tally);
            boot.keep_forgotten(&self.calls);
            self.meter.enter(Phase::Oracle);
            self.judge(index, &boot, tally);
            if let Some(case) = case {
                self.try_subject(index, &case, tally);
            }
            if self.expects {
                self.node.slots[index].last.boot = Some(Box::new(boot));
            }
        }
        Answer::Done
    }

    fn note_boot(&mut self, index: usize, boot: &Boot, tally: &mut Tally) {
        self.meter.enter(Phase::Digest);
        self.note_calls(tally);
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
        self.recorder.plan(&boot.plan);
        self.outcome.verdict(namespace, &boot.verdict);
        if let Some(told) = &mut self.told {
            told.boot((self.recorder.node(), self.step), namespace, boot);
        }
        if !self.node.slots[index].header.ledger {
            judge::count_without_ledger(&boot.verdict, tally);
        }
    }

    /// Lets the oracle look at a start, and tells the truth what became of every batch.
    fn judge(&mut self, index: usize, boot: &Boot, tally: &mut Tally) {
        if let Some(first) = boot.facts.segments.first() {
            self.node.slots[index].truth.learn_floor(first.start.offset());
        }
        self.note_dropped_lengths(index);
        let circumstances = self.circumstances();
        judge::count(&boot.facts, &boot.verdict, circumstances.sees_truth, tally);
        let view = circumstances.view(&self.node.slots[index], boot);
        let violations =
            if self.sample.judges_starts() { judge::judge(&view, &mut self.meter) } else { Vec::new() };
        let is_cut_short = boot.open_error.is_some() || boot.failed_to_act;
        let strangers = adopted_strangers(&view);
        let has_strangers = !strangers.is_empty();
        if is_cut_short {
            self.node.slots[index].truth.strangers.extend(strangers);
        }
        let found = violations.into_iter().map(|violation| Found { violation, varied: None });
        self.fail_start(index, boot, found.collect());
        let before = self.meter.enter(Phase::Again);
        let found = self.look_again(index, boot, circumstances, has_strangers);
        self.meter.enter(before);
        self.fail_start(index, boot, found);
        let slot = &mut self.node.slots[index];
        if let Some(next) = boot.verdict.next_offset {
            slot.truth.may_go_on_at(next);
        }
        let mut lying = judge::lying(&boot.after.directory, &boot.facts, &boot.verdict);
        if !circumstances.sees_truth {
            // It was shown something else, and serves nothing that goes on behind its own end.
            lying.retain(|batch| boot.verdict.next_offset.is_none_or(|next| batch.next <= next));
            if boot.is_serving() && !is_as_shown(boot, &lying) {
                // What it put on record is of what it was shown, and contradicts what lies here from now on.
                slot.truth.damages.add(Place::Anywhere);
            }
        }
        if boot.is_serving() {
            // Nobody found a batch whole that was shown wrongly twice.
            let before = boot.before.as_ref().filter(|_| circumstances.lies_at_most_once);
            let before = before.map(|before| &before.directory);
            tally.indistinguishable +=
                u64::from(slot.truth.reconcile(&lying, before, circumstances.sees_truth));
            if circumstances.sees_truth && circumstances.writes_land {
                let segments: Vec<SegmentStart> =
                    boot.facts.segments.iter().map(|segment| segment.start).collect();
                end_damage(&self.node.disk, slot, &boot.after, &segments);
            }
        }
    }

    /// What a sync that failed has dropped of a log's length is lost with the power, whatever syncs say that come later, and
    /// reads show it until then: to whoever starts a partition it is damage (FAULT_MODEL 2.6, XFS).
    fn note_dropped_lengths(&mut self, index: usize) {
        let Node { disk, slots, .. } = &mut self.node;
        let slot = &mut slots[index];
        let Some(directory) = look::directory(disk, &slot.components) else { return };
        for (file, _) in disk.entries(directory, View::Visible) {
            if let (FileName::Log(_), Some(length)) =
                (FileName::classify(&file), disk.dropped_length(directory, &file))
            {
                slot.truth.damages.add(Place::Bytes { file, range: length..u64::MAX });
            }
        }
    }

    fn circumstances(&self) -> Circumstances {
        let struck = Struck::by(&self.strikes);
        let fails = |call: &DiskEvent| call.errno.is_some_and(|errno| !is_an_answer(errno));
        let goes_down = |injection: &Injection| matches!(injection.disturbance, Disturbance::Crash { .. });
        Circumstances {
            is_calm: !struck.pretends && !self.calls.iter().any(fails),
            is_disturbed: !self.injections.is_empty() || self.node.is_waiting,
            goes_down: self.injections.iter().any(goes_down),
            writes_land: !struck.pretends,
            lies_at_most_once: !struck.lasts(),
            sees_truth: struck.misleading == 0,
            bytes_read: bytes_read(&self.calls),
            window_bytes: u64::from(self.schedule.world.window_bytes),
        }
    }

    /// What the checks say that compare a start with another one like it.
    fn look_again(
        &mut self,
        index: usize,
        boot: &Boot,
        circumstances: Circumstances,
        has_strangers: bool,
    ) -> Vec<Found> {
        self.boots += 1;
        if !self.sample.judges_starts() {
            return Vec::new();
        }
        let again = Again {
            node: &self.node,
            index,
            boot,
            circumstances,
            has_strangers,
            calls: &self.calls,
            sample: self.sample,
            nth: self.boots,
            moments: &mut self.moments,
            workspace: &mut self.workspace,
            meter: &mut self.meter,
        };
        again.violations()
    }

    fn fail_start(&mut self, index: usize, boot: &Boot, found: Vec<Found>) {
        for Found { violation, varied } in found {
            let recovery_step = boot.recovery_step(violation.check);
            self.failures.push(Failure {
                violation,
                partition: Some(self.node.slots[index].header.namespace),
                remark: boot.remark(),
                varied,
                node: self.recorder.node(),
                step: self.step,
                recovery_step,
            });
        }
    }
}

/// What went wrong around a start, and what it cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "plain facts about a start, each with its own name")]
pub(super) struct Circumstances {
    pub(super) is_calm: bool,
    pub(super) is_disturbed: bool,
    pub(super) goes_down: bool,
    pub(super) writes_land: bool,
    pub(super) lies_at_most_once: bool,
    pub(super) sees_truth: bool,
    pub(super) bytes_read: u64,
    pub(super) window_bytes: u64,
}

impl Circumstances {
    /// What a check may look at behind a start of `slot`.
    pub(super) fn view<'a>(&self, slot: &'a Slot, boot: &'a Boot) -> BootView<'a> {
        BootView {
            has_ledger: slot.header.ledger,
            is_calm: self.is_calm,
            is_disturbed: self.is_disturbed,
            writes_land: self.writes_land,
            lies_at_most_once: self.lies_at_most_once,
            failed_to_act: boot.failed_to_act,
            sees_truth: self.sees_truth,
            expectation: boot::expectation(slot),
            before: boot.before.as_ref(),
            judged: boot.carried.as_ref().or(boot.before.as_ref()),
            after: &boot.after,
            forgotten: &boot.forgotten,
            facts: &boot.facts,
            verdict: &boot.verdict,
            plan: &boot.plan,
            is_open: boot.open_error.is_none(),
            cursor: boot.cursor,
            settling_changes: boot.settling_changes,
            steps: boot.steps,
            bytes_read: self.bytes_read,
            limits: (STEP_BYTES, self.window_bytes),
            truth: &slot.truth,
        }
    }
}

/// Whether what lies in each segment ends where the start was shown that it ends.
fn is_as_shown(boot: &Boot, lying: &[Lying<'_>]) -> bool {
    boot.facts.segments.iter().all(|facts| {
        let last = lying.iter().rfind(|batch| batch.segment == facts.start);
        last.map_or(facts.start.offset(), |batch| batch.next) == facts.proven.next_offset
    })
}

/// Bytes that calls read.
pub(super) fn bytes_read(calls: &[DiskEvent]) -> u64 {
    let reads = calls.iter().filter(|call| call.call == Call::Read && call.errno.is_none());
    reads.map(|call| call.length).sum()
}

/// Whether an error number is a definite answer about a name, and no failure.
pub(super) fn is_an_answer(errno: Errno) -> bool {
    errno == Errno::NOT_FOUND || errno == Errno::EXISTS
}

/// What a start has read, proved and served is damaged no more, if it is what the medium holds.
pub(super) fn end_damage(disk: &SimDisk, slot: &mut Slot, after: &PartitionImage, segments: &[SegmentStart]) {
    if slot.truth.damages.is_empty() {
        return;
    }
    let Some(directory) = look::directory(disk, &slot.components) else { return };
    let is_durable = |name: &Name| {
        let length = match after.directory.find(name.as_bytes()) {
            Some(Content::File(file)) => file.bytes.len() as u64,
            Some(Content::Unopenable | Content::Directory | Content::Other) | None => 0,
        };
        match disk.is_durable(directory, name, 0..length) {
            Ok(()) | Err(Exposed::Absent) => true,
            Err(
                Exposed::Name { .. }
                | Exposed::Length { .. }
                | Exposed::Longer { .. }
                | Exposed::Bytes { .. }
                | Exposed::Unreadable { .. },
            ) => false,
        }
    };
    let mut logs = segments.iter().map(|start| FileName::log(*start));
    let is_all_durable = logs.all(|log| is_durable(&log)) && is_durable(&FileName::ledger());
    slot.truth.damages.end_where(|file| file.map_or(is_all_durable, is_durable));
}
