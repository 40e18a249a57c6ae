//! What a refused partition has lost, and what accepting that comes to (DESIGN section 8).
//!
//! Promises: a pure function of facts; the ranges are exact: an offset is lost only if no whole batch that can be
//! carried over holds it. Where no rule tells what is lost (two files that claim the same offset, a directory
//! that may be another's), nothing can be accepted. Leaves out: doing it ([`crate::host`]).

use super::chain::joints;
use super::segment::ruling;
use super::{Disposition, Fault, Link, Reason, Ruling, decide};
use crate::format::{ChainHash, LedgerKind, Mark};
use crate::observe::{LedgerFacts, PartitionFacts, RecordedGap, Run, SegmentFacts, Stop};
use crate::units::{Incarnation, Offset, Position, SegmentStart};

/// Offsets that nobody holds any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostRange {
    /// The first.
    pub first: Offset,
    /// The last, inclusive.
    pub last: Offset,
}

impl std::fmt::Display for LostRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} to {}", self.first, self.last)
    }
}

/// One record that accepts what one damaged place has lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The segment that is damaged, or behind which something is missing.
    pub segment: SegmentStart,
    /// Where its proven prefix ends.
    pub position: Position,
    /// One behind the last offset of the prefix.
    pub next_offset: Offset,
    /// The chain hash there; `None` where no incarnation is known.
    pub chain_hash: Option<ChainHash>,
    /// First offset that is lost.
    pub first: Offset,
    /// One behind the last; `first` if none is.
    pub next: Offset,
}

impl Loss {
    /// The record that says so, or `None` where no incarnation is known.
    pub fn record(&self) -> Option<LedgerKind> {
        let chain_hash = self.chain_hash?;
        let (segment, position, next_offset) = (self.segment, self.position, self.next_offset);
        let mark = Mark { segment, position, next_offset, chain_hash };
        Some(LedgerKind::AcceptedLoss { mark, first: self.first, next: self.next })
    }
}

/// All that is to be accepted, so that the partition can be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Losses {
    /// One a damaged place and lost range, ascending.
    pub records: Vec<Loss>,
    /// Where the chain starts from now on, if its front is missing.
    pub floor: Option<SegmentStart>,
    /// The ranges that are lost, ascending: those of the records.
    pub ranges: Vec<LostRange>,
}

/// Why a loss cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unacceptable {
    /// The partition is not refused.
    NotRefused,
    /// It is refused for something that says nothing of offsets, or of which no rule tells what is right.
    Undecidable(Reason),
}

/// Finds out what is lost.
///
/// # Errors
///
/// [`Unacceptable`].
///
/// # Examples
///
/// ```
/// use recovery_core::decide::{Unacceptable, losses};
/// use recovery_core::observe::{Expectation, PartitionFacts};
/// use recovery_core::units::Namespace;
///
/// // Nothing is lost of a partition that is served, so there is nothing to accept.
/// let facts = PartitionFacts::of_nothing(Expectation::of(Namespace { stream: 1, topic: 1, partition: 0 }));
/// assert!(matches!(losses(&facts), Err(Unacceptable::NotRefused)));
/// ```
pub fn losses(facts: &PartitionFacts) -> Result<Losses, Unacceptable> {
    let reason = match decide(facts).disposition {
        Disposition::Refuse(reason) => reason,
        Disposition::Serve | Disposition::ServeFrom { .. } | Disposition::Unavailable(_) => {
            return Err(Unacceptable::NotRefused);
        }
    };
    for fault in Fault::ALL {
        if !is_loss(fault)
            && let Some(reason) = fault.find(facts)
        {
            return Err(Unacceptable::Undecidable(reason));
        }
    }
    let mut found = Losses { records: Vec::new(), floor: None, ranges: Vec::new() };
    lose_front(facts, &mut found);
    let torn_off: Vec<SegmentStart> = joints(facts)
        .iter()
        .filter(|joint| matches!(joint.link, Link::Hole | Link::EmptyBefore))
        .map(|joint| joint.earlier.segment.start)
        .collect();
    for index in 0..facts.segments.len() {
        let place = Place::of(facts, index);
        if place.is_lossy() || torn_off.contains(&place.segment.start) {
            place.lose(&mut found);
        }
    }
    if found.records.is_empty() {
        return Err(Unacceptable::Undecidable(reason));
    }
    Ok(found)
}

/// Whether a fault says that something is gone, and not that something is there which should not be.
const fn is_loss(fault: Fault) -> bool {
    match fault {
        Fault::LedgerMismatch
        | Fault::SuperblockMismatch
        | Fault::SuperblockUnreadable
        | Fault::UnexpectedFile
        | Fault::Overlap => false,
        Fault::MissingSegment
        | Fault::ChainAboveFloor
        | Fault::SegmentRefused
        | Fault::EmptyBefore
        | Fault::Hole => true,
    }
}

/// One behind the last offset that any mark of a segment without a file promises, from `first` on up to `below`.
/// The name of an empty segment was promised too: it costs the offset that it starts with, or its mark would
/// stay.
fn missing_next(facts: &PartitionFacts, first: Offset, below: Option<SegmentStart>) -> Option<Offset> {
    let ledger = facts.ledger.known()?;
    let is_present = |segment| facts.segments.binary_search_by_key(&segment, |facts| facts.start).is_ok();
    let missing = ledger.segments.iter().filter(|marks| !is_present(marks.segment));
    missing
        .filter(|marks| marks.segment.offset() >= first && below.is_none_or(|below| marks.segment < below))
        .filter_map(|marks| Some(marks.newest.next_offset.max(marks.segment.offset().checked_add(1)?)))
        .max()
}

/// A chain whose front is gone starts later from now on. No mark could stand before its first segment, so the
/// floor says it; and a record at the old floor says that the front was given up, and not deleted in its time.
fn lose_front(facts: &PartitionFacts, found: &mut Losses) {
    let Some(LedgerFacts { newest, given_up, .. }) = facts.ledger.known() else { return };
    let (segment, first) = (newest.floor, newest.floor.offset());
    // Where a crash kept the floor from being raised, the record has voided the marks that said how far it goes.
    let begun = given_up.iter().filter(|gap| gap.first == first).map(|gap| gap.next);
    let promised = || begun.chain(missing_next(facts, first, None)).max();
    let present = facts.segments.first().map(|segment| segment.start.offset());
    let Some(next) = present.or_else(promised) else { return };
    if let Some(last) = next.before().filter(|last| *last >= first) {
        let chain_hash = Some(ChainHash::start(facts.namespace, newest.incarnation, segment));
        let position = Position::ZERO;
        found.records.push(Loss { segment, position, next_offset: first, chain_hash, first, next });
        found.floor = Some(SegmentStart::at(next));
        found.ranges.push(LostRange { first, last });
    }
}

/// One segment, and what lies between it and the next.
struct Place<'facts> {
    facts: &'facts PartitionFacts,
    segment: &'facts SegmentFacts,
    next: Option<&'facts SegmentFacts>,
    /// One behind the last offset that marks of missing segments behind it promise.
    missing: Option<Offset>,
}

impl<'facts> Place<'facts> {
    fn of(facts: &'facts PartitionFacts, index: usize) -> Self {
        let (segment, next) = (&facts.segments[index], facts.segments.get(index + 1));
        let missing = missing_next(facts, segment.start.offset(), next.map(|next| next.start));
        Self { facts, segment, next, missing }
    }

    fn lose(&self, found: &mut Losses) {
        let ranges = self.ranges();
        let end = self.segment.proven.next_offset;
        if ranges.is_empty() {
            found.records.push(self.record(RecordedGap { first: end, next: end }));
        }
        for range in ranges {
            found.records.push(self.record(range));
            let last = range.next.before().expect("a range that is lost holds an offset");
            found.ranges.push(LostRange { first: range.first, last });
        }
    }

    /// Whether something of the segment is refused, or missing behind it.
    fn is_lossy(&self) -> bool {
        let is_refused = match ruling(self.segment) {
            Ruling::Refuse(_) => true,
            Ruling::Keep | Ruling::Cut | Ruling::Unavailable | Ruling::Impossible => false,
        };
        is_refused || self.missing.is_some()
    }

    /// The batches behind the prefix that are believed. Where the ledger says that the log is another one,
    /// none is.
    fn runs(&self) -> &'facts [Run] {
        if self.segment.stop.stop() == Stop::Conflict { &[] } else { &self.segment.residue.runs }
    }

    /// The offsets between the prefix, the runs, and what follows.
    fn ranges(&self) -> Vec<RecordedGap> {
        let mut ranges = Vec::new();
        let mut end = self.segment.proven.next_offset;
        for run in self.runs() {
            if end < run.first {
                ranges.push(RecordedGap { first: end, next: run.first });
            }
            end = run.next;
        }
        let behind = match self.next {
            Some(next) => next.start.offset(),
            None => self.promised_end(),
        };
        if end < behind {
            ranges.push(RecordedGap { first: end, next: behind });
        }
        ranges
    }

    /// One behind the last offset that is known to have been given out, behind the last segment.
    fn promised_end(&self) -> Offset {
        let segment = self.segment;
        let marked = segment.mark.filter(|_| !segment.accepts_loss).map(|mark| mark.next_offset);
        // Whether the entry's own batch was durable is not known. Its offset was given out.
        let entered = segment.index.beyond.filter(|_| self.facts.ledger.known().is_none());
        let gaps = self.facts.ledger.known().map_or(&[][..], |ledger| &ledger.gaps);
        let recorded = gaps.iter().map(|gap| gap.next).max();
        [
            marked,
            entered.and_then(|entry| entry.offset.checked_add(1)),
            segment.residue.survivors_next_offset,
            self.missing,
            recorded,
        ]
        .into_iter()
        .flatten()
        .max()
        .unwrap_or(Offset::ZERO)
    }

    fn record(&self, range: RecordedGap) -> Loss {
        let proven = &self.segment.proven;
        let incarnation: Option<Incarnation> =
            self.facts.ledger.known().map(|ledger| ledger.newest.incarnation);
        let at_start = incarnation
            .filter(|_| proven.end == Position::ZERO)
            .map(|incarnation| ChainHash::start(self.facts.namespace, incarnation, self.segment.start));
        Loss {
            segment: self.segment.start,
            position: proven.end,
            next_offset: proven.next_offset,
            chain_hash: proven.chain_hash.or(at_start),
            first: range.first,
            next: range.next,
        }
    }
}

impl Losses {
    /// Whether `named` are the ranges that are lost, and besides none but such as the ledger of `facts` says were
    /// given up: what an earlier run accepted is not refused to a repeat.
    pub fn are(&self, named: &[LostRange], facts: &PartitionFacts) -> bool {
        self.ranges.iter().all(|lost| named.contains(lost))
            && named.iter().all(|named| self.ranges.contains(named) || is_accepted(named, facts))
    }
}

/// Whether a record of the ledger says that just this range was given up. A gap that was never filled, and a floor
/// that retention raised, say nothing of the kind.
pub(crate) fn is_accepted(range: &LostRange, facts: &PartitionFacts) -> bool {
    let Some(ledger) = facts.ledger.known() else { return false };
    let Some(next) = range.last.checked_add(1) else { return false };
    ledger.given_up.contains(&RecordedGap { first: range.first, next })
}
