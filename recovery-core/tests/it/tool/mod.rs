//! The built `recover`, run as a person or a program runs it: what it prints where, how it ends, and that
//! it changes nothing it should not.

mod exits;
mod inspection;
mod mistakes;
mod names;
mod repair;
mod streams;
mod unreadable;
mod verdicts;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::fixture::Fixture;

/// How a run ended and what it printed, as one text.
struct Run {
    exit: i32,
    stdout: String,
    stderr: String,
}

impl Run {
    /// Runs `recover` in the data directory: words split at blanks, `DIR` replaced by the way from there to
    /// the partition directory.
    fn of(fixture: &Fixture, line: &str) -> Self {
        let partition = fixture.partition_path();
        let way = partition.strip_prefix(fixture.path()).unwrap().to_str().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_recover"))
            .args(line.split(' ').map(|word| word.replace("DIR", way)))
            .current_dir(fixture.path())
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Self::new(&output)
    }

    fn new(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            exit: output.status.code().unwrap(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// The one object on the one line of standard output.
    fn object(&self) -> Value {
        let line = self.stdout.strip_suffix('\n').expect("the line ends");
        assert!(!line.contains('\n'), "one line: {line}");
        serde_json::from_str(line).unwrap()
    }
}

impl fmt::Display for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "exit {}", self.exit)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(formatter, "--- {name}\n{text}")?;
            }
        }
        Ok(())
    }
}

/// Every file below a directory with its bytes, sorted; what is no file or directory by its kind.
fn image(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap()).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.push((entry.path(), b"directory".to_vec()));
            files.extend(image(&entry.path()));
        } else if kind.is_file() {
            files.push((entry.path(), fs::read(entry.path()).unwrap()));
        } else {
            files.push((entry.path(), format!("{kind:?}").into_bytes()));
        }
    }
    files
}

/// Runs a command that changes nothing, and sees to it that it did not.
#[track_caller]
fn look(fixture: &Fixture, line: &str) -> Run {
    let before = image(fixture.path());
    let run = Run::of(fixture, line);
    assert!(image(fixture.path()) == before, "{line} changed something");
    run
}

/// Compares a run with what is expected of it; how much was read and hashed is not.
#[track_caller]
fn check(run: &Run, expected: &str) {
    assert_eq!(without_work(&run.to_string()), expected);
}

/// The text with `N` for the numbers of bytes that were read and hashed: they belong to the probe.
fn without_work(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| match line.split_once(" bytes read and ") {
        Some((_, rest)) => {
            let after = rest.trim_start_matches(|character: char| character.is_ascii_digit());
            format!("N bytes read and N{after}")
        }
        None => line.to_owned(),
    });
    lines.collect()
}

/// Damages one bit of a file.
fn flip(path: &Path, position: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[position] ^= 1;
    fs::write(path, bytes).unwrap();
}
