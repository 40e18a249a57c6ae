//! One life of one partition: what was submitted, acknowledged and promised, and where it stands.
//!
//! Promises: offsets that were promised stay known as promised for the whole life, whatever becomes of
//! their bytes. Leaves out: indexes and the ledger, which say nothing that is not said here.

use std::ops::Range;

use recovery_core::storage::Name;
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset, Position, SegmentStart};

use super::FaultId;
use super::file_truth::{FileTruth, Source};
use crate::schedule::{BatchId, Restart};

/// The number of a submission in its partition's ledger, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubmissionId(pub u32);

/// A batch that was given offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The schedule's name for it.
    pub batch: BatchId,
    /// Offset of its first message.
    pub base_offset: Offset,
    /// How many messages.
    pub messages: u32,
    /// Its length, header included.
    pub length: Length,
    /// XXH3-64 of everything behind its header: what a client sent, wherever it was put.
    pub content: u64,
    /// Which generation of the partition it was submitted in.
    pub generation: u32,
}

impl Submission {
    /// One behind its last offset.
    pub fn next_offset(&self) -> Offset {
        let next = self.base_offset.checked_add(u64::from(self.messages));
        next.expect("a batch that was admitted has a next offset")
    }
}

/// A mark of the ledger that follows a sync which returned success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurableMark {
    /// The segment.
    pub segment: SegmentStart,
    /// One behind the last durable byte.
    pub position: Position,
    /// One behind the last durable offset.
    pub next_offset: Offset,
}

/// Everything known about one life of one partition.
#[derive(Clone, Debug)]
pub struct PartitionTruth {
    namespace: Namespace,
    incarnation: Incarnation,
    generation: u32,
    submissions: Vec<Submission>,
    /// Logs by segment, ascending.
    logs: Vec<(SegmentStart, FileTruth)>,
    marks: Vec<DurableMark>,
    acknowledged: Offset,
    promised: Offset,
    floor: Offset,
}

impl PartitionTruth {
    pub(super) const fn new(namespace: Namespace, incarnation: Incarnation) -> Self {
        Self {
            namespace,
            incarnation,
            generation: 0,
            submissions: Vec::new(),
            logs: Vec::new(),
            marks: Vec::new(),
            acknowledged: Offset::ZERO,
            promised: Offset::ZERO,
            floor: Offset::ZERO,
        }
    }

    /// Which partition.
    pub const fn namespace(&self) -> Namespace {
        self.namespace
    }

    /// Which life of it.
    pub const fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Raised by each recovery that cuts something.
    pub const fn generation(&self) -> u32 {
        self.generation
    }

    /// A batch is given offsets. Nothing is promised by that.
    pub fn submit(&mut self, submission: Submission) -> SubmissionId {
        let id = SubmissionId(u32::try_from(self.submissions.len()).expect("a world has few batches"));
        self.submissions.push(Submission { generation: self.generation, ..submission });
        id
    }

    /// A submitted batch.
    pub fn submission(&self, id: SubmissionId) -> &Submission {
        &self.submissions[id.0 as usize]
    }

    /// Every submission of every generation, in order.
    pub fn submissions(&self) -> &[Submission] {
        &self.submissions
    }

    /// Bytes `part` of a submitted batch are written to a log, from `position` on.
    pub fn write(&mut self, segment: SegmentStart, position: Position, id: SubmissionId, part: Range<u64>) {
        assert!(part.end <= self.submission(id).length.get(), "a batch has no more bytes than it has");
        let start = position.get();
        let source = Source::Batch { submission: id, from: part.start };
        self.log_mut(segment).write(start..start + (part.end - part.start), source);
    }

    /// What stands in a log.
    pub fn log(&self, segment: SegmentStart) -> Option<&FileTruth> {
        self.logs.iter().find(|(start, _)| *start == segment).map(|(_, log)| log)
    }

    /// The same, to be told something; a log that is not known yet is empty.
    pub fn log_mut(&mut self, segment: SegmentStart) -> &mut FileTruth {
        let at = self.logs.partition_point(|(start, _)| *start < segment);
        if self.logs.get(at).is_none_or(|(start, _)| *start != segment) {
            self.logs.insert(at, (segment, FileTruth::default()));
        }
        &mut self.logs[at].1
    }

    /// Every log, ascending.
    pub fn logs(&self) -> impl Iterator<Item = (SegmentStart, &FileTruth)> {
        self.logs.iter().map(|(start, log)| (*start, log))
    }

    /// All offsets below `next` are acknowledged, under this promise.
    pub fn acknowledge(&mut self, next: Offset, durability: Durability) {
        self.acknowledged = self.acknowledged.max(next);
        match durability {
            Durability::Buffered => {}
            Durability::Synced | Durability::Proven => self.promised = self.promised.max(next),
        }
    }

    /// The ledger says that a sync covered this: whatever the mode, it is a promise now.
    pub fn mark(&mut self, mark: DurableMark) {
        self.acknowledged = self.acknowledged.max(mark.next_offset);
        self.promised = self.promised.max(mark.next_offset);
        self.marks.push(mark);
    }

    /// Every mark, in the order they were made.
    pub fn marks(&self) -> &[DurableMark] {
        &self.marks
    }

    /// Retention: nothing below `floor` is owed to anybody.
    pub fn raise_floor(&mut self, floor: Offset) {
        self.floor = self.floor.max(floor);
        self.logs.retain(|(start, _)| start.offset() >= floor);
        self.marks.retain(|mark| mark.segment.offset() >= floor);
    }

    /// One behind the last acknowledged offset.
    pub const fn acknowledged(&self) -> Offset {
        self.acknowledged
    }

    /// One behind the last offset that no clean crash may lose.
    pub const fn promised(&self) -> Offset {
        self.promised
    }

    /// Offsets that must be served after a clean crash of this kind: a process takes no cache with it.
    pub fn must_serve(&self, restart: Restart) -> Range<Offset> {
        let end = match restart {
            Restart::Process => self.acknowledged,
            Restart::Os | Restart::Power => self.promised,
        };
        self.floor..end.max(self.floor)
    }

    /// The node goes down.
    pub fn crash(&mut self, restart: Restart) {
        match restart {
            Restart::Process => {}
            Restart::Os | Restart::Power => self.logs.iter_mut().for_each(|(_, log)| log.crash()),
        }
    }

    /// A recovery serves the segment up to `position`, and has cut what lay behind it.
    pub fn adopt(&mut self, segment: SegmentStart, position: Position) {
        let log = self.log_mut(segment);
        let is_cut = log.length() > position.get();
        log.set_length(position.get());
        log.adopt(position.get());
        if is_cut {
            self.generation += 1;
        }
    }

    /// The chain that recovery serves ends before `next`. Acknowledged batches behind it are lost to
    /// clients, and what is promised stays promised: whether that was allowed is for the invariants to say.
    pub fn serve_to(&mut self, next: Offset) {
        self.acknowledged = self.acknowledged.min(next).max(self.promised);
    }

    /// The submission that holds `offset` by a promise: no other batch may ever get it.
    pub fn promised_holder(&self, offset: Offset) -> Option<&Submission> {
        let holds =
            |submission: &&Submission| submission.base_offset <= offset && offset < submission.next_offset();
        if offset >= self.promised { None } else { self.submissions.iter().find(holds) }
    }

    /// Whether a batch with this base offset and content was ever submitted in the current generation or
    /// in an earlier one that was adopted: what may be served at that offset.
    pub fn was_submitted(&self, base_offset: Offset, content: u64) -> bool {
        self.submissions
            .iter()
            .any(|submission| submission.base_offset == base_offset && submission.content == content)
    }

    /// A fault hits bytes of a file; only those of logs are known here.
    pub(super) fn damage(&mut self, file: &Name, range: Range<u64>, fault: FaultId) {
        let is_log = |(start, _): &&mut (SegmentStart, FileTruth)| {
            file.as_bytes() == format!("{:020}.log", start.get()).as_bytes()
        };
        if let Some((_, log)) = self.logs.iter_mut().find(is_log) {
            log.damage(range, fault);
        }
    }
}
