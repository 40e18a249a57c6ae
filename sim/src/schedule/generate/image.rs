//! Worlds that start with a real directory instead of an empty disk.
//!
//! Promises: the directory is known to the generator only as it stands here, so the same directory and
//! seed give the same schedule. The batches of a directory have ids like all others: from 0, partition by
//! partition in the order of the list, segment by segment, in the order of their positions; what the
//! schedule writes comes after them.

use recovery_core::units::SegmentStart;

use super::book::{Book, SegmentEstimate, Written};
use crate::schedule::step::{BatchId, NodeId};
use crate::schedule::world::{Image, PartitionHeader};

/// A directory as the generator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageShape {
    /// Its path, as schedules name it.
    pub directory: String,
    /// Its partitions.
    pub partitions: Vec<ImagePartition>,
}

/// One partition of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePartition {
    /// Which, and how its writer goes on.
    pub header: PartitionHeader,
    /// Its segments, ascending.
    pub segments: Vec<ImageSegment>,
    /// One behind its last offset.
    pub next_offset: u64,
}

/// One segment of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSegment {
    /// Which.
    pub start: SegmentStart,
    /// Bytes of its log.
    pub log_bytes: u64,
    /// Its whole batches, in the order of their positions.
    pub batches: Vec<ImageBatch>,
}

/// One batch of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageBatch {
    /// Where it starts in the log.
    pub position: u64,
    /// Its messages.
    pub messages: u32,
    /// Payload bytes of its smallest message.
    pub payload_bytes: u32,
}

impl ImageShape {
    /// How many batches it holds: the id of the first batch that a schedule writes.
    ///
    /// # Panics
    ///
    /// If it holds more batches than there are ids.
    pub fn batch_count(&self) -> u32 {
        let segments = self.partitions.iter().flat_map(|partition| &partition.segments);
        let count: usize = segments.map(|segment| segment.batches.len()).sum();
        u32::try_from(count).expect("a directory holds fewer batches than there are ids")
    }

    /// The line of a world's header.
    pub(super) fn image(&self) -> Image {
        Image { directory: self.directory.clone(), node: NodeId(0) }
    }

    /// What the generator believes is written when the world starts.
    pub(super) fn books(&self, segments_more: usize) -> Vec<Book> {
        let mut next = 0;
        self.partitions.iter().map(|partition| partition.book(&mut next, segments_more)).collect()
    }
}

impl ImagePartition {
    fn book(&self, next: &mut u32, segments_more: usize) -> Book {
        assert!(!self.segments.is_empty(), "a partition of an image has a segment");
        let mut book = Book::new(self.header, self.segments.len() + segments_more);
        book.segments.clear();
        for segment in &self.segments {
            book.segments.push(SegmentEstimate { start: segment.start, bytes: segment.log_bytes });
            for batch in &segment.batches {
                book.batches.push(Written {
                    batch: BatchId(*next),
                    messages: batch.messages,
                    payload_bytes: batch.payload_bytes,
                    segment: segment.start,
                    position: batch.position,
                });
                *next += 1;
            }
        }
        book.next_offset = self.next_offset;
        book
    }
}
