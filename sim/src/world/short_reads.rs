//! A start once more, in which every read comes short.
//!
//! Promises: each comes half as long as it was asked for, or with so many bytes at most; through a window that is drawn,
//! and in steps of few bytes, so that one is left with a little more than a window takes. Leaves out: what follows for
//! the verdict and the work.

use recovery_core::observe::{WINDOW_BYTES_MIN, Workspace};
use recovery_core::storage::Call;

use super::again::{Again, Found};
use super::boot::STEP_BYTES;
use super::start::bytes_read;
use super::varied::Change;
use crate::disk::{Cause, Disturbance, Injection};
use crate::oracle::Violation;
use crate::oracle::invariants::{Expected, check_misread, check_work};
use crate::oracle::sample::Question;
use crate::schedule::{CallPoint, FaultKind, Times};

/// One start in so many is asked.
const SHARE: u64 = 16;

/// The largest window, in those of the least size.
const WINDOWS_MOST: u64 = 8;

/// Bytes of a step.
const STEPS: [u64; 4] = [3_000, 5_000, 9_000, STEP_BYTES];

/// Bytes that a read comes to, where it is not half of what was asked for.
const BYTES: [u64; 3] = [512, 700, 4000];

impl Again<'_> {
    /// I17, I18: reads that all come short change nothing, and cost no more.
    pub(super) fn short_reads(&mut self) -> Vec<Found> {
        let most = WINDOWS_MOST * (BYTES.len() as u64 + 1);
        let place = self.sample.place(self.nth) % STEPS.len() as u64;
        let step_bytes = STEPS[usize::try_from(place).expect("there are few")];
        let mut found = Vec::new();
        for choice in self.sample.choices(Question::ShortReads, self.nth, most * SHARE) {
            if choice < most && found.is_empty() {
                let windows = usize::try_from(1 + choice % WINDOWS_MOST).expect("a few windows");
                let kind = usize::try_from(choice / WINDOWS_MOST).expect("there are few kinds");
                let window_bytes = WINDOW_BYTES_MIN * windows;
                found = self.short_reads_of(BYTES.get(kind).copied(), window_bytes, step_bytes);
            }
        }
        found
    }

    fn short_reads_of(&mut self, bytes: Option<u64>, window_bytes: usize, step_bytes: u64) -> Vec<Found> {
        let disk = &self.node.disk;
        disk.restore(&self.moments.before);
        disk.begin_step(&[Injection {
            at: CallPoint { on: Some(Call::Read), call: 1 },
            times: Times::Always,
            cause: Some(Cause::Fault(FaultKind::ShortRead)),
            disturbance: Disturbance::Short { bytes },
        }]);
        let again = self.start_through(Workspace::new(window_bytes), step_bytes);
        // Where nothing was read nothing came short.
        let _outcome = self.node.disk.end_step();
        let expected = Expected::the_same("the verdict where every read comes short");
        let (first, second) = ((&self.boot.verdict, &self.boot.plan), (&again.verdict, &again.plan));
        let unlike = check_misread(&expected, first, second);
        let limits = (step_bytes, window_bytes as u64);
        let read = bytes_read(&self.moments.calls);
        let before = self.boot.before.as_ref();
        let work = before.and_then(|before| check_work(before, &again.facts, read, limits));
        let violations: Vec<Violation> = unlike.into_iter().chain(work).collect();
        let change = Change::ShortReads { bytes, window_bytes: window_bytes as u64, step_bytes };
        self.found(&change, &again, violations)
    }
}
