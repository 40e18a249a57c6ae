//! The batches of the next flush, stamped and back to back, in the order in which they came.
//!
//! Promises: what is flushed is all of them in one write; none can be left out on the way (N28).

use crate::format::{BatchHeader, ChainHash, IndexEntry, stamp};
use crate::units::{Length, Offset, PartitionId, Position};

/// Stamped batches that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    run: Option<Run>,
}

/// What the batches in a buffer add up to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Base offset and timestamp of the first batch.
    first: (Offset, u64),
    /// One behind the last message.
    pub(super) next_offset: Offset,
    /// The chain hash behind the last batch.
    pub(super) chain_hash: Option<ChainHash>,
}

impl Run {
    /// The index entry of a run that is written at `position`: that of its first batch.
    pub(super) const fn index_entry(&self, position: Position) -> IndexEntry {
        let (offset, timestamp) = self.first;
        IndexEntry { offset, timestamp, position }
    }
}

/// Where a batch belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) partition: PartitionId,
    pub(super) base_offset: Offset,
    /// One behind its last message.
    pub(super) next_offset: Offset,
    /// Server time, microseconds since the Unix epoch.
    pub(super) timestamp: u64,
    /// The chain hash before it.
    pub(super) chain_hash: Option<ChainHash>,
}

impl Buffer {
    /// The bytes of all batches.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes there are.
    pub(super) fn length(&self) -> Length {
        Length::new(self.bytes.len() as u64)
    }

    /// What the batches add up to; `None` if there is none.
    pub(super) const fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// Adds a batch that was let in.
    pub(super) fn push(&mut self, batch: &[u8], place: &Place) -> BatchHeader {
        let Place { partition, base_offset, next_offset, timestamp, chain_hash } = *place;
        let from = self.bytes.len();
        self.bytes.extend_from_slice(batch);
        let header = stamp(&mut self.bytes[from..], partition, base_offset, timestamp)
            .expect("a batch that was let in has the layout of one");
        assert!(header.next_offset() == Some(next_offset), "a batch moves the offset by its messages");
        let chain_hash = chain_hash.map(|hash| hash.after(header.batch_checksum));
        let first = match &self.run {
            Some(run) => {
                assert!(run.next_offset == base_offset, "batches follow each other without a gap");
                run.first
            }
            None => (base_offset, timestamp),
        };
        self.run = Some(Run { first, next_offset, chain_hash });
        header
    }

    /// Forgets every batch, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.run = None;
    }
}
