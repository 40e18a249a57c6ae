//! What a node offers of a partition that it serves.
//!
//! Promises: proven bytes only, each segment with the chain hash at its end, which no other batches have; gaps that
//! are recorded travel. Leaves out: the bytes ([`super::Source`]).

use super::OfferFault;
use crate::decide::Verdict;
use crate::format::Mark;
use crate::observe::{PartitionFacts, RecordedGap};
use crate::partition::Writer;
use crate::storage::Storage;
use crate::units::{Incarnation, Namespace, Offset, SegmentStart};

/// A manifest of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Which partition.
    pub namespace: Namespace,
    /// Which life of it.
    pub incarnation: Incarnation,
    /// How often it was repaired or replaced.
    pub generation: u64,
    /// Where the chain starts.
    pub floor: SegmentStart,
    /// The offset that the next message gets.
    pub next_offset: Offset,
    /// The end of each segment, ascending.
    pub segments: Vec<Mark>,
    /// Offsets between segments that nobody holds, ascending.
    pub gaps: Vec<RecordedGap>,
}

impl Offer {
    /// What recovery adopted; `None` of a partition that is not served, or of which no life is known, so that
    /// nothing was hashed.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::decide::decide;
    /// use recovery_core::observe::{Expectation, PartitionFacts};
    /// use recovery_core::transfer::Offer;
    /// use recovery_core::units::{Incarnation, Namespace};
    ///
    /// let facts = PartitionFacts::of_nothing(Expectation::of(Namespace { stream: 1, topic: 1, partition: 0 }));
    /// let offer = Offer::of(&facts, &decide(&facts), Incarnation::new(1)).expect("it is served");
    /// assert_eq!(offer.bytes(), 0);
    /// ```
    pub fn of(facts: &PartitionFacts, verdict: &Verdict, incarnation: Incarnation) -> Option<Self> {
        if facts.segments.iter().any(|segment| segment.accepts_loss) {
            // What is still to be carried over is no segment yet.
            return None;
        }
        let segments: Option<Vec<Mark>> = facts
            .segments
            .iter()
            .map(|segment| {
                let proven = &segment.proven;
                proven.chain_hash.map(|chain_hash| Mark {
                    segment: segment.start,
                    position: proven.end,
                    next_offset: proven.next_offset,
                    chain_hash,
                })
            })
            .collect();
        let generation = facts.ledger.known().map_or(0, |ledger| ledger.newest.generation);
        let floor = facts.ledger.known().map_or(SegmentStart::ZERO, |ledger| ledger.newest.floor);
        Some(Self::new(facts.namespace, incarnation, generation, floor, verdict.next_offset?, segments?))
    }

    /// What a writer has acknowledged; `None` where it keeps no ledger, or that does not say of each segment
    /// how it hashes yet.
    pub fn of_writer<S: Storage>(writer: &Writer<S>) -> Option<Self> {
        let newest = writer.ledger()?.newest();
        let segments = writer.acknowledged_ends()?;
        let next = writer.acknowledged_next_offset();
        Some(Self::new(
            writer.namespace(),
            newest.incarnation,
            newest.generation,
            newest.floor,
            next,
            segments,
        ))
    }

    fn new(
        namespace: Namespace,
        incarnation: Incarnation,
        generation: u64,
        floor: SegmentStart,
        next_offset: Offset,
        segments: Vec<Mark>,
    ) -> Self {
        let floor = segments.first().map_or(floor, |first| first.segment);
        let gaps = segments
            .windows(2)
            .map(|pair| RecordedGap { first: pair[0].next_offset, next: pair[1].segment.offset() })
            .filter(|gap| gap.first < gap.next)
            .collect();
        Self { namespace, incarnation, generation, floor, next_offset, segments, gaps }
    }

    /// Bytes of all segments: what a peer says, which may come to more than any file holds.
    pub fn bytes(&self) -> u128 {
        self.segments.iter().map(|end| u128::from(end.position.get())).sum()
    }

    /// Checks what can be checked before a byte is read.
    ///
    /// # Errors
    ///
    /// [`OfferFault`].
    pub fn check(&self, namespace: Namespace, incarnation: Incarnation) -> Result<(), OfferFault> {
        if self.namespace != namespace || self.incarnation != incarnation {
            let (found, found_incarnation) = (self.namespace, self.incarnation);
            return Err(OfferFault::Foreign { namespace, incarnation, found, found_incarnation });
        }
        for pair in self.segments.windows(2) {
            let (earlier, later) = (&pair[0], &pair[1]);
            let (first, next) = (earlier.next_offset, later.segment.offset());
            if later.segment <= earlier.segment || next < first {
                let next_start = later.segment;
                return Err(OfferFault::Overlap { segment: earlier.segment, next_offset: first, next_start });
            }
            if next > first && !self.gaps.contains(&RecordedGap { first, next }) {
                let last = next.before().expect("an offset above another is above 0");
                return Err(OfferFault::Gap { first, last });
            }
        }
        let is_start = self.segments.first().is_none_or(|first| first.segment == self.floor);
        let end = self.segments.last().map_or(self.floor.offset(), |last| last.next_offset);
        let is_sound = self.segments.iter().all(|end| end.next_offset >= end.segment.offset());
        if is_start && is_sound && self.next_offset >= end {
            Ok(())
        } else {
            Err(OfferFault::Bounds { floor: self.floor, next_offset: self.next_offset })
        }
    }
}
