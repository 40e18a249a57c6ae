//! Which records of a ledger count, and what they void.

use super::{check, render};
use crate::oracle::reference::testimony::{Ledger, hear};
use crate::oracle::specimen::{
    ACCEPTED_LOSS, CLEAN_STOP, Directory, FLOOR, FRONTIER, INCARNATION, NAMESPACE, OPENED, RESERVED, Record,
    batches, ledger, mark, record, seal,
};

/// What a ledger of these bytes says, as text.
fn heard(bytes: &[u8], incarnation: Option<u64>) -> String {
    match hear(bytes, NAMESPACE.packed(), incarnation) {
        Ledger::None => "none".to_owned(),
        Ledger::Foreign => "foreign".to_owned(),
        Ledger::Own(testimony) => {
            let marks: Vec<String> =
                testimony.marks.iter().map(|mark| format!("{}@{}", mark.segment, mark.position)).collect();
            let seals: Vec<String> = testimony
                .seals
                .iter()
                .map(|seal| format!("{}:{}..{}", seal.segment, seal.next_offset, seal.next_start))
                .collect();
            format!(
                "floor={} reserved={} stop={} marks=[{}] seals=[{}]",
                testimony.floor,
                testimony.reserved_offset,
                testimony.is_clean_stop,
                marks.join(" "),
                seals.join(" ")
            )
        }
    }
}

#[track_caller]
fn check_heard(records: &[Record], expected: &str) {
    assert_eq!(heard(&ledger(records), Some(INCARNATION)), expected);
}

#[test]
fn the_newest_record_speaks_for_floor_reservation_and_clean_stop() {
    let older = Record { floor: 5, reserved: 90, ..mark(CLEAN_STOP, 50, &[]) };
    let newer = Record { floor: 6, reserved: 80, ..record(RESERVED) };
    check_heard(&[older.clone(), newer.clone()], "floor=6 reserved=80 stop=false marks=[50@0] seals=[]");
    check_heard(&[newer, older], "floor=5 reserved=90 stop=true marks=[50@0] seals=[]");
}

#[test]
fn a_record_out_of_its_slot_or_of_an_older_epoch_does_not_count() {
    let current = Record { epoch: 2, ..mark(FRONTIER, 0, &batches(0, 1)) };
    let copied = Record { slot: Some(0), reserved: 99, ..current.clone() };
    let stale = Record { epoch: 1, reserved: 99, ..mark(FRONTIER, 0, &batches(0, 3)) };
    check_heard(&[current, copied, stale], "floor=0 reserved=0 stop=false marks=[0@356] seals=[]");
}

#[test]
fn slots_that_do_not_verify_are_skipped_and_reading_goes_on_behind_them() {
    let mut bytes = ledger(&[record(OPENED), record(OPENED), mark(FRONTIER, 0, &batches(0, 1))]);
    bytes[128 + 5..128 + 9].fill(0xff);
    bytes.extend_from_slice(&[3; 100]);
    assert_eq!(heard(&bytes, Some(INCARNATION)), "floor=0 reserved=0 stop=false marks=[0@356] seals=[]");
}

#[test]
fn a_record_that_verifies_and_makes_no_sense_does_not_count() {
    let senseless = [
        record(0),
        record(9),
        Record { mark: [5, 356, 4, 0], ..record(FRONTIER) },
        Record { mark: [5, 0, 5, 0], ..record(FRONTIER) },
        Record { mark: [5, 0, 6, mark(FRONTIER, 5, &[]).mark[3]], ..record(FRONTIER) },
        seal(0, &batches(0, 2), 1),
        Record { numbers: [7, 5], ..mark(ACCEPTED_LOSS, 0, &batches(0, 2)) },
        Record { numbers: [7, u64::MAX], ..mark(ACCEPTED_LOSS, 0, &batches(0, 2)) },
        Record { namespace: 1 << 52, ..record(OPENED) },
        // What a kind does not use is zero.
        Record { mark: [0, 356, 1, 0], ..record(OPENED) },
        Record { numbers: [7, 1], ..record(OPENED) },
        Record { numbers: [1, 0], ..mark(FRONTIER, 0, &batches(0, 2)) },
        Record { numbers: [2, 1], ..seal(0, &batches(0, 2), 2) },
    ];
    for record in senseless {
        check_heard(&[record], "none");
    }
}

#[test]
fn what_lies_below_the_floor_is_void() {
    let records =
        [seal(0, &batches(0, 2), 2), mark(FRONTIER, 2, &batches(2, 1)), Record { floor: 2, ..record(FLOOR) }];
    check_heard(&records, "floor=2 reserved=0 stop=false marks=[2@356] seals=[]");
}

#[test]
fn an_accepted_loss_voids_older_marks_of_the_segments_it_touches() {
    let loss = Record { numbers: [2, 11], ..mark(ACCEPTED_LOSS, 0, &batches(0, 2)) };
    let before = [
        seal(0, &batches(0, 5), 5),
        seal(5, &batches(5, 5), 10),
        seal(10, &batches(10, 5), 15),
        mark(FRONTIER, 15, &batches(15, 1)),
        loss,
    ];
    check_heard(&before, "floor=0 reserved=0 stop=false marks=[15@356 0@712] seals=[]");
    let after = [&before[..], &[seal(0, &batches(0, 2), 12)]].concat();
    check_heard(&after, "floor=0 reserved=0 stop=false marks=[15@356 0@712] seals=[0:2..12]");
}

#[test]
fn a_seal_holds_while_the_newest_mark_of_its_segment_ends_where_it_does() {
    let log = batches(0, 2);
    check_heard(
        &[seal(0, &log, 2), mark(CLEAN_STOP, 0, &log)],
        "floor=0 reserved=0 stop=true marks=[0@712] seals=[0:2..2]",
    );
    check_heard(
        &[seal(0, &log, 2), mark(FRONTIER, 0, &batches(0, 3))],
        "floor=0 reserved=0 stop=false marks=[0@712 0@1068] seals=[]",
    );
}

#[test]
fn a_ledger_of_another_partition_or_life_is_foreign_and_one_record_of_ours_is_enough() {
    let other_namespace = Record { namespace: NAMESPACE.packed() + 1, ..record(OPENED) };
    let other_life = Record { incarnation: 6, epoch: 9, ..record(OPENED) };
    check_heard(&[other_namespace.clone(), other_life.clone()], "foreign");
    check_heard(
        &[other_namespace.clone(), record(OPENED), other_life.clone()],
        "floor=0 reserved=0 stop=false marks=[] seals=[]",
    );
    assert_eq!(heard(&ledger(&[other_namespace]), None), "foreign");
    assert_eq!(heard(&ledger(&[other_life]), None), "floor=0 reserved=0 stop=false marks=[] seals=[]");
}

#[test]
fn where_no_life_is_known_the_records_name_it_unless_they_name_two() {
    let ours = |count| mark(FRONTIER, 0, &batches(0, count));
    let other = Record { incarnation: 6, ..record(RESERVED) };
    let heard = |records: &[Record]| heard(&ledger(records), None);
    assert_eq!(heard(&[ours(1), ours(2)]), "floor=0 reserved=0 stop=false marks=[0@356 0@712] seals=[]");
    assert_eq!(heard(&[ours(1), other.clone(), ours(2)]), "foreign");
    assert_eq!(heard(&[other.clone(), ours(1), ours(2)]), "foreign");
    assert_eq!(heard(&[ours(1), ours(2), other.clone()]), "foreign");
    assert_eq!(heard(&[ours(1), Record { epoch: 2, ..other }, ours(2)]), "foreign");
}

#[test]
fn a_foreign_ledger_refuses_the_partition() {
    let foreign = Record { incarnation: 6, ..mark(FRONTIER, 0, &batches(0, 2)) };
    check(
        Directory::new().segment(0, 1).ledger(&[foreign]),
        "refuse identity-mismatch\n0 356/356 next=1 messages=1 batches=1 end none unknown good keep saved=0",
    );
}

#[test]
fn the_core_and_the_reference_agree_on_the_bytes_of_a_record() {
    use recovery_core::format::{ChainHash, LedgerKind, LedgerRecord, Mark};
    use recovery_core::units::{Durability, Incarnation, Offset, Position, SegmentStart};

    let log = batches(4, 2);
    let by_hand = seal(4, &log, 9);
    let [_, position, next_offset, chain_hash] = by_hand.mark;
    let by_core = LedgerRecord {
        kind: LedgerKind::Sealed {
            mark: Mark {
                segment: SegmentStart::new(4),
                position: Position::new(position),
                next_offset: Offset::new(next_offset),
                chain_hash: ChainHash::new(chain_hash),
            },
            next_start: SegmentStart::new(9),
        },
        durability: Durability::Buffered,
        namespace: NAMESPACE,
        incarnation: Incarnation::new(INCARNATION),
        epoch: 1,
        slot: 0,
        generation: 0,
        floor: SegmentStart::new(0),
        reserved_offset: Offset::new(0),
    };
    assert_eq!(ledger(&[by_hand]), by_core.encode());
    assert_eq!(
        render(&Directory::new().segment(4, 2).file("ledger", by_core.encode()).recover()),
        "refuse missing-segment in 0
4 712/712 next=6 messages=2 batches=2 end none at-or-above good keep saved=0"
    );
}
