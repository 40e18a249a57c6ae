//! Carries plans out over a [`World`], and judges what that left from outside.

use std::collections::BTreeMap;

use recovery_core::format::{Checksum, CopyName, FileName};
use recovery_core::observe::{PartitionFacts, Progress, Workspace};
use recovery_core::plan::{Applying, PlanOptions, build};
use recovery_core::storage::{Name, PartitionDirectory, StorageError};
use recovery_core::units::{Length, Position, SegmentStart};

use crate::memory_storage::{MemoryStorage, name};
use crate::plan_world::{DIRECTORY, Segment, World};

pub(crate) const SERVER: PlanOptions =
    PlanOptions { sync_indexes: false, clean_stop: false, makes_ledger: false };
pub(crate) const TOOL: PlanOptions =
    PlanOptions { sync_indexes: true, clean_stop: true, makes_ledger: false };

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Window and step limit in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slices(pub(crate) usize, pub(crate) u64);

pub(crate) const WIDE: Slices = Slices(64 * 1024, 1 << 20);
pub(crate) const NARROW: Slices = Slices(512, 512);

/// Recovers the partition as it lies there now; returns what was fenced.
pub(crate) fn recover(
    world: &World,
    storage: &MemoryStorage,
    options: PlanOptions,
    slices: Slices,
) -> Result<Vec<String>, StorageError> {
    let facts = world.observe(storage);
    recover_as(world, storage, &facts, options, slices)
}

/// Recovers the partition on facts that may be outdated.
pub(crate) fn recover_as(
    world: &World,
    storage: &MemoryStorage,
    facts: &PartitionFacts,
    options: PlanOptions,
    Slices(window, limit): Slices,
) -> Result<Vec<String>, StorageError> {
    let components: Vec<Name> = DIRECTORY.split('/').map(name).collect();
    let partition = PartitionDirectory::open(storage, &components)?;
    let mut applying = Applying::new(build(facts, &world.decide(facts), options));
    let mut workspace = Workspace::new(window);
    let outcome = loop {
        match applying.step(storage, &partition, facts, &mut workspace, limit) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    let fenced = outcome.map(|()| {
        let applied = applying.finish(storage);
        if let Some(ledger) = applied.ledger {
            ledger.close(storage);
        }
        applied.fenced.iter().map(ToString::to_string).collect()
    });
    partition.close(storage);
    assert_eq!(storage.open_handles(), 0, "every handle is closed");
    fenced
}

/// Every kind of damage at once.
pub(crate) fn damaged(has_ledger: bool) -> World {
    let mut sparse = vec![0; 3 * 4096];
    sparse[5000] = 5;
    let first = Segment::whole(0, 9);
    let half_made = [&first.new_index()[..25], &[0; 10]].concat();
    World {
        has_ledger,
        survivors: has_ledger.then_some(40),
        segments: vec![
            first.with_residue(&[1, 2, 3]).with_index(None),
            Segment::whole(9, 3).with_residue(&[0; 700]),
            Segment::whole(12, 700).with_residue(&sparse).with_index(Some(&[7; 48])),
            Segment::whole(712, 1).with_index(Some(&[0; 24])),
        ],
        others: vec![
            ("x.staging", vec![9; 1000]),
            ("00000000000000000077.index", vec![2; 24]),
            ("00000000000000000000.index.staging", half_made),
            ("00000000000000000012.index.staging", vec![3; 30]),
            ("notes.txt", b"mine".to_vec()),
            ("3.offsets/1", vec![8]),
        ],
    }
}

/// Where a file of the partition is, if it is in a fence.
fn fenced_bytes<'a>(files: &'a Files, file: &str, position: u64, bytes: &[u8]) -> Option<&'a Vec<u8>> {
    let length = Length::new(bytes.len() as u64);
    let copy = CopyName::new(&name(file), Position::new(position), length, Checksum::of(bytes));
    let suffix = format!("/{}", copy.name());
    let is_copy = |path: &str| path.starts_with(&format!("{DIRECTORY}.fenced.")) && path.ends_with(&suffix);
    files.iter().find(|(path, found)| is_copy(path) && **found == bytes).map(|(_, found)| found)
}

/// Every non-zero byte of `before` is where it was, in a fence, or in the new index.
pub(crate) fn check_nothing_is_lost(world: &World, before: &Files, after: &Files) {
    for (path, old) in before {
        let is_in_place = after.get(path).is_some_and(|new| new.starts_with(old));
        if is_in_place || old.iter().all(|byte| *byte == 0) {
            continue;
        }
        let file = path.strip_prefix(&format!("{DIRECTORY}/")).expect("only the partition changes");
        let segment = world.segments.iter().find(|segment| {
            let stem = SegmentStart::new(segment.start);
            let staging = FileName::index_staging(stem).to_string();
            FileName::log(stem).to_string() == file
                || FileName::index(stem).to_string() == file
                || staging == file
        });
        let (position, bytes) = match segment {
            Some(segment) if file == FileName::log(SegmentStart::new(segment.start)).to_string() => {
                let new = &after[path];
                assert!(new.starts_with(&segment.proven), "{path} lost proven bytes");
                (segment.proven.len(), &old[segment.proven.len()..])
            }
            Some(segment) if is_within(old, &segment.new_index()) => continue,
            Some(_) | None => (0, &old[..]),
        };
        let is_zero = bytes.iter().all(|byte| *byte == 0);
        assert!(is_zero || fenced_bytes(after, file, position as u64, bytes).is_some(), "{path} is lost");
    }
}

/// Whether every non-zero byte of `old` stands at the same place in `new`.
fn is_within(old: &[u8], new: &[u8]) -> bool {
    old.iter().enumerate().all(|(at, byte)| *byte == 0 || new.get(at) == Some(byte))
}

/// The partition is as recovery leaves it.
pub(crate) fn check_is_recovered(world: &World, storage: &MemoryStorage) {
    let facts = world.observe(storage);
    assert!(build(&facts, &world.decide(&facts), SERVER).is_empty(), "nothing is left to do");
    storage.start(None);
    assert_eq!(recover(world, storage, TOOL, WIDE).map(|_| ()), Ok(()));
    storage.start(None);
    assert_eq!(recover(world, storage, TOOL, WIDE), Ok(Vec::new()));
    assert_eq!(storage.changes(), Vec::<String>::new(), "a second recovery writes nothing");
}

/// The files, but for the ledger: after a crash it may hold another number of records.
pub(crate) fn without_ledger(mut files: Files) -> Files {
    files.remove(&format!("{DIRECTORY}/ledger"));
    files
}

/// How many calls recovery makes, and what it leaves.
pub(crate) fn undisturbed(world: &World, options: PlanOptions, slices: Slices) -> (u64, Files) {
    let storage = world.storage();
    storage.start(None);
    recover(world, &storage, options, slices).unwrap();
    (storage.call_count(), storage.files())
}
