//! Every way in which a run can end that needs no planted bug: exit code and summary together.

use std::fs;

use super::{run, scratch, sim, summary, wait_until_kept};

#[test]
fn a_run_that_holds_ends_with_0_and_leaves_its_outputs() {
    let directory = scratch();
    let path = directory.path();
    let arguments = ["run", "--json", "--from-seed", "7", "--seeds", "20", "--size", "small"];
    let outputs = ["--html", "page/a.html", "--junit", "junit.xml", "--out", "out"];
    let output = run(path, &[&arguments[..], &outputs].concat());
    let summary = summary(&output);
    assert_eq!((output.status.code(), &summary["exit"]), (Some(0), &0.into()));
    assert_eq!(summary["planted"]["fate"], "found");
    let page = fs::read_to_string(path.join("page/a.html")).expect("it was written");
    assert!(page.contains("All held in 20 worlds"));
    // Nothing is fetched, and nothing runs.
    for word in ["http://", "https://", "<script", "url(", "@import", "src="] {
        let allowed = if word == "url(" { page.matches("url(#hatch)").count() } else { 0 };
        assert_eq!(page.matches(word).count(), allowed, "{word}");
    }
    let junit = fs::read_to_string(path.join("junit.xml")).expect("it was written");
    assert!(junit.contains("<testcase name=\"I06\"") && junit.contains("failures=\"0\""));
    assert!(path.join("out/planted/I05.decide.none/planted.kdl").is_file());
    // The planted failure replays as the world that it was put into, which holds.
    let replayed = run(path, &["replay", "out/planted/I05.decide.none/planted.kdl"]);
    assert_eq!(replayed.status.code(), Some(0));
}

#[test]
fn a_run_of_nothing_ends_with_4() {
    let directory = scratch();
    let output = run(directory.path(), &["run", "--json", "--seeds", "0"]);
    assert_eq!((output.status.code(), &summary(&output)["exit"]), (Some(4), &4.into()));
    let arguments = ["run", "--json", "--from-seed", "7", "--seeds", "1", "--shard", "2/2"];
    assert_eq!(run(directory.path(), &arguments).status.code(), Some(4));
}

#[test]
fn a_run_that_time_cut_short_says_so_and_is_run_again_as_far_as_it_came() {
    let directory = scratch();
    let path = directory.path();
    let asked = ["run", "--from-seed", "7", "--seeds", "100000000", "--seconds", "1", "--size", "small"];
    let output = run(path, &asked);
    let text = String::from_utf8(output.stdout).expect("it prints text");
    assert_eq!(output.status.code(), Some(0), "{text}");
    let lines = fs::read_to_string(path.join("target/sim/run.jsonl")).expect("it was written");
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["cut_by_time"], 100_000_000);
    let seeds = &last["seeds"];
    assert!(text.contains(&format!("CUT  by time, {seeds} of 100000000 seeds ran")), "{text}");
    assert!(
        text.contains(&format!("again   cargo sim run --from-seed 0x7 --seeds {seeds} --size small")),
        "{text}"
    );
    // What goes on to its end is cut by nothing.
    let more = (seeds.as_u64().expect("a number") + 1).to_string();
    let resumed = summary(&run(path, &["run", "--json", "--resume", "target/sim", "--seeds", &more]));
    assert_eq!(resumed["cut_by_time"], serde_json::Value::Null);
}

#[test]
fn a_command_line_that_is_wrong_ends_with_2() {
    let directory = scratch();
    let path = directory.path();
    for arguments in [
        &["--profile", "pm"][..],
        &["--profile", "pr"],
        &["--shard", "3/2"],
        &["--shard", "env"],
        &["--shard", "1/2"],
        &["--known", "nowhere.toml"],
        &["--resume", "out", "--size", "small"],
    ] {
        let output = run(path, &[&["run"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn what_cannot_be_written_is_told_in_one_sentence_and_ends_with_2() {
    let directory = scratch();
    let path = directory.path();
    fs::write(path.join("file"), "").expect("it takes bytes");
    let output = run(path, &["run", "--seeds", "1", "--size", "small", "--out", "file/below"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).expect("it prints text");
    let start = "error: what the program shows or keeps could not be written: ";
    assert!(told.starts_with(start) && told.lines().count() == 1 && output.stdout.is_empty(), "{told}");
}

#[test]
fn a_sweep_of_nothing_is_told_what_can_be_swept() {
    let directory = scratch();
    let output = run(directory.path(), &["sweep"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).expect("it prints text");
    assert!(["a token or a file", "--all", "--host"].iter().all(|word| told.contains(word)), "{told}");
}

#[test]
fn a_scheduler_says_which_shard_this_is() {
    let directory = scratch();
    let arguments =
        ["run", "--json", "--from-seed", "7", "--seeds", "20", "--size", "small", "--shard", "env"];
    let mut command = sim(directory.path(), &arguments);
    let output = command.env("CI_NODE_INDEX", "2").env("CI_NODE_TOTAL", "4").output().expect("it runs");
    let first = String::from_utf8_lossy(&output.stdout).lines().next().expect("a line").to_owned();
    assert!(first.contains("\"shard\":{\"index\":2,\"count\":4}"), "{first}");
    assert_eq!(summary(&output)["seeds"], 5);
}

#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_keeps_what_it_found() {
    use std::process::{Command, Stdio};

    let directory = scratch();
    let path = directory.path();
    let arguments =
        ["run", "--json", "--from-seed", "7", "--failures", "1", "--size", "small", "--out", "out"];
    let mut child = sim(path, &arguments).stdout(Stdio::piped()).spawn().expect("it starts");
    wait_until_kept(&mut child, &path.join("out"));
    let asked = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("it is there");
    assert!(asked.success());
    let output = child.wait_with_output().expect("it is ours");
    let summary = summary(&output);
    assert_eq!((output.status.code(), &summary["interrupted"]), (Some(130), &true.into()));
    assert!(summary["seeds"].as_u64().is_some_and(|seeds| seeds > 0));
}
