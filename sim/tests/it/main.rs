//! The program itself, run as a person or a scheduler runs it: exit codes, files, and what is left when it is
//! killed.

mod catalogue;
#[cfg(unix)]
mod interrupted;
mod kernel_check;
mod kills;
mod merge;
mod mutations;
mod outcomes;
mod replay;
mod resume;
mod subject;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// The program, in a directory of its own: nothing it writes or reads by default is shared.
fn sim(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sim"));
    command.args(arguments).current_dir(directory);
    for variable in ["GITHUB_ACTIONS", "CI_NODE_INDEX", "CI_NODE_TOTAL", "JOB_COMPLETION_INDEX"] {
        command.env_remove(variable);
    }
    command
}

/// Runs it to its end.
#[track_caller]
fn run(directory: &Path, arguments: &[&str]) -> Output {
    sim(directory, arguments).output().expect("the program runs")
}

/// The last line that it printed, as JSON.
#[track_caller]
fn summary(output: &Output) -> Value {
    let text = std::str::from_utf8(&output.stdout).expect("it prints text");
    let last = text.lines().last().unwrap_or_else(|| panic!("it printed nothing: {output:?}"));
    serde_json::from_str(last).expect("the last line is JSON")
}

/// Waits until a run in `directory` has kept how far it has come.
#[expect(clippy::disallowed_methods, reason = "it waits for another program, and no world does")]
fn wait_until_kept(child: &mut std::process::Child, directory: &Path) {
    let kept = directory.join("checkpoint.0");
    while !std::fs::metadata(&kept).is_ok_and(|file| file.len() > 0) {
        assert!(child.try_wait().expect("it is ours").is_none(), "it came to its end too early");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// A directory that is gone when the test is over.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// What of a summary does not depend on time, threads and shards.
fn bare(summary: &Value) -> Value {
    let mut bare = summary.clone();
    let object = bare.as_object_mut().expect("a summary is an object");
    for field in ["seconds", "seeds_per_second", "jobs", "pace", "shards"] {
        object.remove(field).unwrap_or_else(|| panic!("a summary has {field}"));
    }
    bare
}
