//! Sections of lines joined into one run.
//!
//! Promises: sections that are not shards of one run are refused, by the first field in which they differ;
//! of a shard that is there more than once the longest counts, and what two say differently of one seed is a
//! conflict. Leaves out: files.

use std::collections::BTreeMap;

use thiserror::Error;

use super::lines::{FailureLine, LineError, Section, ShardLine, StartedLine, summary_of};
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
    /// What is there twice, and not the same.
    pub conflicts: Vec<Conflict>,
}

/// Joins sections, in any order.
///
/// # Errors
///
/// When they are not shards of one run.
pub fn merged(mut sections: Vec<Section>) -> Result<Merged, MergeError> {
    // Whatever is taken where two would do is the same in any order.
    sections.sort_by_cached_key(|section| (section.started.shard.index, rank(section)));
    let first = sections.first().ok_or(MergeError::Nothing)?.started.clone();
    sections.iter().try_for_each(|section| is_of_one_run(&first, &section.started))?;
    let mut conflicts = Vec::new();
    let failures = failures(&sections, &mut conflicts);
    let mut shards: BTreeMap<u64, (Section, Summary)> = BTreeMap::new();
    for section in sections {
        let Some(line) = &section.summary else { continue };
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
    Ok(Merged { whole, conflicts })
}

/// Sections of one shard in an order of their own: the longest first, and what they say decides the rest.
fn rank(section: &Section) -> (u64, String) {
    let summary = section.summary.as_ref();
    let seeds = summary.map_or(u64::MAX, |summary| u64::MAX - 1 - summary.seeds);
    (seeds, format!("{section:?}"))
}

fn is_of_one_run(first: &StartedLine, other: &StartedLine) -> Result<(), MergeError> {
    let of = |line: &StartedLine| {
        [
            ("schema", line.schema.to_string()),
            ("generator", line.generator.to_string()),
            ("from_seed", line.from_seed.to_string()),
            ("commit", line.commit.clone()),
            ("world", format!("{:?}", line.world)),
            ("checks", line.checks.clone()),
            ("the limit of seeds", format!("{:?}", line.limits.seeds)),
            ("the number of shards", line.shard.count.to_string()),
        ]
    };
    let differs = of(first).into_iter().zip(of(other)).find(|(left, right)| left != right);
    match differs {
        None => Ok(()),
        Some(((field, first), (_, second))) => Err(MergeError::TwoRuns { field, first, second }),
    }
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
fn shown(failures: &[FailureLine], per_group: u64) -> Vec<FailureLine> {
    let mut counts: BTreeMap<Option<String>, u64> = BTreeMap::new();
    let mut is_shown = |line: &&FailureLine| {
        let count = counts.entry(line.group.clone()).or_default();
        *count += 1;
        *count <= per_group
    };
    failures.iter().filter(|line| is_shown(line)).cloned().collect()
}
