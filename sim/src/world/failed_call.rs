//! A start once more, in which one of the calls fails that it looked with: to open, to measure or to list.
//!
//! Promises: that call is drawn from all of those by a word of its own. Leaves out: reads, which [`super::misread`] lets fail,
//! and calls that change something, which schedules do.

use recovery_core::storage::{Call, Errno};

use super::again::{Again, Found};
use super::varied::{Change, Misread};
use crate::disk::{Cause, Disturbance, Event, Injection};
use crate::oracle::invariants::{Expected, check_misread};
use crate::oracle::sample::Question;
use crate::schedule::{CallPoint, FaultKind, Times};

/// One start in so many is asked.
const SHARE: u64 = 4;

impl Again<'_> {
    /// I18: a call that fails is no answer, so the verdict is the same, or the partition is unavailable.
    pub(super) fn failed_call(&mut self) -> Vec<Found> {
        if !self.circumstances.sees_truth {
            return Vec::new();
        }
        let asking = |call: &Event| matches!(call.call, Call::Open | Call::Length | Call::List);
        let looked = self.boot.looked.clone();
        let looking = self.calls.iter().zip(1_u32..).skip(looked.start).take(looked.len());
        let calls: Vec<(u32, Event)> = looking
            .filter(|(call, _)| asking(call) && call.errno.is_none())
            .map(|(call, number)| (number, *call))
            .collect();
        let mut found = Vec::new();
        for choice in self.sample.choices(Question::FailedCall, self.nth, calls.len() as u64 * SHARE) {
            let drawn = usize::try_from(choice).map_or(None, |choice| calls.get(choice));
            // One is enough.
            if let (Some((number, call)), true) = (drawn, found.is_empty()) {
                found = self.one_failed(*number, call);
            }
        }
        found
    }

    fn one_failed(&mut self, number: u32, call: &Event) -> Vec<Found> {
        self.node.disk.restore(&self.moments.before);
        let again = self.start_through_injection(Injection {
            at: CallPoint { on: None, call: number },
            times: Times::Count(1),
            cause: Some(Cause::Fault(FaultKind::ReadError)),
            disturbance: Disturbance::Fail { errno: Errno::IO },
        });
        let subject = "the verdict behind a call that failed once";
        let expected = Expected { may_be_unavailable: true, ..Expected::the_same(subject) };
        let (first, second) = ((&self.boot.verdict, &self.boot.plan), (&again.verdict, &again.plan));
        let violation = check_misread(&expected, first, second);
        let about = violation.is_some().then(|| self.told(call, &[&self.moments.before]));
        let change = Change::Misread { misread: Misread::Failed, call: number, about };
        self.found(&change, &again, violation.into_iter().collect())
    }
}
