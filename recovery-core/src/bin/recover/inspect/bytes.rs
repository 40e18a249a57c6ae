//! Bytes of a file that is none of ours.

use std::fmt::Write as _;

use recovery_core::storage::{Storage, StorageError};

use super::sheet::{Row, Sheet, SheetKind};
use super::source::Source;

const ROW_BYTES: u64 = 16;
const ROWS_MAX: u64 = 16;

/// Shows up to 256 bytes from `position`.
///
/// # Errors
///
/// When the file cannot be read.
pub(super) fn sheet<S: Storage>(source: &mut Source<'_, S>, position: u64) -> Result<Sheet, StorageError> {
    let end = source.length.min(position + ROW_BYTES * ROWS_MAX);
    let mut rows = Vec::new();
    let mut at = position;
    while at < end {
        let count = ROW_BYTES.min(end - at);
        let bytes = source.slice(at, usize::try_from(count).expect("one row"))?;
        let mut digits = String::new();
        for byte in bytes {
            let _ = write!(digits, "{byte:02x}");
        }
        let seen: String =
            bytes.iter().map(|byte| if byte.is_ascii_graphic() { *byte as char } else { '.' }).collect();
        rows.push(Row::new(at, seen, digits));
        at += count;
    }
    Ok(Sheet {
        kind: SheetKind::Bytes,
        file: source.name,
        file_bytes: source.length,
        position,
        rows,
        unshown: 0,
        next: (end < source.length).then_some(end),
    })
}
