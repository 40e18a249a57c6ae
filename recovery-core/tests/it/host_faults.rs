//! Errors of calls: whatever fails at a start or under a client, nothing is lost and nothing else is touched.

use recovery_core::host::{Host, HostOptions, PartitionState};
use recovery_core::partition::PartitionOptions;
use recovery_core::storage::Errno;
use recovery_core::units::{Durability, Length};

use crate::host_world::{NAMESPACE, OTHER, World, healthy, log_path};
use crate::memory_storage::Fault;
use crate::partition_world::batch;

fn two_partitions() -> World {
    let mut world = healthy();
    world.create_on(OTHER, 1, 1).unwrap();
    world.reconcile();
    world.write(OTHER, 1).unwrap();
    world
}

/// I20, I21: any call of a start fails once: at most one partition is not served, its clients may try again,
/// and the next try serves everything.
#[test]
fn an_error_at_a_start_is_tried_again_and_hits_one_partition_at_most() {
    for errno in [Errno::IO, Errno::TOO_MANY_FILES, Errno::PERMISSION_DENIED] {
        for call in 1.. {
            let mut world = two_partitions();
            let before = world.storage.files();
            world.restart_with(Some(Fault::Once(call, errno)));
            let was_reached = world.storage.attempts() >= call;
            let answers = [NAMESPACE, OTHER].map(|namespace| world.poll(namespace));
            let failed: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
            assert!(
                failed.iter().all(|error| error.status().code() == "retriable"),
                "call {call}: {failed:?}"
            );
            let is_metadata = failed.iter().all(|error| error.code() == "metadata-unavailable");
            assert!(failed.len() < 2 || is_metadata, "call {call}: {failed:?}");
            assert_eq!(world.storage.files(), before, "call {call}: {errno}");
            world.storage.start_again(None);
            world.host.retry();
            world.run();
            assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 1, 2], "call {call}");
            assert_eq!(world.poll(OTHER).unwrap(), [0], "call {call}");
            if !was_reached {
                break;
            }
        }
    }
}

/// A sync that fails ends writing; the partition is looked at anew, and goes on.
#[test]
fn a_poisoned_writer_is_closed_and_opened_through_recovery() {
    let mut world = two_partitions();
    world.events();
    world.poison();
    let error = world.write(NAMESPACE, 1).unwrap_err();
    assert_eq!((error.code(), error.status().code()), ("poisoned", "retriable"));
    assert_eq!(world.state(), Some(PartitionState::Unavailable));
    assert_eq!(world.write(OTHER, 1).unwrap().get(), 2, "the other one goes on");
    let events = world.events();
    assert!(
        events.starts_with("partition 1/2/3 (incarnation 1) is not served for now [poisoned]: sync"),
        "{events}"
    );
    world.host.retry();
    world.judge();
    let offsets = world.poll(NAMESPACE).unwrap();
    assert!(offsets.starts_with(&[0, 1, 2]), "{offsets:?}");
}

/// The metadata log fails under a command: what is served goes on, and the log is read again.
#[test]
fn a_metadata_log_that_fails_stops_no_partition() {
    for call in 1.. {
        let mut world = healthy();
        world.storage.start_again(Some(Fault::Once(call, Errno::IO)));
        let created = world.create_on(OTHER, 1, 1);
        let was_reached = world.storage.attempts() >= call;
        world.storage.start_again(None);
        assert_eq!(world.write(NAMESPACE, 1).unwrap().get(), 4);
        world.host.retry();
        world.run();
        assert_eq!(world.write(NAMESPACE, 1).unwrap().get(), 5, "call {call}: it was not opened anew");
        if created.is_err() && world.host.state(OTHER).is_none() {
            world.create_on(OTHER, 1, 1).unwrap();
        }
        world.reconcile();
        assert_eq!(world.poll(OTHER).unwrap(), Vec::<u64>::new());
        if !was_reached {
            break;
        }
    }
}

/// F85: what somebody changed between recovery and opening is met by the next recovery, and is no verdict
/// that lasts for one process.
#[test]
fn f85_a_size_that_does_not_match_is_no_verdict() {
    let mut world = healthy();
    let path = log_path();
    let whole = world.storage.files()[&path].clone();
    let mut longer = whole.clone();
    longer.extend_from_slice(b"and a tail that nobody has judged");
    for step in 0.. {
        world.storage.put(&path, &whole);
        let host = std::mem::replace(&mut world.host, Host::new(HostOptions::new()).unwrap());
        host.close(&world.storage);
        world.storage.start(None);
        let was_last = world.run_with(step, |storage| storage.put(&path, &longer));
        let state = world.state().unwrap();
        if state == PartitionState::Unavailable {
            world.host.retry();
            world.judge();
        }
        assert_eq!(world.state(), Some(PartitionState::Served), "step {step}: first {}", state.code());
        assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 1, 2], "step {step}");
        if was_last {
            break;
        }
    }
}

/// F71 to F73, F75, F76: the format's ceiling is named first, whatever else is wrong, and holds for a sum.
#[test]
fn f71_f73_f75_the_ceiling_binds_every_door() {
    let above = Length::new(recovery_core::format::BATCH_BYTES_MAX.get() + 1);
    let options = PartitionOptions {
        batch_bytes_max: above,
        segment_bytes: Length::ZERO,
        ledger_bytes_max: Length::ZERO,
        ..PartitionOptions::new(Durability::Buffered, None)
    };
    let refused = Host::<crate::memory_storage::MemoryStorage>::new(HostOptions {
        partition: options,
        ..HostOptions::new()
    });
    assert_eq!(refused.err().unwrap().code(), "batch-above-ceiling");
    let mut world = healthy();
    let error = world.host.set_partition_options(NAMESPACE, options).unwrap_err();
    assert_eq!(error.code(), "batch-above-ceiling");
    let small = PartitionOptions {
        batch_bytes_max: Length::new(600),
        ..PartitionOptions::new(Durability::Buffered, None)
    };
    world.host.set_partition_options(NAMESPACE, small).unwrap();
    world.restart_keeping(|host| host.set_partition_options(NAMESPACE, small).unwrap());
    let error = world.host.produce(&world.storage, NAMESPACE, &batch(10), 1).unwrap_err();
    assert_eq!((error.code(), error.status().code()), ("batch-too-large", "terminal"));
    assert_eq!(world.write(NAMESPACE, 1).unwrap().get(), 4, "and nothing was written of it");
    // F15: a setting that was lowered refuses nothing that is there.
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 1, 2, 3]);
}

/// F39: messages are counted one by one, over gaps, retention and restarts.
#[test]
fn f39_messages_are_counted_one_by_one() {
    let options = HostOptions {
        partition: PartitionOptions {
            reserve_block: 100,
            segment_bytes: Length::new(512),
            ..PartitionOptions::new(Durability::Buffered, None)
        },
        ..HostOptions::new()
    };
    let mut world = World::on(crate::memory_storage::MemoryStorage::new(), options);
    world.create(1).unwrap();
    world.reconcile();
    let count = |world: &World| world.host.statistics(NAMESPACE).unwrap().messages;
    assert_eq!(count(&world), Some(0));
    world.write(NAMESPACE, 3).unwrap();
    world.write(NAMESPACE, 4).unwrap();
    assert_eq!(count(&world), Some(7));
    world.restart();
    assert_eq!(count(&world), Some(7), "{}", world.events());
    assert!(world.write(NAMESPACE, 2).unwrap().get() > 100, "offsets were reserved ahead");
    assert_eq!(count(&world), Some(9));
    world.host.retain(&world.storage, NAMESPACE, recovery_core::units::Offset::new(7)).unwrap();
    let after = count(&world).unwrap();
    assert!(after < 9, "{after}");
    world.host.produce(&world.storage, NAMESPACE, &batch(5), 9).unwrap();
    assert_eq!(count(&world), Some(after), "what is not acknowledged does not count");
    world.host.discard(NAMESPACE).unwrap();
    world.host.flush(&world.storage, NAMESPACE).map(|_| ()).unwrap();
    assert_eq!(count(&world), Some(after));
    world.host.stop(&world.storage, NAMESPACE).map(|_| ()).unwrap();
    world.restart();
    assert_eq!(count(&world), Some(after));
}

/// The directory syncs and the file syncs of a start after a restore that dropped every index.
fn barriers_without_indexes(segments: u32, makes_ledgers: bool) -> (usize, usize) {
    let options = HostOptions {
        partition: PartitionOptions {
            segment_bytes: Length::new(512),
            ..PartitionOptions::new(Durability::Buffered, None)
        },
        makes_ledgers,
        ..HostOptions::new()
    };
    let mut world = World::on(crate::memory_storage::MemoryStorage::new(), options);
    world.create(1).unwrap();
    world.reconcile();
    for _ in 0..segments {
        world.write(NAMESPACE, 3).unwrap();
    }
    world.host.stop(&world.storage, NAMESPACE).map(|_| ()).unwrap();
    for index in world.paths(".index") {
        world.storage.take_away(&index);
    }
    world.restart();
    assert_eq!(world.host.statistics(NAMESPACE).unwrap().segments, Some(u64::from(segments)));
    assert_eq!(world.paths(".index").len(), segments as usize, "every index is there again");
    let calls = world.storage.calls();
    let of_partition = |call: &str| {
        let start = format!("{call} {}", crate::host_world::DIRECTORY);
        calls.iter().filter(|line| line.starts_with(&start)).count()
    };
    (of_partition("sync-directory"), of_partition("sync"))
}

/// F89: what a start costs after a restore without indexes does not grow in syncs with the segments.
#[test]
fn f89_a_restore_without_indexes_costs_reads_and_one_barrier() {
    let few = barriers_without_indexes(4, true);
    assert_eq!(few, barriers_without_indexes(200, true));
    // Settled and repaired; the ledger and the log that is not sealed settled, and the ledger told.
    assert_eq!(few, (2, 3));
}

/// F89: without a ledger the directory is synced no oftener, and each file that is evidence once: a log, of which nothing
/// says that cache and disk agree, and its new index, which the next start believes.
#[test]
fn f89_without_a_ledger_a_restore_costs_one_sync_of_each_log_and_each_index() {
    for segments in [4, 200] {
        assert_eq!(barriers_without_indexes(segments, false), (2, 2 * segments as usize));
    }
}
