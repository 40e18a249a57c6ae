//! Puts the numbers behind the table's refusal of one segment.
//!
//! Promises: the reason has the code that the table gave.

use super::segment::ruling;
use super::{Reason, ReasonCode, Ruling, Witness};
use crate::format::{BATCH_BYTES_MAX, Mark};
use crate::observe::{SegmentFacts, StopDetail};
use crate::units::{Namespace, Position};

/// Why the segment is refused, if it is.
pub(super) fn refusal(facts: &SegmentFacts, namespace: Namespace) -> Option<Reason> {
    let code = match ruling(facts) {
        Ruling::Refuse(code) => code,
        Ruling::Keep | Ruling::Cut | Ruling::Unavailable | Ruling::Impossible => return None,
    };
    let (segment, position) = (facts.start, facts.proven.end);
    let reason = match facts.stop {
        StopDetail::End
        | StopDetail::Short { .. }
        | StopDetail::Undecodable(_)
        | StopDetail::BadChecksum(_)
        | StopDetail::Overrun { .. } => damaged(facts, code),
        StopDetail::Foreign { found } => Reason::ForeignBatch {
            segment,
            position,
            found_partition: found,
            expected_partition: namespace.partition_id(),
        },
        StopDetail::Gap { found } | StopDetail::Regression { found } => Reason::OffsetDiscontinuity {
            segment,
            position,
            found_offset: found,
            expected_offset: facts.proven.next_offset,
        },
        StopDetail::Overflow { base_offset, message_count } => {
            Reason::OffsetOverflow { segment, position, base_offset, message_count }
        }
        StopDetail::Oversize { batch_length } => Reason::RecordCeiling {
            segment,
            position,
            batch_bytes: batch_length,
            ceiling_bytes: BATCH_BYTES_MAX,
        },
        StopDetail::Conflict { agrees, differs } => conflict(facts, agrees, differs),
        StopDetail::Unreadable { .. } => unreachable!("an unreadable segment is not refused"),
    };
    assert!(reason.reason_code() == code, "the reason is the table's");
    Some(reason)
}

/// The reason for damage, or for a log that ends early.
fn damaged(facts: &SegmentFacts, code: ReasonCode) -> Reason {
    if code == ReasonCode::LostDurable {
        lost_durable(facts)
    } else if code == ReasonCode::InteriorDamage {
        interior_damage(facts)
    } else {
        Reason::UnprovenResidue {
            segment: facts.start,
            position: facts.proven.end,
            residue_bytes: facts.residue.length,
            candidates: facts.residue.candidates,
        }
    }
}

/// A mark of the ledger proves the loss or, without a ledger, an entry of the index.
fn lost_durable(facts: &SegmentFacts) -> Reason {
    let by_mark = facts.mark.map(|mark| (Witness::Ledger, mark.position, mark.next_offset));
    let by_entry = facts.index.beyond.map(|entry| (Witness::Index, entry.position, entry.offset));
    let (witness, durable_end, durable_next_offset) =
        by_mark.or(by_entry).expect("a stop lies below a mark or, without a ledger, below an entry");
    Reason::LostDurable {
        segment: facts.start,
        proven_bytes: facts.proven.end.as_length(),
        stop: facts.stop.stop(),
        witness,
        durable_bytes: durable_end.as_length(),
        first_lost_offset: facts.proven.next_offset,
        durable_next_offset,
    }
}

fn interior_damage(facts: &SegmentFacts) -> Reason {
    let first = facts.residue.survivors.first().expect("a residue with survivors lists the first");
    Reason::InteriorDamage {
        segment: facts.start,
        position: facts.proven.end,
        stop: facts.stop.stop(),
        survivor_position: first.position,
        survivor_offset: first.base_offset,
        survivors: facts.residue.survivor_count,
    }
}

fn conflict(facts: &SegmentFacts, agrees: Option<Mark>, differs: Mark) -> Reason {
    Reason::EvidenceConflict {
        segment: facts.start,
        agrees_bytes: agrees.map_or(Position::ZERO, |mark| mark.position),
        agrees_next_offset: agrees.map_or(facts.start.offset(), |mark| mark.next_offset),
        differs_bytes: differs.position,
        differs_next_offset: differs.next_offset,
    }
}
