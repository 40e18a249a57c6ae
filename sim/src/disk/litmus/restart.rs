//! FAULT_MODEL 2.8: what each kind of restart takes along, one program a cell.

use recovery_core::storage::{Call, Errno, Storage};

use crate::disk::{Disturbance, Injection, SurvivorChoice};
use crate::schedule::{CallPoint, Filesystem, Restart, Survivors, SyncStage, Times};

use super::explore::{CAUSE, explore_restarts};
use super::hand::{Hand, PAGE, is_all};
use super::{Litmus, Seen};

const OLD: u8 = b'A';
const NEW: u8 = b'B';

pub(super) const TESTS: &[Litmus] = &[
    Litmus {
        name: "process-crash-keeps-dirty-pages",
        cell: "2.8 process crash: dirty pages keep",
        outcomes: &[("new", "owjxbp")],
        program: process_crash,
    },
    Litmus {
        name: "os-crash-resolves-dirty-pages",
        cell: "2.8 OS crash: dirty pages resolve by profile",
        outcomes: &[("old", "owjxbp"), ("new", "owjxbp"), ("torn", "owxp")],
        program: os_crash,
    },
    Litmus {
        name: "os-crash-drops-diverged-pages",
        cell: "2.8 OS crash: diverged pages drop, old appears",
        outcomes: &[("old", "owjxbp")],
        program: os_crash_diverged,
    },
    Litmus {
        name: "write-error-outlives-the-process",
        cell: "2.8 wb_err: kept by a process crash, dropped by an OS crash and by a power loss",
        outcomes: &[("process-told", "owjxbp"), ("os-silent", "owjxbp"), ("power-silent", "owjxbp")],
        program: write_error,
    },
    Litmus {
        name: "process-crash-keeps-the-device-cache",
        cell: "2.8 process crash: device cache keep",
        outcomes: &[("kept", "owjxbp")],
        program: process_crash_over_device,
    },
    Litmus {
        name: "locks-die-with-the-process",
        cell: "2.8 process crash: handles and locks",
        outcomes: &[("free", "owjxbp")],
        program: locks,
    },
    Litmus {
        name: "power-loss-after-reading-unsynced-bytes",
        cell: "2.8 power loss shortly after a process-crash recovery",
        outcomes: &[("read-then-lost", "owjxbp")],
        program: power_loss_after_reading,
    },
    Litmus {
        name: "crash-before-data",
        cell: "2.4 crash inside fsync, before (c)",
        outcomes: &[("old", "owjxbp"), ("new", "owjxbp"), ("torn", "owxp")],
        program: |filesystem, seen| crash_inside(filesystem, seen, SyncStage::Data, Restart::Power),
    },
    Litmus {
        name: "os-crash-before-metadata",
        cell: "2.4 crash inside fsync, after (b): data is in the device's cache",
        outcomes: &[("new", "owjxbp")],
        program: |filesystem, seen| crash_inside(filesystem, seen, SyncStage::Metadata, Restart::Os),
    },
    Litmus {
        name: "power-loss-before-flush",
        cell: "2.4 crash inside fsync, before (d)",
        outcomes: &[("old", "owjxbp"), ("new", "owjxbp"), ("torn", "owxp")],
        program: |filesystem, seen| crash_inside(filesystem, seen, SyncStage::Flush, Restart::Power),
    },
    Litmus {
        name: "crash-before-report",
        cell: "2.4 crash inside fsync, after (d): everything guaranteed",
        outcomes: &[("new", "owjxbp")],
        program: |filesystem, seen| crash_inside(filesystem, seen, SyncStage::Report, Restart::Power),
    },
];

fn judge(hand: &Hand) -> &'static str {
    let bytes = hand.look("f").expect("the file is durable");
    if is_all(&bytes, OLD) {
        "old"
    } else if is_all(&bytes, NEW) {
        "new"
    } else {
        "torn"
    }
}

/// A durable page of old bytes under new ones that are not synced.
fn overwritten(filesystem: Filesystem, seen: &Seen) -> Hand {
    let hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.write(&file, 0, NEW, PAGE);
    hand
}

fn process_crash(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = overwritten(filesystem, seen);
    hand.disk.crash(Restart::Process, &SurvivorChoice::of(Survivors::None));
    hand.come_back();
    seen.note(judge(&hand));
    hand.disk.evict_all();
    seen.note(judge(&hand));
}

fn os_crash(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = overwritten(filesystem, seen);
    explore_restarts(&mut hand, seen, &[Restart::Os], judge);
}

/// One thing that hits the first sync of the step.
fn on_first_sync(disturbance: Disturbance) -> Injection {
    let at = CallPoint { on: Some(Call::Sync), call: 1 };
    let is_crash = matches!(disturbance, Disturbance::Crash { .. });
    Injection { at, times: Times::Count(1), cause: CAUSE.filter(|_| !is_crash), disturbance }
}

fn os_crash_diverged(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = overwritten(filesystem, seen);
    let file = hand.open("f");
    hand.disk.begin_step(&[on_first_sync(Disturbance::SwallowSyncError)]);
    hand.sync(&file);
    hand.disk.end_step();
    explore_restarts(&mut hand, seen, &[Restart::Os, Restart::Power], judge);
}

fn write_error(filesystem: Filesystem, seen: &mut Seen) {
    for (restart, told, silent) in [
        (Restart::Process, "process-told", "process-silent"),
        (Restart::Os, "os-told", "os-silent"),
        (Restart::Power, "power-told", "power-silent"),
    ] {
        let mut hand = overwritten(filesystem, seen);
        let file = hand.open("f");
        hand.disk.begin_step(&[on_first_sync(Disturbance::DeferSyncError)]);
        hand.sync(&file);
        hand.disk.end_step();
        hand.disk.crash(restart, &SurvivorChoice::of(Survivors::All));
        hand.come_back();
        let file = hand.open("f");
        seen.note(if hand.try_sync(&file) == Some(Errno::IO) { told } else { silent });
    }
}

fn process_crash_over_device(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = overwritten(filesystem, seen);
    let file = hand.open("f");
    hand.disk.begin_step(&[on_first_sync(Disturbance::LieAboutFlush)]);
    hand.sync(&file);
    hand.disk.end_step();
    hand.disk.crash(Restart::Process, &SurvivorChoice::of(Survivors::None));
    hand.come_back();
    let is_seen = judge(&hand) == "new";
    // What the device holds outlives the memory of the machine, and so it was not lost before.
    hand.disk.crash(Restart::Os, &SurvivorChoice::of(Survivors::None));
    seen.note(if is_seen && judge(&hand) == "new" { "kept" } else { "lost" });
}

fn locks(filesystem: Filesystem, seen: &mut Seen) {
    use recovery_core::storage::LockMode::Exclusive;
    let hand = seen.hand(filesystem);
    let first = hand.disk.root().expect("nothing is in the way");
    let second = hand.disk.root().expect("nothing is in the way");
    hand.disk.lock(&first, Exclusive).expect("nobody has it");
    let refused = hand.disk.lock(&second, Exclusive).err().map(|error| error.errno);
    hand.disk.crash(Restart::Process, &SurvivorChoice::of(Survivors::All));
    let third = hand.disk.root().expect("nothing is in the way");
    let is_free = hand.disk.lock(&third, Exclusive).is_ok();
    seen.note(if refused == Some(Errno::WOULD_BLOCK) && is_free { "free" } else { "held" });
}

fn power_loss_after_reading(filesystem: Filesystem, seen: &mut Seen) {
    let mut hand = overwritten(filesystem, seen);
    hand.disk.crash(Restart::Process, &SurvivorChoice::of(Survivors::None));
    hand.come_back();
    let file = hand.open("f");
    let read = hand.read(&file);
    hand.disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::None));
    let is_lost = is_all(&read, NEW) && judge(&hand) == "old";
    seen.note(if is_lost { "read-then-lost" } else { "otherwise" });
}

fn crash_inside(filesystem: Filesystem, seen: &mut Seen, stage: SyncStage, restart: Restart) {
    let mut hand = overwritten(filesystem, seen);
    let file = hand.open("f");
    hand.disk.begin_step(&[on_first_sync(Disturbance::Crash { restart, inside: Some(stage) })]);
    assert!(hand.try_sync(&file) == Some(Errno::IO), "the caller never learns");
    assert!(hand.disk.length(&file).is_err(), "the node is down");
    assert!(hand.disk.end_step().crashed == Some(restart), "the step says so");
    explore_restarts(&mut hand, seen, &[restart], judge);
}
