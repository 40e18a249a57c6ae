//! Sections of lines joined into one run.
//!
//! Promises: sections that are not shards of one run are refused, by the first field in which they differ;
//! of a shard that is there more than once the longest counts, and what two say differently of one seed is a
//! conflict. Leaves out: files.

use std::collections::BTreeMap;

use thiserror::Error;

use super::lines::{
    FailureLine, LineError, Section, ShardLine, StartedLine, SummaryLine, WorldLine, summary_of,
};
use super::whole::Whole;
use crate::run::join::join;
use crate::run::pace::ShardPace;
use crate::run::session::Summary;

/// Why sections are not joined.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MergeError {
    /// There is none.
    #[error("no run was begun in any of the files")]
    Nothing,
    /// They are of two runs.
    #[error("these are shards of two runs: {field} is {first} in one and {second} in another")]
    TwoRuns {
        /// The first field that differs.
        field: &'static str,
        /// Its value in one.
        first: String,
        /// And in another.
        second: String,
    },
    /// A shard whose lines are not all there.
    #[error(
        "shard {shard} ended with {counted} failing seeds of group {group}, and {kept} of them have a line"
    )]
    Incomplete {
        /// Which.
        shard: u64,
        /// Of which group.
        group: String,
        /// What its summary says.
        counted: u64,
        /// Lines that are there.
        kept: u64,
    },
    /// A line of another build.
    #[error("{0}")]
    Line(#[from] LineError),
}

/// What two lines say differently of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Of what.
    pub what: String,
    /// One.
    pub first: String,
    /// The other.
    pub second: String,
}

/// A run put together.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The run.
    pub whole: Whole,
    /// Every failing seed whose line is there, those that are not shown included.
    pub failures: Vec<FailureLine>,
    /// What is there twice, and not the same.
    pub conflicts: Vec<Conflict>,
}

/// Joins sections, in any order.
///
/// # Errors
///
/// When they are not shards of one run.
///
/// # Examples
///
/// ```
/// # use sim::oracle::sample::Checks;
/// # use sim::run::parallel::Seeds;
/// # use sim::run::session::Request;
/// # use sim::schedule::generate::{Knobs, SizeKnob};
/// # use sim::schedule::token::Commit;
/// use sim::exit::Exit;
/// use sim::report::lines::{Section, StartedLine};
/// use sim::report::merged::{MergeError, merged};
///
/// # let request = Request {
/// #     profile: "default",
/// #     knobs: Knobs { size: SizeKnob::Small, ..Knobs::default() },
/// #     seeds: Seeds::all(1, 4),
/// #     seconds: None,
/// #     failures: None,
/// #     per_group: 1,
/// #     require_reach: false,
/// #     jobs: 1,
/// #     commit: Commit::Unknown,
/// #     image: None,
/// #     checks: Checks::Default,
/// #     subject: None,
/// # };
/// // Two of three shards of one run, which were killed before they said how they ended.
/// let shard = |shard| {
///     let seeds = Seeds { shard, shards: 3, ..request.seeds };
///     let started = StartedLine::of(&Request { seeds, ..request });
///     Section { started, planted: None, failures: Vec::new(), reach: Vec::new(), summary: None }
/// };
/// let found = merged(vec![shard(3), shard(1)])?;
/// assert_eq!(found.whole.summary.shards_missing, [1, 2, 3]);
/// assert_eq!(found.whole.exit, Exit::Nothing);
///
/// let other = StartedLine::of(&Request { seeds: Seeds { shards: 3, from: 99, ..request.seeds }, ..request });
/// let of_another_run = Section { started: other, ..shard(2) };
/// let error = merged(vec![shard(1), of_another_run]).unwrap_err();
/// assert!(matches!(error, MergeError::TwoRuns { field: "from_seed", .. }));
/// # Ok::<(), MergeError>(())
/// ```
pub fn merged(mut sections: Vec<Section>) -> Result<Merged, MergeError> {
    // Whatever is taken where two would do is the same in any order.
    sections.sort_by_cached_key(|section| (section.started.shard.index, rank(section)));
    drop_merged(&mut sections);
    let first = sections.first().ok_or(MergeError::Nothing)?.started.clone();
    sections.iter().try_for_each(|section| is_of_one_run(&first, &section.started))?;
    let mut conflicts = Vec::new();
    let failures = failures(&sections, &mut conflicts);
    let mut shards: BTreeMap<u64, (Section, Summary)> = BTreeMap::new();
    for section in sections {
        let Some(line) = &section.summary else { continue };
        has_its_lines(&section, line)?;
        let mut summary = summary_of(&section.reach, line)?;
        let index = section.started.shard.index;
        if summary.shards.is_empty() {
            summary.shards.push(ShardPace {
                index,
                seeds: line.seeds,
                seconds: line.seconds,
                digest: line.digest.clone(),
            });
        }
        match shards.get(&index) {
            Some((_, before)) if before.seeds == summary.seeds && before.digest != summary.digest => {
                conflicts.push(Conflict {
                    what: format!("the run digest of shard {index}"),
                    first: format!("{:016x}", before.digest.get()),
                    second: line.digest.clone(),
                });
            }
            Some((_, before)) if before.seeds >= summary.seeds => {}
            Some(_) | None => drop(shards.insert(index, (section, summary))),
        }
    }
    let started = StartedLine {
        jobs: shards.values().map(|(section, _)| section.started.jobs).sum(),
        shard: ShardLine { index: 1, count: 1 },
        ..first.clone()
    };
    let planted = shards.values().find_map(|(section, _)| section.planted.clone());
    let summaries: Vec<Summary> = shards.values().map(|(_, summary)| summary.clone()).collect();
    let mut summary = join(first.from_seed, &summaries);
    summary.shards_missing.extend((1..=first.shard.count).filter(|index| !shards.contains_key(index)));
    summary.mismatches += conflicts.len() as u64;
    let shown = shown(&failures, first.limits.per_group);
    let whole = Whole::of(started, planted, shown, summary);
    Ok(Merged { whole, failures, conflicts })
}

/// Whether the failing seeds that each group shows, or all of them, have their lines.
fn has_its_lines(section: &Section, line: &SummaryLine) -> Result<(), MergeError> {
    let most = section.started.limits.per_group;
    for group in &line.groups {
        let of_it = section.failures.iter().filter(|failure| failure.group.as_ref() == Some(&group.id));
        let kept = of_it.count() as u64;
        if kept < group.count.min(most) {
            let (shard, counted) = (section.started.shard.index, group.count);
            return Err(MergeError::Incomplete { shard, group: group.id.clone(), counted, kept });
        }
    }
    Ok(())
}

/// Leaves out what was merged before from shards that are there themselves, as is a file that a merge wrote among them.
fn drop_merged(sections: &mut Vec<Section>) {
    let parts = |section: &Section| section.summary.as_ref().map_or(Vec::new(), |line| line.shards.clone());
    let is_there = |section: &Section, index: u64, sections: &[Section]| {
        sections.iter().any(|other| {
            let (run, other_run) = (&section.started, &other.started);
            parts(other).is_empty()
                && other_run.shard.index == index
                && (run.from_seed, &run.commit) == (other_run.from_seed, &other_run.commit)
        })
    };
    let is_superseded = |section: &Section| {
        let parts = parts(section);
        !parts.is_empty() && parts.iter().all(|part| is_there(section, part.index, sections))
    };
    let kept: Vec<Section> = sections.iter().filter(|section| !is_superseded(section)).cloned().collect();
    *sections = kept;
}

/// Sections of one shard in an order of their own: the longest first, and what they say decides the rest.
fn rank(section: &Section) -> (u64, String) {
    let summary = section.summary.as_ref();
    let seeds = summary.map_or(u64::MAX, |summary| u64::MAX - 1 - summary.seeds);
    (seeds, format!("{section:?}"))
}

fn is_of_one_run(first: &StartedLine, other: &StartedLine) -> Result<(), MergeError> {
    let none = || "none".to_owned();
    let of = |line: &StartedLine| {
        let WorldLine { regime, filesystem, size, replicas, image } = &line.world;
        [
            ("schema", line.schema.to_string()),
            ("generator", line.generator.to_string()),
            ("from_seed", line.from_seed.to_string()),
            ("commit", line.commit.clone()),
            // Where no commit tells builds apart, the program does.
            ("the program", if line.has_commit() { String::new() } else { program(line) }),
            ("regime", regime.clone()),
            ("filesystem", filesystem.clone()),
            ("size", size.clone()),
            ("replicas", replicas.clone()),
            ("the hash of the image", image.clone().unwrap_or_else(none)),
            ("checks", line.checks.clone()),
            ("subject", line.subject.clone().unwrap_or_else(none)),
            ("the limit of seeds", line.limits.seeds.map_or_else(none, |seeds| seeds.to_string())),
            ("the number of shards", line.shard.count.to_string()),
        ]
    };
    let differs = of(first).into_iter().zip(of(other)).find(|(left, right)| left != right);
    match differs {
        None => Ok(()),
        Some(((field, first), (_, second))) => Err(MergeError::TwoRuns { field, first, second }),
    }
}

/// The program that ran a shard; of those that could not read themselves nobody can tell one from another.
fn program(line: &StartedLine) -> String {
    line.program.clone().unwrap_or_else(|| "unknown".to_owned())
}

/// Every failing seed once, in order of seeds.
fn failures(sections: &[Section], conflicts: &mut Vec<Conflict>) -> Vec<FailureLine> {
    let mut by_place: BTreeMap<u64, FailureLine> = BTreeMap::new();
    for section in sections {
        for failure in &section.failures {
            let Some(seed) = failure.seed else { continue };
            let place = seed.wrapping_sub(section.started.from_seed);
            match by_place.get(&place) {
                None => drop(by_place.insert(place, failure.clone())),
                Some(before) if says_the_same(before, failure) => {}
                Some(before) => conflicts.push(Conflict {
                    what: format!("seed {seed:#x}"),
                    first: told(before),
                    second: told(failure),
                }),
            }
        }
    }
    by_place.into_values().collect()
}

/// Whether two lines tell of one failure: where it was saved, and what was known, may differ.
fn says_the_same(left: &FailureLine, right: &FailureLine) -> bool {
    let bare = |line: &FailureLine| FailureLine { file: None, known: false, ..line.clone() };
    bare(left) == bare(right)
}

fn told(line: &FailureLine) -> String {
    format!("{} (digest {})", line.sentence, line.digest.as_deref().unwrap_or("none"))
}

/// The first failing seeds of each group: those that the whole run would have shown.
#[must_use]
pub fn shown(failures: &[FailureLine], per_group: u64) -> Vec<FailureLine> {
    let mut counts: BTreeMap<Option<String>, u64> = BTreeMap::new();
    let mut is_shown = |line: &&FailureLine| {
        let count = counts.entry(line.group.clone()).or_default();
        *count += 1;
        *count <= per_group
    };
    failures.iter().filter(|line| is_shown(line)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::sample::Checks;
    use crate::oracle::{Check, Value, Violation};

    use crate::run::parallel::Seeds;
    use crate::run::session::{Group, Request};
    use crate::schedule::generate::Knobs;
    use crate::schedule::token::{Commit, Token};
    use crate::world::Failure;

    const GROUP: &str = "I06.decide.none";

    fn started(shard: u64) -> StartedLine {
        StartedLine::of(&Request {
            profile: "default",
            knobs: Knobs::default(),
            seeds: Seeds { from: 10, count: 100, shard, shards: 2, done: 0 },
            seconds: None,
            failures: None,
            per_group: 2,
            require_reach: false,
            jobs: 1,
            commit: Commit::Unknown,
            image: None,
            checks: Checks::Default,
            subject: None,
        })
    }

    fn token(seed: u64) -> String {
        Token::of(seed, Knobs::default(), None, Commit::Unknown).to_string()
    }

    fn failure(seed: u64) -> FailureLine {
        let violation = Violation::new(Check::I06, "a batch", Value::Number(1), Value::None);
        let failure = Failure {
            violation,
            partition: None,
            remark: None,
            varied: None,
            node: 0,
            step: 2,
            recovery_step: "decide",
        };
        let (token, group) = (Some(token(seed)), Some(GROUP.to_owned()));
        FailureLine { seed: Some(seed), token, group, ..FailureLine::of(&failure) }
    }

    /// A shard in which these seeds failed, in one group.
    fn section(shard: u64, seeds: &[u64]) -> Section {
        let group = Group {
            id: GROUP.to_owned(),
            check: "I06".to_owned(),
            recovery_step: "decide".to_owned(),
            count: seeds.len() as u64,
            token: token(seeds[0]),
            ..Group::default()
        };
        let failures = seeds.len() as u64;
        let summary = Summary { seeds: 50, failures, groups: vec![group], ..Summary::default() };
        let started = started(shard);
        Section {
            summary: Some(SummaryLine::of(&started, &summary, &[], crate::exit::Exit::Failed)),
            started,
            planted: None,
            failures: seeds.iter().take(2).map(|seed| failure(*seed)).collect(),
            reach: Vec::new(),
        }
    }

    #[test]
    fn what_differs_between_two_runs_is_said_in_words() {
        let check = |change: fn(&mut StartedLine), expected: &str| {
            let mut other = section(2, &[16]);
            change(&mut other.started);
            let error = merged(vec![section(1, &[14]), other]).expect_err("they are of two runs");
            assert_eq!(error.to_string(), format!("these are shards of two runs: {expected} in another"));
        };
        check(|line| line.limits.seeds = None, "the limit of seeds is 100 in one and none");
        check(|line| line.world.size = "small".to_owned(), "size is mixed in one and small");
        check(|line| line.subject = Some("exec:x".to_owned()), "subject is none in one and exec:x");
    }

    #[test]
    fn groups_of_shards_are_one_with_the_first_seeds_of_all() {
        let (one, two) = (section(1, &[14, 16, 20]), section(2, &[11, 31]));
        let whole = merged(vec![one.clone(), two.clone()]).expect("one run").whole;
        let groups = &whole.summary.groups;
        assert_eq!((groups.len(), groups[0].count, groups[0].token.as_str()), (1, 5, token(11).as_str()));
        let shown: Vec<Option<u64>> = whole.failures.iter().map(|line| line.seed).collect();
        assert_eq!(shown, [Some(11), Some(14)]);
        let other = merged(vec![two, one.clone(), one]).expect("one run").whole;
        assert_eq!((other.summary, other.failures), (whole.summary, whole.failures));
    }

    #[test]
    fn what_was_merged_among_its_shards_changes_nothing() {
        let shards = vec![section(1, &[14, 16, 20]), section(2, &[11, 31])];
        let whole = merged(shards.clone()).expect("one run").whole;
        let lines = SummaryLine::of(&whole.started, &whole.summary, &whole.missed, whole.exit);
        let written = Section {
            started: whole.started.clone(),
            planted: None,
            failures: whole.failures.clone(),
            reach: Vec::new(),
            summary: Some(lines),
        };
        let again = merged([shards, vec![written.clone()]].concat()).expect("one run").whole;
        assert_eq!((again.summary, again.failures), (whole.summary, whole.failures));
        let torn = Section { failures: Vec::new(), ..written.clone() };
        assert!(matches!(merged(vec![torn]), Err(MergeError::Incomplete { counted: 5, kept: 0, .. })));
        // Without its shards it stands for them, and with half of them it is another run.
        assert_eq!(merged(vec![written.clone()]).expect("one run").whole.summary.seeds, 100);
        assert!(matches!(merged(vec![written, section(1, &[14])]), Err(MergeError::TwoRuns { .. })));
    }

    #[test]
    fn two_lines_that_differ_about_one_seed_are_nondeterminism() {
        let (one, two) = (section(1, &[14]), section(2, &[11]));
        let mut moved = one.clone();
        moved.failures[0].file = Some("elsewhere/a.kdl".to_owned());
        let all = vec![one.clone(), two.clone(), moved];
        assert_eq!(merged(all).expect("one run").conflicts, []);
        let mut other = one.clone();
        other.failures[0].digest = Some("0000000000000001".to_owned());
        let found = merged(vec![one, two, other]).expect("one run");
        assert_eq!((found.conflicts.len(), found.conflicts[0].what.as_str()), (1, "seed 0xe"));
        assert_eq!(found.whole.exit, crate::exit::Exit::Nondeterminism);
    }
}
