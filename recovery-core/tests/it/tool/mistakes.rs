//! Command lines that name nothing to work on.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Run, check, look};
use crate::fixture::Fixture;

#[test]
fn a_command_line_that_names_nothing_is_a_mistake() {
    let fixture = Fixture::headers();
    symlink("0", fixture.partition_path().with_file_name("link")).unwrap();
    check(
        &look(&fixture, "check DIR/../9"),
        "\
exit 2
--- stderr
error: there is no directory streams/2/topics/0/partitions/0/../9
",
    );
    check(
        &look(&fixture, "check DIR/00000000000000000000.log"),
        "\
exit 2
--- stderr
error: streams/2/topics/0/partitions/0/00000000000000000000.log is not a
       directory
hint: to look into one file, use recover inspect FILE
",
    );
    check(
        &look(&fixture, "check DIR/../link"),
        "\
exit 2
--- stderr
error: streams/2/topics/0/partitions/0/../link is a symbolic link, and none is
       followed
hint: give the path that the link points to
",
    );
    check(
        &look(&fixture, "check --json DIR/../9"),
        r#"exit 2
--- stdout
{"version":1,"error":{"code":"no-such-directory","sentence":"there is no directory streams/2/topics/0/partitions/0/../9"}}
--- stderr
error: there is no directory streams/2/topics/0/partitions/0/../9
"#,
    );
    check(
        &look(&fixture, "check --json"),
        r#"exit 2
--- stdout
{"version":1,"error":{"code":"command-line","sentence":"the following required arguments were not provided: <DIR>"}}
--- stderr
error: the following required arguments were not provided:
  <DIR>

Usage: recover check --json <DIR>

For more information, try '--help'.
"#,
    );
}

#[test]
fn any_directory_is_looked_at_under_a_namespace() {
    let fixture = Fixture::headers();
    fs::rename(fixture.partition_path(), fixture.path().join("copy")).unwrap();
    let run = Run::of(&fixture, "check --json copy");
    assert_eq!(run.exit, 2);
    assert_eq!(run.object()["error"]["code"], "no-namespace");
    assert_eq!(Run::of(&fixture, "check --json copy --namespace 2/0/0").exit, 0);
    let run = Run::of(&fixture, "check --json copy --namespace 2/0/1");
    assert_eq!(run.exit, 20);
    assert_eq!(run.object()["reason"]["code"], "foreign-batch");
}
