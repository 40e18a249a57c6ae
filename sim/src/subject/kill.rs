//! Builds a program with a planted bug and finds out what kills it.
//!
//! Promises: a kill is the *named* check firing; a red seed of another check, a compile error and a program
//! that does not end are none. Seeds start at fixed places, the same for every bug, and are never tuned to
//! one. Leaves out: planting, and what a person is shown.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;

use super::mutant::Mutant;

/// Silence after which a program counts as hung. Its own steps are budgeted, so it never is by design; this
/// only keeps a broken one from holding up the rest.
const SILENCE: Duration = Duration::from_mins(5);

/// The profile that is made for fast rebuilds.
const PROFILE: &str = "mutants";

/// What became of a planted bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The named check fired.
    Killed {
        /// Which.
        by: String,
        /// How: `seed`, `scenario` or `self-check`.
        how: &'static str,
        /// Worlds up to and with the first kill, where seeds killed it.
        seeds: Option<u64>,
        /// The token of that seed.
        token: Option<String>,
    },
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

impl Fate {
    /// The permanent word for this fate.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Killed { .. } => "killed",
            Self::Survived => "survived",
            Self::WrongCheck { .. } => "wrong-check",
            Self::Stale { .. } => "stale",
            Self::Unbuildable { .. } => "unbuildable",
            Self::Hung => "hung",
        }
    }
}

/// Builds the program in `tree`, with everything that is built kept in `target`.
///
/// # Errors
///
/// The first error of the compiler, in the value; when the compiler cannot be run, outside of it.
pub fn build(tree: &Path, target: &Path) -> io::Result<Result<PathBuf, String>> {
    let output = Command::new("cargo")
        .args(["build", "--quiet", "--locked", "--package", "sim", "--bin", "sim", "--profile", PROFILE])
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", target)
        // Warnings about what a bug leaves unused are no concern of ours.
        .env("RUSTFLAGS", "--cap-lints=warn")
        .output()?;
    if output.status.success() {
        return Ok(Ok(target.join(PROFILE).join("sim")));
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let first = text.lines().find(|line| line.starts_with("error")).unwrap_or("no error was printed");
    Ok(Err(first.to_owned()))
}

/// Finds out what kills the program, by everything that its bug names.
///
/// # Errors
///
/// When the program cannot be run.
pub fn judge(program: &Path, mutant: &Mutant, from_seed: u64, out: &Path) -> io::Result<Fate> {
    let names_checks = mutant.killed_by.iter().any(|name| !name.contains(':'));
    let names_parts = mutant.killed_by.iter().any(|name| name.starts_with("self-check:"));
    let mut wrong = None;
    for (is_asked, ask) in [
        (names_checks, by_seeds as Ask),
        (names_checks, by_scenarios as Ask),
        (names_parts, by_self_check as Ask),
    ] {
        if !is_asked {
            continue;
        }
        match ask(program, mutant, from_seed, out)? {
            Fate::Survived => {}
            Fate::WrongCheck { by } => wrong = wrong.or(Some(by)),
            fate @ (Fate::Killed { .. } | Fate::Stale { .. } | Fate::Unbuildable { .. } | Fate::Hung) => {
                return Ok(fate);
            }
        }
    }
    Ok(wrong.map_or(Fate::Survived, |by| Fate::WrongCheck { by }))
}

/// One way to look for a kill.
type Ask = fn(&Path, &Mutant, u64, &Path) -> io::Result<Fate>;

fn by_seeds(program: &Path, mutant: &Mutant, from_seed: u64, out: &Path) -> io::Result<Fate> {
    let mut command = Command::new(program);
    command.args(["run", "--json", "--size", "mixed", "--per-group", "1"]);
    command.args(["--from-seed", &from_seed.to_string(), "--seeds", &mutant.seeds.to_string()]);
    command.arg("--out").arg(out);
    let mut first_other = None;
    let ended = read_lines(command, &mut |line| {
        if line["type"] != "failure" {
            return None;
        }
        let check = line["check"].as_str().unwrap_or_default().to_owned();
        if !mutant.killed_by.contains(&check) {
            first_other.get_or_insert(check);
            return None;
        }
        let seeds = line["seed"].as_u64().map(|seed| seed.wrapping_sub(from_seed) + 1);
        let token = line["token"].as_str().map(str::to_owned);
        Some(Fate::Killed { by: check, how: "seed", seeds, token })
    })?;
    Ok(ended.unwrap_or_else(|| first_other.map_or(Fate::Survived, |by| Fate::WrongCheck { by })))
}

/// Every scenario of the sources, for a bug that seeds within the budget do not meet.
fn by_scenarios(program: &Path, mutant: &Mutant, _from_seed: u64, _out: &Path) -> io::Result<Fate> {
    let mut command = Command::new(program);
    command.args(["scenarios", "--json"]);
    let mut first_other = None;
    let ended = read_lines(command, &mut |line| {
        let failures = line["failures"].as_array().into_iter().flatten();
        for check in failures.filter_map(|failure| failure["check"].as_str()) {
            if mutant.killed_by.iter().any(|name| name == check) {
                return Some(Fate::Killed {
                    by: check.to_owned(),
                    how: "scenario",
                    seeds: None,
                    token: None,
                });
            }
            first_other.get_or_insert(check.to_owned());
        }
        None
    })?;
    Ok(ended.unwrap_or_else(|| first_other.map_or(Fate::Survived, |by| Fate::WrongCheck { by })))
}

fn by_self_check(program: &Path, mutant: &Mutant, _from_seed: u64, _out: &Path) -> io::Result<Fate> {
    let mut command = Command::new(program);
    command.args(["self-check", "--json"]);
    let mut first_other = None;
    let ended = read_lines(command, &mut |line| {
        if line["type"] != "self-check" || line["passed"] != Value::Bool(false) {
            return None;
        }
        let by = format!("self-check:{}", line["name"].as_str().unwrap_or_default());
        if !mutant.killed_by.contains(&by) {
            first_other.get_or_insert(by);
            return None;
        }
        Some(Fate::Killed { by, how: "self-check", seeds: None, token: None })
    })?;
    Ok(ended.unwrap_or_else(|| first_other.map_or(Fate::Survived, |by| Fate::WrongCheck { by })))
}

/// Runs a program and hands over its JSON Lines until one decides, or it is silent for too long.
fn read_lines(
    mut command: Command,
    decide: &mut dyn FnMut(&Value) -> Option<Fate>,
) -> io::Result<Option<Fate>> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null()).spawn()?;
    let stdout = child.stdout.take().expect("its output is piped");
    let (sender, receiver) = channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            // Whoever listens may have heard enough.
            if line.is_err() || sender.send(line).is_err() {
                return;
            }
        }
    });
    let fate = loop {
        match receiver.recv_timeout(SILENCE) {
            Ok(line) => {
                let line: Value = serde_json::from_str(&line?)?;
                if let Some(fate) = decide(&line) {
                    break Some(fate);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => break Some(Fate::Hung),
        }
    };
    drop(receiver);
    end(&mut child)?;
    reader.join().expect("the reading thread only reads");
    Ok(fate)
}

/// Ends a program that has said enough.
fn end(child: &mut Child) -> io::Result<()> {
    if child.try_wait()?.is_none() {
        child.kill()?;
        child.wait()?;
    }
    Ok(())
}
