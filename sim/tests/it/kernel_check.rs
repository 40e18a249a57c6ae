//! The check against a real kernel, where nothing can be tried: it says so, and is never green.

use super::{run, scratch, sim, summary};

/// Whoever is not root is told so; root is told what is missing on an empty path.
#[test]
fn a_machine_that_lacks_something_is_told_so_and_ends_with_4() {
    let directory = scratch();
    for filesystem in ["ext4", "xfs"] {
        let arguments = ["kernel-check", "--filesystem", filesystem, "--runs", "10", "--from-seed", "1"];
        let mut command = sim(directory.path(), &[&arguments[..], &["--json"]].concat());
        let output = command.env("PATH", "").output().expect("the program runs");
        let summary = summary(&output);
        assert_eq!((output.status.code(), &summary["exit"]), (Some(4), &4.into()), "{filesystem}");
        let missing = summary["missing"].as_str().expect("something is missing");
        let is_known = ["root", "loop", "not on the path"].iter().any(|word| missing.contains(word));
        assert!(is_known, "{missing}");
        assert_eq!(summary["programs"], 0);
        let mut command = sim(directory.path(), &arguments);
        let output = command.env("PATH", "").output().expect("the program runs");
        assert_eq!(output.status.code(), Some(4));
        let text = String::from_utf8(output.stdout).expect("it prints text");
        assert!(text.contains("Nothing") && text.contains("could be tried"), "{text}");
    }
}

#[test]
fn a_filesystem_that_there_is_no_real_one_of_ends_with_2() {
    let directory = scratch();
    for arguments in [&["--filesystem", "btrfs"][..], &[]] {
        let output = run(directory.path(), &[&["kernel-check"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
