//! Where planted bugs are built and run: one copy of the sources, one place for everything that is built.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Judged;
use crate::subject::kill::{Fate, STARTS, judge, seeds_command};
use crate::subject::mutant::Mutant;
use crate::subject::planted::{build, built};
use crate::subject::tree::{PlantError, Tree};

/// The copy, what is built from it, and where its runs write.
#[derive(Debug)]
pub(super) struct Bench {
    tree: Tree,
    target: PathBuf,
    out: PathBuf,
}

impl Bench {
    /// Brings the copy of `sources` under `scratch` up to date.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or written.
    pub(super) fn set_up(sources: &Path, scratch: &Path) -> io::Result<Self> {
        let tree = Tree::copy(sources, &scratch.join("tree"))?;
        let scratch = fs::canonicalize(scratch)?;
        Ok(Self { tree, target: scratch.join("build"), out: scratch.join("out") })
    }

    /// What goes wrong with the sources as they are, by all commands that are to show the bugs. Once `interrupted` is
    /// set none is begun, and nothing is known.
    ///
    /// # Errors
    ///
    /// When the compiler or the program cannot be run.
    pub(super) fn trouble_without_a_bug(
        &self,
        mutants: &[Mutant],
        interrupted: &AtomicBool,
    ) -> io::Result<Option<String>> {
        let program = match build(self.tree.path(), &self.target)? {
            Ok(program) => program,
            Err(sentence) => return Ok(Some(sentence)),
        };
        // Of each kind of worlds the largest budget that any bug has.
        let mut budgets: BTreeMap<&str, u64> = BTreeMap::new();
        for mutant in mutants.iter().filter(|mutant| mutant.dies_by_check()) {
            let seeds = budgets.entry(mutant.replicas).or_default();
            *seeds = mutant.seeds.max(*seeds);
        }
        for (replicas, seeds) in budgets {
            for start in STARTS {
                let command = seeds_command(&program, replicas, start, seeds, &self.out);
                if !holds(command, interrupted)? {
                    return Ok(Some(format!("{seeds} seeds from {start} on do not all hold")));
                }
            }
        }
        for mutant in mutants.iter().filter(|mutant| mutant.dies_by_reach()) {
            let mut command = seeds_command(&program, mutant.replicas, STARTS[0], mutant.seeds, &self.out);
            command.arg("--require-reach");
            if !holds(command, interrupted)? {
                return Ok(Some(format!("a goal is missed within {} seeds", mutant.seeds)));
            }
        }
        for name in ["scenarios", "self-check"] {
            let mut command = Command::new(&program);
            command.arg(name);
            let is_asked = name == "scenarios" || mutants.iter().any(Mutant::dies_by_self_check);
            if is_asked && !holds(command, interrupted)? {
                return Ok(Some(format!("`sim {name}` fails")));
            }
        }
        Ok(None)
    }

    /// Plants a bug, builds, finds out what kills it, leaves the program at `keep/ID/sim` where that is asked for, and takes
    /// the bug out again. `None` if somebody has asked for the end
    /// meanwhile: on a terminal the compiler and the program were asked, too, and what they came to means nothing.
    ///
    /// # Errors
    ///
    /// When a file cannot be written, or the compiler or the program cannot be run.
    #[expect(clippy::disallowed_types, reason = "how long a bug takes is shown; no fate depends on it")]
    pub(super) fn judge<'a>(
        &self,
        mutant: &'a Mutant,
        keep: Option<&Path>,
        interrupted: &AtomicBool,
    ) -> io::Result<Option<Judged<'a>>> {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let begin = std::time::Instant::now();
        let planted = match self.tree.plant(mutant) {
            Ok(()) => self.judge_planted(mutant, interrupted),
            Err(stale @ PlantError::Stale { .. }) => {
                Ok(Some((Fate::Stale { sentence: stale.to_string() }, Vec::new())))
            }
            Err(PlantError::Io { file, error }) => {
                return Err(io::Error::new(error.kind(), format!("{file}: {error}")));
            }
        };
        self.tree.restore(mutant)?;
        if interrupted.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let seconds = begin.elapsed().as_secs_f64();
        let Some((fate, scenarios)) = planted? else { return Ok(None) };
        if let (Some(keep), true) = (keep, fate.has_program()) {
            let kept = keep.join(&mutant.id);
            fs::create_dir_all(&kept)?;
            fs::copy(built(&self.target), kept.join("sim"))?;
        }
        Ok(Some(Judged { mutant, fate, scenarios, seconds }))
    }

    /// `None` if somebody has asked for the end when it is built.
    fn judge_planted(
        &self,
        mutant: &Mutant,
        interrupted: &AtomicBool,
    ) -> io::Result<Option<(Fate, Vec<String>)>> {
        match build(self.tree.path(), &self.target)? {
            _ if interrupted.load(Ordering::Relaxed) => Ok(None),
            Ok(program) => judge(&program, mutant, &self.out).map(Some),
            Err(sentence) => Ok(Some((Fate::Unbuildable { sentence }, Vec::new()))),
        }
    }
}

/// Whether a command ends well. It is not begun once somebody has asked for the end.
fn holds(mut command: Command, interrupted: &AtomicBool) -> io::Result<bool> {
    Ok(interrupted.load(Ordering::Relaxed)
        || command.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
}
