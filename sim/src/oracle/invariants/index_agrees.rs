//! I16: index and log agree; the index may lag.
//!
//! Asked of every partition that is served, on what recovery leaves: each entry names a batch that lies in
//! the log, by offset, time and position, in their order, the first one the first batch; nothing follows
//! the last entry. Does not claim how many batches have an entry, nor anything about a partition that is
//! not served.

use recovery_core::format::FileName;

use crate::oracle::boot_view::bytes_of;
use crate::oracle::served_log::Lying;
use crate::oracle::{Check, Image, Value, Violation};

/// Bytes of an entry: offset, time and position, little-endian.
const ENTRY_BYTES: usize = 24;

/// The first index that does not agree with its log, where `lying` are the batches of all logs, in order.
pub fn check_indexes(after: &Image, lying: &[Lying<'_>]) -> Option<Violation> {
    lying.chunk_by(|one, next| one.segment == next.segment).find_map(|batches| {
        let segment = batches[0].segment;
        let name = FileName::index(segment);
        let wrong = |actual| {
            let violation = Violation::new(Check::I16, "an index", Value::Code("good"), Value::Code(actual));
            Some(violation.in_segment(segment).in_file(name))
        };
        let Some(index) = bytes_of(after, &name) else { return wrong("absent") };
        let entries = index.chunks_exact(ENTRY_BYTES);
        if !entries.remainder().is_empty() {
            return wrong("torn");
        }
        let mut left = batches.iter();
        let mut is_first = true;
        for entry in entries {
            let found = left.position(|batch| names(entry, batch));
            if found.is_none() || (is_first && found != Some(0)) {
                return wrong("of other batches");
            }
            is_first = false;
        }
        if is_first { wrong("empty") } else { None }
    })
}

fn names(entry: &[u8], batch: &Lying<'_>) -> bool {
    let expected = [batch.base.get().to_le_bytes(), batch.position.to_le_bytes()];
    // A batch's time is the eight bytes behind its base offset.
    entry[..8] == expected[0] && entry[8..16] == batch.bytes[16..24] && entry[16..] == expected[1]
}
