//! Walks one log from its first byte for as long as every batch verifies and fits (DESIGN section 5).
//!
//! Promises: where the proven prefix ends, what lies in it, and why it ends there.
//! Leaves out: what lies behind it ([`super::residue`]).

use recovery_core::observe::Stop;

use super::batch::{Batch, Flaw, verify};
use super::ledger_record::{Mark, chain_after, chain_start};
use super::testimony::Testimony;

/// The largest batch that any door lets in, in bytes.
pub(super) const CEILING_BYTES: u64 = 256 * 1024 * 1024 + 256;

/// What a walk needs to know about the place of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) namespace: u64,
    pub(super) partition_id: u64,
    pub(super) segment: u64,
    pub(super) testimony: Option<&'a Testimony>,
}

/// The proven prefix of a log.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// One behind its last byte.
    pub(super) end: usize,
    /// One behind its last offset; the segment's start if it holds no message.
    pub(super) next_offset: u64,
    /// Its batches, empty ones included.
    pub(super) batches: Vec<Proven>,
    /// Its messages, counted one by one.
    pub(super) messages: u64,
    /// Why it ends.
    pub(super) stop: Stop,
}

/// What the index must agree with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Proven {
    pub(super) position: u64,
    pub(super) base_offset: u64,
    pub(super) base_timestamp: u64,
}

/// Walks a log.
pub(super) fn walk(log: &[u8], place: Place<'_>) -> Walk {
    let segment = place.segment;
    let marks = place.testimony.map_or(Vec::new(), |testimony| testimony.marks_of(segment));
    let sealed = place.testimony.and_then(|testimony| testimony.end(segment));
    let mut chain =
        place.testimony.map_or(0, |testimony| chain_start(place.namespace, testimony.incarnation, segment));
    let mut walk = Walk { end: 0, next_offset: segment, batches: Vec::new(), messages: 0, stop: Stop::End };
    walk.stop = loop {
        if walk.end == log.len() {
            break Stop::End;
        }
        if sealed == Some(walk.end as u64) {
            break Stop::Overrun;
        }
        let batch = match verify(log, walk.end) {
            Ok(batch) => batch,
            Err(Flaw::Short) => break Stop::Short,
            Err(Flaw::Undecodable) => break Stop::Undecodable,
            Err(Flaw::BadChecksum) => break Stop::BadChecksum,
        };
        if let Some(stop) = misplacement(&batch, place.partition_id, walk.next_offset) {
            break stop;
        }
        let next_offset = batch.next_offset().expect("a batch that overflows is misplaced");
        let end = walk.end + batch.length;
        chain = chain_after(chain, batch.checksum);
        if marks.iter().any(|mark| contradicts(mark, walk.end as u64, end as u64, next_offset, chain)) {
            break Stop::Conflict;
        }
        walk.batches.push(Proven {
            position: walk.end as u64,
            base_offset: batch.base_offset,
            base_timestamp: batch.base_timestamp,
        });
        walk.messages += u64::from(batch.messages);
        (walk.end, walk.next_offset) = (end, next_offset);
    };
    walk
}

/// Why a batch that verifies is not the next one, in the order in which the questions are asked.
pub(super) fn misplacement(batch: &Batch, partition_id: u64, next_offset: u64) -> Option<Stop> {
    if batch.partition_id != partition_id {
        Some(Stop::Foreign)
    } else if batch.base_offset > next_offset {
        Some(Stop::Gap)
    } else if batch.base_offset < next_offset {
        Some(Stop::Regression)
    } else if batch.next_offset().is_none() {
        Some(Stop::Overflow)
    } else if batch.length as u64 > CEILING_BYTES {
        Some(Stop::Oversize)
    } else {
        None
    }
}

/// Whether a mark lies inside the batch, or at its end and speaks of another log.
fn contradicts(mark: &Mark, start: u64, end: u64, next_offset: u64, chain: u64) -> bool {
    let lies_inside = start < mark.position && mark.position < end;
    let differs_at_end =
        mark.position == end && (mark.next_offset != next_offset || mark.chain_hash != chain);
    lies_inside || differs_at_end
}
