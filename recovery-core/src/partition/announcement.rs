//! What the ledger is told before the first record of an open: all that recovery adopted, then `Opened`.
//!
//! Promises: every adopted segment has its seal, the last its mark, and all of it is durable before
//! anything is written behind them; what a failure cut short goes on where it stopped. Leaves out: whether
//! the bytes are durable; recovery has settled them (DESIGN section 7).

use super::{AdoptedSegment, Writer, WriterError};
use crate::format::{LedgerKind, Mark};
use crate::ledger::{LedgerWriter, NewLedger};
use crate::storage::Storage;
use crate::units::SegmentStart;

/// How far the telling has come.
#[derive(Debug)]
pub(super) struct Announcement {
    adopted: Vec<AdoptedSegment>,
    told: usize,
    is_done: bool,
}

impl Announcement {
    /// Of what recovery adopted.
    pub(super) const fn of(adopted: Vec<AdoptedSegment>) -> Self {
        Self { adopted, told: 0, is_done: false }
    }

    /// Nothing: there is no ledger to tell.
    pub(super) const fn none() -> Self {
        Self { adopted: Vec::new(), told: 0, is_done: true }
    }

    /// Nothing but `Opened`: the writer goes on after a clean stop.
    pub(super) const fn again() -> Self {
        Self::of(Vec::new())
    }

    /// The record that the ledger lacks about the segment at `index`, if it lacks one.
    fn record<S: Storage>(&self, index: usize, ledger: &LedgerWriter<S>) -> Option<LedgerKind> {
        let segment = &self.adopted[index];
        let mark = Mark {
            segment: segment.start,
            position: segment.end,
            next_offset: segment.next_offset,
            chain_hash: segment.chain_hash.expect("checked when the writer was opened"),
        };
        let seal = ledger.seal(segment.start).filter(|seal| seal.mark == mark);
        match self.adopted.get(index + 1) {
            Some(next) if seal.is_some_and(|seal| seal.next_start == next.start) => None,
            Some(next) => Some(LedgerKind::Sealed { mark, next_start: next.start }),
            // A roll was cut short behind the seal. It goes on.
            None if seal.is_some() => None,
            None => Some(LedgerKind::Frontier { mark }),
        }
    }
}

impl<S: Storage> Writer<S> {
    /// Tells the ledger, once an open, creating it first if the partition is to have one.
    pub(super) fn announce(&mut self, storage: &S) -> Result<(), WriterError> {
        if self.announcement.is_done {
            return Ok(());
        }
        if self.ledger.is_none() {
            self.create_ledger(storage)?;
        }
        self.raise_floor_to_first(storage)?;
        let ledger = self.ledger.as_mut().expect("a partition that announces has a ledger");
        while self.announcement.told < self.announcement.adopted.len() {
            if let Some(record) = self.announcement.record(self.announcement.told, ledger) {
                self.poison.after_ledger(ledger.append(storage, record))?;
            }
            self.announcement.told += 1;
        }
        let record_ceiling = self.options.batch_bytes_max;
        self.poison.after_ledger(ledger.append(storage, LedgerKind::Opened { record_ceiling }))?;
        self.poison.after_ledger(ledger.sync(storage))?;
        self.announcement.is_done = true;
        Ok(())
    }

    fn create_ledger(&mut self, storage: &S) -> Result<(), WriterError> {
        let incarnation = self.options.new_ledger.expect("a partition that announces is to have a ledger");
        let new = NewLedger {
            namespace: self.namespace,
            incarnation,
            durability: self.options.durability,
            epoch: 1,
            generation: 0,
            floor: self.first_segment(),
            // Exactly the next offset: whatever the superblock reserved is kept without it.
            reserved_offset: self.next_offset,
        };
        let created = LedgerWriter::create(storage, &self.directory.directory, &new);
        self.ledger = Some(self.poison.after_ledger(created)?);
        Ok(())
    }

    /// A chain that starts above its floor would look as if its front were missing. That happens only to
    /// a partition without a segment, whose next offset was reserved.
    fn raise_floor_to_first(&mut self, storage: &S) -> Result<(), WriterError> {
        let first = self.first_segment();
        let ledger = self.ledger.as_mut().expect("a partition that announces has a ledger");
        if self.chain.segments().is_empty() && ledger.newest().floor < first {
            self.poison.after_ledger(ledger.raise_floor(storage, first))?;
        }
        Ok(())
    }

    /// Where the chain starts, or will start with the first append.
    fn first_segment(&self) -> SegmentStart {
        match self.chain.segments().first() {
            Some(first) => first.start,
            None => SegmentStart::at(self.next_offset),
        }
    }
}
