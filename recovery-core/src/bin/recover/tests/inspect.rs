//! Files and what inspection shows of them.

use std::fs;

use recovery_core::format::{
    BatchBuilder, Checksum, CopyName, IndexEntry, LedgerKind, LedgerRecord, Message, Superblock,
};
use recovery_core::storage::os::OsStorage;
use recovery_core::units::{
    Durability, Incarnation, Length, Namespace, Offset, PartitionId, Position, SegmentStart,
};
use tempfile::TempDir;

use super::sample::{mark, name};
use crate::inspect::{Blocked, Place, look};

const LOG: &str = "00000000000000000100.log";
const INDEX: &str = "00000000000000000100.index";

/// What is shown at `place` of a directory that holds `files`, without colour.
fn shown(files: &[(&str, &[u8])], place: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(directory.path().join(name), bytes).unwrap();
    }
    shown_in(&directory, place)
}

fn shown_in(directory: &TempDir, place: &str) -> String {
    let looked = Place::find(&directory.path().join(place)).map_err(Blocked::from).and_then(|place| {
        let storage = OsStorage::open_read_only(&place.directory)?;
        look(&storage, &place).map(|sheet| sheet.text(place.name.to_string().as_str()))
    });
    match looked {
        Ok(text) => anstream::adapter::strip_str(&text).to_string(),
        Err(Blocked::Mistake(mistake)) => {
            mistake.to_string().replace(&directory.path().display().to_string(), "DIR")
        }
        Err(Blocked::Storage(error)) => error.to_string(),
    }
}

/// A batch of two messages from offset 100.
fn batch() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = BatchBuilder::begin(&mut bytes, 1000);
    for payload in [b"hello".as_slice(), b"world!"] {
        builder.push(&Message { id: 1, payload, ..Message::default() }).unwrap();
    }
    builder.finish();
    stamp(&mut bytes, 100);
    bytes
}

fn stamp(bytes: &mut [u8], base_offset: u64) {
    recovery_core::format::stamp(bytes, PartitionId::new(3), Offset::new(base_offset), 2000).unwrap();
}

/// Two batches, and their index.
fn segment() -> (Vec<u8>, Vec<u8>) {
    let first = batch();
    let mut second = batch();
    stamp(&mut second, 102);
    let entry = |offset, position| IndexEntry {
        offset: Offset::new(offset),
        timestamp: 2000,
        position: Position::new(position),
    };
    let index = [entry(100, 0), entry(102, first.len() as u64)].map(|entry| entry.encode()).concat();
    ([first, second].concat(), index)
}

#[test]
fn a_whole_batch_shows_every_field_and_every_frame() {
    let (log, _) = segment();
    assert_eq!(
        shown(&[(LOG, &log)], LOG),
        "\
batch in 00000000000000000100.log at byte 0 of 726
               0  partition-id     3
               8  base-offset      100
              16  base-timestamp   2000
              24  origin-timestamp 1000
ok            32  batch-length     363
ok            40  batch-checksum   bc9b09bbff17451f
ok            48  message-count    2
ok            52  reserved         zero
ok           256  frame 0          delta 0, payload 5, headers 0
ok           309  frame 1          delta 1, payload 6, headers 0
ok             0  verdict          verifies
every check holds
hint: recover inspect 00000000000000000100.log@363 shows what follows
"
    );
}

#[test]
fn a_flipped_payload_byte_is_wrong_in_its_own_frame_alone() {
    let (mut log, _) = segment();
    log[256 + 48] ^= 1;
    assert_eq!(
        shown(&[(LOG, &log)], LOG),
        "\
batch in 00000000000000000100.log at byte 0 of 726
               0  partition-id     3
               8  base-offset      100
              16  base-timestamp   2000
              24  origin-timestamp 1000
ok            32  batch-length     363
ok            40  batch-checksum   bc9b09bbff17451f
ok            48  message-count    2
ok            52  reserved         zero
WRONG        256  frame 0          delta 0, payload 5, headers 0 (it hashes to
                                   62002c84df809dd8, and b9bfbddb9ea55c8e is
                                   stored)
ok           309  frame 1          delta 1, payload 6, headers 0
WRONG          0  verdict          bad-checksum (message 0 hashes to
                                   62002c84df809dd8, and b9bfbddb9ea55c8e is
                                   stored)
2 wrong rows: frame 0, verdict
hint: recover inspect 00000000000000000100.log@363 shows what follows
"
    );
}

#[test]
fn a_flipped_header_field_is_wrong_in_the_batch_checksum_alone() {
    let (mut log, _) = segment();
    log[8] ^= 1;
    log[60] = 1;
    assert_eq!(
        shown(&[(LOG, &log)], LOG),
        "\
batch in 00000000000000000100.log at byte 0 of 726
               0  partition-id     3
               8  base-offset      101
              16  base-timestamp   2000
              24  origin-timestamp 1000
ok            32  batch-length     363
WRONG         40  batch-checksum   bc9b09bbff17451f (the batch hashes to
                                   79babf2bdabe19fe)
ok            48  message-count    2
WRONG         60  reserved         0x01 (every reserved byte is zero)
ok           256  frame 0          delta 0, payload 5, headers 0
ok           309  frame 1          delta 1, payload 6, headers 0
WRONG          0  verdict          undecodable (reserved byte 60 of the header
                                   is 0x01)
3 wrong rows: batch-checksum, reserved, verdict
hint: recover inspect 00000000000000000100.log@363 shows what follows
"
    );
}

#[test]
fn a_batch_that_is_cut_short_shows_what_is_left_of_it() {
    let (log, _) = segment();
    let at = format!("{LOG}@{}", log.len() / 2);
    assert_eq!(
        shown(&[(LOG, &log[..log.len() - 1])], &at),
        "\
batch in 00000000000000000100.log at byte 363 of 725
             363  partition-id     3
             371  base-offset      102
             379  base-timestamp   2000
             387  origin-timestamp 1000
WRONG        395  batch-length     363 (362 bytes are left in the file)
             403  batch-checksum   da897cfcf60982ba (not computed: not every
                                   frame is there)
WRONG        411  message-count    2 (1 whole frame up to byte 672, which is not
                                   the end of the batch)
ok           415  reserved         zero
ok           619  frame 0          delta 0, payload 5, headers 0
WRONG        672  frame 1          delta 1, payload 6, headers 0 (it takes 54
                                   bytes, and 53 are left)
WRONG        363  verdict          short (363 bytes are needed and 362 are left)
4 wrong rows: batch-length, message-count, frame 1, verdict
"
    );
    assert_eq!(
        shown(&[(LOG, &log[..100])], LOG),
        "\
batch in 00000000000000000100.log at byte 0 of 100
WRONG          0  header           100 bytes left (a header takes 256 bytes)
1 wrong row: header
"
    );
}

#[test]
fn a_delta_that_disagrees_is_noted_and_not_wrong() {
    let (mut log, _) = segment();
    log[256 + 24] = 7;
    let checksum = Checksum::of(&log[256 + 8..256 + 53]);
    log[256..264].copy_from_slice(&checksum.get().to_le_bytes());
    let length = log.len() / 2;
    stamp(&mut log[..length], 100);
    assert_eq!(
        shown(&[(LOG, &log)], LOG),
        "\
batch in 00000000000000000100.log at byte 0 of 726
               0  partition-id     3
               8  base-offset      100
              16  base-timestamp   2000
              24  origin-timestamp 1000
ok            32  batch-length     363
ok            40  batch-checksum   c7b0835d83ead51b
ok            48  message-count    2
ok            52  reserved         zero
ok           256  frame 0          delta 7, payload 5, headers 0 (its place is
                                   0)
ok           309  frame 1          delta 1, payload 6, headers 0
ok             0  verdict          verifies
every check holds
hint: recover inspect 00000000000000000100.log@363 shows what follows
"
    );
}

#[test]
fn index_entries_are_compared_with_the_log_beside_them() {
    let (log, index) = segment();
    let mut wrong = index.clone();
    wrong[24] ^= 1;
    wrong.push(0);
    assert_eq!(
        shown(&[(LOG, &log), (INDEX, &index)], INDEX),
        "\
index in 00000000000000000100.index at byte 0 of 48
ok             0  entry 0          offset 100, timestamp 2000, position 0
ok            24  entry 1          offset 102, timestamp 2000, position 363
every check holds
"
    );
    assert_eq!(
        shown(&[(LOG, &log), (INDEX, &wrong)], INDEX),
        "\
index in 00000000000000000100.index at byte 0 of 49
ok             0  entry 0          offset 100, timestamp 2000, position 0
WRONG         24  entry 1          offset 103, timestamp 2000, position 363 (the
                                   log has offset 102, timestamp 2000 there)
WRONG         48  entry 2          1 byte left (an entry takes 24 bytes)
2 wrong rows: entry 1, entry 2
"
    );
    assert_eq!(
        shown(&[(INDEX, &wrong)], &format!("{INDEX}@30")),
        "\
index in 00000000000000000100.index at byte 24 of 49
ok            24  entry 1          offset 103, timestamp 2000, position 363
WRONG         48  entry 2          1 byte left (an entry takes 24 bytes)
1 wrong row: entry 2
"
    );
}

#[test]
fn ledger_records_are_summed_up_and_one_is_shown_whole() {
    let record = |slot, kind| LedgerRecord {
        kind,
        durability: Durability::Synced,
        namespace: Namespace { stream: 1, topic: 2, partition: 3 },
        incarnation: Incarnation::new(5),
        epoch: 1,
        slot,
        generation: 2,
        floor: SegmentStart::new(0),
        reserved_offset: Offset::new(104),
    };
    let mut ledger = [
        record(0, LedgerKind::Opened { record_ceiling: Length::new(1024) }),
        record(7, LedgerKind::Frontier { mark: mark(100, 724, 104) }),
        record(2, LedgerKind::Reserved),
    ]
    .map(|record| record.encode())
    .concat();
    ledger[300] ^= 1;
    ledger.extend([0; 128]);
    ledger.push(9);
    assert_eq!(
        shown(&[("ledger", &ledger)], "ledger"),
        "\
ledger in ledger at byte 0 of 513
ok             0  record 0         opened, ceiling 1024, epoch 1
WRONG        128  record 1         frontier, segment 100 byte 724 next offset
                                   104, epoch 1 (it was written for slot 7)
WRONG        256  record 2         no record (the record hashes to
                                   2f066a7896c844f9, and 2289725170e51260 is
                                   stored)
             384  record 3         zero (no record)
WRONG        512  record 4         1 byte left (a record takes 128 bytes)
3 wrong rows: record 1, record 2, record 4
"
    );
    assert_eq!(
        shown(&[("ledger", &ledger)], "ledger@128"),
        "\
ledger in ledger at byte 128 of 513
WRONG        128  record 1         frontier, segment 100 byte 724 next offset
                                   104, epoch 1 (it was written for slot 7)
             129  mode             synced
             136  identity         61395b46749e1f32
             144  epoch            1
             152  slot             7
             160  generation       2
             168  floor            0
             176  reserved-offset  104
             184  mark.segment     100
             192  mark.position    724
             200  mark.next_offset 104
             208  mark.chain_hash  0000000000000009
             232  namespace        1/2/3
             240  incarnation      5
1 wrong row: record 1
hint: recover inspect ledger@256 shows what follows
"
    );
}

#[test]
fn a_superblock_slot_shows_its_record_or_what_is_wrong_with_it() {
    let record = Superblock {
        sequence: 5,
        cluster: 0xc1,
        replica: 0,
        replica_count: 1,
        view: 3,
        log_view: 2,
        commit: 41,
        offset_frontier: Offset::new(1144),
    };
    let mut bytes = record.encode();
    assert_eq!(
        shown(&[("superblock.a", &bytes)], "superblock.a"),
        "\
superblock in superblock.a at byte 0 of 102
ok             0  magic, version   KLBS, 1
               8  sequence         5
              28  cluster          000000000000000000000000000000c1
              44  replica          0
              45  replica-count    1
              46  view             3
ok            50  log-view         2
              54  commit           41
              86  offset-frontier  1144
ok            94  checksum         matches
every check holds
"
    );
    bytes[40] ^= 1;
    assert_eq!(
        shown(&[("superblock.a", &bytes)], "superblock.a"),
        "\
superblock in superblock.a at byte 0 of 102
WRONG         94  checksum         102 bytes (the record hashes to
                                   a6349b0e8d04ce4f, and 6ce79b60b6e7f9a2 is
                                   stored)
1 wrong row: checksum
"
    );
}

#[test]
fn a_name_that_says_nothing_leaves_it_to_the_bytes() {
    let (log, _) = segment();
    let first_line = |files: &[(&str, &[u8])], place| shown(files, place).lines().next().unwrap().to_owned();
    assert_eq!(first_line(&[("copy", &log)], "copy"), "batch in copy at byte 0 of 726");
    assert_eq!(first_line(&[("copy", b"something else")], "copy"), "bytes in copy at byte 0 of 14");
}

#[test]
fn a_copy_in_a_fence_is_told_by_its_name_and_compared_with_it() {
    let (log, _) = segment();
    let residue = &log[10..40];
    let position = Position::new(10);
    let copy = CopyName::new(&name(LOG), position, Length::new(30), Checksum::of(residue)).name().to_string();
    assert_eq!(
        shown(&[(&copy, residue)], &copy),
        "\
batch in 00000000000000000100.log.10-30.f273e33be6b55571 at byte 0 of 30
ok             0  copy             30 bytes of 00000000000000000100.log from
                                   byte 10
WRONG          0  header           30 bytes left (a header takes 256 bytes)
1 wrong row: header
"
    );
    assert_eq!(
        shown(&[(&copy, &residue[1..])], &copy),
        "\
batch in 00000000000000000100.log.10-30.f273e33be6b55571 at byte 0 of 29
WRONG          0  copy             30 bytes of 00000000000000000100.log from
                                   byte 10 (the file has 29 bytes that hash to
                                   2f688f356bd98c57)
WRONG          0  header           29 bytes left (a header takes 256 bytes)
2 wrong rows: copy, header
"
    );
}

#[test]
fn what_cannot_be_shown_is_said_in_one_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join(LOG), [0; 10]).unwrap();
    fs::write(path.join("empty@5"), []).unwrap();
    std::os::unix::fs::symlink(LOG, path.join("link")).unwrap();
    let sentences = [
        ("missing", "there is no file DIR/missing"),
        ("link", "DIR/link is a symbolic link, and none is followed"),
        (".", "DIR/. is not a regular file"),
        (
            "00000000000000000100.log@10",
            "DIR/00000000000000000100.log ends at byte 10, and byte 10 was asked for",
        ),
        (
            "00000000000000000100.log@0xa",
            "DIR/00000000000000000100.log ends at byte 10, and byte 10 was asked for",
        ),
        ("00000000000000000100.log@+1", "there is no file DIR/00000000000000000100.log@+1"),
    ];
    for (place, expected) in sentences {
        assert_eq!(shown_in(&directory, place), expected, "{place}");
    }
    // A file whose own name ends like a position is that file.
    assert_eq!(
        shown_in(&directory, "empty@5"),
        "\
bytes in empty@5 at byte 0 of 0
nothing here can be checked
"
    );
}
