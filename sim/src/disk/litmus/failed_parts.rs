//! FAULT_MODEL 2.6: what follows when only a part of a sync fails, or more than one does, one program a cell.

use recovery_core::storage::{Call, Errno, Storage};

use crate::disk::{Disturbance, Injection, SyncPart};
use crate::schedule::{CallPoint, Filesystem, Fill, Times};

use super::explore::CAUSE;
use super::failed_sync::{NEW, OLD, fail_next_sync, failing_sync, lose_all, old_or_new};
use super::hand::{PAGE, SECTOR};
use super::{Litmus, Seen};

pub(super) const TESTS: &[Litmus] = &[
    Litmus {
        name: "failed-journal",
        cell: "2.6 journal or log block fails",
        outcomes: &[("read-only", "owj"), ("shutdown", "x"), ("sync-fails", "bp")],
        program: failed_journal,
    },
    Litmus {
        name: "failed-metadata-in-place",
        cell: "2.6 in-place metadata block fails: not reported at fsync; later read-only, or shutdown",
        outcomes: &[("read-only", "owjbp"), ("shutdown", "x")],
        program: failed_in_place,
    },
    Litmus {
        name: "some-pages-fail",
        cell: "2.6 data block write fails: the pages that did not fail are written",
        outcomes: &[("half-old", "owjxp"), ("old", "b")],
        program: some_pages_fail,
    },
    Litmus {
        name: "many-failures-one-report",
        cell: "2.6 many failures collapse into one report",
        outcomes: &[("one-report", "owjxbp")],
        program: many_failures,
    },
];

fn failed_journal(filesystem: Filesystem, seen: &mut Seen) {
    let hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, SECTOR);
    hand.write(&file, SECTOR, NEW, SECTOR);
    fail_next_sync(&hand, SyncPart::Journal, Fill::Zeros);
    assert!(hand.try_sync(&file) == Some(Errno::IO), "the sync that hits it fails");
    hand.disk.end_step();
    let read = hand.disk.read(&file, 0, &mut [0; 8]).err().map(|error| error.errno);
    let write = hand.disk.write(&file, 0, &[0; 8]).err().map(|error| error.errno);
    seen.note(match (read, write) {
        (None, Some(Errno::READ_ONLY)) => "read-only",
        (Some(Errno::IO), Some(Errno::IO)) => "shutdown",
        (None, None) => "sync-fails",
        _ => "otherwise",
    });
}

fn failed_in_place(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, SECTOR);
    hand.write(&file, 0, NEW, SECTOR);
    fail_next_sync(&hand, SyncPart::InPlace, Fill::Zeros);
    let told = hand.try_sync(&file);
    hand.disk.end_step();
    let read = hand.disk.read(&file, 0, &mut [0; 8]).err().map(|error| error.errno);
    let write = hand.disk.write(&file, 0, &[0; 8]).err().map(|error| error.errno);
    lose_all(&mut hand);
    let is_kept = old_or_new(&hand.look("f").expect("the file is durable")) == "new";
    seen.note(match (told, read, write) {
        (None, None, Some(Errno::READ_ONLY)) if is_kept => "read-only",
        (None, Some(Errno::IO), Some(Errno::IO)) if is_kept => "shutdown",
        _ => "otherwise",
    });
}

fn some_pages_fail(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, 2 * PAGE);
    hand.write(&file, 0, NEW, PAGE);
    hand.write(&file, PAGE, NEW, PAGE);
    hand.disk.begin_step(&[Injection {
        at: CallPoint { on: Some(Call::Sync), call: 1 },
        times: Times::Count(1),
        cause: CAUSE,
        disturbance: Disturbance::FailSync {
            part: SyncPart::Data,
            errno: Errno::IO,
            pages: 1,
            fill: Fill::Zeros,
        },
    }]);
    hand.try_sync(&file);
    hand.disk.end_step();
    // The first of these may still report; the last one succeeds, and writes nothing again that failed.
    hand.try_sync(&file);
    hand.sync(&file);
    lose_all(&mut hand);
    let bytes = hand.look("f").expect("the file is durable");
    let (first, second) = bytes.split_at(256);
    seen.note(match (old_or_new(first), old_or_new(second)) {
        ("old", "new") => "half-old",
        ("old", "old") => "old",
        _ => "otherwise",
    });
}

fn many_failures(filesystem: Filesystem, seen: &mut Seen) {
    let hand = seen.hand(filesystem);
    let first = hand.durable("f", OLD, 2 * PAGE);
    let second = hand.open("f");
    for page in [0, 1] {
        hand.write(&first, page * PAGE, NEW, PAGE);
        failing_sync(&hand, &first, Fill::Zeros);
        hand.try_sync(&first);
        hand.try_sync(&first);
    }
    let told = [hand.try_sync(&second), hand.try_sync(&second)].map(|error| error.is_some());
    seen.note(if told == [true, false] { "one-report" } else { "otherwise" });
}
