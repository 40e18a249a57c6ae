//! Reads a ledger: which records are valid, and what do they say together?
//!
//! Promises: a record counts only in its own slot of the highest epoch, for this life of this partition;
//! any other slot is skipped and counted, and reading goes on behind it. Memory is bounded by the segments
//! that are named, not by the file. Leaves out: writing ([`crate::ledger`]), and rulings.

use super::meter::Meter;
use super::window::{Fill, Source, Window};
use super::{LedgerFacts, LedgerState, MARKS_CHECKED_MAX, RecordedGap, Seal, SegmentMarks};
use crate::format::{LEDGER_RECORD_BYTES, LedgerKind, LedgerRecord, Mark};
use crate::storage::{Storage, StorageError};
use crate::units::{Incarnation, Length, Namespace, SegmentStart};

const RECORD: u64 = LEDGER_RECORD_BYTES as u64;

/// A reading of one ledger.
#[derive(Debug)]
pub(crate) struct LedgerReader {
    namespace: Namespace,
    incarnation: Option<Incarnation>,
    length: u64,
    seen: u64,
    skipped: u64,
    stranger: Option<LedgerRecord>,
    newest: Option<LedgerRecord>,
    valid: u64,
    segments: Vec<SegmentMarks>,
    losses: Vec<RecordedGap>,
}

impl LedgerReader {
    pub(crate) fn new(namespace: Namespace, incarnation: Option<Incarnation>, length: u64) -> Self {
        Self {
            namespace,
            incarnation,
            length,
            seen: 0,
            skipped: 0,
            stranger: None,
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
    pub(crate) fn step<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        window: &mut Window,
        meter: &mut Meter,
    ) -> Result<Fill, StorageError> {
        // Bytes behind the last whole record are none: they are not read, readable or not.
        let Source { storage, file, name, .. } = *source;
        let whole = Source { storage, file, name, length: self.length - self.length % RECORD };
        // Each pass consumes a record, so the file's length bounds the loop.
        while self.length - self.seen >= RECORD {
            let ahead = meter.left() / 2;
            let shown = window.ensure(&whole, self.seen, LEDGER_RECORD_BYTES, ahead, meter)?;
            if shown == Fill::Paused || meter.left() < RECORD {
                return Ok(Fill::Paused);
            }
            let mut bytes = [0; LEDGER_RECORD_BYTES];
            bytes.copy_from_slice(&window.from(self.seen)[..LEDGER_RECORD_BYTES]);
            meter.hash(RECORD);
            let slot = self.seen / RECORD;
            self.seen += RECORD;
            match LedgerRecord::decode(&bytes) {
                Ok(record) if record.slot == slot => self.take(record),
                Ok(_) | Err(_) => self.skipped += 1,
            }
        }
        Ok(Fill::Ready)
    }

    fn take(&mut self, record: LedgerRecord) {
        let is_ours = record.namespace == self.namespace
            && self.incarnation.is_none_or(|incarnation| record.incarnation == incarnation);
        if !is_ours {
            self.stranger = Some(record);
            self.skipped += 1;
            return;
        }
        if let Some(newest) = self.newest {
            if record.epoch < newest.epoch {
                self.skipped += 1;
                return;
            }
            if record.epoch > newest.epoch || record.incarnation != newest.incarnation {
                self.start_over();
            }
        }
        self.newest = Some(record);
        self.valid += 1;
        self.note(&record);
    }

    /// A record of a higher epoch, or of a later life: all before it is void.
    fn start_over(&mut self) {
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
            LedgerKind::AcceptedLoss { mark, first, last } => {
                let lost_to = SegmentStart::at(last);
                self.segments.retain(|marks| marks.segment < mark.segment || marks.segment > lost_to);
                self.mark(mark, None);
                if let Some(next) = last.checked_add(1) {
                    self.losses.push(RecordedGap { first, next });
                }
            }
        }
    }

    fn mark(&mut self, mark: Mark, seal: Option<Seal>) {
        match self.segments.binary_search_by_key(&mark.segment, |marks| marks.segment) {
            Err(index) => {
                let marks = SegmentMarks { segment: mark.segment, newest: mark, seal, checks: Vec::new() };
                self.segments.insert(index, marks);
            }
            Ok(index) => renew(&mut self.segments[index], mark, seal),
        }
    }

    /// What the ledger says, once it is read.
    pub(crate) fn finish(mut self) -> LedgerState {
        let tail = self.length % RECORD;
        let Some(newest) = self.newest else {
            return match self.stranger {
                Some(record) => {
                    LedgerState::Mismatch { namespace: record.namespace, incarnation: record.incarnation }
                }
                None => LedgerState::None { length: Some(Length::new(self.length)) },
            };
        };
        self.segments.retain(|marks| marks.segment >= newest.floor);
        LedgerState::Known(LedgerFacts {
            newest,
            next_slot: self.length.div_ceil(RECORD),
            valid: self.valid,
            skipped: self.skipped + u64::from(tail > 0),
            gaps: recorded_gaps(&self.segments, self.losses, newest.floor),
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
    marks.seal = seal.or(kept);
}

/// The gaps that a seal or an accepted loss explains, ascending.
fn recorded_gaps(
    segments: &[SegmentMarks],
    losses: Vec<RecordedGap>,
    floor: SegmentStart,
) -> Vec<RecordedGap> {
    let sealed = segments.iter().filter_map(|marks| marks.seal).filter_map(|seal| {
        let gap = RecordedGap { first: seal.mark.next_offset, next: seal.next_start.offset() };
        (gap.next > gap.first).then_some(gap)
    });
    let mut gaps: Vec<RecordedGap> = sealed.chain(losses).filter(|gap| gap.next > floor.offset()).collect();
    gaps.sort_unstable_by_key(|gap| (gap.first, gap.next));
    gaps.dedup();
    gaps
}
