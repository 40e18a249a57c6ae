//! The pinned seeds: what each of a fixed thousand comes to, as a short line that is read in a diff.
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
use crate::schedule::generate::{GENERATOR, Knobs};
use crate::world::{Arena, BootTold, Watch};

/// How many seeds are pinned: those from 0 on.
pub const PINNED_SEEDS: u64 = 1000;

/// The verdict of a partition that no start has looked at.
const NO_START: &str = "no-start";

/// The verdict of a world that a panic ended.
const PANIC: &str = "panic";

/// What the last start of one partition concluded.
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
    pub seed: u64,
    /// Its partitions, in the order in which its schedule names them.
    pub partitions: Vec<PartitionVerdict>,
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

/// Runs the first `count` of the pinned seeds on `jobs` threads, and begins none once `is_over`.
pub fn pinned(count: u64, jobs: usize, is_over: impl Fn() -> bool + Sync) -> SeedVerdicts {
    let mut seeds = Vec::new();
    run(Seeds::all(0, count), jobs, is_over, Arena::new, seed_verdict, |_, verdict| {
        seeds.push(verdict);
        ControlFlow::Continue(())
    });
    SeedVerdicts { generator: GENERATOR, seeds }
}

/// What the world of one seed comes to, with the knobs of a run that chooses nothing.
fn seed_verdict(arena: &mut Arena, seed: u64) -> SeedVerdict {
    let schedule = schedule_of(seed, Knobs::default(), None);
    let watch = Watch { keeps_events: true, ..Watch::of(sample_of(seed, Checks::Default)) };
    let Some(report) = report_of(arena, &schedule, watch) else {
        let verdict = PartitionVerdict { verdict: PANIC.to_owned(), next_offset: None };
        return SeedVerdict { seed, partitions: vec![verdict], outcome: 0 };
    };
    let boots = report.told.map(|told| told.boots).unwrap_or_default();
    SeedVerdict { seed, partitions: last_verdicts(&schedule, &boots), outcome: report.outcome }
}

fn last_verdicts(schedule: &Schedule, boots: &[BootTold]) -> Vec<PartitionVerdict> {
    let partitions = schedule.world.partitions.iter();
    partitions
        .map(|partition| {
            let last = boots.iter().rfind(|boot| boot.namespace == partition.namespace);
            let Some(BootTold { verdict, .. }) = last else {
                return PartitionVerdict { verdict: NO_START.to_owned(), next_offset: None };
            };
            let (disposition, code) = (verdict.disposition.code(), verdict_code(verdict));
            let word = if disposition == code { code.to_owned() } else { format!("{disposition}/{code}") };
            PartitionVerdict { verdict: word, next_offset: verdict.next_offset.map(Offset::get) }
        })
        .collect()
}

impl SeedVerdicts {
    /// How many partitions came to each verdict, the most first.
    fn classes(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for partition in self.seeds.iter().flat_map(|seed| &seed.partitions) {
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
        let partitions: usize = self.seeds.iter().map(|seed| seed.partitions.len()).sum();
        writeln!(formatter, "{:>7} seeds, {partitions} partitions by their last start:", self.seeds.len())?;
        for (verdict, count) in self.classes() {
            writeln!(formatter, "{count:>7} {verdict}")?;
        }
        writeln!(formatter)?;
        self.seeds.iter().try_for_each(|seed| writeln!(formatter, "{seed}"))
    }
}

impl fmt::Display for SeedVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = |word: fn(&PartitionVerdict) -> String| {
            self.partitions.iter().map(word).collect::<Vec<_>>().join(";")
        };
        let verdicts = column(|partition| partition.verdict.clone());
        let next =
            column(|partition| partition.next_offset.map_or_else(|| "-".to_owned(), |next| next.to_string()));
        write!(formatter, "{} {verdicts} {next} {:016x}", self.seed, self.outcome)
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
        // Two empty lines stand before the seeds: the classes between them are indented.
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
    let (verdicts, next): (Vec<&str>, Vec<&str>) = (verdicts.split(';').collect(), next.split(';').collect());
    if verdicts.len() != next.len() {
        return None;
    }
    let partition = |(verdict, next): (&str, &str)| {
        let next_offset = if next == "-" { None } else { Some(next.parse().ok()?) };
        Some(PartitionVerdict { verdict: verdict.to_owned(), next_offset })
    };
    Some(SeedVerdict {
        seed: seed.parse().ok()?,
        partitions: verdicts.into_iter().zip(next).map(partition).collect::<Option<_>>()?,
        outcome: u64::from_str_radix(outcome, 16).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back() {
        let verdicts = pinned(40, 2, || false);
        assert_eq!(verdicts.seeds.len(), 40);
        assert_eq!(verdicts.to_string().parse(), Ok(verdicts.clone()));
        let kept = format!("---\nsource: somewhere\n---\n{verdicts}");
        assert_eq!(kept.parse(), Ok(verdicts));
    }

    #[test]
    fn a_line_has_four_columns() {
        let line = "17 serve;refuse/hole 12;- 0123456789abcdef";
        let read: SeedVerdict = line.parse().expect("it reads");
        assert_eq!(read.to_string(), line);
        assert_eq!(read.partitions[1].next_offset, None);
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
