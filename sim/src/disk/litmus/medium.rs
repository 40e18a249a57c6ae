//! FAULT_MODEL 2.3: what a read makes of a medium that has gone bad, one program a cell.

use recovery_core::storage::{Call, Errno, Storage};

use crate::disk::{Cause, Damage, Disturbance, Injection, Node, View};
use crate::schedule::{CallPoint, FaultKind, Filesystem, Times};

use super::hand::{Hand, PAGE, SECTOR, is_all};
use super::{Litmus, Seen};

const OLD: u8 = b'A';
const NEW: u8 = b'B';

pub(super) const TESTS: &[Litmus] = &[
    Litmus {
        name: "rotten-sector",
        cell: "2.3 checksumming profile: any mismatch on the medium becomes EIO",
        outcomes: &[("changed", "owjxp"), ("error", "b")],
        program: rotten_sector,
    },
    Litmus {
        name: "rot-under-cache",
        cell: "2.3 cached page: view bytes, whatever the medium holds",
        outcomes: &[("unchanged", "owjxbp")],
        program: rot_under_cache,
    },
    Litmus {
        name: "unreadable-sector",
        cell: "2.3 EIO on any sector of the range, sticky until rewritten",
        outcomes: &[("error", "owjxbp"), ("healed", "owjxbp")],
        program: unreadable_sector,
    },
    Litmus {
        name: "lost-write",
        cell: "1.2 fault 13: write and fsync reported success, medium keeps the old bytes",
        outcomes: &[("old", "owjxp"), ("error", "b")],
        program: lost_write,
    },
    Litmus {
        name: "shorn-sector",
        cell: "2.5 sector atomic: the knob off, a sector is shorn",
        outcomes: &[("shorn", "owjxp"), ("error", "b")],
        program: shorn_sector,
    },
];

/// What a read of the first page makes of it.
fn read_page(hand: &Hand) -> &'static str {
    let file = hand.open("f");
    let mut bytes = [0; 256];
    match hand.disk.read(&file, 0, &mut bytes) {
        Err(error) if error.errno == Errno::IO => "error",
        Ok(256) if is_all(&bytes, OLD) => "unchanged",
        Ok(256) if is_all(&bytes, NEW) => "healed",
        Ok(256) => "changed",
        Ok(_) | Err(_) => "otherwise",
    }
}

fn damage(hand: &Hand, damage: Damage<'_>, keeps_cache: bool) {
    let Some(Node::File(file)) = hand.disk.node_at("f", View::Visible) else { unreachable!("it was made") };
    let cause = Cause::Fault(FaultKind::BitFlip);
    hand.disk.damage(file, damage, cause, keeps_cache).expect("there is something to damage");
}

fn rotten_sector(filesystem: Filesystem, seen: &mut Seen) {
    let hand = seen.hand(filesystem);
    hand.durable("f", OLD, PAGE);
    damage(&hand, Damage::FlipBit { position: SECTOR, bit: 0 }, false);
    seen.note(read_page(&hand));
    // A retry does not heal it.
    seen.note(read_page(&hand));
}

fn rot_under_cache(filesystem: Filesystem, seen: &mut Seen) {
    let hand = seen.hand(filesystem);
    hand.durable("f", OLD, PAGE);
    damage(&hand, Damage::FlipBit { position: SECTOR, bit: 0 }, true);
    seen.note(read_page(&hand));
}

fn unreadable_sector(filesystem: Filesystem, seen: &mut Seen) {
    let hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    damage(&hand, Damage::Unreadable { position: SECTOR, length: 1 }, false);
    seen.note(read_page(&hand));
    seen.note(read_page(&hand));
    hand.write(&file, 0, NEW, PAGE);
    hand.sync(&file);
    hand.disk.evict_all();
    seen.note(read_page(&hand));
}

fn shorn_sector(filesystem: Filesystem, seen: &mut Seen) {
    let hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.disk.begin_step(&[Injection {
        at: CallPoint { on: Some(Call::Write), call: 1 },
        times: Times::Count(1),
        cause: Some(Cause::Fault(FaultKind::ShornWrite)),
        disturbance: Disturbance::ShearWrite { bytes: Some(SECTOR / 2) },
    }]);
    hand.write(&file, 0, NEW, SECTOR);
    hand.sync(&file);
    hand.disk.end_step();
    hand.disk.evict_all();
    let mut bytes = [0; 256];
    let (half, sector) = (32, 64);
    seen.note(match hand.disk.read(&hand.open("f"), 0, &mut bytes) {
        Err(error) if error.errno == Errno::IO => "error",
        Ok(256) if is_all(&bytes[..half], NEW) && is_all(&bytes[half..sector], OLD) => "shorn",
        Ok(_) | Err(_) => "otherwise",
    });
}

fn lost_write(filesystem: Filesystem, seen: &mut Seen) {
    let hand = seen.hand(filesystem);
    let file = hand.durable("f", OLD, PAGE);
    hand.disk.begin_step(&[Injection {
        at: CallPoint { on: Some(Call::Write), call: 1 },
        times: Times::Count(1),
        cause: Some(Cause::Fault(FaultKind::LostWrite)),
        disturbance: Disturbance::LoseWrite,
    }]);
    hand.write(&file, 0, NEW, PAGE);
    hand.sync(&file);
    hand.disk.end_step();
    hand.disk.evict_all();
    seen.note(match read_page(&hand) {
        "unchanged" => "old",
        other => other,
    });
}
