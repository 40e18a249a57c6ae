//! What the generator believes it has written: names to aim at, and an estimate of where they lie.

use recovery_core::units::{Namespace, SegmentStart};

use crate::schedule::step::BatchId;
use crate::schedule::world::PartitionHeader;

const BATCH_HEADER_BYTES: u64 = 256;
const FRAME_HEADER_BYTES: u64 = 48;

/// One partition as the generator sees it.
#[derive(Clone, Debug)]
pub(super) struct Book {
    pub(super) header: PartitionHeader,
    pub(super) batches: Vec<Written>,
    /// Ascending; never empty.
    pub(super) segments: Vec<SegmentEstimate>,
    /// Most segments that it may have.
    segments_most: usize,
    /// The offset after the last message, if nothing was ever lost.
    pub(super) next_offset: u64,
    /// Whether something was appended since the last flush.
    pub(super) is_dirty: bool,
}

/// A batch that was handed to a writer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) batch: BatchId,
    pub(super) messages: u32,
    pub(super) payload_bytes: u32,
    pub(super) segment: SegmentStart,
    /// Where it starts in its log, if nothing was ever lost.
    pub(super) position: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentEstimate {
    pub(super) start: SegmentStart,
    pub(super) bytes: u64,
}

impl Book {
    pub(super) fn new(header: PartitionHeader, segments_most: usize) -> Self {
        let start = SegmentStart::at(header.first_offset);
        Self {
            header,
            batches: Vec::with_capacity(16),
            segments: vec![SegmentEstimate { start, bytes: 0 }],
            segments_most,
            next_offset: header.first_offset.get(),
            is_dirty: false,
        }
    }

    /// Another life of it begins, with nothing written.
    pub(super) fn begin_life(&mut self) {
        *self = Self::new(self.header, self.segments_most);
    }

    pub(super) fn namespace(&self) -> Namespace {
        self.header.namespace
    }

    pub(super) fn last_segment(&self) -> SegmentEstimate {
        *self.segments.last().expect("a partition has a segment")
    }

    /// Whether the next append goes to a new segment: the last one is full, and no flush is under way.
    pub(super) fn is_full(&self) -> bool {
        !self.is_dirty && self.last_segment().bytes >= self.header.segment_bytes
    }

    /// Whether it may have another segment.
    pub(super) fn may_roll(&self) -> bool {
        self.segments.len() < self.segments_most
    }

    /// Notes that a new segment begins, behind a flush of everything. An empty one is not left.
    pub(super) fn roll(&mut self) {
        self.is_dirty = false;
        let start = SegmentStart::new(self.next_offset);
        if self.last_segment().start != start {
            self.segments.push(SegmentEstimate { start, bytes: 0 });
        }
    }

    /// Notes one batch.
    pub(super) fn append(&mut self, batch: BatchId, messages: u32, payload_bytes: u32) {
        if self.is_full() {
            self.roll();
        }
        self.is_dirty = true;
        let segment = self.segments.last_mut().expect("a partition has a segment");
        let position = segment.bytes;
        self.batches.push(Written { batch, messages, payload_bytes, segment: segment.start, position });
        segment.bytes += batch_bytes(messages, payload_bytes);
        // Admission ends where offsets do; an estimate may stand still there.
        self.next_offset = self.next_offset.saturating_add(u64::from(messages));
    }
}

/// Bytes of a batch without user headers.
pub(super) const fn batch_bytes(messages: u32, payload_bytes: u32) -> u64 {
    BATCH_HEADER_BYTES + messages as u64 * (FRAME_HEADER_BYTES + payload_bytes as u64)
}

impl Written {
    /// Its length.
    pub(super) const fn bytes(&self) -> u64 {
        batch_bytes(self.messages, self.payload_bytes)
    }
}
