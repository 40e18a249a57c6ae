//! The ledger's writer: which calls it makes, and what a failed one leaves.

use recovery_core::format::{ChainHash, FileName, LEDGER_RECORD_BYTES, LedgerKind, LedgerRecord, Mark};
use recovery_core::ledger::{LedgerError, LedgerWriter, NewLedger};
use recovery_core::observe::{LedgerFacts, RecordedGap, Seal, SegmentMarks};
use recovery_core::storage::{Errno, PartitionDirectory};
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset, Position, SegmentStart};

use crate::recording_storage::{Fault, RecordingStorage};

const NAMESPACE: Namespace = Namespace { stream: 1, topic: 1, partition: 1 };
const INCARNATION: Incarnation = Incarnation::new(7);
const EIO: Fault = Fault::Error(Errno::IO);

pub(crate) fn new_ledger() -> NewLedger {
    NewLedger {
        namespace: NAMESPACE,
        incarnation: INCARNATION,
        durability: Durability::Proven,
        epoch: 1,
        generation: 0,
        floor: SegmentStart::ZERO,
        reserved_offset: Offset::ZERO,
    }
}

pub(crate) fn mark(segment: u64, position: u64, next_offset: u64) -> Mark {
    let segment = SegmentStart::new(segment);
    let start = ChainHash::start(NAMESPACE, INCARNATION, segment);
    let chain_hash = if position == 0 { start } else { ChainHash::new(next_offset) };
    Mark { segment, position: Position::new(position), next_offset: Offset::new(next_offset), chain_hash }
}

pub(crate) fn frontier(segment: u64, position: u64, next_offset: u64) -> LedgerKind {
    LedgerKind::Frontier { mark: mark(segment, position, next_offset) }
}

pub(crate) fn sealed(segment: u64, position: u64, next_offset: u64, next_start: u64) -> LedgerKind {
    let next_start = SegmentStart::new(next_start);
    LedgerKind::Sealed { mark: mark(segment, position, next_offset), next_start }
}

pub(crate) fn created()
-> (RecordingStorage, PartitionDirectory<RecordingStorage>, LedgerWriter<RecordingStorage>) {
    let storage = RecordingStorage::new();
    let directory = storage.partition();
    let ledger = LedgerWriter::create(&storage, &directory.directory, &new_ledger()).unwrap();
    (storage, directory, ledger)
}

/// Every slot of the ledger's file: the kind, or what is wrong with it.
pub(crate) fn slots(storage: &RecordingStorage) -> Vec<String> {
    let bytes = storage.bytes(&FileName::ledger()).expect("there is a ledger");
    let (records, rest) = bytes.as_chunks::<LEDGER_RECORD_BYTES>();
    let mut lines: Vec<String> = records
        .iter()
        .enumerate()
        .map(|(slot, bytes)| match LedgerRecord::decode(bytes) {
            Ok(record) => {
                assert_eq!(record.slot, slot as u64, "a record is bound to its slot");
                let at = record
                    .kind
                    .mark()
                    .map(|mark| format!(" {}:{}:{}", mark.segment, mark.position, mark.next_offset));
                format!("{} {}{}", record.epoch, record.kind.code(), at.unwrap_or_default())
            }
            Err(damage) => damage.to_string(),
        })
        .collect();
    if !rest.is_empty() {
        lines.push(format!("{} bytes", rest.len()));
    }
    lines
}

/// Every record of a ledger that has nothing else.
pub(crate) fn records(storage: &RecordingStorage) -> Vec<LedgerRecord> {
    let bytes = storage.bytes(&FileName::ledger()).expect("there is a ledger");
    let (records, _) = bytes.as_chunks::<LEDGER_RECORD_BYTES>();
    records.iter().map(|bytes| LedgerRecord::decode(bytes).expect("every slot holds a record")).collect()
}

#[test]
fn a_new_ledger_is_durable_before_it_has_its_name() {
    let storage = RecordingStorage::new();
    let directory = storage.partition();
    storage.take_calls();
    LedgerWriter::create(&storage, &directory.directory, &new_ledger()).unwrap();
    let expected = "create ledger.staging\nwrite ledger.staging at 0 +128\nsync ledger.staging\n\
                    rename ledger.staging to ledger\nsync-directory partition\n";
    assert_eq!(storage.take_calls(), expected);
    assert_eq!(slots(&storage.after_power_cut()), ["1 floor"]);
}

#[test]
fn a_creation_that_fails_at_any_call_leaves_no_handle_and_can_be_repeated() {
    for k in 1.. {
        let storage = RecordingStorage::new();
        let directory = storage.partition();
        let before = storage.open_handles();
        storage.arm(k, &[EIO]);
        let created = LedgerWriter::create(&storage, &directory.directory, &new_ledger());
        if storage.disarm() {
            assert_eq!(k, 6, "every call of a creation was made to fail once");
            break;
        }
        let error = created.err().expect("the call failed");
        let is_name_unknown = k == 5;
        assert_eq!(matches!(error, LedgerError::Poisoned { .. }), is_name_unknown, "call {k}: {error}");
        assert_eq!(storage.open_handles(), before, "call {k} left a handle open");
        let again = LedgerWriter::create(&storage, &directory.directory, &new_ledger()).unwrap();
        again.close(&storage);
        assert_eq!(storage.names(), ["ledger"]);
    }
}

/// G22: nothing half made is left for ever.
#[test]
fn a_half_made_ledger_of_an_earlier_attempt_is_replaced() {
    let storage = RecordingStorage::new();
    let directory = storage.partition();
    storage.put(&FileName::ledger_staging(), b"half");
    LedgerWriter::create(&storage, &directory.directory, &new_ledger()).unwrap();
    assert_eq!(storage.names(), ["ledger"]);
    assert_eq!(slots(&storage), ["1 floor"]);
}

#[test]
fn what_has_the_staging_name_is_removed_only_where_it_is_in_the_way() {
    let storage = RecordingStorage::new();
    let directory = storage.partition();
    storage.arm(1, &[Fault::Error(Errno::NO_SPACE)]);
    storage.take_calls();
    let created = LedgerWriter::create(&storage, &directory.directory, &new_ledger());
    assert_eq!(created.err().expect("the call failed").code(), "ledger-io");
    assert_eq!(storage.take_calls(), "create ledger.staging: ENOSPC\n");
}

#[test]
fn records_take_slots_in_order_and_a_sync_covers_them_all_once() {
    let (storage, _directory, mut ledger) = created();
    storage.take_calls();
    ledger.append(&storage, frontier(0, 0, 0)).unwrap();
    ledger.append(&storage, frontier(0, 404, 2)).unwrap();
    ledger.sync(&storage).unwrap();
    ledger.sync(&storage).unwrap();
    assert_eq!(storage.take_calls(), "write ledger at 128 +128\nwrite ledger at 256 +128\nsync ledger\n");
    assert_eq!(slots(&storage.after_power_cut()), ["1 floor", "1 frontier 0:0:0", "1 frontier 0:404:2"]);
}

#[test]
fn a_record_that_fails_is_cut_back_and_its_slot_used_again() {
    let (storage, _directory, mut ledger) = created();
    storage.arm(1, &[Fault::Short(100), Fault::Error(Errno::NO_SPACE)]);
    storage.take_calls();
    let error = ledger.append(&storage, frontier(0, 404, 2)).unwrap_err();
    assert_eq!(error.code(), "ledger-io");
    assert_eq!(
        storage.take_calls(),
        "write ledger at 128 +128: 100 taken\nwrite ledger at 228 +28: ENOSPC\nset-length ledger 128\n"
    );
    assert_eq!(slots(&storage), ["1 floor"]);
    ledger.append(&storage, frontier(0, 404, 2)).unwrap();
    assert_eq!(slots(&storage), ["1 floor", "1 frontier 0:404:2"]);
}

#[test]
fn a_cut_back_that_fails_ends_all_writing() {
    let (storage, _directory, mut ledger) = created();
    storage.arm(1, &[Fault::Short(100), EIO, EIO]);
    let error = ledger.append(&storage, frontier(0, 404, 2)).unwrap_err();
    assert_eq!(error.code(), "ledger-poisoned");
    storage.take_calls();
    assert_eq!(ledger.append(&storage, frontier(0, 404, 2)), Err(error));
    assert_eq!(ledger.sync(&storage), Err(error));
    assert_eq!(storage.take_calls(), "\n", "a poisoned ledger makes no call");
}

#[test]
fn a_sync_that_fails_is_not_repeated_and_ends_all_writing() {
    let (storage, directory, mut ledger) = created();
    ledger.append(&storage, frontier(0, 404, 2)).unwrap();
    storage.arm(1, &[Fault::Error(Errno::INTERRUPTED)]);
    storage.take_calls();
    let error = ledger.sync(&storage).unwrap_err();
    assert_eq!(error.code(), "ledger-poisoned");
    assert_eq!(ledger.sync(&storage), Err(error));
    assert_eq!(ledger.append(&storage, frontier(0, 500, 3)), Err(error));
    assert_eq!(ledger.compact(&storage, &directory.directory), Err(error));
    assert_eq!(storage.take_calls(), "sync ledger: EINTR\n");
}

#[test]
fn every_record_repeats_floor_reserved_offset_and_generation() {
    let (storage, _directory, mut ledger) = created();
    ledger.append(&storage, sealed(0, 404, 10, 10)).unwrap();
    ledger.reserve(&storage, Offset::new(50)).unwrap();
    ledger.reserve(&storage, Offset::new(20)).unwrap();
    ledger.append(&storage, LedgerKind::Recovered { mark: mark(10, 404, 12) }).unwrap();
    ledger.raise_floor(&storage, SegmentStart::new(10)).unwrap();
    let newest = ledger.newest();
    assert_eq!(
        (newest.floor.get(), newest.reserved_offset.get(), newest.generation),
        (10, 50, 1),
        "a reserved offset and a floor never fall, a recovery counts"
    );
    assert_eq!(ledger.newest_mark(SegmentStart::ZERO), None, "what lies below the floor is forgotten");
    ledger.clean_stop(&storage, mark(10, 404, 12), Offset::new(12)).unwrap();
    assert_eq!(ledger.newest().reserved_offset.get(), 12, "only a clean stop lets it fall");
}

#[test]
fn a_failed_record_changes_no_repeated_field() {
    let (storage, _directory, mut ledger) = created();
    let before = *ledger.newest();
    storage.arm(1, &[EIO]);
    ledger.reserve(&storage, Offset::new(50)).unwrap_err();
    storage.arm(1, &[EIO]);
    ledger.append(&storage, LedgerKind::Recovered { mark: mark(0, 404, 2) }).unwrap_err();
    assert_eq!(*ledger.newest(), before);
    assert_eq!(ledger.newest_mark(SegmentStart::ZERO), None);
}

#[test]
fn a_compaction_keeps_seals_newest_marks_losses_and_the_newest_record() {
    let (storage, directory, mut ledger) = created();
    ledger.append(&storage, frontier(0, 404, 10)).unwrap();
    ledger.append(&storage, sealed(0, 808, 20, 20)).unwrap();
    let loss =
        LedgerKind::AcceptedLoss { mark: mark(20, 404, 30), first: Offset::new(30), next: Offset::new(40) };
    ledger.append(&storage, frontier(20, 808, 40)).unwrap();
    ledger.append(&storage, loss).unwrap();
    ledger.append(&storage, sealed(20, 404, 30, 40)).unwrap();
    ledger.append(&storage, frontier(40, 0, 40)).unwrap();
    ledger.append(&storage, frontier(40, 404, 50)).unwrap();
    ledger.reserve(&storage, Offset::new(60)).unwrap();
    storage.take_calls();
    ledger.compact(&storage, &directory.directory).unwrap();
    let expected = "create ledger.staging\nwrite ledger.staging at 0 +640\nsync ledger.staging\n\
                    rename ledger.staging to ledger\nsync-directory partition\n";
    assert_eq!(storage.take_calls(), expected);
    let kept = [
        "2 accepted-loss 20:404:30",
        "2 sealed 0:808:20",
        "2 sealed 20:404:30",
        "2 frontier 40:404:50",
        "2 reserved",
    ];
    assert_eq!(slots(&storage.after_power_cut()), kept);
    assert_eq!(ledger.length(), Length::new(640));
    ledger.append(&storage, frontier(40, 808, 60)).unwrap();
    assert_eq!(slots(&storage)[5], "2 frontier 40:808:60", "appending goes on in the new file");
}

#[test]
fn a_compaction_that_fails_at_any_call_keeps_the_old_file_or_ends_all_writing() {
    for k in 1.. {
        let (storage, directory, mut ledger) = created();
        ledger.append(&storage, frontier(0, 404, 10)).unwrap();
        let before = storage.open_handles();
        storage.arm(k, &[EIO]);
        let compacted = ledger.compact(&storage, &directory.directory);
        if storage.disarm() {
            assert_eq!(k, 6, "every call of a compaction was made to fail once");
            break;
        }
        let error = compacted.unwrap_err();
        assert_eq!(storage.open_handles(), before, "call {k} left a handle open");
        if k == 5 {
            assert_eq!(error.code(), "ledger-poisoned", "a rename that may not last");
            continue;
        }
        assert_eq!(error.code(), "ledger-io", "call {k}");
        assert_eq!(slots(&storage), ["1 floor", "1 frontier 0:404:10"], "call {k}");
        ledger.append(&storage, frontier(0, 808, 20)).unwrap();
        assert_eq!(slots(&storage)[2], "1 frontier 0:808:20", "call {k}");
        ledger.compact(&storage, &directory.directory).unwrap();
        assert_eq!(slots(&storage), ["2 frontier 0:808:20", "2 frontier 0:808:20"], "call {k}");
    }
}

fn facts(newest: LedgerRecord, next_slot: u64) -> LedgerFacts {
    LedgerFacts {
        newest,
        next_slot,
        valid: next_slot,
        skipped: 0,
        segments: Vec::new(),
        gaps: Vec::new(),
        given_up: Vec::new(),
    }
}

#[test]
fn appending_goes_on_behind_every_byte_of_the_file() {
    let (storage, directory, mut ledger) = created();
    storage.arm(1, &[Fault::Short(100), EIO, EIO]);
    ledger.append(&storage, frontier(0, 404, 2)).unwrap_err();
    let newest = *ledger.newest();
    ledger.close(&storage);
    let mut again = LedgerWriter::open(&storage, &directory.directory, &facts(newest, 2)).unwrap();
    again.append(&storage, frontier(0, 404, 2)).unwrap();
    let read = slots(&storage);
    assert_eq!(read.len(), 3);
    assert_eq!((read[0].as_str(), read[2].as_str()), ("1 floor", "1 frontier 0:404:2"));
    assert!(read[1].contains("is stored"), "the half record is skipped: {}", read[1]);
}

#[test]
fn a_ledger_that_changed_since_it_was_read_is_not_opened() {
    let (storage, directory, mut ledger) = created();
    let newest = *ledger.newest();
    ledger.append(&storage, frontier(0, 404, 2)).unwrap();
    ledger.close(&storage);
    let before = storage.open_handles();
    let error = LedgerWriter::open(&storage, &directory.directory, &facts(newest, 1)).err().unwrap();
    assert_eq!(error.code(), "ledger-size-mismatch");
    assert_eq!(
        error.to_string(),
        "the ledger has 256 bytes, and when it was read its records ended between 1 and 128"
    );
    assert_eq!(storage.open_handles(), before);
}

#[test]
fn a_ledger_is_opened_if_it_ends_inside_the_last_slot_that_was_read() {
    for (bytes, is_opened) in [(0, false), (128, false), (129, true), (256, true), (257, false)] {
        let (storage, directory, ledger) = created();
        let newest = *ledger.newest();
        ledger.close(&storage);
        let mut file = storage.bytes(&FileName::ledger()).expect("there is a ledger");
        file.resize(bytes, 0);
        storage.put(&FileName::ledger(), &file);
        let opened = LedgerWriter::open(&storage, &directory.directory, &facts(newest, 2));
        let code = opened.err().map(|error| error.code());
        assert_eq!(code, (!is_opened).then_some("ledger-size-mismatch"), "{bytes} bytes");
    }
}

#[test]
fn a_loss_that_was_read_keeps_its_place_through_a_compaction() {
    let (storage, directory, ledger) = created();
    let newest = *ledger.newest();
    ledger.close(&storage);
    let seal = Seal { mark: mark(0, 404, 10), next_start: SegmentStart::new(20) };
    let marks = |newest, seal| SegmentMarks {
        segment: newest_segment(newest),
        newest,
        seal,
        accepts_loss: false,
        checks: vec![],
    };
    let gap = |first, next| RecordedGap { first: Offset::new(first), next: Offset::new(next) };
    let mut read = facts(newest, 1);
    read.segments = vec![marks(seal.mark, Some(seal)), marks(mark(20, 404, 30), None)];
    // The seal explains the first gap, and an operator the second.
    (read.gaps, read.given_up) = (vec![gap(10, 20), gap(30, 35)], vec![gap(30, 35)]);
    let mut again = LedgerWriter::open(&storage, &directory.directory, &read).unwrap();
    assert_eq!(again.compacted_length(), Some(Length::new(4 * 128)));
    again.compact(&storage, &directory.directory).unwrap();
    let kept = ["2 accepted-loss 20:404:30", "2 sealed 0:404:10", "2 frontier 20:404:30", "2 floor"];
    assert_eq!(slots(&storage), kept);

    (read.gaps, read.given_up) = (vec![gap(31, 35)], vec![gap(31, 35)]);
    read.next_slot = 4;
    let mut unplaced = LedgerWriter::open(&storage, &directory.directory, &read).unwrap();
    assert_eq!(unplaced.compacted_length(), None);
    let error = unplaced.compact(&storage, &directory.directory).unwrap_err();
    assert_eq!(error.to_string(), "offsets 31 to 34 were given up, and no mark of the ledger ends there");
}

const fn newest_segment(mark: Mark) -> SegmentStart {
    mark.segment
}

#[test]
fn the_largest_counts_are_lived_with() {
    let (storage, directory, ledger) = created();
    let newest = LedgerRecord { epoch: u64::MAX, generation: u64::MAX, slot: 1, ..*ledger.newest() };
    ledger.close(&storage);
    let bytes = [storage.bytes(&FileName::ledger()).unwrap(), newest.encode().to_vec()].concat();
    storage.put(&FileName::ledger(), &bytes);
    let mut ledger = LedgerWriter::open(&storage, &directory.directory, &facts(newest, 2)).unwrap();
    let kind = LedgerKind::Recovered { mark: mark(0, 0, 0) };
    ledger.append(&storage, kind).unwrap();
    assert_eq!(ledger.newest().generation, u64::MAX);
    // No file could count above this one, so it stays.
    assert_eq!(ledger.compacted_length(), None);
    let error = ledger.compact(&storage, &directory.directory).unwrap_err();
    assert_eq!(error, LedgerError::EpochsUsedUp);
    assert_eq!(slots(&storage).len(), 3);
}
