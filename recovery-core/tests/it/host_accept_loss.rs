//! Accepting a loss: what is lost by which damage, what is served then, and that no call that fails or crashes, and
//! no wrong word of the operator, costs more.

use recovery_core::decide::{Disposition, LostRange, Unacceptable};
use recovery_core::format::{BatchBuilder, Message, stamp};
use recovery_core::ledger::LedgerWriter;
use recovery_core::observe::RecordedGap;
use recovery_core::partition::{Adopted, PartitionOptions, Writer};
use recovery_core::recovery::Mode;
use recovery_core::storage::Errno;
use recovery_core::units::{Durability, Offset};

use crate::loss_world::{
    BATCH, DIRECTORY, INCARNATION, NAMESPACE, SERVER, accept, accept_through, batch, change, look, lost,
    open, records, recover, served, start, written,
};
use crate::memory_storage::{Fault, MemoryStorage};
use crate::recovery_run::{Files, check_nothing_is_lost};

/// An accident, by name.
type Accident = (&'static str, fn(&MemoryStorage));

const FIRST: &str = "00000000000000000000.log";
const MIDDLE: &str = "00000000000000000005.log";
const LAST: &str = "00000000000000000010.log";

fn flip(at: usize) -> impl FnOnce(&mut Vec<u8>) {
    move |bytes| bytes[at] ^= 8
}

/// In the batch of this index, counted in its segment.
fn payload_of(batch: usize) -> usize {
    batch * BATCH + 310
}

const ACCIDENTS: &[Accident] = &[
    ("a bit in the first batch", |s| change(s, FIRST, flip(payload_of(0)))),
    ("a bit in the third batch", |s| change(s, FIRST, flip(payload_of(2)))),
    ("a bit in the last batch of the first segment", |s| change(s, FIRST, flip(payload_of(4)))),
    ("a bit in the first batch of the last segment", |s| change(s, LAST, flip(payload_of(0)))),
    ("a bit in the second batch of the last segment", |s| change(s, LAST, flip(payload_of(1)))),
    ("a bit in the last batch of all", |s| change(s, LAST, flip(payload_of(2)))),
    ("bits in two batches of one segment", |s| {
        change(s, FIRST, flip(payload_of(1)));
        change(s, FIRST, flip(payload_of(3)));
    }),
    ("bits in two segments", |s| {
        change(s, FIRST, flip(payload_of(2)));
        change(s, MIDDLE, flip(payload_of(0)));
    }),
    ("the middle log ends early", |s| change(s, MIDDLE, |log| log.truncate(2 * BATCH))),
    ("the middle log is empty", |s| change(s, MIDDLE, Vec::clear)),
    ("the last log ends early", |s| change(s, LAST, |log| log.truncate(BATCH))),
    ("the last log is empty", |s| change(s, LAST, Vec::clear)),
    ("the first log is noise", |s| change(s, FIRST, |log| log.fill(9))),
    ("the last log is noise", |s| change(s, LAST, |log| log.fill(9))),
    ("the first log is gone", |s| s.take(&format!("{DIRECTORY}/{FIRST}"))),
    ("the middle log is gone", |s| s.take(&format!("{DIRECTORY}/{MIDDLE}"))),
    ("the last log is gone", |s| s.take(&format!("{DIRECTORY}/{LAST}"))),
    ("all logs are gone", |s| {
        for log in [FIRST, MIDDLE, LAST] {
            s.take(&format!("{DIRECTORY}/{log}"));
        }
    }),
    ("the middle log is the first one's copy", |s| {
        let copy = s.files()[&format!("{DIRECTORY}/{FIRST}")].clone();
        change(s, MIDDLE, |log| *log = copy);
    }),
    ("an old server appended behind a torn tail", |s| {
        change(s, LAST, |log| {
            let last = log.split_off(2 * BATCH);
            log.extend_from_slice(&last[..100]);
            log.extend_from_slice(&last);
        });
    }),
    ("an old server appended behind a torn first batch", |s| {
        change(s, LAST, |log| {
            let all = std::mem::take(log);
            log.extend_from_slice(&all[..70]);
            log.extend_from_slice(&all);
        });
    }),
    ("a batch was written twice", |s| {
        change(s, FIRST, |log| {
            let third = log[2 * BATCH..3 * BATCH].to_vec();
            log.splice(3 * BATCH..3 * BATCH, third);
        });
    }),
    ("a batch is missing", |s| change(s, FIRST, |log| drop(log.drain(2 * BATCH..3 * BATCH)))),
    ("a batch of nobody lies where one was", |s| {
        change(s, FIRST, |log| log[2 * BATCH..3 * BATCH].copy_from_slice(&batch(99)));
    }),
    ("a whole batch of another time lies where one was", |s| {
        change(s, MIDDLE, |log| {
            let mut other = batch(99);
            stamp(&mut other, NAMESPACE.partition_id(), Offset::new(6), 5_000).unwrap();
            log[BATCH..2 * BATCH].copy_from_slice(&other);
        });
    }),
    ("a stray log", |s| change(s, "5.log", |log| log.push(1))),
    ("a log that overlaps", |s| {
        let copy = s.files()[&format!("{DIRECTORY}/{MIDDLE}")].clone();
        change(s, "00000000000000000007.log", |log| log.extend(&copy[2 * BATCH..]));
    }),
    ("scratch lies where a new segment is staged", |s| {
        change(s, FIRST, flip(payload_of(2)));
        change(s, "00000000000000000003.log.staging", |log| log.extend([7; 90]));
    }),
    ("bits in the first and the last batch of all", |s| {
        change(s, LAST, flip(payload_of(0)));
        change(s, LAST, flip(payload_of(2)));
    }),
    ("nothing", |_| ()),
];

/// The accidents that are dealt with in different ways.
const CRASHED: &[&str] = &[
    "bits in two batches of one segment",
    "bits in two segments",
    "the last log ends early",
    "the first log is gone",
    "the middle log is gone",
    "all logs are gone",
    "the middle log is the first one's copy",
    "a whole batch of another time lies where one was",
    "an old server appended behind a torn first batch",
    "scratch lies where a new segment is staged",
    "bits in the first and the last batch of all",
];

const fn range(first: u64, last: u64) -> LostRange {
    LostRange { first: Offset::new(first), last: Offset::new(last) }
}

fn words(ranges: &[LostRange]) -> String {
    if ranges.is_empty() {
        return "nothing".to_owned();
    }
    ranges.iter().map(|range| format!("{}-{}", range.first, range.last)).collect::<Vec<_>>().join(" ")
}

/// What happens to one damaged directory, in one line.
fn story(storage: &MemoryStorage) -> String {
    let before = storage.files();
    let verdict = look(storage).1.disposition;
    let found = match lost(storage) {
        Ok(found) => found,
        Err(Unacceptable::NotRefused) => return format!("{}: nothing to accept", verdict.code()),
        Err(Unacceptable::Undecidable(reason)) => {
            let accepted = accept(storage, &[]).unwrap();
            assert!(!accepted.is_accepted && !accepted.recovered.verdict.is_served());
            assert!(storage.files() == before, "what cannot be accepted is untouched");
            return format!("{}: stays", reason.code());
        }
    };
    check_wrong_ranges(storage, &found.ranges, &before);
    let accepted = accept_through(storage, &found.ranges, 512).unwrap();
    assert_eq!(storage.open_handles(), 0, "every handle is closed");
    assert!(accepted.is_accepted);
    assert!(accepted.recovered.verdict.is_served(), "{:?}", accepted.recovered.verdict.disposition);
    let end = storage.files();
    check_nothing_is_lost(NAMESPACE, &before, &end);
    check_repeat(storage, &found.ranges, &end);
    let Disposition::Refuse(reason) = verdict else { panic!("{} is nothing to accept", verdict.code()) };
    let code = reason.code();
    let next = look(storage).1.next_offset.unwrap();
    format!("{code}: lost {}; served {}; next {next}", words(&found.ranges), served(storage))
}

fn check_wrong_ranges(storage: &MemoryStorage, lost: &[LostRange], before: &Files) {
    let wrong = range(1, 77);
    let mut more = lost.to_vec();
    more.push(wrong);
    for named in [vec![wrong], more, lost[..lost.len().saturating_sub(1)].to_vec()] {
        if named == lost {
            continue;
        }
        let mistake = accept(storage, &named).err().expect("a wrong range is a mistake");
        assert_eq!(mistake.lost, lost, "{mistake}");
        assert!(storage.files() == *before, "a mistake changes nothing");
        assert_eq!(storage.open_handles(), 0, "every handle is closed");
    }
}

/// A repeat, and an ordinary start, find nothing to do.
fn check_repeat(storage: &MemoryStorage, lost: &[LostRange], end: &Files) {
    let (_, verdict) = look(storage);
    assert!(verdict.is_served());
    let again = accept(storage, lost).unwrap();
    assert!(!again.is_accepted && !again.recovered.plan.repairs());
    assert!(storage.files() == *end, "a repeat changes nothing");
    let start = recover(storage, Mode::Repair, SERVER);
    assert!(start.plan.is_empty(), "{:?}", start.plan);
}

/// Every call of an acceptance crashes, or fails, and what is left is repeated: with and without power.
fn check_crashes(what: &str, damaged: &MemoryStorage) {
    let storage = damaged.clone();
    let Ok(found) = lost(&storage) else { return };
    let before = storage.files();
    storage.start(None);
    accept(&storage, &found.ranges).unwrap();
    let calls = storage.call_count();
    let end = logs(&storage);
    let steps: Vec<u64> = (8..=calls).collect();
    for call in steps {
        for fault in [Fault::CrashAfter(call), Fault::Once(call, Errno::IO)] {
            let storage = damaged.clone();
            storage.start(Some(fault));
            // Errors are the point; only what is left counts.
            let _ended = accept(&storage, &found.ranges);
            let powerless = storage.clone();
            powerless.lose_power();
            for (power, storage) in [("on", storage), ("lost", powerless)] {
                storage.start(None);
                let started = recover(&storage, Mode::Repair, SERVER);
                let is_refused = !started.verdict.is_served();
                if is_refused {
                    // Of several records some may have been written.
                    let left = lost(&storage).unwrap().ranges;
                    assert!(left.iter().all(|range| found.ranges.contains(range)), "{what}, {fault:?}");
                }
                accept(&storage, &found.ranges)
                    .unwrap_or_else(|mistake| panic!("{what}, {fault:?}, power {power}: {mistake}"));
                assert!(logs(&storage) == end, "{what}, {fault:?}, power {power}: another end");
                check_nothing_is_lost(NAMESPACE, &before, &storage.files());
            }
        }
    }
}

/// The logs of the partition: indexes depend on what a power cut left of them.
fn logs(storage: &MemoryStorage) -> Files {
    let mut files = storage.files();
    let digits = |path: &str| path.strip_prefix(&format!("{DIRECTORY}/"))?.strip_suffix(".log").map(str::len);
    files.retain(|path, _| digits(path) == Some(20));
    files
}

fn damaged(has_ledger: bool, accident: &Accident) -> MemoryStorage {
    let storage = written(has_ledger);
    accident.1(&storage);
    storage
}

#[track_caller]
fn check_table(has_ledger: bool, expected: &str) {
    let mut text = String::new();
    for accident in ACCIDENTS {
        let line = story(&damaged(has_ledger, accident));
        text.extend([accident.0, "\n    ", &line, "\n"]);
    }
    assert!(text == expected, "{text}");
}

#[test]
fn with_a_ledger_each_damage_costs_what_is_damaged_and_no_more() {
    check_table(true, include_str!("accept_loss_with_ledger.txt"));
}

#[test]
fn without_a_ledger_each_damage_costs_what_is_damaged_and_no_more() {
    check_table(false, include_str!("accept_loss_without_ledger.txt"));
}

#[test]
fn whatever_call_crashes_or_fails_a_repeat_comes_to_the_same_end() {
    for has_ledger in [true, false] {
        for accident in ACCIDENTS.iter().filter(|(what, _)| CRASHED.contains(what)) {
            check_crashes(accident.0, &damaged(has_ledger, accident));
        }
    }
}

/// I08: a survivor that overlaps the batches which are carried over is kept in the fence alone, and the log that
/// held it is replaced.
#[test]
fn offsets_of_a_batch_that_only_the_fence_holds_are_not_given_out_again() {
    let mut wide = Vec::new();
    let mut builder = BatchBuilder::begin(&mut wide, 1_000);
    for id in 0..4 {
        builder.push(&Message { id, payload: b"wide", ..Message::default() }).unwrap();
    }
    builder.finish();
    stamp(&mut wide, NAMESPACE.partition_id(), Offset::new(10), 5_000).unwrap();
    for has_ledger in [true, false] {
        let storage = written(has_ledger);
        change(&storage, LAST, |log| {
            let whole = log[..BATCH].to_vec();
            flip(payload_of(0))(log);
            log.truncate(BATCH);
            log.extend([whole, wide.clone()].concat());
        });
        let found = lost(&storage).unwrap();
        accept(&storage, &found.ranges).unwrap();
        let (facts, verdict) = look(&storage);
        let chain = facts.segments.last().unwrap().proven.next_offset;
        assert_eq!((chain, verdict.next_offset), (Offset::new(11), Some(Offset::new(14))));
    }
}

#[test]
fn the_ledger_says_what_was_given_up_before_anything_else_changes() {
    let storage = damaged(true, &ACCIDENTS[6]);
    let old = records(&storage, 0).len();
    let found = lost(&storage).unwrap();
    accept(&storage, &found.ranges).unwrap();
    assert_eq!(
        records(&storage, old),
        [
            "reserved",
            "accepted-loss 0@1 lost 3..4",
            "accepted-loss 0@1 lost 1..2",
            "sealed 4@5 then 5",
            "sealed 2@3 then 4",
            "sealed 0@1 then 2",
            "recovered 10@13",
            "clean-stop 10@13",
        ]
    );
}

/// Offsets 0 to 4 were deleted in their time, and 13 to 19 were only ever reserved.
fn retained_with_a_gap() -> MemoryStorage {
    let storage = written(true);
    let mut recovered = start(&storage);
    let mut adopted = Adopted::of(&recovered.facts, &recovered.verdict, &recovered.plan).unwrap();
    adopted.next_offset = Offset::new(20);
    let options = PartitionOptions::new(Durability::Proven, Some(INCARNATION));
    let mut writer =
        Writer::open(&storage, open(&storage), adopted, recovered.ledger.take(), options).unwrap();
    for number in 20..23 {
        writer.append(&storage, &batch(number + 1), 5_000).unwrap();
        let _acknowledged = writer.flush(&storage).unwrap();
    }
    writer.retain(&storage, Offset::new(5)).unwrap();
    writer.close(&storage).close(&storage);
    for (path, bytes) in storage.files() {
        storage.put(&path, &bytes);
    }
    storage
}

/// Issue 4: `--range` names exactly what is lost, and a repeat what was given up. What retention deleted, and what
/// was never given out, is neither.
#[test]
fn a_range_that_nobody_gave_up_is_refused_whatever_the_ledger_says_of_it_besides() {
    let healthy = retained_with_a_gap();
    let (facts, verdict) = look(&healthy);
    let ledger = facts.ledger.known().unwrap();
    let gap = RecordedGap { first: Offset::new(13), next: Offset::new(20) };
    assert!(verdict.is_served());
    assert_eq!((ledger.newest.floor.get(), &*ledger.gaps, &*ledger.given_up), (5, &[gap][..], &[][..]));
    let damaged = healthy.clone();
    change(&damaged, MIDDLE, flip(payload_of(2)));
    let lost = lost(&damaged).unwrap().ranges;
    assert_eq!(lost, [range(7, 7)]);
    for wrong in [range(0, 4), range(2, 4), range(4, 4), range(13, 19), range(13, 15), range(20, 22)] {
        for (storage, lost) in [(&healthy, &[][..]), (&damaged, &lost)] {
            let before = storage.files();
            let mistake = accept(storage, &[lost, &[wrong]].concat()).err().expect("a wrong range");
            assert_eq!(mistake.lost, lost, "{mistake}");
            assert!(storage.files() == before, "a mistake changes nothing");
        }
    }
    accept(&damaged, &lost).unwrap();
    let end = damaged.files();
    check_repeat(&damaged, &lost, &end);
    check_wrong_ranges(&damaged, &[], &end);
    for wrong in [range(2, 4), range(13, 19), range(6, 7), range(7, 8)] {
        assert!(accept(&damaged, &[wrong]).is_err(), "{wrong} was not given up");
    }
}

/// What was given up stays on record when the ledger is written anew.
#[test]
fn a_repeat_is_known_behind_a_compaction() {
    let storage = damaged(true, &ACCIDENTS[1]);
    let found = lost(&storage).unwrap();
    accept(&storage, &found.ranges).unwrap();
    let facts = look(&storage).0;
    let partition = open(&storage);
    let mut ledger =
        LedgerWriter::open(&storage, &partition.directory, facts.ledger.known().unwrap()).unwrap();
    ledger.compact(&storage, &partition.directory).unwrap();
    ledger.close(&storage);
    partition.close(&storage);
    assert_eq!(look(&storage).0.ledger.known().unwrap().newest.epoch, 2);
    assert!(!accept(&storage, &found.ranges).unwrap().is_accepted);
    assert!(accept(&storage, &[range(2, 3)]).is_err());
}
