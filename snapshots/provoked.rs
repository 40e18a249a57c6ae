//! Ways in which commands end that need no bug to come about: the program is run, in both of its forms.
//!
//! `outcomes` has the rest: the ends of a run in which the core or the harness is at fault, which no command line can
//! bring about, and which only a summary made by hand shows.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use sim::schedule::generate::GENERATOR;

/// A world in which all is well, and what it is expected to come to.
const SCENARIO: &str = r#"scenario "three messages and a clean stop" version=1
world filesystem="xfs" regime="legal" {
    partition "1/1/0" durability="synced"
}
steps {
    append "1/1/0" batch=0 count=3
    flush "1/1/0"
    stop
    start
    expect "1/1/0" disposition="serve" next-offset=3
}
"#;

/// The lines of a run that a build of another version wrote.
const OTHER_VERSION: &str = "{\"type\":\"run-started\",\"version\":2}\n";

/// Letters of a digest.
const DIGEST_LETTERS: usize = 16;

/// What is run, and how it is to end.
const ENDS: [(&str, &[&str], i32); 9] = [
    ("a scenario comes to what it expects", &["scenarios", "right.kdl"], 0),
    ("a scenario comes to something else", &["scenarios", "wrong.kdl"], 1),
    ("a scenario does not parse", &["scenarios", "broken.kdl"], 2),
    ("a shard is none of those there are", &["run", "--shard", "3/2"], 2),
    ("a token is of another generator", &["replay", "tm1-5eed-rmfasmn1-g999-9f3c2a1b"], 2),
    ("what is merged is of another version", &["merge", "other-version"], 2),
    ("what is to be shrunk does not fail", &["shrink", "right.kdl", "-o", "shrunk.kdl"], 4),
    ("there is nothing to merge", &["merge", "nothing"], 2),
    (
        "a sweep is not complete within its runs",
        &["sweep", "right.kdl", "--kinds", "crash", "--runs", "3"],
        4,
    ),
];

fn run(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sim"))
        .args(arguments)
        .current_dir(directory)
        .env_remove("GITHUB_ACTIONS")
        .output()
        .expect("the program runs")
}

/// What was printed, without what a run of the same bytes need not repeat: times, and what a sweep counts of storage
/// calls, which is no matter of this page.
fn steady(arguments: &[&str], bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).expect("it prints text");
    let text = text.replace(&format!("has generator {GENERATOR}"), "has generator N");
    if arguments[0] != "sweep" {
        return text;
    }
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    let mut steady = String::new();
    let mut rest = text.as_str();
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|other| is_word(other) != is_word(letter)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let is_number = letter.is_ascii_digit() || word.len() == DIGEST_LETTERS;
        steady.push_str(if is_number && is_word(letter) { "N" } else { word });
        rest = behind;
    }
    steady
}

#[test]
fn how_commands_end_without_a_bug() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path();
    let put = |name: &str, text: &str| fs::write(path.join(name), text).expect("it takes bytes");
    put("right.kdl", SCENARIO);
    put("wrong.kdl", &SCENARIO.replace("next-offset=3", "next-offset=4"));
    put("broken.kdl", &SCENARIO.replace("append", "apend"));
    for folder in ["other-version", "nothing"] {
        fs::create_dir(path.join(folder)).expect("the name is free");
    }
    put("other-version/run.jsonl", OTHER_VERSION);
    let mut text = String::new();
    for (what, arguments, exit) in ENDS {
        let person = run(path, arguments);
        let program = run(path, &[arguments, &["--json"]].concat());
        for output in [&person, &program] {
            assert_eq!(
                output.status.code(),
                Some(exit),
                "{what}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        writeln!(text, "== {what}: exit {exit}\n$ sim {}", arguments.join(" ")).expect("memory takes it");
        for part in [&person.stdout, &person.stderr, &program.stdout] {
            text.push_str(&steady(arguments, part));
        }
        text.push('\n');
    }
    crate::check("provoked", text.trim_end());
}
