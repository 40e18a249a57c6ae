//! The ways out of a refusal: `accept-loss` and `adopt` on real partitions.

use recovery_core::format::{ChainHash, LedgerKind, LedgerRecord, Mark};
use recovery_core::units::{Durability, Incarnation, Offset, Position, SegmentStart};

use super::{Run, check, flip, look};
use crate::fixture::Fixture;

const LOG: &str = "00000000000000000000.log";

/// A partition with a damaged batch that 28 whole ones follow: offsets 6 to 11 are lost.
fn refused() -> Fixture {
    let fixture = Fixture::headers();
    flip(&fixture.partition_path().join(LOG), 2000 + 300);
    fixture
}

#[test]
fn what_is_lost_is_named_by_check_and_given_up_by_accept_loss() {
    let fixture = refused();
    let object = look(&fixture, "check --json DIR").object();
    assert_eq!(object["lost"].to_string(), r#"{"first_offset":6,"last_offset":11}"#);
    assert_eq!(object["lost_ranges"].to_string(), r#"[{"first_offset":6,"last_offset":11}]"#);
    let run = Run::of(&fixture, "accept-loss DIR --range 6-11");
    check(
        &run,
        "\
exit 10
--- stdout
partition 2/0/0 in streams/2/topics/0/partitions/0
serve: 174 messages proven in 2 segments, next offset 180, repaired

  00000000000000000000  torn  58062 bytes, 1954 of them proven
    proven   1 batch, 6 messages, offsets 0 to 5
    stop     overrun at byte 1954: the segment was sealed at 1954 bytes
    residue  56108 bytes with 28 whole batches that would continue this
             partition, the first at byte 3565 with base offset 12 of partition
             0
    evidence at or above: nothing behind the stop is known to have been durable;
             durable up to byte 1954, offset 6 exclusive
    index    wrong: of 15 entries, not all name a proven batch in order
    action   cut: the log ends at byte 1954 now, 56108 bytes copied aside first
    [pppFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF]
     p 0 to 1954  proven
     F 1954 to 58062  fenced

  00000000000000000012  index  54497 bytes, all proven
    proven   28 batches, 168 messages, offsets 12 to 179
    stop     end at byte 54497: the file ends behind a whole batch
    evidence at or above: nothing behind the stop is known to have been durable;
             durable up to byte 54497, offset 180 exclusive
    index    absent
    action   rebuild-index: written anew

left alone: offsets/

given up: offsets 6 to 11

N bytes read and N hashed, the page cache dropped first; carried
batches over into 1 segment, copied 56468 bytes aside, cut 1 log, wrote 2
indexes anew, added 4 records to the ledger
fenced: 0.fenced.0/00000000000000000000.index.0-360.ea9c12a45ad8d078
fenced: 0.fenced.0/00000000000000000000.log.1954-56108.217a065a26fbc48d
",
    );
}

#[test]
fn other_offsets_than_those_that_are_lost_change_nothing() {
    let fixture = refused();
    check(
        &look(&fixture, "accept-loss DIR --range 6-10"),
        "\
exit 2
--- stderr
error: offsets 6 to 11 are lost, and 6 to 10 was named
hint: recover check DIR says what is lost; name just that, each range once
",
    );
    check(
        &look(&fixture, "accept-loss DIR"),
        "\
exit 2
--- stderr
error: offsets 6 to 11 are lost, and no range was named
hint: recover check DIR says what is lost; name just that, each range once
",
    );
    let run = look(&fixture, "accept-loss --json DIR --range 6-11 --range 13-14");
    assert_eq!(run.exit, 2);
    assert_eq!(run.object()["error"]["code"], "wrong-range");
    let run = look(&fixture, "accept-loss --json DIR --range 11-6");
    assert_eq!(run.exit, 2);
    assert_eq!(run.object()["error"]["code"], "command-line");
    let healthy = Fixture::headers();
    assert_eq!(look(&healthy, "accept-loss DIR --range 0-1").exit, 2);
    assert_eq!(look(&healthy, "accept-loss DIR").exit, 0, "nothing is lost, and nothing is named");
}

#[test]
fn a_repeat_of_accept_loss_has_nothing_to_do() {
    let fixture = refused();
    let first = Run::of(&fixture, "accept-loss --json DIR --range 6-11").object();
    assert_eq!(first["given_up"].to_string(), r#"[{"first_offset":6,"last_offset":11}]"#);
    assert_eq!(first["fenced"].as_array().unwrap().len(), 2, "what was cut, and the old index");
    assert_eq!(look(&fixture, "check DIR").exit, 0);
    let again = look(&fixture, "accept-loss --json DIR --range 6-11");
    assert_eq!(again.exit, 0);
    assert_eq!(again.object()["messages"], 174);
}

#[test]
fn what_no_rule_decides_stays_refused() {
    let fixture = refused();
    std::fs::write(fixture.partition_path().join("5.log"), b"x").unwrap();
    let run = look(&fixture, "accept-loss --json DIR");
    assert_eq!(run.exit, 20);
    assert_eq!(run.object()["reason"]["code"], "unexpected-file");
    assert_eq!(run.object()["lost"].to_string(), "null");
    assert_eq!(run.object()["lost_ranges"].to_string(), "null");
}

/// A ledger that promises more than the log holds.
fn promising(fixture: &Fixture) -> Vec<u8> {
    let (namespace, incarnation) = (fixture.namespace, Incarnation::new(0));
    let segment = SegmentStart::ZERO;
    let mark = Mark {
        segment,
        position: Position::new(99_999),
        next_offset: Offset::new(200),
        chain_hash: ChainHash::start(namespace, incarnation, segment),
    };
    let record = LedgerRecord {
        kind: LedgerKind::Frontier { mark },
        durability: Durability::Synced,
        namespace,
        incarnation,
        epoch: 1,
        slot: 0,
        generation: 0,
        floor: segment,
        reserved_offset: Offset::ZERO,
    };
    record.encode().to_vec()
}

#[test]
fn a_ledger_that_another_program_made_untrue_is_set_aside() {
    let fixture = Fixture::headers();
    let ledger = promising(&fixture);
    std::fs::write(fixture.partition_path().join("ledger"), &ledger).unwrap();
    assert_eq!(look(&fixture, "check DIR").exit, 20);
    check(
        &Run::of(&fixture, "adopt DIR"),
        "\
exit 0
--- stdout
partition 2/0/0 in streams/2/topics/0/partitions/0
serve: 180 messages proven in 1 segment, next offset 180, nothing to repair

  00000000000000000000  whole  58062 bytes, 180 messages, offsets 0 to 179

left alone: offsets/

N bytes read and N hashed, through the page cache; the ledger was moved
into the fence
fenced: 0.fenced.0/00000000000000000000.ledger.0-128.1247260beda088fa
",
    );
    assert!(!fixture.partition_path().join("ledger").exists());
    let copies: Vec<_> = std::fs::read_dir(fixture.partition_path().with_file_name("0.fenced.0"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap() != "REASON.toml")
        .collect();
    assert_eq!(copies.len(), 1);
    assert!(std::fs::read(&copies[0]).unwrap() == ledger, "the copy is the ledger");
    check(
        &look(&fixture, "adopt DIR"),
        "\
exit 2
--- stderr
error: the directory holds no ledger, so it is judged without one already
",
    );
}
