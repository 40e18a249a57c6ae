//! A run that is killed and goes on is the run that was never killed.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::{bare, run, scratch, sim, summary, wait_until_kept};

const RUN: [&str; 6] = ["--from-seed", "7", "--seeds", "1200", "--size", "small"];

/// A program that refuses everything, so that seeds fail.
const REFUSES: &str = r#"exec:sh -c 'printf "{\"disposition\":\"refuse\",\"next_offset\":null}"; exit 20'"#;

/// Starts a run and ends it, without a word, once it has kept something.
fn begin_and_kill(directory: &Path, of: &[&str]) {
    let arguments = [&["run", "--json", "--out", "half"][..], of].concat();
    let mut child = sim(directory, &arguments).stdout(Stdio::null()).spawn().expect("it starts");
    wait_until_kept(&mut child, &directory.join("half"));
    // On Unix this is SIGKILL: nothing of it can be caught.
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
}

#[test]
fn a_run_that_is_killed_goes_on_and_ends_as_one_that_was_not() {
    let directory = scratch();
    let path = directory.path();
    let whole = run(path, &[&["run", "--json", "--out", "whole"][..], &RUN].concat());
    begin_and_kill(path, &RUN);
    let lines = fs::read_to_string(path.join("half/run.jsonl")).expect("it was begun");
    assert!(!lines.contains("run-summary"), "it was killed on the way");
    let resumed = run(path, &["run", "--json", "--resume", "half"]);
    assert_eq!(resumed.status.code(), Some(0));
    assert_eq!(bare(&summary(&resumed)), bare(&summary(&whole)));
    // It is over: nothing is run again, and it says the same.
    let again = run(path, &["run", "--json", "--resume", "half"]);
    assert_eq!(bare(&summary(&again)), bare(&summary(&whole)));
    // Merged it is what the whole run is.
    let merged = |name: &str| run(path, &["merge", name, "--json"]);
    assert_eq!(bare(&summary(&merged("half"))), bare(&summary(&merged("whole"))));
}

/// The failing seeds that a run has kept, one a line, in their order, wherever their schedules lie.
fn failures(directory: &Path, name: &str) -> Vec<String> {
    let lines = fs::read_to_string(directory.join(name).join("run.jsonl")).expect("it was begun");
    let failed = lines.lines().filter(|line| line.starts_with("{\"type\":\"failure\""));
    failed.map(|line| line.replace(&format!("{name}/"), "")).collect()
}

#[test]
fn failures_that_a_killed_run_had_found_are_found_once() {
    let directory = scratch();
    let path = directory.path();
    let run_of = ["--from-seed", "1", "--seeds", "96", "--size", "small", "--subject", REFUSES];
    let whole = run(path, &[&["run", "--json", "--out", "whole"][..], &run_of].concat());
    begin_and_kill(path, &run_of);
    let resumed = run(path, &["run", "--json", "--resume", "half"]);
    assert_eq!((whole.status.code(), resumed.status.code()), (Some(1), Some(1)));
    assert_eq!(bare(&summary(&resumed)), bare(&summary(&whole)));
    let (found, expected) = (failures(path, "half"), failures(path, "whole"));
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
}

#[test]
fn a_run_goes_on_past_its_old_end() {
    let directory = scratch();
    let path = directory.path();
    let whole = run(path, &["run", "--json", "--out", "a", "--from-seed", "7", "--seeds", "300"]);
    run(path, &["run", "--json", "--out", "b", "--from-seed", "7", "--seeds", "100"]);
    let resumed = run(path, &["run", "--json", "--resume", "b", "--seeds", "300"]);
    assert_eq!(bare(&summary(&resumed)), bare(&summary(&whole)));
}

#[test]
fn what_is_no_run_cannot_go_on() {
    let directory = scratch();
    let path = directory.path();
    let refused = |name: &str, why: &str| {
        let output = run(path, &["run", "--resume", name]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(why), "{errors}");
    };
    refused("nowhere", "cannot be read");
    run(path, &["run", "--json", "--out", "old", "--from-seed", "7", "--seeds", "10"]);
    let lines = fs::read_to_string(path.join("old/run.jsonl")).expect("it was written");
    let generator = lines.replace("\"generator\":", "\"generator\":90");
    fs::write(path.join("old/run.jsonl"), generator).expect("it takes bytes");
    refused("old", "its other half would be another run");
    fs::write(path.join("old/run.jsonl"), lines.replace("\"version\":1", "\"version\":2")).expect("it takes");
    refused("old", "has version 2, and this build reads version 1");
}
