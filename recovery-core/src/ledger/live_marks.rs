//! What a compacted ledger still has to say: per live segment its newest mark and its seal, and the losses.
//!
//! Promises: kept up to date by each record, so that compaction reads nothing. Leaves out: marks that the
//! newest of their segment supersedes, and everything below the floor.

use crate::format::{LedgerKind, Mark};
use crate::observe::{LedgerFacts, Seal, SegmentMarks};
use crate::units::{Offset, SegmentStart};

/// One segment at or above the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LiveSegment {
    newest: Mark,
    seal: Option<Seal>,
}

/// Offsets that the operator gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    /// Where the proven prefix ends; `None` if no known mark lies there.
    mark: Option<Mark>,
    /// First offset given up.
    pub(super) first: Offset,
    /// One behind the last one.
    pub(super) next: Offset,
}

/// The records of a ledger that still count.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveMarks {
    /// Ascending by segment.
    segments: Vec<LiveSegment>,
    /// In the order they were accepted.
    losses: Vec<Loss>,
}

impl LiveMarks {
    /// What the records that were read still say.
    pub(super) fn of(facts: &LedgerFacts) -> Self {
        let segments = facts
            .segments
            .iter()
            .map(|SegmentMarks { newest, seal, .. }| LiveSegment { newest: *newest, seal: *seal })
            .collect();
        let mut live = Self { segments, losses: Vec::new() };
        // Facts list every recorded gap. Those that only a seal records come back with the seal.
        for gap in facts.gaps.iter().filter(|gap| facts.given_up.contains(gap)) {
            live.losses.push(Loss { mark: live.mark_before(gap.first), first: gap.first, next: gap.next });
        }
        live
    }

    fn mark_before(&self, first: Offset) -> Option<Mark> {
        self.segments.iter().map(|segment| segment.newest).find(|mark| mark.next_offset == first)
    }

    /// Whether no segment has a mark.
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The newest mark of `segment`, if the ledger has one.
    pub(super) fn newest(&self, segment: SegmentStart) -> Option<Mark> {
        self.place(segment).map_or_else(|_| None, |index| Some(self.segments[index].newest))
    }

    /// The seal of `segment`, if it has one that is not void.
    pub(super) fn seal(&self, segment: SegmentStart) -> Option<Seal> {
        self.place(segment).map_or_else(|_| None, |index| self.segments[index].seal)
    }

    /// Where `segment` is, or where it would be.
    fn place(&self, segment: SegmentStart) -> Result<usize, usize> {
        self.segments.binary_search_by_key(&segment, |live| live.newest.segment)
    }

    /// Takes in one more record.
    pub(super) fn note(&mut self, kind: &LedgerKind) {
        match *kind {
            LedgerKind::Opened { .. } | LedgerKind::Floor | LedgerKind::Reserved => {}
            LedgerKind::Frontier { mark }
            | LedgerKind::Recovered { mark }
            | LedgerKind::CleanStop { mark } => self.raise(mark),
            LedgerKind::Sealed { mark, next_start } => {
                self.raise(mark);
                let index = self.place(mark.segment).expect("the segment has just been given a mark");
                self.segments[index].seal = Some(Seal { mark, next_start });
            }
            LedgerKind::AcceptedLoss { mark, first, next } => self.accept_loss(mark, first, next),
        }
    }

    fn raise(&mut self, mark: Mark) {
        match self.place(mark.segment) {
            Ok(index) => {
                let live = &mut self.segments[index];
                assert!(mark.position >= live.newest.position, "only an accepted loss lowers a mark");
                // A seal at another end is void, as it is for whoever reads the ledger.
                live.seal = live.seal.filter(|seal| seal.mark == mark);
                live.newest = mark;
            }
            Err(index) => self.segments.insert(index, LiveSegment { newest: mark, seal: None }),
        }
    }

    /// Older marks in the segments that the loss touches are void (DESIGN section 4).
    fn accept_loss(&mut self, mark: Mark, first: Offset, next: Offset) {
        self.segments.retain(|live| !mark.is_voiding(live.newest.segment, next));
        self.raise(mark);
        // Said again by a repeat, it takes the place of the older one.
        self.losses.retain(|loss| loss.first != first || loss.next != next);
        if first < next {
            self.losses.push(Loss { mark: Some(mark), first, next });
        }
    }

    /// Forgets what lies below `floor`.
    pub(super) fn drop_below(&mut self, floor: SegmentStart) {
        self.segments.retain(|live| live.newest.segment >= floor);
        self.losses.retain(|loss| loss.next > floor.offset());
    }

    /// The first loss that a new file could not place, since no known mark ends where it begins.
    pub(super) fn unplaced_loss(&self) -> Option<Loss> {
        self.losses.iter().find(|loss| loss.mark.is_none()).copied()
    }

    /// How many records [`LiveMarks::visit`] gives.
    pub(super) fn count(&self) -> u64 {
        let mut count = 0;
        self.visit(&mut |_| count += 1);
        count
    }

    /// Gives every record that a new file needs, in the order in which it needs them: the losses void
    /// older marks, so the marks come behind them.
    pub(super) fn visit(&self, give: &mut impl FnMut(LedgerKind)) {
        for Loss { mark, first, next } in &self.losses {
            let mark = mark.expect("a loss without a place stops compaction before this");
            give(LedgerKind::AcceptedLoss { mark, first: *first, next: *next });
        }
        for LiveSegment { newest, seal } in &self.segments {
            give(match *seal {
                Some(Seal { mark, next_start }) => LedgerKind::Sealed { mark, next_start },
                None => LedgerKind::Frontier { mark: *newest },
            });
        }
    }
}
