//! What the chances of the other files hardly ever bring about, and what happens to partitions all the same.
//!
//! Each of these takes one value in one field, one name, or several steps in a row that count only together: a
//! checksum of zero, a record of another life, an index that ends inside of an entry, a batch that lies behind a seal.
//! Promises: drawn from words of its own, and for worlds without hosts; a world that none of it befalls is as it would
//! be without this file.

use std::borrow::Cow;

use recovery_core::format::IdentityTag;
use recovery_core::storage::Call;
use recovery_core::units::Incarnation;

use super::draft::Draft;
use super::workload::narrow;
use crate::schedule::crash::{CallPoint, Crash, CrashInside, Survival, Survivors};
use crate::schedule::fault::{Edit, Fault, FaultKind};
use crate::schedule::field::{BatchField, HeaderField, LedgerField, SuperblockField};
use crate::schedule::step::{Action, Append, BatchId, Interruption, Plant};
use crate::schedule::tape::Stream;
use crate::schedule::target::{FileRole, Slot, Target};

const STREAM: Stream = Stream::Rare;

/// How many of 1000 downs of a world with a superblock hit it.
const SUPERBLOCK_SHARE: u32 = 300;
/// How many of 1000 downs are followed by one of the others.
const SHARE: u32 = 80;
/// How many of 1000 phases of work end with a roll that is cut short.
const OLD_SEAL_SHARE: u32 = 30;
/// Most offsets that another server has reserved ahead.
const AHEAD_MOST: u64 = 200;
/// A partition whose next offset is no further from the last one there is has batches that run past it.
const NEAR_THE_END: u64 = 64;
/// A life that no partition of a world has.
const OTHER_LIFE: Incarnation = Incarnation::new(9);
/// The name that a log has while it is copied by hand.
const TEMPORARY: &str = "00000000000000000000.log.tmp";

const ENTRY_BYTES: u64 = 24;

#[derive(Clone, Copy)]
enum Rare {
    ChecksumOfZero,
    OtherLife,
    EmptyBatch,
    TemporaryCopy,
    Emptied,
    TornIndex,
    PastTheLastOffset,
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
        ];
        match self.tape.weighted(STREAM, &choices) {
            Rare::ChecksumOfZero => self.zero_checksum(at),
            Rare::OtherLife => self.change_life(at),
            Rare::EmptyBatch => self.plant_messages(at, 0),
            Rare::TemporaryCopy => self.leave_temporary_copy(at),
            Rare::Emptied => self.empty(at),
            Rare::TornIndex => self.tear_index(at),
            Rare::PastTheLastOffset => self.plant_messages(at, narrow(NEAR_THE_END)),
        }
    }

    fn hurt(&mut self, fault: Fault) {
        self.push(Action::Fault { fault, cached: false });
    }

    /// A superblock that does not verify, or one of another server that has reserved further than ours ever does.
    fn hit_superblock(&mut self, at: usize) {
        let partition = self.books[at].namespace();
        let ahead = self.tape.range(STREAM, 1, AHEAD_MOST);
        let ahead = self.books[at].next_offset.checked_add(ahead);
        let hit =
            |field| Fault::new(FaultKind::BitFlip, Target::Superblock { partition, slot: Slot::A, field });
        let fault = if let Some(offset) = ahead.filter(|_| self.tape.chance(STREAM, 500)) {
            let fault = hit(Some(SuperblockField::OffsetFrontier));
            Fault { edit: Some(Edit::Value(offset)), restamp: true, ..fault }
        } else {
            let field = self.tape.pick(STREAM, &SuperblockField::ALL);
            Fault { edit: Some(Edit::Bit(0)), ..hit(Some(field)) }
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

    /// Perhaps a roll is cut short behind its seal, and a batch that was lost before turns up behind that seal: the node
    /// goes down twice, and is up again. Says whether it did.
    pub(super) fn outdate_a_seal(&mut self) -> bool {
        if !self.tape.chance(STREAM, OLD_SEAL_SHARE) {
            return false;
        }
        let at = self.pick_partition(STREAM);
        let book = &self.books[at];
        let (partition, next) = (book.namespace(), book.next_offset);
        let room = self.batches_end - self.next_batch;
        if !book.header.ledger || !book.may_roll() || room < 3 || u64::MAX - next < NEAR_THE_END {
            return false;
        }
        let [kept, lost, newest] = [0, 1, 2].map(|number| BatchId(self.next_batch + number));
        self.next_batch += 3;
        self.put(at, kept);
        self.push(Action::Flush(partition));
        self.push(Action::Append(Append::new(partition, lost)));
        self.push(Action::Crash(Crash::Process));
        self.push(Action::Start);
        let crash = Crash::Power(Survival::of(Survivors::All));
        let inside = CrashInside { at: CallPoint { on: Some(Call::Create), call: 1 }, inside: None, crash };
        self.push_inside(Action::Roll(partition), vec![Interruption::Crash(inside)]);
        self.push(Action::Crash(Crash::Process));
        let target = Target::Batch { partition, batch: lost, field: None };
        self.hurt(Fault::new(FaultKind::StaleGenerationBatch, target));
        self.push(Action::Start);
        self.push(Action::Roll(partition));
        self.books[at].roll();
        self.put(at, newest);
        self.push(Action::Flush(partition));
        self.books[at].is_dirty = false;
        true
    }

    fn put(&mut self, at: usize, batch: BatchId) {
        let append = Append::new(self.books[at].namespace(), batch);
        self.books[at].append(batch, append.messages, append.payload_bytes);
        self.push(Action::Append(append));
    }
}
