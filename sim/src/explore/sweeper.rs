//! Does one piece of a sweep: the variants of one step, or all damage to what lies there in the end.
//!
//! Promises: every world, those that only lead to a state included, is taken off one budget, and none is begun once
//! somebody has asked for the end; one that was not run is never forgotten. Leaves out: which variants there are.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use recovery_core::storage::Call;
use recovery_core::units::Namespace;
use xxhash_rust::xxh3::xxh3_64;

use super::request::{Kind, Request};
use super::states::States;
use super::summary::{Done, Failed};
use super::variant::{close, continued, interrupted};
use super::{calls, crashes, errors, fields, survivors};
use crate::oracle::sample::Sample;
use crate::run::ending::FailureClass;
use crate::run::one::{Outcome, report_of, run_checked, run_schedule};
use crate::schedule::tape::Tape;
use crate::schedule::{
    Action, CallPoint, Crash, CrashInside, Fault, Interruption, Regime, Schedule, Step, Survival, Survivors,
};
use crate::world::{Arena, FileMeasure, Moment, Watch};

/// Part of the work: one step of a subject, or all that lies on its disk in the end.
pub(super) struct Piece<'a> {
    pub(super) subject: usize,
    pub(super) plain: &'a Schedule,
    /// Calls of each of its steps.
    pub(super) calls: &'a [Vec<Call>],
    /// `None`: the fields.
    pub(super) step: Option<usize>,
}

impl Piece<'_> {
    /// How much it is, next to others: the calls at which something may go wrong.
    pub(super) fn weight(&self) -> usize {
        let calls = |step: usize| self.calls[step].len();
        self.step.map_or_else(|| (0..self.calls.len()).map(calls).sum(), calls)
    }
}

/// The sampled checks of a variant: one of each kind, since there are so many variants.
pub(super) fn light(number: u64) -> Sample {
    Sample::draw(&mut Tape::from_seed(number))
}

/// Whoever does a piece.
pub(super) struct Sweeper<'a> {
    pub(super) arena: &'a mut Arena,
    pub(super) request: &'a Request,
    pub(super) budget: &'a AtomicU64,
    pub(super) interrupted: &'a AtomicBool,
    pub(super) done: Done,
}

impl Sweeper<'_> {
    pub(super) fn sweep(&mut self, piece: &Piece<'_>) {
        if self.interrupted.load(Ordering::Relaxed) {
            self.done.was_cut_short = true;
            return;
        }
        let has = |kind| self.request.kinds.contains(&kind);
        // What is pending or lies there is told of one node, so worlds with hosts have the other two kinds.
        let is_host = piece.plain.needs_host();
        let (crash, error) = (has(Kind::Crash), has(Kind::Error));
        let (survivors, fields) = (has(Kind::Survivors) && !is_host, has(Kind::Fields) && !is_host);
        let Some(step) = piece.step else {
            if fields {
                self.damage(piece.plain);
            }
            return;
        };
        let mut states = States::new(self.request.keeps_equal);
        if crash {
            self.crash(piece, step, &mut states);
        }
        if survivors {
            self.survive(piece, step, &mut states);
        }
        if error {
            for error in errors::of_step(&piece.calls[step]) {
                let mut whole = interrupted(piece.plain, step, error);
                whole.steps.extend_from_slice(&piece.plain.steps[step + 1..]);
                close(&mut whole);
                self.run(&whole);
            }
        }
        self.done.states += states.count();
        self.done.deduplicated += states.repeated;
    }

    /// Crashes at each call of a step, and at depth 2 in the recovery behind each of them.
    fn crash(&mut self, piece: &Piece<'_>, step: usize, states: &mut States) {
        let rest = &piece.plain.steps[step + 1..];
        let mut reached = Vec::new();
        for crash in crashes::of_step(&piece.calls[step]) {
            let beginning = interrupted(piece.plain, step, crash);
            if self.go_on(&beginning, rest, states) {
                reached.push(beginning);
            }
        }
        if self.request.depth < 2 || piece.plain.needs_host() {
            return;
        }
        for mut beginning in reached {
            beginning.steps.push(Step::new(Action::Start));
            let last = beginning.steps.len() - 1;
            let Some(calls) = self.count(&beginning) else { continue };
            for crash in crashes::of_step(&calls[last]) {
                self.go_on(&interrupted(&beginning, last, crash), rest, states);
            }
        }
    }

    /// Every set of survivors at each call of a step, and inside its syncs.
    fn survive(&mut self, piece: &Piece<'_>, step: usize, states: &mut States) {
        let rest = &piece.plain.steps[step + 1..];
        let calls = piece.calls[step].iter().enumerate().filter(|(_, call)| call.is_mutating());
        for (at, call) in calls {
            for inside in crashes::stages(*call) {
                let at = CallPoint { on: None, call: calls::number(at) };
                let crash = |survival| {
                    let crash = Crash::Power(survival);
                    Interruption::Crash(CrashInside { at, inside, crash })
                };
                let all = interrupted(piece.plain, step, crash(Survival::of(Survivors::All)));
                let Some(pending) = self.moment(&all).and_then(|moment| moment.pending) else { continue };
                for survival in survivors::choices(&pending, piece.plain.world.filesystem) {
                    self.go_on(&interrupted(piece.plain, step, crash(survival)), rest, states);
                }
            }
        }
    }

    /// Every damage to what lies on the disk in the end.
    fn damage(&mut self, plain: &Schedule) {
        let mut beginning = plain.clone();
        // Damage is what the legal regime does not have.
        beginning.world.regime = Regime::Unlimited;
        beginning.steps.push(Step::new(Action::Crash(Crash::Process)));
        let Some(moment) = self.moment(&beginning) else { return };
        let files: Vec<(Namespace, FileMeasure)> = moment.files;
        for fault in fields::of(plain, &files) {
            let mut whole = beginning.clone();
            whole.steps.push(Step::new(damage(fault)));
            close(&mut whole);
            self.run(&whole);
        }
    }

    /// Runs up to the crash that ends `beginning` and, if that leads to a state that was not met before, on
    /// from there; says whether it did.
    fn go_on(&mut self, beginning: &Schedule, rest: &[Step], states: &mut States) -> bool {
        if self.done.was_cut_short {
            return false;
        }
        let whole = continued(beginning, rest);
        // A world that comes to no end is run whole: then it fails.
        let Some(moment) = self.moment(beginning) else {
            self.run(&whole);
            return false;
        };
        let is_new = states.is_new(moment.state);
        if is_new {
            self.run(&whole);
        }
        is_new
    }

    /// Where a world stands behind its last step.
    fn moment(&mut self, schedule: &Schedule) -> Option<Moment> {
        if !self.may_run() {
            return None;
        }
        let last = u32::try_from(schedule.steps.len() - 1).expect("a schedule is short");
        let watch = Watch { until: Some(last), ..Watch::of(light(0)) };
        report_of(self.arena, schedule, watch)?.moment
    }

    fn count(&mut self, schedule: &Schedule) -> Option<Vec<Vec<Call>>> {
        if self.may_run() { calls::count(self.arena, schedule, light(0)) } else { None }
    }

    /// Runs a variant with its checks.
    fn run(&mut self, schedule: &Schedule) {
        if !self.may_run() {
            return;
        }
        let sample = light(self.done.runs);
        let outcome = run_schedule(self.arena, schedule, sample);
        let both = [self.done.digest.to_le_bytes(), outcome.digest.to_le_bytes()].concat();
        self.done.digest = xxh3_64(&both);
        if outcome.failures.is_empty() {
            return;
        }
        for (check, count) in &outcome.tally.violations {
            *self.done.violations.entry(*check).or_default() += count;
        }
        // Once more, to learn which of its faults it needs, and whether it fails alike.
        let blamed = run_checked(self.arena, schedule, sample);
        self.done.is_harness_bug |= outcome.is_harness_bug || blamed.is_harness_bug;
        self.done.failed.push(failed(schedule, &blamed, &outcome));
    }

    /// Takes a world off the budget; says whether there was one left, and nobody asked for the end.
    fn may_run(&mut self) -> bool {
        let take =
            || self.budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        let may_run = !self.interrupted.load(Ordering::Relaxed) && take().is_ok();
        self.done.was_cut_short |= !may_run;
        self.done.runs += u64::from(may_run);
        may_run
    }
}

fn damage(fault: Fault) -> Action {
    Action::Fault { fault, cached: false }
}

fn failed(schedule: &Schedule, blamed: &Outcome, outcome: &Outcome) -> Failed {
    let first = outcome.failures.first().expect("what failed has a failure");
    Failed {
        class: FailureClass::of(first),
        faults: blamed.culprits.clone(),
        schedule: schedule.clone(),
        sentence: first.violation.to_string(),
    }
}
