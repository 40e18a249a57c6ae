//! One reading of a ledger: which records are valid, and what do they say together?
//!
//! Promises: a record counts only in its own slot of the highest epoch, for this life of this partition;
//! any other slot is skipped and counted, and reading goes on behind it. Where the caller knows no life, the
//! records name it; if they name two, nobody can say whose marks count, and the ledger is none of this life's.
//! Memory is bounded by the segments that are there, not by the file or by what it names. Leaves out:
//! writing ([`crate::ledger`]), rulings, and whether one reading is enough ([`super::ledger_reader`]).

use super::meter::Meter;
use super::window::{Fill, Source, Window, in_buffer};
use super::{
    ABSENT_SEGMENTS_MAX, LOSSES_MAX, LedgerFacts, LedgerState, MARKS_CHECKED_MAX, RecordedGap, Seal,
    SegmentMarks,
};
use crate::format::{LEDGER_RECORD_BYTES, LedgerKind, LedgerRecord, Mark};
use crate::storage::{Storage, StorageError};
use crate::units::{Incarnation, Length, Namespace, SegmentStart};

const RECORD: u64 = LEDGER_RECORD_BYTES as u64;

/// A reading of one ledger.
#[derive(Clone, Debug)]
pub(super) struct LedgerReading {
    namespace: Namespace,
    /// The segments that have a log, ascending.
    present: Vec<SegmentStart>,
    /// Whose records count. Until the caller's word or a record names one, nobody's.
    life: Option<Incarnation>,
    /// Whether that stands, whatever other records say.
    is_life_known: bool,
    length: u64,
    seen: u64,
    skipped: u64,
    /// The last record of another partition or life.
    stranger: Option<LedgerRecord>,
    /// The last record of this partition in another life than the first one's, where the caller knows none.
    rival: Option<LedgerRecord>,
    newest: Option<LedgerRecord>,
    valid: u64,
    segments: Vec<SegmentMarks>,
    /// Ascending by their end.
    losses: Vec<RecordedGap>,
}

impl LedgerReading {
    /// A reading of the `length` bytes of a ledger, beside logs of the segments in `present`.
    pub(super) fn new(
        namespace: Namespace,
        incarnation: Option<Incarnation>,
        present: &[SegmentStart],
        length: u64,
    ) -> Self {
        assert!(present.is_sorted(), "segments are listed ascending");
        Self {
            namespace,
            present: present.to_vec(),
            life: incarnation,
            is_life_known: incarnation.is_some(),
            length,
            seen: 0,
            skipped: 0,
            stranger: None,
            rival: None,
            newest: None,
            valid: 0,
            segments: Vec::new(),
            losses: Vec::new(),
        }
    }

    /// Goes on until the file is read or the step is over.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(super) fn step<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        window: &mut Window,
        meter: &mut Meter,
    ) -> Result<Fill, StorageError> {
        // Each pass consumes a record: the file's length bounds the loop.
        while self.seen < self.length {
            // Where the file ends inside a record, zeros are what follows once another one is written behind it. So
            // what it says then, it says now.
            let count = RECORD.min(self.length - self.seen);
            let ahead = meter.left() / 2;
            let shown = window.ensure(source, self.seen, in_buffer(count), ahead, meter)?;
            if shown == Fill::Paused || meter.left() < RECORD {
                return Ok(Fill::Paused);
            }
            let mut bytes = [0; LEDGER_RECORD_BYTES];
            bytes[..in_buffer(count)].copy_from_slice(&window.from(self.seen)[..in_buffer(count)]);
            meter.hash(RECORD);
            let slot = self.seen / RECORD;
            self.seen += count;
            match LedgerRecord::decode(&bytes) {
                Ok(record) if record.slot == slot => self.take(record),
                Ok(_) | Err(_) => self.skipped += 1,
            }
        }
        Ok(Fill::Ready)
    }

    fn take(&mut self, record: LedgerRecord) {
        let is_ours = record.namespace == self.namespace;
        if !is_ours || *self.life.get_or_insert(record.incarnation) != record.incarnation {
            self.stranger = Some(record);
            self.skipped += 1;
            if is_ours && !self.is_life_known {
                self.rival = Some(record);
            }
            return;
        }
        if let Some(newest) = self.newest {
            if record.epoch < newest.epoch {
                self.skipped += 1;
                return;
            }
            if record.epoch > newest.epoch {
                self.void();
            }
        }
        self.newest = Some(record);
        self.valid += 1;
        self.note(&record);
    }

    /// A record of a higher epoch: all before it is void.
    fn void(&mut self) {
        self.skipped += self.valid;
        self.valid = 0;
        self.segments.clear();
        self.losses.clear();
    }

    fn note(&mut self, record: &LedgerRecord) {
        match record.kind {
            LedgerKind::Opened { .. } | LedgerKind::Floor | LedgerKind::Reserved => {}
            LedgerKind::Frontier { mark }
            | LedgerKind::Recovered { mark }
            | LedgerKind::CleanStop { mark } => {
                self.mark(mark, None);
            }
            LedgerKind::Sealed { mark, next_start } => self.mark(mark, Some(Seal { mark, next_start })),
            LedgerKind::AcceptedLoss { mark, first, next } => {
                self.segments.retain(|marks| !mark.is_voiding(marks.segment, next));
                self.mark(mark, None);
                if let Ok(index) = self.segments.binary_search_by_key(&mark.segment, |marks| marks.segment) {
                    self.segments[index].accepts_loss = true;
                }
                if first < next {
                    self.lose(RecordedGap { first, next });
                }
            }
        }
    }

    fn mark(&mut self, mark: Mark, seal: Option<Seal>) {
        match self.segments.binary_search_by_key(&mark.segment, |marks| marks.segment) {
            Err(index) => {
                let (segment, accepts_loss) = (mark.segment, false);
                let marks = SegmentMarks { segment, newest: mark, seal, accepts_loss, checks: Vec::new() };
                self.segments.insert(index, marks);
                if self.segments.len() > self.present.len() + 2 * ABSENT_SEGMENTS_MAX {
                    self.forget_absent();
                }
            }
            Ok(index) => renew(&mut self.segments[index], mark, seal),
        }
    }

    /// Keeps no more than [`ABSENT_SEGMENTS_MAX`] of the segments that have no log: the newest.
    fn forget_absent(&mut self) {
        let present = &self.present;
        let is_absent = |segment| present.binary_search(&segment).is_err();
        let absent = self.segments.iter().filter(|marks| is_absent(marks.segment)).count();
        let Some(mut surplus) = absent.checked_sub(ABSENT_SEGMENTS_MAX) else { return };
        self.segments.retain(|marks| {
            let is_forgotten = surplus > 0 && is_absent(marks.segment);
            surplus -= usize::from(is_forgotten);
            !is_forgotten
        });
    }

    /// Notes a range that was given up; of more than [`LOSSES_MAX`], the newest are kept.
    fn lose(&mut self, gap: RecordedGap) {
        match self.losses.binary_search_by_key(&(gap.next, gap.first), |loss| (loss.next, loss.first)) {
            Ok(_) => {}
            Err(index) => self.losses.insert(index, gap),
        }
        if self.losses.len() > LOSSES_MAX {
            self.losses.remove(0);
        }
    }

    /// Whether a slot of the file holds no record that counts: it may be that the reading is what is wrong.
    pub(super) const fn is_doubtful(&self) -> bool {
        self.skipped > 0
    }

    /// What the ledger says, once it is read.
    pub(super) fn finish(mut self) -> LedgerState {
        let Some(newest) = self.newest.filter(|_| self.rival.is_none()) else {
            return match self.rival.or(self.stranger) {
                Some(LedgerRecord { namespace, incarnation, .. }) => {
                    let beside = self.rival.and(self.life);
                    LedgerState::Mismatch { namespace, incarnation, beside }
                }
                None => LedgerState::None { length: Some(Length::new(self.length)) },
            };
        };
        self.segments.retain(|marks| marks.segment >= newest.floor);
        self.forget_absent();
        LedgerState::Known(LedgerFacts {
            newest,
            next_slot: self.length.div_ceil(RECORD),
            valid: self.valid,
            skipped: self.skipped,
            gaps: recorded_gaps(&self.segments, &self.losses, newest.floor),
            given_up: self.losses,
            segments: self.segments,
        })
    }
}

/// Lets a newer mark of the same segment decide. Older ones below it stay to be checked; older ones at or
/// above it are void, and so is a seal at another end.
fn renew(marks: &mut SegmentMarks, mark: Mark, seal: Option<Seal>) {
    if marks.newest.position < mark.position {
        marks.checks.push(marks.newest);
    }
    marks.checks.retain(|older| older.position < mark.position);
    if marks.checks.len() > MARKS_CHECKED_MAX {
        marks.checks.remove(0);
    }
    let kept = marks.seal.filter(|older| older.mark == mark);
    marks.newest = mark;
    marks.accepts_loss = false;
    marks.seal = seal.or(kept);
}

/// The gaps that a seal or an accepted loss explains, ascending.
fn recorded_gaps(segments: &[SegmentMarks], losses: &[RecordedGap], floor: SegmentStart) -> Vec<RecordedGap> {
    let sealed = segments.iter().filter_map(|marks| marks.seal).filter_map(|seal| {
        let gap = RecordedGap { first: seal.mark.next_offset, next: seal.next_start.offset() };
        (gap.next > gap.first).then_some(gap)
    });
    let mut gaps: Vec<RecordedGap> =
        sealed.chain(losses.iter().copied()).filter(|gap| gap.next > floor.offset()).collect();
    gaps.sort_unstable_by_key(|gap| (gap.first, gap.next));
    gaps.dedup();
    gaps
}
