//! Shards merged are the run that was not sharded.

use std::fs;
use std::path::Path;

use super::{bare, run, scratch, summary};

const RUN: [&str; 6] = ["--from-seed", "0xffffffffffffff00", "--seeds", "800", "--size", "small"];

/// Eight shards, each into a directory of its own below `name`.
fn shards(directory: &Path, name: &str) {
    for shard in 1..=8 {
        let (out, shard) = (format!("{name}/{shard}"), format!("{shard}/8"));
        let output =
            run(directory, &[&["run", "--json", "--out", &out, "--shard", &shard][..], &RUN].concat());
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(summary(&output)["seeds"], 100, "shards are equal work");
    }
}

#[test]
fn eight_shards_merged_are_the_run_that_was_not_sharded() {
    let directory = scratch();
    let path = directory.path();
    let whole = run(path, &[&["run", "--json", "--out", "whole"][..], &RUN].concat());
    shards(path, "shards");
    let merged = run(path, &["merge", "shards", "--json", "--out", "merged.jsonl"]);
    assert_eq!(merged.status.code(), Some(0));
    assert_eq!(bare(&summary(&merged)), bare(&summary(&whole)));

    // In any order, with repeats, in one file, and merged once more: the same, byte for byte.
    let file = |shard: u32| format!("shards/{shard}/run.jsonl");
    let files: Vec<String> = (1..=8).rev().chain([3, 3]).map(file).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let reversed = run(path, &[&["merge", "--json"], &files[..]].concat());
    assert_eq!(reversed.stdout, merged.stdout);
    let all: String = files.iter().map(|file| fs::read_to_string(path.join(file)).expect("it is")).collect();
    fs::write(path.join("all.jsonl"), all).expect("it takes bytes");
    assert_eq!(run(path, &["merge", "all.jsonl", "--json"]).stdout, merged.stdout);
    let again = run(path, &["merge", "merged.jsonl", "--json"]);
    assert_eq!(again.stdout, merged.stdout);
    assert_eq!(fs::read(path.join("merged.jsonl")).expect("it was written"), merged.stdout);

    // What a merge wrote among the shards is not one of them.
    let among = ["merge", "shards", "--json", "--out", "shards/merged.jsonl"];
    assert_eq!(run(path, &among).stdout, merged.stdout);
    assert_eq!(run(path, &among).stdout, merged.stdout);
    fs::remove_file(path.join("shards/merged.jsonl")).expect("it was written");

    refuses_what_is_no_run(path);
}

fn refuses_what_is_no_run(path: &Path) {
    let exit = |arguments: &[&str]| {
        let output = run(path, arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // A shard that is not there, or was cut short.
    let file = path.join("shards/5/run.jsonl");
    let lines = fs::read_to_string(&file).expect("it is there");
    let (begun, _) = lines.split_once("{\"type\":\"reach\"").expect("it came to its end");
    fs::write(&file, begun).expect("it takes bytes");
    let output = run(path, &["merge", "shards", "--json"]);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(summary(&output)["shards_missing"], serde_json::json!([5]));
    // One that says something else of the same seeds.
    let digest = summary(&run(path, &["merge", "shards/4", "--json"]))["shards"][0]["digest"].clone();
    let digest = digest.as_str().expect("a digest");
    let other = fs::read_to_string(path.join("shards/4/run.jsonl")).expect("it is there");
    fs::write(path.join("other.jsonl"), other.replace(digest, "0000000000000001")).expect("it takes bytes");
    let (code, errors) = exit(&["merge", "shards", "other.jsonl"]);
    assert_eq!(code, Some(3), "{errors}");
    assert!(errors.contains("the run digest of shard 4 is there twice, and not the same"), "{errors}");
    // Another version, another run, no run.
    fs::write(&file, lines.replace("\"version\":1", "\"version\":2")).expect("it takes bytes");
    let (code, errors) = exit(&["merge", "shards"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("line 1 has version 2"), "{errors}");
    fs::write(&file, lines.replace("\"from_seed\":18446744073709551360", "\"from_seed\":9"))
        .expect("it takes");
    let (code, errors) = exit(&["merge", "shards"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("these are shards of two runs: from_seed is"), "{errors}");
    assert_eq!(exit(&["merge", "nowhere"]).0, Some(2));
}
