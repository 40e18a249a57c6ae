//! The superblock pair (`IGGY_FORMAT` section 6): its frontier, whose it is, or that it cannot be read.

use recovery_core::observe::SuperblockIdentity;
use xxhash_rust::xxh3::xxh3_64;

use super::little_endian::{u16_at, u32_at, u64_at};

/// What a pair of slots says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Superblock {
    /// The next offset to mint; 0 says none was recorded, also where there is no slot at all.
    Frontier(u64),
    /// The newest record is of another cluster or replica.
    Foreign,
    /// A slot has bytes that do not verify; there is no fallback to the other one.
    Unreadable,
}

/// The record of one slot.
#[derive(Clone, Copy, Debug)]
struct Record {
    sequence: u64,
    identity: SuperblockIdentity,
    frontier: u64,
}

/// Reads both slots; a missing slot is the same as an empty one. An identity is compared if one is known.
pub(super) fn read_pair(slot_a: &[u8], slot_b: &[u8], identity: Option<SuperblockIdentity>) -> Superblock {
    let mut newest: Option<Record> = None;
    for slot in [slot_a, slot_b] {
        if slot.is_empty() {
            continue;
        }
        let Some(record) = read_slot(slot) else { return Superblock::Unreadable };
        // Slot a wins a tie, and it comes first.
        if newest.is_none_or(|newest| record.sequence > newest.sequence) {
            newest = Some(record);
        }
    }
    match newest {
        None => Superblock::Frontier(0),
        Some(record) if identity.is_some_and(|identity| identity != record.identity) => Superblock::Foreign,
        Some(record) => Superblock::Frontier(record.frontier),
    }
}

fn read_slot(slot: &[u8]) -> Option<Record> {
    let (before_payload, checksum_bytes) = (28, 8);
    if slot.len() < before_payload + checksum_bytes {
        return None;
    }
    let payload_length = u32_at(slot, 24) as usize;
    let payload_is_known = payload_length == 66 || payload_length == 58;
    if !payload_is_known || slot.len() != before_payload + payload_length + checksum_bytes {
        return None;
    }
    let (hashed, checksum) = slot.split_at(slot.len() - checksum_bytes);
    let payload = &hashed[before_payload..];
    let (view, log_view) = (u32_at(payload, 18), u32_at(payload, 22));
    let verifies = u32_at(slot, 0) == 0x5342_4c4b
        && u16_at(slot, 4) == 1
        && u64_at(checksum, 0) == xxh3_64(hashed)
        && log_view <= view;
    let identity = SuperblockIdentity {
        cluster: u128::from_le_bytes(payload[..16].try_into().expect("the slice has 16 bytes")),
        replica: payload[16],
        replica_count: payload[17],
    };
    let frontier = if payload_length == 66 { u64_at(payload, 58) } else { 0 };
    verifies.then(|| Record { sequence: u64_at(slot, 8), identity, frontier })
}
