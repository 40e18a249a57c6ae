//! How a node with a host comes up and goes down.
//!
//! Promises: which partition is judged next is decided by the schedule: by the number of its step and the turn.
//! Leaves out: what the oracle says of it.

use recovery_core::observe::Progress;
use recovery_core::units::Namespace;

use super::run::HostWorld;
use super::slices::{slice_bytes, to_the_end, turn};
use crate::oracle::invariants::check_taken_over;
use crate::run::tally::Tally;
use crate::schedule::{Action, Crash, Restart, Step};
use crate::world::event::EventCode;
use crate::world::interrupt;
use crate::world::look;
use crate::world::meter::Phase;
use crate::world::moment::Pending;
use crate::world::node::Lies;
use crate::world::serve::{Answer, promise_all, tell_acknowledged};

impl HostWorld<'_> {
    /// Starts a node that is down.
    pub(super) fn start(&mut self, m: usize) -> Answer {
        if self.members[m].node.is_up {
            return Answer::Missed;
        }
        self.members[m].node.is_up = true;
        self.members[m].has_sync_failed = false;
        for extra in &mut self.members[m].extras {
            (extra.gap_settled, extra.tries) = (None, 0);
        }
        self.members[m].host = Some(self.members[m].new_host());
        self.start_host(m);
        self.judge_pending(m);
        Answer::Done
    }

    /// Whether each copy that lacked only its name has it behind a start.
    pub(super) fn check_taken_over(&mut self, m: usize, step: &Step) {
        if !matches!(step.action, Action::Start) || !self.is_calm(m) || self.has_liars(m) {
            return;
        }
        for index in 0..self.members[m].node.slots.len() {
            let member = &self.members[m];
            let (key, components) = (member.key(index), &member.node.slots[index].components);
            let is_known = member.host.as_ref().is_some_and(|host| host.state_of(&key).is_some());
            let is_known = is_known && !self.cluster.has_deleted(key.namespace);
            let has_directory = look::directory(&member.node.disk, components).is_some();
            let has_copy = look::complete_sibling(&member.node.disk, components).is_some();
            if let Some(violation) = check_taken_over(has_directory, is_known && has_copy) {
                self.fail(Some(key.namespace), violation, "boot", None);
            }
        }
    }

    /// Reads the metadata log.
    pub(super) fn start_host(&mut self, m: usize) {
        let limit = slice_bytes(self.schedule);
        let member = &mut self.members[m];
        let Some(host) = &mut member.host else { return };
        let (disk, workspace) = (&member.node.disk, &mut self.workspace);
        if !to_the_end(|| host.start(disk, workspace, limit)) {
            self.fail_endless("boot");
        }
    }

    /// Judges every partition that is to be judged, a slice at a time.
    pub(super) fn judge_pending(&mut self, m: usize) {
        let limit = slice_bytes(self.schedule);
        let member = &mut self.members[m];
        let Some(host) = &mut member.host else { return };
        let (disk, workspace, step) = (&member.node.disk, &mut self.workspace, self.step);
        let mut turns = 0;
        let has_ended = to_the_end(|| {
            let pending: Vec<Namespace> = host.pending().collect();
            if pending.is_empty() {
                return Progress::Done;
            }
            host.step(disk, pending[turn(step, turns, pending.len())], workspace, limit);
            turns += 1;
            Progress::More
        });
        if !has_ended {
            self.fail_endless("boot");
        }
    }

    /// Stops every partition cleanly, and then the node.
    pub(super) fn stop(&mut self, m: usize) -> Answer {
        if !self.members[m].node.is_up {
            return Answer::Missed;
        }
        for index in 0..self.members[m].node.slots.len() {
            if self.members[m].is_served(index) {
                self.stop_partition(m, index);
            }
        }
        let member = &mut self.members[m];
        if let Some(host) = member.host.take() {
            host.close(&member.node.disk);
        }
        let node = &mut member.node;
        (node.is_up, node.is_waiting, node.lies) = (false, false, Lies::default());
        node.disk.disarm();
        node.disk.remember();
        Answer::Done
    }

    fn stop_partition(&mut self, m: usize, index: usize) {
        let member = &mut self.members[m];
        let slot = &mut member.node.slots[index];
        let promised = slot.truth.promised_next;
        let host = member.host.as_mut().expect("it is served");
        slot.truth.try_flush();
        let stopped = host.stop(&member.node.disk, slot.header.namespace);
        // A superblock that was not written leaves a partition stopped all the same.
        let is_done = stopped.is_ok();
        self.answers.push((index, is_done));
        if let Ok(acknowledged) = stopped {
            tell_acknowledged(slot, acknowledged.next_offset);
            promise_all(slot);
        }
        let what = (slot.header.namespace.packed(), u64::from(is_done), 0);
        self.recorder.note_behind(member.node.disk.recorded(), EventCode::Stopped, what);
        self.check_promises(m, index, promised);
    }

    /// The node goes down now.
    pub(super) fn crash(&mut self, m: usize, crash: &Crash, tally: &mut Tally) -> Answer {
        if !self.members[m].node.is_up && crash.restart() == Restart::Process {
            return Answer::Missed;
        }
        self.go_down(m, crash, tally);
        Answer::Done
    }

    pub(super) fn go_down(&mut self, m: usize, crash: &Crash, tally: &mut Tally) {
        self.meter.enter(Phase::Crash);
        if self.will_end_behind() {
            let pending = Pending::of(&self.members[m].node);
            self.set_pending(pending);
        }
        let member = &mut self.members[m];
        let choice = interrupt::survivors(&member.node, crash);
        // Handles die with the process: nothing is closed.
        member.host = None;
        let report = member.node.disk.crash(crash.restart(), &choice);
        let node = &mut member.node;
        (node.is_up, node.is_waiting, node.lies) = (false, false, Lies::default());
        tally.crashes += 1;
        *tally.restarts.entry(crash.restart()).or_default() += 1;
        let counts = u64::from(report.kept) << 32 | u64::from(report.lost);
        self.recorder.note(EventCode::Crashed, crash.restart() as u64, report.digest, counts);
    }
}
