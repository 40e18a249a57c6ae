//! What an open ledger says of itself: seals and losses as later records are written behind them, its mode, its name.

use recovery_core::format::{LedgerKind, LedgerRecord};
use recovery_core::ledger::{LedgerError, LedgerWriter};
use recovery_core::observe::Seal;
use recovery_core::storage::{Errno, Storage};
use recovery_core::units::{Durability, Length, Offset, SegmentStart};

use crate::ledger::{created, frontier, mark, new_ledger, records, sealed, slots};
use crate::memory_storage::{Fault, MemoryStorage};
use crate::recording_storage::RecordingStorage;

/// A loss accepted where segment `segment` ends at byte `position`.
fn loss(segment: u64, position: u64, first: u64, next: u64) -> LedgerKind {
    let mark = mark(segment, position, first);
    LedgerKind::AcceptedLoss { mark, first: Offset::new(first), next: Offset::new(next) }
}

/// How many records a compaction would leave, the one that repeats the newest included.
fn compacted(ledger: &LedgerWriter<RecordingStorage>) -> Option<u64> {
    ledger.compacted_length().map(|length| length.get() / 128)
}

#[test]
fn a_seal_stands_until_a_mark_of_its_segment_lies_elsewhere() {
    let (storage, _directory, mut ledger) = created();
    let seal = Seal { mark: mark(0, 404, 10), next_start: SegmentStart::new(12) };
    ledger.append(&storage, sealed(0, 404, 10, 12)).unwrap();
    assert_eq!(ledger.seal(SegmentStart::ZERO), Some(seal));
    ledger.append(&storage, frontier(0, 404, 10)).unwrap();
    assert_eq!(ledger.seal(SegmentStart::ZERO), Some(seal), "the mark says what the seal says");
    ledger.append(&storage, frontier(0, 808, 20)).unwrap();
    assert_eq!(ledger.seal(SegmentStart::ZERO), None, "the segment has grown");
}

#[test]
fn a_loss_that_is_said_again_is_kept_once_and_another_one_beside_it() {
    let (storage, directory, mut ledger) = created();
    ledger.append(&storage, loss(0, 404, 10, 20)).unwrap();
    assert_eq!(compacted(&ledger), Some(3), "the loss, its mark and the newest record");
    ledger.append(&storage, loss(0, 404, 10, 20)).unwrap();
    assert_eq!(compacted(&ledger), Some(3));
    ledger.append(&storage, loss(0, 404, 10, 30)).unwrap();
    assert_eq!(compacted(&ledger), Some(4), "it begins where the other does and ends elsewhere");
    ledger.append(&storage, loss(0, 404, 12, 30)).unwrap();
    assert_eq!(compacted(&ledger), Some(5), "it ends where the other does and begins elsewhere");
    ledger.compact(&storage, &directory.directory).unwrap();
    let kept = [
        "2 accepted-loss 0:404:10",
        "2 accepted-loss 0:404:10",
        "2 accepted-loss 0:404:12",
        "2 frontier 0:404:12",
        "2 accepted-loss 0:404:12",
    ];
    assert_eq!(slots(&storage), kept);
}

#[test]
fn a_loss_of_no_offset_is_a_mark_and_no_loss() {
    let (storage, directory, mut ledger) = created();
    ledger.append(&storage, loss(0, 404, 10, 10)).unwrap();
    ledger.append(&storage, LedgerKind::Reserved).unwrap();
    ledger.compact(&storage, &directory.directory).unwrap();
    assert_eq!(slots(&storage), ["2 frontier 0:404:10", "2 reserved"]);
}

#[test]
fn a_loss_is_forgotten_once_the_floor_has_reached_its_end() {
    let (storage, directory, mut ledger) = created();
    for kind in [loss(0, 404, 10, 20), frontier(20, 0, 20), loss(20, 404, 30, 40), frontier(40, 0, 40)] {
        ledger.append(&storage, kind).unwrap();
    }
    assert_eq!(compacted(&ledger), Some(6));
    ledger.raise_floor(&storage, SegmentStart::new(20)).unwrap();
    ledger.compact(&storage, &directory.directory).unwrap();
    let kept = ["2 accepted-loss 20:404:30", "2 frontier 20:404:30", "2 frontier 40:0:40", "2 floor"];
    assert_eq!(slots(&storage), kept);
    assert_eq!(ledger.length(), Length::new(4 * 128));
}

#[test]
fn records_say_the_mode_in_which_they_were_written() {
    let (storage, directory, mut ledger) = created();
    ledger.append(&storage, frontier(0, 0, 0)).unwrap();
    ledger.set_durability(Durability::Buffered);
    ledger.append(&storage, frontier(0, 404, 2)).unwrap();
    let modes = |storage| -> Vec<Durability> {
        records(storage).iter().map(|record: &LedgerRecord| record.durability).collect()
    };
    assert_eq!(modes(&storage), [Durability::Proven, Durability::Proven, Durability::Buffered]);
    ledger.compact(&storage, &directory.directory).unwrap();
    assert_eq!(modes(&storage), [Durability::Buffered, Durability::Buffered]);
    ledger.append(&storage, frontier(0, 808, 4)).unwrap();
    assert_eq!(modes(&storage)[2], Durability::Buffered);
}

/// A storage may call a file by the name under which it was opened, and a new ledger is opened under another one.
#[test]
fn what_fails_is_the_ledger_whatever_it_was_called_before() {
    for calls_that_fail in [1, 2] {
        let storage = MemoryStorage::new();
        let directory = storage.root().unwrap();
        let mut ledger = LedgerWriter::create(&storage, &directory, &new_ledger()).unwrap();
        // A record that was not written, then one that could not be cut back either.
        let fault = if calls_that_fail == 1 { Fault::Once(1, Errno::IO) } else { Fault::Twice(1, Errno::IO) };
        storage.start_again(Some(fault));
        let (LedgerError::Io(cause) | LedgerError::Poisoned { cause }) =
            ledger.append(&storage, frontier(0, 0, 0)).unwrap_err()
        else {
            panic!("a call failed")
        };
        assert_eq!(cause.file.to_string(), "ledger", "{calls_that_fail} calls fail");
    }
}
