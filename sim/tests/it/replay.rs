//! A failing schedule as a person works with it: replayed, looked into, shrunk, and kept.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use super::{run, scratch};

/// What fails is an expectation that is wrong on purpose: no bug has to be planted for it.
const FAILING: &str = r#"
scenario "more is expected than was written" version=1
world filesystem="xfs" regime="unlimited" {
    partition "4/2/7" durability="synced"
}
steps {
    append "4/2/7" batch=5 messages=2 payload=300
    flush "4/2/7"
    poll "4/2/7" from=0 count=2
    crash "power" survive="none"
    start
    expect "4/2/7" next-offset=9
}
"#;

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (text(&output.stdout), text(&output.stderr))
}

fn file(directory: &Path) {
    fs::write(directory.join("fails.kdl"), FAILING).expect("it takes a file");
}

#[track_caller]
fn check_mistake(directory: &Path, arguments: &[&str], (status, words): (i32, &str)) {
    let output = run(directory, arguments);
    let (out, err) = texts(&output);
    assert_eq!((output.status.code(), out.as_str()), (Some(status), ""), "{err}");
    assert!(err.starts_with("error: ") && err.contains(words), "{err}");
}

#[test]
fn a_failure_is_shrunk_to_a_file_that_is_left_as_it_is() {
    let directory = scratch();
    let path = directory.path();
    file(path);
    let shrunk = run(path, &["shrink", "fails.kdl", "-o", "short.kdl", "--seconds", "600"]);
    let (out, _) = texts(&shrunk);
    assert_eq!(shrunk.status.code(), Some(0), "{out}");
    assert!(out.contains("Before  5 steps, of them 0 faults; 1 batch of 600 payload bytes"), "{out}");
    assert!(out.contains("After  4 steps, of them 0 faults; 1 batch of 200 payload bytes"), "{out}");
    let short = fs::read_to_string(path.join("short.kdl")).expect("it was written");
    assert!(
        short.contains("append \"1/1/0\" batch=0 messages=2\n") && short.contains("crash \"os\" survive="),
        "{short}"
    );
    assert_eq!(run(path, &["replay", "short.kdl"]).status.code(), Some(1));
    assert_eq!(
        run(path, &["shrink", "short.kdl", "-o", "again.kdl", "--seconds", "600"]).status.code(),
        Some(0)
    );
    assert_eq!(fs::read_to_string(path.join("again.kdl")).expect("it was written"), short);
}

#[test]
fn a_replay_leaves_disks_as_files() {
    let directory = scratch();
    let path = directory.path();
    file(path);
    let arguments = ["replay", "fails.kdl", "--until", "1", "--dump", "disks"];
    assert_eq!(run(path, &arguments).status.code(), Some(0));
    let log = |view: &str| {
        let below = "streams/4/topics/2/partitions/7/00000000000000000000.log";
        fs::metadata(path.join("disks/node-0").join(view).join(below)).expect("it was written").len()
    };
    assert_eq!((log("visible"), log("durable")), (952, 952));
    check_mistake(path, &arguments, (2, "disks is not empty"));
}

#[test]
fn a_replay_goes_step_by_step() {
    let directory = scratch();
    file(directory.path());
    let output = run(directory.path(), &["replay", "fails.kdl", "--step", "--until", "4"]);
    let (out, _) = texts(&output);
    assert_eq!(output.status.code(), Some(0));
    let strips: Vec<&str> = out.lines().filter(|line| line.contains("node 0 4/2/7 segment 0 ")).collect();
    // What is not flushed is not there.
    let there: Vec<bool> = strips.iter().map(|strip| strip.contains("PPPP")).collect();
    assert_eq!(there, [false, true, true, true, true], "{out}");
    assert!(!out.contains("  step 5"), "{out}");
}

/// Runs a replay of a story, and gives what a person reads.
#[track_caller]
fn told(story: &str, arguments: &[&str]) -> String {
    let directory = scratch();
    fs::write(directory.path().join("story.kdl"), story).expect("it takes a file");
    let output = run(directory.path(), &[&["replay", "story.kdl"], arguments].concat());
    texts(&output).0
}

#[test]
fn a_part_of_what_is_recorded_as_failing_says_nothing_of_it() {
    let origin = "\norigin token=\"tm1-1-rmfasmn1-g1-unknown\" check=\"expect\"\nworld";
    let story = FAILING.replacen("\nworld", origin, 1);
    assert!(told(&story, &[]).contains("reproduced: yes, as recorded"));
    let part = told(&story, &["--until", "1"]);
    assert!(part.contains("reproduced: unknown, as this is no more than steps 0 to 1"), "{part}");
    let mended = told(&story.replace("next-offset=9", "next-offset=2"), &[]);
    assert!(mended.contains("reproduced: no, it is recorded as failing"), "{mended}");
}

#[test]
fn where_a_fault_was_left_out_stands_that_it_was() {
    let fault = "start\n    fault \"noise\" \"4/2/7\" batch=5\n    crash \"process\"\n    start\n";
    let story = FAILING.replacen("start\n", fault, 1);
    let whole = told(&story, &[]);
    assert!(whole.contains("noise@5") && whole.contains("not needed"), "{whole}");
    let without = told(&story, &["--without", "noise", "--full"]);
    assert!(without.contains("step 5  a fault that is left out"), "{without}");
    assert!(!without.contains("1048575"), "{without}");
    assert!(!without.contains("should be met and is missed"), "{without}");
}

#[test]
fn a_shorter_story_says_what_broke_and_what_it_is_about_while_it_expects_the_same() {
    let ids = "\nstory \"prose\"\nfinding \"F01\"\nworld";
    let story = FAILING.replacen("\nworld", ids, 1);
    let directory = scratch();
    let path = directory.path();
    fs::write(path.join("story.kdl"), story).expect("it takes a file");
    let arguments = ["shrink", "story.kdl", "-o", "short.kdl", "--seconds", "600"];
    assert_eq!(run(path, &arguments).status.code(), Some(0));
    let kept = fs::read_to_string(path.join("short.kdl")).expect("it was written");
    assert!(kept.starts_with("scenario \"the next offset is not what is expected, after a kernel crash\""));
    assert!(kept.contains("story \"prose\"\nfinding \"F01\"\n"), "{kept}");
}

/// What is acknowledged, and what is durable by then, is told in the order in which it happened.
#[test]
fn events_of_a_step_are_told_in_the_order_in_which_they_happened() {
    let flush = "flush \"4/2/7\"";
    let fault = "flush \"4/2/7\" {\n        fault \"sync-failure\" on=\"sync\" call=1\n    }";
    let lines = |out: &str, words: [&str; 3]| {
        let at = words.map(|word| out.find(word).unwrap_or_else(|| panic!("no {word}: {out}")));
        assert!(at.is_sorted(), "{out}");
    };
    let log = "4/2/7/00000000000000000000.log";
    let (write, sync) = (format!("- write {log}"), format!("- sync {log}"));
    let whole = told(FAILING, &["--full"]);
    lines(&whole, [&write, &sync, "- 4/2/7: acknowledged below offset 2"]);
    let hit = format!("- sync-failure hits a call: sync of {log}");
    let failed = told(&FAILING.replacen(flush, fault, 1), &["--full"]);
    lines(&failed, [&write, &hit, "- 4/2/7: failed with"]);
    let json = told(FAILING, &["--json"]);
    lines(&json, [&write[2..], &sync[2..], "4/2/7: acknowledged below offset 2"]);
}

/// Two nodes with hosts, and an expectation that is wrong on purpose.
const HOSTED: &str = r#"
scenario "more is expected than was written" version=1
world filesystem="xfs" regime="unlimited" nodes=2 {
    partition "1/1/0" durability="synced"
}
steps {
    append "1/1/0" batch=0
    flush "1/1/0"
    crash "process"
    start
    expect "1/1/0" next-offset=9
}
"#;

#[test]
fn a_world_with_hosts_goes_on_behind_its_last_step_and_names_its_nodes() {
    let rest = "then  faults end, links come up, and every node starts";
    let steps = told(HOSTED, &["--step"]);
    let (before, behind) = steps.split_once(rest).unwrap_or_else(|| panic!("no rest: {steps}"));
    assert!(before.contains("> node 0: 1/1/0: serve, next offset 1"), "{steps}");
    // What lies there in the end is shown behind it.
    assert!(behind.contains("node 1 1/1/0 segment 0 "), "{steps}");
    assert!(!told(HOSTED, &["--step", "--until", "4"]).contains(rest));
    assert_eq!(told(HOSTED, &["--step", "--until", "5"]), steps);
    let directory = scratch();
    fs::write(directory.path().join("story.kdl"), HOSTED).expect("it takes a file");
    let words = "no step 6\nhint: its last one is 4, and 5 is what the nodes do behind it";
    check_mistake(directory.path(), &["replay", "story.kdl", "--until", "6"], (2, words));
    let explained = told(HOSTED, &[]);
    assert!(explained.contains("the log of segment 0 on node 0"), "{explained}");
}

/// What wrote the bytes is shown, however many starts follow.
#[test]
fn what_wrote_the_bytes_keeps_its_place_in_a_long_timeline() {
    let crashes = "    crash \"process\"\n    start\n".repeat(8);
    let story = FAILING.replacen("    expect", &format!("{crashes}    expect"), 1);
    let out = told(&story, &[]);
    let timeline = out.split_once("Timeline").and_then(|(_, rest)| rest.split_once("Strip"));
    let (timeline, _) = timeline.unwrap_or_else(|| panic!("no timeline: {out}"));
    let rows =
        ["append \"4/2/7\"", "1 flush", "- write 4/2/7/", "- 4/2/7: acknowledged below offset 2", "expect"];
    let at = rows.map(|row| timeline.find(row).unwrap_or_else(|| panic!("no {row}: {timeline}")));
    assert!(at.is_sorted(), "{timeline}");
    assert!(timeline.contains("rows are left out") && timeline.lines().count() < 26, "{timeline}");
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let directory = scratch();
    let path = directory.path();
    file(path);
    fs::write(path.join("holds.kdl"), FAILING.replace("next-offset=9", "next-offset=2"))
        .expect("it takes a file");
    let shrink = ["shrink", "holds.kdl", "-o", "short.kdl"];
    check_mistake(path, &shrink, (4, "nothing to shrink\nhint: cargo sim replay holds.kdl"));
    assert!(!path.join("short.kdl").exists());
    let shrink = ["shrink", "fails.kdl", "-o", "nowhere/short.kdl"];
    check_mistake(path, &shrink, (2, "there is no directory nowhere"));
    check_mistake(path, &["shrink", "fails.kdl", "-o", "."], (2, "is a directory\nhint: "));
    let shrink = ["shrink", "fails.kdl", "-o", "./fails.kdl"];
    check_mistake(
        path,
        &shrink,
        (2, "is what is to be shrunk: it is not written over\nhint: name a new file"),
    );
    check_mistake(
        path,
        &["replay", "fails.kdl", "--until", "99"],
        (2, "no step 99\nhint: its last one is 5"),
    );
    let without = ["replay", "fails.kdl", "--without", "noise"];
    check_mistake(path, &without, (2, "no fault noise\nhint: it has none"));
    check_mistake(path, &["replay", "tm1-nothing"], (2, "no file of that name"));
}

/// What `docs/replaying.md` shows as failing is planted: without the bug every story of it holds.
#[test]
fn the_stories_of_the_page_hold_without_the_bug() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/replaying.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let stories: Vec<&str> =
        page.split("```kdl\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(stories.len(), 3);
    let directory = scratch();
    for story in stories {
        fs::write(directory.path().join("story.kdl"), story).expect("it takes a file");
        let output = run(directory.path(), &["scenarios", "story.kdl"]);
        assert_eq!(output.status.code(), Some(0), "{story}{:?}", texts(&output));
    }
}

/// What fails is of one partition, and all that goes wrong befalls the other one.
const BESIDE: &str = r#"
scenario "a partition fails beside one that is damaged" version=1
world filesystem="ext4-ordered" regime="unlimited" {
    partition "1/1/0" durability="buffered" ledger=#false
    partition "1/2/0" durability="buffered" ledger=#false
}
steps {
    append "1/1/0" batch=0 count=2
    flush "1/1/0"
    append "1/2/0" batch=10 count=2
    flush "1/2/0"
    crash "process"
    fault "shorn-write" "1/2/0" batch=11 bytes=300
    fault "transient-read-corruption" "1/2/0" batch=10
    start
    expect "1/1/0" disposition="refuse" reason="hole"
}
"#;

#[test]
fn the_timeline_of_a_partition_has_nothing_of_another_one() {
    let directory = scratch();
    fs::write(directory.path().join("beside.kdl"), BESIDE).expect("it takes a file");
    let (out, err) = texts(&run(directory.path(), &["replay", "beside.kdl", "--json"]));
    let line: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    let rows = line["explanation"]["timeline"].as_array().expect("there are rows");
    let said: Vec<&str> = rows.iter().filter_map(|row| row["sentence"].as_str()).collect();
    let of_segments: Vec<&&str> = said.iter().filter(|row| row.starts_with("segment ")).collect();
    assert_eq!(of_segments, [&"segment 0: keep"]);
    assert!(!said.iter().any(|row| row.contains("1/2/0")), "{said:?}");
    // The whole world has both.
    let (out, _) = texts(&run(directory.path(), &["replay", "beside.kdl", "--full"]));
    assert!(out.contains("cut at byte 404") && out.contains("hits a call"), "{out}");
}
