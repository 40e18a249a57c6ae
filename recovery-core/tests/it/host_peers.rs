//! Partitions that other nodes hold too: what is kept, what is asked for, and what is not claimed.

use recovery_core::host::{HostOptions, OffsetRange, PartitionState};
use recovery_core::partition::PartitionOptions;
use recovery_core::storage::Errno;
use recovery_core::units::{Durability, Length, Offset};

use crate::host_world::{DIRECTORY, NAMESPACE, World, log_path};
use crate::memory_storage::{Fault, MemoryStorage};

fn replicated(reserve_block: u64) -> World {
    let options = HostOptions {
        partition: PartitionOptions {
            reserve_block,
            segment_bytes: Length::new(512),
            ..PartitionOptions::new(Durability::Buffered, None)
        },
        ..HostOptions::new()
    };
    let mut world = World::on(MemoryStorage::new(), options);
    world.create_on(NAMESPACE, 1, 3).unwrap();
    world.reconcile();
    for _ in 0..4 {
        world.write(NAMESPACE, 2).unwrap();
    }
    world.events();
    world
}

fn range(first: u64, next: Option<u64>) -> OffsetRange {
    OffsetRange { first: Offset::new(first), next: next.map(Offset::new) }
}

/// N21: what verifies here is kept, and only the rest is asked for.
#[test]
fn n21_a_refused_replica_keeps_what_verifies_and_asks_for_the_rest() {
    let mut world = replicated(0);
    assert_eq!(world.host.holds(NAMESPACE), Some(range(0, Some(8))));
    assert_eq!(world.host.wanted(NAMESPACE), []);
    world.flip(310);
    let before = world.storage.files();
    world.restart();
    world.reconcile();
    assert_eq!(world.state(), Some(PartitionState::Rebuilding));
    assert_eq!(world.storage.files(), before, "no byte moves before a complete copy is here");
    // The first batch held offsets 0 and 1; the one behind it in its segment survives, and the other segment is whole.
    assert_eq!(world.host.wanted(NAMESPACE), [range(0, Some(2)), range(8, None)]);
    assert_eq!(world.host.holds(NAMESPACE), None, "what is not served is not claimed");
    assert!(world.host.local_facts(NAMESPACE).is_some());
    let error = world.poll(NAMESPACE).unwrap_err();
    assert_eq!((error.code(), error.status().code()), ("rebuilding", "retriable"));
    let statistics = world.host.statistics(NAMESPACE).unwrap();
    assert_eq!((statistics.code, statistics.messages), (Some("lost-durable"), None));
    let events = world.events();
    assert!(events.contains("waits for peers [lost-durable]: segment 0 is proven"), "{events}");
    assert!(world.host.queue_insert(NAMESPACE).is_err(), "nothing is mounted over it");
    // Nobody else has its directory: deleting it is an exit here too.
    world.delete().unwrap();
    world.reconcile();
    assert_eq!(world.state(), None);
    assert_eq!(world.paths(DIRECTORY), Vec::<String>::new());
}

/// G32: one that has nothing claims nothing: it counts as holding no offset, and offers none.
#[test]
fn a_replica_whose_directory_is_gone_asks_for_everything() {
    let mut world = replicated(0);
    world.storage.take_away(DIRECTORY);
    world.restart();
    world.reconcile();
    assert_eq!(world.state(), Some(PartitionState::Rebuilding));
    assert_eq!(world.host.wanted(NAMESPACE), [range(0, None)]);
    assert_eq!(world.paths(DIRECTORY), Vec::<String>::new(), "nothing is created empty");
}

/// G33, G34: where every replica lost the same, the gap is asked for, said and recorded, and never walked over.
#[test]
fn a_gap_is_left_only_when_nobody_held_its_offsets() {
    let mut world = replicated(100);
    world.restart();
    assert_eq!(world.state(), Some(PartitionState::Rebuilding));
    let wanted = world.host.wanted(NAMESPACE);
    assert_eq!((wanted.len(), wanted[0].first.get()), (1, 8));
    let next = wanted[0].next.unwrap();
    world.host.nobody_holds_gap(&world.storage, NAMESPACE, next).unwrap();
    world.judge();
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2, 4, 6]);
    assert_eq!(world.write(NAMESPACE, 1).unwrap().get(), next.get() + 1);
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2, 4, 6, next.get()]);
    let error = world.host.nobody_holds_gap(&world.storage, NAMESPACE, next).unwrap_err();
    assert_eq!(error.code(), "wrong-state");
}

/// I08: another replica may have promised more offsets than this one. A quorum goes on behind all of them.
#[test]
fn a_gap_ends_behind_what_any_replica_has_reserved() {
    let mut world = replicated(100);
    world.restart();
    let next = world.host.wanted(NAMESPACE)[0].next.unwrap();
    let further = next.checked_add(7).unwrap();
    world.host.nobody_holds_gap(&world.storage, NAMESPACE, further).unwrap();
    world.judge();
    assert_eq!(world.host.offer(NAMESPACE).unwrap().next_offset, further, "{}", world.events());
    assert_eq!(world.write(NAMESPACE, 1).unwrap().get(), further.get() + 1);
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2, 4, 6, further.get()]);
    let mut behind = replicated(100);
    behind.restart();
    behind.host.nobody_holds_gap(&behind.storage, NAMESPACE, Offset::ZERO).unwrap();
    behind.judge();
    assert_eq!(behind.host.offer(NAMESPACE).unwrap().next_offset, next, "no offset is given again");
}

/// A range that cannot be read is tried again, and peers are asked once that has not helped.
#[test]
fn a_range_that_stays_unreadable_is_asked_of_peers() {
    let mut world = replicated(0);
    let before = world.storage.files();
    world.storage.make_unreadable(Some(&log_path()));
    world.restart();
    for _ in 1..3 {
        assert_eq!(world.state(), Some(PartitionState::Unavailable), "{}", world.events());
        world.host.retry();
        world.judge();
    }
    assert_eq!(world.state(), Some(PartitionState::Rebuilding));
    // Nothing of the first segment can be read.
    assert_eq!(world.host.wanted(NAMESPACE), [range(0, Some(4)), range(8, None)]);
    assert_eq!(world.storage.files(), before);
    world.storage.make_unreadable(None);
    world.restart_with(Some(Fault::Once(u64::MAX, Errno::IO)));
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2, 4, 6], "a disk that has healed is judged anew");
}

/// G21: what this node says that it holds, and what it gives to others, is what it has acknowledged, and that is durable:
/// not what was only taken in, nor what a sync failed for.
#[test]
fn g21_nothing_is_claimed_or_offered_before_it_is_acknowledged() {
    let mut world = World::new();
    world.create_on(NAMESPACE, 1, 3).unwrap();
    world.reconcile();
    world.write(NAMESPACE, 2).unwrap();
    let claimed = |world: &World| {
        let offer = world.host.offer(NAMESPACE);
        let offered =
            offer.map(|offer| (offer.next_offset.get(), offer.segments.last().unwrap().next_offset.get()));
        (world.host.holds(NAMESPACE), offered)
    };
    let acknowledged = (Some(range(0, Some(2))), Some((2, 2)));
    assert_eq!(claimed(&world), acknowledged);
    world.host.produce(&world.storage, NAMESPACE, &crate::partition_world::batch(2), 9).unwrap();
    assert_eq!(claimed(&world), acknowledged, "what is only taken in is not claimed");
    world.poison();
    let (holds, offered) = claimed(&world);
    assert!(holds.is_none_or(|held| held == range(0, Some(2))), "{holds:?}");
    assert!(offered.is_none_or(|offered| offered == (2, 2)), "what a sync failed for is not: {offered:?}");
}
