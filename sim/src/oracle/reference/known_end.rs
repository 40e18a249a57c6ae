//! What verifies in a directory, and where it ends: what a copy must have to take its place.
//!
//! Promises: asked of the reference's own findings, never of the core. Leaves out: whether any of it is served.

use recovery_core::observe::Stop;
use recovery_core::units::{Offset, SegmentStart};

use super::Reference;
use super::agreement::most_it_could_hold;
use super::batch::FRAME_BYTES;
use super::superblock::Superblock;

impl Reference {
    /// Whether any batch verifies, in the chain or behind damage, wherever it lies.
    pub fn holds_a_batch(&self) -> bool {
        let mut segments = self.findings.iter().flat_map(|findings| &findings.segments);
        segments.any(|segment| segment.batches > 0 || segment.survivors_next_offset.is_some())
    }

    /// Whether whoever looks finds all that verifies here: no budget for looking can run out, and no log contradicts its
    /// marks, so that where its prefix ends is not open.
    pub fn is_all_found(&self) -> bool {
        let is_plain = |findings: &super::Findings| {
            findings.segments.iter().all(|segment| !segment.has_bait && segment.stop != Stop::Conflict)
        };
        self.findings.as_ref().is_some_and(is_plain)
    }

    /// Whether the batch of a segment that begins at `base` lies in its proven prefix.
    pub fn proves(&self, segment: SegmentStart, base: Offset) -> bool {
        let mut segments = self.findings.iter().flat_map(|findings| &findings.segments);
        segments
            .any(|found| found.start == segment.get() && found.batches > 0 && base.get() < found.next_offset)
    }

    /// One behind the last offset that the ledger, as it lies here, has as durable in a segment.
    pub fn marked_next(&self, segment: SegmentStart) -> Offset {
        let testimony = self.findings.iter().filter_map(|findings| findings.testimony.as_ref());
        let marks = testimony.flat_map(|testimony| &testimony.marks);
        let ends = marks.filter(|mark| mark.segment == segment.get()).map(|mark| mark.next_offset);
        Offset::new(ends.max().unwrap_or_default())
    }

    /// Offsets of what verifies behind damage, whoever wrote it: the first of each batch, and one behind its last.
    pub fn survivors(&self) -> impl Iterator<Item = (Offset, Offset)> {
        let segments = self.findings.iter().flat_map(|findings| &findings.segments);
        let survivors = segments.flat_map(|segment| &segment.survivors);
        survivors.map(|(first, next)| (Offset::new(*first), Offset::new(*next)))
    }

    /// One behind the last offset of all that verifies, in the chain or behind damage, or that the ledger reserves for
    /// what was set aside, or that a mark or the superblock has as durable; behind all that a log has room for, where a
    /// budget for looking at it can run out, or where it contradicts its marks, so that where its prefix ends is open.
    /// `None` if something that must be read cannot be.
    pub fn known_end(&self) -> Option<Offset> {
        let findings = self.findings.as_ref()?;
        let frontier = match findings.superblock {
            Superblock::Frontier(frontier) => frontier,
            Superblock::Foreign | Superblock::Unreadable => 0,
        };
        let segments = findings.segments.iter().flat_map(|segment| {
            let proven = Some(segment.next_offset).filter(|_| segment.batches > 0);
            let room = if segment.stop == Stop::Conflict {
                Some(u128::from(segment.start) + u128::from(segment.log_bytes) / FRAME_BYTES as u128)
            } else {
                Some(most_it_could_hold(segment)).filter(|_| segment.has_bait)
            };
            let room = room.map(|most| u64::try_from(most).map_or(u64::MAX, |most| most));
            [proven, segment.survivors_next_offset, room].into_iter().flatten()
        });
        let said = findings.testimony.iter().flat_map(|testimony| {
            let marks = testimony.marks.iter().map(|mark| mark.next_offset);
            marks.chain([testimony.reserved_offset])
        });
        segments.chain(said).chain([frontier]).max().map(Offset::new)
    }
}
