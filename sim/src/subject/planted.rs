//! A program built from the copy of the sources, and what it says.
//!
//! Promises: a program that is silent for minutes is ended and told apart from one that has come to its end.
//! Leaves out: what its lines mean ([`super::kill`]).

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;

/// Silence after which a program counts as hung. Its own steps are budgeted, so it never is by design; this
/// only keeps a broken one from holding up the rest.
const SILENCE: Duration = Duration::from_mins(5);

/// The profile that is made for fast rebuilds.
const PROFILE: &str = "mutants";

/// Where a program lies that was built with everything kept in `target`.
pub fn built(target: &Path) -> PathBuf {
    target.join(PROFILE).join("sim")
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
        .output()?;
    if output.status.success() {
        return Ok(Ok(built(target)));
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let first = text.lines().find(|line| line.starts_with("error")).unwrap_or("no error was printed");
    Ok(Err(first.to_owned()))
}

/// How listening to a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard<T> {
    /// A line decided.
    Decided(T),
    /// It came to its end, and no line had decided.
    Ended,
    /// It said nothing for minutes.
    Silent,
}

/// Runs a program and hands over its JSON Lines until one decides.
///
/// # Errors
///
/// When it cannot be run, or what it prints is no JSON.
pub fn listen<T>(mut command: Command, decide: &mut dyn FnMut(&Value) -> Option<T>) -> io::Result<Heard<T>> {
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
    let heard = loop {
        match receiver.recv_timeout(SILENCE) {
            Ok(line) => {
                let line: Value = serde_json::from_str(&line?)?;
                if let Some(decision) = decide(&line) {
                    break Heard::Decided(decision);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break Heard::Ended,
            Err(RecvTimeoutError::Timeout) => break Heard::Silent,
        }
    };
    drop(receiver);
    end(&mut child)?;
    reader.join().expect("the reading thread only reads");
    Ok(heard)
}

/// Ends a program that has said enough.
fn end(child: &mut Child) -> io::Result<()> {
    if child.try_wait()?.is_none() {
        child.kill()?;
        child.wait()?;
    }
    Ok(())
}
