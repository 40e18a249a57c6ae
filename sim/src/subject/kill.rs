//! Finds out what kills a program with a planted bug.
//!
//! Promises: a kill is the *named* check firing; a red seed of another check, a compile error and a program
//! that does not end are none. Seeds start at fixed places, the same for every bug, and are never tuned to
//! one; seeds kill only if they do from each of them. Every scenario runs against every bug, which is what
//! confirms that a scenario kills what it says. Leaves out: planting, building, and what a person is shown.

use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::mutant::Mutant;
use super::planted::{Heard, listen};

/// The first seeds of every bug's runs.
pub const STARTS: [u64; 3] = [1, 1_000_000, 1_000_000_000];

/// The check of an expectation that a scenario states: what the scenario is about, so its failure kills.
const EXPECTATION: &str = "expect";

/// What became of a planted bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The named check fired.
    Killed(Kill),
    /// Nothing noticed.
    Survived,
    /// Something noticed, and it was not what was named.
    WrongCheck {
        /// What it was.
        by: String,
    },
    /// Its text is not where it should be.
    Stale {
        /// Where, and how often.
        sentence: String,
    },
    /// It does not compile.
    Unbuildable {
        /// The first error.
        sentence: String,
    },
    /// The program said nothing for minutes.
    Hung,
}

/// How a planted bug died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kill {
    /// The check, the part of the self-check or the goal.
    pub by: String,
    /// What showed it: `seed`, `scenario`, `self-check` or `reach`.
    pub how: &'static str,
    /// Worlds up to and with the first kill, from the worst start, where seeds killed it.
    pub seeds: Option<u64>,
    /// The same from each start, in the order of [`STARTS`]; empty where seeds did not kill it.
    pub from_each: Vec<u64>,
    /// The token of the first kill from the first start.
    pub token: Option<String>,
}

impl Fate {
    /// The permanent word for this fate.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Killed(_) => "killed",
            Self::Survived => "survived",
            Self::WrongCheck { .. } => "wrong-check",
            Self::Stale { .. } => "stale",
            Self::Unbuildable { .. } => "unbuildable",
            Self::Hung => "hung",
        }
    }

    /// Whether there was a program to run.
    pub const fn has_program(&self) -> bool {
        match self {
            Self::Killed(_) | Self::Survived | Self::WrongCheck { .. } | Self::Hung => true,
            Self::Stale { .. } | Self::Unbuildable { .. } => false,
        }
    }
}

/// The command that runs a bug's worlds from one start: the same for the sources without any bug.
pub fn seeds_command(program: &Path, replicas: &str, from_seed: u64, seeds: u64, out: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(["run", "--json", "--size", "mixed", "--regime", "mixed", "--per-group", "1"]);
    command.args(["--replicas", replicas]);
    command.args(["--from-seed", &from_seed.to_string(), "--seeds", &seeds.to_string()]);
    command.arg("--out").arg(out);
    command
}

/// Finds out what kills the program, by everything that its bug names; and which scenarios do.
///
/// # Errors
///
/// When the program cannot be run.
pub fn judge(program: &Path, mutant: &Mutant, out: &Path) -> io::Result<(Fate, Vec<String>)> {
    let mut hunt = Hunt { program, mutant, out, other: None, is_silent: false };
    let mut kill = None;
    if mutant.dies_by_check() {
        kill = hunt.by_seeds()?;
    }
    let (seen, scenarios) = hunt.by_scenarios()?;
    kill = kill.or(seen);
    if kill.is_none() && mutant.dies_by_self_check() {
        kill = hunt.by_self_check()?;
    }
    if kill.is_none() && mutant.dies_by_reach() {
        kill = hunt.by_reach()?;
    }
    let fate = match (kill, hunt.other) {
        _ if hunt.is_silent => Fate::Hung,
        (Some(kill), _) => Fate::Killed(kill),
        (None, Some(by)) => Fate::WrongCheck { by },
        (None, None) => Fate::Survived,
    };
    Ok((fate, scenarios))
}

/// One program, and what was seen of it so far.
struct Hunt<'a> {
    program: &'a Path,
    mutant: &'a Mutant,
    out: &'a Path,
    /// The first thing that noticed and was not named.
    other: Option<String>,
    /// Whether it said nothing for minutes.
    is_silent: bool,
}

impl Hunt<'_> {
    fn names(&self, name: &str) -> bool {
        self.mutant.killed_by.iter().any(|named| named == name)
    }

    /// Runs the program unless it hung before. A name that is not the bug's is remembered, and no more.
    fn ask(
        &mut self,
        command: Command,
        kill_of: &mut dyn FnMut(&Value) -> Option<(String, Kill)>,
    ) -> io::Result<Option<Kill>> {
        if self.is_silent {
            return Ok(None);
        }
        let mut other = None;
        let heard = listen(command, &mut |line| {
            let (name, kill) = kill_of(line)?;
            if self.names(&name) {
                return Some(kill);
            }
            other.get_or_insert(name);
            None
        })?;
        self.other = self.other.take().or(other);
        match heard {
            Heard::Decided(kill) => return Ok(Some(kill)),
            Heard::Ended => {}
            Heard::Silent => self.is_silent = true,
        }
        Ok(None)
    }

    /// From every start: seeds that kill from one and not from another are no kill.
    fn by_seeds(&mut self) -> io::Result<Option<Kill>> {
        let mut worst: Option<Kill> = None;
        for start in STARTS {
            let command =
                seeds_command(self.program, self.mutant.replicas, start, self.mutant.seeds, self.out);
            let found = self.ask(command, &mut |line| {
                let by = text(line, "check").filter(|_| line["type"] == "failure")?;
                let seeds = line["seed"].as_u64().map(|seed| seed.wrapping_sub(start) + 1);
                let from_each = seeds.into_iter().collect();
                Some((by.clone(), Kill { by, how: "seed", seeds, from_each, token: text(line, "token") }))
            })?;
            let Some(found) = found else { return Ok(None) };
            worst = Some(match worst {
                None => found,
                Some(first) => Kill {
                    seeds: first.seeds.max(found.seeds),
                    from_each: [first.from_each, found.from_each].concat(),
                    ..first
                },
            });
        }
        Ok(worst)
    }

    /// Every scenario of the sources: the first kill, and the paths of all that kill. One whose own
    /// expectation fails kills whatever the bug names; a panic does only where that is named.
    fn by_scenarios(&mut self) -> io::Result<(Option<Kill>, Vec<String>)> {
        let (mut first, mut other, mut paths) = (None, None, Vec::new());
        let mut command = Command::new(self.program);
        command.args(["scenarios", "--json"]);
        if self.is_silent {
            return Ok((None, paths));
        }
        let heard = listen(command, &mut |line| -> Option<()> {
            let failures = line["failures"].as_array().into_iter().flatten();
            let checks: Vec<&str> = failures.filter_map(|failure| failure["check"].as_str()).collect();
            let named = checks.iter().find(|check| self.names(check));
            if named.is_some() || checks.contains(&EXPECTATION) {
                paths.extend(text(line, "path"));
            }
            if let Some(by) = named {
                let by = (*by).to_owned();
                first.get_or_insert(Kill {
                    by,
                    how: "scenario",
                    seeds: None,
                    from_each: Vec::new(),
                    token: None,
                });
            } else {
                other = other.take().or_else(|| checks.first().map(|check| (*check).to_owned()));
            }
            None
        })?;
        self.other = self.other.take().or(other);
        self.is_silent |= heard == Heard::Silent;
        Ok((first, paths))
    }

    fn by_self_check(&mut self) -> io::Result<Option<Kill>> {
        let mut command = Command::new(self.program);
        command.args(["self-check", "--json"]);
        self.ask(command, &mut |line| {
            let has_failed = line["type"] == "self-check" && line["passed"] == Value::Bool(false);
            let by = format!("self-check:{}", text(line, "name").filter(|_| has_failed)?);
            Some((
                by.clone(),
                Kill { by, how: "self-check", seeds: None, from_each: Vec::new(), token: None },
            ))
        })
    }

    /// The goals of a run from the first start, as many worlds as the bug's budget.
    fn by_reach(&mut self) -> io::Result<Option<Kill>> {
        let (start, seeds) = (STARTS[0], self.mutant.seeds);
        let mut command = seeds_command(self.program, self.mutant.replicas, start, seeds, self.out);
        command.arg("--require-reach");
        let named = self.mutant.killed_by.clone();
        self.ask(command, &mut |line| {
            let missed = line["reach_missed"].as_array()?.iter().filter_map(Value::as_str);
            let missed: Vec<String> = missed.map(|goal| format!("reach:{}", bare(goal))).collect();
            let by = missed.iter().find(|goal| named.contains(goal)).or(missed.first())?.clone();
            Some((
                by.clone(),
                Kill { by, how: "reach", seeds: Some(seeds), from_each: Vec::new(), token: None },
            ))
        })
    }
}

/// A goal without its kind: `bit-flip` of `fault:bit-flip`.
fn bare(goal: &str) -> &str {
    goal.split_once(':').map_or(goal, |(_, id)| id)
}

/// A field that is text.
fn text(line: &Value, field: &str) -> Option<String> {
    line[field].as_str().map(str::to_owned)
}
