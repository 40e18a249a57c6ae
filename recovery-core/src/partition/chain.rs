//! What may be read: the segments of a partition, each up to its last acknowledged byte.
//!
//! Promises: a plain value; the writer moves it forward at acknowledgements only, so a copy of it bounds a
//! reader that runs beside the writer. Leaves out: the files.

use crate::units::{Length, Offset, PartitionId, Position, SegmentStart};

/// One segment, as far as it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainSegment {
    /// The segment.
    pub start: SegmentStart,
    /// One behind its last acknowledged byte.
    pub end: Position,
    /// One behind its last acknowledged offset; its start if it holds none.
    pub next_offset: Offset,
    /// Bytes of its index that are whole entries of acknowledged batches.
    pub index_length: Length,
}

/// The segments of a partition that may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    partition: PartitionId,
    segments: Vec<ChainSegment>,
}

impl Chain {
    /// A chain of `segments`, ascending.
    pub fn new(partition: PartitionId, segments: impl IntoIterator<Item = ChainSegment>) -> Self {
        let mut chain = Self { partition, segments: Vec::new() };
        for segment in segments {
            chain.push(segment);
        }
        chain
    }

    /// The id that every batch of it carries.
    pub const fn partition(&self) -> PartitionId {
        self.partition
    }

    /// Its segments, ascending.
    pub fn segments(&self) -> &[ChainSegment] {
        &self.segments
    }

    /// One behind the last acknowledged offset; `None` if there is no segment.
    pub fn next_offset(&self) -> Option<Offset> {
        self.segments.last().map(|segment| segment.next_offset)
    }

    /// The index of the segment in which a read from `from` begins: the last that starts at or below it.
    /// `None` if all start above.
    pub fn place(&self, from: Offset) -> Option<usize> {
        self.segments.partition_point(|segment| segment.start.offset() <= from).checked_sub(1)
    }

    pub(super) fn push(&mut self, segment: ChainSegment) {
        assert!(segment.next_offset >= segment.start.offset(), "a segment ends behind its start");
        if let Some(last) = self.segments.last() {
            assert!(segment.start > last.start, "segments ascend");
            assert!(segment.start.offset() >= last.next_offset, "segments do not overlap");
        }
        self.segments.push(segment);
    }

    /// Moves the end of the last segment forward.
    pub(super) fn acknowledge(&mut self, end: Position, next_offset: Offset, index_length: Length) {
        let last = self.segments.last_mut().expect("a batch lies in a segment");
        assert!(end >= last.end, "an acknowledgement is never taken back");
        assert!(next_offset >= last.next_offset, "an acknowledgement is never taken back");
        *last = ChainSegment { start: last.start, end, next_offset, index_length };
    }

    /// Takes the first `count` segments out.
    pub(super) fn take_front(&mut self, count: usize) -> impl Iterator<Item = ChainSegment> {
        assert!(count < self.segments.len(), "the last segment is kept");
        self.segments.drain(..count)
    }
}
