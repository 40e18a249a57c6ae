//! What people do to a directory while its server is down, and what other programs leave in it.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use recovery_core::units::{Namespace, Offset, SegmentStart};

use super::book::batch_bytes;
use super::draft::Draft;
use super::swarm::{Habit, kinds};
use super::workload::narrow;
use crate::schedule::fault::{Edit, Fault, FaultKind, StrayEntry};
use crate::schedule::field::{BatchField, FrameField};
use crate::schedule::step::{Action, BatchId, Place, Plant};
use crate::schedule::tape::Stream;
use crate::schedule::target::{Destination, FileRole, Target};

const STREAM: Stream = Stream::Host;

/// How many of 1000 downs see each of: an operator, a plant.
const OPERATOR_SHARE: u32 = 300;
const PLANT_SHARE: u32 = 500;
/// How many of 1000 copies of a segment are of a ledger instead.
const LEDGER_SHARE: u32 = 150;
/// How many of 1000 plants may be batches inside of batches.
const NESTED_SHARE: u32 = 400;
/// How deep batches are nested, where they are: a probe that pays for each of them runs out of its budget.
const NESTED: RangeInclusive<u64> = 9..=12;

const BY_HAND: u64 = kinds(&[
    FaultKind::StrayFile,
    FaultKind::OperatorDeletesIndex,
    FaultKind::OperatorCopiesSegment,
    FaultKind::OperatorRestoresFile,
    FaultKind::OperatorDropsLedger,
]);

/// Names that are found beside segments: scratch, leftovers of other programs, and near misses of a log's
/// name.
const STRAYS: [&str; 9] = [
    "notes.txt",
    "00000000000000000000.log.staging",
    "00000000000000000007.index",
    "00000000000000000000.index.staging",
    "ledger.staging",
    "7.log",
    "copy of 00000000000000000000.log",
    "99999999999999999999.log",
    "00000000000000000007.log",
];

#[derive(Clone, Copy)]
enum Story {
    Continues,
    OtherOwner,
    Gap,
    Regression,
    Overflow,
    Over,
    Bait,
    Nested,
}

impl Draft<'_> {
    /// What people and other programs do to a node that is down.
    pub(super) fn operate(&mut self) {
        if self.swarm.has(Habit::Plant) && self.tape.chance(STREAM, PLANT_SHARE) {
            self.plant();
        }
        if self.tape.chance(STREAM, OPERATOR_SHARE)
            && let Some(kind) = self.swarm.pick(self.tape, STREAM, BY_HAND)
        {
            let fault = self.deed_by_hand(kind);
            self.push(Action::Fault { fault, cached: false });
        }
    }

    fn deed_by_hand(&mut self, kind: FaultKind) -> Fault {
        let at = self.pick_partition(STREAM);
        let partition = self.books[at].namespace();
        let index = self.tape.index(STREAM, self.books[at].segments.len());
        let segment = self.books[at].segments[index].start;
        if kind == FaultKind::StrayFile {
            self.stray(partition)
        } else if kind == FaultKind::OperatorCopiesSegment {
            let to = self.copy_destination();
            if self.tape.chance(STREAM, LEDGER_SHARE) {
                return self.copy_ledger(partition);
            }
            Fault { to, ..Fault::new(kind, Target::Segment { partition, segment }) }
        } else if kind == FaultKind::OperatorRestoresFile {
            Fault::new(kind, self.file(STREAM, at))
        } else if kind == FaultKind::OperatorDropsLedger {
            Fault::new(kind, Target::Partition(partition))
        } else {
            assert!(kind == FaultKind::OperatorDeletesIndex, "every deed by hand has a form");
            Fault::new(kind, Target::Segment { partition, segment })
        }
    }

    /// Another partition's ledger comes along with a copy, over the one that lies there.
    fn copy_ledger(&mut self, partition: Namespace) -> Fault {
        let to = self.pick_partition(STREAM);
        let target = Target::File { partition, file: FileRole::Ledger, position: 0, length: None };
        let to = Destination { batch: None, segment: None, partition: Some(self.books[to].namespace()) };
        Fault { to, ..Fault::new(FaultKind::OperatorCopiesSegment, target) }
    }

    fn stray(&mut self, partition: Namespace) -> Fault {
        let name = Cow::Borrowed(self.tape.pick(STREAM, &STRAYS));
        let mut fault = Fault::new(FaultKind::StrayFile, Target::Name { partition, name });
        fault.bytes = self.tape.weighted(STREAM, &[(2, None), (1, Some(16)), (1, Some(600))]);
        let entries = [(8, StrayEntry::File), (1, StrayEntry::Directory), (1, StrayEntry::Other)];
        fault.entry = self.tape.weighted(STREAM, &entries);
        fault
    }

    /// Where a segment is copied to: under its own name, over the newest one, or behind all.
    fn copy_destination(&mut self) -> Destination {
        let to = self.pick_partition(STREAM);
        let book = &self.books[to];
        let behind = SegmentStart::new(book.next_offset);
        let segments = [(2, None), (1, Some(book.last_segment().start)), (1, Some(behind))];
        let partition = Some(book.namespace());
        Destination { batch: None, segment: self.tape.weighted(STREAM, &segments), partition }
    }

    /// A whole batch that nobody of ours wrote.
    fn plant(&mut self) {
        if self.next_batch >= self.batches_end {
            return;
        }
        let at = self.pick_partition(STREAM);
        let count = self.books[at].batches.len();
        let over = if count == 0 { 0 } else { 2 };
        // A probe of them is the dearest thing that a small world can ask for, so they are few.
        let nested = u32::from(self.tape.chance(STREAM, NESTED_SHARE));
        let stories = [
            (2, Story::Continues),
            (3, Story::OtherOwner),
            (3, Story::Gap),
            (2, Story::Regression),
            (1, Story::Overflow),
            (over, Story::Over),
            (over, Story::Bait),
            (nested, Story::Nested),
        ];
        let story = self.tape.weighted(STREAM, &stories);
        let mut plant = Plant::new(self.books[at].namespace(), BatchId(self.next_batch));
        plant.messages = narrow(self.tape.range(STREAM, 1, self.shape.messages));
        plant.payload_bytes = narrow(self.tape.range(STREAM, 0, self.shape.payload_bytes));
        let other = self.tape.index(STREAM, count.max(1));
        let other = self.books[at].batches.get(other).map(|written| written.batch);
        let next = self.books[at].next_offset;
        let near = self.tape.range(STREAM, 1, 8);
        match story {
            Story::Continues => {}
            Story::OtherOwner => self.disown(&mut plant),
            // An estimate near the end of all offsets leaves no room for a gap.
            Story::Gap => plant.base_offset = next.checked_add(near).map(Offset::new),
            Story::Regression => plant.base_offset = next.checked_sub(near).map(Offset::new),
            Story::Overflow => plant.base_offset = Some(Offset::new(u64::MAX - near)),
            Story::Over => plant.place = other.map_or(Place::End, Place::Batch),
            Story::Bait => plant.place = other.map_or(Place::End, Place::Inside),
            Story::Nested => {
                plant.messages = 1;
                let depth = self.tape.range(STREAM, *NESTED.start(), *NESTED.end());
                plant.nested = u8::try_from(depth).expect("a batch is nested some times");
            }
        }
        self.next_batch += 1;
        self.push(Action::Plant(plant));
        if plant.nested > 0 && self.tape.chance(STREAM, 800) {
            self.spoil_inside(&plant);
        }
    }

    /// Flips a bit of the innermost batch: the skeleton of each batch around it stays whole, and its body does
    /// not, so that each is looked at to its end.
    fn spoil_inside(&mut self, plant: &Plant) {
        let (partition, batch) = (plant.partition, plant.batch);
        let field = Some(BatchField::Frame { frame: 0, field: FrameField::Payload });
        let mut fault = Fault::new(FaultKind::BitFlip, Target::Batch { partition, batch, field });
        let payload_bytes = u64::from(plant.nested) * batch_bytes(1, 0) + u64::from(plant.payload_bytes);
        fault.edit = Some(Edit::Bit(narrow(8 * (payload_bytes - 1))));
        self.push(Action::Fault { fault, cached: false });
    }

    /// Makes a plant another partition's: of the same number in another topic, or of another number.
    fn disown(&mut self, plant: &mut Plant) {
        let Namespace { stream, topic, partition } = plant.partition;
        if self.tape.chance(STREAM, 500) {
            plant.partition_id = Some(u64::from(partition) + 1);
        } else {
            plant.like = Some(Namespace { stream, topic: topic + 7, partition });
        }
    }
}
