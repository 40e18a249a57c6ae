//! Batches that verify by themselves, wherever they lie and whoever shows them.
//!
//! Promises: every checksum matches, or it is no batch. Leaves out: whether a batch belongs where it lies.

use std::ops::Range;

use recovery_core::units::{Offset, PartitionId};

use super::batch;

/// Every batch that verifies in a log, wherever it lies, but for those inside of another.
pub(in crate::oracle) fn verified_batches(log: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = batch::next_candidate(log, from) {
        match batch::verify(log, at) {
            Ok(batch) => {
                from = at + batch.length;
                found.push(at..from);
            }
            Err(_) => from = at + 1,
        }
    }
    found
}

/// A batch at the start of a log, behind others that verify and continue each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedBatch {
    /// Its bytes.
    pub range: Range<usize>,
    /// The partition it says it belongs to.
    pub partition_id: u64,
    /// Its first offset.
    pub base: u64,
    /// One behind its last offset.
    pub next: u64,
    /// Its messages.
    pub messages: u32,
    /// Payload bytes of its smallest message.
    pub smallest_payload: u32,
}

/// Whether `bytes` are one batch that verifies as a whole, of this partition and of these offsets, the second
/// one behind its last.
pub fn is_whole_batch(bytes: &[u8], partition_id: PartitionId, offsets: (Offset, Offset)) -> bool {
    verified_prefix(bytes).next().is_some_and(|batch| {
        batch.range == (0..bytes.len())
            && batch.partition_id == partition_id.get()
            && (Offset::new(batch.base), Offset::new(batch.next)) == offsets
    })
}

/// The batches that verify from the start of a log on, up to the first that does not, or does not continue
/// the one before it.
pub fn verified_prefix(log: &[u8]) -> impl Iterator<Item = VerifiedBatch> {
    let (mut at, mut expected) = (0, None);
    std::iter::from_fn(move || {
        let batch = batch::verify(log, at).ok().filter(|_| at < log.len())?;
        let next = batch.base_offset.checked_add(u64::from(batch.messages))?;
        if expected.is_some_and(|expected| expected != batch.base_offset) {
            return None;
        }
        let range = at..at + batch.length;
        (at, expected) = (range.end, Some(next));
        let smallest_payload = smallest_payload(&log[range.clone()]);
        let (partition_id, base, messages) = (batch.partition_id, batch.base_offset, batch.messages);
        Some(VerifiedBatch { range, partition_id, base, next, messages, smallest_payload })
    })
}

/// Payload bytes of the smallest message of a batch that verifies.
fn smallest_payload(batch: &[u8]) -> u32 {
    let (mut at, mut smallest) = (256, None);
    // Each pass takes at least a frame header.
    while let Some(frame) = batch.get(at..at + 48) {
        let length = |from: usize| u32::from_le_bytes(frame[from..from + 4].try_into().expect("4 bytes"));
        let (headers, payload) = (length(32), length(36));
        smallest = Some(smallest.map_or(payload, |smallest: u32| smallest.min(payload)));
        at += 48 + headers as usize + payload as usize;
    }
    smallest.unwrap_or_default()
}
