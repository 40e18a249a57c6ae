//! One record of the ledger, read field by field (`docs/format.md`; DESIGN section 4).
//!
//! Promises: a record that reads here has a matching checksum and makes sense by itself.
//! Leaves out: whose it is, and whether it lies in its own slot.

use xxhash_rust::xxh3::xxh3_64;

use super::little_endian::{u16_at, u32_at, u64_at};

/// Bytes of a record.
pub(super) const RECORD_BYTES: usize = 128;

/// What a record says, by the number in its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Opened,
    Frontier,
    Sealed { next_start: u64 },
    Floor,
    Reserved,
    Recovered,
    AcceptedLoss { first: u64, last: u64 },
    CleanStop,
}

/// Bytes `[0, position)` of a segment were durable, up to `next_offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) segment: u64,
    pub(super) position: u64,
    pub(super) next_offset: u64,
    pub(super) chain_hash: u64,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: Kind,
    pub(super) epoch: u64,
    pub(super) slot: u64,
    pub(super) floor: u64,
    pub(super) reserved_offset: u64,
    pub(super) mark: Option<Mark>,
    pub(super) namespace: u64,
    pub(super) incarnation: u64,
}

/// Hash of a run of numbers, each as eight little-endian bytes.
fn hash_of<const N: usize>(numbers: [u64; N]) -> u64 {
    let bytes = numbers.map(u64::to_le_bytes);
    xxh3_64(bytes.as_flattened())
}

/// The chain hash before the first batch of a segment.
pub(super) fn chain_start(namespace: u64, incarnation: u64, segment: u64) -> u64 {
    hash_of([namespace, incarnation, segment])
}

/// The chain hash behind one more batch.
pub(super) fn chain_after(chain: u64, batch_checksum: u64) -> u64 {
    hash_of([chain, batch_checksum])
}

/// The record in these 128 bytes, or `None` if there is none.
pub(super) fn read(bytes: &[u8]) -> Option<Record> {
    assert!(bytes.len() == RECORD_BYTES, "a record is {RECORD_BYTES} bytes, not {}", bytes.len());
    let (version, reserved) = (u16_at(bytes, 2), u32_at(bytes, 4));
    let (namespace, incarnation) = (u64_at(bytes, 104), u64_at(bytes, 112));
    let makes_sense = u64_at(bytes, 120) == xxh3_64(&bytes[..120])
        && (1..=3).contains(&bytes[1])
        && version == 1
        && reserved == 0
        && namespace >> 52 == 0
        && u64_at(bytes, 8) == hash_of([namespace, incarnation]);
    if !makes_sense {
        return None;
    }
    let mark = Mark {
        segment: u64_at(bytes, 56),
        position: u64_at(bytes, 64),
        next_offset: u64_at(bytes, 72),
        chain_hash: u64_at(bytes, 80),
    };
    let (first_number, second_number) = (u64_at(bytes, 88), u64_at(bytes, 96));
    let (kind, has_mark, numbers_used) = match bytes[0] {
        1 => (Kind::Opened, false, 1),
        2 => (Kind::Frontier, true, 0),
        3 => (Kind::Sealed { next_start: first_number }, true, 1),
        4 => (Kind::Floor, false, 0),
        5 => (Kind::Reserved, false, 0),
        6 => (Kind::Recovered, true, 0),
        7 => (Kind::AcceptedLoss { first: first_number, last: second_number }, true, 2),
        8 => (Kind::CleanStop, true, 0),
        _ => return None,
    };
    // What the kind does not use is zero.
    let unused_mark = if has_mark { &[][..] } else { &bytes[56..88] };
    let unused_numbers = &bytes[88 + 8 * numbers_used..104];
    if unused_mark.iter().chain(unused_numbers).any(|byte| *byte != 0) {
        return None;
    }
    let record = Record {
        kind,
        epoch: u64_at(bytes, 16),
        slot: u64_at(bytes, 24),
        floor: u64_at(bytes, 40),
        reserved_offset: u64_at(bytes, 48),
        mark: has_mark.then_some(mark),
        namespace,
        incarnation,
    };
    numbers_make_sense(&record).then_some(record)
}

fn numbers_make_sense(record: &Record) -> bool {
    let Some(mark) = record.mark else { return true };
    let start = chain_start(record.namespace, record.incarnation, mark.segment);
    let mark_is_possible = mark.next_offset >= mark.segment;
    let start_is_possible =
        mark.position != 0 || (mark.next_offset == mark.segment && mark.chain_hash == start);
    let kind_is_possible = match record.kind {
        Kind::Sealed { next_start } => next_start >= mark.next_offset,
        // One behind the last offset; where 0 is behind it, or the first, no offset is lost.
        Kind::AcceptedLoss { first, last } => first <= last.wrapping_add(1),
        Kind::Opened | Kind::Frontier | Kind::Floor | Kind::Reserved | Kind::Recovered | Kind::CleanStop => {
            true
        }
    };
    mark_is_possible && start_is_possible && kind_is_possible
}
