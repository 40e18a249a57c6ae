//! A start once more, with bait behind the newest log: batches inside of batches, the innermost of them damaged.
//!
//! Promises: each of them has a whole skeleton and a body that does not verify, so that looking at all of them to the end
//! costs many times what there is (F44, F46). Leaves out: what follows for the verdict.

use recovery_core::format::FileName;

use super::again::{Again, Found};
use super::boot::{STEP_BYTES, Sight};
use super::look;
use super::plant;
use super::start::bytes_read;
use super::varied::Change;
use crate::disk::{Cause, Damage, View};
use crate::oracle::Check;
use crate::oracle::invariants::{check_baited, check_probing, check_work};
use crate::oracle::sample::Question;
use crate::schedule::{BatchId, Plant};

/// One start in so many is asked where a ledger tells what is promised.
const SHARE_OF_KNOWN: u64 = 128;
/// One start in so many is asked where nothing does.
const SHARE_OF_UNKNOWN: u64 = 32;

/// How many batches lie inside of the outermost one: looking at each to its end costs forty times what there is.
const DEPTH: u8 = 80;
/// Bytes of the innermost payload.
const PAYLOAD_BYTES: u32 = 60;

impl Again<'_> {
    /// I03, I17, twin: a budget that runs out is no proof, and what lies above a mark is a tail.
    pub(super) fn bait(&mut self) -> Vec<Found> {
        let is_known = self.boot.facts.ledger.known().is_some();
        let share = if is_known { SHARE_OF_KNOWN } else { SHARE_OF_UNKNOWN };
        let drawn = self.sample.choices(Question::Bait, self.nth, share);
        if !drawn.into_iter().any(|choice| choice == 0) || !self.boot.verdict.is_served() {
            return Vec::new();
        }
        self.node.disk.restore(&self.moments.before);
        if self.lay_bait().is_none() {
            return Vec::new();
        }
        let before = look::image(&self.node.disk, &self.node.slots[self.index].components);
        let again = self.start(Sight::NOTHING);
        let read = bytes_read(&self.moments.calls);
        let limits = (STEP_BYTES, self.circumstances.window_bytes);
        let work = check_work(&before, &again.facts, read, limits);
        let probed = check_probing(&self.boot.facts, &again.facts);
        // A record that is gone is no mark, but what it left behind is not a crash's either.
        let is_asked = self.node.slots[self.index].truth.damages.are_bytes_of_logs();
        let baited = check_baited(&self.boot.verdict, &again.verdict, &again.facts);
        let baited = baited.filter(|violation| is_asked || violation.check == Check::I03);
        self.found(&Change::Baited, &again, work.into_iter().chain(probed).chain(baited).collect())
    }

    /// Lays it behind the end of the newest log. `None`: there is none, no offset is left for it, or the filesystem
    /// checksums data and does not show it.
    fn lay_bait(&self) -> Option<()> {
        let slot = &self.node.slots[self.index];
        let disk = &self.node.disk;
        let newest = self.boot.facts.segments.last()?;
        let log = look::file(disk, &slot.components, &FileName::log(newest.start))?;
        let base = newest.proven.next_offset;
        base.checked_add(1)?;
        let bait = Plant {
            nested: DEPTH,
            messages: 1,
            payload_bytes: PAYLOAD_BYTES,
            ..Plant::new(slot.header.namespace, BatchId(0))
        };
        let mut bytes = plant::batch(&bait, base, 0);
        let innermost = bytes.last_mut().expect("a batch has bytes");
        *innermost ^= 1;
        let position = disk.length_of(log, View::Visible);
        let damage = Damage::Overwrite { position, bytes: &bytes };
        disk.damage(log, damage, Cause::Plant, false)?;
        disk.unreadable_bytes(log).is_empty().then_some(())
    }
}
