//! What is true of a partition from the moment on that a host serves it.
//!
//! Promises: the truth is told of what lies in the chain that is served, found without the core's walker. Leaves
//! out: partitions that are not served, of which nothing new is true.

use recovery_core::format::FileName;
use recovery_core::storage::Call;
use recovery_core::units::{Offset, SegmentStart};

use super::run::HostWorld;
use super::sight::Sight;
use crate::disk::Event;
use crate::oracle::invariants::{Offered, check_installed, check_kept, check_lying};
use crate::oracle::reference::is_whole_batch;
use crate::oracle::served_log::{Lying, for_each_in};
use crate::oracle::truth::{Life, Stranger, Truth, Write};
use crate::oracle::{Check, PartitionImage, Value, Violation};
use crate::run::tally::Tally;
use crate::world::look;
use crate::world::start::end_damage;

impl HostWorld<'_> {
    /// A partition is served, from its next offset on.
    pub(super) fn adopt(&mut self, m: usize, index: usize, sight: &Sight, tally: &mut Tally) {
        let member = &self.members[m];
        let slot = &member.node.slots[index];
        let namespace = slot.header.namespace;
        let Some(writer) = member.host.as_ref().and_then(|host| host.writer(namespace)) else { return };
        let segments: Vec<SegmentStart> =
            writer.chain().segments().iter().map(|segment| segment.start).collect();
        let next_offset = writer.next_offset();
        let after = look::image(&member.node.disk, &slot.components);
        let mut lying = Vec::new();
        let is_whole = for_each_in(&after.directory, &segments, |batch| lying.push(batch)).is_ok();
        let directory = look::directory(&member.node.disk, &slot.components);
        let installing = member.extras[index].installing.as_ref();
        let is_installed = installing.is_some_and(|installing| installing.replaces != directory);
        let is_calm = self.is_calm(m);
        if !is_installed {
            self.members[m].forget_what_was_made_anew(index, directory);
        }
        let slot = &self.members[m].node.slots[index];
        let marked = slot.truth.marked_next();
        if is_installed {
            self.adopt_copy(m, index, &lying);
        } else if self.members[m].extras[index].accepting.is_some() {
            self.adopt_rest(m, index, &lying);
        } else {
            self.check_newest(m, index, directory);
            self.adopt_own(m, index, sight, (&lying, is_whole), &after, tally);
        }
        let extra = &mut self.members[m].extras[index];
        (extra.installing, extra.accepting, extra.is_copy_damaged) = (None, None, false);
        extra.served_from = directory;
        let Self { members, .. } = self;
        let node = &mut members[m].node;
        let slot = &mut node.slots[index];
        slot.failed_sync = None;
        if is_calm {
            end_damage(&node.disk, slot, &after, &segments);
        }
        self.check_next_offset(m, index, next_offset, marked);
        self.members[m].node.slots[index].truth.may_go_on_at(next_offset);
    }

    /// A start came to no end in which a sync had failed, and what the cache held of the ledger may have gone with that.
    /// Of a batch that nobody wrote here nothing told any more that it is none of ours, and what the start put on record
    /// may cover it.
    pub(super) fn note_strangers_of_a_failed_sync(&mut self, m: usize, index: usize) {
        let has_failed = |call: &Event| call.call == Call::Sync && call.errno.is_some();
        if self.calls.iter().any(has_failed) {
            self.note_strangers(m, index);
        }
    }

    /// A start that nobody looked at alone may have put on record what lies here, whoever wrote it, where it goes on.
    pub(super) fn note_strangers(&mut self, m: usize, index: usize) {
        let node = &mut self.members[m].node;
        let slot = &mut node.slots[index];
        let image = look::image(&node.disk, &slot.components);
        let names = image.directory.entries.iter().map(|entry| FileName::classify(&entry.name));
        let mut segments: Vec<SegmentStart> = names
            .filter_map(|name| if let FileName::Log(start) = name { Some(start) } else { None })
            .collect();
        segments.sort_unstable();
        let mut strangers = Vec::new();
        let mut next = None;
        let _is_whole = for_each_in(&image.directory, &segments, |batch| {
            let due = if batch.position == 0 { Some(batch.segment.offset()) } else { next };
            let offsets = (batch.base, batch.next);
            let is_ours = is_whole_batch(batch.bytes, slot.header.namespace.partition_id(), offsets);
            let known = slot.truth.living_at(batch.base, batch.bytes);
            let is_known =
                known.is_some_and(|at| slot.truth.bytes_of(&slot.truth.writes()[at]) == batch.bytes);
            if is_ours && !is_known && due == Some(batch.base) {
                strangers.push(Stranger::of(&batch));
            }
            next = Some(batch.next);
        });
        slot.truth.strangers.extend(strangers);
    }

    /// What was here before is served again, or some of it.
    fn adopt_own(
        &mut self,
        m: usize,
        index: usize,
        sight: &Sight,
        (lying, is_whole): (&[Lying<'_>], bool),
        after: &PartitionImage,
        tally: &mut Tally,
    ) {
        let has_liars = self.has_liars(m);
        let sees_truth = !self.lies_of(m).reads;
        let before = sight.before(index);
        if let Some(first) = lying.first() {
            self.members[m].node.slots[index].truth.learn_floor(first.segment.offset());
        }
        let (slot, extra) = (&self.members[m].node.slots[index], &self.members[m].extras[index]);
        let mut violations = Vec::new();
        // Where the metadata log has forgotten a deletion, nobody knows what was there.
        let has_come_back = extra.is_deleted && self.members[m].was_lied_to;
        if !has_liars && !has_come_back {
            violations.extend(check_kept(&slot.truth, before, after));
            violations.extend(check_lying(&slot.truth, lying, is_whole, extra.was_damaged));
        }
        let namespace = slot.header.namespace;
        for violation in violations {
            self.fail(Some(namespace), violation, "boot", None);
        }
        let slot = &mut self.members[m].node.slots[index];
        let strangers = slot.truth.reconcile(lying, before.map(|before| &before.directory), sees_truth);
        tally.indistinguishable += u64::from(strangers);
    }

    /// A copy from a peer has taken the place of what was here (I19).
    fn adopt_copy(&mut self, m: usize, index: usize, lying: &[Lying<'_>]) {
        let mut installing =
            self.members[m].extras[index].installing.take().expect("a copy came from somewhere");
        let slot = &self.members[m].node.slots[index];
        take_planted(&mut installing.truth, &slot.truth, lying);
        let namespace = slot.header.namespace;
        let excused = installing.was_lied_to || self.members[m].was_lied_to;
        let key = self.members[m].key(index);
        let agreed: Vec<_> = self.cluster.batches(key, self.cluster.len()).map(|batch| batch.id).collect();
        let overlaps =
            |write: &Write| lying.iter().any(|batch| batch.base < write.next && write.base < batch.next);
        let offered = Offered { truth: &installing.truth, damages: &installing.damages };
        let is_owed = |write: &Write| {
            write.batch.is_some_and(|batch| agreed.contains(&batch))
                && !(installing.was_damaged && overlaps(write))
        };
        let violation = if excused { None } else { check_installed(&slot.truth, &offered, lying, is_owed) };
        if let Some(violation) = violation {
            self.fail(Some(namespace), violation, "transfer-install", None);
        }
        let slot = &mut self.members[m].node.slots[index];
        let (promised, damages) = (slot.truth.promised_next, slot.truth.damages.clone());
        slot.truth.adopt_copy(&installing.truth, lying);
        if excused {
            // What lied while it came may have left less of it than anybody said.
            slot.truth.damages = damages;
        }
        slot.truth.promised_next = slot.truth.promised_next.max(promised);
        self.members[m].extras[index].was_damaged |= installing.was_damaged;
    }

    /// What is left of a partition of which an operator has given something up.
    fn adopt_rest(&mut self, m: usize, index: usize, lying: &[Lying<'_>]) {
        let accepting = self.members[m].extras[index].accepting.take().expect("something is given up");
        let slot = &self.members[m].node.slots[index];
        let namespace = slot.header.namespace;
        let mut lost = None;
        if !self.members[m].was_lied_to {
            lost = slot.truth.missing_outside(&accepting.ranges, lying);
        }
        if let Some(base) = lost {
            let (kept, gone) = (Value::Number(base.get()), Value::None);
            let violation = Violation::new(Check::I05, "a batch that nobody gave up", kept, gone);
            self.fail(Some(namespace), violation, "accept-loss", None);
        }
        let slot = &mut self.members[m].node.slots[index];
        let old: Truth = slot.truth.clone();
        slot.truth.adopt_copy(&old, lying);
        slot.truth.promised_next = slot.truth.promised_next.max(old.promised_next);
        // What has damaged it may still be at work.
        slot.truth.damages = old.damages;
    }

    /// I08: no offset is given again that was promised, whatever happened to its batch.
    /// What a mark covered is remembered through damage to logs, through what an operator gives up, and by copies.
    fn check_next_offset(&mut self, m: usize, index: usize, next: Offset, marked: Option<Offset>) {
        let slot = &self.members[m].node.slots[index];
        let promised = Some(slot.truth.promised_next).filter(|_| !self.members[m].extras[index].was_damaged);
        let Some(owed) = promised.max(marked).filter(|owed| *owed > next) else { return };
        let violation = Violation::new(Check::I08, "the next offset", owed.into(), next.into());
        let namespace = slot.header.namespace;
        self.fail(Some(namespace), violation, "boot", None);
    }
}

/// What somebody has planted into a copy since it was complete lies there like what was offered, and nothing tells
/// the two apart.
fn take_planted(source: &mut Truth, own: &Truth, lying: &[Lying<'_>]) {
    for write in own.writes().iter().filter(|write| write.life == Life::Planted) {
        let bytes = own.bytes_of(write);
        let lies_in = |batch: &Lying<'_>| batch.base == write.base && batch.bytes == bytes;
        let is_offered =
            source.writes().iter().any(|other| other.base == write.base && source.bytes_of(other) == bytes);
        if lying.iter().any(lies_in) && !is_offered {
            let place = (write.segment, write.position);
            source.append(write.batch, (write.base, write.next), place, bytes, Life::Planted);
        }
    }
}
