//! Damage on the medium: where it shows, when, and what heals it.

use recovery_core::storage::{Call, Errno, Storage};

use crate::disk::litmus::hand::{Hand, PAGE, SECTOR};
use crate::disk::{Cause, Damage, Disturbance, FileId, Injection, Node, SurvivorChoice, SyncPart, View};
use crate::schedule::{CallPoint, FaultKind, Filesystem, Fill, Restart, Survivors, Times};

fn id_of(hand: &Hand, text: &str) -> FileId {
    match hand.disk.node_at(text, View::Visible) {
        Some(Node::File(file)) => file,
        other => panic!("{text} is {other:?}"),
    }
}

const ROT: Cause = Cause::Fault(FaultKind::BitFlip);

#[test]
fn a_flipped_bit_shows_at_once_or_under_the_cache_later() {
    for keeps_cache in [false, true] {
        let hand = Hand::new(Filesystem::Ext4Ordered);
        let file = hand.durable("f", b'a', 100);
        let fault =
            hand.disk.damage(id_of(&hand, "f"), Damage::FlipBit { position: 7, bit: 3 }, ROT, keeps_cache);
        let fault = fault.unwrap();
        let read = hand.read(&file)[7];
        assert_eq!(read, if keeps_cache { b'a' } else { b'a' ^ 8 });
        assert_eq!(hand.disk.is_fault_read(fault), !keeps_cache);
        hand.disk.evict_all();
        assert_eq!(hand.read(&file)[7], b'a' ^ 8, "a retry does not heal it");
        assert_eq!(hand.read(&file)[7], b'a' ^ 8);
        assert!(hand.disk.is_fault_read(fault));
        hand.write(&file, 7, b'a', 1);
        assert_eq!(hand.read(&file), vec![b'a'; 100], "writing does");
    }
}

#[test]
fn checksummed_data_fails_instead_of_lying() {
    let hand = Hand::new(Filesystem::Btrfs);
    let file = hand.durable("f", b'a', 3 * PAGE);
    hand.disk.damage(id_of(&hand, "f"), Damage::FlipBit { position: PAGE + 7, bit: 3 }, ROT, false).unwrap();
    let mut bytes = vec![0; 768];
    assert_eq!(hand.disk.read(&file, 0, &mut bytes).unwrap(), 256, "the good page comes first");
    assert_eq!(hand.disk.read(&file, 256, &mut bytes).unwrap_err().errno, Errno::IO);
    assert_eq!(hand.disk.read(&file, 511, &mut bytes).unwrap_err().errno, Errno::IO);
    assert_eq!(hand.disk.read(&file, 512, &mut bytes).unwrap(), 256);
    assert_eq!(
        hand.disk.write(&file, 300, b"b").unwrap_err().errno,
        Errno::IO,
        "the page cannot be read first"
    );
    hand.write(&file, 256, b'b', 256);
    assert_eq!(hand.read(&file).len(), 768, "a whole page heals it");
    hand.sync(&file);
    hand.disk.evict_all();
    assert_eq!(hand.read(&file)[256..512], [b'b'; 256]);
}

#[test]
fn an_unreadable_sector_stays_so_until_it_is_written() {
    for filesystem in Filesystem::ALL {
        let hand = Hand::new(filesystem);
        let file = hand.durable("f", b'a', 2 * PAGE);
        let bad = Damage::Unreadable { position: PAGE + SECTOR, length: 1 };
        hand.disk.damage(id_of(&hand, "f"), bad, Cause::Fault(FaultKind::LatentSectorError), false).unwrap();
        for _ in 0..2 {
            assert_eq!(hand.disk.read(&file, PAGE, &mut [0; 8]).unwrap_err().errno, Errno::IO);
            assert_eq!(hand.disk.read(&file, 10, &mut vec![0; 400]).unwrap(), 246);
        }
        hand.disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::All));
        let mut hand = hand;
        hand.come_back();
        let file = hand.open("f");
        assert_eq!(hand.disk.read(&file, PAGE, &mut [0; 8]).unwrap_err().errno, Errno::IO);
        hand.write(&file, PAGE, b'b', PAGE);
        hand.sync(&file);
        hand.disk.evict_all();
        assert_eq!(hand.read(&file)[256..], [b'b'; 256]);
    }
}

#[test]
fn damage_past_the_end_makes_the_file_longer_and_a_cut_makes_it_shorter() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.durable("f", b'a', 100);
    let id = id_of(&hand, "f");
    let cause = Cause::Fault(FaultKind::ForeignBatch);
    hand.disk.damage(id, Damage::Overwrite { position: 90, bytes: &[b'x'; 300] }, cause, false).unwrap();
    assert_eq!(hand.disk.length(&file).unwrap(), 390);
    let bytes = hand.read(&file);
    assert_eq!((&bytes[..90], &bytes[90..]), (&[b'a'; 90][..], &[b'x'; 300][..]));
    hand.disk.damage(id, Damage::Length { length: 95 }, cause, false).unwrap();
    assert_eq!(hand.read(&file).len(), 95);
    hand.set_length(&file, 120);
    assert_eq!(hand.read(&file)[95..], [0; 25], "what was cut does not come back");
    assert_eq!(hand.disk.damage(id, Damage::Length { length: 120 }, cause, false), None);
    assert_eq!(hand.disk.damage(id, Damage::FlipBit { position: 120, bit: 0 }, cause, false), None);
    assert_eq!(hand.disk.fault_tally().missed[cause.index()], 2);
}

#[test]
fn damage_is_a_function_of_its_place() {
    let noise = |position: u64| {
        let hand = Hand::new(Filesystem::Xfs);
        hand.durable("f", b'a', 300);
        let damage = Damage::Noise { position, length: 50 };
        hand.disk.damage(id_of(&hand, "f"), damage, Cause::Fault(FaultKind::Noise), false).unwrap();
        hand.look("f").unwrap()[usize::try_from(position).unwrap()..][..50].to_vec()
    };
    assert_eq!(noise(40), noise(40));
    assert_ne!(noise(40), noise(41));
}

#[test]
fn damage_writes_back_what_is_pending_first() {
    for filesystem in Filesystem::ALL {
        let hand = Hand::new(filesystem);
        let file = hand.durable("f", b'a', 100);
        hand.write(&file, 100, b'b', 100);
        hand.disk.damage(id_of(&hand, "f"), Damage::Zero { position: 150, length: 10 }, ROT, true).unwrap();
        assert_eq!(hand.read(&file)[150..160], [b'b'; 10], "the cache is left as it was");
        hand.disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::None));
        let bytes = hand.look("f").unwrap();
        assert_eq!((bytes.len(), &bytes[100..150], &bytes[150..160]), (200, &[b'b'; 50][..], &[0; 10][..]));
    }
}

#[test]
fn a_byte_that_goes_bad_without_a_trace_is_found_by_its_stamp() {
    let hand = Hand::new(Filesystem::Ext4Ordered);
    let file = hand.durable("f", b'a', 100);
    let id = id_of(&hand, "f");
    assert_eq!(hand.disk.check_stamps(), Ok(()));
    // A fault that is counted is no bug.
    hand.disk.damage(id, Damage::FlipBit { position: 3, bit: 0 }, ROT, false).unwrap();
    assert_eq!(hand.disk.check_stamps(), Ok(()));
    hand.disk.tamper(id, 80);
    let broken = hand.disk.check_stamps().unwrap_err();
    assert_eq!((broken.file, broken.sector), (id, 1));
    // So is what a sync says again.
    hand.write(&file, 64, b'b', 36);
    hand.sync(&file);
    assert_eq!(hand.disk.check_stamps(), Ok(()));
}

/// A failed sync concerns what is still to be written back: what the device has already lands with the next
/// honest flush, whatever the filesystem does about the rest.
#[test]
fn a_failed_sync_leaves_alone_what_the_device_has() {
    for filesystem in Filesystem::ALL {
        let hand = Hand::new(filesystem);
        let file = hand.durable("f", b'a', PAGE);
        hand.write(&file, PAGE, b'b', 100);
        let of = |disturbance| {
            let at = CallPoint { on: Some(Call::Sync), call: 1 };
            hand.disk.begin_step(&[Injection { at, times: Times::Count(1), cause: None, disturbance }]);
            let errno = hand.try_sync(&file);
            hand.disk.end_step();
            errno
        };
        assert_eq!(of(Disturbance::LieAboutFlush), None);
        let (part, errno) = (SyncPart::Data, Errno::IO);
        of(Disturbance::FailSync { part, errno, pages: u64::MAX, fill: Fill::Zeros });
        let other = hand.create("g");
        hand.sync(&other);
        hand.disk.evict_all();
        assert_eq!(hand.read(&file)[256..356], [b'b'; 100], "{filesystem:?}");
        hand.disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::None));
        assert_eq!(hand.look("f").unwrap()[256..], [b'b'; 100], "{filesystem:?}");
    }
}

#[test]
fn a_lie_about_a_flush_is_read_once_power_has_taken_what_it_was_told_of() {
    const LIE: Cause = Cause::Fault(FaultKind::LyingFlush);
    for filesystem in Filesystem::ALL {
        for (restart, is_read) in [(Restart::Os, 0), (Restart::Power, 1)] {
            let mut hand = Hand::new(filesystem);
            let file = hand.durable("f", b'a', 100);
            hand.write(&file, 0, b'b', 100);
            let at = CallPoint { on: Some(Call::Sync), call: 1 };
            let disturbance = Disturbance::LieAboutFlush;
            hand.disk.begin_step(&[Injection { at, times: Times::Count(1), cause: Some(LIE), disturbance }]);
            assert_eq!(hand.try_sync(&file), None);
            hand.disk.end_step();
            hand.disk.crash(restart, &SurvivorChoice::of(Survivors::None));
            let kept = if restart == Restart::Os { b'b' } else { b'a' };
            hand.come_back();
            let file = hand.open("f");
            assert_eq!(hand.read(&file), [kept; 100], "{filesystem:?}");
            let tally = hand.disk.fault_tally();
            assert_eq!((tally.injected[LIE.index()], tally.read[LIE.index()]), (1, is_read));
        }
    }
}
