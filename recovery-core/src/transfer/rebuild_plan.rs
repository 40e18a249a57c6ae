//! Which bytes of a partition that is rebuilt lie here already (N21, G25).
//!
//! Promises: what verifies here is not asked for; each byte of the offer is in just one piece. Leaves out: whether
//! the two nodes hold the same bytes where both hold whole batches; if they do not, the segment does not hash to
//! what is offered, and all of it is asked for.

use super::Offer;
use crate::observe::{PartitionFacts, SegmentFacts};
use crate::units::{Position, SegmentStart};

/// Where a piece comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceSource {
    /// The same positions of the same segment's log here.
    Local,
    /// The peer.
    Peer,
}

/// A stretch of one segment's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The segment.
    pub segment: SegmentStart,
    /// Its first byte.
    pub from: Position,
    /// One behind its last.
    pub to: Position,
    /// Where it comes from.
    pub source: PieceSource,
}

/// All pieces of an offer, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebuildPlan {
    /// The pieces.
    pub pieces: Vec<Piece>,
}

impl RebuildPlan {
    /// What lies here, by `local`, and what does not.
    pub fn of(local: Option<&PartitionFacts>, offer: &Offer) -> Self {
        let mut pieces = Vec::new();
        for end in &offer.segments {
            let (segment, length) = (end.segment, end.position);
            let facts = local.and_then(|facts| facts.segments.iter().find(|facts| facts.start == segment));
            let mut at = Position::ZERO;
            for (from, to) in facts.map_or_else(Vec::new, |facts| held(facts, length)) {
                pieces.extend(piece(segment, at, from, PieceSource::Peer));
                pieces.extend(piece(segment, from, to, PieceSource::Local));
                at = to;
            }
            pieces.extend(piece(segment, at, length, PieceSource::Peer));
        }
        Self { pieces }
    }

    /// The pieces of one segment.
    pub fn of_segment(&self, segment: SegmentStart) -> Vec<Piece> {
        self.pieces.iter().filter(|piece| piece.segment == segment).copied().collect()
    }

    /// Bytes that are asked of the peer.
    pub fn asked_bytes(&self) -> u128 {
        let asked = self.pieces.iter().filter(|piece| piece.source == PieceSource::Peer);
        asked.map(|piece| u128::from(piece.to.get() - piece.from.get())).sum()
    }
}

fn piece(segment: SegmentStart, from: Position, to: Position, source: PieceSource) -> Option<Piece> {
    (from < to).then_some(Piece { segment, from, to, source })
}

/// The stretches of a log, up to `length`, in which every batch verifies: the prefix, and runs behind damage.
fn held(facts: &SegmentFacts, length: Position) -> Vec<(Position, Position)> {
    let mut held = vec![(Position::ZERO, facts.proven.end.min(length))];
    for run in &facts.residue.runs {
        match run.position.checked_add(run.length) {
            Some(end) if end <= length => held.push((run.position, end)),
            Some(_) | None => {}
        }
    }
    held.retain(|(from, to)| from < to);
    held
}
