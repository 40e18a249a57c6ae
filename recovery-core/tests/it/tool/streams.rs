//! What goes to which stream, and in which form.

use std::process::{Command, Stdio};

use super::{Run, check, look};
use crate::fixture::Fixture;

#[test]
fn with_json_people_read_standard_error() {
    let fixture = Fixture::headers();
    let plain = look(&fixture, "check DIR");
    let json = look(&fixture, "--json check DIR");
    assert_eq!(json.stderr, plain.stdout);
    assert_eq!(plain.stderr, "");
}

#[test]
fn colour_is_shown_only_where_it_is_asked_for() {
    let fixture = Fixture::headers();
    let has_colour = |line: &str| look(&fixture, line).stdout.contains('\u{1b}');
    assert!(!has_colour("check DIR"), "a pipe is no terminal");
    assert!(!has_colour("check DIR --color never"));
    assert!(has_colour("check DIR --color always"));
}

#[test]
fn a_reader_that_goes_away_early_is_no_error() {
    let fixture = Fixture::headers();
    let mut child = Command::new(env!("CARGO_BIN_EXE_recover"))
        .arg("check")
        .arg(fixture.partition_path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let run = Run::new(&child.wait_with_output().unwrap());
    check(&run, "exit 0\n");
}
