//! Gathers the batches of a residue that could be carried into segments of their own.
//!
//! Promises: runs ascend by position and by offset, and none touches an offset that is barred: held by the next
//! segment, or given up before. Leaves out: whether anything is carried ([`crate::decide`]).

use super::{RUNS_MAX, RecordedGap, Run};
use crate::format::{BATCH_BYTES_MAX, BatchHeader, ChainHash};
use crate::units::{Incarnation, Length, Namespace, Offset, PartitionId, Position, SegmentStart};

/// What a residue's batches are held against.
#[derive(Clone, Debug)]
pub(crate) struct RunRules {
    /// The segment that the residue is in.
    pub(crate) segment: SegmentStart,
    /// Where its proven prefix ends.
    pub(crate) stop: Position,
    /// One behind the last offset before it.
    pub(crate) next: Offset,
    /// The chain hash there.
    pub(crate) chain_hash: Option<ChainHash>,
    /// Whose batches they are.
    pub(crate) namespace: Namespace,
    /// Which life of it.
    pub(crate) incarnation: Option<Incarnation>,
    /// Offsets that no run may hold, ascending by their first.
    pub(crate) barred: Vec<RecordedGap>,
}

impl RunRules {
    /// The partition id that every batch must carry.
    pub(crate) const fn partition(&self) -> PartitionId {
        self.namespace.partition_id()
    }
}

/// The runs found so far.
#[derive(Debug)]
pub(crate) struct RunCollector {
    rules: RunRules,
    runs: Vec<Run>,
    /// One behind the last offset that the prefix or a run holds.
    next: Offset,
}

impl RunCollector {
    pub(crate) fn new(rules: RunRules) -> Self {
        let next = rules.next;
        Self { rules, runs: Vec::new(), next }
    }

    /// Looks at a batch that verifies. It is taken if it goes on where the last run ends, or lies just where the
    /// prefix ends, or `is_survivor` says that the bytes between could hold the offsets between.
    pub(crate) fn take(&mut self, position: Position, header: &BatchHeader, is_survivor: bool) {
        let Some(next) = header.next_offset() else { return };
        let first = header.base_offset;
        let is_ours = header.partition_id == self.rules.partition();
        let is_admitted = header.batch_length <= BATCH_BYTES_MAX;
        if !is_ours || !is_admitted || first < self.next || self.is_barred(first, next) {
            return;
        }
        let end = self.runs.last().and_then(|run| run.position.checked_add(run.length));
        if end == Some(position) && first == self.next {
            self.extend(header, next);
        } else if header.message_count > 0 && (is_survivor || position == self.rules.stop) {
            self.begin(position, header, next);
        }
    }

    /// The runs, ascending.
    pub(crate) fn finish(self) -> Vec<Run> {
        self.runs
    }

    fn is_barred(&self, first: Offset, next: Offset) -> bool {
        self.rules.barred.iter().any(|gap| gap.first < next && first < gap.next)
    }

    fn extend(&mut self, header: &BatchHeader, next: Offset) {
        let run = self.runs.last_mut().expect("what is extended was begun");
        run.length = run.length.checked_add(header.batch_length).expect("a run lies within its file");
        run.next = next;
        run.chain_hash = run.chain_hash.map(|hash| hash.after(header.batch_checksum));
        self.next = next;
    }

    fn begin(&mut self, position: Position, header: &BatchHeader, next: Offset) {
        if self.runs.len() == RUNS_MAX {
            return;
        }
        let first = header.base_offset;
        let is_continuing = position == self.rules.stop && first == self.rules.next;
        let start_hash = if first == self.rules.segment.offset() || is_continuing {
            self.rules.chain_hash
        } else {
            let segment = SegmentStart::at(first);
            let namespace = self.rules.namespace;
            self.rules.incarnation.map(|incarnation| ChainHash::start(namespace, incarnation, segment))
        };
        let chain_hash = start_hash.map(|hash| hash.after(header.batch_checksum));
        let length: Length = header.batch_length;
        self.runs.push(Run { position, length, first, next, chain_hash });
        self.next = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Checksum;

    fn header(offset: u64, length: u64) -> BatchHeader {
        BatchHeader {
            partition_id: PartitionId::new(3),
            base_offset: Offset::new(offset),
            base_timestamp: 0,
            origin_timestamp: 0,
            batch_length: Length::new(length),
            batch_checksum: Checksum::new(offset),
            message_count: 2,
        }
    }

    /// Batches by position, offset and length; what is gathered, as `position+length first..next`.
    #[track_caller]
    fn check(barred: &[(u64, u64)], batches: &[(u64, u64, u64)], expected: &str) {
        let gap =
            |(first, next): &(u64, u64)| RecordedGap { first: Offset::new(*first), next: Offset::new(*next) };
        let mut collector = RunCollector::new(RunRules {
            segment: SegmentStart::ZERO,
            stop: Position::new(100),
            next: Offset::new(5),
            chain_hash: None,
            namespace: Namespace { stream: 1, topic: 2, partition: 3 },
            incarnation: None,
            barred: barred.iter().map(gap).collect(),
        });
        for (position, offset, length) in batches {
            collector.take(Position::new(*position), &header(*offset, *length), true);
        }
        let told: Vec<String> = collector
            .finish()
            .iter()
            .map(|run| format!("{}+{} {}..{}", run.position, run.length, run.first, run.next))
            .collect();
        assert_eq!(told.join(", "), expected);
    }

    #[test]
    fn batches_that_follow_each_other_are_one_run() {
        check(&[], &[(400, 7, 300), (700, 9, 300), (1100, 11, 300)], "400+600 7..11, 1100+300 11..13");
        check(&[], &[(400, 7, 300), (700, 10, 300)], "400+300 7..9, 700+300 10..12");
    }

    #[test]
    fn offsets_that_are_held_or_given_up_are_in_no_run() {
        check(&[], &[(400, 4, 300), (700, 7, 300), (1000, 6, 300)], "700+300 7..9");
        check(&[(8, 9)], &[(400, 7, 300), (700, 9, 300)], "700+300 9..11");
        check(&[(9, u64::MAX)], &[(400, 7, 300), (700, 9, 300)], "400+300 7..9");
    }

    #[test]
    fn a_batch_above_the_ceiling_is_in_no_run() {
        let ceiling = BATCH_BYTES_MAX.get();
        check(&[], &[(400, 7, ceiling)], &format!("400+{ceiling} 7..9"));
        check(&[], &[(400, 7, ceiling + 1)], "");
    }

    #[test]
    fn runs_are_bounded_in_number() {
        let batches: Vec<_> = (0..RUNS_MAX as u64 + 5).map(|at| (400 + at * 400, 7 + at * 3, 300)).collect();
        let mut collector = RunCollector::new(RunRules {
            segment: SegmentStart::ZERO,
            stop: Position::new(100),
            next: Offset::new(5),
            chain_hash: None,
            namespace: Namespace { stream: 1, topic: 2, partition: 3 },
            incarnation: None,
            barred: Vec::new(),
        });
        for (position, offset, length) in batches {
            collector.take(Position::new(position), &header(offset, length), true);
        }
        assert_eq!(collector.finish().len(), RUNS_MAX);
    }
}
