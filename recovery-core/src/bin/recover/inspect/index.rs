//! Entries of an index, each compared with the batch it names if the log lies beside it.

use recovery_core::format::{BATCH_HEADER_BYTES, BatchHeader, INDEX_ENTRY_BYTES, IndexEntry};
use recovery_core::storage::{Storage, StorageError};
use recovery_core::units::{Position, SegmentStart};

use super::sheet::{Row, Sheet, SheetKind};
use super::source::Source;
use crate::paragraph::counted;

/// Entries shown at once.
const ENTRIES_SHOWN_MAX: u64 = 32;

/// Shows the entries from the one that holds byte `position`. `log` is the segment's log, if it is there,
/// and `start` the segment, if the name says so.
///
/// # Errors
///
/// When a file cannot be read.
pub(super) fn sheet<S: Storage>(
    source: &mut Source<'_, S>,
    mut log: Option<&mut Source<'_, S>>,
    start: Option<SegmentStart>,
    position: u64,
) -> Result<Sheet, StorageError> {
    let entry_bytes = INDEX_ENTRY_BYTES as u64;
    let first = position / entry_bytes;
    let whole = source.length / entry_bytes;
    let upto = whole.min(first + ENTRIES_SHOWN_MAX);
    let mut previous = match first.checked_sub(1) {
        Some(before) => Some(IndexEntry::decode(&source.array(before * entry_bytes)?)),
        None => None,
    };
    let mut rows = Vec::new();
    for number in first..upto {
        let at = number * entry_bytes;
        let entry = IndexEntry::decode(&source.array(at)?);
        let value =
            format!("offset {}, timestamp {}, position {}", entry.offset, entry.timestamp, entry.position);
        let row = Row::new(at, format!("entry {number}"), value);
        let mut wrong = match (previous, start) {
            (Some(previous), _) => order_damage(&previous, &entry),
            (None, Some(start)) => first_damage(start, &entry),
            (None, None) => None,
        };
        if let (None, Some(log)) = (&wrong, log.as_mut()) {
            wrong = batch_damage(log, &entry)?;
        }
        rows.push(row.checked(wrong));
        previous = Some(entry);
    }
    let odd = source.length % entry_bytes;
    if upto == whole && odd > 0 {
        let wrong = format!("an entry takes {entry_bytes} bytes");
        let value = format!("{} left", counted(odd, "byte"));
        rows.push(Row::new(whole * entry_bytes, format!("entry {whole}"), value).checked(Some(wrong)));
    }
    Ok(Sheet {
        kind: SheetKind::Index,
        file: source.name,
        file_bytes: source.length,
        position: first * entry_bytes,
        rows,
        unshown: 0,
        next: (upto < whole).then_some(upto * entry_bytes),
    })
}

/// The first entry names the start of the segment.
fn first_damage(start: SegmentStart, entry: &IndexEntry) -> Option<String> {
    let is_first = entry.position == Position::ZERO && entry.offset == start.offset();
    (!is_first).then(|| format!("the first entry of this segment has offset {start} and position 0"))
}

fn order_damage(previous: &IndexEntry, entry: &IndexEntry) -> Option<String> {
    if entry.position <= previous.position {
        Some(format!("the entry before it has position {}", previous.position))
    } else if entry.offset <= previous.offset {
        Some(format!("the entry before it has offset {}", previous.offset))
    } else {
        None
    }
}

/// Compares an entry with the header that the log has at its position.
fn batch_damage<S: Storage>(
    log: &mut Source<'_, S>,
    entry: &IndexEntry,
) -> Result<Option<String>, StorageError> {
    let position = entry.position.get();
    let end = position.checked_add(BATCH_HEADER_BYTES as u64);
    if end.is_none_or(|end| end > log.length) {
        return Ok(Some(format!("the log has {} bytes, and no header there", log.length)));
    }
    let header = BatchHeader::read(&log.array(position)?);
    let is_same = header.base_offset == entry.offset && header.base_timestamp == entry.timestamp;
    Ok((!is_same).then(|| {
        format!("the log has offset {}, timestamp {} there", header.base_offset, header.base_timestamp)
    }))
}
