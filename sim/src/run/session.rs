//! A run from its first seed to its summary.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::difference::Difference;
use super::digest::RunDigest;
use super::ending::FailureClass;
use super::first_seen::FirstSeen;
use super::group::group_id;
use super::known::Known;
use super::one::{Outcome, run_seed, schedule_of};
use super::pace::{Moment, Pace, ShardPace};
use super::parallel::{Seeds, run};
use super::part::{Part, PartEnd};
use super::planted::Planted;
use super::tally::Tally;
use crate::oracle::Check;
use crate::oracle::sample::Checks;
use crate::schedule::Schedule;
use crate::schedule::generate::Knobs;
use crate::schedule::token::{Commit, Token};
use crate::subject::program::Program;
use crate::subject::trial::Trial;
use crate::world::{Arena, Failure, WorldImage};

/// Seeds after which a run says how far it is, and keeps it.
const PROGRESS_SEEDS: u64 = 64;

/// What is asked of a run.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The profile whose limits hold where none is given.
    pub profile: &'static str,
    /// Which worlds.
    pub knobs: Knobs,
    /// Which seeds.
    pub seeds: Seeds,
    /// Seconds after which no seed is begun.
    pub seconds: Option<u64>,
    /// Failing seeds of groups that were not known, after which the run ends.
    pub failures: Option<u64>,
    /// How many failing seeds of a group are shown.
    pub per_group: u64,
    /// Whether a goal missed fails the run.
    pub require_reach: bool,
    /// Threads.
    pub jobs: usize,
    /// The commit that the program was built from.
    pub commit: Commit,
    /// The directory that its worlds start with.
    pub image: Option<&'static WorldImage>,
    /// How much of what is sampled is done.
    pub checks: Checks,
    /// Another program, which every start is put to, too.
    pub subject: Option<&'static Program>,
}

/// A seed that failed.
#[derive(Debug)]
pub struct FailedSeed<'a> {
    /// The word that replays it; `None` of a world that no seed made.
    pub token: Option<Token>,
    /// Its schedule.
    pub schedule: &'a Schedule,
    /// Digest of its world.
    pub digest: u64,
    /// Its first failure.
    pub failure: &'a Failure,
    /// The group that it belongs to.
    pub group: &'a str,
    /// Whether that was known before.
    pub is_known: bool,
    /// Whether it is among the first of its group, which are shown.
    pub is_shown: bool,
    /// The fault kinds that it needs.
    pub faults: &'a [&'static str],
    /// Where a second run parted from the first.
    pub difference: Option<Difference>,
}

/// Failures of one cause, in words, as a summary holds them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Its id.
    pub id: String,
    /// The check that fired.
    pub check: String,
    /// Where in recovery or in serving it broke.
    pub recovery_step: String,
    /// The fault kinds that they need.
    pub faults: Vec<String>,
    /// Failing seeds.
    pub count: u64,
    /// Whether it was known before.
    pub known: bool,
    /// Why it is left as it is, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The first commit whose run showed it, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    /// The first of them.
    pub token: String,
}

/// Scenario files that ran before the seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenariosRun {
    /// How many held whole.
    pub passed: u64,
    /// Those that did not, in the order in which they ran.
    pub failed: Vec<FailedScenario>,
}

/// A scenario file that does not hold, or that nobody can run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedScenario {
    /// Where it is.
    pub path: String,
    /// What does not hold first, and in which line; or why it cannot be run.
    pub sentence: String,
}

/// What was not run, since somebody ended the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotRun {
    /// Seeds, where their number was limited.
    pub seeds: u64,
    /// Scenario files.
    pub scenarios: u64,
    /// What a profile runs beside its seeds.
    pub parts: Vec<Part>,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Worlds completed.
    pub seeds: u64,
    /// Failing seeds.
    pub failures: u64,
    /// By cause, in order of first appearance.
    pub groups: Vec<Group>,
    /// Groups that the run was told are known.
    pub known_listed: u64,
    /// Known groups that were reached and did not fail.
    pub known_gone: Vec<String>,
    /// Digest of the run.
    pub digest: RunDigest,
    /// How long it took.
    pub elapsed: Duration,
    /// What it reached.
    pub tally: Tally,
    /// What each class of outcome was first seen by.
    pub first_seen: FirstSeen,
    /// Worlds run twice.
    pub reruns: u64,
    /// Worlds whose second run was another one.
    pub mismatches: u64,
    /// Scenario files that ran before the seeds.
    pub scenarios: ScenariosRun,
    /// The failure that was planted.
    pub planted: Planted,
    /// Whether a panic of the harness ended a world.
    pub is_harness_bug: bool,
    /// How fast it went.
    pub pace: Pace,
    /// Shards that were merged.
    pub shards: Vec<ShardPace>,
    /// Shards that a merge did not find.
    pub shards_missing: Vec<u64>,
    /// Whether somebody ended it before its limits did.
    pub is_interrupted: bool,
    /// What was not run because of that.
    pub not_run: NotRun,
    /// What ran beside the seeds, and how it ended.
    pub parts: Vec<PartEnd>,
    /// Seeds that were to be run, of this shard, where time ended the run before they all were.
    pub cut_by_time: Option<u64>,
}

impl Group {
    /// Notes whether it is known, and what is known of it.
    fn look_up(&mut self, known: &Known) {
        let found = known.get(&self.id);
        self.known = found.is_some();
        self.reason = found.map(|group| group.reason.clone());
        self.first_seen = found.map(|group| group.first_seen.clone());
    }

    /// What is known of it, in words; `None` of a new one.
    #[must_use]
    pub fn known_as(&self) -> Option<String> {
        let (reason, first_seen) = (self.reason.as_ref()?, self.first_seen.as_ref()?);
        Some(format!("{reason} (since {first_seen})"))
    }
}

impl Summary {
    /// Worlds a second.
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown to three digits")]
    pub fn rate(&self) -> f64 {
        self.seeds as f64 / self.elapsed.as_secs_f64().max(0.001)
    }

    /// Failing seeds of known groups.
    pub fn known_failures(&self) -> u64 {
        self.groups.iter().filter(|group| group.known).map(|group| group.count).sum()
    }

    /// Failing seeds of groups that were not known.
    pub fn new_failures(&self) -> u64 {
        self.failures - self.known_failures()
    }

    /// Notes how long the run has taken so far.
    fn at(&mut self, elapsed: Duration) {
        self.elapsed = elapsed;
        self.pace.note(Moment { seconds: elapsed.as_secs_f64(), seeds: self.seeds });
    }

    /// Whether a group failed.
    pub fn has_group(&self, id: &str) -> bool {
        self.groups.iter().any(|group| group.id == id)
    }
}

/// Hears of a run as it goes.
pub trait Listener {
    /// A seed failed.
    fn failed(&mut self, failed: &FailedSeed<'_>);

    /// Some seeds more are done: all that was heard so far is in the summary.
    fn progress(&mut self, summary: &Summary);
}

/// Runs the seeds. Once `interrupted` is set no seed is begun. What `summary` holds was run before: those
/// seeds are not run again, and that time counts.
///
/// # Panics
///
/// If there is no temporary directory to try another program in.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::AtomicBool;
///
/// use sim::oracle::sample::Checks;
/// use sim::run::known::Known;
/// use sim::run::parallel::Seeds;
/// use sim::run::session::{FailedSeed, Listener, Request, Summary, run_session};
/// use sim::schedule::generate::{Knobs, SizeKnob};
/// use sim::schedule::token::Commit;
///
/// /// Counts what it hears.
/// struct Count(u64);
///
/// impl Listener for Count {
///     fn failed(&mut self, _failed: &FailedSeed<'_>) {
///         self.0 += 1;
///     }
///
///     fn progress(&mut self, _summary: &Summary) {}
/// }
///
/// // Four seeds from 1 on; no limit in seconds, nor of failures.
/// let request = Request {
///     profile: "default",
///     knobs: Knobs { size: SizeKnob::Small, ..Knobs::default() },
///     seeds: Seeds::all(1, 4),
///     seconds: None,
///     failures: None,
///     per_group: 1,
///     require_reach: false,
///     jobs: 1,
///     commit: Commit::Unknown,
///     image: None,
///     checks: Checks::Default,
///     subject: None,
/// };
/// let (interrupted, mut count) = (AtomicBool::new(false), Count(0));
/// let mut run = |request: &Request, before: Summary| {
///     run_session(request, &Known::default(), before, &interrupted, &mut count)
/// };
/// let summary = run(&request, Summary::default());
/// assert_eq!((summary.seeds, summary.failures), (4, 0));
/// // Neither threads nor where it was interrupted change anything.
/// let two = run(&Request { seeds: Seeds::all(1, 2), jobs: 2, ..request }, Summary::default());
/// assert_eq!(run(&request, two).digest, summary.digest);
/// assert_eq!(count.0, 0);
/// ```
#[expect(clippy::disallowed_types, reason = "how long a run may take is asked of the clock; no verdict is")]
pub fn run_session(
    request: &Request,
    known: &Known,
    summary: Summary,
    interrupted: &AtomicBool,
    listener: &mut dyn Listener,
) -> Summary {
    let begin = std::time::Instant::now();
    let before = summary.elapsed;
    let mut session = Session::begin(request, known, summary);
    let is_full = session.is_full();
    let is_over = || {
        let is_late = |seconds| before + begin.elapsed() >= Duration::from_secs(seconds);
        is_full || interrupted.load(Ordering::Relaxed) || request.seconds.is_some_and(is_late)
    };
    let knobs = request.knobs;
    let world = |arena: &mut Arena, seed| run_seed(arena, seed, knobs, request.checks);
    let seeds = Seeds { done: session.summary.seeds, ..request.seeds };
    run(
        seeds,
        request.jobs,
        is_over,
        || arena(request),
        world,
        |seed, outcome| {
            session.take(seed, &outcome, listener);
            if session.summary.seeds.is_multiple_of(PROGRESS_SEEDS) {
                session.summary.at(before + begin.elapsed());
                listener.progress(&session.summary);
            }
            if session.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    let is_full = session.is_full();
    let mut summary = session.summary;
    summary.elapsed = before + begin.elapsed();
    summary.is_interrupted = interrupted.load(Ordering::Relaxed);
    let left = seeds_left(request, is_full, &summary);
    if summary.is_interrupted {
        summary.not_run.seeds = left;
    } else if left > 0 {
        summary.cut_by_time = request.seeds.share();
    }
    summary.known_gone = known.gone(&summary.tally, &|id| summary.has_group(id));
    listener.progress(&summary);
    summary
}

/// Seeds that were to be run and were not, where it was not failures that ended the run before.
fn seeds_left(request: &Request, is_full: bool, summary: &Summary) -> u64 {
    let wanted = request.seeds.share().filter(|_| !is_full);
    wanted.map_or(0, |wanted| wanted.saturating_sub(summary.seeds))
}

/// Memory for the worlds of one thread.
///
/// # Panics
///
/// If there is no temporary directory to try another program in.
fn arena(request: &Request) -> Arena {
    let trial = request
        .subject
        .map(|program| Rc::new(Trial::new(program.clone()).expect("a temporary directory can be made")));
    let mut arena = Arena::on(request.image);
    arena.trial = trial;
    arena
}

/// A run on its way.
struct Session<'a> {
    request: &'a Request,
    known: &'a Known,
    summary: Summary,
    /// Places of the groups in the summary.
    places: BTreeMap<String, usize>,
}

impl<'a> Session<'a> {
    fn begin(request: &'a Request, known: &'a Known, mut summary: Summary) -> Self {
        summary.known_listed = known.count();
        for group in &mut summary.groups {
            group.look_up(known);
        }
        let places = summary.groups.iter().zip(0..).map(|(group, place)| (group.id.clone(), place)).collect();
        Self { request, known, summary, places }
    }

    /// Whether enough has failed.
    fn is_full(&self) -> bool {
        self.request.failures.is_some_and(|most| self.summary.new_failures() >= most)
    }

    fn take(&mut self, seed: u64, outcome: &Outcome, listener: &mut dyn Listener) {
        let request = self.request;
        let token = Token::of(seed, request.knobs, request.image.map(WorldImage::hash), request.commit);
        let summary = &mut self.summary;
        summary.seeds += 1;
        summary.digest.add(seed, outcome.digest);
        let is_first = summary.tally.subject.difference.is_none();
        summary.tally.add(&outcome.tally);
        summary.first_seen.note_world(seed, &outcome.tally);
        if let Some(difference) = summary.tally.subject.difference.as_mut().filter(|_| is_first) {
            *difference = format!("{token}, {difference}");
        }
        summary.reruns += u64::from(outcome.is_rerun);
        summary.is_harness_bug |= outcome.is_harness_bug;
        let (Some(failure), Some(class)) = (outcome.failures.first(), FailureClass::first(outcome)) else {
            return;
        };
        summary.failures += 1;
        let is_mismatch = |failure: &Failure| failure.violation.check == Check::Nondeterminism;
        summary.mismatches += u64::from(outcome.failures.iter().any(is_mismatch));
        let group = self.group(class, outcome, token);
        group.count += 1;
        let (id, is_known, is_shown) = (group.id.clone(), group.known, group.count <= request.per_group);
        let schedule = schedule_of(seed, request.knobs, request.image);
        listener.failed(&FailedSeed {
            token: Some(token),
            schedule: &schedule,
            digest: outcome.digest,
            failure,
            group: &id,
            is_known,
            is_shown,
            faults: &outcome.culprits,
            difference: outcome.difference,
        });
    }

    /// The group that a failure belongs to, made if it is the first of it.
    fn group(&mut self, class: FailureClass, outcome: &Outcome, token: Token) -> &mut Group {
        let id = group_id(class, &outcome.culprits);
        let groups = &mut self.summary.groups;
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            let mut group = Group {
                id,
                check: class.check.code().to_owned(),
                recovery_step: class.recovery_step.to_owned(),
                faults: outcome.culprits.iter().map(|&kind| kind.to_owned()).collect(),
                token: token.to_string(),
                ..Group::default()
            };
            group.look_up(self.known);
            groups.push(group);
            groups.len() - 1
        });
        &mut groups[place]
    }
}
