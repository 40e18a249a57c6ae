//! FAULT_MODEL 2.6: what a failed sync leaves behind, and who is told, one program a cell.

use recovery_core::storage::{Access, Call, Errno, Storage};

use crate::disk::{Disturbance, Injection, SimFile, SurvivorChoice, SyncPart};
use crate::schedule::{CallPoint, Filesystem, Fill, Restart, Survivors, Times};

use super::explore::{CAUSE, STALE_SAME};
use super::hand::{Hand, PAGE, is_all, name};
use super::{Litmus, Seen};

pub(super) const OLD: u8 = b'A';
pub(super) const NEW: u8 = b'B';
const LATER: u8 = b'C';

pub(super) const TESTS: &[Litmus] = &[
    Litmus {
        name: "failed-data-report",
        cell: "2.6 data block write fails: this fsync, the next one",
        outcomes: &[("now", "owxbp"), ("next", "j")],
        program: failed_data_report,
    },
    Litmus {
        name: "failed-data-visible",
        cell: "2.6 page content afterwards",
        outcomes: &[("new", "owjxp"), ("old", "b")],
        program: failed_data_visible,
    },
    Litmus {
        name: "failed-data-evicted",
        cell: "2.6 reads after failure give the new data from cache until eviction, then the old",
        outcomes: &[("old", "owjxbp")],
        program: failed_data_evicted,
    },
    Litmus {
        name: "failed-data-retried",
        cell: "2.6 nothing is retried, a second fsync succeeds",
        outcomes: &[("old", "owjxbp")],
        program: failed_data_retried,
    },
    Litmus {
        name: "failed-append",
        cell: "2.6 metadata of failed append, resulting damage at the end",
        outcomes: &[("zeros", "owjp"), ("stale", "owjp"), ("absent", "xb")],
        program: failed_append,
    },
    Litmus {
        name: "failed-append-then-append",
        cell: "2.6 a later good append pulls it in",
        outcomes: &[("garbage-inside", "owjp"), ("hole-inside", "xb")],
        program: failed_append_then_append,
    },
    Litmus {
        name: "failed-append-before-commit",
        cell: "2.6 metadata of failed append, and a crash before it is committed",
        outcomes: &[("zeros", "owjp"), ("absent", "owxbp")],
        program: failed_append_before_commit,
    },
    Litmus {
        name: "error-once-a-descriptor",
        cell: "2.6 each descriptor open at that time sees it once at its next fsync, then 0",
        outcomes: &[("each-once", "owxbp"), ("each-once-late", "j")],
        program: error_once_a_descriptor,
    },
    Litmus {
        name: "error-later-descriptor",
        cell: "2.6 a descriptor opened later sees it only if nobody has yet",
        outcomes: &[("told-if-nobody-was", "owjxbp")],
        program: error_later_descriptor,
    },
    Litmus {
        name: "error-evicted",
        cell: "2.6 if the inode is evicted first, nobody does",
        outcomes: &[("nobody", "owjxbp")],
        program: error_evicted,
    },
    Litmus {
        name: "lying-flush",
        cell: "1.2 fault 14, 2.8 device cache",
        outcomes: &[("kept", "owjxbp"), ("dropped", "owjxbp")],
        program: lying_flush,
    },
];

/// Lets the next sync fail.
pub(super) fn fail_next_sync(hand: &Hand, part: SyncPart, fill: Fill) {
    hand.disk.begin_step(&[Injection {
        at: CallPoint { on: Some(Call::Sync), call: 1 },
        times: Times::Count(1),
        cause: CAUSE,
        disturbance: Disturbance::FailSync { part, errno: Errno::IO, pages: u64::MAX, fill },
    }]);
}

/// Lets the sync of a file fail; returns the error it reported.
pub(super) fn failing_sync(hand: &Hand, file: &SimFile, shown: Fill) -> Option<Errno> {
    fail_next_sync(hand, SyncPart::Data, shown);
    let error = hand.try_sync(file);
    hand.disk.end_step();
    error
}

/// The power goes, and nothing that is pending survives.
pub(super) fn lose_all(hand: &mut Hand) {
    hand.disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::None));
    hand.come_back();
}

/// A durable page of old bytes, overwritten by new ones that could not be written back.
fn failed_overwrite(filesystem: Filesystem, seen: &Seen) -> (Hand, SimFile, Option<Errno>) {
    let hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.write(&file, 0, NEW, PAGE);
    let error = failing_sync(&hand, &file, Fill::Zeros);
    (hand, file, error)
}

fn failed_data_report(filesystem: Filesystem, seen: &mut Seen) {
    let (hand, file, first) = failed_overwrite(filesystem, seen);
    let answers = [first, hand.try_sync(&file), hand.try_sync(&file)];
    seen.note(match answers {
        [Some(Errno::IO), None, None] => "now",
        [None, Some(Errno::IO), None] => "next",
        _ => "otherwise",
    });
}

pub(super) fn old_or_new(bytes: &[u8]) -> &'static str {
    match bytes.first() {
        Some(&OLD) if is_all(bytes, OLD) => "old",
        Some(&NEW) if is_all(bytes, NEW) => "new",
        Some(_) | None => "otherwise",
    }
}

fn failed_data_visible(filesystem: Filesystem, seen: &mut Seen) {
    let (hand, file, _) = failed_overwrite(filesystem, seen);
    seen.note(old_or_new(&hand.read(&file)));
    // A process crash changes nothing: recovery reads what the medium never got.
    hand.disk.crash(Restart::Process, &SurvivorChoice::of(Survivors::All));
    let mut hand = hand;
    hand.come_back();
    let file = hand.open("f");
    seen.note(old_or_new(&hand.read(&file)));
}

fn failed_data_evicted(filesystem: Filesystem, seen: &mut Seen) {
    let (hand, file, _) = failed_overwrite(filesystem, seen);
    hand.disk.drop_cache(&file).expect("nothing is in the way");
    seen.note(old_or_new(&hand.read(&file)));
}

fn failed_data_retried(filesystem: Filesystem, seen: &mut Seen) {
    let (mut hand, file, _) = failed_overwrite(filesystem, seen);
    // The first of these may still report; the last one succeeds.
    hand.try_sync(&file);
    hand.sync(&file);
    lose_all(&mut hand);
    seen.note(old_or_new(&hand.look("f").expect("the file is durable")));
}

/// What lies behind the first page of a file.
fn tail(bytes: &[u8]) -> &'static str {
    match bytes.get(256..) {
        None | Some([]) => "absent",
        Some(tail) if is_all(tail, 0) => "zeros",
        Some(tail) if is_all(tail, STALE_SAME) => "stale",
        Some(_) => "otherwise",
    }
}

fn failed_append(filesystem: Filesystem, seen: &mut Seen) {
    for fill in [Fill::Zeros, Fill::StaleSame] {
        let mut hand = seen.hand(filesystem);
        let file = hand.durable("f", OLD, PAGE);
        hand.disk.add_freed_block(Some(crate::disk::DirectoryId::ROOT), &[STALE_SAME; 256]);
        hand.write(&file, PAGE, NEW, PAGE);
        failing_sync(&hand, &file, fill);
        hand.try_sync(&file);
        hand.sync(&file);
        lose_all(&mut hand);
        seen.note(tail(&hand.look("f").expect("the file is durable")));
    }
}

fn failed_append_then_append(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.disk.add_freed_block(Some(crate::disk::DirectoryId::ROOT), &[STALE_SAME; 256]);
    hand.write(&file, PAGE, NEW, PAGE);
    failing_sync(&hand, &file, Fill::StaleSame);
    hand.try_sync(&file);
    // The writer goes on where it was: its cursor knows nothing of the failure.
    hand.write(&file, 2 * PAGE, LATER, PAGE);
    hand.sync(&file);
    lose_all(&mut hand);
    let bytes = hand.look("f").expect("the file is durable");
    let is_later_there = bytes.len() == 768 && is_all(&bytes[512..], LATER);
    seen.note(match bytes.get(256..512) {
        Some(inside) if is_later_there && is_all(inside, 0) => "hole-inside",
        Some(inside) if is_later_there && is_all(inside, STALE_SAME) => "garbage-inside",
        Some(_) | None => "otherwise",
    });
}

fn failed_append_before_commit(filesystem: Filesystem, seen: &mut Seen) {
    for survive in [Survivors::None, Survivors::All] {
        let hand = seen.hand(filesystem);
        let file = hand.durable("f", OLD, PAGE);
        hand.write(&file, PAGE, NEW, PAGE);
        failing_sync(&hand, &file, Fill::Zeros);
        hand.disk.crash(Restart::Power, &SurvivorChoice::of(survive));
        seen.note(tail(&hand.look("f").expect("the file is durable")));
    }
}

fn error_once_a_descriptor(filesystem: Filesystem, seen: &mut Seen) {
    let hand = seen.hand(filesystem);
    let first = hand.durable("f", OLD, PAGE);
    let second = hand.open("f");
    hand.write(&first, 0, NEW, PAGE);
    let told = [
        failing_sync(&hand, &first, Fill::Zeros),
        hand.try_sync(&first),
        hand.try_sync(&first),
        hand.try_sync(&second),
        hand.try_sync(&second),
    ];
    seen.note(match told.map(|error| error.is_some()) {
        [true, false, false, true, false] => "each-once",
        [false, true, false, true, false] => "each-once-late",
        _ => "otherwise",
    });
}

/// Lets the writeback of a file fail behind the back of all its descriptors.
fn fail_in_the_background(hand: &Hand, file: &SimFile) {
    hand.disk.begin_step(&[Injection {
        at: CallPoint { on: Some(Call::Sync), call: 1 },
        times: Times::Count(1),
        cause: CAUSE,
        disturbance: Disturbance::DeferSyncError,
    }]);
    assert!(hand.try_sync(file).is_none(), "the sync that hits it says nothing");
    hand.disk.end_step();
}

fn error_later_descriptor(filesystem: Filesystem, seen: &mut Seen) {
    let hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.write(&file, 0, NEW, PAGE);
    fail_in_the_background(&hand, &file);
    hand.disk.close(file);
    let second = hand.open("f");
    let third = hand.open("f");
    let told = [hand.try_sync(&second), hand.try_sync(&second)];
    // It was opened while nobody knew, so it is told as well; one opened now is not.
    let told_third = hand.try_sync(&third);
    let fourth = hand.disk.open(&hand.disk.root().expect("nothing is in the way"), &name("f"), Access::Read);
    let told_fourth = hand.try_sync(&fourth.expect("the file is there"));
    let told = [told[0], told[1], told_third, told_fourth].map(|error| error.is_some());
    seen.note(if told == [true, false, true, false] { "told-if-nobody-was" } else { "otherwise" });
}

fn error_evicted(filesystem: Filesystem, seen: &mut Seen) {
    let hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.write(&file, 0, NEW, PAGE);
    fail_in_the_background(&hand, &file);
    hand.disk.close(file);
    hand.disk.evict_all();
    let later = hand.open("f");
    seen.note(if hand.try_sync(&later).is_none() { "nobody" } else { "told" });
}

fn lying_flush(filesystem: Filesystem, seen: &mut Seen) {
    for (restart, survive) in
        [(Restart::Os, Survivors::None), (Restart::Power, Survivors::None), (Restart::Power, Survivors::All)]
    {
        let hand = seen.hand(filesystem);
        let file = hand.durable("f", OLD, PAGE);
        hand.write(&file, 0, NEW, PAGE);
        hand.disk.begin_step(&[Injection {
            at: CallPoint { on: Some(Call::Sync), call: 1 },
            times: Times::Count(1),
            cause: CAUSE,
            disturbance: Disturbance::LieAboutFlush,
        }]);
        hand.sync(&file);
        hand.disk.end_step();
        hand.disk.crash(restart, &SurvivorChoice::of(survive));
        let outcome = old_or_new(&hand.look("f").expect("the file is durable"));
        let is_kept = outcome == "new";
        seen.note(match (is_kept, restart) {
            (true, _) => "kept",
            (false, Restart::Power) => "dropped",
            (false, Restart::Process | Restart::Os) => "device-cache-lost",
        });
    }
    // The next honest sync of anything flushes the device whole.
    let mut hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    let other = hand.durable("g", OLD, PAGE);
    hand.write(&file, 0, NEW, PAGE);
    hand.disk.begin_step(&[Injection {
        at: CallPoint { on: Some(Call::Sync), call: 1 },
        times: Times::Count(1),
        cause: CAUSE,
        disturbance: Disturbance::LieAboutFlush,
    }]);
    hand.sync(&file);
    hand.sync(&other);
    hand.disk.end_step();
    lose_all(&mut hand);
    let outcome = old_or_new(&hand.look("f").expect("the file is durable"));
    seen.note(if outcome == "new" { "kept" } else { "flush-forgot" });
}
