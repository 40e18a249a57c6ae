//! The pinned seeds: what each of a fixed thousand, and of 250 with hosts on three nodes, comes to, as a short line
//! that is read in a diff.
//!
//! Promises: lines hold verdicts and outcomes (CONTRACTS 7), so a core that merely reads differently changes
//! none; print then parse is the identity. Leaves out: whether a check fails in these worlds, which every run
//! of seeds says, and where the lines are kept (`snapshots/seeds.snap`).

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use recovery_core::units::Offset;
use thiserror::Error;

use super::one::{report_of, sample_of, schedule_of};
use super::parallel::{Seeds, run};
use crate::oracle::judge::verdict_code;
use crate::oracle::sample::Checks;
use crate::schedule::Schedule;
use crate::schedule::generate::{GENERATOR, Knobs, ReplicasKnob};
use crate::world::{Arena, BootTold, Watch};

/// How many seeds are pinned.
pub const PINNED: PinnedCount = PinnedCount { alone: 1000, hosts: 250 };

/// What the seed of a world with hosts begins with, where a plain one is that of one node.
const HOSTS: &str = "n3:";

/// The verdict of a partition that no start has looked at.
const NO_START: &str = "no-start";

/// The verdict of a world that a panic ended.
const PANIC: &str = "panic";

/// Seeds from 0 on, of either kind of worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedCount {
    /// Of worlds of one node.
    pub alone: u64,
    /// Of worlds with hosts on three nodes.
    pub hosts: u64,
}

/// A seed, and of which kind of worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PinnedSeed {
    /// Whether its world has hosts on three nodes.
    pub has_hosts: bool,
    /// The seed.
    pub seed: u64,
}

/// What the last start of one partition concluded, on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionVerdict {
    /// The disposition, or `refuse/` and the reason's code; `no-start` and `panic` where there is none.
    pub verdict: String,
    /// The offset that the next message gets, if the partition is served.
    pub next_offset: Option<u64>,
}

/// What the world of one seed came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedVerdict {
    /// The seed.
    pub seed: PinnedSeed,
    /// Its partitions, in the order in which its schedule names them, each with a verdict a node.
    pub partitions: Vec<Vec<PartitionVerdict>>,
    /// Digest of what a reviewer cares about: all verdicts, answers to clients, final bytes.
    pub outcome: u64,
}

/// What seeds came to, by one build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedVerdicts {
    /// The generator that made their schedules: under another one a seed is another world.
    pub generator: u32,
    /// In ascending order of the seeds.
    pub seeds: Vec<SeedVerdict>,
}

/// Why a text does not hold what seeds came to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PinnedError {
    /// It does not begin with the generator.
    #[error("it has no line `generator N` before its seeds")]
    Generator,
    /// A line of a seed does not read.
    #[error("{line:?} is no line of a seed: `seed verdict next-offset outcome` belongs there")]
    Line {
        /// The line.
        line: String,
    },
}

impl PinnedError {
    /// The permanent code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Generator => "seeds-generator",
            Self::Line { .. } => "seeds-line",
        }
    }
}

impl PinnedSeed {
    /// The knobs of its world: those of a run that chooses nothing, but for its nodes.
    #[must_use]
    pub fn knobs(self) -> Knobs {
        let replicas = if self.has_hosts { ReplicasKnob::Three } else { ReplicasKnob::One };
        Knobs { replicas, ..Knobs::default() }
    }
}

/// Runs the first seeds of either kind on `jobs` threads, and begins none once `is_over`.
pub fn pinned(count: PinnedCount, jobs: usize, is_over: impl Fn() -> bool + Sync) -> SeedVerdicts {
    let mut seeds = Vec::new();
    for (has_hosts, count) in [(false, count.alone), (true, count.hosts)] {
        let world = |arena: &mut Arena, seed| seed_verdict(arena, PinnedSeed { has_hosts, seed });
        run(Seeds::all(0, count), jobs, &is_over, Arena::new, world, |_, verdict| {
            seeds.push(verdict);
            ControlFlow::Continue(())
        });
    }
    SeedVerdicts { generator: GENERATOR, seeds }
}

fn seed_verdict(arena: &mut Arena, seed: PinnedSeed) -> SeedVerdict {
    let schedule = schedule_of(seed.seed, seed.knobs(), None);
    let watch = Watch { keeps_events: true, ..Watch::of(sample_of(seed.seed, Checks::Default)) };
    let Some(report) = report_of(arena, &schedule, watch) else {
        let verdict = PartitionVerdict { verdict: PANIC.to_owned(), next_offset: None };
        return SeedVerdict { seed, partitions: vec![vec![verdict]], outcome: 0 };
    };
    let boots = report.told.map(|told| told.boots).unwrap_or_default();
    SeedVerdict { seed, partitions: last_verdicts(&schedule, &boots), outcome: report.outcome }
}

fn last_verdicts(schedule: &Schedule, boots: &[BootTold]) -> Vec<Vec<PartitionVerdict>> {
    let of_node = |namespace, node| {
        let mut starts = boots.iter().rev().filter(|boot| boot.namespace == namespace);
        starts.find(|boot| boot.node == node).map_or_else(PartitionVerdict::of_none, PartitionVerdict::of)
    };
    let of_nodes = |namespace| (0..schedule.world.nodes).map(|node| of_node(namespace, node)).collect();
    schedule.world.partitions.iter().map(|partition| of_nodes(partition.namespace)).collect()
}

impl PartitionVerdict {
    fn of_none() -> Self {
        Self { verdict: NO_START.to_owned(), next_offset: None }
    }

    fn of(start: &BootTold) -> Self {
        let verdict = &start.verdict;
        let (disposition, code) = (verdict.disposition.code(), verdict_code(verdict));
        let word = if disposition == code { code.to_owned() } else { format!("{disposition}/{code}") };
        Self { verdict: word, next_offset: verdict.next_offset.map(Offset::get) }
    }
}

impl SeedVerdicts {
    /// How many starts came to each verdict in the worlds with hosts or in those without, the most first.
    fn classes(&self, has_hosts: bool) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let seeds = self.seeds.iter().filter(|seed| seed.seed.has_hosts == has_hosts);
        for partition in seeds.flat_map(|seed| seed.partitions.iter().flatten()) {
            *counts.entry(&partition.verdict).or_default() += 1;
        }
        let mut classes: Vec<(&str, usize)> = counts.into_iter().collect();
        classes.sort_by_key(|(verdict, count)| (std::cmp::Reverse(*count), *verdict));
        classes
    }
}

impl fmt::Display for SeedVerdicts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "generator {}\n", self.generator)?;
        for (has_hosts, of) in [(false, "partitions"), (true, "partitions of a node with a host")] {
            let classes = self.classes(has_hosts);
            let seeds = self.seeds.iter().filter(|seed| seed.seed.has_hosts == has_hosts).count();
            let starts: usize = classes.iter().map(|(_, count)| count).sum();
            writeln!(formatter, "{seeds:>7} seeds, {starts} {of} by their last start:")?;
            for (verdict, count) in classes {
                writeln!(formatter, "{count:>7} {verdict}")?;
            }
            writeln!(formatter)?;
        }
        self.seeds.iter().try_for_each(|seed| writeln!(formatter, "{seed}"))
    }
}

impl fmt::Display for SeedVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = |word: fn(&PartitionVerdict) -> String| {
            let of_nodes =
                |nodes: &Vec<PartitionVerdict>| nodes.iter().map(word).collect::<Vec<_>>().join(",");
            self.partitions.iter().map(of_nodes).collect::<Vec<_>>().join(";")
        };
        let verdicts = column(|partition| partition.verdict.clone());
        let next =
            column(|partition| partition.next_offset.map_or_else(|| "-".to_owned(), |next| next.to_string()));
        write!(formatter, "{} {verdicts} {next} {:016x}", self.seed, self.outcome)
    }
}

impl fmt::Display for PinnedSeed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", if self.has_hosts { HOSTS } else { "" }, self.seed)
    }
}

impl FromStr for SeedVerdicts {
    type Err = PinnedError;

    /// Reads what was printed; what stands before the generator is another's, and the classes follow from the
    /// lines.
    fn from_str(text: &str) -> Result<Self, PinnedError> {
        let mut lines = text.lines().skip_while(|line| !line.starts_with("generator "));
        let number = lines.next().and_then(|line| line.strip_prefix("generator "));
        let generator = number.and_then(|number| number.parse().ok()).ok_or(PinnedError::Generator)?;
        // Empty lines stand before the seeds, and classes between those are indented.
        let seeds = lines.filter(|line| !line.is_empty() && !line.starts_with(' '));
        Ok(Self { generator, seeds: seeds.map(str::parse).collect::<Result<_, _>>()? })
    }
}

impl FromStr for SeedVerdict {
    type Err = PinnedError;

    fn from_str(line: &str) -> Result<Self, PinnedError> {
        read_line(line).ok_or_else(|| PinnedError::Line { line: line.to_owned() })
    }
}

fn read_line(line: &str) -> Option<SeedVerdict> {
    let columns: Vec<&str> = line.split(' ').collect();
    let [seed, verdicts, next, outcome] = columns[..] else { return None };
    let (has_hosts, seed) = seed.strip_prefix(HOSTS).map_or((false, seed), |seed| (true, seed));
    let of_node = |(verdict, next): (&str, &str)| {
        let next_offset = if next == "-" { None } else { Some(next.parse().ok()?) };
        Some(PartitionVerdict { verdict: verdict.to_owned(), next_offset })
    };
    let of_partition =
        |(verdicts, next): (&str, &str)| pairs(verdicts, next, ',')?.map(of_node).collect::<Option<_>>();
    Some(SeedVerdict {
        seed: PinnedSeed { has_hosts, seed: seed.parse().ok()? },
        partitions: pairs(verdicts, next, ';')?.map(of_partition).collect::<Option<_>>()?,
        outcome: u64::from_str_radix(outcome, 16).ok()?,
    })
}

/// The parts of two texts side by side, if there are as many of the one as of the other.
fn pairs<'a>(left: &'a str, right: &'a str, by: char) -> Option<impl Iterator<Item = (&'a str, &'a str)>> {
    let (left, right) = (left.split(by), right.split(by));
    (left.clone().count() == right.clone().count()).then(|| left.zip(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back() {
        let verdicts = pinned(PinnedCount { alone: 40, hosts: 10 }, 2, || false);
        assert_eq!(verdicts.seeds.len(), 50);
        assert_eq!(verdicts.to_string().parse(), Ok(verdicts.clone()));
        let kept = format!("---\nsource: somewhere\n---\n{verdicts}");
        assert_eq!(kept.parse(), Ok(verdicts));
    }

    #[test]
    fn a_line_has_four_columns() {
        let line = "17 serve;refuse/hole 12;- 0123456789abcdef";
        let read: SeedVerdict = line.parse().expect("it reads");
        assert_eq!(read.to_string(), line);
        assert_eq!(read.partitions[1][0].next_offset, None);
        let line = "n3:17 serve,refuse/hole,no-start;serve,serve,serve 12,-,-;3,3,3 0123456789abcdef";
        let read: SeedVerdict = line.parse().expect("it reads");
        assert_eq!(
            (read.to_string().as_str(), read.seed.has_hosts, read.partitions[0].len()),
            (line, true, 3)
        );
        for wrong in ["17 serve 12", "17 serve;serve 12 0", "x serve 12 0", "17 serve x 0", "17 serve 12 y"] {
            let error = wrong.parse::<SeedVerdict>().expect_err(wrong);
            assert_eq!(error.code(), "seeds-line");
        }
    }

    #[test]
    fn a_text_without_a_generator_is_none_of_these() {
        assert_eq!("0 serve 12 0123456789abcdef".parse::<SeedVerdicts>(), Err(PinnedError::Generator));
        assert_eq!("generator two".parse::<SeedVerdicts>(), Err(PinnedError::Generator));
    }
}
