//! Damage on the medium while a node is down: aimed by field most of the time, and in clusters.

use super::book::{Book, Written};
use super::draft::Draft;
use super::swarm::{is_among, kinds};
use super::workload::narrow;
use crate::schedule::fault::{Edit, Fault, FaultKind, Times};
use crate::schedule::field::{
    BatchField, FieldSpan, FrameField, HeaderField, IndexField, LedgerField, SuperblockField,
};
use crate::schedule::step::Action;
use crate::schedule::tape::Stream;
use crate::schedule::target::{Destination, FileRole, Slot, Target};

const STREAM: Stream = Stream::Faults;

/// How many of 1000 faults change one field, where that kind is on.
const EDIT_SHARE: u32 = 400;
const SECTOR_BYTES: u64 = 512;
const LEDGER_RECORD_BYTES: u64 = 128;
const INDEX_ENTRY_BYTES: u64 = 24;

/// The kinds that hit bytes at rest.
const AT_REST: u64 = kinds(&[
    FaultKind::BitFlip,
    FaultKind::Zeroed,
    FaultKind::Noise,
    FaultKind::ShornWrite,
    FaultKind::LostWrite,
    FaultKind::MisdirectedWrite,
    FaultKind::MisdirectedRead,
    FaultKind::ForeignBatch,
    FaultKind::StaleGenerationBatch,
    FaultKind::DuplicateBatch,
    FaultKind::LatentSectorError,
    FaultKind::TransientReadCorruption,
    FaultKind::LostDirectoryEntry,
    FaultKind::UndoneRename,
    FaultKind::UndoneUnlink,
]);

/// Those of them that are about a name.
const OF_NAMES: u64 =
    kinds(&[FaultKind::LostDirectoryEntry, FaultKind::UndoneRename, FaultKind::UndoneUnlink]);

/// Those of them that put a whole batch where it does not belong.
const OF_BATCHES: u64 = kinds(&[
    FaultKind::MisdirectedWrite,
    FaultKind::MisdirectedRead,
    FaultKind::ForeignBatch,
    FaultKind::StaleGenerationBatch,
    FaultKind::DuplicateBatch,
]);

/// What a fault is aimed at.
#[derive(Clone, Copy)]
enum Aim {
    Header,
    Frame,
    Batch,
    Index,
    Ledger,
    Superblock,
    Raw,
}

impl Draft<'_> {
    /// Perhaps damages something of each partition.
    pub(super) fn damage(&mut self) {
        for at in 0..self.books.len() {
            if self.tape.chance(STREAM, self.swarm.damage_share) {
                self.damage_of(at);
            }
        }
    }

    /// Damages something of a partition, in one place or some places near each other.
    pub(super) fn damage_of(&mut self, at: usize) {
        let mut focus = self.pick_batch(STREAM, at);
        let count = self.tape.range(STREAM, 1, self.swarm.cluster);
        for _ in 0..count {
            let Some(kind) = self.kind_at_rest() else { return };
            let fault = self.fault(kind, at, focus);
            let cached = self.tape.chance(STREAM, 60);
            self.push(Action::Fault { fault, cached });
            // The next one hits a neighbour, as damage does.
            let batches = self.books[at].batches.len();
            focus = (focus + self.tape.index(STREAM, 3)).min(batches.max(1) - 1);
        }
    }

    /// Which kind it is. What hits one field decides more often than the rest, which mostly hits all of them.
    fn kind_at_rest(&mut self) -> Option<FaultKind> {
        if self.swarm.has_kind(FaultKind::BitFlip) && self.tape.chance(STREAM, EDIT_SHARE) {
            return Some(FaultKind::BitFlip);
        }
        self.swarm.pick(self.tape, STREAM, AT_REST)
    }

    /// A batch to aim at: the newest ones and the first one more often than the rest. 0 if there is none.
    pub(super) fn pick_batch(&mut self, stream: Stream, at: usize) -> usize {
        let count = self.books[at].batches.len();
        let last = count.max(1) - 1;
        let anywhere = self.tape.index(stream, count.max(1));
        let before = last.checked_sub(1).unwrap_or(last);
        self.tape.weighted(stream, &[(4, last), (2, before), (1, 0), (4, anywhere)])
    }

    fn fault(&mut self, kind: FaultKind, at: usize, focus: usize) -> Fault {
        if kind == FaultKind::BitFlip {
            self.edit(at, focus)
        } else if is_among(OF_NAMES, kind) {
            Fault::new(kind, self.file(STREAM, at))
        } else if is_among(OF_BATCHES, kind) {
            self.moved_batch(kind, at, focus)
        } else {
            self.range_fault(kind, at, focus)
        }
    }

    /// A whole batch at a place that is not its own.
    fn moved_batch(&mut self, kind: FaultKind, at: usize, focus: usize) -> Fault {
        if kind == FaultKind::StaleGenerationBatch {
            return self.batch_fault(kind, at, focus, Destination::default());
        }
        if kind == FaultKind::MisdirectedRead {
            let to = self.anywhere(STREAM);
            let times = self.tape.weighted(STREAM, &[(1, Times::Count(1)), (1, Times::Always)]);
            return Fault { times, ..self.batch_fault(kind, at, focus, to) };
        }
        let to = self.sibling(at);
        if kind == FaultKind::ForeignBatch {
            let from = self.pick_partition(STREAM);
            let source = self.pick_batch(STREAM, from);
            return self.batch_fault(kind, from, source, to);
        }
        self.batch_fault(kind, at, focus, to)
    }

    /// A flipped bit or a changed value, in a field most of the time.
    fn edit(&mut self, at: usize, focus: usize) -> Fault {
        let aim = self.aim(at);
        let (target, span) = self.aimed(aim, at, focus);
        let mut fault = Fault::new(FaultKind::BitFlip, target);
        let bits = u64::from(span.width_bytes.max(1)) * 8;
        fault.edit = Some(if self.tape.chance(STREAM, 200) {
            Edit::Value(
                self.tape.weighted(STREAM, &[(2, 0), (2, 1), (1, u64::from(u32::MAX)), (1, u64::MAX)]),
            )
        } else {
            Edit::Bit(narrow(self.tape.range(STREAM, 0, bits - 1)))
        });
        // A superblock whose checksum fits is of another cluster or replica, and refuses by that.
        let restamp_share = match aim {
            Aim::Superblock => 600,
            Aim::Header | Aim::Frame | Aim::Batch | Aim::Index | Aim::Ledger | Aim::Raw => 200,
        };
        fault.restamp = self.tape.chance(STREAM, restamp_share);
        fault
    }

    fn aim(&mut self, at: usize) -> Aim {
        let header = &self.books[at].header;
        let ledger = if header.ledger { 4 } else { 0 };
        let superblock = if header.superblock_frontier.is_some() { 6 } else { 0 };
        let aims = [
            (8, Aim::Header),
            (6, Aim::Frame),
            (4, Aim::Index),
            (ledger, Aim::Ledger),
            (superblock, Aim::Superblock),
            (2, Aim::Raw),
        ];
        self.tape.weighted(STREAM, &aims)
    }

    fn aimed(&mut self, aim: Aim, at: usize, focus: usize) -> (Target, FieldSpan) {
        let partition = self.books[at].namespace();
        let Some(written) = self.books[at].batches.get(focus).copied() else {
            return (self.file(STREAM, at), FieldSpan { at: 0, width_bytes: 1 });
        };
        let batch = written.batch;
        match aim {
            Aim::Header => {
                let field = self.tape.pick(STREAM, &HeaderField::ALL);
                (Target::Batch { partition, batch, field: Some(BatchField::Header(field)) }, field.span())
            }
            Aim::Frame => {
                let (field, span) = self.frame_field(&written);
                (Target::Batch { partition, batch, field: Some(field) }, span)
            }
            Aim::Index => {
                let field = self.tape.pick(STREAM, &IndexField::ALL);
                let index = narrow(self.tape.range(STREAM, 0, 7));
                let segment = written.segment;
                (Target::IndexEntry { partition, segment, index, field: Some(field) }, field.span())
            }
            Aim::Ledger => {
                let field = self.tape.pick(STREAM, &LedgerField::ALL);
                let record = narrow(self.tape.range(STREAM, 0, 11));
                (Target::LedgerRecord { partition, record, field: Some(field) }, field.span())
            }
            Aim::Superblock => {
                let field = self.tape.pick(STREAM, &SuperblockField::ALL);
                // Only a host writes the other one.
                let slot = if self.has_hosts { self.tape.pick(STREAM, &[Slot::A, Slot::B]) } else { Slot::A };
                (Target::Superblock { partition, slot, field: Some(field) }, field.span())
            }
            Aim::Batch | Aim::Raw => {
                let width_bytes = narrow(written.bytes());
                (Target::Batch { partition, batch, field: None }, FieldSpan { at: 0, width_bytes })
            }
        }
    }

    fn frame_field(&mut self, written: &Written) -> (BatchField, FieldSpan) {
        let frame = narrow(self.tape.range(STREAM, 0, u64::from(written.messages.max(1)) - 1));
        let field = self.tape.pick(STREAM, &FrameField::ALL);
        // Batches have no user headers, and some have no payload either: then their length is hit.
        let field = if field == FrameField::UserHeaders {
            FrameField::UserHeadersLength
        } else if field == FrameField::Payload && written.payload_bytes == 0 {
            FrameField::PayloadLength
        } else {
            field
        };
        let payload = FieldSpan { at: 48, width_bytes: written.payload_bytes };
        (BatchField::Frame { frame, field }, field.span().unwrap_or(payload))
    }

    /// A fault that is about a whole batch.
    fn batch_fault(&mut self, kind: FaultKind, at: usize, focus: usize, to: Destination) -> Fault {
        let book = &self.books[at];
        let target = match book.batches.get(focus) {
            Some(written) => Target::Batch { partition: book.namespace(), batch: written.batch, field: None },
            None => Target::Partition(book.namespace()),
        };
        Fault { to, ..Fault::new(kind, target) }
    }

    /// Another place of the same partition: over a batch, or behind all of them.
    fn sibling(&mut self, at: usize) -> Destination {
        let book = &self.books[at];
        let (partition, count) = (Some(book.namespace()), book.batches.len());
        let over = self.tape.index(STREAM, count + 1);
        let batch = book.batches.get(over).map(|written| written.batch);
        Destination { batch, segment: None, partition }
    }

    /// Damage of a run of bytes: a batch, some sectors of a file, records or entries.
    fn range_fault(&mut self, kind: FaultKind, at: usize, focus: usize) -> Fault {
        let ledger = if self.books[at].header.ledger { 3 } else { 0 };
        let aims = [(5, Aim::Batch), (4, Aim::Raw), (3, Aim::Index), (ledger, Aim::Ledger), (2, Aim::Frame)];
        let aim = self.tape.weighted(STREAM, &aims);
        // Runs have long tails: half of them are one sector, a quarter two, and so on.
        let sectors = 1_u64 << self.tape.word(STREAM).leading_ones().min(6);
        let target = match self.books[at].batches.get(focus).copied() {
            None => self.file(STREAM, at),
            Some(written) => self.run(aim, at, &written, sectors),
        };
        let mut fault = Fault::new(kind, target);
        if kind == FaultKind::ShornWrite {
            fault.bytes = Some(self.tape.range(STREAM, 1, 1023));
        } else if kind == FaultKind::TransientReadCorruption {
            fault.edit = Some(Edit::Bit(narrow(self.tape.range(STREAM, 0, 8 * SECTOR_BYTES - 1))));
        }
        fault
    }

    fn run(&mut self, aim: Aim, at: usize, written: &Written, sectors: u64) -> Target {
        let (partition, segment) = (self.books[at].namespace(), written.segment);
        let bytes = sectors * SECTOR_BYTES;
        let to_the_end = self.tape.chance(STREAM, 250);
        let length = |bytes| if to_the_end { None } else { Some(bytes) };
        match aim {
            Aim::Batch | Aim::Header | Aim::Superblock => {
                Target::Batch { partition, batch: written.batch, field: None }
            }
            Aim::Frame => {
                let (field, _) = self.frame_field(written);
                Target::Batch { partition, batch: written.batch, field: Some(field) }
            }
            Aim::Raw => {
                let position = written.position / SECTOR_BYTES * SECTOR_BYTES;
                Target::File { partition, file: FileRole::Log(segment), position, length: length(bytes) }
            }
            Aim::Index => {
                let position = INDEX_ENTRY_BYTES * self.tape.range(STREAM, 0, 3);
                Target::File { partition, file: FileRole::Index(segment), position, length: length(bytes) }
            }
            Aim::Ledger => {
                let position = LEDGER_RECORD_BYTES * self.tape.range(STREAM, 0, 11);
                Target::File { partition, file: FileRole::Ledger, position, length: length(bytes) }
            }
        }
    }

    /// A whole file of the partition.
    pub(super) fn file(&mut self, stream: Stream, at: usize) -> Target {
        let index = self.tape.index(stream, self.books[at].segments.len());
        let book: &Book = &self.books[at];
        let segment = book.segments[index].start;
        let ledger = if book.header.ledger { 2 } else { 0 };
        let files = [(4, FileRole::Log(segment)), (2, FileRole::Index(segment)), (ledger, FileRole::Ledger)];
        let file = self.tape.weighted(stream, &files);
        Target::File { partition: self.books[at].namespace(), file, position: 0, length: None }
    }
}
