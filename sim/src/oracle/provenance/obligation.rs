//! What a recovery owes each batch that was put into a log.
//!
//! Promises: each batch of each log has exactly one obligation, from what was promised and what went wrong.
//! Leaves out: batches that a fault put where they do not belong: nobody is owed them.

use std::ops::Range;

use recovery_core::units::{Offset, SegmentStart};

use super::file_truth::{FileTruth, Source};
use super::partition_truth::{PartitionTruth, SubmissionId};

/// What is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Obligation {
    /// Promised, and nothing but a clean crash happened to it: it is served, or the partition is refused
    /// for the damage of another batch with these bytes untouched.
    MustKeep,
    /// Not promised, or not known to be durable: a crash explains its absence.
    MayLose,
    /// Damaged, and nothing proves that it was durable: it may be cut, and never served damaged.
    MustNotServe,
    /// Damaged below a mark: this is loss, and the partition is refused.
    MustRefuse,
}

impl Obligation {
    /// Every obligation.
    pub const ALL: [Self; 4] = [Self::MustKeep, Self::MayLose, Self::MustNotServe, Self::MustRefuse];

    /// The permanent word for this obligation.
    pub const fn code(self) -> &'static str {
        match self {
            Self::MustKeep => "must-keep",
            Self::MayLose => "may-lose",
            Self::MustNotServe => "must-not-serve",
            Self::MustRefuse => "must-refuse",
        }
    }
}

/// One batch in one log, and what it is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    /// The log's segment.
    pub segment: SegmentStart,
    /// Its bytes there.
    pub range: Range<u64>,
    /// Which batch.
    pub submission: SubmissionId,
    /// Its first offset.
    pub first_offset: Offset,
    /// One behind its last offset.
    pub next_offset: Offset,
    /// What is owed.
    pub obligation: Obligation,
}

impl PartitionTruth {
    /// Every batch that stands in a log, by place, and what it is owed.
    pub fn owed(&self) -> Vec<Owed> {
        let mut owed: Vec<Owed> = Vec::new();
        for (segment, log) in self.logs() {
            for run in log.runs() {
                let Source::Batch { submission, from } = run.source else { continue };
                let start = run.range.start.checked_sub(from).expect("a batch starts within its log");
                let last = owed.last();
                // The runs of one batch follow each other.
                if last.is_some_and(|last| (last.segment, last.range.start) == (segment, start)) {
                    continue;
                }
                owed.push(self.owed_at(segment, log, submission, start));
            }
        }
        owed
    }

    fn owed_at(&self, segment: SegmentStart, log: &FileTruth, submission: SubmissionId, start: u64) -> Owed {
        let batch = self.submission(submission);
        let range = start..start + batch.length.get();
        let is_damaged = log.runs_in(range.clone()).any(|run| run.fault.is_some());
        let is_marked = self.is_below_a_mark(segment, range.end);
        let is_promised = batch.next_offset() <= self.promised();
        let obligation = match (is_damaged, is_marked, is_promised) {
            (true, true, _) => Obligation::MustRefuse,
            (true, false, _) => Obligation::MustNotServe,
            (false, _, true) => Obligation::MustKeep,
            (false, _, false) => Obligation::MayLose,
        };
        let (first_offset, next_offset) = (batch.base_offset, batch.next_offset());
        Owed { segment, range, submission, first_offset, next_offset, obligation }
    }

    /// A mark covers its own segment up to its position, and every older segment whole.
    fn is_below_a_mark(&self, segment: SegmentStart, end: u64) -> bool {
        self.marks()
            .iter()
            .any(|mark| mark.segment > segment || (mark.segment == segment && end <= mark.position.get()))
    }
}
