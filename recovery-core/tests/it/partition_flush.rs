//! The flush: its calls in each mode, and what each call that fails leaves.

use recovery_core::storage::Errno;
use recovery_core::units::{Durability, Length, Offset};

use crate::partition_world::{
    EIO, LARGE, World, adopt, assert_poisoned, calls, empty, ledger_lines, options, reserving, segment_files,
    written,
};
use crate::recording_storage::Fault;

#[test]
fn a_buffered_flush_writes_log_then_index_and_syncs_nothing() {
    let mut world = written(Durability::Buffered, LARGE);
    let flush = calls(&mut world, |world| {
        world.append(2).unwrap();
        world.append(1).unwrap();
        assert_eq!(world.flush().unwrap().next_offset, Offset::new(4));
    });
    assert_eq!(flush, "write 0.log at 356 +812\nwrite 0.index at 24 +24\n");
    assert_eq!(world.chain(), "0..4@1168");
}

#[test]
fn a_synced_flush_syncs_the_log_and_the_mark_of_the_flush_before() {
    let mut world = written(Durability::Synced, LARGE);
    let expected = "\
write 0.log at 356 +356
sync 0.log
sync ledger
write 0.index at 24 +24
write ledger at 512 +128
";
    assert_eq!(calls(&mut world, |world| world.write(1).unwrap()), expected);
    assert_eq!(ledger_lines(&world.storage)[3..], ["frontier 0:356:1", "frontier 0:712:2"]);
    assert_eq!(ledger_lines(&world.power_cut())[3..], ["frontier 0:356:1"], "the newest may be lost");
}

#[test]
fn a_proven_flush_syncs_the_log_then_its_own_mark() {
    let mut world = written(Durability::Proven, LARGE);
    let expected = "\
write 0.log at 356 +356
sync 0.log
write 0.index at 24 +24
write ledger at 512 +128
sync ledger
";
    assert_eq!(calls(&mut world, |world| world.write(1).unwrap()), expected);
    assert_eq!(ledger_lines(&world.power_cut())[3..], ["frontier 0:356:1", "frontier 0:712:2"]);
}

#[test]
fn a_flush_of_nothing_makes_no_call() {
    let mut world = written(Durability::Proven, LARGE);
    let flush = calls(&mut world, |world| {
        assert_eq!(world.flush().unwrap().next_offset, Offset::new(1));
    });
    assert_eq!(flush, "\n");
}

/// Fails every call of a flush, one at a time and with a short write before it.
#[test]
fn a_flush_that_fails_at_any_call_is_taken_back_or_ends_all_writing() {
    for durability in Durability::ALL {
        for faults in [&[EIO][..], &[Fault::Short(100), Fault::Error(Errno::NO_SPACE)]] {
            fail_each_call_of_a_flush(durability, faults);
        }
    }
}

fn fail_each_call_of_a_flush(durability: Durability, faults: &[Fault]) {
    for k in 1.. {
        let mut world = written(durability, LARGE);
        world.append(2).unwrap();
        let before = (segment_files(&world.storage), ledger_lines(&world.storage), world.chain());
        world.storage.take_calls();
        world.storage.arm(k, faults);
        let flushed = world.flush();
        let is_beyond = world.storage.disarm();
        let calls = world.storage.take_calls();
        let context = format!("{durability:?} call {k}:\n{calls}");
        let Err(error) = flushed else {
            if is_beyond {
                break;
            }
            // A short transfer is no failure by itself: the loop goes on behind it.
            assert!(faults.len() > 1, "{context}");
            continue;
        };
        assert_eq!(world.chain(), before.2, "nothing is acknowledged: {context}");
        let was_sync = calls.lines().any(|line| line.starts_with("sync ") && line.contains(": "));
        if was_sync {
            assert_eq!(error.code(), "poisoned", "{context}");
            assert_poisoned(&mut world);
        } else {
            assert_eq!(error.code(), "io", "{context}");
            assert_eq!(segment_files(&world.storage), before.0, "{context}");
            assert_eq!(ledger_lines(&world.storage), before.1, "{context}");
            assert_eq!(world.flush().unwrap().next_offset, Offset::new(3), "{context}");
            assert_eq!(world.chain(), "0..3@812", "{context}");
        }
        // What a failed log sync covered never reaches the medium, and recovery reads the medium.
        let next = if calls.contains("sync 0.log: ") { 1 } else { 3 };
        let adopted = adopt(&world.crash());
        assert_eq!(adopted.segments.last().unwrap().next_offset, Offset::new(next), "{context}");
    }
}

#[test]
fn a_write_that_cannot_be_taken_back_ends_all_writing() {
    for durability in Durability::ALL {
        let mut world = written(durability, LARGE);
        world.append(1).unwrap();
        // The write stops short, then fails; the index is cut, the log cannot be.
        world.storage.arm(1, &[Fault::Short(100), EIO]);
        world.storage.arm_also(4, EIO);
        let calls = calls(&mut world, |world| {
            assert_eq!(world.flush().unwrap_err().code(), "poisoned");
        });
        let expected = "\
write 0.log at 356 +356: 100 taken
write 0.log at 456 +256: EIO
set-length 0.index 24
set-length 0.log 356: EIO
";
        assert_eq!(calls, expected);
        assert_poisoned(&mut world);
    }
}

#[test]
fn whatever_is_acknowledged_durably_outlives_a_power_cut() {
    for durability in [Durability::Synced, Durability::Proven] {
        let mut world = World::start(empty(), options(durability, 1000));
        for messages in [1, 3, 2, 5, 1, 1, 4] {
            let acknowledged = world.write(messages).unwrap();
            let adopted = adopt(&world.storage.after_power_cut());
            assert_eq!(adopted.next_offset, acknowledged, "{durability:?}");
            let found: u64 = adopted.segments.iter().map(|segment| segment.end.get()).sum();
            let written: u64 = world.writer.chain().segments().iter().map(|segment| segment.end.get()).sum();
            assert_eq!(found, written, "{durability:?}");
        }
    }
}

/// G14.
#[test]
fn a_block_is_reserved_durably_before_its_first_offset_is_acknowledged() {
    let reserving = reserving(10);
    let mut world = World::start(empty(), reserving);
    world.append(1).unwrap();
    let flush = calls(&mut world, |world| world.flush().unwrap());
    let expected = "\
write ledger at 384 +128
sync ledger
write 0.log at 0 +356
write 0.index at 0 +24
";
    assert_eq!(flush, expected);
    let flush = calls(&mut world, |world| world.write(10).unwrap());
    assert_eq!(flush, "write 0.log at 356 +1256\nwrite 0.index at 24 +24\n", "offset 10 is the block's last");
    world.write(1).unwrap();
    assert_eq!(ledger_lines(&world.storage)[3..], ["reserved 11", "reserved 22"]);

    let mut after = World::start(world.power_cut(), reserving);
    assert_eq!(after.append(1).unwrap().base_offset, Offset::new(22), "nothing acknowledged is minted again");
    let mut stopped = World::start(after.crash(), reserving);
    stopped.write(1).unwrap();
    let _acknowledged = stopped.writer.stop(&stopped.storage).unwrap();
    let next = stopped.writer.next_offset();
    let mut again = World::start(stopped.power_cut(), reserving);
    assert_eq!(again.append(1).unwrap().base_offset, next, "a clean stop gives the block back");
}

#[test]
fn batches_that_are_dropped_give_their_offsets_back() {
    let mut world = written(Durability::Buffered, LARGE);
    world.append(3).unwrap();
    assert_eq!(world.writer.next_offset(), Offset::new(4));
    assert_eq!(world.writer.buffered_length(), Length::new(556));
    world.writer.discard();
    assert_eq!(world.writer.next_offset(), Offset::new(1));
    assert_eq!(world.append(1).unwrap().base_offset, Offset::new(1));
}
