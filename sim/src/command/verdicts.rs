//! `sim verdicts`: what has moved in the pinned seeds, between two states of the core.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::cli::Verdicts;
use crate::command::commit;
use crate::exit::Exit;
use crate::report::{json, terminal};
use crate::run::moves::Moves;
use crate::run::panics::remember_panics;
use crate::run::pinned::{PINNED, PinnedSeed, SeedVerdicts, pinned};
use crate::schedule::generate::GENERATOR;
use crate::schedule::token::{Commit, Token};

/// Where what the pinned seeds came to is kept, from the root of the sources.
const KEPT: &str = "snapshots/seeds.snap";

/// What has moved, as it is shown.
#[derive(Debug)]
pub struct VerdictsReport {
    /// What this build was compared with.
    pub against: String,
    /// What moved.
    pub moves: Moves,
    /// The commit that tokens are of.
    pub commit: Commit,
    /// Pinned seeds that were not run, since somebody ended it.
    pub not_run: u64,
}

impl VerdictsReport {
    /// The token of one of the pinned seeds.
    pub fn token(&self, seed: PinnedSeed) -> String {
        Token::of(seed.seed, seed.knobs(), None, self.commit).to_string()
    }

    fn exit(&self) -> Exit {
        let exit = match (self.moves.compared, self.moves.moved) {
            (0, _) => Exit::Nothing,
            (_, 0) => Exit::Held,
            (_, _) => Exit::Failed,
        };
        // What was compared in part only is never green.
        let exit = exit.worst(if self.moves.missing > 0 { Exit::Nothing } else { Exit::Held });
        exit.worst(if self.not_run > 0 { Exit::Interrupted } else { Exit::Held })
    }
}

/// Runs the pinned seeds and compares what they come to with what they came to; none is begun once somebody has asked
/// the program to end.
///
/// # Errors
///
/// When a stream cannot be written.
pub fn verdicts(
    options: &Verdicts,
    interrupted: &AtomicBool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let against = options.against.as_deref().unwrap_or(KEPT);
    let kept = match read(against) {
        Ok(kept) => kept,
        Err(sentence) => {
            writeln!(err, "error: {sentence}")?;
            return Ok(Exit::Usage);
        }
    };
    remember_panics();
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let here = pinned(PINNED, jobs, || interrupted.load(Ordering::Relaxed));
    let moves = Moves::between(&kept, &here).expect("another generator was refused before");
    let not_run = PINNED.alone + PINNED.hosts - here.seeds.len() as u64;
    let report = VerdictsReport { against: against.to_owned(), moves, commit: commit::current(), not_run };
    if options.json {
        json::verdicts(&report).iter().try_for_each(|line| json::write(out, line))?;
    } else {
        terminal::verdicts(out, &report)?;
    }
    Ok(report.exit())
}

/// What the pinned seeds came to by a file, or by the file that a revision of git kept.
fn read(against: &str) -> Result<SeedVerdicts, String> {
    let text = if Path::new(against).exists() {
        fs::read_to_string(against).map_err(|error| format!("{against} cannot be read: {error}"))?
    } else {
        commit::file_of(against, KEPT).ok_or_else(|| unknown(against))?
    };
    let kept: SeedVerdicts =
        text.parse().map_err(|error| format!("{against} does not hold what seeds came to: {error}"))?;
    if kept.generator != GENERATOR {
        let other = kept.generator;
        return Err(format!(
            "{against} is of generator {other}, and this build has generator {GENERATOR}, under which every \
             seed is another world"
        ));
    }
    Ok(kept)
}

fn unknown(against: &str) -> String {
    if against == KEPT {
        return format!("there is no {KEPT} here\nhint: run it from the root of the sources");
    }
    format!("{against} is no file, and no revision of git that has {KEPT}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(against: &str, is_json: bool) -> (Exit, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let options = Verdicts { against: Some(against.to_owned()), json: is_json };
        let never = AtomicBool::new(false);
        let exit = verdicts(&options, &never, &mut out, &mut err).expect("memory takes it");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (exit, text(out), text(err))
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        fs::write(file.path(), text).expect("it takes text");
        file
    }

    fn path(file: &tempfile::NamedTempFile) -> &str {
        file.path().to_str().expect("a plain path")
    }

    #[test]
    fn what_cannot_be_compared_is_a_mistake_of_the_command_line() {
        let cases = [
            ("generator 1\n0 serve 3 00\n", "is of generator 1, and this build has"),
            ("0 serve 3 00\n", "has no line `generator N` before its seeds"),
            ("generator 2\n0 serve 3\n", "\"0 serve 3\" is no line of a seed"),
        ];
        for (text, expected) in cases {
            let file = file(text);
            let (exit, out, err) = run(path(&file), false);
            assert_eq!((exit, out.as_str()), (Exit::Usage, ""));
            assert!(err.contains(expected), "{err}");
        }
        for against in ["no-such-revision", "--output=x", "HEAD:README.md"] {
            let (exit, _, err) = run(against, false);
            assert_eq!(exit, Exit::Usage);
            assert!(err.starts_with(&format!("error: {against} is no file, and no revision")), "{err}");
        }
    }

    #[test]
    fn seeds_that_are_not_there_are_not_compared() {
        let file = file(&format!("generator {GENERATOR}\n1000000 serve 3 00\n"));
        let (exit, out, _) = run(path(&file), true);
        assert_eq!(exit, Exit::Nothing);
        assert!(out.contains("\"compared\":0"), "{out}");
    }

    #[test]
    fn a_seed_that_moved_fails_with_its_token() {
        let file = file(&format!("generator {GENERATOR}\n0 refuse/hole - 00\n"));
        let (exit, out, _) = run(path(&file), true);
        assert_eq!(exit, Exit::Failed);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 2, "{out}");
        assert!(lines[0].contains("\"from\":\"refuse/hole\"") && lines[0].contains("\"tm1-0-rmfasmn1-"));
        assert!(lines[1].contains("\"compared\":1") && lines[1].contains("\"moved\":1"));
    }
}
