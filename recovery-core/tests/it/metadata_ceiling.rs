//! The metadata log and the one ceiling of the format: no door of it lets in more.

use recovery_core::format::{
    BATCH_BYTES_MAX, METADATA_HEADER_BYTES, METADATA_RECORD_BYTES, MetadataDraft, MetadataHeader,
    MetadataKind,
};
use recovery_core::storage::Storage;
use recovery_core::units::{Length, Position};
use recovery_core::wal::{MetadataError, MetadataFault, Opened};

use crate::memory_storage::MemoryStorage;
use crate::metadata_log::{CREATED, LOG, bytes, open_in_steps, opened, record, written};

/// How many records the largest batch holds.
fn records_max() -> usize {
    let bytes = usize::try_from(BATCH_BYTES_MAX.get()).unwrap();
    (bytes - METADATA_HEADER_BYTES) / METADATA_RECORD_BYTES
}

/// F71, F76.
#[test]
fn an_append_above_the_ceiling_is_refused_before_a_byte_is_written() {
    let storage = written();
    let before = bytes(&storage);
    let mut log = opened(&storage);
    let directory = storage.root().unwrap();
    let given = Length::new(BATCH_BYTES_MAX.get() + METADATA_RECORD_BYTES as u64);
    let error =
        log.append(&storage, &directory, &vec![record(9, 1, CREATED); records_max() + 1]).unwrap_err();
    assert_eq!(error, MetadataError::TooLarge { given, ceiling: BATCH_BYTES_MAX });
    assert_eq!(bytes(&storage), before, "nothing is written");
    log.append(&storage, &directory, &[record(9, 1, CREATED)]).unwrap();
    log.close(&storage);
    storage.close_directory(directory);
    assert_eq!(opened(&storage).registry().entries().count(), 3, "and the log goes on");
}

/// The log with a whole batch of so many records behind its end: all of them one that may not follow.
fn with_a_batch_of(records: usize) -> (MemoryStorage, Position) {
    let storage = written();
    let mut log = bytes(&storage);
    let last = MetadataHeader::decode(log.last_chunk().unwrap()).unwrap();
    let end = Position::new(log.len() as u64);
    let draft =
        MetadataDraft { sequence: last.sequence + 1, position: end, frontier: end, previous: last.checksum };
    let mut batch = Vec::new();
    MetadataHeader::encode(&draft, &vec![record(9, 1, MetadataKind::Made); records], &mut batch);
    log.append(&mut batch);
    storage.put(LOG, &log);
    (storage, end)
}

/// Through a window that shows much at once: the batches are large.
fn open_widely(storage: &MemoryStorage) -> Opened<MemoryStorage> {
    open_in_steps(storage, 1 << 20, 1 << 26)
}

/// F71, F76: a batch at the ceiling is judged by what it says, and one above it is refused whatever that is.
#[test]
fn a_log_with_a_batch_above_the_ceiling_is_refused_and_untouched() {
    let (storage, position) = with_a_batch_of(records_max());
    let Opened::Refused(fault) = open_widely(&storage) else { panic!("it makes no sense") };
    assert!(matches!(fault, MetadataFault::Senseless { position: at, .. } if at == position), "{fault}");
    let (storage, position) = with_a_batch_of(records_max() + 1);
    storage.start(None);
    let Opened::Refused(fault) = open_widely(&storage) else { panic!("it is too large") };
    let batch_bytes = Length::new(BATCH_BYTES_MAX.get() + METADATA_RECORD_BYTES as u64);
    assert_eq!(fault, MetadataFault::RecordCeiling { position, batch_bytes });
    assert_eq!(fault.code(), "metadata-record-ceiling");
    assert_eq!(storage.changes(), ["sync-directory ", "sync metadata.log"], "settled and left alone");
}
