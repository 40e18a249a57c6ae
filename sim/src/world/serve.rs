//! What clients ask of a partition that is served: append, flush, roll, checkpoint, retain, poll, stop.
//!
//! Promises: the truth is told of every answer at the instant it is given, never later. Leaves out: whether
//! the answers are right.

use recovery_core::format::stamp;
use recovery_core::partition::{Acknowledged, Appended, Writer, WriterError};
use recovery_core::units::{Durability, Offset};

use super::event::{EventCode, Recorder, word};
use super::node::{Service, Slot};
use super::producer::{produce, time_of};
use crate::disk::SimDisk;
use crate::oracle::truth::Life;
use crate::schedule::{Append, BatchId, Retain};

/// Buffers that are reused from batch to batch.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) batch: Vec<u8>,
    pub(super) payload: Vec<u8>,
}

/// How a client's call was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// As asked.
    Done,
    /// With an error, by its permanent code.
    Failed(&'static str),
    /// The partition is not there, or its node is down.
    Missed,
}

/// An append under way.
pub(super) struct Appending<'a> {
    pub(super) disk: &'a SimDisk,
    pub(super) slot: &'a mut Slot,
    pub(super) step: u32,
    pub(super) scratch: &'a mut Scratch,
    pub(super) recorder: &'a mut Recorder,
}

impl Appending<'_> {
    /// Appends the batches of a step, one by one, until one fails.
    pub(super) fn run(&mut self, append: &Append) -> Answer {
        for index in 0..append.count {
            let batch = BatchId(append.batch.0 + index);
            let time = time_of(self.step);
            produce(append, batch, time, &mut self.scratch.batch, &mut self.scratch.payload);
            match self.one(batch, time) {
                Answer::Done => {}
                answer @ (Answer::Failed(_) | Answer::Missed) => return answer,
            }
        }
        Answer::Done
    }

    fn one(&mut self, batch: BatchId, time: u64) -> Answer {
        let namespace = self.slot.header.namespace;
        let Service::Serving(writer) = &mut self.slot.service else { return refused(self.slot) };
        let bytes = &mut self.scratch.batch;
        let Appended { base_offset, next_offset } = match writer.append(self.disk, bytes, time) {
            Ok(appended) => appended,
            Err(error) => return failed(&error, self.disk, self.recorder, namespace.packed()),
        };
        let (base, next) = (base_offset.get(), next_offset.get());
        let pending = self.disk.recorded();
        self.recorder.note_behind(pending, EventCode::Appended, (u64::from(batch.0), base, next));
        stamp(bytes, namespace.partition_id(), base_offset, time).expect("what was taken in is whole");
        let last = writer.chain().segments().last().expect("an append has a segment");
        let position = last.end.get() + writer.buffered_length().get() - bytes.len() as u64;
        let place = (last.start, position);
        self.slot.truth.append(Some(batch), (base_offset, next_offset), place, bytes, Life::Buffered);
        Answer::Done
    }
}

/// Flushes what is buffered.
pub(super) fn flush(disk: &SimDisk, slot: &mut Slot, recorder: &mut Recorder) -> Answer {
    let Service::Serving(writer) = &mut slot.service else { return refused(slot) };
    slot.truth.try_flush();
    let flushed = writer.flush(disk);
    acknowledged(slot, flushed, disk, recorder)
}

/// Makes everything acknowledged durable.
pub(super) fn checkpoint(disk: &SimDisk, slot: &mut Slot, recorder: &mut Recorder) -> Answer {
    let Service::Serving(writer) = &mut slot.service else { return refused(slot) };
    slot.truth.try_flush();
    match writer.checkpoint(disk) {
        Ok(()) => {
            promise_all(slot);
            Answer::Done
        }
        Err(error) => failed(&error, disk, recorder, slot.header.namespace.packed()),
    }
}

/// Closes the active segment and begins another.
pub(super) fn roll(disk: &SimDisk, slot: &mut Slot, recorder: &mut Recorder) -> Answer {
    let Service::Serving(writer) = &mut slot.service else { return refused(slot) };
    let last = |writer: &Writer<SimDisk>| writer.chain().segments().last().map(|segment| segment.start);
    let before = last(writer);
    slot.truth.try_flush();
    let rolled = writer.roll(disk);
    let is_sealed = last(writer) != before;
    // A roll flushes first. If it fails behind that, what it flushed is there for readers all the same.
    let readable = writer.chain().next_offset();
    let answer = acknowledged(slot, rolled, disk, recorder);
    if let Some(readable) = readable {
        slot.truth.acknowledge(readable);
    }
    // A roll syncs the log before it seals it. One of a log without a message seals nothing.
    if answer == Answer::Done && is_sealed {
        promise_all(slot);
    }
    answer
}

/// Deletes the segments that lie wholly below an offset.
pub(super) fn retain(disk: &SimDisk, slot: &mut Slot, retain: &Retain, recorder: &mut Recorder) -> Answer {
    let Service::Serving(writer) = &mut slot.service else { return refused(slot) };
    slot.truth.try_flush();
    slot.truth.try_retain(retain.below);
    let retained = writer.retain(disk, retain.below);
    // Even a deletion that failed half-way has moved the floor, which comes first.
    if let Some(first) = writer.chain().segments().first() {
        let floor = first.start.offset();
        slot.truth.retain(floor);
    }
    match retained {
        Ok(()) => {
            slot.truth.is_floor_doubtful = false;
            Answer::Done
        }
        Err(error) => failed(&error, disk, recorder, slot.header.namespace.packed()),
    }
}

/// Stops a partition cleanly.
pub(super) fn stop(disk: &SimDisk, slot: &mut Slot, recorder: &mut Recorder) -> Answer {
    let Service::Serving(mut writer) = std::mem::replace(&mut slot.service, Service::Down) else {
        return Answer::Missed;
    };
    slot.truth.try_flush();
    let stopped = writer.stop(disk);
    let answer = acknowledged(slot, stopped, disk, recorder);
    if answer == Answer::Done {
        promise_all(slot);
    }
    // A stop that failed may have written what was buffered: the next start tells.
    writer.close(disk).close(disk);
    let (namespace, is_done) = (slot.header.namespace.packed(), u64::from(answer == Answer::Done));
    recorder.note_behind(disk.recorded(), EventCode::Stopped, (namespace, is_done, 0));
    answer
}

/// Everything that lives is durable now, and the ledger, if there is one, says so durably.
pub(super) fn promise_all(slot: &mut Slot) {
    let next = slot.truth.living_next();
    slot.truth.promise(next);
    if slot.header.ledger {
        slot.truth.mark(next);
    }
}

/// Tells the truth of an acknowledgement, and of what the partition's mode promises by it.
pub(super) fn tell_acknowledged(slot: &mut Slot, next: Offset) {
    // A flush makes the mark durable that it makes itself, or the one before that, or none; one that
    // has nothing to write makes nothing durable.
    let marks = slot.truth.acknowledge(next) && slot.header.ledger;
    match slot.header.durability {
        Durability::Buffered => {}
        Durability::Synced => {
            if marks {
                // Before the promise: what it adds is marked by the next flush.
                slot.truth.mark(next);
            }
            slot.truth.promise(next);
        }
        Durability::Proven => {
            slot.truth.promise(next);
            if marks {
                slot.truth.mark(next);
            }
        }
    }
}

fn acknowledged(
    slot: &mut Slot,
    flushed: Result<Acknowledged, WriterError>,
    disk: &SimDisk,
    recorder: &mut Recorder,
) -> Answer {
    let namespace = slot.header.namespace.packed();
    match flushed {
        Ok(acknowledged) => {
            let next = acknowledged.next_offset;
            tell_acknowledged(slot, next);
            recorder.note_behind(disk.recorded(), EventCode::Acknowledged, (namespace, next.get(), 0));
            Answer::Done
        }
        Err(error) => failed(&error, disk, recorder, namespace),
    }
}

fn failed(error: &WriterError, disk: &SimDisk, recorder: &mut Recorder, namespace: u64) -> Answer {
    recorder.note_behind(disk.recorded(), EventCode::WriterFailed, (namespace, word(error.code()), 0));
    Answer::Failed(error.code())
}

fn refused(slot: &Slot) -> Answer {
    match &slot.service {
        Service::Down | Service::Serving(_) => Answer::Missed,
        Service::Refused(code) => Answer::Failed(code.code()),
        Service::Unavailable => Answer::Failed("unavailable"),
    }
}
