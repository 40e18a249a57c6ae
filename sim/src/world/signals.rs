//! A start once more, in which signals interrupt calls.
//!
//! Promises: a call of each kind that can be interrupted is, several times in a row, drawn from those that the start made. Leaves out: what
//! follows for the verdict, and which filesystems let a signal through, for the core asks none for its name.

use recovery_core::storage::{Call, Errno};

use super::again::{Again, Found};
use super::boot::Sight;
use super::varied::Change;
use crate::disk::{Cause, Disturbance, Injection};
use crate::oracle::invariants::{Expected, check_misread};
use crate::oracle::sample::Question;
use crate::schedule::{CallPoint, FaultKind, Times};

/// One start in so many is asked.
const SHARE: u64 = 8;

/// Signals that come in a row: what is read twice before it counts as unreadable hides one.
const IN_A_ROW: u32 = 7;

/// The calls that a signal interrupts: a listing half of the way.
const INTERRUPTED: [Call; 4] = [Call::Read, Call::Write, Call::Open, Call::List];

impl Again<'_> {
    /// I18: a signal is no error, and leaves nothing behind.
    pub(super) fn signals(&mut self) -> Vec<Found> {
        let most = self.calls.len() as u64;
        let mut found = Vec::new();
        for choice in self.sample.choices(Question::Signals, self.nth, most * SHARE) {
            // One is enough.
            if choice < most && found.is_empty() {
                found = self.interrupted_by_signals(choice);
            }
        }
        found
    }

    fn interrupted_by_signals(&mut self, place: u64) -> Vec<Found> {
        let mut injections = Vec::new();
        for on in INTERRUPTED {
            let count = self.calls.iter().filter(|call| call.call == on).count() as u64;
            if let Some(nth) = place.checked_rem(count) {
                let call = u32::try_from(nth + 1).expect("a start makes few calls");
                injections.push(Injection {
                    at: CallPoint { on: Some(on), call },
                    times: Times::Count(IN_A_ROW),
                    cause: Some(Cause::Fault(FaultKind::Interrupted)),
                    disturbance: Disturbance::Fail { errno: Errno::INTERRUPTED },
                });
            }
        }
        let disk = &self.node.disk;
        disk.restore(&self.moments.before);
        disk.begin_step(&injections);
        let again = self.start(Sight::NOTHING);
        // A start that takes another way behind the first of them is told by what it comes to.
        let _outcome = self.node.disk.end_step();
        let expected = Expected::the_same("the verdict behind calls that signals interrupted");
        let (first, second) = ((&self.boot.verdict, &self.boot.plan), (&again.verdict, &again.plan));
        let violation = check_misread(&expected, first, second);
        let calls = injections.iter().map(|injection| injection.at).collect();
        self.found(&Change::Signals { calls }, &again, violation.into_iter().collect())
    }
}
