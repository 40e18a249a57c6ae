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
