//! A segment's index: does it agree with the log, and what does it promise where nothing else is known.

use recovery_core::observe::IndexState;

use super::little_endian::u64_at;
use super::walk::{Proven, Walk};

/// Bytes of an index entry.
const ENTRY_BYTES: usize = 24;

fn entry_at(bytes: &[u8]) -> Proven {
    Proven { base_offset: u64_at(bytes, 0), base_timestamp: u64_at(bytes, 8), position: u64_at(bytes, 16) }
}

/// How the index relates to the proven batches of its log (DESIGN section 5).
pub(super) fn state(index: Option<&[u8]>, batches: &[Proven]) -> IndexState {
    let Some(index) = index else { return IndexState::Absent };
    let mut entries = index.chunks_exact(ENTRY_BYTES).map(entry_at).peekable();
    let has_partial_tail = !index.len().is_multiple_of(ENTRY_BYTES);
    if entries.peek().is_none() && !batches.is_empty() {
        return IndexState::Absent;
    }
    let starts_at_first_batch = entries.peek().is_none_or(|entry| Some(entry) == batches.first());
    // Each entry is looked for behind the one before it, so that found means ascending positions as well.
    // Offsets stand still at a batch of no messages: two entries of one offset find nothing by it.
    let mut batches = batches.iter();
    let mut before = None;
    let mut fits = |entry: Proven| {
        let ascends = before < Some(entry.base_offset);
        before = Some(entry.base_offset);
        ascends && batches.any(|batch| *batch == entry)
    };
    if !starts_at_first_batch || !entries.all(&mut fits) {
        IndexState::Wrong
    } else if has_partial_tail {
        IndexState::PartialTail
    } else {
        IndexState::Good
    }
}

/// Whether a well-formed entry lies behind the stop: its chunk was begun after everything before it was
/// synced. Only for a directory whose writer synced before each acknowledgement, and has no ledger.
pub(super) fn proves_more(index: &[u8], segment: u64, walk: &Walk) -> bool {
    let stop = walk.end as u64;
    let mut before: Option<Proven> = None;
    for entry in index.chunks_exact(ENTRY_BYTES).map(entry_at) {
        let ascends = match before {
            None => entry.base_offset == segment && entry.position == 0,
            Some(before) => entry.base_offset > before.base_offset && entry.position > before.position,
        };
        let contradicts_log = entry.position < stop && !walk.batches.contains(&entry);
        if !ascends || contradicts_log {
            return false;
        }
        if entry.position > stop && entry.base_offset > walk.next_offset {
            return true;
        }
        before = Some(entry);
    }
    false
}
