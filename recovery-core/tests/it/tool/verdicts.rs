//! What `check` and `plan` say of real partitions, whole and damaged.

use recovery_core::storage::os::OsStorage;
use recovery_core::storage::{LockMode, PartitionDirectory};

use super::{check, flip, look};
use crate::fixture::Fixture;
use crate::memory_storage::name;

#[test]
fn a_healthy_real_partition_is_served_with_nothing_to_do() {
    let fixture = Fixture::headers();
    check(
        &look(&fixture, "check DIR"),
        "\
exit 0
--- stdout
partition 2/0/0 in streams/2/topics/0/partitions/0
serve: 180 messages proven in 1 segment, next offset 180, nothing to repair

  00000000000000000000  whole  58062 bytes, 180 messages, offsets 0 to 179

left alone: offsets/

N bytes read and N hashed, through the page cache; nothing was changed
",
    );
    check(
        &look(&fixture, "plan DIR --json"),
        r#"exit 0
--- stdout
{"version":1,"namespace":"2/0/0","disposition":"serve","reason":null,"next_offset":180,"gap":null,"lost":null,"lost_ranges":null,"messages":180,"bytes_read":58422,"bytes_hashed":52086,"bytes_walked":0,"longest_step_bytes":110508,"ledger":{"state":"absent","records":null,"skipped":null,"newest":null,"reserved_offset":null},"segments":[{"start_offset":0,"log_bytes":58062,"proven_bytes":58062,"end_offset":179,"messages":180,"batches":30,"stop":"end","residue":"none","evidence":"unknown","index":"good","action":"keep","saved_bytes":0}],"expired":[],"scratch":[],"others":["offsets"],"steps":[]}
--- stderr
partition 2/0/0 in streams/2/topics/0/partitions/0
serve: 180 messages proven in 1 segment, next offset 180, nothing to repair

  00000000000000000000  whole  58062 bytes, 180 messages, offsets 0 to 179

left alone: offsets/

N bytes read and N hashed, through the page cache; nothing was changed
"#,
    );
}

#[test]
fn a_torn_real_partition_is_due_for_a_repair() {
    let fixture = Fixture::torn_tail();
    check(
        &look(&fixture, "check DIR"),
        "\
exit 10
--- stdout
partition 1/0/0 in streams/1/topics/0/partitions/0
serve: 90 messages proven in 2 segments, next offset 90, a repair is due

  00000000000000000000  whole  4602556 bytes, 50 messages, offsets 0 to 49

  00000000000000000050  torn  3641344 bytes, 3639704 of them proven
    proven   4 batches, 40 messages, offsets 50 to 89
    stop     short at byte 3639704: 873051 bytes are needed and 1640 are left
    residue  1640 bytes in which no batch verifies
    evidence unknown: no record says what was durable here
    index    good, 4 entries
    action   cut: apply would end the log at byte 3639704, 1640 bytes copied
             aside first
    [pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppT]
     p 0 to 3639704  proven
     T 3639704 to 3641344  torn

left alone: offsets/

N bytes read and N hashed, through the page cache; nothing was
changed
apply would copy 1640 bytes aside, cut 1 log
hint: recover plan streams/1/topics/0/partitions/0 lists the steps
",
    );
    check(
        &look(&fixture, "plan DIR"),
        "\
exit 10
--- stdout
partition 1/0/0 in streams/1/topics/0/partitions/0
serve: 90 messages proven in 2 segments, next offset 90, a repair is due

  00000000000000000000  whole  4602556 bytes, 50 messages, offsets 0 to 49

  00000000000000000050  torn  3641344 bytes, 3639704 of them proven
    proven   4 batches, 40 messages, offsets 50 to 89
    stop     short at byte 3639704: 873051 bytes are needed and 1640 are left
    residue  1640 bytes in which no batch verifies
    evidence unknown: no record says what was durable here
    index    good, 4 entries
    action   cut: apply would end the log at byte 3639704, 1640 bytes copied
             aside first
    [pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppT]
     p 0 to 3639704  proven
     T 3639704 to 3641344  torn

left alone: offsets/

steps
     1  make-fence        look for copies of an earlier run, else make a fence
     2  save-residue      copy 1640 bytes of 00000000000000000050.log from byte
                          3639704 into the fence
     3  write-reason      write into the fence's REASON.toml what each copy is
     4  sync-fence        make the names in the fence durable
     5  cut-log           cut 00000000000000000050.log from 3641344 to 3639704
                          bytes

N bytes read and N hashed, through the page cache; nothing was
changed
hint: recover apply streams/1/topics/0/partitions/0 takes these steps
",
    );
    let object = look(&fixture, "check --json DIR").object();
    assert_eq!(object["messages"], 90);
    assert_eq!(object["next_offset"], 90);
    let segments = object["segments"].as_array().unwrap();
    let told: Vec<String> = segments
        .iter()
        .map(|segment| {
            ["start_offset", "log_bytes", "batches", "messages", "end_offset", "stop", "residue", "action"]
                .map(|field| segment[field].to_string())
                .join(" ")
        })
        .collect();
    assert_eq!(
        told,
        [r#"0 4602556 5 50 49 "end" "none" "keep""#, r#"50 3641344 4 40 89 "short" "noise" "cut""#,]
    );
}

#[test]
fn damage_that_a_survivor_follows_is_refused() {
    let fixture = Fixture::headers();
    flip(&fixture.partition_path().join("00000000000000000000.log"), 2000 + 300);
    check(
        &look(&fixture, "check DIR"),
        "\
exit 20
--- stdout
partition 2/0/0 in streams/2/topics/0/partitions/0
refuse (interior-damage): segment 0 is damaged at byte 1954 (bad-checksum), and
a whole batch of this partition with base offset 12 follows at byte 3565 (28
such in all)

  00000000000000000000  damaged  58062 bytes, 1954 of them proven
    proven   1 batch, 6 messages, offsets 0 to 5
    stop     bad-checksum at byte 1954: message 0 hashes to cdd814bd7066ab02,
             and f4dadb0f0ae9296e is stored
    residue  56108 bytes with 28 whole batches that would continue this
             partition, the first at byte 3565 with base offset 12 of partition
             0
    evidence unknown: no record says what was durable here
    index    wrong: of 15 entries, not all name a proven batch in order
    action   keep: not touched
    [ppTTSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS]
     p 0 to 1954  proven
     T 1954 to 3565  torn
     S 3565 to 58062  28 survivors

left alone: offsets/

lost: offsets 6 to 11

N bytes read and N hashed, through the page cache; nothing was changed
hint: if they are nowhere else, recover accept-loss
      streams/2/topics/0/partitions/0 --range 6-11 gives them up and serves the
      rest
",
    );
    let run = look(&fixture, "check --json DIR --replicas 3");
    assert_eq!(run.exit, 20);
    assert_eq!(run.object()["reason"]["code"], "interior-damage");
    assert_eq!(run.object()["segments"][0]["action"], "keep");
}

/// B134.
#[test]
fn a_partition_that_a_server_has_open_is_unavailable() {
    let fixture = Fixture::headers();
    let storage = OsStorage::open(fixture.partition_path().parent().unwrap()).unwrap();
    let server = PartitionDirectory::open(&storage, &[name("0")]).unwrap();
    server.lock(&storage, LockMode::Exclusive).unwrap();
    check(
        &look(&fixture, "check DIR"),
        "\
exit 30
--- stdout
partition 2/0/0 in streams/2/topics/0/partitions/0
unavailable (locked): the directory 0 is locked by another process
hint: a server or another recover has the partition open; stop it first
",
    );
    assert_eq!(
        look(&fixture, "plan --json DIR").object()["reason"].to_string(),
        r#"{"call":"lock","code":"locked","error":"EAGAIN","file":"0","sentence":"the directory 0 is locked by another process"}"#
    );
    server.close(&storage);
    assert_eq!(look(&fixture, "check DIR").exit, 0);
}

#[test]
fn two_who_look_do_not_disturb_each_other() {
    let fixture = Fixture::headers();
    let storage = OsStorage::open_read_only(fixture.partition_path().parent().unwrap()).unwrap();
    let other = PartitionDirectory::open(&storage, &[name("0")]).unwrap();
    other.lock(&storage, LockMode::Shared).unwrap();
    assert_eq!(look(&fixture, "check DIR").exit, 0);
    other.close(&storage);
}
