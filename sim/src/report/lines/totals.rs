//! How far a run came and how it ended, as lines: one a word that can be reached, and the summary.

use std::collections::BTreeMap;
use std::time::Duration;

use recovery_core::decide::{ReasonCode, Row};
use recovery_core::observe::{Residue, Stop};
use recovery_core::storage::Call;
use serde::{Deserialize, Serialize};

use super::regime::RegimeLine;
use super::{LineError, NotRunLine, PartLine, StartedLine, VERSION, digest};
use crate::disk::Cause;
use crate::exit::Exit;
use crate::oracle::Check;
use crate::run::digest::RunDigest;
use crate::run::first_seen::{Class, FirstSeen};
use crate::run::pace::{Pace, ShardPace};
use crate::run::planted::PlantedFate;
use crate::run::reach::{Line as Reached, ReachKind};
use crate::run::session::{FailedScenario, Group, ScenariosRun, Summary};
use crate::run::tally::{Reached as FaultReached, SubjectTally, Tally};
use crate::schedule::word::Word;
use crate::schedule::{Filesystem, Regime, Restart};

/// `reach`: how far a run came with one word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachLine {
    /// Of the line.
    pub version: u32,
    /// What it is.
    pub kind: String,
    /// The word.
    pub id: String,
    /// Of a fault: applied.
    pub injected: Option<u64>,
    /// Of a fault: met by a storage call.
    pub read: Option<u64>,
    /// Of a fault: the same world without it ended differently.
    pub decisive: Option<u64>,
    /// Of anything else: how often it was reached.
    pub hits: Option<u64>,
    /// Worlds within which it must be reached; 0: never.
    pub goal: u64,
}

/// `run-summary`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryLine {
    /// Of the line.
    pub version: u32,
    /// Worlds completed.
    pub seeds: u64,
    /// Failing seeds.
    pub failures: u64,
    /// Failing seeds of known groups.
    pub known_failures: u64,
    /// Failures by cause.
    pub groups: Vec<Group>,
    /// Groups that the run was told are known.
    #[serde(default)]
    pub known_listed: u64,
    /// Known groups whose faults were met, and which did not fail.
    #[serde(default)]
    pub known_gone: Vec<String>,
    /// Digest of the run.
    pub digest: String,
    /// How long it took.
    pub seconds: f64,
    /// Worlds a second.
    pub seeds_per_second: f64,
    /// Threads.
    pub jobs: usize,
    /// The first seed.
    pub from_seed: u64,
    /// What the worlds were made of.
    #[serde(default)]
    pub tried: TriedLine,
    /// Seeds that violated each check, zeros included.
    pub violations_by_invariant: BTreeMap<String, u64>,
    /// Starts by disposition or reason.
    pub verdicts: BTreeMap<String, u64>,
    /// What the worlds of each regime came to.
    #[serde(default)]
    pub regimes: BTreeMap<String, RegimeLine>,
    /// Worlds in which a fault was met and a start came to a verdict, by both.
    #[serde(default)]
    pub fault_verdicts: BTreeMap<String, BTreeMap<String, u64>>,
    /// Classes of outcome, each with the smallest seed that came to it.
    #[serde(default)]
    pub first_seeds: BTreeMap<String, u64>,
    /// Starts that were put to another program, if there is one.
    #[serde(default)]
    pub subject: Option<SubjectLine>,
    /// Worlds run twice.
    pub determinism: DeterminismLine,
    /// Scenario files that ran before the seeds.
    #[serde(default)]
    pub scenarios: ScenariosLine,
    /// The failure that is planted in every run.
    pub planted: PlantedLine,
    /// Goals that were due and missed.
    pub reach_missed: Vec<String>,
    /// Whether a panic of the harness ended a world.
    #[serde(default)]
    pub harness_bug: bool,
    /// How many seeds were done after how many seconds; of one run only.
    #[serde(default)]
    pub pace: Pace,
    /// Shards that were merged.
    #[serde(default)]
    pub shards: Vec<ShardPace>,
    /// Shards that a merge did not find.
    #[serde(default)]
    pub shards_missing: Vec<u64>,
    /// Whether somebody ended it.
    pub interrupted: bool,
    /// What was not run because of that.
    #[serde(default)]
    pub not_run: NotRunLine,
    /// What ran beside the seeds.
    #[serde(default)]
    pub parts: Vec<PartLine>,
    /// Seeds that were to be run, where time ended it before they all were.
    #[serde(default)]
    pub cut_by_time: Option<u64>,
    /// The exit status.
    pub exit: u8,
}

/// What the worlds of a run were made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedLine {
    /// Crashes, inside steps and between them.
    pub crashes: u64,
    /// Batches appended.
    pub batches: u64,
    /// Starts of partitions that were judged.
    pub starts: u64,
    /// Steps and targets that were not there.
    pub missed: u64,
    /// Served batches that cannot be told from ones written here.
    pub indistinguishable: u64,
    /// Worlds run again without one of their faults.
    pub counterfactuals: u64,
}

/// Starts that were put to another program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectLine {
    /// How many.
    pub starts: u64,
    /// Those in which it said and left what the linked core does.
    pub agreed: u64,
    /// Those that no real directory can hold.
    pub left_out: u64,
    /// The first difference, in words.
    pub first_difference: Option<String>,
}

/// Worlds that were run twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeterminismLine {
    /// How many.
    pub rerun: u64,
    /// How many differed.
    pub mismatched: u64,
}

/// Scenario files that ran before the seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenariosLine {
    /// All held.
    pub passed: u64,
    /// Something did not.
    pub failed: u64,
    /// Which those are, and what does not hold in each.
    #[serde(default)]
    pub failing: Vec<FailedScenario>,
}

impl ScenariosLine {
    fn of(scenarios: &ScenariosRun) -> Self {
        let ScenariosRun { passed, failed } = scenarios;
        Self { passed: *passed, failed: failed.len() as u64, failing: failed.clone() }
    }

    fn read(&self) -> Result<ScenariosRun, LineError> {
        let named = self.failing.len() as u64;
        if self.failed != named {
            return Err(LineError::Unnamed { failed: self.failed, named });
        }
        Ok(ScenariosRun { passed: self.passed, failed: self.failing.clone() })
    }
}

/// The failure that is planted in every run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlantedLine {
    /// The check that must find it.
    pub check: String,
    /// `found`, `silent` (the harness is blind), `masked` (the world failed without it) or `not-run`.
    pub fate: String,
    /// The group it was put into.
    pub group: Option<String>,
}

/// Every word that can be reached, and how far the run came with it.
pub fn reach_lines(reach: &[Reached]) -> impl Iterator<Item = ReachLine> {
    reach.iter().map(|line| ReachLine {
        version: VERSION,
        kind: line.kind.code().to_owned(),
        id: line.id.to_owned(),
        injected: line.fault.map(|fault| fault.injected),
        read: line.fault.map(|fault| fault.read),
        decisive: line.fault.map(|fault| fault.decisive),
        hits: line.hits,
        goal: line.budget().unwrap_or(0),
    })
}

impl SummaryLine {
    /// The last line of a run that began with `started`.
    #[must_use]
    pub fn of(started: &StartedLine, summary: &Summary, missed: &[String], exit: Exit) -> Self {
        let tally = &summary.tally;
        let violated = |check: &Check| tally.violations.get(check).copied().unwrap_or_default();
        Self {
            version: VERSION,
            seeds: summary.seeds,
            failures: summary.failures,
            known_failures: summary.known_failures(),
            groups: summary.groups.clone(),
            known_listed: summary.known_listed,
            known_gone: summary.known_gone.clone(),
            digest: digest(summary.digest.get()),
            seconds: summary.elapsed.as_secs_f64(),
            seeds_per_second: summary.rate(),
            jobs: started.jobs,
            from_seed: started.from_seed,
            tried: TriedLine {
                crashes: tally.crashes,
                batches: tally.batches,
                starts: tally.boots,
                missed: tally.missed,
                indistinguishable: tally.indistinguishable,
                counterfactuals: tally.counterfactuals,
            },
            violations_by_invariant: Check::ALL
                .iter()
                .map(|check| (check.code().to_owned(), violated(check)))
                .collect(),
            verdicts: tally.verdicts.iter().map(|(code, count)| ((*code).to_owned(), *count)).collect(),
            regimes: tally
                .regimes
                .iter()
                .map(|(regime, tally)| (regime.word().to_owned(), RegimeLine::of(tally)))
                .collect(),
            fault_verdicts: fault_verdicts(tally),
            first_seeds: summary.first_seen.iter().map(|(class, seed)| (class.to_string(), seed)).collect(),
            subject: started.subject.as_ref().map(|_| SubjectLine {
                starts: tally.subject.starts,
                agreed: tally.subject.agreed,
                left_out: tally.subject.left_out,
                first_difference: tally.subject.difference.clone(),
            }),
            determinism: DeterminismLine { rerun: summary.reruns, mismatched: summary.mismatches },
            scenarios: ScenariosLine::of(&summary.scenarios),
            planted: PlantedLine {
                check: crate::run::planted::CHECK.code().to_owned(),
                fate: summary.planted.fate.code().to_owned(),
                group: summary.planted.group.clone(),
            },
            reach_missed: missed.to_vec(),
            harness_bug: summary.is_harness_bug,
            pace: summary.pace.clone(),
            shards: summary.shards.clone(),
            shards_missing: summary.shards_missing.clone(),
            interrupted: summary.is_interrupted,
            not_run: NotRunLine::of(&summary.not_run),
            parts: summary.parts.iter().copied().map(PartLine::of).collect(),
            cut_by_time: summary.cut_by_time,
            exit: exit as u8,
        }
    }
}

fn fault_verdicts(tally: &Tally) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut table: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for ((fault, verdict), worlds) in &tally.fault_verdicts {
        table.entry((*fault).to_owned()).or_default().insert((*verdict).to_owned(), *worlds);
    }
    table
}

/// The run that ended, or could have, with these lines.
///
/// # Errors
///
/// When a word is in no vocabulary of this build, or a digest is none.
pub fn summary_of(reach: &[ReachLine], line: &SummaryLine) -> Result<Summary, LineError> {
    let wrong = |what: &str| LineError::Unknown { word: what.to_owned() };
    let bits = u64::from_str_radix(&line.digest, 16).map_err(|_| wrong(&line.digest))?;
    let mut tally = Tally {
        worlds: line.seeds,
        boots: line.tried.starts,
        crashes: line.tried.crashes,
        batches: line.tried.batches,
        missed: line.tried.missed,
        indistinguishable: line.tried.indistinguishable,
        counterfactuals: line.tried.counterfactuals,
        ..Tally::default()
    };
    if let Some(subject) = &line.subject {
        tally.subject = SubjectTally {
            starts: subject.starts,
            agreed: subject.agreed,
            left_out: subject.left_out,
            difference: subject.first_difference.clone(),
        };
    }
    for (code, count) in &line.verdicts {
        tally.verdicts.insert(verdict(code)?, *count);
    }
    for (fault, verdicts) in &line.fault_verdicts {
        for (code, worlds) in verdicts {
            tally.fault_verdicts.insert((cause(fault)?, verdict(code)?), *worlds);
        }
    }
    for (code, count) in line.violations_by_invariant.iter().filter(|(_, count)| **count > 0) {
        tally.violations.insert(check(code)?, *count);
    }
    for (word, line) in &line.regimes {
        let regime = Regime::from_word(word).ok_or_else(|| wrong(word))?;
        let counts = line.tally()?;
        tally.without_ledger.add(counts.without_ledger);
        tally.regimes.insert(regime, counts);
    }
    for line in reach {
        count_reach(line, &mut tally)?;
    }
    let fate = PlantedFate::from_word(&line.planted.fate).ok_or_else(|| wrong(&line.planted.fate))?;
    Ok(Summary {
        seeds: line.seeds,
        failures: line.failures,
        groups: line.groups.clone(),
        known_listed: line.known_listed,
        known_gone: line.known_gone.clone(),
        digest: RunDigest::of(bits),
        elapsed: Duration::from_secs_f64(line.seconds.max(0.0)),
        tally,
        first_seen: first_seen(line)?,
        reruns: line.determinism.rerun,
        mismatches: line.determinism.mismatched,
        scenarios: line.scenarios.read()?,
        planted: crate::run::planted::Planted { fate, group: line.planted.group.clone() },
        is_harness_bug: line.harness_bug,
        pace: line.pace.clone(),
        shards: line.shards.clone(),
        shards_missing: line.shards_missing.clone(),
        is_interrupted: line.interrupted,
        not_run: line.not_run.read()?,
        parts: line.parts.iter().map(PartLine::end).collect::<Result<_, _>>()?,
        cut_by_time: line.cut_by_time,
    })
}

fn first_seen(line: &SummaryLine) -> Result<FirstSeen, LineError> {
    let mut seen = FirstSeen::default();
    for (name, seed) in &line.first_seeds {
        let class = Class::from_name(name, known_verdict);
        seen.note(class.ok_or_else(|| LineError::Unknown { word: name.clone() })?, *seed);
    }
    Ok(seen)
}

fn count_reach(line: &ReachLine, tally: &mut Tally) -> Result<(), LineError> {
    fn put<K: Copy + Ord>(
        counts: &mut BTreeMap<K, u64>,
        all: &[K],
        code: fn(K) -> &'static str,
        line: &ReachLine,
    ) -> Result<(), LineError> {
        let key = all.iter().find(|key| code(**key) == line.id);
        let key = key.ok_or_else(|| LineError::Unknown { word: line.id.clone() })?;
        if let Some(hits) = line.hits.filter(|hits| *hits > 0) {
            counts.insert(*key, hits);
        }
        Ok(())
    }
    let kind =
        ReachKind::from_word(&line.kind).ok_or_else(|| LineError::Unknown { word: line.kind.clone() })?;
    match kind {
        ReachKind::Fault => {
            let [injected, read, decisive] =
                [line.injected, line.read, line.decisive].map(Option::unwrap_or_default);
            if injected + read + decisive > 0 {
                tally.faults.insert(cause(&line.id)?, FaultReached { injected, read, decisive });
            }
            Ok(())
        }
        ReachKind::Row => put(&mut tally.rows, &Row::ALL, Row::code, line),
        ReachKind::Reason => put(&mut tally.reasons, &ReasonCode::ALL, ReasonCode::code, line),
        ReachKind::Stop => put(&mut tally.stops, &Stop::ALL, Stop::code, line),
        ReachKind::Residue => put(&mut tally.residues, &Residue::ALL, Residue::code, line),
        ReachKind::Restart => put(&mut tally.restarts, &Restart::ALL, Restart::code, line),
        ReachKind::Filesystem => put(&mut tally.filesystems, &Filesystem::ALL, Filesystem::code, line),
        ReachKind::CallError => put(&mut tally.call_errors, &Call::ALL, Call::code, line),
    }
}

/// The fault kind that a word names.
fn cause(word: &str) -> Result<&'static str, LineError> {
    Cause::all()
        .map(Cause::code)
        .find(|code| *code == word)
        .ok_or_else(|| LineError::Unknown { word: word.to_owned() })
}

/// The check that a word names.
pub(super) fn check(word: &str) -> Result<Check, LineError> {
    let check = Check::ALL.iter().find(|check| check.code() == word);
    check.copied().ok_or_else(|| LineError::Unknown { word: word.to_owned() })
}

/// The disposition or reason that a word names.
pub(super) fn verdict(word: &str) -> Result<&'static str, LineError> {
    known_verdict(word).ok_or_else(|| LineError::Unknown { word: word.to_owned() })
}

fn known_verdict(word: &str) -> Option<&'static str> {
    const DISPOSITIONS: [&str; 4] = ["serve", "serve-from", "refuse", "unavailable"];
    let reasons = ReasonCode::ALL.iter().map(|reason| reason.code());
    let mut known = DISPOSITIONS.into_iter().chain(reasons);
    known.find(|code| *code == word)
}
