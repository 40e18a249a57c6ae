//! Snapshots, resets, images and events.

use std::sync::Arc;

use recovery_core::storage::{Call, Storage};

use crate::disk::litmus::hand::{Hand, PAGE};
use crate::disk::{Event, Geometry, Image, Node, SimDisk, Snapshot, SurvivorChoice, View};
use crate::schedule::{Filesystem, Restart, Survivors};

#[test]
fn going_back_brings_everything_back() {
    for filesystem in Filesystem::ALL {
        let hand = Hand::new(filesystem);
        let file = hand.durable("f", b'a', 2 * PAGE);
        hand.write(&file, 100, b'b', 50);
        hand.disk.record(true);
        hand.disk.length(&file).unwrap();
        let hashes = || (hand.disk.image_hash(View::Visible), hand.disk.image_hash(View::Durable));
        let before = hashes();
        let mut outer = Snapshot::default();
        hand.disk.snapshot(&mut outer);
        hand.write(&file, 0, b'c', 3 * PAGE);
        hand.rename("f", "g");
        let inside = hashes();
        let mut inner = Snapshot::default();
        hand.disk.snapshot(&mut inner);
        hand.sync(&file);
        hand.set_length(&file, 10);
        hand.disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::None));
        assert_ne!(hashes(), inside);
        hand.disk.restore(&inner);
        assert_eq!(hashes(), inside);
        // The handle is as good as it was.
        hand.write(&file, 0, b'd', 10);
        hand.disk.rewind(&outer);
        assert_eq!(hashes(), before);
        assert_eq!(hand.read(&file)[100..150], [b'b'; 50]);
        let mut events = Vec::new();
        hand.disk.take_events(&mut events);
        let calls: Vec<Call> = events.iter().map(|event| event.call).collect();
        assert_eq!(calls, [Call::Length, Call::Read], "what was recorded in between is gone");
    }
}

#[test]
fn rewinding_gives_memory_back() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.durable("f", b'a', PAGE);
    let mut snapshot = Snapshot::default();
    hand.disk.snapshot(&mut snapshot);
    let used = hand.disk.used_bytes();
    for _ in 0..100 {
        hand.write(&file, 0, b'b', PAGE);
        hand.sync(&file);
        hand.disk.rewind(&snapshot);
    }
    assert_eq!(hand.disk.used_bytes(), used);
}

#[test]
fn an_image_is_shared_and_never_written() {
    let tree =
        [("streams/1/log", Some(&[b'x'; 5000][..])), ("streams/1/empty", Some(&[][..])), ("streams/2", None)];
    let image = Arc::new(Image::new(Geometry::DEFAULT, tree).expect("the paths are good"));
    let disks = [(); 2].map(|()| {
        let disk = SimDisk::new(Geometry::DEFAULT, Filesystem::Btrfs);
        disk.load(&image);
        disk
    });
    let [first, second] = &disks;
    assert_eq!(first.image_hash(View::Visible), second.image_hash(View::Durable));
    let mut paths = Vec::new();
    first.walk(View::Durable, &mut |path, _| paths.push(path.to_owned()));
    assert_eq!(paths, ["streams", "streams/1", "streams/1/empty", "streams/1/log", "streams/2"]);
    let Some(Node::File(log)) = first.node_at("streams/1/log", View::Visible) else { panic!("it is a file") };
    first.damage(
        log,
        crate::disk::Damage::Zero { position: 4000, length: 2000 },
        crate::disk::Cause::Fault(crate::schedule::FaultKind::Zeroed),
        false,
    );
    assert_eq!(first.length_of(log, View::Visible), 6000);
    assert_eq!(second.contents_of(log, View::Visible), vec![b'x'; 5000]);
    assert!(Image::new(Geometry::DEFAULT, [("a//b", None)]).is_none());
}

#[test]
fn a_reset_disk_is_a_new_disk() {
    let run = |disk: &SimDisk| {
        disk.record(true);
        let root = disk.root().unwrap();
        let file = disk.create(&root, &crate::disk::litmus::hand::name("f")).unwrap();
        disk.write(&file, 10, b"bytes").unwrap();
        disk.sync(&file).unwrap();
        disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::Prefix { n: 1 }));
        let mut events: Vec<Event> = Vec::new();
        disk.take_events(&mut events);
        (events, disk.image_hash(View::Visible), disk.fault_tally())
    };
    let disk = SimDisk::new(Geometry::DEFAULT, Filesystem::Adversarial);
    let fresh = run(&SimDisk::new(Geometry::SMALL, Filesystem::Xfs));
    run(&disk);
    disk.reset(Geometry::SMALL, Filesystem::Xfs);
    assert_eq!(run(&disk), fresh);
    assert_eq!(fresh.0.len(), 4);
    assert_eq!(fresh.0[2].length, 5);
}
