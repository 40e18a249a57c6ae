//! A start of a node: every partition recovered in turn, and each judged by the oracle.

use recovery_core::decide::Action as SegmentAction;
use recovery_core::format::FileName;
use recovery_core::storage::{Errno, Name};
use recovery_core::units::Offset;

use super::boot::{self, Boot};
use super::event::{EventCode, word};
use super::look;
use super::meter::Phase;
use super::node::{Lies, Node, Slot};
use super::report::Failure;
use super::run::World;
use super::serve::Answer;
use crate::disk::{Event as DiskEvent, Exposed, SimDisk};
use crate::oracle::boot_view::BootView;
use crate::oracle::invariants::adopted_strangers;
use crate::oracle::{Content, judge};
use crate::run::tally::Tally;

impl World<'_> {
    pub(super) fn start(&mut self, tally: &mut Tally) -> Answer {
        if self.node.is_up {
            return Answer::Missed;
        }
        self.node.is_up = true;
        self.has_sync_failed = false;
        let mut lies = self.node.lies;
        for injection in &self.injections {
            lies.add(&injection.disturbance, injection.times);
        }
        for index in 0..self.node.slots.len() {
            let Node { disk, slots, .. } = &mut self.node;
            let slot = &mut slots[index];
            self.meter.enter(Phase::Recover);
            let boot = boot::boot(disk, slot, &mut self.workspace, &mut self.meter);
            self.note_boot(index, &boot, tally);
            self.meter.enter(Phase::Oracle);
            self.judge(index, &boot, lies, tally);
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
        self.outcome.verdict(namespace, &boot.verdict);
        if let Some(told) = &mut self.told {
            told.boot(self.step, namespace, boot);
        }
        judge::count(&boot.facts, &boot.verdict, tally);
    }

    /// Lets the oracle look at a start, and tells the truth what became of every batch.
    fn judge(&mut self, index: usize, boot: &Boot, lies: Lies, tally: &mut Tally) {
        let fails = |call: &DiskEvent| call.errno.is_some_and(|errno| !is_an_answer(errno));
        let is_calm = !lies.successes && !self.calls.iter().any(fails);
        let slot = &mut self.node.slots[index];
        if let Some(first) = boot.facts.segments.first() {
            slot.truth.learn_floor(first.start.offset());
        }
        let view = BootView {
            has_ledger: slot.header.ledger,
            is_calm,
            is_disturbed: !self.injections.is_empty() || self.node.is_waiting,
            writes_land: !lies.successes,
            lies_at_most_once: !lies.lasts,
            failed_to_act: boot.failed_to_act,
            sees_truth: !lies.reads,
            expectation: boot::expectation(slot),
            before: boot.before.as_ref(),
            after: &boot.after,
            facts: &boot.facts,
            verdict: &boot.verdict,
            plan: &boot.plan,
            is_open: boot.open_error.is_none(),
            truth: &slot.truth,
        };
        let strangers = if boot.open_error.is_some() || boot.failed_to_act {
            adopted_strangers(&view)
        } else {
            Vec::new()
        };
        let recovery_step = boot.recovery_step();
        for violation in judge::judge(&view, &mut self.meter) {
            self.failures.push(Failure {
                violation,
                partition: Some(slot.header.namespace),
                remark: boot.remark(),
                step: self.step,
                recovery_step,
            });
        }
        slot.truth.strangers.extend(strangers);
        let lying = judge::lying(&boot.after.directory, &boot.facts, &boot.verdict);
        let is_served = boot.verdict.is_served() && boot.open_error.is_none();
        if is_served {
            let next = boot.verdict.next_offset.unwrap_or(Offset::ZERO);
            tally.indistinguishable += u64::from(slot.truth.reconcile(&lying, next));
            // What is to go wrong inside this step may still hit the partition, in a sibling's start.
            if self.injections.is_empty() && !self.node.is_waiting {
                end_damage(&self.node.disk, slot, boot);
            }
        }
    }
}

/// Whether an error number is a definite answer about a name, and no failure.
pub(super) fn is_an_answer(errno: Errno) -> bool {
    errno == Errno::NOT_FOUND || errno == Errno::EXISTS
}

/// What a start has read, proved and served is damaged no more, if it is what the medium holds.
fn end_damage(disk: &SimDisk, slot: &mut Slot, boot: &Boot) {
    if slot.truth.damages.is_empty() {
        return;
    }
    let Some(directory) = look::directory(disk, &slot.components) else { return };
    let is_durable = |name: &Name| {
        let length = match boot.after.directory.find(name.as_bytes()) {
            Some(Content::File(file)) => file.bytes.len() as u64,
            Some(Content::Unopenable | Content::Directory | Content::Other) | None => 0,
        };
        match disk.is_durable(directory, name, 0..length) {
            Ok(()) | Err(Exposed::Absent) => true,
            Err(
                Exposed::Name { .. }
                | Exposed::Length { .. }
                | Exposed::Bytes { .. }
                | Exposed::Unreadable { .. },
            ) => false,
        }
    };
    let mut logs = boot.facts.segments.iter().map(|segment| FileName::log(segment.start));
    let is_all_durable = logs.all(|log| is_durable(&log)) && is_durable(&FileName::ledger());
    slot.truth.damages.end_where(|file| file.map_or(is_all_durable, is_durable));
}
