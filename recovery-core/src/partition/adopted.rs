//! What recovery leaves to the writer: the chain, file by file, and the offset to go on with.
//!
//! Promises: derived from facts and verdict alone, so what the writer expects is what was judged. Leaves
//! out: whether the plan was carried out; the lengths of the files tell.

use crate::decide::{Action, Verdict};
use crate::format::{ChainHash, FileName, INDEX_ENTRY_BYTES};
use crate::observe::{IndexState, LedgerFacts, LedgerState, PartitionFacts, SegmentFacts};
use crate::plan::{Plan, Step};
use crate::units::{Length, Namespace, Offset, Position, SegmentStart};

/// One segment as it is after the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdoptedSegment {
    /// The segment.
    pub start: SegmentStart,
    /// Its proven end, and the length of its log.
    pub end: Position,
    /// One behind its last proven offset; its start if it holds none.
    pub next_offset: Offset,
    /// The chain hash at `end`; `None` where no incarnation was known.
    pub chain_hash: Option<ChainHash>,
    /// Bytes of its index.
    pub index_length: Length,
}

/// A partition that is served, as it is after the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// Which partition.
    pub namespace: Namespace,
    /// Its segments, ascending.
    pub segments: Vec<AdoptedSegment>,
    /// Segments below the floor, which retention deletes again.
    pub expired: Vec<SegmentStart>,
    /// The offset that the next message gets.
    pub next_offset: Offset,
    /// The ledger as it was read; `None` if there is none.
    pub ledger: Option<LedgerFacts>,
    /// Bytes of a file that has the ledger's name and is none.
    pub invalid_ledger_length: Length,
}

impl Adopted {
    /// What is left when `plan`, made for `verdict`, is carried out; `None` for a partition that is not served.
    pub fn of(facts: &PartitionFacts, verdict: &Verdict, plan: &Plan) -> Option<Self> {
        if !verdict.is_served() {
            return None;
        }
        assert!(verdict.segments.len() == facts.segments.len(), "a verdict has one action a segment");
        let segments = facts
            .segments
            .iter()
            .zip(&verdict.segments)
            .map(|(facts, verdict)| adopted_segment(facts, verdict.action))
            .collect();
        let ledger_name = FileName::ledger();
        let is_moved = plan.steps.contains(&Step::SetAside { file: ledger_name });
        let (ledger, invalid_ledger_length) = match &facts.ledger {
            LedgerState::None { .. } if is_moved => (None, Length::ZERO),
            LedgerState::Known(facts) => (Some(facts.clone()), Length::ZERO),
            LedgerState::None { length } => (None, length.unwrap_or(Length::ZERO)),
            LedgerState::Mismatch { .. } => unreachable!("a ledger of another partition is refused"),
        };
        Some(Self {
            namespace: facts.namespace,
            segments,
            expired: facts.expired.clone(),
            next_offset: verdict.next_offset.expect("a partition that is served has a next offset"),
            ledger,
            invalid_ledger_length,
        })
    }
}

fn adopted_segment(facts: &SegmentFacts, action: Action) -> AdoptedSegment {
    let end = match action {
        Action::Keep | Action::RebuildIndex => facts.log_length.as_position(),
        Action::Cut { at, .. } => at,
    };
    assert!(end == facts.proven.end, "what is kept is what is proven");
    let index_length = if facts.index.state == IndexState::Good {
        facts.index.length.expect("a good index is a file")
    } else {
        Length::new((facts.index.rebuilt.len() * INDEX_ENTRY_BYTES) as u64)
    };
    AdoptedSegment {
        start: facts.start,
        end,
        next_offset: facts.proven.next_offset,
        chain_hash: facts.proven.chain_hash,
        index_length,
    }
}
