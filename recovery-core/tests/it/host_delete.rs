//! Deletion: the exit from a tombstone, lives that follow each other, and inserts that come too late.

use recovery_core::host::PartitionState;
use recovery_core::observe::Progress;
use recovery_core::storage::Errno;

use crate::host_world::{DIRECTORY, NAMESPACE, World, healthy, refused};
use crate::memory_storage::Fault;

/// F22, F62, F67, F68: a tombstone is lifted by a deletion that really deletes, fences included, and by its
/// confirmation alone.
#[test]
fn f22_f62_f68_a_deleted_tombstone_is_lifted_only_when_nothing_of_it_is_left() {
    let mut world = refused();
    world.storage.put("streams/1/topics/2/partitions/3.fenced.0/copy", b"x");
    world.storage.put("streams/1/topics/2/partitions/3.fenced.7/deep/er", b"x");
    world.storage.put("streams/1/topics/2/partitions/3.rebuild/ledger", b"x");
    world.storage.put("streams/1/topics/2/partitions/3.fenced.x/not-ours", b"kept");
    world.storage.put("streams/1/topics/2/partitions/33.fenced.0/not-ours", b"kept");
    world.events();
    world.delete().unwrap();
    assert_eq!(world.state(), Some(PartitionState::Deleting));
    let error = world.poll(NAMESPACE).unwrap_err();
    assert_eq!((error.code(), error.status().code()), ("deleted", "terminal"));
    assert_eq!(world.confirm().unwrap_err().code(), "still-there", "the directory is there");
    assert_eq!(world.state(), Some(PartitionState::Deleting), "nothing was lifted");
    world.reconcile();
    assert_eq!(
        world.events(),
        "partition 1/2/3 (incarnation 1) is to be removed, with its fences\n\
         partition 1/2/3 (incarnation 1) is removed: nothing of it is left\n"
    );
    assert_eq!(world.state(), None);
    assert_eq!(world.paths("partitions/").len(), 2, "what is not the partition's is left");
    assert_eq!(world.poll(NAMESPACE).unwrap_err().code(), "no-such-partition");
    world.restart();
    assert_eq!(world.state(), None);
}

/// F62: what was never mounted in this process is removed all the same.
#[test]
fn f62_a_tombstone_deleted_before_a_restart_is_removed_after_it() {
    let mut world = refused();
    world.delete().unwrap();
    world.restart();
    assert_eq!(world.state(), Some(PartitionState::Deleting));
    world.reconcile();
    assert_eq!(world.paths(DIRECTORY), Vec::<String>::new());
    assert_eq!(world.state(), None);
}

/// G24: the old life goes first.
/// F63, N26: a topic that is deleted and created again between two passes never inherits the tombstone.
#[test]
fn f63_n26_a_new_life_inherits_no_tombstone() {
    for is_restarted in [false, true] {
        let mut world = refused();
        world.delete().unwrap();
        world.create(2).unwrap();
        assert_eq!(world.state(), Some(PartitionState::Created));
        if is_restarted {
            world.restart();
        }
        assert_eq!(world.poll(NAMESPACE).unwrap_err().code(), "not-made");
        world.reconcile();
        assert_eq!(world.state(), Some(PartitionState::Served));
        assert_eq!(world.poll(NAMESPACE).unwrap(), Vec::<u64>::new());
        assert_eq!(world.write(NAMESPACE, 1).unwrap().get(), 1);
        world.power_cut();
        assert_eq!(world.poll(NAMESPACE).unwrap(), [0]);
    }
}

/// G24.
/// F63, N27: an id that comes back does not take an old life's files for its own, wherever they came from.
#[test]
fn f63_n27_files_of_an_old_life_are_never_taken_for_a_new_one() {
    let mut world = healthy();
    let old = world.storage.files();
    world.delete().unwrap();
    world.reconcile();
    world.create(2).unwrap();
    for (path, bytes) in old.iter().filter(|(path, _)| path.starts_with(DIRECTORY)) {
        world.storage.put(path, bytes);
    }
    let before = world.storage.files();
    world.reconcile();
    let error = world.poll(NAMESPACE).unwrap_err();
    assert_eq!((error.code(), error.status().code()), ("occupied", "retriable"));
    assert_eq!(world.storage.files(), before);
    // Once somebody has moved them away, the next pass makes the partition.
    world.storage.take_away(DIRECTORY);
    world.reconcile();
    assert_eq!(world.poll(NAMESPACE).unwrap(), Vec::<u64>::new());
    // And once it is made, they are another life's: refused.
    for (path, bytes) in old.iter().filter(|(path, _)| path.starts_with(DIRECTORY)) {
        world.storage.put(path, bytes);
    }
    world.restart();
    assert_eq!(world.poll(NAMESPACE).unwrap_err().code(), "identity-mismatch");
}

/// F21, F66: an insert that was queued before the tombstone is refused when it is carried out, and builds
/// nothing.
#[test]
fn f21_f66_a_queued_insert_of_a_tombstone_is_refused() {
    let mut world = healthy();
    world.host.queue_insert(NAMESPACE).unwrap();
    world.flip(310);
    world.poison();
    world.host.retry();
    world.judge();
    assert_eq!(world.state(), Some(PartitionState::Refused));
    let before = world.storage.files();
    world.events();
    world.apply_inserts();
    assert_eq!(
        world.events(),
        "partition 1/2/3 (incarnation 1) is not mounted: it is refused [lost-durable]\n"
    );
    assert_eq!(world.storage.files(), before);
    assert_eq!(world.host.queue_insert(NAMESPACE).unwrap_err().code(), "lost-durable");
}

#[test]
fn a_queued_insert_of_an_old_life_is_refused() {
    let mut world = World::new();
    world.create(1).unwrap();
    world.host.queue_insert(NAMESPACE).unwrap();
    world.delete().unwrap();
    world.create(2).unwrap();
    world.host.queue_insert(NAMESPACE).unwrap();
    world.events();
    world.apply_inserts();
    assert_eq!(
        world.events(),
        "partition 1/2/3 (incarnation 1) is not mounted: it is not the newest life\n\
         partition 1/2/3 (incarnation 2) is not mounted: an earlier life is not removed yet\n"
    );
    assert_eq!(world.paths(DIRECTORY), Vec::<String>::new(), "nothing was built");
    world.confirm().unwrap();
    world.host.queue_insert(NAMESPACE).unwrap();
    world.apply_inserts();
    assert_eq!(world.poll(NAMESPACE).unwrap(), Vec::<u64>::new());
}

#[test]
fn an_insert_of_what_is_deleted_is_refused() {
    let mut world = healthy();
    world.host.queue_insert(NAMESPACE).unwrap();
    world.delete().unwrap();
    world.events();
    world.apply_inserts();
    assert_eq!(world.events(), "partition 1/2/3 (incarnation 1) is not mounted: it is being removed\n");
    assert_eq!(world.host.queue_insert(NAMESPACE).unwrap_err().code(), "no-such-partition");
}

/// B102.
/// A removal fails at any call, and the next pass goes on; a half-deleted directory is never judged.
#[test]
fn a_removal_that_fails_is_tried_again() {
    for call in 1.. {
        let mut world = refused();
        world.delete().unwrap();
        world.storage.start_again(Some(Fault::Once(call, Errno::IO)));
        world.reconcile();
        let was_reached = world.storage.attempts() >= call;
        world.storage.start_again(None);
        if world.state().is_some() {
            assert_eq!(world.state(), Some(PartitionState::Deleting), "call {call}");
            assert!(world.poll(NAMESPACE).is_err());
        }
        world.host.retry();
        world.run();
        world.reconcile();
        assert_eq!(world.state(), None, "call {call}: {}", world.events());
        assert_eq!(world.paths(DIRECTORY), Vec::<String>::new(), "call {call}");
        if !was_reached {
            break;
        }
    }
}

/// B102.
/// A crash after any call of delete, pass, create, pass: the start after it goes on, and ends the same.
#[test]
fn a_crash_anywhere_between_two_lives_ends_the_same() {
    for is_power in [false, true] {
        for call in 0.. {
            let mut world = refused();
            world.storage.start_again(Some(Fault::CrashAfter(call)));
            let _first = world.delete();
            world.reconcile();
            let _second = world.create(2);
            world.reconcile();
            let was_reached = world.storage.attempts() > call;
            if is_power {
                world.power_cut();
            } else {
                world.restart();
            }
            // What was not taken is asked for again.
            if world.state() == Some(PartitionState::Refused) {
                world.delete().unwrap();
            }
            world.reconcile();
            if world.state().is_none() {
                world.create(2).unwrap();
                world.reconcile();
            }
            assert_eq!(world.poll(NAMESPACE).unwrap(), Vec::<u64>::new(), "call {call}: {}", world.events());
            assert_eq!(world.write(NAMESPACE, 1).unwrap().get(), 1, "call {call}");
            if !was_reached {
                break;
            }
        }
    }
}

/// `Made` is recorded after the directory is durable, and `Deleting` before the first file goes.
#[test]
fn records_and_directories_follow_each_other_in_order() {
    let mut world = World::new();
    world.create(1).unwrap();
    world.storage.start_again(None);
    world.reconcile();
    let changes = world.storage.changes();
    let made = first_of(&changes, "write metadata.log");
    assert!(first_of(&changes, "sync-directory streams/1/topics/2/partitions") < made, "{changes:#?}");
    assert!(first_of(&changes, "partitions/3/ledger") < made, "{changes:#?}");
    world.storage.start_again(None);
    world.delete().unwrap();
    world.reconcile();
    let changes = world.storage.changes();
    assert!(first_of(&changes, "sync metadata.log") < first_of(&changes, "remove"), "{changes:#?}");
    let gone = last_of(&changes, "sync-directory streams");
    assert!(last_of(&changes, "remove") < gone, "{changes:#?}");
    // The record, and behind it the batch that confirms it.
    assert_eq!(changes[gone + 1..].join("\n").matches("write metadata.log").count(), 2, "{changes:#?}");
}

fn first_of(changes: &[String], part: &str) -> usize {
    changes.iter().position(|change| change.contains(part)).unwrap()
}

fn last_of(changes: &[String], part: &str) -> usize {
    changes.iter().rposition(|change| change.contains(part)).unwrap()
}

/// A step removes a few names at a time, however many there are.
#[test]
fn a_removal_is_sliced() {
    let mut world = healthy();
    for number in 0..1_000 {
        world.storage.put(&format!("{DIRECTORY}/file-{number}"), b"x");
    }
    world.delete().unwrap();
    let mut steps = 0;
    loop {
        world.storage.start_again(None);
        if world.host.reconcile(&world.storage, &mut world.workspace, 4096) == Progress::Done {
            break;
        }
        assert!(world.storage.call_count() <= 64, "step {steps}: {} calls", world.storage.call_count());
        steps += 1;
    }
    assert!(steps > 100, "{steps}");
    assert_eq!(world.state(), None);
}
