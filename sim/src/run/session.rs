//! A run from its first seed to its summary.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::difference::Difference;
use super::digest::RunDigest;
use super::ending::FailureClass;
use super::group::group_id;
use super::one::{Outcome, run_seed, schedule_of};
use super::parallel::{Seeds, run};
use super::tally::Tally;
use crate::oracle::Check;
use crate::schedule::Schedule;
use crate::schedule::generate::Knobs;
use crate::schedule::token::{Commit, Token};
use crate::world::{Arena, Failure, WorldImage};

/// What is asked of a run.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Which worlds.
    pub knobs: Knobs,
    /// Which seeds.
    pub seeds: Seeds,
    /// Seconds after which no seed is begun.
    pub seconds: Option<u64>,
    /// Failing seeds after which the run ends.
    pub failures: Option<u64>,
    /// How many failing seeds of a group are shown.
    pub per_group: u64,
    /// Threads.
    pub jobs: usize,
    /// The commit that the program was built from.
    pub commit: Commit,
    /// The directory that its worlds start with.
    pub image: Option<&'static WorldImage>,
}

/// A seed that failed.
#[derive(Debug)]
pub struct FailedSeed<'a> {
    /// The word that replays it.
    pub token: Token,
    /// Its schedule.
    pub schedule: &'a Schedule,
    /// Digest of its world.
    pub digest: u64,
    /// Its first failure.
    pub failure: &'a Failure,
    /// The group that it belongs to.
    pub group: &'a str,
    /// The fault kinds that it needs.
    pub faults: &'a [&'static str],
    /// Where a second run parted from the first.
    pub difference: Option<Difference>,
}

/// Failures of one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its id.
    pub id: String,
    /// Failing seeds.
    pub count: u64,
    /// The first of them.
    pub token: Token,
    /// The check that fired, and where.
    pub class: FailureClass,
    /// The fault kinds that they need.
    pub faults: Vec<&'static str>,
}

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Worlds completed.
    pub seeds: u64,
    /// Failing seeds.
    pub failures: u64,
    /// By cause, in order of first appearance.
    pub groups: Vec<Group>,
    /// Digest of the run.
    pub digest: RunDigest,
    /// How long it took.
    pub elapsed: Duration,
    /// What it reached.
    pub tally: Tally,
    /// Worlds run twice.
    pub reruns: u64,
    /// Worlds whose second run was another one.
    pub mismatches: u64,
    /// Whether a panic of the harness ended a world.
    pub is_harness_bug: bool,
    /// Whether somebody ended it before its limits did.
    pub is_interrupted: bool,
}

impl Summary {
    /// Worlds a second.
    pub fn rate(&self) -> f64 {
        self.rate_after(self.elapsed)
    }

    /// Worlds a second, if so much time has passed.
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown to three digits")]
    pub fn rate_after(&self, elapsed: Duration) -> f64 {
        self.seeds as f64 / elapsed.as_secs_f64().max(0.001)
    }
}

/// Hears of a run as it goes.
pub trait Listener {
    /// A seed failed, and its group is to be shown.
    fn failed(&mut self, failed: &FailedSeed<'_>);

    /// Some seeds more are done.
    fn progress(&mut self, summary: &Summary, elapsed: Duration);
}

/// Runs the seeds. Once `interrupted` is set no seed is begun.
#[expect(clippy::disallowed_types, reason = "how long a run may take is asked of the clock; no verdict is")]
pub fn run_session(request: &Request, interrupted: &AtomicBool, listener: &mut dyn Listener) -> Summary {
    let begin = std::time::Instant::now();
    let is_over = || {
        interrupted.load(Ordering::Relaxed)
            || request.seconds.is_some_and(|seconds| begin.elapsed() >= Duration::from_secs(seconds))
    };
    let mut summary = Summary::default();
    let mut shown: BTreeMap<String, usize> = BTreeMap::new();
    let knobs = request.knobs;
    let world = |arena: &mut Arena, seed| run_seed(arena, seed, knobs);
    run(
        request.seeds,
        request.jobs,
        is_over,
        || Arena::on(request.image),
        world,
        |seed, outcome| {
            take(request, seed, &outcome, &mut summary, &mut shown, listener);
            if summary.seeds.is_multiple_of(256) {
                listener.progress(&summary, begin.elapsed());
            }
            match request.failures {
                Some(most) if summary.failures >= most => ControlFlow::Break(()),
                Some(_) | None => ControlFlow::Continue(()),
            }
        },
    );
    summary.elapsed = begin.elapsed();
    summary.is_interrupted = interrupted.load(Ordering::Relaxed);
    summary
}

fn take(
    request: &Request,
    seed: u64,
    outcome: &Outcome,
    summary: &mut Summary,
    shown: &mut BTreeMap<String, usize>,
    listener: &mut dyn Listener,
) {
    summary.seeds += 1;
    summary.digest.add(seed, outcome.digest);
    summary.tally.add(&outcome.tally);
    summary.reruns += u64::from(outcome.is_rerun);
    summary.is_harness_bug |= outcome.is_harness_bug;
    let (Some(failure), Some(class)) = (outcome.failures.first(), FailureClass::first(outcome)) else {
        return;
    };
    summary.failures += 1;
    let is_mismatch = |failure: &Failure| failure.violation.check == Check::Nondeterminism;
    summary.mismatches += u64::from(outcome.failures.iter().any(is_mismatch));
    let id = group_id(class, &outcome.culprits);
    let token = Token::of(seed, request.knobs, request.image.map(WorldImage::hash), request.commit);
    let index = *shown.entry(id.clone()).or_insert_with(|| {
        let faults = outcome.culprits.clone();
        summary.groups.push(Group { id: id.clone(), count: 0, token, class, faults });
        summary.groups.len() - 1
    });
    summary.groups[index].count += 1;
    if summary.groups[index].count <= request.per_group {
        let schedule = schedule_of(seed, request.knobs, request.image);
        listener.failed(&FailedSeed {
            token,
            schedule: &schedule,
            digest: outcome.digest,
            failure,
            group: &id,
            faults: &outcome.culprits,
            difference: outcome.difference,
        });
    }
}
