//! One segment among others: what marks of others say of its end, and whose offsets its residue may hold.

use recovery_core::format::{BatchBuilder, FileName, LedgerKind, Message, partition_components, stamp};
use recovery_core::observe::{Expectation, Observation, PartitionFacts, Progress, SegmentFacts, Workspace};
use recovery_core::storage::{Errno, PartitionDirectory};
use recovery_core::units::{Offset, SegmentStart};

use crate::memory_storage::{Fault, MemoryStorage};
use crate::observe_world::{NAMESPACE, facts, first_mark, record, storage_of};

fn observe(storage: &MemoryStorage) -> PartitionFacts {
    facts(storage, 512, 1 << 20)
}

fn log(start: u64, bytes: Vec<u8>) -> (String, Vec<u8>) {
    (FileName::log(SegmentStart::new(start)).to_string(), bytes)
}

/// A ledger that has a mark at the beginning of each of these segments.
fn ledger(marked: &[u64]) -> (String, Vec<u8>) {
    let marks = marked.iter().map(|start| first_mark(SegmentStart::new(*start)));
    let records =
        marks.zip(0..).flat_map(|(mark, slot)| record(slot, LedgerKind::Frontier { mark }).encode());
    (FileName::ledger().to_string(), records.collect())
}

/// Compares what is known of the ends of empty logs beside a ledger that marks some of them.
#[track_caller]
fn check_evidence(logs: &[u64], marked: &[u64], expected: &str) {
    let mut files: Vec<_> = logs.iter().map(|start| log(*start, Vec::new())).collect();
    files.push(ledger(marked));
    let facts = observe(&storage_of(&files));
    let words = |segment: &SegmentFacts| format!("{} {}", segment.start.offset(), segment.evidence.code());
    assert_eq!(facts.segments.iter().map(words).collect::<Vec<_>>().join(", "), expected);
}

#[test]
fn nothing_is_known_of_a_segment_without_a_mark_below_one_that_has_one() {
    check_evidence(&[0, 5, 9], &[5], "0 unknown, 5 at-or-above, 9 at-or-above");
    check_evidence(&[0, 5, 9], &[0, 9], "0 at-or-above, 5 unknown, 9 at-or-above");
    check_evidence(&[0, 5, 9], &[0], "0 at-or-above, 5 at-or-above, 9 at-or-above");
}

/// A log of noise and a batch of two messages from offset 5 on behind it, for which there is room.
fn survivor() -> Vec<u8> {
    let mut batch = Vec::new();
    let mut builder = BatchBuilder::begin(&mut batch, 1);
    for id in 1..=2 {
        builder.push(&Message { id, payload: b"hello", ..Message::default() }).unwrap();
    }
    builder.finish();
    stamp(&mut batch, NAMESPACE.partition_id(), Offset::new(5), 2).unwrap();
    [vec![0xee; 1000], batch].concat()
}

#[test]
fn a_batch_whose_offsets_the_next_segment_may_hold_is_carried_nowhere() {
    for (next, expected) in [(None, 1), (Some(5), 0), (Some(6), 0), (Some(7), 1)] {
        let mut files = vec![log(0, survivor())];
        files.extend(next.map(|start| log(start, Vec::new())));
        let residue = &observe(&storage_of(&files)).segments[0].residue;
        assert_eq!((residue.survivor_count, residue.runs.len()), (1, expected), "{next:?}");
    }
}

#[test]
fn a_read_of_a_log_that_fails_once_changes_nothing() {
    let storage = storage_of(&[log(0, survivor())]);
    storage.start(None);
    let expected = observe(&storage).segments;
    let reads = storage.calls().into_iter().zip(1..).filter(|(call, _)| call.starts_with("read "));
    let reads: Vec<u64> = reads.filter(|(call, _)| call.contains(".log")).map(|(_, number)| number).collect();
    assert!(reads.len() > 4, "walk and probe read for themselves: {reads:?}");
    for call in reads {
        storage.start(Some(Fault::Once(call, Errno::IO)));
        assert_eq!(observe(&storage).segments, expected, "call {call}");
    }
}

#[test]
fn an_observation_that_is_given_up_closes_what_it_opened() {
    let index = (FileName::index(SegmentStart::ZERO).to_string(), vec![0; 24]);
    let storage = storage_of(&[log(0, vec![0; 9000]), index]);
    let partition = PartitionDirectory::open(&storage, &partition_components(NAMESPACE)).unwrap();
    let before = storage.open_handles();
    let mut workspace = Workspace::new(512);
    let mut observation = Observation::new(Expectation::of(NAMESPACE), &mut workspace);
    assert_eq!(observation.step(&storage, &partition, &mut workspace, 512), Progress::More);
    assert_eq!(storage.open_handles(), before + 2, "log and index are open between two steps");
    observation.close(&storage);
    assert_eq!(storage.open_handles(), before);
    partition.close(&storage);
}
