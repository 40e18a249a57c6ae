//! A ledger and superblock slots, drawn: true statements about logs that are there, and any others.

use recovery_core::format::{Checksum, LedgerKind, LedgerRecord, Mark, Superblock};
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset, Position, SegmentStart};

use super::draw::Draw;
use super::log::Log;
use super::{INCARNATION, NAMESPACE, SUPERBLOCK};

/// A ledger, or none.
pub(super) fn ledger(draw: &mut Draw<'_>, logs: &[Log]) -> Option<Vec<u8>> {
    match draw.below(8) {
        0 => return None,
        1 => return Some(draw.run(300)),
        2..=7 => {}
        _ => unreachable!("a number below 8"),
    }
    let marks: Vec<Mark> = logs.iter().flat_map(|log| log.marks.iter().copied()).collect();
    let mut bytes = Vec::new();
    for slot in 0..draw.below(10) as u64 {
        bytes.extend(record(draw, &marks, slot));
    }
    if draw.one_in(4) {
        bytes.extend(draw.run(130));
    }
    Some(bytes)
}

fn record(draw: &mut Draw<'_>, marks: &[Mark], slot: u64) -> [u8; 128] {
    let mark = mark(draw, marks);
    let kind = match draw.below(10) {
        0..=2 => LedgerKind::Frontier { mark },
        3 => LedgerKind::Opened { record_ceiling: Length::new(draw.number()) },
        4 => {
            let gap = draw.pick(&[0, 0, 0, 3]);
            let next = mark.next_offset.checked_add(gap).map_or(u64::MAX, Offset::get);
            LedgerKind::Sealed { mark, next_start: SegmentStart::new(next) }
        }
        5 => LedgerKind::Floor,
        6 => LedgerKind::Reserved,
        7 => LedgerKind::Recovered { mark },
        8 => {
            let first = if draw.one_in(4) { Offset::new(draw.number()) } else { mark.next_offset };
            let next = first.checked_add(draw.below(13) as u64).unwrap_or(first);
            LedgerKind::AcceptedLoss { mark, first, next }
        }
        _ => LedgerKind::CleanStop { mark },
    };
    let record = LedgerRecord {
        kind,
        durability: draw.pick(&Durability::ALL),
        namespace: if draw.one_in(16) { Namespace { stream: 9, ..NAMESPACE } } else { NAMESPACE },
        incarnation: if draw.one_in(8) { Incarnation::new(8) } else { INCARNATION },
        epoch: draw.pick(&[1, 1, 1, 1, 2, 0, u64::MAX]),
        slot: if draw.one_in(8) { draw.number() } else { slot },
        generation: draw.pick(&[0, 0, 1, u64::MAX]),
        floor: if draw.one_in(4) { mark.segment } else { SegmentStart::ZERO },
        reserved_offset: Offset::new(if draw.one_in(4) { draw.number() } else { 0 }),
    };
    let mut bytes = record.encode();
    if draw.one_in(8) {
        draw.edit(&mut bytes);
        if draw.one_in(2) {
            let checksum = Checksum::of(&bytes[..120]);
            bytes[120..].copy_from_slice(&checksum.get().to_le_bytes());
        }
    }
    bytes
}

/// Mostly a true mark.
fn mark(draw: &mut Draw<'_>, marks: &[Mark]) -> Mark {
    let mut mark = marks[draw.below(marks.len())];
    match draw.below(12) {
        8 => mark.position = Position::new(draw.number()),
        9 => mark.next_offset = Offset::new(draw.number()),
        10 => mark.segment = SegmentStart::new(draw.number()),
        11 => mark = marks[marks.len() - 1],
        _ => {}
    }
    mark
}

/// One superblock slot, or none.
pub(super) fn superblock(draw: &mut Draw<'_>) -> Option<Vec<u8>> {
    let choice = draw.below(12);
    if choice < 8 {
        return None;
    }
    let record = Superblock {
        sequence: draw.number(),
        cluster: SUPERBLOCK.cluster + u128::from(draw.one_in(8)),
        replica: SUPERBLOCK.replica,
        replica_count: SUPERBLOCK.replica_count,
        view: 0,
        log_view: 0,
        commit: draw.number(),
        offset_frontier: Offset::new(draw.number()),
    };
    let mut bytes = record.encode().to_vec();
    match choice {
        8 => bytes.clear(),
        9 => draw.edit(&mut bytes),
        _ => {}
    }
    Some(bytes)
}
