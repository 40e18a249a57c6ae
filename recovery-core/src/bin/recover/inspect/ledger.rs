//! Records of a ledger, one a row; the record at a given position field by field.

use recovery_core::format::{LEDGER_RECORD_BYTES, LedgerKind, LedgerRecord, Mark};
use recovery_core::storage::{Storage, StorageError};

use super::sheet::{Row, Sheet, SheetKind};
use super::source::Source;
use crate::paragraph::counted;

/// Records shown at once.
const RECORDS_SHOWN_MAX: u64 = 32;

/// Shows the record that holds byte `position`, or the first records if there is no position.
///
/// # Errors
///
/// When the file cannot be read.
pub(super) fn sheet<S: Storage>(
    source: &mut Source<'_, S>,
    position: Option<u64>,
) -> Result<Sheet, StorageError> {
    let record_bytes = LEDGER_RECORD_BYTES as u64;
    let first = position.map_or(0, |position| position / record_bytes);
    let whole = source.length / record_bytes;
    let shown = if position.is_some() { 1 } else { RECORDS_SHOWN_MAX };
    let upto = whole.min(first + shown);
    let mut rows = Vec::new();
    for slot in first..upto {
        let bytes: [u8; LEDGER_RECORD_BYTES] = source.array(slot * record_bytes)?;
        rows.push(record_row(slot, &bytes));
        if let (Some(_), Ok(record)) = (position, LedgerRecord::decode(&bytes)) {
            rows.extend(field_rows(slot * record_bytes, &record));
        }
    }
    let odd = source.length % record_bytes;
    if upto == whole && odd > 0 {
        let wrong = format!("a record takes {record_bytes} bytes");
        let value = format!("{} left", counted(odd, "byte"));
        rows.push(Row::new(whole * record_bytes, format!("record {whole}"), value).checked(Some(wrong)));
    }
    Ok(Sheet {
        kind: SheetKind::Ledger,
        file: source.name,
        file_bytes: source.length,
        position: first * record_bytes,
        rows,
        unshown: 0,
        next: (upto < whole).then_some(upto * record_bytes),
    })
}

fn record_row(slot: u64, bytes: &[u8; LEDGER_RECORD_BYTES]) -> Row {
    let at = slot * LEDGER_RECORD_BYTES as u64;
    let name = format!("record {slot}");
    match LedgerRecord::decode(bytes) {
        Ok(record) => {
            let misplaced = (record.slot != slot).then(|| format!("it was written for slot {}", record.slot));
            Row::new(at, name, summary(&record)).checked(misplaced)
        }
        Err(_) if bytes.iter().all(|byte| *byte == 0) => Row::new(at, name, "zero").noted("no record"),
        Err(damage) => Row::new(at, name, "no record").checked(Some(damage.to_string())),
    }
}

/// One line on a record.
fn summary(record: &LedgerRecord) -> String {
    let words = match record.kind {
        LedgerKind::Opened { record_ceiling } => format!("opened, ceiling {record_ceiling}"),
        LedgerKind::Frontier { mark } => format!("frontier, {}", mark_words(&mark)),
        LedgerKind::Sealed { mark, next_start } => {
            format!("sealed, {}, next start {next_start}", mark_words(&mark))
        }
        LedgerKind::Floor => format!("floor {}", record.floor),
        LedgerKind::Reserved => format!("reserved {}", record.reserved_offset),
        LedgerKind::Recovered { mark } => {
            format!("recovered, generation {}, {}", record.generation, mark_words(&mark))
        }
        LedgerKind::AcceptedLoss { mark, first, next } => match next.before() {
            Some(last) if first < next => {
                format!("accepted loss of {first} to {last}, {}", mark_words(&mark))
            }
            Some(_) | None => format!("accepted loss of no offset, {}", mark_words(&mark)),
        },
        LedgerKind::CleanStop { mark } => format!("clean stop, {}", mark_words(&mark)),
    };
    format!("{words}, epoch {}", record.epoch)
}

fn mark_words(mark: &Mark) -> String {
    format!("segment {} byte {} next offset {}", mark.segment, mark.position, mark.next_offset)
}

/// Every field of a record, where it lies in the file (`docs/format.md`).
fn field_rows(at: u64, record: &LedgerRecord) -> Vec<Row> {
    let mut rows = vec![
        Row::new(at + 1, "mode", record.durability.code()),
        Row::new(at + 8, "identity", format!("{:016x}", record.identity().get())),
        Row::new(at + 16, "epoch", record.epoch),
        Row::new(at + 24, "slot", record.slot),
        Row::new(at + 32, "generation", record.generation),
        Row::new(at + 40, "floor", record.floor),
        Row::new(at + 48, "reserved-offset", record.reserved_offset),
    ];
    if let Some(mark) = record.kind.mark() {
        rows.extend([
            Row::new(at + 56, "mark.segment", mark.segment),
            Row::new(at + 64, "mark.position", mark.position),
            Row::new(at + 72, "mark.next_offset", mark.next_offset),
            Row::new(at + 80, "mark.chain_hash", format!("{:016x}", mark.chain_hash.get())),
        ]);
    }
    rows.extend([
        Row::new(at + 104, "namespace", record.namespace),
        Row::new(at + 112, "incarnation", record.incarnation),
    ]);
    rows
}
