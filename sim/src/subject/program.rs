//! A recovery program under test: a command, run on one partition directory, within a time.
//!
//! Promises: the directory is the last argument, whatever the command is; a program that does not end is
//! ended, with all that it has started. Leaves out: what its answer is worth ([`super::judge`]).

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::str::FromStr;
use std::time::Duration;

use recovery_core::observe::Expectation;
use rustix::process::{Pid, Signal, kill_process_group};
use thiserror::Error;

/// How a subject is spelt on the command line, before its command.
const PREFIX: &str = "exec:";

/// How long a program may take for one partition.
const LIMIT: Duration = Duration::from_secs(10);

/// Most bytes that are read of what a program prints.
const PRINTED_BYTES_MAX: u64 = 1 << 20;

/// Replicas of every partition that a program is tried on.
const REPLICAS: &str = "1";

/// Why a text names no program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramError {
    /// It is spelt in another way.
    #[error("{text} is no subject: a subject reads exec:COMMAND")]
    Shape {
        /// The text.
        text: String,
    },
    /// There is no command.
    #[error("exec: names no command")]
    Empty,
    /// A quote that does not end.
    #[error("the command has a quote that does not end: {text}")]
    Quote {
        /// The command.
        text: String,
    },
    /// A name in braces that is none of those that are filled in.
    #[error("{word} is nothing that is filled in: there are {{namespace}}, {{durability}} and {{replicas}}")]
    Placeholder {
        /// What stands there.
        word: String,
    },
}

impl ProgramError {
    /// The permanent code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Shape { .. } => "subject-shape",
            Self::Empty => "subject-empty",
            Self::Quote { .. } => "subject-quote",
            Self::Placeholder { .. } => "subject-placeholder",
        }
    }
}

/// How a program failed to answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramFault {
    /// It did not start: no such command, or no right to run it.
    #[error("{command} cannot be run: {error}")]
    NotStarted {
        /// Its first word.
        command: String,
        /// What the system says.
        error: String,
    },
    /// It was ended, because it did not end.
    #[error("it did not end within {seconds} s, and was ended")]
    Hung {
        /// How long it was given.
        seconds: u64,
    },
    /// A signal ended it.
    #[error("signal {signal} ended it{}", told(.stderr))]
    Signal {
        /// The number of the signal.
        signal: i32,
        /// The end of what it printed to standard error.
        stderr: String,
    },
    /// It ended with a status that is none of a recovery's.
    #[error("it ended with status {status}, and 0, 10, 20 and 30 are those of a verdict{}", told(.stderr))]
    Status {
        /// The status.
        status: i32,
        /// The end of what it printed to standard error, or of the error that it printed as an object.
        stderr: String,
    },
    /// What it printed to standard output is not one JSON object with the fields of a verdict.
    #[error("its standard output is no verdict: {why}{}", told(.stderr))]
    NoVerdict {
        /// What is wrong with it.
        why: String,
        /// The end of what it printed to standard error.
        stderr: String,
    },
}

impl ProgramFault {
    /// The permanent code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } => "not-started",
            Self::Hung { .. } => "hung",
            Self::Signal { .. } => "signal",
            Self::Status { .. } => "status",
            Self::NoVerdict { .. } => "no-verdict",
        }
    }
}

fn told(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it said: {stderr}") }
}

/// A command that recovers a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    text: String,
    words: Vec<String>,
}

/// What a program printed, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit status.
    pub status: i32,
    /// Its standard output.
    pub stdout: String,
    /// The end of its standard error.
    pub stderr: String,
}

impl FromStr for Program {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<Self, ProgramError> {
        let shape = || ProgramError::Shape { text: text.to_owned() };
        let command = text.strip_prefix(PREFIX).ok_or_else(shape)?;
        let words = words(command)?;
        if words.is_empty() {
            return Err(ProgramError::Empty);
        }
        words.iter().try_for_each(|word| filled(word, ["", "", ""]).map(drop))?;
        Ok(Self { text: text.to_owned(), words })
    }
}

impl Program {
    /// The subject as it is spelt on the command line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the command is told how the partition was written.
    pub fn is_told_durability(&self) -> bool {
        self.words.iter().any(|word| word.contains("{durability}"))
    }

    /// Runs it on a partition directory. What it prints goes through files in `scratch`.
    ///
    /// # Errors
    ///
    /// When it does not start, end, or end with the status of a verdict.
    ///
    /// # Panics
    ///
    /// If `scratch` takes no file.
    pub fn run(
        &self,
        expectation: &Expectation,
        partition: &Path,
        scratch: &Path,
    ) -> Result<Ran, ProgramFault> {
        let namespace = expectation.namespace.to_string();
        let values = [namespace.as_str(), expectation.durability.code(), REPLICAS];
        let mut words =
            self.words.iter().map(|word| filled(word, values).expect("it was looked at when it was read"));
        let program = words.next().expect("a command has a word");
        let (stdout, stderr) = (scratch.join("stdout"), scratch.join("stderr"));
        let file = |path: &Path| File::create(path).expect("the scratch directory takes a file");
        let mut command = Command::new(&program);
        command.args(words).arg(partition).stdin(Stdio::null());
        // A group of its own, so that it can be ended with all that it has started.
        command.stdout(file(&stdout)).stderr(file(&stderr)).process_group(0);
        let child = command.spawn().map_err(|error| ProgramFault::NotStarted {
            command: program.clone(),
            error: error.to_string(),
        })?;
        let status = wait(child, LIMIT).ok_or(ProgramFault::Hung { seconds: LIMIT.as_secs() })?;
        let stderr = last_line(&printed(&stderr));
        match (status.code(), status.signal()) {
            (Some(status @ (0 | 10 | 20 | 30)), _) => Ok(Ran { status, stdout: printed(&stdout), stderr }),
            (Some(status), _) => {
                let stderr = error_of(&printed(&stdout)).unwrap_or(stderr);
                Err(ProgramFault::Status { status, stderr })
            }
            (None, signal) => Err(ProgramFault::Signal { signal: signal.unwrap_or_default(), stderr }),
        }
    }
}

/// Waits for a program; `None` if it had to be ended.
#[expect(clippy::disallowed_types, reason = "how long a program may take is asked of the clock")]
#[expect(clippy::disallowed_methods, reason = "a program is waited for; no world is")]
fn wait(mut child: Child, limit: Duration) -> Option<ExitStatus> {
    let begin = std::time::Instant::now();
    let mut pause = Duration::from_micros(200);
    while begin.elapsed() < limit {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => std::thread::sleep(pause),
            Err(error) => panic!("a child cannot be waited for: {error}"),
        }
        pause = (pause * 2).min(Duration::from_millis(5));
    }
    // It may have ended just now, and then there is no such group.
    let _ended = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let _status = child.wait();
    None
}

/// What was printed to a file, as text.
fn printed(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read: io::Result<usize> =
        File::open(path).and_then(|file| file.take(PRINTED_BYTES_MAX).read_to_end(&mut bytes));
    match read {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => panic!("what a program printed cannot be read: {error}"),
    }
}

/// The last line that says something.
fn last_line(text: &str) -> String {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// The sentence of an error that was printed as an object.
fn error_of(stdout: &str) -> Option<String> {
    let object: serde_json::Value = serde_json::from_str(stdout).ok()?;
    Some(object.get("error")?.get("sentence")?.as_str()?.to_owned())
}

/// The words of a command: parted by blanks, but not inside of quotes, single or double.
fn words(command: &str) -> Result<Vec<String>, ProgramError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = command.chars();
    // Each pass takes a character at least.
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                let (quoted, rest) = characters
                    .as_str()
                    .split_once(character)
                    .ok_or_else(|| ProgramError::Quote { text: command.to_owned() })?;
                word.get_or_insert_default().push_str(quoted);
                characters = rest.chars();
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// A word with namespace, durability and replicas where they are named; braces around anything but a plain name
/// stay as they are.
fn filled(word: &str, [namespace, durability, replicas]: [&str; 3]) -> Result<String, ProgramError> {
    let mut filled = String::new();
    let mut rest = word;
    // Each pass takes a brace at least.
    while let Some((before, behind)) = rest.split_once('{') {
        filled.push_str(before);
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        let Some((name, after)) = behind.split_once('}').filter(|(name, _)| is_name(name)) else {
            filled.push('{');
            rest = behind;
            continue;
        };
        filled.push_str(match name {
            "namespace" => namespace,
            "durability" => durability,
            "replicas" => replicas,
            _ => return Err(ProgramError::Placeholder { word: word.to_owned() }),
        });
        rest = after;
    }
    Ok(filled + rest)
}

#[cfg(test)]
mod tests {
    use recovery_core::units::Namespace;

    use super::*;

    fn program(text: &str) -> Program {
        text.parse().expect("the text names a program")
    }

    fn run(text: &str) -> Result<Ran, ProgramFault> {
        let scratch = tempfile::tempdir().expect("a temporary directory can be made");
        let expectation = Expectation::of(Namespace { stream: 1, topic: 2, partition: 3 });
        program(text).run(&expectation, Path::new("/the/partition"), scratch.path())
    }

    #[test]
    fn a_subject_is_a_command_with_quotes_and_names_to_fill_in() {
        assert_eq!(program("exec: a  'b c' d\"e f\"g ''").words, ["a", "b c", "de fg", ""]);
        let code = |text: &str| text.parse::<Program>().map_err(|error| error.code());
        assert_eq!(code("core"), Err("subject-shape"));
        assert_eq!(code("exec:  "), Err("subject-empty"));
        assert_eq!(code("exec:a 'b"), Err("subject-quote"));
        assert_eq!(code("exec:a {mode}"), Err("subject-placeholder"));
        assert_eq!(program("exec:a {durability {\"x\":1}").words.len(), 3);
        assert!(program("exec:a --mode={durability}").is_told_durability());
    }

    #[test]
    fn a_program_is_told_what_there_is_to_know_and_the_directory_last() {
        let ran = run("exec:echo {namespace} {durability} x{replicas}").expect("it ends well");
        assert_eq!((ran.status, ran.stdout.as_str()), (0, "1/2/3 buffered x1 /the/partition\n"));
    }

    #[test]
    fn a_program_that_is_not_there_is_no_verdict() {
        let fault = run("exec:no-such-command-anywhere --json").expect_err("there is none");
        assert_eq!(fault.code(), "not-started");
        assert!(fault.to_string().starts_with("no-such-command-anywhere cannot be run: "), "{fault}");
    }

    #[test]
    fn a_program_that_dies_or_ends_oddly_says_how() {
        let fault = run("exec:sh -c 'echo oh no >&2; kill -SEGV $$'").expect_err("it dies");
        assert_eq!(fault, ProgramFault::Signal { signal: 11, stderr: "oh no".to_owned() });
        assert_eq!(fault.to_string(), "signal 11 ended it; it said: oh no");
        let fault = run("exec:sh -c 'exit 3'").expect_err("3 is no status of a verdict");
        assert_eq!(fault, ProgramFault::Status { status: 3, stderr: String::new() });
        let object = r#"{"version":1,"error":{"code":"x","sentence":"no namespace"}}"#;
        let fault = run(&format!("exec:sh -c 'echo \"$0\"; exit 2' '{object}'")).expect_err("a usage error");
        assert_eq!(fault, ProgramFault::Status { status: 2, stderr: "no namespace".to_owned() });
        assert_eq!(run("exec:sh -c 'exit 20'").map(|ran| ran.status), Ok(20));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_with_all_that_it_started() {
        let child = Command::new("sh").args(["-c", "sleep 600 & wait"]).process_group(0).spawn();
        assert_eq!(wait(child.expect("there is a shell"), Duration::from_millis(50)), None);
    }
}
