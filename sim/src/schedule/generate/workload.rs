//! What clients do between two downs: append, flush, roll, checkpoint, retain, read.

use recovery_core::units::{Namespace, Offset};

use super::draft::Draft;
use super::errors::Moment;
use super::swarm::Habit;
use crate::schedule::step::{Action, Append, BatchId, Poll, Retain};
use crate::schedule::tape::Stream;
use crate::schedule::world::Regime;

const STREAM: Stream = Stream::Workload;

/// How many of 1000 phases of work of the unlimited regime see damage while the node is up.
const LIVE_DAMAGE_SHARE: u32 = 150;

#[derive(Clone, Copy)]
enum Deed {
    AppendAndFlush,
    Append,
    Flush,
    Poll,
    Roll,
    Checkpoint,
    Retain,
    Evict,
}

impl Draft<'_> {
    /// One phase of work, with `downs` of them still to come.
    pub(super) fn write_phase(&mut self, downs: u32) {
        let left = self.batches_end - self.next_batch;
        let last_batch = self.next_batch + left / (downs + 1);
        if self.steps.is_empty() {
            // A world begins by writing something, so that there is something to lose.
            let at = self.pick_partition(STREAM);
            self.append_and_flush(at, last_batch);
        }
        let actions = self.tape.range(STREAM, 0, self.shape.actions);
        for _ in 0..actions {
            self.deed(last_batch);
        }
        if self.world.regime == Regime::Unlimited && self.tape.chance(Stream::Faults, LIVE_DAMAGE_SHARE) {
            self.damage();
        }
    }

    fn deed(&mut self, last_batch: u32) {
        let at = self.pick_partition(STREAM);
        let deeds = [
            (6, Deed::AppendAndFlush),
            (4, Deed::Append),
            (2, Deed::Flush),
            (1, Deed::Poll),
            (self.swarm.weight(Habit::Roll, 2), Deed::Roll),
            (self.swarm.weight(Habit::Checkpoint, 2), Deed::Checkpoint),
            (self.swarm.weight(Habit::Retention, 2), Deed::Retain),
            (self.swarm.weight(Habit::Evict, 1), Deed::Evict),
        ];
        let partition = self.books[at].namespace();
        match self.tape.weighted(STREAM, &deeds) {
            Deed::Append => self.append(at, last_batch),
            Deed::Flush if self.books[at].is_dirty => self.flush(at),
            Deed::AppendAndFlush | Deed::Flush => self.append_and_flush(at, last_batch),
            Deed::Poll => self.poll(at),
            Deed::Roll => self.roll(at),
            Deed::Checkpoint => self.disturbed(Action::Checkpoint(partition), Moment::Checkpoint),
            Deed::Retain => self.retain(at),
            Deed::Evict => self.push(Action::Evict(None)),
        }
    }

    pub(super) fn append_and_flush(&mut self, at: usize, last_batch: u32) {
        self.append(at, last_batch);
        // Where the size of the world allows no more batches, there may be nothing to flush.
        if self.books[at].is_dirty { self.flush(at) } else { self.poll(at) }
    }

    pub(super) fn flush(&mut self, at: usize) {
        self.books[at].is_dirty = false;
        let partition = self.books[at].namespace();
        self.disturbed(Action::Flush(partition), Moment::Flush);
    }

    pub(super) fn pick_partition(&mut self, stream: Stream) -> usize {
        self.tape.index(stream, self.books.len())
    }

    /// Appends, if that is still allowed.
    pub(super) fn append(&mut self, at: usize, last_batch: u32) {
        if let Some(append) = self.draw_append(at, last_batch) {
            self.disturbed(Action::Append(append), Moment::Append);
        }
    }

    /// Draws some batches of one shape; `None` if the world has all the batches, or the partition all the
    /// segments, that its size allows.
    pub(super) fn draw_append(&mut self, at: usize, last_batch: u32) -> Option<Append> {
        let book = &self.books[at];
        let may_not_roll = !book.may_roll();
        let mut append = Append::new(book.namespace(), BatchId(self.next_batch));
        if self.next_batch >= last_batch || (may_not_roll && book.is_full()) {
            return None;
        }
        let room = u64::from(last_batch - self.next_batch);
        let most = self.tape.weighted(STREAM, &[(3, 1), (2, 3), (1, 6)]).min(room);
        append.count = narrow(self.tape.range(STREAM, 1, most));
        append.messages = narrow(self.tape.range(STREAM, 1, self.shape.messages));
        append.payload_bytes = self.payload_bytes();
        for _ in 0..append.count {
            let batch = BatchId(self.next_batch);
            self.books[at].append(batch, append.messages, append.payload_bytes);
            self.next_batch += 1;
        }
        Some(append)
    }

    fn payload_bytes(&mut self) -> u32 {
        let most = match self.shape.wide_payload_bytes {
            0 => self.shape.payload_bytes,
            wide => self.tape.weighted(STREAM, &[(7, self.shape.payload_bytes), (1, wide)]),
        };
        narrow(self.tape.range(STREAM, 0, most))
    }

    pub(super) fn roll(&mut self, at: usize) {
        if self.books[at].may_roll() {
            self.books[at].roll();
            let partition = self.books[at].namespace();
            self.disturbed(Action::Roll(partition), Moment::Roll);
        }
    }

    /// Lets go of some segments, if there is more than one.
    pub(super) fn retain(&mut self, at: usize) {
        if let Some(retain) = self.retention(at) {
            self.disturbed(Action::Retain(retain), Moment::Retain);
        }
    }

    /// Names a segment that stays while the older ones go; `None` if there are no older ones.
    pub(super) fn retention(&mut self, at: usize) -> Option<Retain> {
        let older = self.books[at].segments.len() - 1;
        if older == 0 {
            return None;
        }
        let kept = 1 + self.tape.index(STREAM, older);
        let book = &self.books[at];
        Some(Retain { partition: book.namespace(), below: book.segments[kept].start.offset() })
    }

    pub(super) fn poll(&mut self, at: usize) {
        let (partition, first, next) = self.offsets(at);
        let from = self.tape.range(STREAM, first, next);
        let count = narrow(self.tape.range(STREAM, 1, 64));
        let action = Action::Poll(Poll { partition, from: Offset::new(from), count });
        self.disturbed(action, Moment::Poll);
    }

    /// After a start: reads every partition from its first offset on, mostly.
    pub(super) fn look(&mut self) {
        for at in 0..self.books.len() {
            if self.tape.chance(STREAM, 200) {
                continue;
            }
            let (partition, first, _) = self.offsets(at);
            self.push(Action::Poll(Poll { partition, from: Offset::new(first), count: 1000 }));
        }
    }

    fn offsets(&self, at: usize) -> (Namespace, u64, u64) {
        let book = &self.books[at];
        (book.namespace(), book.header.first_offset.get(), book.next_offset)
    }

    /// A step of the workload, perhaps with a call that goes wrong.
    pub(super) fn disturbed(&mut self, action: Action, moment: Moment) {
        let errors = self.step_errors(moment);
        self.push_inside(action, errors);
    }
}

pub(super) fn narrow(number: u64) -> u32 {
    u32::try_from(number).expect("draws of the generator fit 32 bits")
}
