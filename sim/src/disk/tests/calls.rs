//! What goes wrong at a call: injected once, for good, or standing on a target.

use recovery_core::storage::{Access, Call, Errno, Storage};

use crate::disk::litmus::hand::{Hand, PAGE, name};
use crate::disk::{Cause, Disturbance, Injection, Scope, Standing, SurvivorChoice};
use crate::schedule::{CallPoint, FaultKind, Filesystem, Restart, Survivors, Times};

fn inject(on: Call, call: u32, times: Times, kind: FaultKind, disturbance: Disturbance) -> Injection {
    let at = CallPoint { on: Some(on), call };
    Injection { at, times, cause: Some(Cause::Fault(kind)), disturbance }
}

fn counts(hand: &Hand, kind: FaultKind) -> (u32, u32, u32) {
    let tally = hand.disk.fault_tally();
    let at = Cause::Fault(kind).index();
    (tally.injected[at], tally.read[at], tally.missed[at])
}

#[test]
fn a_call_fails_at_its_number_once_or_from_there_on() {
    for (times, expected) in [
        (Times::Count(1), [false, true, false, false]),
        (Times::Count(2), [false, true, true, false]),
        (Times::Always, [false, true, true, true]),
    ] {
        let hand = Hand::new(Filesystem::Ext4Ordered);
        let file = hand.durable("f", b'a', 100);
        let fails = Disturbance::Fail { errno: Errno::IO };
        hand.disk.begin_step(&[inject(Call::Read, 2, times, FaultKind::ReadError, fails)]);
        let failed = [0; 4].map(|_| {
            assert!(hand.disk.length(&file).is_ok(), "another call is not counted");
            hand.disk.read(&file, 0, &mut [0; 10]).is_err()
        });
        assert_eq!(failed, expected);
        assert_eq!(hand.disk.end_step().missed, 0);
        let hits = u32::try_from(expected.iter().filter(|&&failed| failed).count()).unwrap();
        assert_eq!(counts(&hand, FaultKind::ReadError), (hits, hits, 0));
        assert!(hand.disk.read(&file, 0, &mut [0; 10]).is_ok(), "the step is over");
    }
}

#[test]
fn a_listing_that_fails_has_come_half_of_the_way() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    for text in ["a", "b", "c"] {
        hand.create(text);
    }
    let signal = Disturbance::Fail { errno: Errno::INTERRUPTED };
    hand.disk.begin_step(&[inject(Call::List, 1, Times::Count(1), FaultKind::Interrupted, signal)]);
    let root = hand.disk.root().unwrap();
    let listed = || {
        let mut names = String::new();
        let answer = hand.disk.list(&root, &mut |name, _| names.push_str(&name.to_string()));
        (names, answer.map_err(|error| error.errno))
    };
    assert_eq!(listed(), ("ab".to_owned(), Err(Errno::INTERRUPTED)));
    assert_eq!(listed(), ("abc".to_owned(), Ok(())));
}

#[test]
fn what_hits_no_call_is_missed() {
    let hand = Hand::new(Filesystem::Xfs);
    let file = hand.durable("f", b'a', 100);
    let short = Disturbance::Short { bytes: None };
    hand.disk.begin_step(&[
        inject(Call::Read, 3, Times::Count(1), FaultKind::ShortRead, short),
        // A sync cannot be short.
        inject(Call::Sync, 1, Times::Count(1), FaultKind::ShortWrite, short),
    ]);
    hand.read(&file);
    hand.sync(&file);
    let outcome = hand.disk.end_step();
    assert_eq!((outcome.calls, outcome.missed, outcome.crashed), (2, 2, None));
    assert_eq!(counts(&hand, FaultKind::ShortRead), (0, 0, 1));
    assert_eq!(counts(&hand, FaultKind::ShortWrite), (0, 0, 1));
}

#[test]
fn short_transfers_move_at_least_one_byte_and_at_most_what_they_say() {
    for (asked, bytes, moved) in [(9, None, 5), (9, Some(3), 3), (9, Some(0), 1), (9, Some(100), 9)] {
        let hand = Hand::new(Filesystem::Ext4Ordered);
        let file = hand.durable("f", b'a', 100);
        let short = Disturbance::Short { bytes };
        hand.disk.begin_step(&[
            inject(Call::Read, 1, Times::Count(1), FaultKind::ShortRead, short),
            inject(Call::Write, 1, Times::Count(1), FaultKind::ShortWrite, short),
        ]);
        assert_eq!(hand.disk.read(&file, 0, &mut vec![0; asked]).unwrap(), moved);
        assert_eq!(hand.disk.write(&file, 100, &vec![b'b'; asked]).unwrap(), moved);
        hand.disk.end_step();
        assert_eq!(hand.disk.length(&file).unwrap(), 100 + moved as u64);
    }
}

#[test]
fn an_injected_crash_freezes_the_disk_before_its_call() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.durable("f", b'a', 100);
    let crash = Disturbance::Crash { restart: Restart::Power, inside: None };
    let at = CallPoint { on: Some(Call::Write), call: 2 };
    hand.disk.begin_step(&[Injection { at, times: Times::Count(1), cause: None, disturbance: crash }]);
    hand.write(&file, 100, b'b', 10);
    let error = hand.disk.write(&file, 110, b"c").unwrap_err();
    assert_eq!((error.call, error.errno), (Call::Write, Errno::IO));
    assert_eq!(hand.disk.read(&file, 0, &mut [0; 1]).unwrap_err().errno, Errno::IO);
    assert!(hand.disk.root().is_err());
    let outcome = hand.disk.end_step();
    assert_eq!((outcome.calls, outcome.crashed), (2, Some(Restart::Power)));
    hand.disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::All));
    assert_eq!(hand.look("f").unwrap().len(), 110);
}

#[test]
fn a_crash_inside_a_call_that_is_no_sync_is_missed() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.durable("f", b'a', 100);
    let crash = Disturbance::Crash { restart: Restart::Os, inside: Some(crate::schedule::SyncStage::Flush) };
    let at = CallPoint { on: Some(Call::Write), call: 1 };
    hand.disk.begin_step(&[Injection { at, times: Times::Count(1), cause: None, disturbance: crash }]);
    hand.write(&file, 0, b'b', 10);
    let outcome = hand.disk.end_step();
    assert_eq!((outcome.crashed, outcome.missed), (None, 1));
}

#[test]
fn a_lost_write_is_seen_only_once_the_cache_lets_go() {
    for filesystem in Filesystem::ALL {
        let hand = Hand::new(filesystem);
        let file = hand.durable("f", b'a', PAGE);
        let lost = inject(Call::Write, 1, Times::Count(1), FaultKind::LostWrite, Disturbance::LoseWrite);
        hand.disk.begin_step(&[lost]);
        hand.write(&file, 0, b'b', PAGE);
        hand.disk.end_step();
        hand.sync(&file);
        assert_eq!(hand.read(&file), vec![b'b'; 256]);
        assert_eq!(counts(&hand, FaultKind::LostWrite), (1, 0, 0), "nothing shows it yet");
        hand.disk.evict_all();
        let mut bytes = [0; 256];
        match hand.disk.read(&file, 0, &mut bytes) {
            // Btrfs knows the checksum of what should be there.
            Err(error) => assert_eq!((filesystem, error.errno), (Filesystem::Btrfs, Errno::IO)),
            Ok(_) => assert_eq!(bytes, [b'a'; 256]),
        }
        assert_eq!(counts(&hand, FaultKind::LostWrite), (1, 1, 0));
    }
}

#[test]
fn a_shorn_write_lands_up_to_a_byte_inside_a_sector() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.durable("f", b'a', PAGE);
    let shears = Disturbance::ShearWrite { bytes: Some(70) };
    hand.disk.begin_step(&[inject(Call::Write, 1, Times::Count(1), FaultKind::ShornWrite, shears)]);
    hand.write(&file, 10, b'b', 100);
    hand.disk.end_step();
    hand.sync(&file);
    assert_eq!(&hand.read(&file)[10..110], [b'b'; 100]);
    hand.disk.evict_all();
    let bytes = hand.read(&file);
    assert_eq!(&bytes[..10], [b'a'; 10]);
    assert_eq!(&bytes[10..80], [b'b'; 70]);
    assert_eq!(&bytes[80..], [b'a'; 176]);
    assert_eq!(counts(&hand, FaultKind::ShornWrite), (1, 1, 0));
}

#[test]
fn a_misdirected_write_hits_its_victim_and_misses_its_place() {
    let hand = Hand::new(Filesystem::Xfs);
    let file = hand.durable("f", b'a', PAGE);
    let victim = hand.durable("g", b'v', PAGE);
    let Some(crate::disk::Node::File(id)) = hand.disk.node_at("g", crate::disk::View::Visible) else {
        panic!("g is a file")
    };
    let misdirect = Disturbance::MisdirectWrite { file: id, position: 64 };
    hand.disk.begin_step(&[inject(Call::Write, 1, Times::Count(1), FaultKind::MisdirectedWrite, misdirect)]);
    hand.write(&file, 0, b'b', 64);
    hand.disk.end_step();
    hand.sync(&file);
    assert_eq!(hand.read(&victim), vec![b'v'; 256], "the cache hides it");
    hand.disk.evict_all();
    assert_eq!(hand.read(&file), vec![b'a'; 256]);
    let bytes = hand.read(&victim);
    assert_eq!(
        (&bytes[..64], &bytes[64..128], &bytes[128..]),
        (&[b'v'; 64][..], &[b'b'; 64][..], &[b'v'; 128][..])
    );
}

#[test]
fn faults_of_one_read_heal_with_the_next() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.durable("f", b'a', 100);
    hand.durable("g", b'g', 100);
    let Some(crate::disk::Node::File(id)) = hand.disk.node_at("g", crate::disk::View::Visible) else {
        panic!("g is a file")
    };
    hand.disk.begin_step(&[
        inject(
            Call::Read,
            1,
            Times::Count(1),
            FaultKind::TransientReadCorruption,
            Disturbance::CorruptRead { byte: 103, bit: 1 },
        ),
        inject(
            Call::Read,
            2,
            Times::Count(1),
            FaultKind::MisdirectedRead,
            Disturbance::MisdirectRead { file: id, position: 0 },
        ),
    ]);
    let mut expected = vec![b'a'; 100];
    expected[3] ^= 2;
    assert_eq!(hand.read(&file), expected);
    assert_eq!(hand.read(&file), vec![b'g'; 100]);
    assert_eq!(hand.read(&file), vec![b'a'; 100]);
    hand.disk.end_step();
}

#[test]
fn a_standing_fault_hits_its_target_whatever_the_step_until_the_node_goes_down() {
    let mut hand = Hand::new(Filesystem::Ext4Ordered);
    hand.durable("f", b'a', 100);
    hand.durable("g", b'a', 100);
    let Some(crate::disk::Node::File(id)) = hand.disk.node_at("f", crate::disk::View::Visible) else {
        panic!("f is a file")
    };
    hand.disk.arm(Standing {
        scope: Scope::File(id),
        on: &[Call::Open],
        times: Times::Count(2),
        cause: Cause::Fault(FaultKind::PermissionDenied),
        disturbance: Disturbance::Fail { errno: Errno::PERMISSION_DENIED },
    });
    hand.disk.arm(Standing {
        scope: Scope::Disk,
        on: &[Call::Sync],
        times: Times::Always,
        cause: Cause::Fault(FaultKind::SyncFailure),
        disturbance: Disturbance::Fail { errno: Errno::NO_SPACE },
    });
    let opens = |hand: &Hand, text: &str| {
        let root = hand.disk.root().unwrap();
        hand.disk.open(&root, &name(text), Access::Read).is_ok()
    };
    assert_eq!(
        [opens(&hand, "g"), opens(&hand, "f"), opens(&hand, "f"), opens(&hand, "f")],
        [true, false, false, true]
    );
    assert_eq!(counts(&hand, FaultKind::PermissionDenied), (1, 1, 0));
    hand.disk.crash(Restart::Process, &SurvivorChoice::of(Survivors::All));
    hand.come_back();
    assert_eq!(counts(&hand, FaultKind::SyncFailure), (0, 0, 1), "it hit nothing");
    let file = hand.open("f");
    hand.sync(&file);
}

#[test]
fn a_read_only_disk_refuses_changes_and_still_reads() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.durable("f", b'a', 100);
    let fault = inject(Call::Write, 1, Times::Count(1), FaultKind::ReadOnly, Disturbance::GoReadOnly);
    hand.disk.begin_step(&[fault]);
    assert_eq!(hand.disk.write(&file, 0, b"b").unwrap_err().errno, Errno::READ_ONLY);
    hand.disk.end_step();
    assert_eq!(hand.disk.sync(&file).unwrap_err().errno, Errno::READ_ONLY);
    assert_eq!(hand.read(&file), vec![b'a'; 100]);
    hand.disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::All));
    let mut hand = hand;
    hand.come_back();
    let file = hand.open("f");
    hand.write(&file, 0, b'b', 1);
}

#[test]
fn room_runs_out_by_pages_and_comes_back() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.create("f");
    hand.disk.set_free_pages(Some(2));
    assert_eq!(hand.disk.write(&file, 0, &[1; 700]).unwrap(), 512, "two pages fit");
    assert_eq!(hand.disk.write(&file, 512, &[1; 10]).unwrap_err().errno, Errno::NO_SPACE);
    assert_eq!(hand.disk.write(&file, 500, &[1; 12]).unwrap(), 12, "a page that is there needs no room");
    let root = hand.disk.root().unwrap();
    assert_eq!(hand.disk.create(&root, &name("g")).unwrap_err().errno, Errno::NO_SPACE);
    hand.set_length(&file, 256);
    assert_eq!(hand.disk.write(&file, 256, &[1; 10]).unwrap(), 10);
}

#[test]
fn descriptors_run_out_and_come_back() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.durable("f", b'a', 10);
    hand.disk.set_descriptors_max(Some(3));
    let other = hand.open("f");
    assert_eq!(hand.disk.root().unwrap_err().errno, Errno::TOO_MANY_FILES);
    hand.disk.close(other);
    hand.open("f");
    hand.disk.close(file);
}
