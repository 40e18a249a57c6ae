//! Partitions that the caller may not read: an error, and never evidence.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{Run, check, image};
use crate::fixture::Fixture;

/// A user who owns nothing, to be where the tests run as root, who may read everything.
const NOBODY: u32 = 65_534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Runs `recover` as somebody whom modes bind.
fn as_nobody(fixture: &Fixture, words: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recover"));
    if fs::metadata(fixture.path()).unwrap().uid() == 0 {
        // The build's own directory may be closed to others.
        let program = fixture.path().join("recover");
        fs::copy(env!("CARGO_BIN_EXE_recover"), &program).unwrap();
        set_mode(fixture.path(), 0o755);
        command = Command::new(program);
        command.uid(NOBODY);
    }
    let partition = fixture.partition_path();
    let way = partition.strip_prefix(fixture.path()).unwrap();
    command.args(words).arg(way).current_dir(fixture.path()).stdin(Stdio::null());
    // Another test's child holds the copy open for a moment, between its fork and its own program.
    for _ in 0..1000 {
        match command.output() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(5));
            }
            output => return Run::new(&output.unwrap()),
        }
    }
    panic!("the copy of the program stays busy");
}

#[test]
fn a_log_that_may_not_be_read_makes_the_partition_unavailable() {
    let fixture = Fixture::headers();
    set_mode(&fixture.partition_path().join("00000000000000000000.log"), 0);
    let before = image_of_readable(&fixture);
    check(
        &as_nobody(&fixture, &["check"]),
        "\
exit 30
--- stdout
partition 2/0/0 in streams/2/topics/0/partitions/0
unavailable (io): open of 00000000000000000000.log failed with EACCES

N bytes read and N hashed, through the page cache; nothing was changed
hint: an error says nothing about the bytes; once it clears, run the command
      again
",
    );
    let run = as_nobody(&fixture, &["apply", "--json"]);
    assert_eq!(run.exit, 30);
    let object = run.object();
    assert_eq!(object["reason"]["code"], "io");
    assert_eq!(object["reason"]["error"], "EACCES");
    for unknown in ["segments", "messages", "next_offset", "others", "fenced"] {
        assert!(object[unknown].is_null(), "{unknown} is not known, and not 0");
    }
    assert!(image_of_readable(&fixture) == before, "nothing was changed");
}

#[test]
fn a_directory_that_may_not_be_listed_makes_the_partition_unavailable() {
    let fixture = Fixture::headers();
    set_mode(&fixture.partition_path(), 0);
    check(
        &as_nobody(&fixture, &["check"]),
        "\
exit 30
--- stdout
partition 2/0/0 in streams/2/topics/0/partitions/0
unavailable (io): open of 0 failed with EACCES
hint: an error says nothing about the bytes; once it clears, run the command
      again
",
    );
    set_mode(&fixture.partition_path(), 0o755);
}

#[test]
fn a_way_that_may_not_be_walked_makes_the_partition_unavailable() {
    let fixture = Fixture::headers();
    set_mode(&fixture.path().join("streams/2"), 0);
    check(
        &as_nobody(&fixture, &["check"]),
        "\
exit 30
--- stdout
partition 2/0/0 in streams/2/topics/0/partitions/0
unavailable (io): open of 2 failed with EACCES
hint: an error says nothing about the bytes; once it clears, run the command
      again
",
    );
    set_mode(&fixture.path().join("streams/2"), 0o755);
}

/// Everything in the directory that holds the partition directory, as far as the tests may read it.
fn image_of_readable(fixture: &Fixture) -> Vec<(PathBuf, Vec<u8>)> {
    let log = fixture.partition_path().join("00000000000000000000.log");
    set_mode(&log, 0o644);
    let image = image(fixture.partition_path().parent().unwrap());
    set_mode(&log, 0);
    image
}
