//! The change to a new segment: its calls, its failures, and the starts that finish it.

use recovery_core::format::{BatchBuilder, stamp};
use recovery_core::partition::{PartitionOptions, Writer};
use recovery_core::storage::Errno;
use recovery_core::units::{Durability, Offset};

use crate::partition_world::{
    LARGE, NAMESPACE, World, adopt, batch, batch_bytes, calls, empty, file, ledger_lines, options, refused,
    reserving, without_ledger, written,
};
use crate::recording_storage::{Fault, RecordingStorage};

#[test]
fn a_roll_seals_the_old_segment_before_it_creates_the_new_one() {
    let mut world = written(Durability::Synced, 512);
    world.write(1).unwrap();
    assert_eq!(world.chain(), "0..2@712");
    let roll = calls(&mut world, |world| world.append(3).unwrap());
    let expected = "\
sync 0.log
write ledger at 640 +128
sync ledger
create 2.log
create 2.index
sync-directory partition
write ledger at 768 +128
";
    assert_eq!(roll, expected);
    let _acknowledged = world.flush().unwrap();
    assert_eq!(world.chain(), format!("0..2@712 2..5@{}", batch_bytes(3)));
    let lines = ledger_lines(&world.storage);
    assert_eq!(lines[5..], ["sealed 0:712:2 then 2", "frontier 2:0:2", "frontier 2:556:5"]);
}

/// Fails every call of a roll; then tries again, starts again, and starts again after a power cut.
#[test]
fn a_roll_that_fails_at_any_call_goes_on_where_it_stopped() {
    for durability in Durability::ALL {
        for k in 1.. {
            let mut world = written(durability, 512);
            world.write(1).unwrap();
            world.writer.checkpoint(&world.storage).unwrap();
            let before = ledger_lines(&world.storage).len();
            world.storage.take_calls();
            world.storage.arm(k, &[Fault::Error(Errno::TOO_MANY_FILES)]);
            let appended = world.append(1);
            if world.storage.disarm() {
                assert_eq!(k, 8, "every call of a roll was made to fail once");
                break;
            }
            let calls = world.storage.take_calls();
            let context = format!("{durability:?} call {k}:\n{calls}");
            let was_sync = calls.lines().any(|line| line.starts_with("sync") && line.contains(": "));
            assert_eq!(appended.unwrap_err().code(), if was_sync { "poisoned" } else { "io" }, "{context}");
            if !was_sync {
                assert_eq!(world.append(1).unwrap().base_offset, Offset::new(2), "{context}");
                assert_eq!(world.flush().unwrap().next_offset, Offset::new(3), "{context}");
                let lines = ledger_lines(&world.storage);
                assert_eq!(lines[before..before + 2], ["sealed 0:712:2 then 2", "frontier 2:0:2"]);
                assert_eq!(world.chain(), "0..2@712 2..3@356", "{context}");
            }
            let lost = u64::from(was_sync);
            check_start_after_roll(world.crash(), durability, 3 - lost, &context);
        }
    }
}

fn check_start_after_roll(storage: RecordingStorage, durability: Durability, next: u64, context: &str) {
    let power_cut = storage.after_power_cut();
    let mut world = World::start(storage, options(durability, 512));
    assert_eq!(world.append(1).unwrap().base_offset, Offset::new(next), "{context}");
    let _acknowledged = world.flush().unwrap();
    let segments = world.writer.chain().segments();
    assert_eq!(segments.iter().map(|segment| segment.start.get()).collect::<Vec<_>>(), [0, 2], "{context}");

    let mut world = World::start(power_cut, options(durability, 512));
    let appended = world.append(1).unwrap();
    // Only a buffered acknowledgement may be lost with the power.
    let least = if durability == Durability::Buffered { 2 } else { next };
    assert!(appended.base_offset.get() >= least, "{context}");
    assert_eq!(world.flush().unwrap().next_offset.get(), appended.next_offset.get(), "{context}");
}

#[test]
fn a_start_finishes_a_roll_that_was_cut_short_and_creates_its_segment_once() {
    let mut world = written(Durability::Proven, 512);
    world.write(1).unwrap();
    world.storage.arm(4, &[Fault::Error(Errno::NO_SPACE)]);
    world.append(1).unwrap_err();
    let storage = world.crash();
    assert_eq!(storage.names(), ["0.index", "0.log", "ledger"]);
    let mut world = World::start(storage, options(Durability::Proven, 512));
    let first = calls(&mut world, |world| world.append(1).unwrap());
    let expected = "\
write ledger at 768 +128
sync ledger
create 2.log
create 2.index
sync-directory partition
write ledger at 896 +128
";
    assert_eq!(first, expected, "sealed already, so nothing is sealed again");
    let lines = ledger_lines(&world.storage);
    assert_eq!(lines[5..], ["sealed 0:712:2 then 2", "opened", "frontier 2:0:2"]);
}

/// A seal that names the next segment, no next segment, and a survivor behind the sealed length: the offset
/// that the survivor holds is not minted, so the seal is outdated, whichever call goes on with the roll.
#[test]
fn a_seal_that_says_less_than_a_survivor_is_made_anew() {
    for is_explicit in [true, false] {
        let mut world = written(Durability::Buffered, 512);
        world.storage.arm(4, &[Fault::Error(Errno::NO_SPACE)]);
        world.writer.roll(&world.storage).unwrap_err();
        let storage = world.crash();
        assert_eq!(ledger_lines(&storage).last().unwrap(), "sealed 0:356:1 then 1");
        let mut survivor = batch(1);
        stamp(&mut survivor, NAMESPACE.partition_id(), Offset::new(1), 9_000).unwrap();
        let log = file("0.log");
        storage.put(&log, &[storage.bytes(&log).unwrap(), survivor].concat());
        let mut world = World::start(storage, options(Durability::Buffered, 512));
        if is_explicit {
            let _acknowledged = world.writer.roll(&world.storage).unwrap();
            assert_eq!(world.chain(), "0..1@356 2..2@0");
        }
        assert_eq!(world.append(1).unwrap().base_offset, Offset::new(2));
        let lines = ledger_lines(&world.storage);
        assert!(lines.contains(&"sealed 0:356:1 then 2".to_owned()), "{lines:?}");
    }
}

/// Another server has written batches of no message, which is allowed: they fill a segment and move no offset.
#[test]
fn a_full_segment_without_a_message_is_not_left_since_the_next_would_have_its_name() {
    let mut bytes = Vec::new();
    BatchBuilder::begin(&mut bytes, 1).finish();
    stamp(&mut bytes, NAMESPACE.partition_id(), Offset::ZERO, 1).unwrap();
    let storage = empty();
    storage.put(&file("0.log"), &bytes.repeat(3));
    let mut world = World::start(storage, options(Durability::Synced, 512));
    assert_eq!(world.chain(), "0..0@768");
    let _acknowledged = world.writer.roll(&world.storage).unwrap();
    assert_eq!(world.write(1).unwrap(), Offset::new(1));
    assert_eq!(world.chain(), "0..1@1124");
    assert_eq!(world.write(1).unwrap(), Offset::new(2));
    assert_eq!(world.chain(), "0..1@1124 1..2@356");
}

#[test]
fn a_gap_is_recorded_on_a_segment_boundary_and_a_crash_loop_adds_no_empty_files() {
    let reserving = reserving(100);
    let mut storage = written_with(reserving);
    for _ in 0..3 {
        let mut world = World::start(storage, reserving);
        assert_eq!(world.append(1).unwrap().base_offset, Offset::new(101));
        storage = world.power_cut();
        assert_eq!(storage.names(), ["0.index", "0.log", "101.index", "101.log", "ledger"]);
    }
    let mut world = World::start(storage, reserving);
    assert_eq!(world.write(1).unwrap(), Offset::new(102));
    assert_eq!(world.chain(), "0..1@356 101..102@356");
    let lines = ledger_lines(&world.storage);
    assert_eq!(lines.iter().filter(|line| *line == "sealed 0:356:1 then 101").count(), 1);
    assert!(lines.contains(&"reserved 202".to_owned()));
}

/// One acknowledged message, then a power cut that keeps it.
fn written_with(options: PartitionOptions) -> RecordingStorage {
    let mut world = World::start(empty(), options);
    world.write(1).unwrap();
    world.writer.checkpoint(&world.storage).unwrap();
    world.power_cut()
}

#[test]
fn without_a_ledger_a_gap_is_not_written() {
    let without = without_ledger(Durability::Synced, LARGE);
    let mut world = World::start(empty(), without);
    world.write(1).unwrap();
    let storage = world.crash();
    let mut adopted = adopt(&storage);
    adopted.next_offset = Offset::new(76);
    let directory = storage.partition();
    let mut writer = Writer::open(&storage, directory, adopted.clone(), None, without).unwrap();
    let error = writer.append(&storage, &batch(1), 1).unwrap_err();
    assert_eq!(error.to_string(), "offsets 1 to 75 are left out, and there is no ledger to record that in");
    writer.close(&storage).close(&storage);
    let reserving = PartitionOptions { reserve_block: 5, ..without };
    assert_eq!(refused(&storage, adopted, reserving).code(), "reserve-needs-ledger");
}

/// G17: one failed write must not re-open the offsets that were given out before.
#[test]
fn a_reserved_offset_holds_however_the_first_append_fails() {
    let storage = written_with(reserving(100));
    for k in 1.. {
        let mut world = World::start(storage.after_power_cut(), reserving(100));
        world.storage.arm(k, &[Fault::Error(Errno::IO)]);
        let appended = world.append(1);
        if world.storage.disarm() {
            assert_eq!(k, 11, "every call of the first append was made to fail once");
            break;
        }
        if appended.unwrap_err().code() == "io" {
            assert_eq!(world.append(1).unwrap().base_offset, Offset::new(101), "call {k}");
        }
        for storage in [world.storage.after_power_cut(), world.crash()] {
            let mut again = World::start(storage, reserving(100));
            assert_eq!(again.append(1).unwrap().base_offset, Offset::new(101), "call {k}");
        }
    }
}
