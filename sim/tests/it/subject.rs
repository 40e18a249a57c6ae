//! Other programs, put to every start: the project's own tool, which must do as the linked core does, and small
//! liars, each of which must be caught by its check.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{run, scratch, sim, summary};

/// The operator's tool, built if it is not yet.
fn recover() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let arguments = ["build", "--quiet", "--workspace", "--all-features", "--bin", "recover"];
    let built = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--message-format=json")
        .current_dir(root)
        .output()
        .expect("cargo runs");
    let lines = String::from_utf8(built.stdout).expect("cargo prints text");
    let messages = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    let mut paths = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    paths.next().expect("a binary was built")
}

/// Runs small seeds with a subject: how it ends, its last line, and what it says to a person.
#[track_caller]
fn try_subject(subject: &str, seeds: &str) -> (Option<i32>, Value, String) {
    let directory = scratch();
    let arguments =
        ["run", "--json", "--from-seed", "1", "--seeds", seeds, "--size", "small", "--subject", subject];
    let output = run(directory.path(), &arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = if output.stdout.is_empty() { Value::Null } else { summary(&output) };
    (output.status.code(), last, errors)
}

/// How many seeds the tool is put to. Each of their starts runs it twice, so a test of every change tries few, and
/// every night `SUBJECT_SEEDS` says 500.
fn seeds() -> String {
    std::env::var("SUBJECT_SEEDS").unwrap_or_else(|_| "50".to_owned())
}

#[test]
fn the_tool_of_the_project_does_as_the_linked_core_does() {
    let tool = format!("exec:'{}' apply --json --durability {{durability}}", recover().display());
    let (exit, summary, errors) = try_subject(&tool, &seeds());
    let subject = &summary["subject"];
    assert_eq!((exit, &subject["first_difference"]), (Some(0), &Value::Null), "{errors}{summary}");
    assert_eq!(subject["starts"], subject["agreed"]);
    assert!(subject["starts"].as_u64().is_some_and(|starts| starts > 100), "{subject}");
}

/// The checks that fired, where a subject is run on 20 seeds.
#[track_caller]
fn caught(script: &str) -> Vec<String> {
    let (exit, summary, errors) = try_subject(&format!("exec:sh -c '{script}'"), "20");
    assert_eq!(exit, Some(1), "{errors}{summary}");
    let violated = summary["violations_by_invariant"].as_object().expect("an object");
    violated.iter().filter(|(_, count)| **count != 0).map(|(check, _)| check.clone()).collect()
}

#[test]
fn a_program_that_serves_everything_as_it_is_is_caught() {
    let checks = caught(r#"printf "{\"disposition\":\"serve\",\"next_offset\":0,\"segments\":[]}""#);
    assert!(checks.contains(&"I05".to_owned()), "{checks:?}");
}

#[test]
fn a_program_that_throws_a_partition_away_is_caught() {
    let checks =
        caught(r#"rm -f "$0"/*.log; printf "{\"disposition\":\"serve\",\"next_offset\":0,\"segments\":[]}""#);
    for check in ["I01", "I02", "I05"] {
        assert!(checks.contains(&check.to_owned()), "{check}: {checks:?}");
    }
}

#[test]
fn a_program_that_refuses_everything_is_caught_where_nothing_is_damaged() {
    let checks = caught(r#"printf "{\"disposition\":\"refuse\",\"next_offset\":null}"; exit 20"#);
    assert_eq!(checks, ["I13"]);
}

#[test]
fn a_program_that_dies_of_damage_is_caught() {
    // It serves what the probe shows it, and dies where there is a second log or none.
    let checks = caught(
        r#"set -- "$0"/*.log; if [ $# -eq 1 ]; then
        printf "{\"disposition\":\"refuse\",\"next_offset\":null}"; exit 20; fi; kill -ABRT $$"#,
    );
    assert!(checks.contains(&"panic".to_owned()), "{checks:?}");
}

#[test]
fn a_subject_that_cannot_be_tried_is_a_mistake_of_the_command_line() {
    for (subject, why) in [
        ("recover", "recover is no subject: a subject reads exec:COMMAND"),
        ("exec:no-such-command-anywhere", "no-such-command-anywhere cannot be run: No such file"),
        ("exec:echo served", "was tried on a healthy partition: its standard output is no verdict: no JSON"),
        ("exec:sh -c 'exit 7'", "it ended with status 7, and 0, 10, 20 and 30 are those of a verdict"),
        ("exec:sh -c 'kill -KILL $$'", "signal 9 ended it"),
    ] {
        let (exit, summary, errors) = try_subject(subject, "20");
        assert_eq!((exit, summary), (Some(2), Value::Null), "{subject}: {errors}");
        assert!(errors.contains(why), "{errors}");
    }
    let directory = scratch();
    let hosts = run(directory.path(), &["run", "--replicas", "3", "--subject", "exec:true"]);
    assert_eq!(hosts.status.code(), Some(2));
}

#[test]
fn every_output_says_how_a_failure_of_another_program_is_seen_and_all_of_a_group_are_kept() {
    let directory = scratch();
    let path = directory.path();
    let subject = r#"exec:sh -c 'printf "{\"disposition\":\"refuse\",\"next_offset\":null}"; exit 20'"#;
    let seeds = ["run", "--from-seed", "1", "--seeds", "8", "--size", "small", "--subject", subject];
    let arguments = [&seeds[..], &["--html", "a.html", "--junit", "a.xml", "--out", "out"]].concat();
    let output = sim(path, &arguments).env("GITHUB_ACTIONS", "true").output().expect("it runs");
    let read = |name| fs::read_to_string(path.join(name)).expect("it was written");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    let said = [read("a.html"), read("a.xml"), text(output.stdout), text(output.stderr)];
    for text in &said {
        assert!(text.contains("cargo sim export tm1-") && text.contains(" DIR --at "), "{text}");
        // A replay runs the linked core, which is right.
        assert!(!text.contains("cargo sim replay"), "{text}");
    }
    assert!(said[0].contains("By the linked core"));
    let lines = read("out/run.jsonl");
    let failures = lines.lines().filter(|line| line.starts_with("{\"type\":\"failure\"")).count() as u64;
    let last: Value =
        lines.lines().last().map(|line| serde_json::from_str(line).expect("JSON")).expect("a line");
    assert_eq!(last["failures"], failures);
    assert!(last["groups"].as_array().is_some_and(|groups| (groups.len() as u64) < failures), "{last}");
}
