//! `sim list`: the vocabularies, one word a line.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use recovery_core::decide::{ReasonCode, Row};

use crate::cli::List;
use crate::disk::Cause;
use crate::exit::Exit;
use crate::oracle::Check;
use crate::run::profile::PROFILES;
use crate::schedule::word::{Word, words};
use crate::schedule::{Filesystem, parse};
use crate::subject::mutant::Mutant;

/// Where scenarios are kept.
const SCENARIOS: &str = "scenarios";

/// Where planted bugs are kept.
const MUTANTS: &str = "sim/mutants";

words! {
    /// What can be listed.
    Subject, "something that can be listed" {
        /// Files and their titles.
        Scenarios = "scenarios",
        /// Fault kinds, those that a crash brings about included.
        Faults = "faults",
        /// Checks.
        Checks = "checks",
        /// Reasons to refuse.
        Reasons = "reasons",
        /// Rows of the decision tables.
        Rows = "rows",
        /// Planted bugs and their stories.
        Mutants = "mutants",
        /// Filesystems.
        Filesystems = "filesystems",
        /// Named sets of limits.
        Profiles = "profiles",
    }
}

/// Prints one word a line, and of profiles the file that says what they are; what can be listed, if nothing is asked for.
///
/// # Errors
///
/// When a stream cannot be written, or a folder or a file in it cannot be read.
pub fn list(options: &List, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let Some(text) = &options.what else {
        return print(out, &owned(Subject::ALL.map(Subject::code)));
    };
    let Some(subject) = Subject::from_word(text) else {
        let known = Subject::ALL.map(Subject::code).join(", ");
        writeln!(err, "error: {text} is not {}\nhint: one of {known}", Subject::KIND)?;
        return Ok(Exit::Usage);
    };
    let needed = match subject {
        Subject::Scenarios => Some(SCENARIOS),
        Subject::Mutants => Some(MUTANTS),
        Subject::Faults
        | Subject::Checks
        | Subject::Reasons
        | Subject::Rows
        | Subject::Filesystems
        | Subject::Profiles => None,
    };
    if let Some(folder) = needed.filter(|folder| !Path::new(folder).is_dir()) {
        writeln!(
            err,
            "error: there is no directory {folder} here\nhint: run it from the root of the sources"
        )?;
        return Ok(Exit::Usage);
    }
    print(out, &lines(subject)?)
}

fn print(out: &mut dyn Write, lines: &[String]) -> io::Result<Exit> {
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(Exit::Held)
}

fn owned<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

fn lines(subject: Subject) -> io::Result<Vec<String>> {
    Ok(match subject {
        Subject::Scenarios => scenarios()?,
        Subject::Faults => owned(Cause::all().map(Cause::code)),
        Subject::Checks => owned(Check::ALL.iter().map(|check| check.code())),
        Subject::Reasons => owned(ReasonCode::ALL.iter().map(|reason| reason.code())),
        Subject::Rows => owned(Row::ALL.iter().map(|row| row.code())),
        Subject::Mutants => mutants()?,
        Subject::Filesystems => owned(Filesystem::ALL.iter().map(|filesystem| filesystem.code())),
        // The file is its own manual.
        Subject::Profiles => owned(PROFILES.lines()),
    })
}

/// Each planted bug with its story, in order of ids. What does not read says so.
fn mutants() -> io::Result<Vec<String>> {
    files_in(Path::new(MUTANTS))?
        .iter()
        .map(|file| {
            let stem = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            let story = match Mutant::parse(&stem, &fs::read_to_string(file)?) {
                Ok(mutant) => mutant.story,
                Err(fault) => format!("does not read: {fault}"),
            };
            Ok(format!("{stem}: {story}"))
        })
        .collect()
}

/// Files of this language in a folder and the folders in it, in order of paths.
fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    Ok(files)
}

/// Each scenario file with its title, in order of paths. What does not read says so.
fn scenarios() -> io::Result<Vec<String>> {
    files_in(Path::new(SCENARIOS))?
        .iter()
        .map(|file| {
            let path = file.display().to_string();
            let title = match parse(&path, &fs::read_to_string(file)?) {
                Ok(scenario) => scenario.title,
                Err(error) => format!("does not read: {error}"),
            };
            Ok(format!("{path}: {title}"))
        })
        .collect()
}

/// KDL files in a folder and the folders in it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "kdl") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(what: Option<&str>) -> (Exit, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let options = List { what: what.map(str::to_owned) };
        let exit = list(&options, &mut out, &mut err).expect("memory takes it");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (exit, text(out), text(err))
    }

    #[test]
    fn everything_that_can_be_listed_is_listed() {
        let (exit, subjects, _) = listed(None);
        assert_eq!((exit, subjects.lines().count()), (Exit::Held, Subject::ALL.len()));
        for subject in Subject::ALL
            .into_iter()
            .filter(|subject| !matches!(subject, Subject::Scenarios | Subject::Mutants | Subject::Profiles))
        {
            let (exit, words, errors) = listed(Some(subject.code()));
            assert_eq!((exit, errors.as_str()), (Exit::Held, ""));
            let mut unique: Vec<&str> = words.lines().collect();
            unique.sort_unstable();
            unique.dedup();
            assert!(!unique.is_empty() && unique.len() == words.lines().count(), "{words}");
        }
        // Tests run in the folder of the package, which has no such folders below it.
        for (subject, folder) in [("scenarios", "scenarios"), ("mutants", "sim/mutants")] {
            let told = format!(
                "error: there is no directory {folder} here\nhint: run it from the root of the sources\n"
            );
            assert_eq!(listed(Some(subject)), (Exit::Usage, String::new(), told));
        }
        assert_eq!(listed(Some("profiles")).1, PROFILES);
        assert!(listed(Some("faults")).1.contains("torn-prefix\n"));
    }

    #[test]
    fn what_cannot_be_listed_is_told_with_what_can() {
        let (exit, words, errors) = listed(Some("colours"));
        assert_eq!((exit, words.as_str()), (Exit::Usage, ""));
        assert!(errors.starts_with("error: colours is not something that can be listed\nhint: one of "));
    }
}
