//! `sim mutants`: each planted bug is built, and must die by the check that it names.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{fs, process};

use serde_json::json;

use crate::cli::Mutants;
use crate::exit::Exit;
use crate::subject::kill::{Fate, build, judge};
use crate::subject::mutant::Mutant;
use crate::subject::tree::{PlantError, Tree};

/// Where planted bugs are kept, relative to the root of the sources.
const FOLDER: &str = "sim/mutants";

/// The first seed of every bug's run.
const FROM_SEED: u64 = 1;

/// Plants and judges.
///
/// # Errors
///
/// When a stream or the copy of the sources cannot be written.
pub fn mutants(options: &Mutants, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let mutants = match chosen(options) {
        Ok(mutants) => mutants,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    let scratch = Path::new("target/mutants");
    let tree = Tree::copy(Path::new("."), &scratch.join("tree"))?;
    let scratch = fs::canonicalize(scratch)?;
    let bench = Bench { tree: &tree, target: scratch.join("build"), out: scratch.join("out") };
    if let Some(sentence) = bench.trouble_without_a_bug(&mutants)? {
        writeln!(err, "error: without any bug {sentence}")?;
        return Ok(Exit::Harness);
    }
    let mut tally = Tally::default();
    for mutant in &mutants {
        let fate = bench.fate(mutant)?;
        tally.count(&fate);
        if let (Some(directory), true) = (&options.keep, has_program(&fate)) {
            let kept = directory.join(&mutant.id);
            fs::create_dir_all(&kept)?;
            fs::copy(bench.program(), kept.join("sim"))?;
        }
        if options.json { line(out, mutant, &fate)? } else { row(out, mutant, &fate)? }
    }
    tally.print(options.json, out)?;
    Ok(tally.exit())
}

/// Reads the bugs that are asked for, by name.
fn chosen(options: &Mutants) -> Result<Vec<Mutant>, String> {
    let folder = fs::read_dir(FOLDER)
        .map_err(|error| format!("{FOLDER}: {error}; planted bugs are run from the root of the sources"))?;
    let mut mutants = Vec::new();
    for entry in folder {
        let path = entry.map_err(|error| format!("{FOLDER}: {error}"))?.path();
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let is_wanted = options.only.is_empty() || options.only.contains(&stem);
        if path.extension().is_none_or(|suffix| suffix != "kdl") || !is_wanted {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mutant = Mutant::parse(&stem, &text).map_err(|fault| format!("{}: {fault}", path.display()))?;
        mutants.push(mutant);
    }
    mutants.sort_by(|one, other| one.id.cmp(&other.id));
    match options.only.iter().find(|id| !mutants.iter().any(|mutant| mutant.id == **id)) {
        Some(id) => Err(format!("there is no planted bug {id} in {FOLDER}")),
        None => Ok(mutants),
    }
}

/// Where programs are built and run.
struct Bench<'a> {
    tree: &'a Tree,
    target: PathBuf,
    out: PathBuf,
}

impl Bench<'_> {
    fn program(&self) -> PathBuf {
        self.target.join("mutants").join("sim")
    }

    /// What goes wrong with the sources as they are, by the same commands.
    fn trouble_without_a_bug(&self, mutants: &[Mutant]) -> io::Result<Option<String>> {
        let program = match build(self.tree.path(), &self.target)? {
            Ok(program) => program,
            Err(sentence) => return Ok(Some(sentence)),
        };
        // Every check that any bug names, over the largest budget.
        let seeds = mutants.iter().map(|mutant| mutant.seeds).max().unwrap_or(0);
        let status = process::Command::new(&program)
            .args(["run", "--size", "mixed", "--from-seed", &FROM_SEED.to_string()])
            .args(["--seeds", &seeds.to_string(), "--out"])
            .arg(&self.out)
            .stdout(process::Stdio::null())
            .status()?;
        if !status.success() {
            return Ok(Some(format!("{seeds} seeds do not all hold: {status}")));
        }
        let status =
            process::Command::new(&program).arg("self-check").stdout(process::Stdio::null()).status()?;
        Ok((!status.success()).then(|| format!("the self-check fails: {status}")))
    }

    fn fate(&self, mutant: &Mutant) -> io::Result<Fate> {
        match self.tree.plant(mutant) {
            Ok(()) => {}
            Err(stale @ PlantError::Stale { .. }) => return Ok(Fate::Stale { sentence: stale.to_string() }),
            Err(PlantError::Io { file, error }) => {
                return Err(io::Error::new(error.kind(), format!("{file}: {error}")));
            }
        }
        let fate = match build(self.tree.path(), &self.target)? {
            Ok(program) => judge(&program, mutant, FROM_SEED, &self.out),
            Err(sentence) => Ok(Fate::Unbuildable { sentence }),
        };
        self.tree.restore(mutant)?;
        fate
    }
}

const fn has_program(fate: &Fate) -> bool {
    match fate {
        Fate::Killed { .. } | Fate::Survived | Fate::WrongCheck { .. } | Fate::Hung => true,
        Fate::Stale { .. } | Fate::Unbuildable { .. } => false,
    }
}

fn row(out: &mut dyn Write, mutant: &Mutant, fate: &Fate) -> io::Result<()> {
    let said = match fate {
        Fate::Killed { by, seeds: Some(seeds), .. } => format!("by {by} at seed {seeds}"),
        Fate::Killed { by, how, seeds: None, .. } => format!("by {by}, {how}"),
        Fate::WrongCheck { by } => format!("by {by} and not by {}", mutant.killed_by.join(", ")),
        Fate::Survived => format!("{} seeds", mutant.seeds),
        Fate::Stale { sentence } | Fate::Unbuildable { sentence } => sentence.clone(),
        Fate::Hung => String::new(),
    };
    writeln!(out, "{:<11}  {:<36} {:<6}  {said}", fate.code(), mutant.id, mutant.target.code())
}

fn line(out: &mut dyn Write, mutant: &Mutant, fate: &Fate) -> io::Result<()> {
    let (by, how, seeds, token) = match fate {
        Fate::Killed { by, how, seeds, token } => (Some(by), Some(*how), *seeds, token.as_deref()),
        Fate::WrongCheck { by } => (Some(by), None, None, None),
        Fate::Survived | Fate::Stale { .. } | Fate::Unbuildable { .. } | Fate::Hung => {
            (None, None, None, None)
        }
    };
    let object = json!({
        "type": "mutant", "version": 1, "id": mutant.id, "target": mutant.target.code(),
        "findings": mutant.findings, "status": fate.code(), "killed_by": by, "how": how, "seeds": seeds,
        "token": token,
    });
    writeln!(out, "{object}")
}

/// How many came to what.
#[derive(Debug, Default)]
struct Tally {
    planted: u64,
    fates: [u64; 6],
    seeds: Vec<u64>,
}

/// The words of the fates, in the order they are counted.
const FATES: [&str; 6] = ["killed", "survived", "wrong-check", "stale", "unbuildable", "hung"];

impl Tally {
    fn count(&mut self, fate: &Fate) {
        self.planted += 1;
        for (word, count) in FATES.iter().zip(&mut self.fates) {
            *count += u64::from(*word == fate.code());
        }
        if let Fate::Killed { seeds: Some(seeds), .. } = fate {
            self.seeds.push(*seeds);
        }
    }

    fn exit(&self) -> Exit {
        let [killed, survived, wrong_check, stale, unbuildable, hung] = self.fates;
        let mut exit = if killed == 0 { Exit::Nothing } else { Exit::Held };
        if survived + wrong_check + hung > 0 {
            exit = exit.worst(Exit::Failed);
        }
        if stale + unbuildable > 0 {
            exit = exit.worst(Exit::Harness);
        }
        exit
    }

    fn print(&mut self, is_json: bool, out: &mut dyn Write) -> io::Result<()> {
        self.seeds.sort_unstable();
        let median = self.seeds.get(self.seeds.len() / 2).copied();
        let most = self.seeds.last().copied();
        let [killed, survived, wrong_check, stale, unbuildable, hung] = self.fates;
        if is_json {
            let object = json!({
                "type": "mutants-summary", "version": 1, "planted": self.planted, "killed": killed,
                "survived": survived, "wrong_check": wrong_check, "stale": stale,
                "unbuildable": unbuildable, "hung": hung, "seeds_median": median, "seeds_max": most,
            });
            return writeln!(out, "{object}");
        }
        let shown = |seeds: Option<u64>| seeds.map_or_else(|| "none".to_owned(), |seeds| seeds.to_string());
        writeln!(
            out,
            "{} planted: {killed} killed, {survived} survived, {wrong_check} by another check, {stale} stale, \
             {unbuildable} unbuildable, {hung} hung; seeds to kill: median {}, most {}",
            self.planted,
            shown(median),
            shown(most)
        )
    }
}
