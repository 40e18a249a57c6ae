//! What may be said of a partition in numbers.
//!
//! Promises: messages are counted one by one and never by span (F39); what is not known is absent and never
//! 0, so that a dark partition does not look like an empty one (F70). Leaves out: totals over partitions.

use super::slot::SlotState;
use super::{Host, PartitionState, RebuildCause};
use crate::observe::PartitionFacts;
use crate::partition::Chain;
use crate::storage::Storage;
use crate::units::{Length, Namespace, Offset, SegmentStart};
use crate::wal::Key;

/// One partition in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionStatistics {
    /// Which life of which partition.
    pub key: Key,
    /// Its state.
    pub state: PartitionState,
    /// Why it is refused, unavailable or waiting for peers: a permanent code.
    pub code: Option<&'static str>,
    /// Acknowledged messages, counted one by one; `None` if it is not served.
    pub messages: Option<u64>,
    /// Acknowledged bytes of batches; `None` if it is not served.
    pub bytes: Option<Length>,
    /// Segments; `None` if it is not served.
    pub segments: Option<u64>,
    /// The offset of the next message; `None` if it is not served.
    pub next_offset: Option<Offset>,
}

/// Messages of each segment, as they were counted.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageCounts {
    segments: Vec<(SegmentStart, u64)>,
    /// Appended, and not acknowledged yet.
    pending: u64,
}

impl MessageCounts {
    /// What recovery counted.
    pub(super) fn of(facts: &PartitionFacts) -> Self {
        let segments = facts.segments.iter().map(|segment| (segment.start, segment.proven.messages));
        Self { segments: segments.collect(), pending: 0 }
    }

    pub(super) fn append(&mut self, messages: u64) {
        self.pending += messages;
    }

    /// What was appended is acknowledged, and lies in the last segment of `chain` that holds anything: a roll has begun
    /// another one behind it.
    pub(super) fn acknowledge(&mut self, chain: &Chain) {
        let messages = std::mem::take(&mut self.pending);
        let mut newest_first = chain.segments().iter().rev();
        let Some(last) = newest_first.find(|segment| segment.start.offset() < segment.next_offset) else {
            return;
        };
        match self.segments.last_mut() {
            Some((start, count)) if *start == last.start => *count += messages,
            Some(_) | None => self.segments.push((last.start, messages)),
        }
    }

    /// What was appended is forgotten.
    pub(super) const fn discard(&mut self) {
        self.pending = 0;
    }

    /// Segments have left at the front of `chain`.
    pub(super) fn retain(&mut self, chain: &Chain) {
        let first = chain.segments().first().map(|segment| segment.start);
        self.segments.retain(|(start, _)| first.is_some_and(|first| *start >= first));
    }

    pub(super) fn total(&self) -> u64 {
        self.segments.iter().map(|(_, count)| count).sum()
    }
}

impl<S: Storage> Host<S> {
    /// One partition in numbers: its newest life.
    pub fn statistics(&self, namespace: Namespace) -> Option<PartitionStatistics> {
        let key = self.newest(namespace)?;
        let slot = self.slots.get(&key)?;
        let state = slot.state.summary();
        let unknown = PartitionStatistics {
            key,
            state,
            code: None,
            messages: None,
            bytes: None,
            segments: None,
            next_offset: None,
        };
        Some(match &slot.state {
            SlotState::Served(served) => {
                let segments = served.writer.chain().segments();
                let bytes = segments.iter().fold(Length::ZERO, |sum, segment| {
                    sum.checked_add(segment.end.as_length()).expect("files are shorter than that")
                });
                PartitionStatistics {
                    messages: Some(served.counts.total()),
                    bytes: Some(bytes),
                    segments: Some(segments.len() as u64),
                    next_offset: Some(served.writer.next_offset()),
                    ..unknown
                }
            }
            SlotState::Refused(reason) => PartitionStatistics { code: Some(reason.code()), ..unknown },
            SlotState::Unavailable(cause) => PartitionStatistics { code: Some(cause.code()), ..unknown },
            SlotState::Rebuilding(rebuilding) => {
                let code = match &rebuilding.cause {
                    RebuildCause::Refused(reason) => reason.code(),
                    RebuildCause::Gap(_) => "gap",
                    RebuildCause::Unreadable(cause) => cause.code(),
                };
                PartitionStatistics { code: Some(code), ..unknown }
            }
            SlotState::Created | SlotState::Waiting | SlotState::Recovering(_) | SlotState::Deleting(_) => {
                unknown
            }
        })
    }
}
