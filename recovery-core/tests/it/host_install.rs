//! A replica that takes a whole copy from a peer, through the host.

use recovery_core::host::{HostError, HostEvent, HostOptions, PartitionState};
use recovery_core::observe::Progress;
use recovery_core::partition::PartitionOptions;
use recovery_core::transfer::{InstallError, Offer, Source, SourceError, StorageSource};
use recovery_core::units::{Durability, Length, Position, SegmentStart};

use crate::host_world::{DIRECTORY, NAMESPACE, World, log_path};
use crate::memory_storage::{Fault, MemoryStorage};

/// A replica of a partition of `batches` batches of two messages each, in segments of two.
fn replica(batches: u32) -> World {
    replica_reserving(batches, 0)
}

/// The same, with offsets reserved ahead.
fn replica_reserving(batches: u32, reserve_block: u64) -> World {
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
    for _ in 0..batches {
        world.write(NAMESPACE, 2).unwrap();
    }
    world.events();
    world
}

/// A replica whose first batch is damaged, after a restart.
fn damaged() -> World {
    damaged_of(replica(4))
}

/// The same of a replica; one without a batch has lost its directory.
fn damaged_of(mut world: World) -> World {
    if world.storage.files().get(&log_path()).is_some_and(|log| log.len() > 310) {
        world.flip(310);
    } else {
        world.storage.take_away("streams");
    }
    world.restart();
    world.events();
    assert_eq!(world.state(), Some(PartitionState::Rebuilding));
    world
}

/// Restarts a replica whose first log cannot be read, until it waits for peers.
fn give_up_unread(world: &mut World) {
    world.storage.make_unreadable(Some(&log_path()));
    world.restart();
    while world.state() == Some(PartitionState::Unavailable) {
        world.host.retry();
        world.judge();
    }
    assert_eq!(world.state(), Some(PartitionState::Rebuilding), "{}", world.events());
}

/// Installs what `peer` serves.
fn install(world: &mut World, peer: &World) -> Result<(), InstallError> {
    let offer = peer.host.offer(NAMESPACE).expect("the peer serves it");
    let directory = peer.host.writer(NAMESPACE).unwrap().directory();
    let mut source = StorageSource::new(&peer.storage, directory, &offer);
    let installed = install_from(world, &offer, &mut source);
    source.close();
    installed
}

fn install_from<R: Source>(world: &mut World, offer: &Offer, source: &mut R) -> Result<(), InstallError> {
    let begun = world.host.begin_install(&world.storage, NAMESPACE, offer.clone());
    if let Err(HostError::Io(error)) = begun {
        return Err(InstallError::Io(error));
    }
    begun.unwrap();
    loop {
        let step = world.host.install(&world.storage, NAMESPACE, source, &mut world.workspace, 1024);
        if step? == Progress::Done {
            return Ok(());
        }
        assert_eq!(world.state(), Some(PartitionState::Rebuilding), "not served while it comes");
        assert_eq!(world.host.holds(NAMESPACE), None, "nor counted as held");
    }
}

#[test]
fn a_whole_copy_takes_the_place_of_a_damaged_directory() {
    let peer = replica(6);
    let mut world = damaged();
    install(&mut world, &peer).unwrap();
    world.judge();
    assert_eq!(
        world.events(),
        "partition 1/2/3 (incarnation 1) has a whole copy from a peer in its place; whatever was there before \
         lies in a fence\n\
         partition 1/2/3 (incarnation 1) is served: 12 messages, next offset 12\n"
    );
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2, 4, 6, 8, 10]);
    assert!(!world.paths("partitions/3.fenced.0/").is_empty(), "the old directory is kept");
    assert_eq!(world.paths(".rebuild"), Vec::<String>::new());
    assert_eq!(world.write(NAMESPACE, 1).unwrap().get(), 13);
    world.power_cut();
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2, 4, 6, 8, 10, 12]);
    // And its fence goes with it.
    world.delete().unwrap();
    world.reconcile();
    assert_eq!(world.paths("partitions/3"), Vec::<String>::new());
}

#[test]
fn a_directory_that_is_gone_comes_back_whole() {
    let peer = replica(3);
    let mut world = replica(4);
    world.storage.take_away("streams");
    world.restart();
    assert_eq!(world.state(), Some(PartitionState::Rebuilding));
    install(&mut world, &peer).unwrap();
    world.judge();
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2, 4]);
}

/// N21, G25: a peer that has less is not believed to have all.
#[test]
fn n21_g25_a_copy_that_ends_before_what_verifies_here_is_not_taken() {
    for batches in [0, 3] {
        let mut peer = replica(batches);
        if batches == 0 {
            peer.host.stop(&peer.storage, NAMESPACE).map(|_| ()).unwrap();
        }
        let mut world = damaged();
        let before = world.storage.files();
        let offer = peer.host.offer(NAMESPACE).expect("it is served");
        let error = world.host.begin_install(&world.storage, NAMESPACE, offer).unwrap_err();
        assert_eq!(error.code(), "offer-behind");
        assert_eq!(world.storage.files(), before);
        assert!(!world.host.is_installing(NAMESPACE));
    }
}

/// A replica that had made offsets durable, and of which nothing verifies any more, does not take an empty copy for all
/// there ever was: the peer may merely be late.
#[test]
fn a_copy_that_ends_before_what_was_durable_here_is_not_taken() {
    let mut peer = replica(0);
    peer.host.stop(&peer.storage, NAMESPACE).map(|_| ()).unwrap();
    let mut world = damaged_of(replica(1));
    let offer = peer.host.offer(NAMESPACE).expect("it is served");
    let error = world.host.begin_install(&world.storage, NAMESPACE, offer).unwrap_err();
    assert_eq!(
        error.to_string(),
        "partition 1/2/3 is offered up to offset 0, and what verified or was durable here goes up to 2"
    );
    let peer = replica(2);
    install(&mut world, &peer).unwrap();
    world.judge();
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2]);
}

/// N21: the ends say nothing about what lies between. A peer that has gone on behind a gap, or has nothing at all, does not
/// take the place of batches that verify here; what it has removed below its floor is no gap.
#[test]
fn n21_a_copy_that_leaves_out_what_verifies_here_is_not_taken() {
    for (batches, left_out) in [(0, 2), (2, 4)] {
        let mut peer = replica_reserving(batches, 100);
        if batches > 0 {
            peer.write(NAMESPACE, 1).unwrap();
        }
        peer.restart();
        if peer.state() == Some(PartitionState::Rebuilding) {
            let next = peer.host.wanted(NAMESPACE)[0].next.unwrap();
            peer.host.nobody_holds_gap(&peer.storage, NAMESPACE, next).unwrap();
            peer.judge();
        }
        let mut offer = peer.host.offer(NAMESPACE).expect("it is served");
        if batches == 0 {
            offer.next_offset = recovery_core::units::Offset::new(100);
            offer.segments.clear();
        }
        // Of four batches the first does not verify, and the others do.
        let mut world = damaged();
        let before = world.storage.files();
        let error = world.host.begin_install(&world.storage, NAMESPACE, offer.clone()).unwrap_err();
        assert_eq!(error.code(), "offer-leaves-out", "{error}");
        assert_eq!(
            error.to_string(),
            format!(
                "partition 1/2/3 is offered without offset {}, which a batch holds that verifies here, or may lie in a log that cannot be read",
                if batches == 0 { left_out } else { left_out + 1 }
            )
        );
        assert_eq!(world.storage.files(), before);
        assert!(!world.host.is_installing(NAMESPACE));
    }
}

#[test]
fn what_a_peer_has_removed_below_its_floor_is_not_missed() {
    let peer = replica(6);
    let mut offer = peer.host.offer(NAMESPACE).expect("it is served");
    offer.segments.drain(..2);
    offer.floor = offer.segments[0].segment;
    let mut world = damaged();
    let directory = peer.host.writer(NAMESPACE).unwrap().directory();
    let mut source = StorageSource::new(&peer.storage, directory, &offer);
    install_from(&mut world, &offer, &mut source).unwrap();
    source.close();
    world.judge();
    assert_eq!(world.state(), Some(PartitionState::Served), "{}", world.events());
}

/// A gap that one replica was told to leave is left by all who take its copy, and not asked for again and again.
#[test]
fn a_gap_that_a_peer_has_left_comes_with_its_copy() {
    for batches in [0, 4] {
        let mut peer = replica_reserving(batches, 100);
        peer.write(NAMESPACE, 1).unwrap();
        peer.restart();
        assert_eq!(
            peer.state(),
            Some(PartitionState::Rebuilding),
            "offsets that were reserved are asked for"
        );
        let next = peer.host.wanted(NAMESPACE)[0].next.unwrap();
        peer.host.nobody_holds_gap(&peer.storage, NAMESPACE, next).unwrap();
        peer.judge();
        let next = peer.host.offer(NAMESPACE).unwrap().next_offset;
        assert!(next.get() >= 100);
        let mut world = damaged_of(replica_reserving(batches, 100));
        install(&mut world, &peer).unwrap();
        world.judge();
        assert_eq!(world.state(), Some(PartitionState::Served), "{}", world.events());
        assert_eq!(world.poll(NAMESPACE).unwrap(), peer.poll(NAMESPACE).unwrap());
        world.restart();
        assert_eq!(world.write(NAMESPACE, 1).unwrap().get(), next.get() + 1);
    }
}

/// A peer that cannot be reached any more.
struct Gone;

impl Source for Gone {
    fn read(&mut self, _: SegmentStart, _: Position, _: &mut [u8]) -> Result<usize, SourceError> {
        Err(SourceError::Gone)
    }
}

#[test]
fn a_peer_that_goes_away_leaves_everything_as_it_was() {
    let peer = replica(4);
    let mut world = damaged();
    let before = world.storage.files();
    let offer = peer.host.offer(NAMESPACE).unwrap();
    let error = install_from(&mut world, &offer, &mut Gone).unwrap_err();
    assert_eq!(error.code(), "source-failed");
    let after = world.storage.files();
    assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)), "what was there is there");
    assert_eq!(world.state(), Some(PartitionState::Rebuilding));
    assert!(matches!(world.host.take_events()[..], [HostEvent::InstallFailed { .. }]));
    install(&mut world, &peer).unwrap();
    world.judge();
    assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2, 4, 6]);
}

#[test]
fn only_a_partition_that_waits_for_peers_takes_a_copy() {
    let peer = replica(4);
    let mut world = replica(4);
    let offer = peer.host.offer(NAMESPACE).unwrap();
    let error = world.host.begin_install(&world.storage, NAMESPACE, offer).unwrap_err();
    assert_eq!(error.code(), "wrong-state");
    assert!(damaged().host.offer(NAMESPACE).is_none(), "what is not served is not offered");
}

/// B22, G27.
/// A crash, or an error, at any call: the old directory or the new one, and a repeat ends in the new one.
#[test]
fn a_crash_anywhere_leaves_the_old_directory_or_the_new_one() {
    let peer = replica(5);
    for fault in [Fault::CrashAfter as fn(u64) -> Fault, |call| {
        Fault::Once(call + 1, recovery_core::storage::Errno::IO)
    }] {
        for is_power in [false, true] {
            for call in 0.. {
                let mut world = damaged();
                world.storage.start_again(Some(fault(call)));
                let _first = install(&mut world, &peer);
                let was_reached = world.storage.attempts() > call;
                if is_power {
                    world.power_cut();
                } else {
                    world.restart();
                }
                let is_whole = match world.state() {
                    Some(PartitionState::Served) => true,
                    Some(PartitionState::Rebuilding) => false,
                    state => panic!("call {call}: {state:?}"),
                };
                assert!(!world.paths(DIRECTORY).is_empty(), "call {call}: never an empty one");
                if !is_whole {
                    install(&mut world, &peer).unwrap();
                    world.judge();
                }
                assert_eq!(world.poll(NAMESPACE).unwrap(), [0, 2, 4, 6, 8], "call {call}");
                if !was_reached {
                    break;
                }
            }
        }
    }
}

/// N21, I05: nobody knows what verifies in a log of which a part cannot be read, so all that was durable counts as held.
#[test]
fn a_copy_that_leaves_out_what_cannot_be_read_here_is_not_taken() {
    let peer = replica(6);
    let mut world = replica(4);
    give_up_unread(&mut world);
    let mut offer = peer.host.offer(NAMESPACE).expect("it is served");
    offer.segments.remove(0);
    let error = world.host.begin_install(&world.storage, NAMESPACE, offer).unwrap_err();
    assert_eq!(error.code(), "offer-leaves-out", "{error}");
    let whole = peer.host.offer(NAMESPACE).expect("it is served");
    world.host.begin_install(&world.storage, NAMESPACE, whole).unwrap();
    assert!(world.host.is_installing(NAMESPACE));
}

/// N21: without a ledger nobody knows what was durable there either. A copy without a message leaves out whatever it was.
#[test]
fn no_copy_without_a_message_is_taken_for_a_log_that_cannot_be_read() {
    let peer = replica(6);
    // All that it has lies in the log that cannot be read.
    let mut world = replica(1);
    world.storage.take_away(&format!("{DIRECTORY}/ledger"));
    give_up_unread(&mut world);
    let whole = peer.host.offer(NAMESPACE).expect("it is served");
    let empty = Offer { segments: Vec::new(), ..whole.clone() };
    let error = world.host.begin_install(&world.storage, NAMESPACE, empty).unwrap_err();
    assert_eq!(error.code(), "offer-leaves-out", "{error}");
    world.host.begin_install(&world.storage, NAMESPACE, whole).unwrap();
    assert!(world.host.is_installing(NAMESPACE));
}
