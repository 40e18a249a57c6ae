//! Where the writer goes on, and the files it goes on in.

use crate::format::{ChainHash, FileName, INDEX_ENTRY_BYTES, Mark};
use crate::storage::{Name, Storage};
use crate::units::{Length, Offset, Position, SegmentStart};

/// The end of what is acknowledged in the last segment. Advanced at the end of a flush, never before
/// (F11): a flush that is tried again writes over what the failed one left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The segment.
    pub(super) segment: SegmentStart,
    /// One behind its last acknowledged byte.
    pub(super) end: Position,
    /// One behind its last acknowledged offset.
    pub(super) next_offset: Offset,
    /// The chain hash at `end`; `None` without a ledger.
    pub(super) chain_hash: Option<ChainHash>,
    /// Where the next index entry goes.
    pub(super) index_end: Position,
}

impl Cursor {
    /// At the start of an empty segment.
    pub(super) const fn at_start(segment: SegmentStart, chain_hash: Option<ChainHash>) -> Self {
        let next_offset = segment.offset();
        Self { segment, end: Position::ZERO, next_offset, chain_hash, index_end: Position::ZERO }
    }

    /// Behind `length` more bytes, whose last message lies before `next_offset`, and one index entry.
    pub(super) fn after(&self, length: Length, next_offset: Offset, chain_hash: Option<ChainHash>) -> Self {
        let entry = Length::new(INDEX_ENTRY_BYTES as u64);
        let cursor = Self {
            segment: self.segment,
            end: self.end.checked_add(length).expect("a segment is closed before that"),
            next_offset,
            chain_hash,
            index_end: self.index_end.checked_add(entry).expect("an index is shorter than its log"),
        };
        assert!(cursor.end > self.end, "a cursor moves forward");
        assert!(cursor.next_offset > self.next_offset, "a cursor moves forward");
        cursor
    }

    /// The mark that says that all up to here is durable.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            segment: self.segment,
            position: self.end,
            next_offset: self.next_offset,
            chain_hash: self.chain_hash.expect("a partition with a ledger has a chain hash"),
        }
    }
}

/// The open files of the last segment.
pub(super) struct Active<S: Storage> {
    pub(super) log: S::File,
    pub(super) index: S::File,
    pub(super) log_name: Name,
    pub(super) index_name: Name,
    pub(super) cursor: Cursor,
}

impl<S: Storage> Active<S> {
    pub(super) fn new(log: S::File, index: S::File, cursor: Cursor) -> Self {
        let (log_name, index_name) = (FileName::log(cursor.segment), FileName::index(cursor.segment));
        Self { log, index, log_name, index_name, cursor }
    }

    pub(super) fn close(self, storage: &S) {
        storage.close(self.log);
        storage.close(self.index);
    }
}
