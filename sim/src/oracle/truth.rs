//! What was really written to one partition, what was promised, and what became of it.
//!
//! Promises: kept as one run a batch, never a byte at a time; knows nothing of the core's opinion. Leaves
//! out: the disk; what a crash or a fault does to bytes is seen in the images that checks compare.

use recovery_core::format::FileName;
use recovery_core::units::{Offset, SegmentStart};
use xxhash_rust::xxh3::xxh3_64;

use super::Image;
use super::boot_view::bytes_of;
use super::damage::Damages;
use super::served_log::Lying;
use crate::disk::keep_small;
use crate::schedule::BatchId;

/// How far a batch has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Life {
    /// Appended: it has offsets, and lies in the writer's memory.
    Buffered,
    /// Acknowledged to a client.
    Acknowledged,
    /// Adopted by a recovery without ever having been acknowledged.
    Adopted,
    /// Below the floor: retention may delete it, or has.
    Retained,
    /// Put into a log by hand: it counts for nothing until a recovery adopts it.
    Planted,
    /// A recovery went on without it. Its offsets are free again, unless they were promised.
    Lost,
}

/// One batch as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "plain facts, each with its own name")]
pub struct Write {
    /// The schedule's name for it; `None` for a batch that no step wrote (adopted from an image, or put at
    /// the chain's end by a fault).
    pub batch: Option<BatchId>,
    /// First offset.
    pub base: Offset,
    /// One behind the last offset.
    pub next: Offset,
    /// Where it was put.
    pub segment: SegmentStart,
    /// Position of its header there.
    pub position: u64,
    /// Its bytes in the truth's arena.
    from: u32,
    /// How many.
    pub length: u32,
    /// How far it has come.
    pub life: Life,
    /// Whether the writer's mode, or a sync since, promises that it survives power loss.
    pub is_promised: bool,
    /// Whether a recovery that went on without it found it whole, and has put it into a fence.
    pub is_fenced: bool,
    /// Whether the recovery that went on without it may have been shown it all the same.
    pub is_lost_unseen: bool,
    /// Whether a mark that is itself durable says so: then damage is known to be loss.
    pub is_marked: bool,
}

/// A batch that nobody wrote here, where it was adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stranger {
    /// In which segment.
    pub segment: SegmentStart,
    /// At which position.
    pub position: u64,
    /// XXH3-64 of its bytes.
    pub hash: u64,
}

impl Stranger {
    /// The batch that lies there.
    pub fn of(lying: &Lying<'_>) -> Self {
        Self { segment: lying.segment, position: lying.position, hash: xxh3_64(lying.bytes) }
    }
}

/// The truth about one partition.
#[derive(Clone, Debug, Default, Hash)]
pub struct Truth {
    bytes: Vec<u8>,
    writes: Vec<Write>,
    /// One behind the largest offset ever promised in this life of the partition.
    pub promised_next: Offset,
    /// Where the chain starts.
    pub floor: Offset,
    /// The highest floor that a retention which failed may have left.
    floor_tried: Offset,
    /// Whether a retention failed since the last start that served: its floor may hold or be lost.
    pub is_floor_doubtful: bool,
    /// Whether a ledger remembers where the chain starts when all its files are gone.
    pub has_ledger: bool,
    /// Batches that nobody wrote here, and that recovery adopted in a start that came to no end.
    pub strangers: Vec<Stranger>,
    /// Damage that no crash explains and no recovery has dealt with yet.
    pub damages: Damages,
    /// Batches served that could not be told from ones written here.
    pub indistinguishable: u32,
    /// One behind the last offset that may be on record on the disk: a call that writes had it, or a start went on there.
    on_its_way: Offset,
}

impl Truth {
    /// Forgets everything; `first` is where the partition's offsets begin.
    pub fn reset(&mut self, first: Offset) {
        self.bytes.clear();
        self.writes.clear();
        self.promised_next = first;
        self.floor = first;
        self.floor_tried = first;
        self.is_floor_doubtful = false;
        self.has_ledger = true;
        self.strangers.clear();
        self.damages.clear();
        self.indistinguishable = 0;
        self.on_its_way = first;
    }

    /// Lets go of the room that only large worlds needed.
    pub fn rest(&mut self) {
        keep_small(&mut self.bytes);
        keep_small(&mut self.writes);
    }

    /// Notes a batch that the writer has taken in.
    pub fn append(
        &mut self,
        batch: Option<BatchId>,
        offsets: (Offset, Offset),
        place: (SegmentStart, u64),
        bytes: &[u8],
        life: Life,
    ) {
        assert!(offsets.0 <= offsets.1, "offsets ascend");
        let from = u32::try_from(self.bytes.len()).expect("a world's batches fit 4 GiB");
        self.bytes.extend_from_slice(bytes);
        self.writes.push(Write {
            batch,
            base: offsets.0,
            next: offsets.1,
            segment: place.0,
            position: place.1,
            from,
            length: u32::try_from(bytes.len()).expect("a batch fits 4 GiB"),
            life,
            is_promised: false,
            is_fenced: false,
            is_lost_unseen: false,
            is_marked: false,
        });
    }

    /// Notes that everything buffered below `next` was acknowledged. Says whether that was anything.
    pub fn acknowledge(&mut self, next: Offset) -> bool {
        let mut is_any = false;
        for write in &mut self.writes {
            if write.life == Life::Buffered && write.next <= next {
                write.life = Life::Acknowledged;
                is_any = true;
            }
        }
        is_any
    }

    /// Notes that everything that lives below `next` is durable by a promise.
    pub fn promise(&mut self, next: Offset) {
        for write in &mut self.writes {
            if matches!(write.life, Life::Acknowledged | Life::Adopted) && write.next <= next {
                write.is_promised = true;
                self.promised_next = self.promised_next.max(write.next);
            }
        }
    }

    /// Notes a batch that nobody wrote as written and promised, behind all others: what a run plants to see
    /// that a broken promise is heard of.
    pub fn invent_promise(&mut self) {
        let base = self.living_next();
        let next = base.checked_add(1).expect("a world is far from the largest offset");
        let position = self.writes.iter().map(|write| write.position + u64::from(write.length)).max();
        let place = (SegmentStart::new(self.floor.get()), position.unwrap_or_default());
        self.append(None, (base, next), place, b"never written", Life::Acknowledged);
        self.promise(next);
    }

    /// Notes that a durable mark of the ledger covers everything promised below `next`.
    pub fn mark(&mut self, next: Offset) {
        for write in &mut self.writes {
            write.is_marked |= write.is_promised && write.life != Life::Lost && write.next <= next;
        }
    }

    /// Notes that a call is about to write what is buffered: whatever comes of it, its offsets may be on record.
    pub fn try_flush(&mut self) {
        let next = self.writes.iter().map(|write| write.next).max();
        self.on_its_way = self.on_its_way.max(next.unwrap_or(self.on_its_way));
    }

    /// Notes that offsets below `next` may be on record: a start was right to go on there, whether or not it came to
    /// serve anything, or a superblock was laid that says so.
    pub fn may_go_on_at(&mut self, next: Offset) {
        self.on_its_way = self.on_its_way.max(next);
    }

    /// The highest offset that a start may go on at: nothing behind it was ever on its way to the disk.
    pub fn goes_on_at_most(&self) -> Offset {
        let written = self.writes.iter().filter(|write| write.life != Life::Buffered);
        let written = written.map(|write| write.next).max();
        self.on_its_way.max(self.promised_next).max(self.floor).max(written.unwrap_or(self.floor))
    }

    /// Every batch ever written, in order.
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// The bytes of a batch as they were written.
    pub fn bytes_of(&self, write: &Write) -> &[u8] {
        let from = write.from as usize;
        &self.bytes[from..from + write.length as usize]
    }

    /// Whether a batch lies in an image where it was put, byte for byte.
    pub fn lies_in(&self, image: &Image, write: &Write) -> bool {
        let bytes = self.bytes_of(write);
        let from = usize::try_from(write.position).expect("a simulated file fits memory");
        let log = bytes_of(image, &FileName::log(write.segment));
        log.and_then(|log| log.get(from..from + bytes.len())) == Some(bytes)
    }

    /// The newest write that the schedule calls `batch`.
    pub fn find(&self, batch: BatchId) -> Option<&Write> {
        self.writes.iter().rev().find(|write| write.batch == Some(batch))
    }

    /// The living write that begins at `base`: the one of just these bytes, or else another, if there is one. A batch of
    /// no messages shares its offset with the one behind it.
    pub fn living_at(&self, base: Offset, bytes: &[u8]) -> Option<usize> {
        let lives = |write: &Write| {
            write.base == base && matches!(write.life, Life::Acknowledged | Life::Adopted | Life::Buffered)
        };
        let same = self.writes.iter().rposition(|write| lives(write) && self.bytes_of(write) == bytes);
        same.or_else(|| self.writes.iter().rposition(lives))
    }

    /// Tells what a start serves, `lying` in order, where `before` lay when it looked, and whether every read showed it that
    /// (`sees_truth`). Batches that are there live on, adopted if they were never acknowledged; those that are not are lost.
    /// Returns how many there are that nobody wrote here.
    pub fn reconcile(&mut self, lying: &[Lying<'_>], before: Option<&Image>, sees_truth: bool) -> u32 {
        let living = |life| matches!(life, Life::Buffered | Life::Acknowledged | Life::Adopted);
        let before_count = self.writes.len();
        let mut found = vec![false; before_count];
        let mut strangers = 0;
        for batch in lying {
            let index = self.writes[..before_count].iter().rposition(|write| {
                living(write.life) && write.base == batch.base && self.bytes_of(write) == batch.bytes
            });
            if let Some(index) = index {
                found[index] = true;
                // What was lost in its place, and lies elsewhere because of damage, lives on there.
                let write = &mut self.writes[index];
                (write.segment, write.position) = (batch.segment, batch.position);
            } else {
                strangers += 1;
                let place = (batch.segment, batch.position);
                if let Some(index) = self.stranger_at(batch).filter(|index| *index < before_count) {
                    found[index] = true;
                    self.writes[index].life = Life::Adopted;
                    continue;
                }
                self.append(None, (batch.base, batch.next), place, batch.bytes, Life::Adopted);
            }
        }
        for (index, is_found) in found.into_iter().enumerate() {
            let write = &self.writes[index];
            // What was whole when the start looked, and is hit by something that happened in it, was not cut.
            let place = write.position..write.position + u64::from(write.length);
            let is_hit = || self.damages.explains_divergence(&FileName::log(write.segment), &place);
            let is_whole = |image| self.lies_in(image, write);
            let is_fenced = !is_found && continues(write, lying) && before.is_some_and(is_whole) && !is_hit();
            let write = &mut self.writes[index];
            if living(write.life) && !is_found {
                write.life = Life::Lost;
                write.is_fenced = is_fenced;
                write.is_lost_unseen = !sees_truth;
            } else if write.life == Life::Buffered {
                write.life = Life::Adopted;
            }
        }
        self.indistinguishable += strangers;
        self.is_floor_doubtful = false;
        strangers
    }

    /// The newest batch that was put at this place by no writer, and is not adopted.
    fn stranger_at(&self, lying: &Lying<'_>) -> Option<usize> {
        self.writes.iter().rposition(|write| {
            write.life == Life::Planted
                && (write.segment, write.position) == (lying.segment, lying.position)
                && self.bytes_of(write) == lying.bytes
        })
    }

    /// Notes that the chain starts at `floor` from now on.
    pub fn retain(&mut self, floor: Offset) {
        self.floor = self.floor.max(floor);
        for write in &mut self.writes {
            if write.segment.offset() < floor && write.life != Life::Lost {
                write.life = Life::Retained;
            }
        }
    }

    /// Notes that retention is about to raise the floor, to `below` at most; it may fail half-way.
    pub fn try_retain(&mut self, below: Offset) {
        self.floor_tried = self.floor_tried.max(below);
        self.is_floor_doubtful = true;
    }

    /// A start finds the chain beginning at `first`: if a retention that failed explains it, that is the
    /// floor.
    pub fn learn_floor(&mut self, first: Offset) {
        if self.floor < first && first <= self.floor_tried {
            self.retain(first);
        }
    }

    /// One behind the last living offset.
    pub fn living_next(&self) -> Offset {
        self.last_living().unwrap_or(self.floor)
    }

    /// One behind the last offset of a batch that lives, if any does: a floor that was only tried for is none.
    pub fn last_living(&self) -> Option<Offset> {
        let living = |write: &&Write| matches!(write.life, Life::Acknowledged | Life::Adopted);
        self.writes.iter().filter(living).map(|write| write.next).max()
    }
}

/// Whether a batch lies where it may continue what is served of its segment: the bytes between them could
/// hold the offsets between them, 256 a batch and 48 a message. Anything else is a stray to everybody.
fn continues(write: &Write, lying: &[Lying<'_>]) -> bool {
    let last = lying.iter().rfind(|batch| batch.segment == write.segment);
    let (end, next) = last
        .map_or((0, write.segment.offset()), |batch| (batch.position + batch.bytes.len() as u64, batch.next));
    let (Some(bytes), Some(offsets)) =
        (write.position.checked_sub(end), write.base.get().checked_sub(next.get()))
    else {
        return false;
    };
    offsets == 0 || u128::from(bytes) >= 256 + 48 * u128::from(offsets)
}
