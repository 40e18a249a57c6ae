//! What steps cost, and that neither their size nor who else uses the windows changes what is stated.

use recovery_core::format::{IndexEntry, LedgerKind, partition_components};
use recovery_core::observe::{Expectation, Observation, Progress, Work, Workspace};
use recovery_core::storage::PartitionDirectory;
use recovery_core::units::{Offset, Position, SegmentStart};

use crate::memory_storage::MemoryStorage;
use crate::observe_world::{INDEX, LOG, NAMESPACE, STAMPED_AT, batch, facts, first_mark, record, storage_of};

/// A ledger of `records` records, all of which say that nothing was written, and half of one.
fn ledger(records: u64) -> Vec<u8> {
    let kind = LedgerKind::Frontier { mark: first_mark(SegmentStart::ZERO) };
    let mut bytes: Vec<u8> = (0..records).flat_map(|slot| record(slot, kind).encode()).collect();
    bytes.extend([4; 60]);
    bytes
}

/// A partition with something of everything: `batches` batches that are all in a torn index, then a damaged one
/// with a batch inside a long payload, a whole one, and noise.
fn world(batches: u64) -> MemoryStorage {
    let (mut log, mut index) = (Vec::new(), Vec::new());
    for number in 0..batches {
        let (offset, position) = (Offset::new(number), Position::new(log.len() as u64));
        index.extend(IndexEntry { offset, timestamp: STAMPED_AT, position }.encode());
        log.extend(batch(number, &[b"a message"]));
    }
    index.extend([1; 12]);
    let nesting = [batch(batches + 1, &[b"nested"]), vec![3; 3_000]].concat();
    let mut damaged = batch(batches, &[&nesting, b"damaged"]);
    *damaged.last_mut().expect("a batch has bytes") ^= 1;
    log.extend(damaged);
    log.extend(batch(batches + 2, &[&[5; 1_500]]));
    log.extend([9; 300]);
    storage_of(&[(LOG, &log), (INDEX, &index), ("ledger", &ledger(batches))])
}

#[test]
fn no_limit_of_a_step_changes_what_is_stated() {
    let storage = world(5);
    let mut expected = facts(&storage, 4096, 1 << 20);
    let survivors = &expected.segments.first().expect("there is a log").residue.survivors;
    assert_eq!(survivors.len(), 1, "the one in the payload is none");
    expected.work = Work::default();
    for limit in 512..1_600 {
        for window in [512, 4096] {
            let mut found = facts(&storage, window, limit);
            assert!(found.work.longest_step_bytes <= limit, "{limit} bytes a step: {:?}", found.work);
            found.work = Work::default();
            assert_eq!(found, expected, "{limit} bytes a step");
        }
    }
}

#[test]
fn observations_that_take_turns_in_one_workspace_come_to_an_end() {
    const STEPS_MAX: u32 = 10_000;
    let storage = world(60);
    let mut expected = facts(&storage, 512, 512);
    expected.work = Work::default();
    let components = partition_components(NAMESPACE);
    let partition = PartitionDirectory::open(&storage, &components).expect("the directory is there");
    for window in [512, 4096] {
        let mut workspace = Workspace::new(window);
        let mut pair = [(); 2].map(|()| Observation::new(Expectation::of(NAMESPACE), &mut workspace));
        let mut steps = 0;
        let mut left = 2;
        while left > 0 {
            assert!(steps < STEPS_MAX, "each step goes on, though the windows show nothing of the last one");
            steps += 1;
            let progress = pair.each_mut().map(|one| one.step(&storage, &partition, &mut workspace, 512));
            left = progress.into_iter().filter(|progress| *progress == Progress::More).count();
        }
        for observation in pair {
            let mut facts = observation.finish().facts;
            facts.work = Work::default();
            assert_eq!(facts, expected);
        }
    }
}

#[test]
fn the_bytes_that_are_said_to_be_read_are_those_that_storage_returned() {
    let storage = world(5);
    let components = partition_components(NAMESPACE);
    let partition = PartitionDirectory::open(&storage, &components).expect("the directory is there");
    let mut workspace = Workspace::new(512);
    let mut observation = Observation::new(Expectation::of(NAMESPACE), &mut workspace);
    storage.start(None);
    assert_eq!(observation.bytes_read(), 0);
    loop {
        let progress = observation.step(&storage, &partition, &mut workspace, 512);
        assert_eq!(observation.bytes_read(), storage.bytes_read());
        if progress == Progress::Done {
            break;
        }
    }
    assert!(observation.bytes_read() > 5_000, "the files are longer than that");
    assert_eq!(observation.finish().facts.work.bytes_read, storage.bytes_read());
}

#[test]
fn short_reads_are_no_more_than_the_bytes_need() {
    let log = batch(0, &[&[7; 208]]);
    assert_eq!(log.len(), 512);
    let storage = storage_of(&[(LOG, &log)]);
    storage.limit_transfers(100);
    storage.start(None);
    facts(&storage, 512, 1 << 20);
    let reads = storage.calls().iter().filter(|call| call.starts_with("read ")).count();
    assert_eq!(reads, 6, "five of a hundred bytes, and the rest");
}
