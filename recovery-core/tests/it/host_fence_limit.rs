//! Fences past their limit: which copies go, and which never do.

use recovery_core::format::{Checksum, CopyName, FileName};
use recovery_core::host::FenceTrim;
use recovery_core::observe::{PartitionFacts, Progress, Workspace};
use recovery_core::recovery::Mode;
use recovery_core::storage::{Errno, PartitionDirectory, StorageError};
use recovery_core::units::{Length, Position, SegmentStart};

use crate::loss_world::{BATCH, TOOL, look, open, path, recover, written};
use crate::memory_storage::{Fault, MemoryStorage};

/// Puts a copy into a fence; gives its path.
fn put(storage: &MemoryStorage, fence: u64, position: u64, bytes: &[u8]) -> String {
    let log = FileName::log(SegmentStart::ZERO);
    let length = Length::new(bytes.len() as u64);
    let copy = CopyName::new(&log, Position::new(position), length, Checksum::of(bytes));
    let path = format!("streams/1/topics/2/partitions/3.fenced.{fence}/{}", copy.name());
    storage.put(&path, bytes);
    path
}

/// A partition that was stopped cleanly, with copies of noise, and of batches.
fn world() -> (MemoryStorage, [String; 4]) {
    let storage = written(true);
    recover(&storage, Mode::Repair, TOOL);
    let log = storage.files()[&path("00000000000000000000.log")].clone();
    let batches = [&[1; 90][..], &log[..3 * BATCH]].concat();
    let paths = [
        put(&storage, 0, 1, &[7; 900]),
        put(&storage, 0, 2, &[8; 500]),
        put(&storage, 1, 3, &[9; 700]),
        put(&storage, 1, 4, &batches),
    ];
    storage.put("streams/1/topics/2/partitions/3.fenced.0/REASON.toml", &[b'#'; 3000]);
    storage.put("streams/1/topics/2/partitions/3.fenced.2/00000000000000000000.log", &[5; 9000]);
    (storage, paths)
}

fn trim(storage: &MemoryStorage, limit: u64) -> Result<usize, StorageError> {
    let facts = look(storage).0;
    let partition = open(storage);
    let trimmed = trim_in(storage, &facts, &partition, limit);
    partition.close(storage);
    trimmed
}

fn trim_in(
    storage: &MemoryStorage,
    facts: &PartitionFacts,
    partition: &PartitionDirectory<MemoryStorage>,
    limit: u64,
) -> Result<usize, StorageError> {
    let mut workspace = Workspace::new(512);
    let Some(mut trim) = FenceTrim::new(facts, Length::new(limit)) else { return Ok(0) };
    while trim.step(storage, partition, &mut workspace, 512)? == Progress::More {}
    Ok(trim.deleted().len())
}

/// Which of the four copies are left at this limit.
#[track_caller]
fn check(limit: u64, expected: [bool; 4]) {
    let (storage, paths) = world();
    let before = storage.files();
    trim(&storage, limit).unwrap();
    let after = storage.files();
    assert_eq!(paths.each_ref().map(|path| after.contains_key(path)), expected, "limit {limit}");
    let is_copy = |path: &String| paths.contains(path);
    assert!(
        before.iter().filter(|(path, _)| !is_copy(path)).all(|(path, bytes)| after.get(path) == Some(bytes))
    );
    assert_eq!(storage.open_handles(), 0);
}

#[test]
fn the_largest_copies_without_a_batch_go_until_the_limit_holds() {
    let batches = 90 + 3 * BATCH as u64;
    let all = 900 + 500 + 700 + batches;
    check(all, [true, true, true, true]);
    check(all - 1, [false, true, true, true]);
    check(all - 900, [false, true, true, true]);
    check(all - 901, [false, true, false, true]);
    check(all - 1600, [false, true, false, true]);
    check(all - 1601, [false, false, false, true]);
    check(0, [false, false, false, true]);
}

#[test]
fn without_a_clean_stop_nothing_goes() {
    let (storage, _) = world();
    let crashed = written(true);
    for (path, bytes) in storage.files().iter().filter(|(path, _)| path.contains(".fenced.")) {
        crashed.put(path, bytes);
    }
    let before = crashed.files();
    assert_eq!(trim(&crashed, 0), Ok(0));
    assert!(crashed.files() == before);
}

#[test]
fn a_copy_that_is_not_as_long_as_its_name_says_stays() {
    let (storage, paths) = world();
    storage.put(&paths[0], &[7; 901]);
    trim(&storage, 0).unwrap();
    assert!(storage.files().contains_key(&paths[0]));
}

#[test]
fn an_error_deletes_nothing_more_and_leaves_no_handle() {
    for call in 1.. {
        let (storage, paths) = world();
        let facts = look(&storage).0;
        let partition = open(&storage);
        let handles = storage.open_handles();
        storage.start(Some(Fault::Once(call, Errno::IO)));
        let trimmed = trim_in(&storage, &facts, &partition, 0);
        assert_eq!(handles + storage.open_handles(), 2, "call {call} leaves only the partition open");
        assert!(storage.files().contains_key(&paths[3]), "call {call}: a copy with batches is never deleted");
        if trimmed == Ok(3) && call > storage.call_count() {
            return;
        }
        storage.start(None);
        trim_in(&storage, &facts, &partition, 0).unwrap();
        let left = storage.files();
        assert_eq!(paths.each_ref().map(|path| left.contains_key(path)), [false, false, false, true]);
    }
}
