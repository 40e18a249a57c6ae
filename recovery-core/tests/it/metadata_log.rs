//! The metadata log: its bytes, its appends under every fault, and what becomes of it under damage.

use recovery_core::format::{
    METADATA_HEADER_BYTES, METADATA_RECORD_BYTES, MetadataHeader, MetadataKind, MetadataRecord,
};
use recovery_core::observe::{Progress, Workspace};
use recovery_core::storage::{Errno, PartitionDirectory, Storage};
use recovery_core::units::{Durability, Incarnation, Namespace};
use recovery_core::wal::{MetadataError, MetadataFault, MetadataLog, Opened, Opening, Registry};

use crate::golden::hex;
use crate::memory_storage::{Fault, MemoryStorage, name};

pub(crate) const LOG: &str = "metadata.log";

fn namespace(partition: u32) -> Namespace {
    Namespace { stream: 1, topic: 2, partition }
}

pub(crate) fn record(partition: u32, incarnation: u64, kind: MetadataKind) -> MetadataRecord {
    MetadataRecord { kind, namespace: namespace(partition), incarnation: Incarnation::new(incarnation) }
}

pub(crate) const CREATED: MetadataKind =
    MetadataKind::Created { replicas: 3, durability: Durability::Proven };

/// Records of two partitions: one made, one made and on its way out.
fn history() -> Vec<MetadataRecord> {
    vec![
        record(3, 1, CREATED),
        record(3, 1, MetadataKind::Made),
        record(4, 1, CREATED),
        record(4, 1, MetadataKind::Made),
        record(4, 1, MetadataKind::Deleting),
    ]
}

fn open(storage: &MemoryStorage) -> Opened<MemoryStorage> {
    open_in_steps(storage, 512, 512)
}

pub(crate) fn open_in_steps(storage: &MemoryStorage, window: usize, limit: u64) -> Opened<MemoryStorage> {
    let Ok(parent) = storage.root() else { panic!("the root opens") };
    let Ok(directory) = storage.root() else { panic!("the root opens") };
    let root = PartitionDirectory { parent, directory, name: name(LOG) };
    let mut workspace = Workspace::new(window);
    let mut opening = Opening::default();
    while opening.step(storage, &root, &mut workspace, limit) == Progress::More {}
    root.close(storage);
    opening.finish()
}

/// Opens and appends `records`, one a batch, as far as that goes.
fn append(storage: &MemoryStorage, records: &[MetadataRecord]) -> Result<(), MetadataError> {
    let Opened::Log(mut log, _) = open(storage) else { panic!("the log opens") };
    let directory = storage.root().unwrap();
    let appended = records.iter().try_for_each(|record| log.append(storage, &directory, &[*record]));
    storage.close_directory(directory);
    log.close(storage);
    assert_eq!(storage.open_handles(), 0);
    appended
}

pub(crate) fn written() -> MemoryStorage {
    let storage = MemoryStorage::new();
    append(&storage, &history()).unwrap();
    storage
}

pub(crate) fn bytes(storage: &MemoryStorage) -> Vec<u8> {
    storage.files()[LOG].clone()
}

/// What the first `count` records of the history say.
fn registry_of(count: usize) -> Registry {
    let mut registry = Registry::default();
    history()[..count].iter().for_each(|record| registry.apply(record).unwrap());
    registry
}

pub(crate) fn opened(storage: &MemoryStorage) -> MetadataLog<MemoryStorage> {
    match open(storage) {
        Opened::Log(log, _) => log,
        Opened::Refused(fault) => panic!("{fault}"),
        Opened::Unavailable(error) => panic!("{error}"),
    }
}

#[test]
fn a_log_has_these_bytes() {
    let storage = MemoryStorage::new();
    append(&storage, &history()[..1]).unwrap();
    // docs/format.md, section 8: a batch without a record, one with a record, and one that confirms it.
    let golden = hex("544d4c47 0100 0000 4000000000000000 0000000000000000 0000000000000000 0000000000000000
         0000000000000000 00000000 00000000 47745f57f84c24a9
         544d4c47 0100 0000 6000000000000000 0100000000000000 4000000000000000 4000000000000000
         47745f57f84c24a9 01000000 00000000 cd9d6fd95d8db8f8
         01 03 03 0000000000 0300200001000000 0100000000000000 0000000000000000
         544d4c47 0100 0000 4000000000000000 0200000000000000 a000000000000000 a000000000000000
         cd9d6fd95d8db8f8 00000000 00000000 da1f51fa1ba07d0a");
    assert_eq!(bytes(&storage), golden);
}

#[test]
fn what_is_appended_is_read_again_in_any_steps() {
    let storage = written();
    for (window, limit) in [(512, 512), (512, 1 << 20), (4096, 513), (1 << 20, 1 << 20)] {
        let Opened::Log(log, cut) = open_in_steps(&storage, window, limit) else { panic!("it opens") };
        assert_eq!(*log.registry(), registry_of(5), "{window} {limit}");
        assert_eq!(cut, None);
        log.close(&storage);
    }
}

#[test]
fn a_second_opening_writes_nothing() {
    let storage = written();
    storage.start(None);
    opened(&storage).close(&storage);
    assert_eq!(storage.changes(), ["sync-directory ", "sync metadata.log"], "settled and left alone");
}

#[test]
fn records_of_many_partitions_fit_one_batch() {
    let storage = MemoryStorage::new();
    let mut log = opened(&storage);
    let directory = storage.root().unwrap();
    let records: Vec<_> = (0..100).map(|partition| record(partition, 1, CREATED)).collect();
    log.append(&storage, &directory, &records).unwrap();
    let expected = 3 * METADATA_HEADER_BYTES + 100 * METADATA_RECORD_BYTES;
    assert_eq!(bytes(&storage).len(), expected);
    log.close(&storage);
    storage.close_directory(directory);
    let log = opened(&storage);
    assert_eq!(log.registry().entries().count(), 100);
    log.close(&storage);
}

#[test]
fn a_record_that_may_not_follow_is_not_written() {
    let check = |records: &[MetadataRecord], last: MetadataRecord, code: &str| {
        let storage = MemoryStorage::new();
        append(&storage, records).unwrap();
        let before = storage.files();
        assert_eq!(append(&storage, &[last]).unwrap_err().code(), code);
        assert_eq!(storage.files(), before);
    };
    let created = record(3, 5, CREATED);
    check(&[created], record(3, 6, CREATED), "partition-exists");
    check(&[created, record(3, 5, MetadataKind::Deleting)], record(3, 5, CREATED), "incarnation-used");
    check(&[created, record(3, 5, MetadataKind::Deleting)], record(3, 4, CREATED), "incarnation-used");
    check(&[created], record(3, 5, MetadataKind::Deleted), "metadata-wrong-stage");
    check(&[created], record(3, 4, MetadataKind::Made), "metadata-wrong-stage");
    check(
        &[created, record(3, 5, MetadataKind::Made)],
        record(3, 5, MetadataKind::Made),
        "metadata-wrong-stage",
    );
}

/// F90: a torn tail is cut however wide it is, with a copy, and what is behind a mark is not.
#[test]
fn f90_a_torn_tail_of_any_width_is_cut_and_kept() {
    for width in [1, 31, 32, 64, 95, 4096, 1 << 20] {
        let storage = written();
        let whole = bytes(&storage);
        let torn: Vec<u8> = (0..width).map(|at: usize| at.to_le_bytes()[0] | 1).collect();
        storage.put(LOG, &[&whole[..], &torn].concat());
        let Opened::Log(log, Some(cut)) = open_in_steps(&storage, 4096, 1 << 16) else { panic!("{width}") };
        assert_eq!(*log.registry(), registry_of(5));
        log.close(&storage);
        assert_eq!((cut.position.get(), cut.length.get()), (whole.len() as u64, width as u64));
        assert_eq!(bytes(&storage), whole);
        let kept = cut.kept.unwrap();
        assert_eq!(storage.files()[&kept.to_string()], torn);
        assert_eq!(kept.fence, name("metadata.log.fenced.0"));
        let reason = String::from_utf8(storage.files()["metadata.log.fenced.0/REASON.toml"].clone()).unwrap();
        assert!(reason.contains("cut off the metadata log"), "{reason}");
        assert!(reason.contains(&kept.file.to_string()), "{reason}");
        storage.start(None);
        opened(&storage).close(&storage);
        assert_eq!(storage.changes().len(), 2, "the second opening finds nothing to do");
    }
}

#[test]
fn a_tail_of_zeros_is_cut_and_leaves_no_copy() {
    let storage = written();
    let whole = bytes(&storage);
    storage.put(LOG, &[&whole[..], &[0; 5_000]].concat());
    let Opened::Log(log, Some(cut)) = open(&storage) else { panic!("it opens") };
    log.close(&storage);
    assert_eq!(cut.kept, None);
    assert_eq!(storage.files().keys().collect::<Vec<_>>(), [LOG]);
    assert_eq!(bytes(&storage), whole);
}

#[test]
fn a_log_without_its_first_batch_is_refused() {
    for damaged in [Vec::new(), vec![0; 64], vec![7; 10_000], bytes(&written())[..63].to_vec()] {
        let storage = MemoryStorage::new();
        storage.put(LOG, &damaged);
        let before = storage.files();
        assert!(matches!(open(&storage), Opened::Refused(MetadataFault::Headless { .. })));
        assert_eq!(storage.files(), before);
    }
}

/// Every single bit: nothing that was recorded is lost, whether the log opens or is refused.
#[test]
fn no_flipped_bit_loses_a_record() {
    let storage = written();
    let whole = bytes(&storage);
    let mut refused = 0;
    for bit in 0..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let storage = MemoryStorage::new();
        storage.put(LOG, &damaged);
        match open_in_steps(&storage, 4096, 1 << 20) {
            Opened::Log(log, cut) => {
                assert!(cut.is_some(), "bit {bit}: damage is told of");
                assert_eq!(*log.registry(), registry_of(5), "bit {bit}");
                log.close(&storage);
            }
            Opened::Refused(_) => {
                refused += 1;
                assert_eq!(storage.files()[LOG], damaged, "bit {bit}: refused and not touched");
                assert_eq!(storage.files().len(), 1);
            }
            Opened::Unavailable(error) => panic!("bit {bit}: {error}"),
        }
        assert_eq!(storage.open_handles(), 0);
    }
    assert_eq!(refused, (whole.len() - METADATA_HEADER_BYTES) * 8, "only the last confirmation may go");
}

#[test]
fn a_whole_batch_that_says_what_cannot_be_is_refused() {
    let storage = written();
    let whole = bytes(&storage);
    let mut forged = Vec::new();
    let last = MetadataHeader::decode(whole.last_chunk().unwrap()).unwrap();
    let end = recovery_core::units::Position::new(whole.len() as u64);
    let draft = recovery_core::format::MetadataDraft {
        sequence: last.sequence + 1,
        position: end,
        frontier: end,
        previous: last.checksum,
    };
    MetadataHeader::encode(&draft, &[record(9, 1, MetadataKind::Made)], &mut forged);
    storage.put(LOG, &[&whole[..], &forged].concat());
    let Opened::Refused(fault) = open(&storage) else { panic!("it makes no sense") };
    assert_eq!(fault.code(), "metadata-senseless");
}

/// Every call of opening and appending fails once: the error is told, and what was acknowledged holds.
#[test]
fn any_failed_call_loses_nothing_that_was_taken() {
    let history = history();
    for errno in [Errno::IO, Errno::NO_SPACE] {
        for call in 1.. {
            let storage = MemoryStorage::new();
            append(&storage, &history[..2]).unwrap();
            storage.start(Some(Fault::Once(call, errno)));
            let taken = take_all(&storage, &history[2..]);
            let was_reached = storage.attempts() >= call;
            storage.start(None);
            let log = opened(&storage);
            let found =
                *log.registry() == registry_of(2 + taken) || *log.registry() == registry_of(5.min(3 + taken));
            assert!(found, "call {call}: {taken} were taken, and {:?} is there", log.registry());
            log.close(&storage);
            assert_eq!(storage.open_handles(), 0, "call {call}");
            if !was_reached {
                break;
            }
        }
    }
}

/// How many records were taken before something failed.
fn take_all(storage: &MemoryStorage, records: &[MetadataRecord]) -> usize {
    let Ok(directory) = storage.root() else { return 0 };
    let mut taken = 0;
    let second = storage.root();
    if let Ok(second) = second {
        let root = PartitionDirectory { parent: second, directory, name: name(LOG) };
        let mut workspace = Workspace::new(512);
        let mut opening = Opening::default();
        while opening.step(storage, &root, &mut workspace, 512) == Progress::More {}
        if let Opened::Log(mut log, _) = opening.finish() {
            let all = records.iter();
            taken =
                all.take_while(|record| log.append(storage, &root.directory, &[**record]).is_ok()).count();
            log.close(storage);
        }
        root.close(storage);
    } else {
        storage.close_directory(directory);
    }
    taken
}

/// A crash after any call, with and without the power: what was taken is there, and nothing else than the
/// record in hand.
#[test]
fn a_crash_anywhere_keeps_what_was_taken() {
    let history = history();
    for is_power in [false, true] {
        for call in 0.. {
            let storage = MemoryStorage::new();
            storage.start(Some(Fault::CrashAfter(call)));
            let taken = take_all(&storage, &history);
            let was_reached = storage.attempts() > call;
            storage.start(None);
            if is_power {
                storage.lose_power();
            }
            let log = opened(&storage);
            let found =
                *log.registry() == registry_of(taken) || *log.registry() == registry_of(5.min(1 + taken));
            assert!(found, "call {call}: {taken} were taken, and {:?} is there", log.registry());
            log.close(&storage);
            if !was_reached {
                assert_eq!(taken, 5);
                break;
            }
        }
    }
}

/// A crash after any call of an opening that cuts: the next one comes to the same, and the copy is there.
#[test]
fn a_crash_anywhere_in_a_cut_comes_to_the_same() {
    let whole = bytes(&written());
    let torn = b"not a batch, and longer than one header of sixty-four bytes would be, to be sure";
    for is_power in [false, true] {
        for call in 0.. {
            let storage = written();
            storage.put(LOG, &[&whole[..], torn].concat());
            storage.start(Some(Fault::CrashAfter(call)));
            let _first = take_all(&storage, &[]);
            let was_reached = storage.attempts() > call;
            storage.start(None);
            if is_power {
                storage.lose_power();
            }
            opened(&storage).close(&storage);
            assert_eq!(bytes(&storage), whole, "call {call}");
            let copies = storage.files().into_values().filter(|file| file == torn).count();
            assert_eq!(copies, 1, "call {call}: one copy, whole");
            if !was_reached {
                break;
            }
        }
    }
}

#[test]
fn an_error_is_never_an_absent_log() {
    let storage = written();
    let before = storage.files();
    for call in 1.. {
        for errno in [Errno::IO, Errno::PERMISSION_DENIED, Errno::TOO_MANY_FILES] {
            storage.start(Some(Fault::Once(call, errno)));
            let mut workspace = Workspace::new(512);
            let Ok(directory) = storage.root() else { continue };
            let Ok(parent) = storage.root() else { continue };
            let root = PartitionDirectory { parent, directory, name: name(LOG) };
            let mut opening = Opening::default();
            while opening.step(&storage, &root, &mut workspace, 512) == Progress::More {}
            match opening.finish() {
                Opened::Log(log, _) => {
                    assert!(storage.attempts() < call, "call {call} was reached, and failed unnoticed");
                    log.close(&storage);
                    return;
                }
                Opened::Unavailable(error) => assert_eq!(error.errno, errno),
                Opened::Refused(fault) => panic!("{fault}"),
            }
            assert_eq!(storage.files(), before);
        }
    }
}
