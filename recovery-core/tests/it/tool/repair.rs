//! What `apply` does to a real partition, and what it leaves alone.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use recovery_core::storage::os::OsStorage;
use recovery_core::storage::{LockMode, PartitionDirectory};

use super::{Run, check, flip, image, look};
use crate::fixture::Fixture;
use crate::memory_storage::name;

const TORN_LOG: &str = "00000000000000000050.log";

/// Paths relative to the directory that holds the partition directory, of everything in it.
fn paths(fixture: &Fixture) -> Vec<String> {
    let parent = fixture.partition_path().parent().unwrap().to_owned();
    let relative = |path: &std::path::Path| path.strip_prefix(&parent).unwrap().display().to_string();
    image(&parent).iter().map(|(path, _)| relative(path)).collect()
}

#[test]
fn a_torn_tail_is_saved_and_cut_and_the_next_check_is_clean() {
    let fixture = Fixture::torn_tail();
    let torn = fixture.read(TORN_LOG);
    check(
        &Run::of(&fixture, "apply DIR"),
        "\
exit 10
--- stdout
partition 1/0/0 in streams/1/topics/0/partitions/0
serve: 90 messages proven in 2 segments, next offset 90, repaired

  00000000000000000000  whole  4602556 bytes, 50 messages, offsets 0 to 49

  00000000000000000050  torn  3641344 bytes, 3639704 of them proven
    proven   4 batches, 40 messages, offsets 50 to 89
    stop     short at byte 3639704: 873051 bytes are needed and 1640 are left
    residue  1640 bytes in which no batch verifies
    evidence unknown: no record says what was durable here
    index    good, 4 entries
    action   cut: the log ends at byte 3639704 now, 1640 bytes copied aside
             first
    [pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppF]
     p 0 to 3639704  proven
     F 3639704 to 3641344  fenced

left alone: offsets/

N bytes read and N hashed, the page cache dropped first; copied
1640 bytes aside, cut 1 log
fenced: 0.fenced.0/00000000000000000050.log.3639704-1640.7816d4eecef22b93
",
    );
    assert_eq!(
        paths(&fixture),
        [
            "0",
            "0/00000000000000000000.index",
            "0/00000000000000000000.log",
            "0/00000000000000000050.index",
            "0/00000000000000000050.log",
            "0/offsets",
            "0/offsets/consumers",
            "0/offsets/groups",
            "0.fenced.0",
            "0.fenced.0/00000000000000000050.log.3639704-1640.7816d4eecef22b93",
            "0.fenced.0/REASON.toml",
        ]
    );
    let copy = fixture.read("../0.fenced.0/00000000000000000050.log.3639704-1640.7816d4eecef22b93");
    assert_eq!([fixture.read(TORN_LOG), copy].concat(), torn, "no byte is lost");
    assert_eq!(look(&fixture, "check DIR").exit, 0);
    assert_eq!(look(&fixture, "apply DIR").exit, 0, "a second repair has nothing to do");
    assert_eq!(
        look(&fixture, "inspect DIR/../0.fenced.0/00000000000000000050.log.3639704-1640.7816d4eecef22b93")
            .exit,
        0
    );
}

#[test]
fn with_json_apply_lists_what_it_set_aside() {
    let fixture = Fixture::torn_tail();
    let run = Run::of(&fixture, "apply --json DIR");
    assert_eq!(run.exit, 10);
    let object = run.object();
    assert_eq!(
        object["fenced"].to_string(),
        r#"["0.fenced.0/00000000000000000050.log.3639704-1640.7816d4eecef22b93"]"#
    );
    assert_eq!(object["segments"][1]["saved_bytes"], 1640);
    assert_eq!(object["next_offset"], 90);
    assert_eq!(look(&fixture, "apply --json DIR").object()["fenced"].to_string(), "[]");
}

#[test]
fn a_refused_partition_is_byte_for_byte_what_it_was() {
    let fixture = Fixture::headers();
    flip(&fixture.partition_path().join("00000000000000000000.log"), 2000 + 300);
    fs::write(fixture.partition_path().join("00000000000000000500.index"), b"scratch").unwrap();
    let run = look(&fixture, "apply --json DIR");
    assert_eq!(run.exit, 20);
    assert_eq!(run.object()["reason"]["code"], "interior-damage");
    assert_eq!(run.object()["fenced"].to_string(), "[]");
}

/// B134, B135.
#[test]
fn a_partition_that_anybody_has_open_is_not_repaired() {
    for mode in [LockMode::Exclusive, LockMode::Shared] {
        let fixture = Fixture::torn_tail();
        let storage = OsStorage::open_read_only(fixture.partition_path().parent().unwrap()).unwrap();
        let other = PartitionDirectory::open(&storage, &[name("0")]).unwrap();
        other.lock(&storage, mode).unwrap();
        let run = look(&fixture, "apply --json DIR");
        assert_eq!(run.exit, 30);
        assert_eq!(run.object()["reason"]["code"], "locked");
        other.close(&storage);
    }
}

#[test]
fn scratch_is_set_aside_and_a_missing_index_is_made() {
    let fixture = Fixture::headers();
    let partition = fixture.partition_path();
    fs::write(partition.join("00000000000000000500.index"), b"scratch").unwrap();
    let whole = fixture.read("00000000000000000000.index");
    fs::remove_file(partition.join("00000000000000000000.index")).unwrap();
    let run = Run::of(&fixture, "apply DIR");
    check(
        &run,
        "\
exit 10
--- stdout
partition 2/0/0 in streams/2/topics/0/partitions/0
serve: 180 messages proven in 1 segment, next offset 180, repaired

  00000000000000000000  index  58062 bytes, all proven
    proven   30 batches, 180 messages, offsets 0 to 179
    stop     end at byte 58062: the file ends behind a whole batch
    evidence unknown: no record says what was durable here
    index    absent
    action   rebuild-index: written anew

scratch: 00000000000000000500.index
left alone: offsets/

N bytes read and N hashed, the page cache dropped first; moved 1 file
aside, wrote 1 index anew
fenced: 0.fenced.0/00000000000000000500.index.0-7.2d3f6fd97f29aa2f
",
    );
    let made: BTreeSet<[u8; 24]> =
        fixture.read("00000000000000000000.index").as_chunks().0.iter().copied().collect();
    assert!(made.contains(&whole[..24]), "the first entry is the one that the server wrote");
    assert_eq!(look(&fixture, "check DIR").exit, 0);
}

/// Runs `apply` where no file may grow.
fn without_room(fixture: &Fixture) -> Run {
    let partition = fixture.partition_path();
    let way = partition.strip_prefix(fixture.path()).unwrap();
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" apply \"$1\""])
        .arg(env!("CARGO_BIN_EXE_recover"))
        .arg(way)
        .current_dir(fixture.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run::new(&output)
}

#[test]
fn without_room_for_the_copy_nothing_is_cut_and_later_the_rest_is_done() {
    let fixture = Fixture::torn_tail();
    let torn = fixture.read(TORN_LOG);
    check(
        &without_room(&fixture),
        "\
exit 30
--- stdout
partition 1/0/0 in streams/1/topics/0/partitions/0
unavailable (io): write of
00000000000000000050.log.3639704-1640.7816d4eecef22b93.staging failed with EFBIG

  00000000000000000000  whole  4602556 bytes, 50 messages, offsets 0 to 49

  00000000000000000050  damaged  3641344 bytes, 3639704 of them proven
    proven   4 batches, 40 messages, offsets 50 to 89
    stop     short at byte 3639704: 873051 bytes are needed and 1640 are left
    residue  1640 bytes in which no batch verifies
    evidence unknown: no record says what was durable here
    index    good, 4 entries
    [pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppT]
     p 0 to 3639704  proven
     T 3639704 to 3641344  torn

left alone: offsets/

N bytes read and N hashed, the page cache dropped first; the
repair did not come to its end
stopped at: save-residue (copy 1640 bytes of 00000000000000000050.log from byte
            3639704 into the fence); the steps before it were taken
hint: once the error clears, apply again: it finds what is done and does the
      rest
",
    );
    assert!(fixture.read(TORN_LOG) == torn, "never cut what is not saved");
    assert_eq!(Run::of(&fixture, "apply DIR").exit, 10);
    assert_eq!(look(&fixture, "check DIR").exit, 0);
}
