//! What goes to which stream, and in which form.

use std::fs::OpenOptions;
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

/// Runs `apply --json` on a torn partition with standard output or standard error on a full device.
fn with_a_full_device(is_full: impl Fn(&mut Command, Stdio)) -> (Fixture, Run) {
    let fixture = Fixture::torn_tail();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_recover"));
    command.args(["apply", "--json"]).arg(fixture.partition_path()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    is_full(&mut command, full.into());
    let run = Run::new(&command.spawn().unwrap().wait_with_output().unwrap());
    (fixture, run)
}

#[test]
fn with_json_the_object_is_printed_even_if_the_text_cannot_be() {
    let (_fixture, run) = with_a_full_device(|command, full| {
        command.stderr(full);
    });
    assert_eq!(run.exit, 10);
    assert_eq!(run.object()["disposition"], "serve");
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error_and_the_repair_stays() {
    let (fixture, run) = with_a_full_device(|command, full| {
        command.stdout(full);
    });
    assert_eq!((run.exit, run.stdout.as_str()), (30, ""));
    let sentence = "error: the answer could not be written: No space left on device (os error 28)";
    assert_eq!(run.stderr.lines().last(), Some(sentence));
    assert_eq!(look(&fixture, "check DIR").exit, 0);
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
