//! Damage that verifies: checksums are made to fit an edit.
//!
//! Promises: written with the layouts alone, so that a field may take any value that leaves the layout
//! standing. Leaves out: where the bytes lie.

use recovery_core::format::{BatchHeader, stamp};
use xxhash_rust::xxh3::xxh3_64;

const BATCH_HEADER_BYTES: usize = 256;
const FRAME_HEADER_BYTES: usize = 48;
const CHECKSUM_BYTES: usize = 8;

/// Makes the checksums of a batch fit what it says, frame by frame and then as a whole. `false`: what it
/// says is no batch any more, and its checksums are as they were.
pub(super) fn batch(bytes: &mut [u8]) -> bool {
    let mut stamped = bytes.to_vec();
    let Some(header) = stamped.first_chunk::<BATCH_HEADER_BYTES>().map(BatchHeader::read) else {
        return false;
    };
    let mut at = BATCH_HEADER_BYTES;
    // Each pass takes at least a frame header.
    while let Some(end) = frame_end(&stamped, at) {
        let checksum = xxh3_64(&stamped[at + CHECKSUM_BYTES..end]);
        stamped[at..at + CHECKSUM_BYTES].copy_from_slice(&checksum.to_le_bytes());
        at = end;
    }
    if stamp(&mut stamped, header.partition_id, header.base_offset, header.base_timestamp).is_err() {
        return false;
    }
    bytes.copy_from_slice(&stamped);
    true
}

/// One behind the frame at `at`, if it is whole.
fn frame_end(batch: &[u8], at: usize) -> Option<usize> {
    let length_at = |at: usize| {
        let bytes = batch.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().expect("4 bytes")) as usize)
    };
    let end = at + FRAME_HEADER_BYTES + length_at(at + 32)? + length_at(at + 36)?;
    (end <= batch.len()).then_some(end)
}

/// Makes the checksum at the end of a record of the ledger, or of a superblock, fit what is before it.
pub(super) fn record(bytes: &mut [u8]) {
    if let Some(at) = bytes.len().checked_sub(CHECKSUM_BYTES) {
        let checksum = xxh3_64(&bytes[..at]);
        bytes[at..].copy_from_slice(&checksum.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Append, BatchId};
    use crate::world::producer::produce;
    use recovery_core::format::{BatchBuilder, Message};
    use recovery_core::units::{Namespace, Offset, PartitionId};

    fn sample() -> Vec<u8> {
        let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
        let append = Append { messages: 2, ..Append::new(namespace, BatchId(3)) };
        let (mut bytes, mut payload) = (Vec::new(), Vec::new());
        produce(&append, BatchId(3), 7, &mut bytes, &mut payload);
        stamp(&mut bytes, PartitionId::ZERO, Offset::new(5), 9).expect("it is a batch");
        bytes
    }

    #[test]
    fn an_untouched_batch_keeps_its_checksums() {
        let mut bytes = sample();
        assert!(batch(&mut bytes));
        assert_eq!(bytes, sample());
    }

    #[test]
    fn an_edited_payload_verifies_again() {
        let mut expected = Vec::new();
        let mut builder = BatchBuilder::begin(&mut expected, 1);
        let message = |payload| Message { id: 1, timestamp_delta: 0, payload, user_headers: &[] };
        builder.push(&message(b"after!")).expect("it is short");
        builder.finish();
        let mut bytes = Vec::new();
        let mut builder = BatchBuilder::begin(&mut bytes, 1);
        builder.push(&message(b"before")).expect("it is short");
        builder.finish();
        let at = bytes.len() - 6;
        bytes[at..].copy_from_slice(b"after!");
        assert!(batch(&mut bytes));
        assert_eq!(bytes, expected);
    }

    #[test]
    fn what_is_no_batch_any_more_is_left_alone() {
        let mut bytes = sample();
        bytes[48] = 9;
        let edited = bytes.clone();
        assert!(!batch(&mut bytes));
        assert_eq!(bytes, edited);
    }
}
