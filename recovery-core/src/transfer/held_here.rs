//! Which offsets verify here and are in no segment that a peer offers (N21).
//!
//! Promises: a copy that would leave out a batch that verifies here is known before a byte is asked for, in whichever
//! of the two the batch lies, the proven prefix or behind damage. What the peer has removed by retention, below its
//! floor, counts as nothing left out. Leaves out: offsets behind the end of the offer, which its next offset tells of,
//! and whether the two hold the same bytes where both hold some.

use super::Offer;
use crate::observe::{PartitionFacts, SegmentFacts, Stop};
use crate::units::Offset;

impl Offer {
    /// The first offset that a batch here holds and the offer leaves out: one at or above its floor that lies in none
    /// of its segments, or any at all if it offers no message, which leaves out what a log that cannot be read may hold,
    /// too. `None` where whatever verifies here comes with the copy.
    /// `is_cut` says that what followed the proven prefixes was cut and set aside: it lies in a fence whatever comes.
    pub fn leaves_out(&self, local: &PartitionFacts, is_cut: bool) -> Option<Offset> {
        let is_empty = self.bytes() == 0;
        let verified = local.segments.iter().flat_map(|segment| held(segment, is_cut));
        let held = verified.chain(local.segments.iter().filter_map(|segment| unread(segment, local)));
        let left_out = held.filter_map(|(first, next)| {
            if is_empty {
                return Some(first);
            }
            let mut at = first.max(self.floor.offset());
            for end in self.segments.iter().filter(|end| end.segment.offset() <= next) {
                if end.segment.offset() <= at {
                    at = at.max(end.next_offset);
                }
            }
            (at < next).then_some(at)
        });
        left_out.min()
    }
}

/// Offsets that a segment may hold of which a part cannot be read: nobody knows what verifies there, so all that was
/// durable counts as held, and a copy that leaves some of it out is not taken for one that has it. Where nothing is
/// known to have been durable, the two are the same: something may be held, which a copy without a message leaves out.
fn unread(segment: &SegmentFacts, local: &PartitionFacts) -> Option<(Offset, Offset)> {
    if segment.stop.stop() != Stop::Unreadable {
        return None;
    }
    let first = segment.proven.next_offset;
    let mut ledger = local.ledger.known().into_iter().flat_map(|ledger| &ledger.segments);
    let marks = ledger.find(|marks| marks.newest.segment == segment.start);
    Some((first, marks.map_or(first, |marks| marks.newest.next_offset)))
}

/// Offsets that verified batches of a segment hold, each run with one behind its last.
fn held(segment: &SegmentFacts, is_cut: bool) -> Vec<(Offset, Offset)> {
    let residue = &segment.residue;
    let mut held = vec![(segment.start.offset(), segment.proven.next_offset)];
    if is_cut {
        held.retain(|(first, next)| first < next);
        return held;
    }
    held.extend(residue.survivors.iter().filter_map(|survivor| {
        let next = survivor.base_offset.checked_add(u64::from(survivor.message_count))?;
        Some((survivor.base_offset, next))
    }));
    // Not all of them are listed. Those that are not lie somewhere between the last that is, and the end of all.
    let are_listed =
        usize::try_from(residue.survivor_count).is_ok_and(|count| count <= residue.survivors.len());
    if let (false, Some(next)) = (are_listed, residue.survivors_next_offset) {
        let listed = residue
            .survivors
            .iter()
            .filter_map(|survivor| survivor.base_offset.checked_add(u64::from(survivor.message_count)));
        held.extend(listed.max().map(|first| (first, next)));
    }
    held.retain(|(first, next)| first < next);
    held
}
