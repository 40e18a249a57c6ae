//! Starts of a node: many partitions, tombstones, and what is not there.

use recovery_core::host::{Host, HostOptions, PartitionState};
use recovery_core::observe::Progress;

use crate::host_world::{DIRECTORY, NAMESPACE, OTHER, World, healthy, log_path, refused};

/// G23: a creation that is heard of again after a restart builds over nothing.
#[test]
fn a_partition_is_made_served_and_found_again() {
    let mut world = World::new();
    world.create(1).unwrap();
    assert_eq!(world.state(), Some(PartitionState::Created));
    assert_eq!(world.write(NAMESPACE, 1).unwrap_err().code(), "not-made");
    world.reconcile();
    assert_eq!(
        world.events(),
        "the metadata log is read; partitions it names: 0\n\
         partition 1/2/3 (incarnation 1) is to be made\n\
         partition 1/2/3 (incarnation 1) is made: its directory is durable\n\
         partition 1/2/3 (incarnation 1) is served: 0 messages, next offset 0\n"
    );
    world.write(NAMESPACE, 2).unwrap();
    world.write(NAMESPACE, 1).unwrap();
    world.power_cut();
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2]);
    assert_eq!(
        world.events(),
        "the metadata log is read; partitions it names: 1\n\
         partition 1/2/3 (incarnation 1) is served: 3 messages, next offset 3\n"
    );
}

/// Partitions that take turns share the window: each slice must have done something, however small it is.
#[test]
fn partitions_that_take_turns_come_to_an_end_whatever_a_slice_is() {
    for limit in [512, 513, 700, 1024] {
        let mut world = healthy();
        world.create_on(OTHER, 1, 1).unwrap();
        world.reconcile();
        world.write(OTHER, 9).unwrap();
        let other = world.storage.clone();
        let mut host = Host::new(HostOptions::new()).unwrap();
        other.start(None);
        while host.start(&other, &mut world.workspace, limit) == Progress::More {}
        let mut turns = 0;
        while host.pending().count() > 0 {
            let pending: Vec<_> = host.pending().collect();
            for namespace in pending {
                host.step(&other, namespace, &mut world.workspace, limit);
            }
            turns += 1;
            assert!(turns < 1000, "slices of {limit} bytes come to no end");
        }
        assert_eq!(host.state(OTHER), Some(PartitionState::Served));
    }
}

/// F09, F19, F20, F61, F64: dark, with the reason on the line, at every start, and not one byte is touched.
#[test]
fn f09_f20_f61_a_refused_partition_stays_as_it_is_and_says_why_at_every_start() {
    let mut world = healthy();
    world.flip(310);
    let before = world.storage.files();
    for _ in 0..3 {
        world.restart();
        assert_eq!(
            world.events(),
            "the metadata log is read; partitions it names: 1\n\
             partition 1/2/3 (incarnation 1) is refused [lost-durable]: segment 0 is proven to byte 0 \
             (offset 0 next) and stops there (bad-checksum), and the ledger has it durable to byte 1068 \
             (offset 3 next); its files stay as they are\n"
        );
        world.reconcile();
        assert_eq!(world.events(), "", "a pass skips a tombstone");
        assert_eq!(world.storage.files(), before);
        assert!(!world.host.is_routed(NAMESPACE));
    }
}

/// I21: one bad partition stops neither the others nor the node.
#[test]
fn damage_in_one_partition_changes_no_other() {
    let mut world = healthy();
    world.create_on(OTHER, 1, 1).unwrap();
    world.reconcile();
    world.write(OTHER, 5).unwrap();
    world.flip(310);
    world.restart();
    assert_eq!(world.state(), Some(PartitionState::Refused));
    assert_eq!(world.poll(OTHER).unwrap(), [0]);
    assert_eq!(world.write(OTHER, 1).unwrap().get(), 6);
}

#[test]
fn a_partition_that_was_made_and_is_gone_is_refused_and_never_created_empty() {
    let mut world = healthy();
    world.storage.take_away(DIRECTORY);
    for _ in 0..2 {
        world.restart();
        world.reconcile();
        let events = world.events();
        assert!(
            events.ends_with(
                "partition 1/2/3 (incarnation 1) is refused [missing-partition]: partition 1/2/3 was made, \
                 and its directory is not there; nothing is created in its place\n"
            ),
            "{events}"
        );
        assert_eq!(world.paths(DIRECTORY), Vec::<String>::new());
    }
}

/// G23.
#[test]
fn a_directory_that_no_record_names_is_left_alone_and_told_of() {
    let mut world = healthy();
    for path in ["streams/1/topics/2/partitions/9/x", "streams/7/topics/1/partitions/0/y", "streams/lost/z"] {
        world.storage.put(path, b"kept");
    }
    let before = world.storage.files();
    world.restart();
    world.reconcile();
    assert_eq!(
        world.events(),
        "the metadata log is read; partitions it names: 1\n\
         streams/lost is named by no record of the metadata log; it is left alone\n\
         streams/1/topics/2/partitions/9 is named by no record of the metadata log; it is left alone\n\
         streams/7/topics/1/partitions/0 is named by no record of the metadata log; it is left alone\n\
         partition 1/2/3 (incarnation 1) is served: 3 messages, next offset 3\n"
    );
    assert_eq!(world.host.unknown_directories(), 3);
    assert_eq!(world.storage.files(), before);
}

#[test]
fn a_refused_metadata_log_serves_nothing_and_touches_nothing() {
    let mut world = healthy();
    let mut log = world.storage.files()["metadata.log"].clone();
    log[70] ^= 1;
    world.storage.put("metadata.log", &log);
    let before = world.storage.files();
    world.restart();
    let events = world.events();
    assert!(
        events.starts_with("no partition is served [metadata-interior-damage]: the metadata log"),
        "{events}"
    );
    let error = world.poll(NAMESPACE).unwrap_err();
    assert_eq!((error.code(), error.status().code()), ("metadata-interior-damage", "terminal"));
    assert_eq!(world.create(2).unwrap_err().code(), "metadata-interior-damage");
    assert_eq!(world.storage.files(), before);
}

/// F70: no number of a dark partition is 0.
#[test]
fn f70_statistics_of_a_refused_partition_are_absent_and_not_zero() {
    let mut world = refused();
    let statistics = world.host.statistics(NAMESPACE).unwrap();
    assert_eq!((statistics.state.code(), statistics.code), ("refused", Some("lost-durable")));
    assert_eq!((statistics.messages, statistics.bytes, statistics.next_offset), (None, None, None));
    // F69: and a client is told not to try again.
    let error = world.poll(NAMESPACE).unwrap_err();
    assert_eq!((error.code(), error.status().code()), ("lost-durable", "terminal"));
    let error = world.write(NAMESPACE, 1).unwrap_err();
    assert_eq!((error.code(), error.status().code()), ("lost-durable", "terminal"));
    assert!(world.storage.files().contains_key(&log_path()));
}

/// Only the files count: put right they are served, and judged again as they are they are refused again.
#[test]
fn an_operator_may_have_a_tombstone_judged_again() {
    let mut world = refused();
    world.host.judge_again(&world.storage, NAMESPACE).unwrap();
    assert_eq!(world.state(), Some(PartitionState::Recovering));
    world.judge();
    assert_eq!(world.state(), Some(PartitionState::Refused));
    world.flip(310);
    world.host.judge_again(&world.storage, NAMESPACE).unwrap();
    world.judge();
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 1, 2]);
    assert_eq!(world.host.judge_again(&world.storage, NAMESPACE).unwrap_err().code(), "wrong-state");
    assert_eq!(world.host.judge_again(&world.storage, OTHER).unwrap_err().code(), "no-such-partition");
}
