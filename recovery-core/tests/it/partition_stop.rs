//! Checkpoint, clean stop and retention: their calls, and what each call that fails leaves.

use recovery_core::units::{Durability, Offset};

use crate::partition_world::{
    EIO, LARGE, World, calls, empty, ledger_lines, options, without_ledger, written,
};

#[test]
fn without_a_ledger_the_modes_sync_the_log_and_write_no_mark() {
    for (durability, sync) in [
        (Durability::Buffered, ""),
        (Durability::Synced, "sync 0.log\n"),
        (Durability::Proven, "sync 0.log\n"),
    ] {
        let without = without_ledger(durability, LARGE);
        let mut world = World::start(empty(), without);
        let first = calls(&mut world, |world| world.append(1).unwrap());
        assert_eq!(first, "create 0.log\ncreate 0.index\nsync-directory partition\n");
        let flush = calls(&mut world, |world| world.flush().unwrap());
        assert_eq!(flush, format!("write 0.log at 0 +356\n{sync}write 0.index at 0 +24\n"));
        let stop = calls(&mut world, |world| world.writer.stop(&world.storage).unwrap());
        assert_eq!(stop, "sync 0.log\nsync 0.index\nsync-directory partition\n");
    }
}

#[test]
fn a_clean_stop_syncs_log_index_and_directory_before_it_says_so() {
    let mut world = written(Durability::Buffered, LARGE);
    world.append(1).unwrap();
    let stop = calls(&mut world, |world| {
        let acknowledged = world.writer.stop(&world.storage).unwrap();
        assert_eq!(acknowledged.next_offset, Offset::new(2));
    });
    let expected = "\
write 0.log at 356 +356
write 0.index at 24 +24
sync 0.log
sync 0.index
sync-directory partition
write ledger at 384 +128
sync ledger
";
    assert_eq!(stop, expected);
    let again = calls(&mut world, |world| world.writer.stop(&world.storage).unwrap());
    assert_eq!(again, "\n", "a partition that is stopped stays as it is");
    let resumed = calls(&mut world, |world| world.append(1).unwrap());
    assert_eq!(resumed, "write ledger at 512 +128\nsync ledger\n", "going on is told like an open");
    let lines = ledger_lines(&world.storage);
    assert_eq!(lines[3..], ["clean-stop 0:712:2", "opened"]);
}

#[test]
fn a_start_and_a_stop_without_an_append_write_nothing_after_a_clean_stop() {
    let mut world = written(Durability::Synced, LARGE);
    let _acknowledged = world.writer.stop(&world.storage).unwrap();
    let mut world = World::start(world.crash(), options(Durability::Synced, LARGE));
    let stop = calls(&mut world, |world| world.writer.stop(&world.storage).unwrap());
    assert_eq!(stop, "\n");
}

/// The append has told the ledger of an open, and what is opened is not stopped.
#[test]
fn a_stop_behind_an_append_that_was_discarded_is_said_again() {
    let mut world = written(Durability::Synced, LARGE);
    let _acknowledged = world.writer.stop(&world.storage).unwrap();
    world.append(1).unwrap();
    world.writer.discard();
    let acknowledged = world.writer.stop(&world.storage).unwrap();
    assert_eq!(acknowledged.next_offset, Offset::new(1));
    let lines = ledger_lines(&world.storage);
    assert_eq!(lines[lines.len() - 3..], ["clean-stop 0:356:1", "opened", "clean-stop 0:356:1"]);
}

#[test]
fn a_stop_behind_a_roll_is_said_again() {
    let mut world = written(Durability::Synced, LARGE);
    let _acknowledged = world.writer.stop(&world.storage).unwrap();
    let _acknowledged = world.writer.roll(&world.storage).unwrap();
    // The new segment's mark is the end, and the reserved offset the next one, as if that were a stop.
    assert_eq!(ledger_lines(&world.storage).last().unwrap(), "frontier 1:0:1");
    let _acknowledged = world.writer.stop(&world.storage).unwrap();
    assert_eq!(ledger_lines(&world.storage).last().unwrap(), "clean-stop 1:0:1");
}

#[test]
fn a_clean_stop_syncs_the_index_of_every_segment_once() {
    let mut world = written(Durability::Synced, 512);
    for _ in 0..4 {
        world.write(1).unwrap();
    }
    let stop = calls(&mut world, |world| world.writer.stop(&world.storage).unwrap());
    let expected = "\
open 2.index
sync 2.index
open 0.index
sync 0.index
sync 4.log
sync 4.index
sync-directory partition
";
    assert!(stop.starts_with(expected), "{stop}");
    let mut world = World::start(world.crash(), options(Durability::Synced, 512));
    world.append(1).unwrap();
    let stop = calls(&mut world, |world| world.writer.stop(&world.storage).unwrap());
    assert!(!stop.contains("sync 0.index"), "a stop before this open has synced it: {stop}");
}

#[test]
fn a_stop_that_fails_at_any_call_is_no_stop() {
    for durability in Durability::ALL {
        for k in 1.. {
            let mut world = written(durability, LARGE);
            world.append(1).unwrap();
            world.storage.arm(k, &[EIO]);
            let stopped = world.writer.stop(&world.storage);
            if world.storage.disarm() {
                let _acknowledged = stopped.unwrap();
                let lines = ledger_lines(&world.power_cut());
                assert!(lines.last().unwrap().starts_with("clean-stop"), "{lines:?}");
                break;
            }
            let error = stopped.unwrap_err();
            let storage = world.crash();
            let lines = ledger_lines(&storage);
            let said = lines.last().unwrap().starts_with("clean-stop");
            let sync_of_it_failed = storage.take_calls().ends_with("sync ledger: EIO\n");
            assert!(!said || sync_of_it_failed, "{durability:?} call {k}: {error}");
            let mut again = World::start(storage, options(durability, LARGE));
            let promised = Offset::new(u64::from(durability != Durability::Buffered));
            assert!(again.append(1).unwrap().base_offset >= promised, "{durability:?} call {k}");
        }
    }
}

#[test]
fn a_checkpoint_makes_the_log_durable_then_its_mark() {
    let mut world = written(Durability::Buffered, LARGE);
    let checkpoint = calls(&mut world, |world| world.writer.checkpoint(&world.storage).unwrap());
    assert_eq!(checkpoint, "sync 0.log\nwrite ledger at 384 +128\nsync ledger\n");
    assert_eq!(ledger_lines(&world.storage).last().unwrap(), "frontier 0:356:1");
    let again = calls(&mut world, |world| world.writer.checkpoint(&world.storage).unwrap());
    assert_eq!(again, "\n", "nothing was written since");
}

#[test]
fn retention_moves_the_floor_durably_before_it_removes_a_file() {
    let mut world = written(Durability::Synced, 512);
    for _ in 0..4 {
        world.write(1).unwrap();
    }
    assert_eq!(world.chain(), "0..2@712 2..4@712 4..5@356");
    let retained = calls(&mut world, |world| {
        world.writer.retain(&world.storage, Offset::new(4)).unwrap();
    });
    let slot = retained.lines().next().unwrap().to_owned();
    let expected = format!(
        "{slot}\nsync ledger\nremove 0.log\nremove 0.index\nremove 2.log\nremove 2.index\n\
         sync-directory partition\n"
    );
    assert_eq!(retained, expected);
    assert_eq!(ledger_lines(&world.storage).last().unwrap(), "floor 4");
    assert_eq!(world.chain(), "4..5@356");
    let nothing = calls(&mut world, |world| {
        world.writer.retain(&world.storage, Offset::new(100)).unwrap();
    });
    assert_eq!(nothing, "\n", "the last segment is kept");
}

#[test]
fn retention_that_fails_at_any_call_is_finished_by_the_next_or_by_the_next_start() {
    for k in 1.. {
        let mut world = written(Durability::Synced, 512);
        for _ in 0..4 {
            world.write(1).unwrap();
        }
        world.storage.arm(k, &[EIO]);
        let retained = world.writer.retain(&world.storage, Offset::new(4));
        if world.storage.disarm() {
            assert_eq!(k, 8, "every call of a retention was made to fail once");
            break;
        }
        let error = retained.unwrap_err();
        if error.code() == "io" {
            world.writer.retain(&world.storage, Offset::new(4)).unwrap();
            assert_eq!(world.storage.names(), ["4.index", "4.log", "ledger"], "call {k}");
            continue;
        }
        let mut again = World::start(world.power_cut(), options(Durability::Synced, 512));
        again.writer.retain(&again.storage, Offset::new(4)).unwrap();
        assert_eq!(again.storage.names(), ["4.index", "4.log", "ledger"], "call {k}");
        assert_eq!(again.chain(), "4..5@356", "call {k}");
    }
}

#[test]
fn a_retention_that_has_only_files_left_to_remove_says_nothing_again() {
    let mut world = written(Durability::Synced, 512);
    for _ in 0..4 {
        world.write(1).unwrap();
    }
    // Behind the floor and its sync.
    world.storage.arm(3, &[EIO]);
    assert_eq!(world.writer.retain(&world.storage, Offset::new(4)).unwrap_err().code(), "io");
    let again = calls(&mut world, |world| world.writer.retain(&world.storage, Offset::new(4)).unwrap());
    let expected = "\
remove 0.log
remove 0.index
remove 2.log
remove 2.index
sync-directory partition
";
    assert_eq!(again, expected);
}

#[test]
fn without_a_ledger_each_removal_is_durable_before_the_next() {
    let without = without_ledger(Durability::Synced, 512);
    let mut world = World::start(empty(), without);
    for _ in 0..5 {
        world.write(1).unwrap();
    }
    let retained = calls(&mut world, |world| {
        world.writer.retain(&world.storage, Offset::new(4)).unwrap();
    });
    let expected = "\
remove 0.log
remove 0.index
sync-directory partition
remove 2.log
remove 2.index
sync-directory partition
";
    assert_eq!(retained, expected);
}
