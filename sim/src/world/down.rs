//! How a node goes down: what survives is chosen by the schedule.

use super::event::EventCode;
use super::interrupt;
use super::meter::Phase;
use super::moment::Pending;
use super::node::{Lies, Service};
use super::run::World;
use super::serve::Answer;
use crate::run::tally::Tally;
use crate::schedule::{Crash, Restart};

impl World<'_> {
    pub(super) fn crash(&mut self, crash: &Crash, tally: &mut Tally) -> Answer {
        if !self.node.is_up && crash.restart() == Restart::Process {
            return Answer::Missed;
        }
        self.go_down(crash, tally);
        Answer::Done
    }

    pub(super) fn go_down(&mut self, crash: &Crash, tally: &mut Tally) {
        self.meter.enter(Phase::Crash);
        if self.until == Some(self.step) {
            self.pending = Some(Pending::of(&self.node));
        }
        let choice = interrupt::survivors(&self.node, crash);
        for slot in &mut self.node.slots {
            // Handles die with the process: nothing is closed.
            slot.service = Service::Down;
        }
        let report = self.node.disk.crash(crash.restart(), &choice);
        self.node.is_up = false;
        (self.node.is_waiting, self.node.lies) = (false, Lies::default());
        tally.crashes += 1;
        *tally.restarts.entry(crash.restart()).or_default() += 1;
        let counts = u64::from(report.kept) << 32 | u64::from(report.lost);
        self.recorder.note(EventCode::Crashed, crash.restart() as u64, report.digest, counts);
    }
}
