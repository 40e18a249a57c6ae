//! Setting a ledger aside: nothing else changes, and no call that fails or crashes loses it.

use recovery_core::host::Adopting;
use recovery_core::observe::{Progress, Workspace};
use recovery_core::storage::{Errno, StorageError};

use crate::loss_world::{NAMESPACE, change, expectation, look, open, path, written};
use crate::memory_storage::{Fault, MemoryStorage};
use crate::recovery_run::check_nothing_is_lost;

/// Sets the ledger aside; says whether there was one.
fn adopt(storage: &MemoryStorage) -> Result<bool, StorageError> {
    let partition = open(storage);
    let adopted = adopt_in(storage, &partition);
    partition.close(storage);
    adopted
}

fn adopt_in(
    storage: &MemoryStorage,
    partition: &recovery_core::storage::PartitionDirectory<MemoryStorage>,
) -> Result<bool, StorageError> {
    let Ok(mut adopting) = Adopting::begin(storage, partition, expectation())? else { return Ok(false) };
    let mut workspace = Workspace::new(512);
    while adopting.step(storage, partition, &mut workspace, 4096)? == Progress::More {}
    assert_eq!(adopting.finish(storage).len(), 1);
    Ok(true)
}

/// The ledger promises more than another program left.
fn purged() -> MemoryStorage {
    let storage = written(true);
    change(&storage, "00000000000000000010.log", |log| log.truncate(324));
    change(&storage, "00000000000000000010.index", |index| index.truncate(24));
    storage
}

#[test]
fn a_directory_that_another_program_changed_is_judged_without_its_ledger() {
    let storage = purged();
    assert_eq!(look(&storage).1.disposition.code(), "refuse");
    let before = storage.files();
    assert_eq!(adopt(&storage), Ok(true));
    let (facts, verdict) = look(&storage);
    assert!(facts.ledger.known().is_none());
    assert_eq!(verdict.disposition.code(), "serve");
    check_nothing_is_lost(NAMESPACE, &before, &storage.files());
    let reason = storage.files()["streams/1/topics/2/partitions/3.fenced.0/REASON.toml"].clone();
    let reason = String::from_utf8(reason).unwrap();
    assert!(reason.contains("why = \"this is a ledger that the directory is judged without from here on\""));

    let end = storage.files();
    assert_eq!(adopt(&storage), Ok(false), "there is no ledger any more");
    assert!(storage.files() == end, "a second run changes nothing");
}

#[test]
fn whatever_call_fails_or_crashes_the_ledger_is_in_one_place_and_a_repeat_ends_it() {
    let storage = purged();
    let before = storage.files();
    storage.start(None);
    adopt(&storage).unwrap();
    let calls = storage.call_count();
    for call in 8..=calls {
        for fault in [Fault::CrashAfter(call), Fault::Once(call, Errno::IO)] {
            let storage = purged();
            storage.start(Some(fault));
            // Errors are the point; only what is left counts.
            let _ended = adopt(&storage);
            let powerless = storage.clone();
            powerless.lose_power();
            for storage in [storage, powerless] {
                check_nothing_is_lost(NAMESPACE, &before, &storage.files());
                storage.start(None);
                adopt(&storage).unwrap();
                assert!(!storage.files().contains_key(&path("ledger")), "{fault:?}");
                check_nothing_is_lost(NAMESPACE, &before, &storage.files());
            }
        }
    }
}
