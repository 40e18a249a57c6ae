//! What the chances of the other files hardly ever bring about, and what happens to partitions all the same.
//!
//! Each of these takes one value in one field, one name, or several steps in a row that count only together: a
//! checksum of zero, a record of another life, an index that ends inside of an entry, a batch inside of a message, a count
//! that no batch has, something behind the end of a log that is closed, the last number there is.
//! Promises: drawn from words of its own; a world that none of it befalls is as it would be without this file.

use std::borrow::Cow;

use recovery_core::format::IdentityTag;
use recovery_core::units::Incarnation;

use super::draft::Draft;
use super::workload::narrow;
use crate::schedule::fault::{Edit, Fault, FaultKind, StrayEntry};
use crate::schedule::field::{BatchField, FrameField, HeaderField, LedgerField, SuperblockField};
use crate::schedule::step::{Action, BatchId, Place, Plant};
use crate::schedule::tape::Stream;
use crate::schedule::target::{FileRole, Slot, Target};

const STREAM: Stream = Stream::Rare;

/// How many of 1000 downs of a world with a superblock hit it.
const SUPERBLOCK_SHARE: u32 = 300;
/// How many of 1000 downs are followed by one of the others.
const SHARE: u32 = 250;
/// Most offsets that another server has reserved ahead.
const AHEAD_MOST: u64 = 200;
/// A partition whose next offset is no further from the last one there is has batches that run past it.
pub(super) const NEAR_THE_END: u64 = 64;
/// A life that no partition of a world has.
const OTHER_LIFE: Incarnation = Incarnation::new(9);
/// The name that a log has while it is copied by hand.
const TEMPORARY: &str = "00000000000000000000.log.tmp";
/// The name of the file that says of a copy that it is complete.
const COMPLETE: &str = "COMPLETE";

const ENTRY_BYTES: u64 = 24;
/// Bytes of the payload that holds a batch: a batch of one small message fits into all of them.
const BAITED_BYTES: (u64, u64) = (400, 1200);
const BAIT_BYTES: u64 = 60;
/// Most bytes that something leaves behind the end of a log.
const BEHIND_MOST: u64 = 700;
/// Counts that are large in 32 bits, or whose product with the length of a frame is.
const COUNTS: [u64; 4] = [u32::MAX as u64, 1 << 31, (1 << 32) / 48 + 1, 1 << 28];

#[derive(Clone, Copy)]
enum Rare {
    ChecksumOfZero,
    OtherLife,
    EmptyBatch,
    TemporaryCopy,
    Emptied,
    TornIndex,
    PastTheLastOffset,
    Overstated,
    Baited,
    Lengthened,
    Complete,
}

impl Draft<'_> {
    /// Perhaps something rare befalls a node that is down.
    pub(super) fn befall(&mut self) {
        let superblock = self.books.iter().position(|book| book.header.superblock_frontier.is_some());
        if let Some(at) = superblock.filter(|_| self.tape.chance(STREAM, SUPERBLOCK_SHARE)) {
            self.hit_superblock(at);
        }
        if self.tape.chance(STREAM, SHARE) {
            let at = self.pick_partition(STREAM);
            self.rare(at);
        }
    }

    fn rare(&mut self, at: usize) {
        let book = &self.books[at];
        let ledger = u32::from(book.header.ledger);
        let is_near_the_end = u64::MAX - book.next_offset < NEAR_THE_END;
        let choices = [
            (3, Rare::ChecksumOfZero),
            (4 * ledger, Rare::OtherLife),
            (3, Rare::EmptyBatch),
            (2, Rare::TemporaryCopy),
            (3 * (1 - ledger), Rare::Emptied),
            (3, Rare::TornIndex),
            (30 * u32::from(is_near_the_end), Rare::PastTheLastOffset),
            (5, Rare::Overstated),
            (4, Rare::Baited),
            (8 * u32::from(book.segments.len() > 1), Rare::Lengthened),
            (2 * u32::from(self.has_hosts), Rare::Complete),
        ];
        match self.tape.weighted(STREAM, &choices) {
            Rare::ChecksumOfZero => self.zero_checksum(at),
            Rare::OtherLife => self.change_life(at),
            Rare::EmptyBatch => self.plant_messages(at, 0),
            Rare::TemporaryCopy => self.leave_temporary_copy(at),
            Rare::Emptied => self.empty(at),
            Rare::TornIndex => self.tear_index(at),
            Rare::PastTheLastOffset => self.plant_messages(at, narrow(NEAR_THE_END)),
            Rare::Overstated => self.overstate(at),
            Rare::Baited => self.bait(at),
            Rare::Lengthened => self.lengthen_a_log(at),
            Rare::Complete => self.leave_complete(at),
        }
    }

    pub(super) fn hurt(&mut self, fault: Fault) {
        self.push(Action::Fault { fault, cached: false });
    }

    /// A superblock that does not verify, or one with a checksum that fits: of another server that has reserved further than
    /// ours ever does, of another cluster, or with the last number there is.
    fn hit_superblock(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        let ahead = self.tape.range(STREAM, 1, AHEAD_MOST);
        let ahead = self.books[at].next_offset.saturating_add(ahead);
        // Only a host writes the other one.
        let slot = if self.has_hosts { self.tape.pick(STREAM, &[Slot::A, Slot::B]) } else { Slot::A };
        let hit = |field, edit| {
            let target = Target::Superblock { partition, slot, field: Some(field) };
            Fault { edit: Some(edit), ..Fault::new(FaultKind::BitFlip, target) }
        };
        let field = self.tape.pick(STREAM, &SuperblockField::ALL);
        let verified = [
            (5, None),
            (5, Some((SuperblockField::OffsetFrontier, ahead))),
            (3, Some((SuperblockField::Cluster, ahead))),
            (2, Some((SuperblockField::Sequence, u64::MAX))),
        ];
        let fault = match self.tape.weighted(STREAM, &verified) {
            None => hit(field, Edit::Bit(0)),
            Some((field, value)) => Fault { restamp: true, ..hit(field, Edit::Value(value)) },
        };
        self.hurt(fault);
    }

    /// The checksum of a batch is zero, as where a field was never written.
    fn zero_checksum(&mut self, at: usize) {
        let index = self.tape.index(STREAM, self.books[at].batches.len().max(1));
        let Some(written) = self.books[at].batches.get(index).copied() else { return };
        let field = Some(BatchField::Header(HeaderField::BatchChecksum));
        let target = Target::Batch { partition: self.books[at].namespace(), batch: written.batch, field };
        let fault = Fault::new(FaultKind::BitFlip, target);
        self.hurt(Fault { edit: Some(Edit::Value(0)), ..fault });
    }

    /// The first records of the ledger are those of another life, checksums and all, as in a ledger that was put back.
    fn change_life(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        let records = narrow(self.tape.range(STREAM, 1, 8));
        let identity = IdentityTag::of(partition, OTHER_LIFE).get();
        for record in 0..records {
            let fields = [(LedgerField::Incarnation, OTHER_LIFE.get()), (LedgerField::Identity, identity)];
            for (field, value) in fields {
                let target = Target::LedgerRecord { partition, record, field: Some(field) };
                let fault = Fault::new(FaultKind::BitFlip, target);
                self.hurt(Fault { edit: Some(Edit::Value(value)), restamp: true, ..fault });
            }
        }
    }

    /// A whole batch at the end of the log, as its writer would go on, of so many messages.
    fn plant_messages(&mut self, at: usize, messages: u32) {
        if self.next_batch < self.batches_end {
            let plant = Plant::new(self.books[at].namespace(), BatchId(self.next_batch));
            self.next_batch += 1;
            self.push(Action::Plant(Plant { messages, payload_bytes: 0, ..plant }));
        }
    }

    fn leave_temporary_copy(&mut self, at: usize) {
        let name = Cow::Borrowed(TEMPORARY);
        let target = Target::Name { partition: self.books[at].namespace(), name };
        let bytes = Some(self.tape.range(STREAM, 0, 600));
        self.hurt(Fault { bytes, ..Fault::new(FaultKind::StrayFile, target) });
    }

    /// Of every log nothing is left but its name.
    fn empty(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        for index in 0..self.books[at].segments.len() {
            let file = FileRole::Log(self.books[at].segments[index].start);
            let target = Target::File { partition, file, position: 0, length: None };
            self.hurt(Fault::new(FaultKind::LostWrite, target));
        }
    }

    /// An index ends inside of an entry.
    fn tear_index(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        let index = self.tape.index(STREAM, self.books[at].segments.len());
        let file = FileRole::Index(self.books[at].segments[index].start);
        let entry = self.tape.range(STREAM, 0, 2);
        let position = ENTRY_BYTES * entry + self.tape.range(STREAM, 1, ENTRY_BYTES - 1);
        let target = Target::File { partition, file, position, length: None };
        self.hurt(Fault::new(FaultKind::LostWrite, target));
    }

    /// A batch says of itself that it holds more messages, or more bytes, than fit anywhere.
    fn overstate(&mut self, at: usize) {
        let index = self.pick_batch(STREAM, at);
        let Some(written) = self.books[at].batches.get(index).copied() else { return };
        let count = self.tape.pick(STREAM, &COUNTS);
        let bit = narrow(self.tape.range(STREAM, 32, 63));
        let edits =
            [(HeaderField::MessageCount, Edit::Value(count)), (HeaderField::BatchLength, Edit::Bit(bit))];
        let (field, edit) = self.tape.pick(STREAM, &edits);
        let (partition, batch) = (self.books[at].namespace(), written.batch);
        let target = Target::Batch { partition, batch, field: Some(BatchField::Header(field)) };
        let restamp = self.tape.chance(STREAM, 300);
        self.hurt(Fault { edit: Some(edit), restamp, ..Fault::new(FaultKind::BitFlip, target) });
    }

    /// A batch of two messages, of which the first is a whole batch itself and the second is damaged.
    fn bait(&mut self, at: usize) {
        if self.batches_end - self.next_batch < 2 {
            return;
        }
        let (partition, outer) = (self.books[at].namespace(), BatchId(self.next_batch));
        let inner = BatchId(self.next_batch + 1);
        self.next_batch += 2;
        let payload_bytes = narrow(self.tape.range(STREAM, BAITED_BYTES.0, BAITED_BYTES.1));
        self.push(Action::Plant(Plant { messages: 2, payload_bytes, ..Plant::new(partition, outer) }));
        let payload_bytes = narrow(self.tape.range(STREAM, 0, BAIT_BYTES));
        let place = Place::Inside(outer);
        self.push(Action::Plant(Plant { messages: 1, payload_bytes, place, ..Plant::new(partition, inner) }));
        let frame = self.tape.weighted(STREAM, &[(3, 1), (1, 0)]);
        let field = Some(BatchField::Frame { frame, field: FrameField::Payload });
        let target = Target::Batch { partition, batch: outer, field };
        self.hurt(Fault { edit: Some(Edit::Bit(3)), ..Fault::new(FaultKind::BitFlip, target) });
    }

    /// Behind the end of a log lies something more; of one that is closed, where there is one.
    pub(super) fn lengthen_a_log(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        let older = self.books[at].segments.len() - 1;
        let index = self.tape.index(STREAM, older.max(1));
        let segment = self.books[at].segments[index];
        if self.next_batch < self.batches_end && self.tape.chance(STREAM, 300) {
            let batch = BatchId(self.next_batch);
            self.next_batch += 1;
            let place = Place::Position { segment: Some(segment.start), position: segment.bytes };
            self.push(Action::Plant(Plant { place, ..Plant::new(partition, batch) }));
        } else {
            let length = Some(self.tape.range(STREAM, 1, BEHIND_MOST));
            let file = FileRole::Log(segment.start);
            let target = Target::File { partition, file, position: segment.bytes, length };
            self.hurt(Fault::new(FaultKind::Noise, target));
        }
    }

    /// Something has the name of the file that says of a copy that it is complete.
    fn leave_complete(&mut self, at: usize) {
        let name = Cow::Borrowed(COMPLETE);
        let target = Target::Name { partition: self.books[at].namespace(), name };
        let entry = self.tape.weighted(STREAM, &[(2, StrayEntry::Directory), (1, StrayEntry::File)]);
        let bytes = (entry == StrayEntry::File).then_some(self.tape.range(STREAM, 0, 200));
        self.hurt(Fault { bytes, entry, ..Fault::new(FaultKind::StrayFile, target) });
    }
}
