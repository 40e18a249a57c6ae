//! Which offset the next message gets (DESIGN section 6).
//!
//! Promises: no offset that a message has, that was promised away, or that a batch holds which is cut and
//! saved. It may leave a gap, and never goes back. Nothing here adds to an offset from disk but the room
//! that a residue has, and `u64::MAX` bounds that: no message has that offset (N16).

use super::piece::pieces;
use super::segment::ruling;
use super::{Row, Ruling};
use crate::format::FRAME_HEADER_BYTES;
use crate::observe::{PartitionFacts, Residue, SegmentFacts, SuperblockState};
use crate::units::Offset;

/// What is known of the next offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextOffset {
    /// One behind the last proven offset of the chain. Where nothing is proven: where the last segment
    /// starts, else the floor, else 0.
    pub(super) chain: Offset,
    /// The next offset: at least `chain`.
    pub(super) next: Offset,
    /// The row that says why it is not less.
    pub(super) row: Row,
    /// One behind the largest offset that a batch may hold which is cut, if there may be one.
    pub(super) cut: Option<Offset>,
}

/// Finds the next offset of a partition that is served.
pub(super) fn next_offset(facts: &PartitionFacts) -> NextOffset {
    let ledger = facts.ledger.known();
    let floor = ledger.map_or(Offset::ZERO, |ledger| ledger.newest.floor.offset());
    // The proven end is never below the start, so this covers the start of an empty last segment too.
    let chain = pieces(facts).last().map_or(floor, |piece| piece.next_offset);
    assert!(chain >= floor, "a segment that is judged lies at or above the floor");

    // Where a seal says that the next segment starts, or where offsets end that an accepted loss gave up.
    let seal = facts.segments.iter().filter_map(|segment| segment.seal).map(|seal| seal.next_start.offset());
    let gap = ledger.and_then(|ledger| ledger.gaps.iter().map(|gap| gap.next).max());
    let frontier = match facts.superblock {
        SuperblockState::Known { offset_frontier, .. } => Some(offset_frontier),
        SuperblockState::None | SuperblockState::Unreadable { .. } | SuperblockState::Mismatch { .. } => None,
    };
    let reserved = frontier.max(ledger.map(|ledger| ledger.newest.reserved_offset));
    let survivor = facts.segments.iter().filter_map(survivors_end).max();
    let unproven = facts.segments.iter().filter_map(unproven_end).max();

    let mut found = NextOffset { chain, next: chain, row: Row::NextOffsetMeets, cut: survivor.max(unproven) };
    for (row, bound) in [
        (Row::NextOffsetSeal, seal.max().max(gap)),
        (Row::NextOffsetReserved, reserved),
        (Row::NextOffsetSurvivor, survivor),
        (Row::NextOffsetUnproven, unproven),
    ] {
        match bound {
            Some(bound) if bound > found.next => (found.next, found.row) = (bound, row),
            Some(_) | None => {}
        }
    }
    assert!(found.next >= chain, "no offset is given twice");
    assert!(found.cut.is_none_or(|cut| cut <= found.next), "no offset of a saved batch is given again");
    found
}

/// One behind the largest offset that a survivor holds which is cut.
fn survivors_end(segment: &SegmentFacts) -> Option<Offset> {
    let is_cut = ruling(segment) == Ruling::Cut && segment.residue.kind == Residue::Survivor;
    if is_cut { segment.residue.survivors_next_offset } else { None }
}

/// One behind the largest offset that could lie in a residue which is cut and was not judged whole: every
/// message takes at least a frame header.
fn unproven_end(segment: &SegmentFacts) -> Option<Offset> {
    if ruling(segment) != Ruling::Cut || segment.residue.kind != Residue::Unproven {
        return None;
    }
    let room = segment.residue.length.get() / FRAME_HEADER_BYTES as u64;
    match segment.proven.next_offset.checked_add(room) {
        Some(end) => Some(end),
        // The room is larger than what is left of the offsets. What lies there holds at most the last one.
        None => Some(Offset::new(u64::MAX)),
    }
}
