//! What is true of a partition whose batches came to lie elsewhere: from a peer, or behind what was given up.
//!
//! Promises: what lies there is all there is; names that the schedule has for batches go on leading to them. Leaves
//! out: whether what lies there may.

use recovery_core::units::Offset;

use super::served_log::Lying;
use super::truth::{Life, Truth, Write};

impl Truth {
    /// Goes on with what lies there, each batch called what `source` calls it. All of it is durable.
    pub fn adopt_copy(&mut self, source: &Self, lying: &[Lying<'_>]) {
        let mut copy = Self::default();
        copy.reset(lying.first().map_or(source.floor, |first| first.segment.offset()));
        copy.has_ledger = self.has_ledger;
        copy.may_go_on_at(self.goes_on_at_most().max(source.goes_on_at_most()));
        for batch in lying {
            let is_it = |write: &&Write| write.base == batch.base && source.bytes_of(write) == batch.bytes;
            let found = source.writes().iter().rev().find(is_it);
            let name = found.and_then(|write| write.batch);
            // One that nobody wrote here, or nobody wrote where it comes from, stays one that nobody wrote.
            copy.indistinguishable += u32::from(name.is_none());
            let place = (batch.segment, batch.position);
            copy.append(name, (batch.base, batch.next), place, batch.bytes, Life::Adopted);
        }
        copy.promise(Offset::new(u64::MAX));
        *self = copy;
    }

    /// The first promised batch that lies nowhere, and no offset of which is in `ranges`.
    pub fn missing_outside(&self, ranges: &[(u64, u64)], lying: &[Lying<'_>]) -> Option<Offset> {
        let lives = |write: &&Write| matches!(write.life, Life::Acknowledged | Life::Adopted);
        let mut promised = self.writes().iter().filter(lives).filter(|write| write.is_promised);
        let is_given_up = |write: &Write| {
            ranges.iter().any(|(first, last)| write.base.get() <= *last && *first < write.next.get())
        };
        let is_damaged = |write: &Write| {
            let log = recovery_core::format::FileName::log(write.segment);
            self.damages.explains_loss(&log, write.position + u64::from(write.length))
        };
        let missing = promised.find(|write| {
            let is_there =
                lying.iter().any(|batch| batch.base == write.base && batch.bytes == self.bytes_of(write));
            !is_there && !is_given_up(write) && !is_damaged(write)
        });
        missing.map(|write| write.base)
    }

    /// One behind the last offset that a durable mark ever covered; nothing where the ledger itself was damaged.
    pub fn marked_next(&self) -> Option<Offset> {
        if self.damages.explains_forgotten_offsets() {
            return None;
        }
        self.writes().iter().filter(|write| write.is_marked).map(|write| write.next).max()
    }

    /// Messages that were acknowledged or adopted, and are kept.
    pub fn living_messages(&self) -> u64 {
        let lives = |write: &&Write| matches!(write.life, Life::Acknowledged | Life::Adopted);
        let counts = self.writes().iter().filter(lives);
        counts.map(|write| write.next.get().saturating_sub(write.base.get())).sum()
    }
}
