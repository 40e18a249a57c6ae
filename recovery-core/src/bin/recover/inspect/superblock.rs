//! The fields of a superblock slot.

use recovery_core::format::{SUPERBLOCK_BYTES_MAX, Superblock, SuperblockDamage};
use recovery_core::storage::{Storage, StorageError};

use super::sheet::{Row, Sheet, SheetKind};
use super::source::Source;

/// Where the payload starts (IGGY_FORMAT section 6).
const PAYLOAD_AT: u64 = 28;

/// Shows the slot.
///
/// # Errors
///
/// When the file cannot be read.
pub(super) fn sheet<S: Storage>(source: &mut Source<'_, S>) -> Result<Sheet, StorageError> {
    // One byte more than the longest record is enough to see that a file is none.
    let read = source.length.min(SUPERBLOCK_BYTES_MAX as u64 + 1);
    let bytes = source.slice(0, usize::try_from(read).expect("a few thousand bytes"))?.to_vec();
    let rows = match Superblock::decode(&bytes) {
        Ok(record) => record_rows(&record, source.length),
        Err(damage) => vec![damage_row(&damage, source.length)],
    };
    Ok(Sheet {
        kind: SheetKind::Superblock,
        file: source.name,
        file_bytes: source.length,
        position: 0,
        rows,
        unshown: 0,
        next: None,
    })
}

fn record_rows(record: &Superblock, length: u64) -> Vec<Row> {
    let payload = |at: u64| PAYLOAD_AT + at;
    let frontier = Row::new(payload(58), "offset-frontier", record.offset_frontier);
    vec![
        Row::new(0, "magic, version", "KLBS, 1").checked(None),
        Row::new(8, "sequence", record.sequence),
        Row::new(payload(0), "cluster", format!("{:032x}", record.cluster)),
        Row::new(payload(16), "replica", record.replica),
        Row::new(payload(17), "replica-count", record.replica_count),
        Row::new(payload(18), "view", record.view),
        Row::new(payload(22), "log-view", record.log_view).checked(None),
        Row::new(payload(26), "commit", record.commit),
        if record.offset_frontier.get() == 0 { frontier.noted("none recorded") } else { frontier },
        Row::new(length - 8, "checksum", "matches").checked(None),
    ]
}

fn damage_row(damage: &SuperblockDamage, length: u64) -> Row {
    let (position, field) = match damage {
        SuperblockDamage::Length { .. } => (24, "payload-length"),
        SuperblockDamage::Magic { .. } => (0, "magic"),
        SuperblockDamage::Version { .. } => (4, "version"),
        SuperblockDamage::Checksum { .. } => {
            (length.checked_sub(8).expect("a record has a checksum"), "checksum")
        }
        SuperblockDamage::Payload => (PAYLOAD_AT, "payload"),
    };
    Row::new(position, field, format!("{length} bytes")).checked(Some(damage.to_string()))
}
