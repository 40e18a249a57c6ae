//! The sparse index: a run of 24-byte entries without header or checksum (IGGY_FORMAT section 5).

use super::bytes::{put_u64, u64_at};
use crate::units::{Offset, Position};

/// Bytes of an index entry.
pub const INDEX_ENTRY_BYTES: usize = 24;

/// One entry: where a batch lies. There is no checksum, and 24 zero bytes are an entry (F07), so an entry
/// is believed only as far as the batch it names agrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// `base_offset` of the batch.
    pub offset: Offset,
    /// `base_timestamp` of the batch.
    pub timestamp: u64,
    /// Where the batch's header starts in the log.
    pub position: Position,
}

impl IndexEntry {
    /// Reads an entry.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::IndexEntry;
    /// use recovery_core::units::{Offset, Position};
    ///
    /// let entry = IndexEntry { offset: Offset::new(12), timestamp: 5, position: Position::new(4096) };
    /// assert_eq!(IndexEntry::decode(&entry.encode()), entry);
    /// ```
    #[inline]
    pub fn decode(bytes: &[u8; INDEX_ENTRY_BYTES]) -> Self {
        Self {
            offset: Offset::new(u64_at(bytes, 0)),
            timestamp: u64_at(bytes, 8),
            position: Position::new(u64_at(bytes, 16)),
        }
    }

    /// Writes an entry.
    #[inline]
    pub fn encode(&self) -> [u8; INDEX_ENTRY_BYTES] {
        let mut bytes = [0; INDEX_ENTRY_BYTES];
        put_u64(&mut bytes, 0, self.offset.get());
        put_u64(&mut bytes, 8, self.timestamp);
        put_u64(&mut bytes, 16, self.position.get());
        bytes
    }
}
