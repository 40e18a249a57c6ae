//! The superblock's writer, and what a start makes of a frontier past the log.

use recovery_core::format::{Superblock, SuperblockSlot};
use recovery_core::host::{HostOptions, SuperblockError, SuperblockWriter};
use recovery_core::observe::{SuperblockIdentity, SuperblockState};
use recovery_core::storage::{Errno, PartitionDirectory};
use recovery_core::units::Offset;

use crate::host_world::{DIRECTORY, NAMESPACE, World, healthy};
use crate::memory_storage::{Fault, MemoryStorage, name};

const IDENTITY: SuperblockIdentity = SuperblockIdentity { cluster: 7, replica: 1, replica_count: 3 };

const FOUND: Superblock = Superblock {
    sequence: 41,
    cluster: 7,
    replica: 1,
    replica_count: 3,
    view: 12,
    log_view: 11,
    commit: 99,
    offset_frontier: Offset::new(2),
};

fn directory(storage: &MemoryStorage) -> Option<PartitionDirectory<MemoryStorage>> {
    PartitionDirectory::open(storage, &[name("p")]).ok()
}

/// What the two slots hold: sequence and frontier.
fn slots(storage: &MemoryStorage) -> Vec<Option<(u64, u64)>> {
    let files = storage.files();
    let read = |slot: SuperblockSlot| {
        files.get(&format!("p/{}", slot.name())).map(|bytes| {
            let record = Superblock::decode(bytes).expect("a slot is whole or not there");
            (record.sequence, record.offset_frontier.get())
        })
    };
    SuperblockSlot::ALL.map(read).to_vec()
}

/// The newest of two valid slots, as observation states it.
fn state(storage: &MemoryStorage) -> SuperblockState {
    let found = SuperblockSlot::ALL.into_iter().zip(slots(storage));
    let newest = found.filter_map(|(slot, record)| record.map(|record| (record, slot))).max();
    match newest {
        None => SuperblockState::None,
        Some(((sequence, frontier), slot)) => {
            SuperblockState::Known { offset_frontier: Offset::new(frontier), slot, sequence }
        }
    }
}

fn advance(storage: &MemoryStorage, frontiers: &[u64]) -> Result<(), SuperblockError> {
    let Some(directory) = directory(storage) else { return Ok(()) };
    let writer = SuperblockWriter::open(storage, &directory.directory, &state(storage), Some(IDENTITY));
    let advanced = match writer {
        Ok(writer) => {
            let mut writer = writer.expect("with an identity there is a writer");
            frontiers.iter().try_for_each(|frontier| {
                writer.advance(storage, &directory.directory, Offset::new(*frontier))
            })
        }
        Err(error) => Err(SuperblockError::Io(error)),
    };
    directory.close(storage);
    advanced
}

fn empty() -> MemoryStorage {
    let storage = MemoryStorage::new();
    storage.put_directory("p");
    storage
}

#[test]
fn the_last_number_there_is_has_no_successor() {
    let storage = empty();
    let last = Superblock { sequence: u64::MAX, offset_frontier: Offset::new(7), ..FOUND };
    storage.put("p/superblock.a", &last.encode());
    assert_eq!(advance(&storage, &[7]), Ok(()), "it is there already");
    assert_eq!(advance(&storage, &[9]), Err(SuperblockError::Exhausted));
    assert_eq!(slots(&storage), [Some((u64::MAX, 7)), None]);
}

#[test]
fn slots_take_turns_and_the_frontier_only_moves_forward() {
    let storage = empty();
    advance(&storage, &[3]).unwrap();
    assert_eq!(slots(&storage), [Some((1, 3)), None]);
    advance(&storage, &[5, 5, 4]).unwrap();
    assert_eq!(slots(&storage), [Some((1, 3)), Some((2, 5))], "what is no further is not written");
    advance(&storage, &[9]).unwrap();
    assert_eq!(slots(&storage), [Some((3, 9)), Some((2, 5))], "the newest is never the one that is replaced");
}

#[test]
fn what_a_record_says_otherwise_is_kept() {
    let storage = empty();
    storage.put("p/superblock.b", &FOUND.encode());
    advance(&storage, &[6]).unwrap();
    let written = Superblock::decode(&storage.files()["p/superblock.a"]).unwrap();
    assert_eq!(written, Superblock { sequence: 42, offset_frontier: Offset::new(6), ..FOUND });
}

/// A crash, or an error, at any call: both slots are whole, and say the old or the new.
#[test]
fn no_crash_and_no_error_leaves_half_a_record() {
    for is_power in [false, true] {
        for fault in [Fault::CrashAfter as fn(u64) -> Fault, |call| Fault::Once(call + 1, Errno::NO_SPACE)] {
            for call in 0.. {
                let storage = empty();
                advance(&storage, &[3, 5]).unwrap();
                storage.start(Some(fault(call)));
                let advanced = advance(&storage, &[8]);
                let was_reached = storage.attempts() > call;
                storage.start(None);
                if is_power {
                    storage.lose_power();
                }
                let SuperblockState::Known { offset_frontier, .. } = state(&storage) else {
                    panic!("call {call}")
                };
                let expected: &[u64] = if advanced.is_ok() && !was_reached { &[8] } else { &[5, 8] };
                assert!(expected.contains(&offset_frontier.get()), "call {call}: {offset_frontier}");
                assert_eq!(slots(&storage)[1], Some((2, 5)), "the newest is never touched");
                advance(&storage, &[9]).unwrap();
                let SuperblockState::Known { offset_frontier, .. } = state(&storage) else {
                    panic!("call {call}")
                };
                assert_eq!(offset_frontier.get(), 9);
                if !was_reached {
                    break;
                }
            }
        }
    }
}

/// G17.
#[test]
fn a_superblock_that_may_not_be_durable_is_not_written_again() {
    let storage = empty();
    advance(&storage, &[3]).unwrap();
    let directory = directory(&storage).unwrap();
    let found = state(&storage);
    let mut writer = SuperblockWriter::open(&storage, &directory.directory, &found, None).unwrap().unwrap();
    // create, write, sync, rename, and the directory's sync fails.
    storage.start_again(Some(Fault::Once(5, Errno::IO)));
    let error = writer.advance(&storage, &directory.directory, Offset::new(4)).unwrap_err();
    assert!(matches!(error, SuperblockError::Blocked { .. }), "{error}");
    storage.start_again(None);
    let error = writer.advance(&storage, &directory.directory, Offset::new(6)).unwrap_err();
    assert!(matches!(error, SuperblockError::Blocked { .. }), "{error}");
    assert_eq!(storage.call_count(), 0, "no call is made");
    directory.close(&storage);
}

fn with_identity() -> HostOptions {
    HostOptions { superblock: Some(IDENTITY), ..HostOptions::new() }
}

#[test]
fn a_host_writes_exact_frontiers_and_none_of_what_is_dark() {
    let mut world = World::on(MemoryStorage::new(), with_identity());
    world.create(1).unwrap();
    world.reconcile();
    world.write(NAMESPACE, 3).unwrap();
    assert_eq!(world.paths("superblock"), Vec::<String>::new(), "nothing is written ahead");
    world.host.checkpoint(&world.storage, NAMESPACE).unwrap();
    world.write(NAMESPACE, 2).unwrap();
    world.host.stop(&world.storage, NAMESPACE).map(|_| ()).unwrap();
    let frontier = |world: &World, slot: &str| {
        let bytes = world.storage.files()[&format!("{DIRECTORY}/superblock.{slot}")].clone();
        Superblock::decode(&bytes).unwrap().offset_frontier.get()
    };
    assert_eq!((frontier(&world, "a"), frontier(&world, "b")), (3, 5));
    world.flip(310);
    world.restart();
    let before = world.storage.files();
    let error = world.host.checkpoint(&world.storage, NAMESPACE).unwrap_err();
    assert_eq!(error.status().code(), "terminal");
    assert_eq!(world.storage.files(), before, "writes are blocked while it is dark");
}

/// F17: a log that ends below the reserved offset: the prefix is kept, the gap lies between two segments and
/// is recorded, and the next start is clean.
#[test]
fn f17_a_gap_to_a_reserved_offset_lies_on_a_segment_boundary() {
    let mut world = healthy();
    let record = Superblock {
        sequence: 1,
        cluster: 7,
        replica: 1,
        replica_count: 3,
        view: 0,
        log_view: 0,
        commit: 0,
        offset_frontier: Offset::new(10),
    };
    world.storage.put(&format!("{DIRECTORY}/superblock.a"), &record.encode());
    world.restart();
    assert!(world.events().ends_with("3 messages, next offset 10; offsets 3 to 9 stay unused\n"));
    assert_eq!(world.write(NAMESPACE, 1).unwrap().get(), 11);
    world.power_cut();
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 1, 2, 10]);
    assert!(world.events().ends_with("4 messages, next offset 11\n"), "and nothing is left out any more");
    assert_eq!(world.host.statistics(NAMESPACE).unwrap().segments, Some(2));
}

/// A slot that fails its check never wins, and is not taken for an empty one.
#[test]
fn an_unreadable_slot_is_not_empty() {
    let mut world = World::on(MemoryStorage::new(), with_identity());
    world.create(1).unwrap();
    world.reconcile();
    world.write(NAMESPACE, 3).unwrap();
    world.host.checkpoint(&world.storage, NAMESPACE).unwrap();
    let path = format!("{DIRECTORY}/superblock.a");
    let mut bytes = world.storage.files()[&path].clone();
    bytes[90] ^= 1;
    world.storage.put(&path, &bytes);
    world.restart();
    assert_eq!(world.poll(NAMESPACE).unwrap_err().code(), "superblock-unreadable");
}
