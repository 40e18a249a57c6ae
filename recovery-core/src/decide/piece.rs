//! The pieces of a chain: its segments and, where a loss was accepted and nothing is carried over yet, the
//! segments that are still to be made of the batches behind it.
//!
//! Promises: what is judged before the first byte moves is the chain as it will be. Leaves out: whether it holds
//! together ([`super::chain`]).

use crate::format::{ChainHash, Mark};
use crate::observe::{PartitionFacts, Run, SegmentFacts};
use crate::units::{Offset, Position, SegmentStart};

/// One segment of the chain, as it is or as it will be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'facts> {
    /// The segment on disk that it is, or that its bytes are in.
    pub(crate) segment: &'facts SegmentFacts,
    /// The batches that are carried into it, if it is still to be made.
    pub(crate) run: Option<&'facts Run>,
    /// Where it starts.
    pub(crate) start: SegmentStart,
    /// Where its bytes end.
    pub(crate) end: Position,
    /// One behind its last offset.
    pub(crate) next_offset: Offset,
    /// The chain hash at its end.
    chain_hash: Option<ChainHash>,
}

impl<'facts> Piece<'facts> {
    fn of(segment: &'facts SegmentFacts) -> Self {
        let proven = &segment.proven;
        let (start, end, next_offset, chain_hash) =
            (segment.start, proven.end, proven.next_offset, proven.chain_hash);
        Self { segment, run: None, start, end, next_offset, chain_hash }
    }

    /// A segment of its own; the old one anew where that holds no message and starts at the same offset; or the
    /// old one as it is, where the run directly continues its prefix.
    fn of_run(segment: &'facts SegmentFacts, run: &'facts Run) -> Self {
        let is_own = run.first == segment.start.offset() || is_continuing(segment, run);
        let start = if is_own { segment.start } else { SegmentStart::at(run.first) };
        let prefix = if is_own { segment.proven.end } else { Position::ZERO };
        let end = prefix.checked_add(run.length).expect("a prefix and a run lie within one file");
        Self { segment, run: Some(run), start, end, next_offset: run.next, chain_hash: run.chain_hash }
    }

    /// The batches that are to be carried over for it, if they do not lie in place already.
    pub(crate) fn staged(&self) -> Option<&'facts Run> {
        self.run.filter(|run| !is_continuing(self.segment, run))
    }

    /// Whether it takes the place of the segment that its bytes are in.
    pub(crate) fn replaces(&self) -> bool {
        self.staged().is_some() && self.start == self.segment.start
    }

    /// The mark at its end.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            segment: self.start,
            position: self.end,
            next_offset: self.next_offset,
            chain_hash: self.chain_hash.expect("a ledger that is known names an incarnation to hash"),
        }
    }
}

/// Whether the run lies where the prefix ends, in bytes and in offsets.
fn is_continuing(segment: &SegmentFacts, run: &Run) -> bool {
    run.position == segment.proven.end && run.first == segment.proven.next_offset
}

/// The chain as it will be, ascending.
pub(crate) fn pieces(facts: &PartitionFacts) -> Vec<Piece<'_>> {
    let mut pieces = Vec::with_capacity(facts.segments.len());
    for segment in &facts.segments {
        let runs = if segment.accepts_loss { &segment.residue.runs[..] } else { &[] };
        let is_replaced = runs
            .first()
            .is_some_and(|run| run.first == segment.start.offset() || is_continuing(segment, run));
        if !is_replaced {
            pieces.push(Piece::of(segment));
        }
        pieces.extend(runs.iter().map(|run| Piece::of_run(segment, run)));
    }
    pieces
}
