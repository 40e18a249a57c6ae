//! An index that a check names, entry by entry, beside the batches of its log.
//!
//! Promises: what an entry should name is told by the bytes of the log, read by the oracle's own reading of the
//! format. Leaves out: which batches have no entry: an index may lag.

use recovery_core::format::{FileName, INDEX_ENTRY_BYTES};

use super::moments::Around;
use super::place::Place;
use crate::oracle::boot_view::bytes_of;
use crate::oracle::served_log::for_each_in;
use crate::schedule::IndexField;

/// An index at the last moment that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexTold {
    /// The moment, in words.
    pub when: String,
    /// The index.
    pub file: String,
    /// Its bytes; `None` where it is not there.
    pub index_bytes: Option<u64>,
    /// Its whole entries, in order.
    pub entries: Vec<EntryTold>,
}

/// An entry of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryTold {
    /// The offset that it says.
    pub offset: u64,
    /// The time.
    pub timestamp: u64,
    /// The position in the log.
    pub position: u64,
    /// What the batch that lies at that position says: offset and time. `None`: no batch lies there.
    pub batch: Option<(u64, u64)>,
}

impl EntryTold {
    /// Whether it is not of the batch that lies where it points.
    pub fn is_wrong(&self) -> bool {
        self.batch != Some((self.offset, self.timestamp))
    }
}

pub(super) fn index(place: &Place, around: &Around) -> Option<IndexTold> {
    let FileName::Index(segment) = FileName::classify(place.file.as_ref()?) else { return None };
    let (when, left) = around.last_with_words()?;
    let file = FileName::index(segment);
    let mut batches = Vec::new();
    // Where a log does not go on in batches, no entry names any.
    let _is_whole = for_each_in(&left.image.directory, &[segment], |lying| {
        let timestamp = u64::from_le_bytes(lying.bytes[16..24].try_into().expect("8 bytes"));
        batches.push((lying.position, (lying.base.get(), timestamp)));
    });
    let bytes = bytes_of(&left.image.directory, &file);
    let entries = bytes.unwrap_or_default().chunks_exact(INDEX_ENTRY_BYTES).map(|entry| {
        let number = |field: IndexField| {
            let at = field.span().at as usize;
            u64::from_le_bytes(entry[at..at + 8].try_into().expect("8 bytes"))
        };
        let position = number(IndexField::Position);
        let batch = batches.iter().find(|(at, _)| *at == position).map(|(_, batch)| *batch);
        EntryTold {
            offset: number(IndexField::Offset),
            timestamp: number(IndexField::Timestamp),
            position,
            batch,
        }
    });
    Some(IndexTold {
        when: when.to_owned(),
        file: file.to_string(),
        index_bytes: bytes.map(|bytes| bytes.len() as u64),
        entries: entries.collect(),
    })
}
