//! Every class of ends of the program, each brought about by a process of its own: exit status, what a person reads
//! and what a program reads, together.
//!
//! What a run came to depends on the generator and on the core, which is the matter of other pages; so of a run the
//! last lines are kept, and numbers are left out. `outcomes` has the ends that only a bug of the harness brings about,
//! by summaries that are made by hand.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use sim::schedule::generate::GENERATOR;

use crate::provoked_stage::{self as stage, PLANTED};

/// Letters of a digest.
const DIGEST_LETTERS: usize = 16;

/// Fields of the last line of a run that say how it ended.
const FIELDS: [&str; 10] = [
    "type",
    "version",
    "reach_missed",
    "harness_bug",
    "shards_missing",
    "parts",
    "cut_by_time",
    "interrupted",
    "not_run",
    "exit",
];

/// How much of what a command prints is the matter of this page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// All of it.
    All,
    /// All of it without numbers.
    Words,
    /// All of it without numbers, and without what a pinned seed comes to.
    Moves,
    /// Of a self-check the parts that failed, and its last line.
    Fails,
    /// The last lines of a run, and those fields of its last line that say how it ended.
    End,
}

use Shown::{All, End, Fails, Moves, Words};

/// What is run, and how it is to end.
const ENDS: [(&str, &[&str], i32, Shown); 33] = [
    ("a scenario comes to what it expects", &["scenarios", "right.kdl"], 0, All),
    ("all seeds hold", &["run", "--from-seed", "7", "--seeds", "4", "--size", "small"], 0, End),
    ("what fails is made simpler, and verified", &["shrink", "wrong.kdl", "-o", "shrunk.kdl"], 0, Words),
    ("a check fails on another program", &["run", stage::SUBJECT, stage::REFUSES], 1, End),
    ("only what is known fails", &["run", stage::SUBJECT, stage::REFUSES, "--known", "known.toml"], 0, End),
    ("a scenario comes to something else", &["scenarios", "wrong.kdl"], 1, All),
    ("a verdict has moved", &["verdicts", "--against", "edited.snap"], 1, Moves),
    ("a planted bug survives", &["mutants", PLANTED, "survives"], 1, Words),
    ("a planted bug dies by another check", &["mutants", PLANTED, "killed-otherwise"], 1, Words),
    ("a flag is none of those there are", &["run", "--seed", "7"], 2, All),
    ("nothing is named that could be swept", &["sweep"], 2, All),
    ("a file cannot be written", &["run", "--seeds", "1", "--out", "right.kdl/below"], 2, All),
    ("a scenario does not parse", &["scenarios", "broken.kdl"], 2, All),
    ("a shard is none of those there are", &["run", "--shard", "3/2"], 2, All),
    ("a token cannot be read", &["replay", "tm1-5eed"], 2, All),
    ("a token is of another generator", &["replay", "tm1-5eed-rmfasmn1-g999-9f3c2a1b"], 2, All),
    ("what is merged is of another version", &["merge", "eighth", "other-version"], 2, All),
    ("there is nothing to merge", &["merge", "nothing"], 2, All),
    ("one shard gave two digests", &["merge", "eighth", "eighth-otherwise"], 3, End),
    ("nothing runs", &["run", "--seeds", "0"], 4, End),
    ("there is no scenario", &["scenarios", "nothing"], 4, All),
    ("seven shards of eight are missing", &["merge", "eighth"], 4, End),
    ("a goal of reach is missed", &["merge", "late"], 4, End),
    ("what is to be shrunk does not fail", &["shrink", "right.kdl", "-o", "shrunk.kdl"], 4, All),
    (
        "a sweep is not complete within its runs",
        &["sweep", "right.kdl", "--kinds", "crash", "--runs", "3"],
        4,
        Words,
    ),
    ("a planted bug is stale", &["mutants", PLANTED, "stale"], 70, Words),
    ("a planted bug does not compile", &["mutants", PLANTED, "unbuildable"], 70, Words),
    ("without a planted bug the self-check fails", &["mutants", PLANTED, "kills-the-self-check"], 70, Words),
    ("the self-check fails", &["self-check", stage::NOWHERE], 70, Fails),
    ("the harness panics", &["run", stage::SUBJECT, stage::BREAKS, "--jobs", "1"], 70, End),
    ("what a night runs beside its seeds does not hold", &["run", "--resume", stage::NIGHT], 70, End),
    ("somebody ends the kill table", &["mutants", PLANTED, "killed", PLANTED, "then-ended"], 130, Words),
    (
        "somebody ends it",
        &["run", stage::SUBJECT, stage::INTERRUPTS, "--known", "known.toml", "--jobs", "1"],
        130,
        End,
    ),
];

fn run(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sim"));
    if arguments.contains(&stage::NOWHERE) {
        command.env("TMPDIR", directory.join("nowhere"));
    }
    command
        .args(arguments.iter().flat_map(|argument| stage::arguments(directory, argument)))
        .current_dir(directory)
        .env("PATH", stage::path_with_a_compiler(directory))
        .env_remove("GITHUB_ACTIONS")
        .output()
        .expect("the program runs")
}

/// What was printed for a person, as far as it is shown.
fn person(shown: Shown, bytes: &[u8], directory: &Path) -> String {
    let text = String::from_utf8(bytes.to_vec()).expect("it prints text");
    let text = text.replace(&directory.display().to_string(), "DIR");
    match shown {
        All => text.replace(&format!("has generator {GENERATOR}"), "has generator N"),
        Words => without_numbers(&text),
        Moves => without_the_first_verdict(&without_numbers(&text)),
        Fails => under(&["FAIL", "Summary"], &text),
        End => under(&LABELS, text.find("   Alive").map_or(text.as_str(), |at| &text[at..])),
    }
}

/// Labels of the last lines of a run that say how it ended. Which groups failed is the generator's matter, and the
/// command that repeats it all is long.
const LABELS: [&str; 7] = ["Alive", "Beside", "Known", "MISSING", "CUT", "Summary", "error:"];

/// What stands under some labels, each on one line however it was broken.
fn under(labels: &[&str], last: &str) -> String {
    let others = ["again", "replay", "export"];
    let (mut text, mut goes_on) = (String::new(), false);
    for line in last.lines() {
        let words = line.trim_start();
        let is_hint = others.iter().any(|word| words.starts_with(word)) || words.contains(" run twice, ");
        if !line.starts_with("          ") {
            goes_on = labels.iter().any(|label| words.starts_with(label));
            text.push_str(if goes_on { "\n" } else { "" });
        } else if goes_on && !is_hint {
            text.push(' ');
        } else {
            goes_on = false;
        }
        if goes_on {
            text.push_str(&without_numbers(if text.ends_with(' ') { words } else { line }));
        }
    }
    // How many is left out, so one or more is, too.
    let text =
        text.trim_start_matches('\n').replace("N groups", "N group").replace("known groups", "known group");
    if text.is_empty() { text } else { text + "\n" }
}

/// A text without what the first pinned seed comes to, which is the generator's and the core's matter.
fn without_the_first_verdict(text: &str) -> String {
    let (_, first) = include_str!("seeds.snap").split_once("\n0 ").expect("the first pinned seed is there");
    let verdict = first.split([' ', ';']).next().expect("a text has a first part");
    let generator = format!("-g{GENERATOR}-");
    text.replace(&generator, "-gN-").replace(verdict, "VERDICT")
}

/// What was printed for a program, as far as it is shown.
fn program(shown: Shown, bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).expect("it prints text");
    match shown {
        All => return text,
        Words => return without_numbers(&text),
        Moves => return without_the_first_verdict(&without_numbers(&text)),
        Fails => {
            let is_told = |line: &&str| !line.contains("\"passed\":true");
            return text.lines().filter(is_told).map(|line| without_numbers(line) + "\n").collect();
        }
        End => {}
    }
    let Some(last) = text.lines().last() else { return text };
    let line: Value = serde_json::from_str(last).expect("a line is JSON");
    let field = |name: &&str| {
        let mut value = line[*name].clone();
        for part in value.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            part.remove("seconds");
        }
        // Which goals those are is the matter of the page about goals.
        let is_long = value.as_array().is_some_and(|all| all.len() > 8);
        (*name).to_owned() + ": " + &if is_long { "[…]".to_owned() } else { value.to_string() }
    };
    FIELDS.iter().map(field).collect::<Vec<String>>().join(", ") + "\n"
}

/// A text with N for every number, digest and exit status.
fn without_numbers(text: &str) -> String {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    let mut steady = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|other| is_word(other) != is_word(letter)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let is_digest = word.len() == DIGEST_LETTERS && word.chars().all(|letter| letter.is_ascii_hexdigit());
        let is_number = letter.is_ascii_digit() || is_digest;
        steady.push_str(if is_number && is_word(letter) { "N" } else { word });
        rest = behind;
    }
    steady
}

#[test]
fn how_commands_end() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path();
    stage::set(path, &|arguments| run(path, arguments));
    let mut text = String::new();
    for (what, arguments, exit, shown) in ENDS {
        stage::begin(path);
        let for_person = run(path, arguments);
        stage::begin(path);
        let for_program = run(path, &[arguments, &["--json"]].concat());
        for output in [&for_person, &for_program] {
            assert_eq!(output.status.code(), Some(exit), "{what}: {output:?}");
        }
        let shown_arguments: Vec<&str> = arguments.iter().map(|argument| stage::shown(argument)).collect();
        writeln!(text, "== {what}: exit {exit}\n$ sim {}", shown_arguments.join(" "))
            .expect("memory takes it");
        text.push_str(&person(shown, &for_person.stdout, path));
        text.push_str(&person(shown, &for_person.stderr, path));
        text.push_str(&program(shown, &for_program.stdout));
        text.push('\n');
    }
    crate::check("provoked", text.trim_end());
}
