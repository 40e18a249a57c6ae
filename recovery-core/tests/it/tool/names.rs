//! What the names in a directory make of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::{Run, check, look};
use crate::fixture::Fixture;

/// Makes an entry at a path.
type Make = fn(&Path);

#[test]
fn a_name_ending_in_log_that_is_no_segment_is_refused() {
    let entries: [(&str, Make); 4] = [
        ("5.log", |path| fs::write(path, b"").unwrap()),
        ("00000000000000000500.log", |path| fs::create_dir(path).unwrap()),
        ("00000000000000000500.log", |path| symlink("00000000000000000000.log", path).unwrap()),
        ("00000000000000000500.log", |path| {
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
    ];
    let told: Vec<String> = entries
        .into_iter()
        .map(|(entry, make)| {
            let fixture = Fixture::headers();
            make(&fixture.partition_path().join(entry));
            // Reading a FIFO would wait for its other end, so its image is not taken.
            let run = Run::of(&fixture, "check --json DIR");
            assert_eq!(run.exit, 20);
            run.object()["reason"].to_string()
        })
        .collect();
    assert_eq!(
        told.join("\n"),
        r#"{"code":"unexpected-file","file":"5.log","files":1,"kind":"file","sentence":"the entry 5.log ends in .log and is not named by the 20 digits of an offset (1 such in all)"}
{"code":"unexpected-file","file":"00000000000000000500.log","files":1,"kind":"directory","sentence":"the entry 00000000000000000500.log has the name of a file of the log and is a directory (1 such in all)"}
{"code":"unexpected-file","file":"00000000000000000500.log","files":1,"kind":"other","sentence":"the entry 00000000000000000500.log has the name of a file of the log and is a link, a pipe or a device, which is not followed (1 such in all)"}
{"code":"unexpected-file","file":"00000000000000000500.log","files":1,"kind":"other","sentence":"the entry 00000000000000000500.log has the name of a file of the log and is a link, a pipe or a device, which is not followed (1 such in all)"}"#
    );
}

#[test]
fn an_empty_log_is_an_empty_segment() {
    let fixture = Fixture::headers();
    let log = fixture.partition_path().join("00000000000000000180.log");
    fs::write(&log, b"").unwrap();
    let run = look(&fixture, "check --json DIR");
    assert_eq!(run.exit, 10, "its index is missing");
    assert_eq!(run.object()["next_offset"], 180);
    assert_eq!(
        run.object()["segments"][1].to_string(),
        r#"{"action":"rebuild-index","batches":0,"end_offset":null,"evidence":"unknown","index":"absent","log_bytes":0,"messages":0,"proven_bytes":0,"residue":"none","saved_bytes":0,"start_offset":180,"stop":"end"}"#
    );
}

#[test]
fn an_index_without_a_log_is_scratch() {
    let fixture = Fixture::headers();
    fs::write(fixture.partition_path().join("00000000000000000500.index"), b"x").unwrap();
    check(
        &look(&fixture, "plan DIR"),
        "\
exit 10
--- stdout
partition 2/0/0 in streams/2/topics/0/partitions/0
serve: 180 messages proven in 1 segment, next offset 180, a repair is due

  00000000000000000000  whole  58062 bytes, 180 messages, offsets 0 to 179

scratch: 00000000000000000500.index
left alone: offsets/

steps
     1  identify          read 00000000000000000500.index, to name its copy
     2  make-fence        look for copies of an earlier run, else make a fence
     3  write-reason      write into the fence's REASON.toml what each copy is
     4  sync-fence        make the names in the fence durable
     5  set-aside         move 00000000000000000500.index into the fence
     6  sync-fence        make the names in the fence durable
     7  sync-directory    make the names in the partition directory durable

N bytes read and N hashed, through the page cache; nothing was changed
hint: recover apply streams/2/topics/0/partitions/0 takes these steps
",
    );
}
