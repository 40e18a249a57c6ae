//! Every command that works unit by unit, asked to end by a signal: it ends behind the unit in flight, tells what it
//! found and what it did not run, and ends with 130.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use sim::run::pinned::PINNED;

use super::{run, scratch, sim, summary};

/// What is left of a command that was asked to end.
struct Ended {
    status: Option<i32>,
    lines: Vec<Value>,
    text: String,
}

impl Ended {
    fn last(&self) -> &Value {
        self.lines.last().unwrap_or_else(|| panic!("it printed no line: {}", self.text))
    }
}

/// Starts the program and asks it to end once it has printed a line that `is_time` takes.
#[track_caller]
fn end_at(directory: &Path, arguments: &[&str], is_time: &dyn Fn(&str) -> bool) -> Ended {
    let mut child = sim(directory, arguments).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output is piped"));
    let mut text = String::new();
    let mut line = String::new();
    while !is_time(&line) {
        line.clear();
        assert!(lines.read_line(&mut line).expect("it prints text") > 0, "it ended too early: {text}");
        text.push_str(&line);
    }
    interrupt(&child);
    lines.read_to_string(&mut text).expect("it prints text");
    ended(child, text)
}

/// The same for a command that prints nothing before its end: it is asked as soon as it listens.
#[cfg(target_os = "linux")]
#[track_caller]
fn end_early(directory: &Path, arguments: &[&str]) -> Ended {
    let mut child = sim(directory, arguments).stdout(Stdio::piped()).spawn().expect("it starts");
    while !is_listening(&child) {
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended too early");
        std::thread::yield_now();
    }
    interrupt(&child);
    let mut text = String::new();
    child.stdout.take().expect("its output is piped").read_to_string(&mut text).expect("it prints text");
    ended(child, text)
}

/// Whether the program has a handler of its own for SIGTERM, which it takes behind all that it has for SIGINT.
#[cfg(target_os = "linux")]
fn is_listening(child: &Child) -> bool {
    const SIGTERM_BIT: u64 = 1 << 14;
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it is there");
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("every process has it");
    u64::from_str_radix(caught.trim(), 16).expect("a mask is hexadecimal") & SIGTERM_BIT != 0
}

fn interrupt(child: &Child) {
    let asked = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(asked.success(), "it ended too early");
}

fn ended(mut child: Child, text: String) -> Ended {
    let status = child.wait().expect("it is ours").code();
    let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    Ended { status, lines, text }
}

fn scenarios() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios").to_owned()
}

fn has_type(name: &str) -> impl Fn(&str) -> bool {
    let start = format!("\"type\":\"{name}\"");
    move |line| line.contains(&start)
}

#[track_caller]
fn names(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|name| name.as_str().expect("a name")).collect()
}

#[test]
fn scenarios_that_were_run_are_told_and_the_others_are_named() {
    let directory = scratch();
    let all = scenarios();
    let ended = end_at(directory.path(), &["scenarios", &all, "--json"], &has_type("scenario"));
    let last = ended.last();
    assert_eq!((ended.status, &last["exit"], &last["interrupted"]), (Some(130), &130.into(), &true.into()));
    let left = names(&last["not_run"]);
    let ran = ended.lines.iter().filter(|line| line["type"] == "scenario").count();
    assert!(!left.is_empty() && last["scenarios"] == ran, "{last}");
    let text = end_at(directory.path(), &["scenarios", &all], &|line| line.contains("pass")).text;
    assert!(text.contains("CUT  interrupted: ") && text.contains(" scenarios were not run, from"), "{text}");
    assert!(text.contains("Summary"), "{text}");
}

#[test]
fn a_self_check_names_the_parts_that_it_did_not_run() {
    let directory = scratch();
    let ended = end_at(directory.path(), &["self-check", "--json"], &has_type("self-check"));
    let last = ended.last();
    assert_eq!((ended.status, &last["exit"], &last["interrupted"]), (Some(130), &130.into(), &true.into()));
    let left = names(&last["not_run"]);
    assert!(left.ends_with(&["determinism", "reach"]), "{left:?}");
    assert_eq!(ended.lines.len() as u64, last["parts"].as_u64().expect("a number") + 1);
    let text = end_at(directory.path(), &["self-check"], &|line| line.contains("held")).text;
    assert!(text.contains("CUT  interrupted: ") && text.contains("what ran held"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_sweep_names_the_subjects_that_it_did_not_come_to_the_end_of() {
    let directory = scratch();
    let path = directory.path();
    std::os::unix::fs::symlink(scenarios(), path.join("scenarios")).expect("the name is free");
    let ended = end_early(path, &["sweep", "--all", "--json"]);
    let last = ended.last();
    assert_eq!((ended.status, &last["exit"], &last["interrupted"]), (Some(130), &130.into(), &true.into()));
    assert_eq!(last["complete"], false);
    assert!(names(&last["incomplete"]).iter().all(|name| name.starts_with("scenarios/")), "{last}");
    let ended = end_early(path, &["sweep", "--all"]);
    assert_eq!(ended.status, Some(130));
    let text = ended.text;
    assert!(
        text.contains("CUT  interrupted: not all variants of ") && text.contains("NOT complete"),
        "{text}"
    );
    let ended = end_early(path, &["sweep", "--host", "--json"]);
    assert_eq!(ended.status, Some(130));
    assert!(ended.lines.iter().all(|line| line["interrupted"] == true), "{}", ended.text);
}

/// Steps enough for a shrinking that takes minutes.
#[cfg(target_os = "linux")]
fn long_failure() -> String {
    let step = |batch: u64| {
        format!(
            "    append \"1/1/0\" batch={batch}\n    flush \"1/1/0\"\n    poll \"1/1/0\" from=0 count=1\n"
        )
    };
    let steps = (0..60).map(step).collect::<Vec<String>>().concat();
    format!(
        "scenario \"a long one\" version=1\nworld filesystem=\"xfs\" regime=\"legal\" {{\n    \
         partition \"1/1/0\" durability=\"synced\"\n}}\nsteps {{\n{steps}    stop\n    start\n    \
         expect \"1/1/0\" disposition=\"serve\" next-offset=61\n}}\n"
    )
}

#[cfg(target_os = "linux")]
#[test]
fn what_was_shrunk_by_then_is_kept_and_verified() {
    let directory = scratch();
    let path = directory.path();
    fs::write(path.join("long.kdl"), long_failure()).expect("it takes bytes");
    let limits = ["--seconds", "600", "--runs", "100000000"];
    let ended =
        end_early(path, &[&["shrink", "long.kdl", "-o", "short.kdl", "--json"][..], &limits].concat());
    let last = ended.last();
    assert_eq!(
        (ended.status, &last["interrupted"], &last["cut_short"]),
        (Some(130), &true.into(), &true.into())
    );
    assert_eq!(last["verified"], true);
    assert_eq!(run(path, &["scenarios", "short.kdl"]).status.code(), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn verdicts_that_were_compared_are_told_and_the_others_are_counted() {
    let directory = scratch();
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../snapshots/seeds.snap");
    let ended = end_early(directory.path(), &["verdicts", "--against", kept, "--json"]);
    let last = ended.last();
    assert_eq!((ended.status, &last["interrupted"]), (Some(130), &true.into()));
    let number = |name: &str| last[name].as_u64().expect("a number");
    let pinned = PINNED.alone + PINNED.hosts;
    assert!(number("not_run") > 0 && number("compared") + number("not_run") == pinned, "{last}");
}

/// Stands in for cargo: it builds a program that finds the bug where one is planted, and the third time it asks whoever
/// runs it to end.
const COMPILER: &str = r#"#!/bin/sh
mkdir -p "$CARGO_TARGET_DIR/mutants"
echo >> "$CARGO_TARGET_DIR/../built"
program="$CARGO_TARGET_DIR/mutants/sim"
echo '#!/bin/sh' > "$program"
if grep -q wrong sim/src/lib.rs; then
    echo "echo '{\"type\":\"failure\",\"check\":\"I06\",\"seed\":1}'" >> "$program"
fi
chmod +x "$program"
[ $(wc -l < "$CARGO_TARGET_DIR/../built") -ne 3 ] || kill -INT $PPID
"#;

/// Three planted bugs, a scenario, and that compiler.
fn set_mutants(path: &Path) {
    let put = |name: &str, text: &str| {
        let file = path.join(name);
        fs::create_dir_all(file.parent().expect("a file is in a directory")).expect("it can be made");
        fs::write(file, text).expect("it takes bytes");
    };
    put("compiler/cargo", COMPILER);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path.join("compiler/cargo"), executable).expect("it is ours");
    put("sim/src/lib.rs", "right\n");
    put("scenarios/whole.kdl", include_str!("../../../scenarios/findings/f37-no-next-offset.kdl"));
    for name in ["first", "second", "third"] {
        let text = format!(
            "mutant \"{name}\" target=\"core\" version=1\nstory \"a bug\"\nreplace file=\"sim/src/lib.rs\" {{\n    \
             find \"right\"\n    with \"wrong\"\n}}\nkilled-by \"I06\"\n"
        );
        put(&format!("sim/mutants/{name}.kdl"), &text);
    }
}

fn with_compiler(path: &Path, arguments: &[&str]) -> std::process::Output {
    let mut variable = path.join("compiler").into_os_string();
    variable.push(":");
    variable.push(std::env::var_os("PATH").unwrap_or_default());
    sim(path, arguments).env("PATH", variable).output().expect("it runs")
}

/// The first build is of the sources without a bug, the third that of the second bug.
#[test]
fn planted_bugs_that_were_judged_are_told_and_the_others_are_named() {
    let directory = scratch();
    let path = directory.path();
    set_mutants(path);
    let output = with_compiler(path, &["mutants", "--json"]);
    let last = summary(&output);
    assert_eq!((output.status.code(), &last["interrupted"]), (Some(130), &true.into()));
    assert_eq!((&last["planted"], &last["killed"]), (&1.into(), &1.into()));
    assert_eq!(names(&last["not_run"]), ["second", "third"]);
    let source = fs::read_to_string(path.join("target/mutants/tree/sim/src/lib.rs")).expect("it is there");
    assert_eq!(source, "right\n", "the bug in flight was taken out");
    fs::remove_file(path.join("target/mutants/built")).expect("it is there");
    let text = String::from_utf8(with_compiler(path, &["mutants"]).stdout).expect("it prints text");
    assert!(text.contains("CUT  interrupted: 2 planted bugs were not run, from second on"), "{text}");
}

/// The self-check stands before the seeds, so the seeds are not run, nor what stands behind them. Whoever goes on has
/// the kill table ended, which stands behind the seeds, and goes on again to the end: what has run is not run again.
#[test]
fn a_profile_says_which_of_its_parts_were_not_run_until_all_were() {
    let directory = scratch();
    let path = directory.path();
    set_mutants(path);
    let night =
        ["run", "--profile", "nightly", "--from-seed", "7", "--seeds", "4", "--size", "small", "--json"];
    let ended = end_at(path, &night, &has_type("self-check"));
    let first = ended.last();
    assert_eq!((ended.status, &first["exit"], &first["interrupted"]), (Some(130), &130.into(), &true.into()));
    assert_eq!((&first["seeds"], &first["not_run"]["seeds"]), (&0.into(), &4.into()));
    assert_eq!(names(&first["not_run"]["parts"]), ["kill-table", "sweeps"]);
    assert_eq!(parts(first), [("self-check", 130)]);
    let took = first["parts"][0]["seconds"].as_f64().expect("a number");
    assert!(first["seconds"].as_f64().expect("a number") >= took, "its time counts");

    let resume = ["run", "--resume", "target/sim", "--json"];
    let output = with_compiler(path, &resume);
    let second = summary(&output);
    assert_eq!((output.status.code(), &second["interrupted"]), (Some(130), &true.into()));
    assert_eq!(parts(&second), [("self-check", 0), ("kill-table", 130)]);
    assert_eq!((&second["seeds"], names(&second["not_run"]["parts"])), (&4.into(), vec!["sweeps"]));

    let output = with_compiler(path, &resume);
    let third = summary(&output);
    assert_eq!(parts(&third), [("self-check", 0), ("kill-table", 0), ("sweeps", 0)]);
    assert_eq!(third["parts"][0], second["parts"][0], "it is not run again");
    assert_eq!(
        (output.status.code(), &third["interrupted"], &third["seeds"]),
        (Some(0), &false.into(), &4.into())
    );
    assert_eq!(names(&third["not_run"]["parts"]), [""; 0]);
    for line in [first, &second, &third] {
        assert_eq!((&line["scenarios"]["passed"], &line["scenarios"]["failed"]), (&1.into(), &0.into()));
    }
}

/// What ran beside the seeds, and how it ended.
fn parts(summary: &Value) -> Vec<(&str, u64)> {
    let list = summary["parts"].as_array().expect("a list");
    let name = |part: usize| list[part]["name"].as_str().expect("a name");
    let exit = |part: usize| list[part]["exit"].as_u64().expect("a status");
    (0..list.len()).map(|part| (name(part), exit(part))).collect()
}

#[test]
fn a_run_that_nobody_reads_is_no_success() {
    let directory = scratch();
    let (reader, writer) = std::io::pipe().expect("a pipe can be made");
    drop(reader);
    let arguments = ["run", "--from-seed", "1", "--seeds", "8", "--size", "small", "--out", "run"];
    let status = sim(directory.path(), &arguments).stdout(writer).status().expect("it starts");
    assert_eq!(status.code(), Some(130));
}
