//! Opening a writer, and what its first append tells the ledger.

use recovery_core::partition::{Adopted, Writer};
use recovery_core::plan::PlanOptions;
use recovery_core::storage::{EntryKind, Errno, Storage};
use recovery_core::units::{Durability, Length, Offset};

use crate::partition_world::{
    EIO, LARGE, Recovered, World, adopt, batch, calls, empty, file, ledger_lines, options, recover_with,
    refused, segment_files, small_ledger, without_ledger, written,
};
use crate::recording_storage::{Fault, RecordingStorage};

#[test]
fn the_first_append_makes_ledger_and_segment_durable_and_names_both() {
    let mut world = World::start(empty(), options(Durability::Synced, LARGE));
    let first = calls(&mut world, |world| {
        world.append(1).unwrap();
    });
    let expected = "\
create ledger.staging
write ledger.staging at 0 +128
sync ledger.staging
rename ledger.staging to ledger
sync-directory partition
write ledger at 128 +128
sync ledger
create 0.log
create 0.index
sync-directory partition
write ledger at 256 +128
sync ledger
";
    assert_eq!(first, expected);
    assert_eq!(ledger_lines(&world.storage), ["floor 0", "opened", "frontier 0:0:0"]);
}

#[test]
fn an_append_that_fails_at_any_call_mints_nothing_and_keeps_its_offset() {
    for durability in Durability::ALL {
        for k in 1.. {
            let mut world = World::start(empty(), options(durability, LARGE));
            world.storage.arm(k, &[EIO]);
            let appended = world.append(2);
            if world.storage.disarm() {
                assert_eq!(k, 13, "every call of a first append was made to fail once");
                break;
            }
            let calls = world.storage.take_calls();
            let error = appended.expect_err("the call failed");
            let is_known = !calls.lines().any(|line| line.contains("sync-directory") && line.contains(": "))
                && !calls.contains("sync ledger: ");
            let code = if is_known { "io" } else { "poisoned" };
            assert_eq!(error.code(), code, "call {k}:\n{calls}");
            if is_known {
                assert_eq!(world.append(2).unwrap().base_offset, Offset::ZERO, "call {k}");
                assert_eq!(world.flush().unwrap().next_offset, Offset::new(2), "call {k}");
            }
            let storage = world.crash();
            let mut again = World::start(storage, options(durability, LARGE));
            let next = if is_known { 2 } else { 0 };
            assert_eq!(again.append(1).unwrap().base_offset, Offset::new(next), "call {k}");
        }
    }
}

#[test]
fn a_partition_without_a_segment_starts_at_its_reserved_offset() {
    for has_ledger in [false, true] {
        let storage = empty();
        let mut adopted = adopt(&storage);
        if has_ledger {
            let mut world = World::start(storage, options(Durability::Proven, LARGE));
            world.storage.arm(8, &[Fault::Error(Errno::NO_SPACE)]);
            world.append(1).unwrap_err();
            let storage = world.crash();
            assert_eq!(storage.names(), ["ledger"], "the segment was not created");
            adopted = adopt(&storage);
            check_first_segment(&storage, adopted, &["floor 0", "opened", "floor 76", "opened"]);
        } else {
            check_first_segment(&storage, adopted, &["floor 76", "opened"]);
        }
    }
}

fn check_first_segment(storage: &RecordingStorage, mut adopted: Adopted, lines: &[&str]) {
    adopted.next_offset = Offset::new(76);
    let with = options(Durability::Proven, LARGE);
    let directory = storage.partition();
    let mut writer = Writer::open(storage, directory, adopted, None, with).unwrap();
    let appended = writer.append(storage, &batch(1), 1).unwrap();
    assert_eq!(appended.base_offset, Offset::new(76));
    let found = ledger_lines(storage);
    assert_eq!(found[..lines.len()], *lines);
    assert_eq!(storage.names(), ["76.index", "76.log", "ledger"]);
}

#[test]
fn a_start_tells_the_ledger_what_it_adopted_before_its_first_append() {
    let without = without_ledger(Durability::Synced, 512);
    let mut world = World::start(empty(), without);
    for _ in 0..5 {
        world.write(1).unwrap();
    }
    let mut world = World::start(world.crash(), options(Durability::Synced, 512));
    assert_eq!(world.chain(), "0..2@712 2..4@712 4..5@356");
    world.append(1).unwrap();
    let lines = ledger_lines(&world.storage);
    let told = ["floor 0", "sealed 0:712:2 then 2", "sealed 2:712:4 then 4", "frontier 4:356:5", "opened"];
    assert_eq!(lines, told);
    assert_eq!(ledger_lines(&world.power_cut()), told, "all of it is durable");
}

#[test]
fn a_file_of_another_length_than_recovery_left_is_not_opened() {
    for (name, sentence) in [
        ("0.log", "00000000000000000000.log has 357 bytes, and recovery left 356"),
        ("0.index", "00000000000000000000.index has 25 bytes, and recovery left 24"),
    ] {
        let storage = written(Durability::Synced, LARGE).crash();
        let adopted = adopt(&storage);
        let mut bytes = storage.bytes(&file(name)).unwrap();
        bytes.push(1);
        storage.put(&file(name), &bytes);
        let error = refused(&storage, adopted, options(Durability::Synced, LARGE));
        assert_eq!((error.code(), error.to_string().as_str()), ("storage-size-mismatch", sentence));
        assert_eq!(storage.bytes(&file(name)).unwrap(), bytes, "it is left as it is");
    }
}

#[test]
fn a_ledger_is_not_made_over_a_file_that_nobody_has_set_aside() {
    let storage = empty();
    storage.put(&file("ledger"), &[7; 300]);
    let Recovered { adopted, .. } = recover_with(&storage, PlanOptions::default());
    let adopted = adopted.unwrap();
    assert_eq!(adopted.invalid_ledger_length, Length::new(300));
    let error = refused(&storage, adopted, options(Durability::Synced, LARGE));
    assert_eq!(error.code(), "ledger-in-the-way");
    assert_eq!(storage.bytes(&file("ledger")).unwrap(), [7; 300]);

    let mut world = World::start(storage, options(Durability::Synced, LARGE));
    assert_eq!(world.storage.names(), Vec::<String>::new(), "recovery has set it aside");
    world.append(1).unwrap();
    assert_eq!(ledger_lines(&world.storage), ["floor 0", "opened", "frontier 0:0:0"]);
}

#[test]
fn an_opening_does_not_look_for_what_its_recovery_has_set_aside() {
    let storage = empty();
    storage.put(&file("ledger"), &[7; 300]);
    let adopted = adopt(&storage);
    assert_eq!(adopted.invalid_ledger_length, Length::ZERO);
    let directory = storage.partition();
    storage.take_calls();
    let with = options(Durability::Synced, LARGE);
    let writer = Writer::open(&storage, directory, adopted, None, with).expect("nothing is in the way");
    assert_eq!(storage.take_calls(), "\n");
    writer.close(&storage).close(&storage);
}

#[test]
fn a_ledgers_name_that_has_become_free_is_taken() {
    let storage = empty();
    storage.put(&file("ledger"), &[7; 300]);
    let Recovered { adopted, .. } = recover_with(&storage, PlanOptions::default());
    let directory = storage.partition();
    storage.remove(&directory.directory, &file("ledger"), EntryKind::File).unwrap();
    let with = options(Durability::Synced, LARGE);
    let opened = Writer::open(&storage, directory, adopted.unwrap(), None, with);
    opened.expect("nothing is in the way").close(&storage).close(&storage);
}

#[test]
fn a_ledger_is_not_begun_where_nobody_knows_how_a_segment_hashes() {
    let storage = written(Durability::Synced, LARGE).crash();
    let mut adopted = adopt(&storage);
    adopted.segments[0].chain_hash = None;
    let error = refused(&storage, adopted.clone(), options(Durability::Synced, LARGE));
    assert_eq!(error.code(), "chain-hash-unknown");
    adopted.ledger = None;
    let error = refused(&storage, adopted.clone(), options(Durability::Synced, LARGE));
    assert_eq!(error.code(), "chain-hash-unknown");
    let without = without_ledger(Durability::Synced, LARGE);
    let opened = Writer::open(&storage, storage.partition(), adopted, None, without);
    opened.expect("nothing is to be hashed").close(&storage).close(&storage);
}

#[test]
fn a_partition_that_gets_no_ledger_is_written_beside_what_has_its_name() {
    let storage = empty();
    storage.put(&file("ledger"), &[7; 300]);
    let Recovered { adopted, .. } = recover_with(&storage, PlanOptions::default());
    let without = without_ledger(Durability::Synced, LARGE);
    let opened = Writer::open(&storage, storage.partition(), adopted.unwrap(), None, without);
    let mut writer = opened.expect("no ledger is asked for");
    writer.append(&storage, &batch(1), 1).unwrap();
    assert_eq!(writer.flush(&storage).unwrap().next_offset, Offset::new(1));
    writer.close(&storage).close(&storage);
    assert_eq!(storage.bytes(&file("ledger")).unwrap(), [7; 300]);
}

#[test]
fn a_ledgers_name_that_could_not_be_looked_at_is_not_free() {
    let storage = empty();
    storage.put(&file("ledger"), &[7; 300]);
    let Recovered { adopted, .. } = recover_with(&storage, PlanOptions::default());
    let directory = storage.partition();
    storage.take_calls();
    storage.arm(1, &[EIO]);
    let with = options(Durability::Synced, LARGE);
    let error = Writer::open(&storage, directory, adopted.unwrap(), None, with).err();
    assert_eq!(error.expect("the call failed").code(), "io");
    assert_eq!(storage.take_calls(), "open ledger: EIO\n");
    assert_eq!(storage.open_handles(), 0);
}

#[test]
fn an_opening_that_fails_at_any_call_leaves_nothing_open_and_changes_nothing() {
    let storage = written(Durability::Synced, LARGE).crash();
    let before = (segment_files(&storage), ledger_lines(&storage));
    for k in 1.. {
        let adopted = adopt(&storage);
        let directory = storage.partition();
        storage.arm(k, &[EIO]);
        let opened = Writer::open(&storage, directory, adopted, None, options(Durability::Synced, LARGE));
        if storage.disarm() {
            assert_eq!(k, 7, "every call of an opening was made to fail once");
            break;
        }
        assert!(opened.is_err(), "call {k}");
        assert_eq!(storage.open_handles(), 0, "call {k}");
        assert_eq!((segment_files(&storage), ledger_lines(&storage)), before, "call {k}");
    }
}

#[test]
fn a_ledger_that_has_grown_is_compacted_before_an_append() {
    let small = small_ledger();
    let mut world = World::start(empty(), small);
    for _ in 0..5 {
        world.write(1).unwrap();
    }
    assert_eq!(ledger_lines(&world.storage).len(), 8);
    let compacted = calls(&mut world, |world| world.append(1).unwrap());
    let expected = "\
create ledger.staging
write ledger.staging at 0 +256
sync ledger.staging
rename ledger.staging to ledger
sync-directory partition
";
    assert_eq!(compacted, expected);
    assert_eq!(ledger_lines(&world.storage), ["frontier 0:1780:5", "frontier 0:1780:5"]);
    let _acknowledged = world.flush().unwrap();
    let adopted = adopt(&world.power_cut());
    assert_eq!(adopted.next_offset, Offset::new(6));
    assert_eq!(adopted.ledger.unwrap().newest.epoch, 2);
}

#[test]
fn a_compaction_that_fails_is_reported_once_and_stops_no_append() {
    let small = small_ledger();
    let mut world = World::start(empty(), small);
    for _ in 0..5 {
        world.write(1).unwrap();
    }
    world.storage.arm(1, &[Fault::Error(Errno::NO_SPACE)]);
    assert_eq!(world.append(1).unwrap_err().code(), "io");
    world.storage.disarm();
    let appended = calls(&mut world, |world| world.append(1).unwrap());
    assert_eq!(appended, "\n");
}
