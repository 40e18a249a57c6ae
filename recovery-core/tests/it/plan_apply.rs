//! Carrying plans out: whatever call fails or crashes, nothing is lost, and a repeat comes to the same end.

use recovery_core::storage::Errno;

use crate::memory_storage::{Fault, MemoryStorage};
use crate::plan_run::{
    NARROW, SERVER, Slices, TOOL, WIDE, check_is_recovered, check_nothing_is_lost, damaged, recover,
    recover_as, undisturbed, without_ledger,
};
use crate::plan_world::{DIRECTORY, PARENT, Segment, World};

#[test]
fn calls_come_in_the_order_that_a_crash_asks_for() {
    let world = World {
        has_ledger: true,
        survivors: Some(40),
        segments: vec![Segment::whole(0, 9).with_residue(&[1, 2, 3]).with_index(Some(&[7; 24]))],
        others: vec![("x.staging", vec![9])],
    };
    let storage = world.storage();
    storage.start(None);
    let fenced = recover(&world, &storage, SERVER, WIDE).unwrap();
    let [index, log, scratch] = &fenced[..] else { panic!("three copies, not {fenced:?}") };
    let fence = "3.fenced.0";
    let (segment, ledger) = ("3/00000000000000000000", "3/ledger");
    let expected = [
        format!("make-directory {fence}"),
        "sync-directory ".to_owned(),
        format!("create {log}.staging"),
        format!("write {log}.staging"),
        format!("set-length {log}.staging"),
        format!("sync {log}.staging"),
        format!("rename {log}.staging -> {log}"),
        format!("create {index}.staging"),
        format!("write {index}.staging"),
        format!("set-length {index}.staging"),
        format!("sync {index}.staging"),
        format!("rename {index}.staging -> {index}"),
        format!("create {fence}/REASON.toml.staging"),
        format!("write {fence}/REASON.toml.staging"),
        format!("sync {fence}/REASON.toml.staging"),
        format!("rename {fence}/REASON.toml.staging -> {fence}/REASON.toml"),
        format!("sync-directory {fence}"),
        format!("write {ledger}"),
        format!("sync {ledger}"),
        format!("set-length {segment}.log"),
        format!("sync {segment}.log"),
        "sync 3/x.staging".to_owned(),
        format!("rename 3/x.staging -> {scratch}"),
        format!("create {segment}.index.staging"),
        format!("write {segment}.index.staging"),
        format!("rename {segment}.index.staging -> {segment}.index"),
        format!("sync-directory {fence}"),
        "sync-directory 3".to_owned(),
        format!("write {ledger}"),
        format!("sync {ledger}"),
    ];
    let actual: Vec<_> =
        storage.changes().iter().map(|line| line.replace(&format!("{PARENT}/"), "")).collect();
    let actual: Vec<_> = actual.iter().map(|line| line.replace(PARENT, "")).collect();
    assert_eq!(actual, expected);
}

#[test]
fn everything_is_cut_saved_replaced_and_moved_and_the_second_time_nothing() {
    for has_ledger in [true, false] {
        for slices in [WIDE, NARROW] {
            let world = damaged(has_ledger);
            let storage = world.storage();
            let before = storage.files();
            storage.limit_transfers(if slices.0 == 512 { 100 } else { usize::MAX });
            let fenced = recover(&world, &storage, SERVER, slices).unwrap();
            assert_eq!(fenced.len(), 7, "{fenced:?}");
            let after = storage.files();
            for path in &fenced {
                assert!(after.contains_key(&format!("{PARENT}/{path}")), "{path} was reported");
            }
            check_nothing_is_lost(&world, &before, &after);
            check_is_recovered(&world, &storage);
            assert_eq!(without_ledger(after.clone()), without_ledger(storage.files()));
            assert_eq!(after[&format!("{DIRECTORY}/notes.txt")], b"mine", "other files are left alone");
        }
    }
}

#[test]
fn the_slices_change_nothing_but_the_calls() {
    let world = damaged(true);
    let (_, wide) = undisturbed(&world, SERVER, WIDE);
    for slices in
        [NARROW, Slices(513, 517), Slices(513, 1 << 20), Slices(4096, 3 * 4096), Slices(1 << 20, 512)]
    {
        assert_eq!(undisturbed(&world, SERVER, slices).1, wide, "{slices:?}");
    }
}

/// How often calls on a file were made: its bytes go in slices as large as window and limit allow.
#[track_caller]
fn check_calls(storage: &MemoryStorage, call: &str, expected: usize) {
    let count = storage.calls().iter().filter(|found| **found == call).count();
    assert_eq!(count, expected, "{call}");
}

#[test]
fn a_residue_is_read_once_to_be_copied_and_once_to_be_compared() {
    let tail: Vec<u8> = (0..8 * 4096).map(|at: u32| at.to_le_bytes()[0] | 1).collect();
    let world = World { segments: vec![Segment::whole(0, 9).with_residue(&tail)], ..World::default() };
    let log = format!("read {DIRECTORY}/00000000000000000000.log");
    for (slices, reads) in [
        // All of it, twice.
        (Slices(64 * 1024, 1 << 20), 2),
        // Comparing halves the window.
        (Slices(32 * 1024, 1 << 20), 3),
        // Each byte is read twice and written once: two pages of each in a step.
        (Slices(64 * 1024, 6 * 4096), 8),
    ] {
        let storage = world.storage();
        let fenced = recover(&world, &storage, SERVER, slices).expect("nothing fails");
        check_calls(&storage, &log, reads);
        assert_eq!(storage.files()[&format!("{PARENT}/{}", fenced[0])], tail);
    }
}

#[test]
fn a_new_index_is_written_in_slices_of_whole_entries() {
    let mut segment = Segment::whole(0, 9);
    segment.entries = 100;
    let world = World { segments: vec![segment.with_index(None)], ..World::default() };
    let staging = format!("write {DIRECTORY}/00000000000000000000.index.staging");
    for (slices, writes) in [(WIDE, 1), (NARROW, 5), (Slices(512, 1 << 20), 5), (Slices(64 * 1024, 1200), 2)]
    {
        let storage = world.storage();
        recover(&world, &storage, SERVER, slices).expect("nothing fails");
        check_calls(&storage, &staging, writes);
        check_calls(&storage, &staging.replace("write", "sync"), 1);
        let index = &storage.files()[&format!("{DIRECTORY}/00000000000000000000.index")];
        assert_eq!(*index, world.segments[0].new_index());
    }
}

#[test]
fn after_a_process_crash_anywhere_a_repeat_comes_to_the_same_end() {
    for (has_ledger, options) in [(true, SERVER), (false, TOOL)] {
        let world = damaged(has_ledger);
        let (calls, end) = undisturbed(&world, options, NARROW);
        for call in 0..=calls {
            let storage = world.storage();
            let before = storage.files();
            storage.start(Some(Fault::CrashAfter(call)));
            let crashed = recover(&world, &storage, options, NARROW);
            assert_eq!(crashed.is_ok(), call == calls, "call {call} of {calls}");
            check_nothing_is_lost(&world, &before, &storage.files());
            storage.start(None);
            recover(&world, &storage, options, NARROW).unwrap();
            assert_eq!(
                without_ledger(storage.files()),
                without_ledger(end.clone()),
                "call {call} of {calls}"
            );
            check_is_recovered(&world, &storage);
        }
    }
}

/// N01.
#[test]
fn a_power_loss_anywhere_loses_nothing_however_often_it_comes() {
    let world = damaged(true);
    let (calls, _) = undisturbed(&world, TOOL, WIDE);
    for first in 0..=calls {
        let storage = world.storage();
        let before = storage.files();
        storage.start(Some(Fault::CrashAfter(first)));
        let _crashed = recover(&world, &storage, TOOL, WIDE);
        storage.lose_power();
        check_nothing_is_lost(&world, &before, &storage.files());
        for second in (0..=calls).step_by(13) {
            let storage = storage.clone();
            storage.start(Some(Fault::CrashAfter(second)));
            let _crashed = recover(&world, &storage, TOOL, WIDE);
            storage.lose_power();
            check_nothing_is_lost(&world, &before, &storage.files());
            storage.start(None);
            recover(&world, &storage, TOOL, WIDE).unwrap();
            storage.lose_power();
            check_nothing_is_lost(&world, &before, &storage.files());
            check_is_recovered(&world, &storage);
        }
    }
}

#[test]
fn an_error_at_any_call_is_returned_and_loses_nothing() {
    let world = damaged(true);
    let (calls, end) = undisturbed(&world, TOOL, WIDE);
    for errno in [Errno::IO, Errno::NO_SPACE] {
        for call in 1..=calls {
            let storage = world.storage();
            let before = storage.files();
            storage.start(Some(Fault::Once(call, errno)));
            let failed = recover(&world, &storage, TOOL, WIDE);
            assert_eq!(failed.map_err(|error| error.errno), Err(errno), "call {call} of {calls}");
            check_nothing_is_lost(&world, &before, &storage.files());
            storage.start(None);
            recover(&world, &storage, TOOL, WIDE).unwrap();
            assert_eq!(
                without_ledger(storage.files()),
                without_ledger(end.clone()),
                "call {call} of {calls}"
            );
            check_is_recovered(&world, &storage);
        }
    }
}

#[test]
fn a_signal_is_no_error_except_in_a_sync() {
    let world = damaged(true);
    let (calls, end) = undisturbed(&world, TOOL, WIDE);
    let mut survived = 0;
    for call in 1..=calls {
        let storage = world.storage();
        storage.start(Some(Fault::Once(call, Errno::INTERRUPTED)));
        match recover(&world, &storage, TOOL, WIDE) {
            Ok(_) => {
                survived += 1;
                assert_eq!(storage.files(), end, "call {call} of {calls}");
            }
            Err(error) => assert!(error.call.code().starts_with("sync"), "{error}"),
        }
    }
    assert!(survived > calls / 2, "{survived} of {calls} calls");
}

#[test]
fn nothing_is_cut_if_the_log_is_not_what_was_observed() {
    let world = World { segments: vec![Segment::whole(0, 9).with_residue(&[1, 2, 3])], ..World::default() };
    let zeros = World { segments: vec![Segment::whole(0, 9).with_residue(&[0; 3])], ..World::default() };
    let path = format!("{DIRECTORY}/00000000000000000000.log");
    for (world, tail) in
        [(&world, &[1, 2, 4][..]), (&world, &[1, 2]), (&world, &[1, 2, 3, 0]), (&zeros, &[0, 0, 1])]
    {
        let facts = world.observe(&world.storage());
        let storage = world.storage();
        storage.put(&path, &[&world.segments[0].proven[..], tail].concat());
        let before = storage.files();
        storage.start(None);
        let error = recover_as(world, &storage, &facts, SERVER, WIDE).unwrap_err();
        assert_eq!(error.errno, Errno::STALE, "{tail:?}");
        assert_eq!(storage.files()[&path], before[&path], "{tail:?}");
    }
}

#[test]
fn nothing_is_cut_if_the_medium_holds_other_bytes_than_the_cache() {
    for (residue, rotten) in [(&[1, 2, 3][..], ".log"), (&[1, 2, 3], ".staging"), (&[0, 0, 0], ".log")] {
        let world = World { segments: vec![Segment::whole(0, 9).with_residue(residue)], ..World::default() };
        let storage = world.storage();
        storage.rot_under_the_cache(rotten);
        let error = recover(&world, &storage, SERVER, WIDE).unwrap_err();
        assert_eq!(error.errno, Errno::STALE, "{residue:?}, rot in {rotten}");
        let log = &storage.files()[&format!("{DIRECTORY}/00000000000000000000.log")];
        assert_eq!(log.len(), 12, "{residue:?}, rot in {rotten}");
    }
}
