//! Whole recoveries over what the writer wrote and accidents left: no byte is lost, whatever call fails or
//! crashes, and a second start finds nothing to do.

use recovery_core::format::{BatchBuilder, Message, partition_components};
use recovery_core::observe::{Expectation, Workspace};
use recovery_core::partition::{Adopted, PartitionOptions, Writer};
use recovery_core::plan::PlanOptions;
use recovery_core::storage::os::OsStorage;
use recovery_core::storage::{Errno, PartitionDirectory};
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset};

use crate::fixture::Fixture;
use crate::memory_storage::{Fault, MemoryStorage};
use crate::recovery_run::{Files, Start, check_nothing_is_lost, files_below, start};

const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
const INCARNATION: Incarnation = Incarnation::new(7);
const DIRECTORY: &str = "streams/1/topics/2/partitions/3";
const SERVER: PlanOptions = PlanOptions { sync_indexes: false, clean_stop: false, makes_ledger: false };
const TOOL: PlanOptions = PlanOptions { sync_indexes: true, clean_stop: true, makes_ledger: false };

/// Bytes of a payload.
const PAYLOAD: usize = 20;

fn batch(messages: u32, payload: u8, payload_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = BatchBuilder::begin(&mut bytes, 1_000);
    for id in 1..=messages {
        let payload = vec![payload; payload_bytes];
        builder.push(&Message { id: u128::from(id), payload: &payload, ..Message::default() }).unwrap();
    }
    builder.finish();
    bytes
}

/// What a writer leaves that dies without a word after seven batches in three segments.
fn written(durability: Durability, has_ledger: bool, payload_bytes: usize) -> MemoryStorage {
    let storage = MemoryStorage::new();
    storage.put_directory(DIRECTORY);
    let partition = PartitionDirectory::open(&storage, &partition_components(NAMESPACE)).unwrap();
    let adopted = Adopted {
        namespace: NAMESPACE,
        segments: Vec::new(),
        expired: Vec::new(),
        next_offset: Offset::ZERO,
        ledger: None,
        invalid_ledger_length: Length::ZERO,
    };
    let options = PartitionOptions {
        segment_bytes: Length::new(700),
        ..PartitionOptions::new(durability, has_ledger.then_some(INCARNATION))
    };
    let mut writer = Writer::open(&storage, partition, adopted, None, options).unwrap();
    for number in 0..7 {
        writer.append(&storage, &batch(u32::from(number % 2) + 1, number + 1, payload_bytes), 5_000).unwrap();
        if number < 5 {
            let _acknowledged = writer.flush(&storage).unwrap();
        }
    }
    // The last two are one flush, so that the first of them can be torn before a whole one.
    let _acknowledged = writer.flush(&storage).unwrap();
    writer.close(&storage).close(&storage);
    storage
}

fn expectation() -> Expectation {
    Expectation { incarnation: Some(INCARNATION), ..Expectation::of(NAMESPACE) }
}

fn recover(storage: &MemoryStorage, options: PlanOptions) -> Result<Start, Errno> {
    let mut workspace = Workspace::new(512);
    let started = start(storage, expectation(), options, &mut workspace, 4096);
    if started.is_ok() {
        assert_eq!(storage.open_handles(), 0, "a start closes what it opened");
    }
    started.map_err(|error| error.errno)
}

/// One accident: a file, and what becomes of its bytes.
type Accident = (&'static str, &'static str, fn(&mut Vec<u8>));

const LAST: &str = "00000000000000000006.log";
const LAST_INDEX: &str = "00000000000000000006.index";

const ACCIDENTS: &[Accident] = &[
    ("the last batch is short by a byte", LAST, |log| log.truncate(log.len().saturating_sub(1))),
    ("the last batch has half a header", LAST, |log| log.truncate(log.len().saturating_sub(300))),
    ("zeros follow", LAST, |log| log.extend([0; 100])),
    ("noise follows", LAST, |log| log.extend([0xee; 700])),
    ("noise follows zeros", LAST, |log| log.extend([[0; 64], [7; 64]].concat())),
    ("a bit flips in the last batch", LAST, |log| flip(log, 1_039)),
    ("a bit flips in the last flush's first batch", LAST, |log| flip(log, 324 + 300)),
    ("a bit flips in the segment's first batch", LAST, |log| flip(log, 300)),
    ("the whole log is zeros", LAST, |log| log.fill(0)),
    ("the whole log is noise", LAST, |log| log.fill(9)),
    ("an inner log ends early", "00000000000000000000.log", |log| log.truncate(400)),
    ("an inner log goes on with zeros", "00000000000000000000.log", |log| log.extend([0; 9])),
    ("an inner log goes on with noise", "00000000000000000000.log", |log| log.extend([8; 9])),
    ("a bit flips in an inner log", "00000000000000000000.log", |log| flip(log, 310)),
    ("an index is zeros", LAST_INDEX, |index| index.fill(0)),
    ("an index has half an entry more", LAST_INDEX, |index| index.extend([5; 12])),
    ("an index is empty", LAST_INDEX, |index| index.clear()),
    ("an index is of another log", LAST_INDEX, |index| flip(index, 16)),
    ("an index has no log", "00000000000000000099.index", |index| index.extend([3; 24])),
    ("a staged index was not finished", "00000000000000000006.index.staging", |index| index.extend([3; 9])),
    ("a transfer was not finished", "00000000000000000077.log.staging", |log| log.extend([3; 900])),
    ("the ledger has half a record more", "ledger", |ledger| ledger.extend([4; 60])),
    ("the ledger is gone but for its name", "ledger", |ledger| ledger.clear()),
    ("nothing happens", "notes.txt", |text| text.extend(b"mine")),
];

/// Flips a bit, if the file is that long.
fn flip(bytes: &mut [u8], at: usize) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 8;
    }
}

/// The writer's files after these accidents.
fn after(storage: &MemoryStorage, accidents: &[&Accident]) -> MemoryStorage {
    let storage = storage.clone();
    for (_, file, happens) in accidents {
        let path = format!("{DIRECTORY}/{file}");
        let mut bytes = storage.files().get(&path).cloned().unwrap_or_default();
        happens(&mut bytes);
        storage.put(&path, &bytes);
    }
    storage
}

/// What the writers leave, with the options of who starts on it.
fn images() -> Vec<(String, MemoryStorage, PlanOptions)> {
    let mut images = Vec::new();
    for (durability, has_ledger, options) in [
        (Durability::Buffered, true, SERVER),
        (Durability::Synced, true, TOOL),
        (Durability::Buffered, false, SERVER),
    ] {
        let image = written(durability, has_ledger, PAYLOAD);
        images.push((format!("{} with a ledger: {has_ledger}", durability.code()), image, options));
    }
    images
}

/// Starts twice; returns the files after the first start and whether that served.
fn check_start(what: &str, storage: &MemoryStorage, options: PlanOptions) -> (Files, bool) {
    let before = storage.files();
    let started = recover(storage, options).unwrap();
    let end = storage.files();
    if !started.verdict.is_served() {
        assert_eq!(end, before, "{what}: refused means untouched");
        return (end, false);
    }
    check_nothing_is_lost(NAMESPACE, &before, &end);
    for path in &started.fenced {
        assert!(end.contains_key(&format!("streams/1/topics/2/partitions/{path}")), "{what}: {path}");
    }
    storage.start(None);
    let again = recover(storage, options).unwrap();
    assert!(again.plan.is_empty(), "{what}: the second start plans {:?}", again.plan);
    assert_eq!(storage.files(), end, "{what}: the second start changes nothing");
    assert_eq!(again.verdict.next_offset, started.verdict.next_offset, "{what}");
    (end, true)
}

fn without_ledger(mut files: Files) -> Files {
    files.remove(&format!("{DIRECTORY}/ledger"));
    files
}

#[test]
fn a_start_loses_nothing_and_the_next_one_has_nothing_to_do() {
    let mut served = 0;
    let mut refused = 0;
    for (image, written, options) in images() {
        for first in ACCIDENTS {
            for second in ACCIDENTS {
                let storage = after(&written, &[first, second]);
                storage.start(None);
                let what = format!("{image}; {}; {}", first.0, second.0);
                let (_, is_served) = check_start(&what, &storage, options);
                *(if is_served { &mut served } else { &mut refused }) += 1;
            }
        }
    }
    assert!(served > refused && refused > 50, "{served} served and {refused} refused");
}

#[test]
fn calls_that_fail_are_no_evidence_of_anything() {
    for (image, written, options) in images() {
        for accident in &ACCIDENTS[..8] {
            let damaged = after(&written, &[accident]);
            let before = damaged.files();
            let undisturbed = damaged.clone();
            undisturbed.start(None);
            let expected = recover(&undisturbed, options).unwrap();
            let mut errors = 0;
            // A read is tried again, so that one failure may go unseen, and two may not.
            for call in 1..=undisturbed.call_count() {
                let what = format!("{image}; {}; calls {call} and the next", accident.0);
                let storage = damaged.clone();
                storage.start(Some(Fault::Twice(call, Errno::IO)));
                match recover(&storage, options) {
                    Ok(started) => {
                        assert_eq!(started.verdict, expected.verdict, "{what}");
                        assert_eq!(storage.files(), undisturbed.files(), "{what}");
                    }
                    Err(errno) => {
                        assert_eq!(errno, Errno::IO, "{what}");
                        errors += 1;
                    }
                }
                check_nothing_is_lost(NAMESPACE, &before, &storage.files());
            }
            assert!(errors > 10, "{image}; {}: {errors} starts failed", accident.0);
        }
    }
}

#[test]
fn one_read_that_lies_is_no_evidence_of_anything() {
    for (image, written, options) in images() {
        for accident in ACCIDENTS {
            let damaged = after(&written, &[accident]);
            let before = damaged.files();
            let undisturbed = damaged.clone();
            undisturbed.start(None);
            let expected = recover(&undisturbed, options).unwrap();
            for call in 1..=undisturbed.call_count() {
                let what = format!("{image}; {}; call {call}", accident.0);
                let storage = damaged.clone();
                storage.start(Some(Fault::Misread(call)));
                match recover(&storage, options) {
                    Ok(started) => {
                        // What a refusal says it found was read once: nothing is done that would call for more.
                        let (found, right) = (started.verdict.is_served(), expected.verdict.is_served());
                        assert_eq!(found, right, "{what}: {:?}", started.verdict);
                        assert_eq!(started.verdict.next_offset, expected.verdict.next_offset, "{what}");
                        let (files, expected) = (storage.files(), undisturbed.files());
                        let first = expected.iter().find(|(path, bytes)| files.get(*path) != Some(bytes));
                        assert_eq!(first.map(|f| f.0), None, "{what}");
                    }
                    Err(errno) => assert_eq!(errno, Errno::STALE, "{what}"),
                }
                check_nothing_is_lost(NAMESPACE, &before, &storage.files());
            }
        }
    }
}

#[test]
fn a_survivor_that_one_read_does_not_show_is_still_one() {
    // Wider than the window, so that it is read for itself.
    let (options, written) = (SERVER, written(Durability::Buffered, false, 700));
    let last_flush: Accident = ("its first batch", "00000000000000000007.log", |log| flip(log, 300));
    let damaged = after(&written, &[&last_flush]);
    let undisturbed = damaged.clone();
    undisturbed.start(None);
    assert!(!recover(&undisturbed, options).unwrap().verdict.is_served());
    for call in 1..=undisturbed.call_count() {
        let storage = damaged.clone();
        storage.start(Some(Fault::Misread(call)));
        match recover(&storage, options) {
            Ok(started) => assert!(!started.verdict.is_served(), "call {call}: {:?}", started.verdict),
            Err(errno) => assert_eq!(errno, Errno::STALE, "call {call}"),
        }
    }
}

#[test]
fn a_crash_at_any_call_is_made_up_for_by_the_next_start() {
    for (number, (image, written, options)) in images().into_iter().enumerate() {
        // Every call of the first image; of the others, which take the same paths, every third.
        let stride = if number == 0 { 1 } else { 3 };
        for accident in ACCIDENTS {
            let damaged = after(&written, &[accident]);
            // What no sync has covered may go with the power, whatever recovery does.
            let durable = damaged.clone();
            durable.lose_power();
            let undisturbed = damaged.clone();
            undisturbed.start(None);
            if recover(&undisturbed, options).unwrap().plan.is_empty() {
                continue;
            }
            let calls = undisturbed.call_count();
            let end = without_ledger(undisturbed.files());
            for call in (1..calls).step_by(stride) {
                let what = format!("{image}; {}; call {call} of {calls}", accident.0);
                let storage = damaged.clone();
                storage.start(Some(Fault::CrashAfter(call)));
                recover(&storage, options).unwrap_err();
                let powerless = storage.clone();
                storage.start(None);
                check_start(&what, &storage, options);
                assert_eq!(without_ledger(storage.files()), end, "{what}");

                powerless.lose_power();
                powerless.start(None);
                check_start(&what, &powerless, options);
                check_nothing_is_lost(NAMESPACE, &durable.files(), &powerless.files());
            }
        }
    }
}

#[test]
fn a_real_directory_on_a_real_disk_is_recovered_twice_like_once() {
    for make in [Fixture::headers, Fixture::torn_tail] {
        for options in [SERVER, TOOL] {
            let fixture = make();
            std::fs::write(fixture.partition_path().join("left-over.staging"), [5; 5000]).unwrap();
            let before = files_below(fixture.path());
            let storage = OsStorage::open(fixture.path()).unwrap();
            let mut workspace = Workspace::new(64 * 1024);
            let expectation = Expectation::of(fixture.namespace);
            let first = start(&storage, expectation, options, &mut workspace, 1 << 20).unwrap();
            let end = files_below(fixture.path());
            assert!(first.verdict.is_served(), "{:?}", first.verdict);
            check_nothing_is_lost(fixture.namespace, &before, &end);
            assert!(!first.fenced.is_empty(), "the left-over is in a fence");
            let second = start(&storage, expectation, options, &mut workspace, 1 << 20).unwrap();
            assert!(second.plan.is_empty(), "{:?}", second.plan);
            assert_eq!(files_below(fixture.path()), end);
        }
    }
}
