//! From the command line, a profile, the surroundings and what a resumed run left to what is to be run.

use std::path::PathBuf;
use std::thread;

use super::resume::{self, Resumed};
use super::shard;
use crate::cli::Run;
use crate::command::{commit, source};
use crate::oracle::sample::Checks;
use crate::run::parallel::Seeds;
use crate::run::part::Part;
use crate::run::profile::{FirstSeed, Profile, named, profiles};
use crate::run::session::Request;
use crate::schedule::SCHEMA;
use crate::schedule::Word;
use crate::schedule::generate::{FilesystemKnob, GENERATOR, Knobs, RegimeKnob, ReplicasKnob, SizeKnob};
use crate::subject::program::Program;
use crate::subject::trial::probe;

/// What is to be run.
#[derive(Debug)]
pub(super) struct Plan {
    /// Which seeds, how far.
    pub(super) request: Request,
    /// Whether scenario files run first.
    pub(super) scenarios: bool,
    /// What runs beside the seeds.
    pub(super) parts: Vec<Part>,
    /// Where it is written.
    pub(super) directory: PathBuf,
    /// What ran before.
    pub(super) resumed: Option<Resumed>,
}

/// Settles what is to be run.
///
/// # Errors
///
/// When something asked for cannot be; the text is for a person.
pub(super) fn plan(options: &Run) -> Result<Plan, String> {
    match &options.resume {
        None => fresh(options),
        Some(directory) => {
            let resumed = resume::read(directory)?;
            let request = resumed_request(options, &resumed)?;
            let profile = profile(&resumed.started.profile)?;
            let has_run = |part: &Part| resumed.summary.parts.iter().any(|end| end.part == *part);
            let mut parts = parts(profile, request.seeds);
            parts.retain(|part| !has_run(part));
            Ok(Plan {
                request,
                scenarios: profile.scenarios && request.seeds.shard == 1,
                parts,
                directory: directory.clone(),
                resumed: Some(resumed),
            })
        }
    }
}

fn fresh(options: &Run) -> Result<Plan, String> {
    let profile = profile(&options.profile)?;
    let knobs = knobs(options, profile)?;
    let is_whole = (knobs.regime, knobs.filesystem) == (RegimeKnob::Mixed, FilesystemKnob::Any);
    if options.require_reach && !is_whole {
        let why = "goals are set for all worlds: leave --regime and --filesystem out";
        return Err(format!("--require-reach is not for one regime or one filesystem\nhint: {why}"));
    }
    let (index, count) = shard::settle(options.shard.as_deref(), &|name| std::env::var(name).ok())?;
    let from = match (options.from_seed, profile.from) {
        (Some(seed), _) => seed,
        (None, FirstSeed::Commit) => commit::seed().ok_or_else(|| no_seed(profile))?,
        (None, FirstSeed::Drawn) if count > 1 => {
            let why = "shards of one run have one first seed: give --from-seed";
            return Err(format!("each shard would draw a first seed of its own\nhint: {why}"));
        }
        (None, FirstSeed::Drawn) => drawn_seed(),
    };
    let limits = Limits::of(options, profile);
    let request = Request {
        profile: &profile.name,
        knobs,
        seeds: Seeds { from, count: limits.seeds.unwrap_or(u64::MAX), shard: index, shards: count, done: 0 },
        seconds: limits.seconds,
        failures: limits.failures,
        per_group: options.per_group.unwrap_or(profile.per_group),
        require_reach: options.require_reach || (profile.require_reach && is_whole),
        jobs: options.jobs.unwrap_or_else(cores).max(1),
        commit: commit::current(),
        image: options.image.as_deref().map(source::image).transpose()?,
        checks: source::word(&options.checks)?,
        subject: subject(options.subject.as_deref(), knobs)?,
    };
    // Scenario files are no seeds: one shard runs them for all.
    let scenarios = profile.scenarios && index == 1;
    let parts = parts(profile, request.seeds);
    Ok(Plan { request, scenarios, parts, directory: options.out.clone(), resumed: None })
}

/// What a profile runs beside its seeds. Beside the shards of a run that is dealt out it is work for a machine of its
/// own, so no shard does it.
fn parts(profile: &Profile, seeds: Seeds) -> Vec<Part> {
    if seeds.shards == 1 { profile.parts.clone() } else { Vec::new() }
}

/// When a run ends.
struct Limits {
    seeds: Option<u64>,
    seconds: Option<u64>,
    failures: Option<u64>,
}

impl Limits {
    fn of(options: &Run, profile: &Profile) -> Self {
        if is_limited(options) {
            let Run { seeds, seconds, failures, .. } = *options;
            Self { seeds, seconds, failures }
        } else {
            let Profile { seeds, seconds, failures, .. } = *profile;
            Self { seeds, seconds, failures }
        }
    }
}

const fn is_limited(options: &Run) -> bool {
    options.seeds.is_some() || options.seconds.is_some() || options.failures.is_some()
}

fn resumed_request(options: &Run, resumed: &Resumed) -> Result<Request, String> {
    let started = &resumed.started;
    let here = commit::current();
    if (started.generator, started.schema) != (GENERATOR, SCHEMA) || started.commit != here.to_string() {
        return Err(format!(
            "the run is of commit {} (generator {}, schema {}), and this is {here} (generator {GENERATOR}, \
             schema {SCHEMA}): its other half would be another run",
            started.commit, started.generator, started.schema
        ));
    }
    let program = commit::program();
    if let (Some(began), Some(program)) = (&started.program, &program)
        && began != program
    {
        return Err(format!(
            "the run was begun by program {began}, and this is {program}, though the commit is the same: its other half \
             would be another run\nhint: go on with the program that began it"
        ));
    }
    let image = options.image.as_deref().map(source::image).transpose()?;
    let given = image.map(|image| format!("{:08x}", image.hash()));
    if started.world.image != given {
        let name = |image: &Option<String>| image.clone().unwrap_or_else(|| "none".to_owned());
        let (was, is) = (name(&started.world.image), name(&given));
        return Err(format!("the run began with image {was}, and image {is} is given"));
    }
    let limits = if is_limited(options) {
        Limits { seeds: options.seeds, seconds: options.seconds, failures: options.failures }
    } else {
        let limits = started.limits;
        Limits { seeds: limits.seeds, seconds: limits.seconds, failures: limits.failures }
    };
    let unknown = || "the run asks for worlds that this build does not know".to_owned();
    Ok(Request {
        profile: &profile(&started.profile)?.name,
        knobs: started.knobs().ok_or_else(unknown)?,
        seeds: Seeds {
            from: started.from_seed,
            count: limits.seeds.unwrap_or(u64::MAX),
            shard: started.shard.index,
            shards: started.shard.count,
            done: resumed.summary.seeds,
        },
        seconds: limits.seconds,
        failures: limits.failures,
        per_group: options.per_group.unwrap_or(started.limits.per_group),
        require_reach: options.require_reach || started.require_reach,
        jobs: options.jobs.unwrap_or_else(cores).max(1),
        commit: here,
        image,
        checks: Checks::from_word(&started.checks).ok_or_else(unknown)?,
        subject: subject(started.subject.as_deref(), started.knobs().ok_or_else(unknown)?)?,
    })
}

fn profile(name: &str) -> Result<&'static Profile, String> {
    let known = || profiles().iter().map(|profile| profile.name.as_str()).collect::<Vec<_>>().join(", ");
    named(name).ok_or_else(|| format!("{name} is not a profile\nhint: one of {}", known()))
}

fn no_seed(profile: &Profile) -> String {
    let name = &profile.name;
    format!("profile {name} takes its first seed from the commit, and there is none\nhint: give --from-seed")
}

fn knobs(options: &Run, profile: &Profile) -> Result<Knobs, String> {
    // A directory and a program are those of one node.
    let is_alone = options.image.is_some() || options.subject.is_some();
    let replicas = match &options.replicas {
        Some(replicas) => source::word::<ReplicasKnob>(replicas)?,
        None if is_alone => ReplicasKnob::One,
        None => profile.replicas,
    };
    Ok(Knobs {
        regime: source::word::<RegimeKnob>(&options.regime)?,
        filesystem: source::word::<FilesystemKnob>(&options.filesystem)?,
        size: source::word::<SizeKnob>(&options.size)?,
        replicas,
    })
}

/// The program that starts are put to, tried once on a healthy partition: a mistake in the command line is none
/// of a world's.
fn subject(text: Option<&str>, knobs: Knobs) -> Result<Option<&'static Program>, String> {
    let Some(text) = text else { return Ok(None) };
    if knobs.replicas != ReplicasKnob::One {
        let why = "a program is given one partition of one node: leave --replicas out";
        return Err(format!("--subject is not for worlds with hosts\nhint: {why}"));
    }
    let program: Program = text.parse().map_err(|error| format!("{error}"))?;
    probe(&program).map_err(|fault| format!("{text} was tried on a healthy partition: {fault}"))?;
    Ok(Some(Box::leak(Box::new(program))))
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A seed nobody chose: it is printed, so the run can be repeated.
#[expect(clippy::disallowed_types, reason = "a fresh seed is drawn from the clock and printed")]
pub(crate) fn drawn_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |elapsed| elapsed.as_secs() << 20 | u64::from(elapsed.subsec_micros()))
}
