//! Compares an index with the batches of a walk, entry by entry, as the walk passes them.
//!
//! Promises: every byte of the index is looked at once, in order; an entry is believed only where it names a
//! proven batch with the same offset and timestamp (G05, G07, G08). Leaves out: any ruling; an index is
//! derived data and never a reason to refuse (G01).

use super::meter::Meter;
use super::window::{Fill, Source, Window, in_buffer};
use super::{IndexFacts, IndexState, REBUILT_ENTRIES_MAX};
use crate::format::{BatchHeader, Checksum, Hasher, INDEX_ENTRY_BYTES, IndexEntry};
use crate::storage::{Storage, StorageError};
use crate::units::{Length, Offset, Position, SegmentStart};

/// Least distance of two entries of a rebuilt index, as the real server spaces them.
const REBUILT_SPACING_BYTES: u64 = 64 * 1024;

const ENTRY: u64 = INDEX_ENTRY_BYTES as u64;

/// The comparison of one index with one walk.
#[derive(Debug)]
pub(crate) struct IndexWalk {
    start: SegmentStart,
    /// `None` if there is no file.
    length: Option<u64>,
    /// Bytes looked at and hashed.
    seen: u64,
    hasher: Hasher,
    previous: Option<IndexEntry>,
    is_wrong: bool,
    beyond: Option<IndexEntry>,
    rebuilt: Vec<IndexEntry>,
    spacing: u64,
    /// Over the first `rebuilt_hashed` bytes of what `rebuilt` is written as: no more than the index has.
    rebuilt_hasher: Hasher,
    rebuilt_hashed: u64,
}

impl IndexWalk {
    /// Begins on an index of `length` bytes beside a log of `log_length` bytes.
    pub(crate) fn new(start: SegmentStart, length: Option<u64>, log_length: u64) -> Self {
        let spacing = REBUILT_SPACING_BYTES.max(log_length / REBUILT_ENTRIES_MAX as u64 + 1);
        Self {
            start,
            length,
            seen: 0,
            hasher: Hasher::new(),
            previous: None,
            is_wrong: false,
            beyond: None,
            rebuilt: Vec::new(),
            spacing,
            rebuilt_hasher: Hasher::new(),
            rebuilt_hashed: 0,
        }
    }

    /// Whether bytes of the index are still to be looked at.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.length.is_some_and(|length| self.seen < length)
    }

    /// Compares the entries up to the one that may name the proven batch at `position`.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn pass<S: Storage>(
        &mut self,
        source: Option<&Source<'_, S>>,
        window: &mut Window,
        position: u64,
        header: &BatchHeader,
        meter: &mut Meter,
    ) -> Result<Fill, StorageError> {
        let batch = IndexEntry {
            offset: header.base_offset,
            timestamp: header.base_timestamp,
            position: Position::new(position),
        };
        if let Some(source) = source {
            // Each pass consumes an entry, so the index's length bounds the loop.
            while !self.is_wrong && self.whole_entries_left() > 0 {
                let Some(entry) = self.peek(source, window, meter)? else { return Ok(Fill::Paused) };
                if entry.position.get() > position {
                    break;
                }
                self.is_wrong |= entry != batch || self.breaks_order(&entry);
                self.consume(&entry, meter);
            }
        }
        if meter.left() < ENTRY {
            return Ok(Fill::Paused);
        }
        self.note_for_rebuild(batch, meter);
        Ok(Fill::Ready)
    }

    /// Looks at what is left of the index behind the walk, which stopped at `stop` before `next`.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn drain<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        window: &mut Window,
        stop: u64,
        next: Offset,
        meter: &mut Meter,
    ) -> Result<Fill, StorageError> {
        // Each pass consumes an entry, so the index's length bounds the loop.
        while self.whole_entries_left() > 0 {
            let Some(entry) = self.peek(source, window, meter)? else { return Ok(Fill::Paused) };
            let is_well_formed = entry.position.get() >= stop && !self.breaks_order(&entry);
            // The first ill-formed entry silences all behind it. A well-formed one past the stop names a
            // chunk that was begun after everything before it had been synced (DESIGN section 4).
            if !self.is_wrong && is_well_formed && entry.position.get() > stop && entry.offset > next {
                self.beyond = Some(entry);
            }
            self.is_wrong |= !is_well_formed;
            self.consume(&entry, meter);
        }
        self.drain_tail(source, window, meter)
    }

    fn drain_tail<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        window: &mut Window,
        meter: &mut Meter,
    ) -> Result<Fill, StorageError> {
        let tail = source.length - self.seen;
        if tail > 0 {
            let shown = window.ensure(source, self.seen, in_buffer(tail), u64::MAX, meter)?;
            if shown == Fill::Paused || meter.left() < tail {
                return Ok(Fill::Paused);
            }
            self.hasher.update(&window.from(self.seen)[..in_buffer(tail)]);
            meter.hash(tail);
            self.seen = source.length;
        }
        Ok(Fill::Ready)
    }

    /// Whether an entry says that a batch behind the stop was begun. Counts only where the caller says
    /// that the index was written behind a sync of the log.
    pub(crate) fn has_entry_beyond(&self) -> bool {
        self.beyond.is_some()
    }

    /// Of all that was looked at.
    pub(crate) fn checksum(&self) -> Checksum {
        self.hasher.finish()
    }

    /// The facts, once nothing is left to look at. Where the walk was stopped by a place that cannot be read
    /// (`is_past_known` is false), an entry that names a place behind it may be right.
    pub(crate) fn finish(mut self, batches: u64, proven_end: Position, is_past_known: bool) -> IndexFacts {
        assert!(!self.is_unfinished(), "an index is judged when all of it was seen");
        let entries = self.length.map_or(0, |length| length / ENTRY);
        let names_no_batch = is_past_known && self.previous.is_some_and(|entry| entry.position >= proven_end);
        let state = match self.length {
            None => IndexState::Absent,
            Some(_) if self.is_wrong || names_no_batch => IndexState::Wrong,
            Some(length) if length < ENTRY && batches > 0 => IndexState::Absent,
            Some(length) if length % ENTRY != 0 => IndexState::PartialTail,
            Some(_) => IndexState::Good,
        };
        let checksum = self.length.map(|_| self.hasher.finish());
        if state == IndexState::Good {
            self.rebuilt.clear();
        }
        // A file that is not there has no byte that could be lost.
        let is_prefix_of_rebuilt = self.length.is_none_or(|length| {
            length == self.rebuilt_hashed && checksum == Some(self.rebuilt_hasher.finish())
        });
        IndexFacts {
            state,
            length: self.length.map(Length::new),
            checksum,
            entries,
            beyond: self.beyond,
            rebuilt: self.rebuilt,
            is_prefix_of_rebuilt,
        }
    }

    fn whole_entries_left(&self) -> u64 {
        self.length.map_or(0, |length| (length - self.seen) / ENTRY)
    }

    fn peek<S: Storage>(
        &self,
        source: &Source<'_, S>,
        window: &mut Window,
        meter: &mut Meter,
    ) -> Result<Option<IndexEntry>, StorageError> {
        let keep = meter.left() / 2;
        let ahead = meter.left() - keep;
        let shown = window.ensure(source, self.seen, INDEX_ENTRY_BYTES, ahead, meter)?;
        if shown == Fill::Paused || meter.left() < ENTRY {
            return Ok(None);
        }
        let mut bytes = [0; INDEX_ENTRY_BYTES];
        bytes.copy_from_slice(&window.from(self.seen)[..INDEX_ENTRY_BYTES]);
        Ok(Some(IndexEntry::decode(&bytes)))
    }

    fn consume(&mut self, entry: &IndexEntry, meter: &mut Meter) {
        self.hasher.update(&entry.encode());
        meter.hash(ENTRY);
        self.seen += ENTRY;
        self.previous = Some(*entry);
    }

    /// The first entry names the segment's first byte; every other lies behind the one before it.
    fn breaks_order(&self, entry: &IndexEntry) -> bool {
        match self.previous {
            None => entry.position != Position::ZERO || entry.offset != self.start.offset(),
            Some(previous) => entry.position <= previous.position || entry.offset <= previous.offset,
        }
    }

    /// Notes an entry where one is due. Offsets must ascend, so a batch of no messages may move it on.
    fn note_for_rebuild(&mut self, batch: IndexEntry, meter: &mut Meter) {
        let is_due = match self.rebuilt.last() {
            None => true,
            Some(last) => {
                batch.position.get() - last.position.get() >= self.spacing && batch.offset > last.offset
            }
        };
        if is_due {
            self.rebuilt.push(batch);
            let hashed = self.length.map_or(0, |length| ENTRY.min(length - self.rebuilt_hashed));
            self.rebuilt_hasher.update(&batch.encode()[..in_buffer(hashed)]);
            meter.hash(hashed);
            self.rebuilt_hashed += hashed;
        }
    }
}
