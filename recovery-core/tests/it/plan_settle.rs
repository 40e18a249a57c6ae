//! Settling: what counts is durable afterwards, what is read comes from the medium, and no byte changes.

use recovery_core::format::{ChainHash, LedgerKind, LedgerRecord, Mark};
use recovery_core::observe::{Expectation, Progress, Workspace};
use recovery_core::plan::Settling;
use recovery_core::storage::{Errno, Name, PartitionDirectory, StorageError};
use recovery_core::units::{Offset, Position, SegmentStart};

use crate::memory_storage::{Fault, MemoryStorage, name};
use crate::plan_world::{DIRECTORY, INCARNATION, NAMESPACE, Segment, World, first_record};

fn settle(storage: &MemoryStorage, sync_indexes: bool) -> Result<(), StorageError> {
    let components: Vec<Name> = DIRECTORY.split('/').map(name).collect();
    let partition = PartitionDirectory::open(storage, &components)?;
    let mut workspace = Workspace::new(512);
    let mut settling = Settling::new(Expectation::of(NAMESPACE), sync_indexes, &mut workspace);
    let outcome = loop {
        match settling.step(storage, &partition, &mut workspace, 512) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    settling.close(storage);
    partition.close(storage);
    assert_eq!(storage.open_handles(), 0, "every handle is closed");
    outcome
}

/// Two segments and a superblock, none of it synced, nor the ledger if there is one.
fn unsynced(ledger: &[LedgerRecord]) -> MemoryStorage {
    let world = World {
        segments: vec![Segment::whole(0, 9), Segment::whole(9, 9)],
        others: vec![("superblock.a", vec![1]), ("x.staging", vec![2]), ("notes.txt", vec![3])],
        ..World::default()
    };
    let storage = world.storage();
    if !ledger.is_empty() {
        let bytes: Vec<u8> = ledger.iter().flat_map(LedgerRecord::encode).collect();
        storage.put(&format!("{DIRECTORY}/ledger"), &bytes);
    }
    for (path, bytes) in storage.files() {
        storage.write_unsynced(&path, &bytes);
    }
    storage.start(None);
    storage
}

/// A ledger with these marks, and a floor. All segments but the last are sealed.
fn ledger(floor: u64, marks: &[(u64, u64)]) -> Vec<LedgerRecord> {
    let first = LedgerRecord { floor: SegmentStart::new(floor), ..first_record() };
    let mut records = vec![first];
    for (segment, position) in marks {
        let segment = SegmentStart::new(*segment);
        let mark = Mark {
            segment,
            position: Position::new(*position),
            next_offset: Offset::new(segment.get() + position),
            chain_hash: ChainHash::start(NAMESPACE, INCARNATION, segment),
        };
        let slot = records.len() as u64;
        let next_start = marks.iter().map(|(next, _)| SegmentStart::new(*next)).find(|next| *next > segment);
        let kind = match next_start {
            Some(next_start) => LedgerKind::Sealed { mark, next_start },
            None => LedgerKind::Frontier { mark },
        };
        records.push(LedgerRecord { kind, slot, ..first });
    }
    records
}

/// Settles, and lists what was synced and what was dropped from the cache.
fn check(ledger: &[LedgerRecord], sync_indexes: bool, expected: &[&str]) {
    let storage = unsynced(ledger);
    let before = storage.files();
    settle(&storage, sync_indexes).unwrap();
    assert_eq!(storage.files(), before, "no byte changes");
    let mut calls = storage.calls();
    calls.retain(|call| call.starts_with("sync") || call.starts_with("drop-cache"));
    let calls: Vec<_> = calls
        .iter()
        .map(|call| call.replace(&format!("{DIRECTORY}/"), "").replace("000000000000000000", ""))
        .collect();
    let directory = format!("sync-directory {DIRECTORY}");
    let expected: Vec<_> = [&directory[..]].into_iter().chain(expected.iter().copied()).collect();
    assert_eq!(calls, expected);
}

#[test]
fn without_a_ledger_everything_that_counts_is_synced_and_dropped() {
    check(
        &[],
        false,
        &[
            "sync superblock.a",
            "drop-cache superblock.a",
            "sync 00.log",
            "drop-cache 00.log",
            "sync 09.log",
            "drop-cache 09.log",
            "sync 00.index",
            "drop-cache 00.index",
            "sync 09.index",
            "drop-cache 09.index",
        ],
    );
}

#[test]
fn with_a_ledger_what_is_sealed_and_ends_there_is_not_synced() {
    let expected = [
        "sync ledger",
        "drop-cache ledger",
        "sync superblock.a",
        "drop-cache superblock.a",
        "drop-cache 00.log",
        "sync 09.log",
        "drop-cache 09.log",
        "drop-cache 00.index",
        "drop-cache 09.index",
    ];
    check(&ledger(0, &[(0, 9), (9, 8)]), false, &expected);
    // One that ends at its mark may have been cut back to it.
    check(&ledger(0, &[(0, 9), (9, 9)]), false, &expected);
    let longer = [&expected[..4], &["sync 00.log"], &expected[4..]].concat();
    check(&ledger(0, &[(0, 8), (9, 9)]), false, &longer);
    let below_the_floor =
        [&expected[..4], &["sync 09.log", "drop-cache 09.log", "drop-cache 09.index"]].concat();
    check(&ledger(9, &[(9, 3)]), false, &below_the_floor);
}

#[test]
fn the_tool_syncs_the_indexes_and_sealed_logs_too() {
    let expected = [
        "sync ledger",
        "drop-cache ledger",
        "sync superblock.a",
        "drop-cache superblock.a",
        "sync 00.log",
        "drop-cache 00.log",
        "sync 09.log",
        "drop-cache 09.log",
        "sync 00.index",
        "drop-cache 00.index",
        "sync 09.index",
        "drop-cache 09.index",
    ];
    check(&ledger(0, &[(0, 9), (9, 9)]), true, &expected);
}

/// N11.
#[test]
fn what_was_settled_survives_a_power_loss() {
    let storage = unsynced(&[]);
    let mut before = storage.files();
    settle(&storage, false).unwrap();
    storage.lose_power();
    let mut after = storage.files();
    for files in [&mut before, &mut after] {
        files.retain(|path, _| !path.ends_with("x.staging") && !path.ends_with("notes.txt"));
    }
    assert_eq!(after, before);
}

#[test]
fn an_error_at_any_call_is_returned_and_changes_nothing() {
    let records = ledger(0, &[(0, 9), (9, 8)]);
    let storage = unsynced(&records);
    settle(&storage, true).unwrap();
    let calls = storage.call_count();
    for call in 1..=calls {
        let storage = unsynced(&records);
        let before = storage.files();
        storage.start(Some(Fault::Once(call, Errno::IO)));
        let failed = settle(&storage, true).map_err(|error| error.errno);
        assert_eq!(failed, Err(Errno::IO), "call {call} of {calls}");
        assert_eq!(storage.files(), before, "call {call} of {calls}");
    }
}
