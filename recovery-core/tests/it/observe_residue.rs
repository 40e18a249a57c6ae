//! What is stated of bytes behind a proven prefix: a batch inside a payload is no survivor, whatever one read shows.

use recovery_core::format::{BATCH_HEADER_BYTES, FRAME_HEADER_BYTES};
use recovery_core::observe::{Expectation, StopDetail, Undecodable};

use crate::memory_storage::{Fault, MemoryStorage};
use crate::observe_world::{LOG, NAMESPACE, batch, facts, observed, storage_of};

/// Positions of the survivors.
fn survivors(storage: &MemoryStorage, window: usize, limit: u64) -> Vec<u64> {
    let facts = facts(storage, window, limit);
    let residue = &facts.segments.first().expect("there is a log").residue;
    residue.survivors.iter().map(|find| find.position.get()).collect()
}

/// A batch that is damaged at byte `damaged`, with payloads of these bytes, and a whole batch behind it.
fn torn(payloads: &[&[u8]], damaged: usize) -> (MemoryStorage, u64) {
    let mut log = batch(0, payloads);
    log[damaged] ^= 1;
    let behind = log.len() as u64;
    log.extend(batch(payloads.len() as u64, &[b"behind"]));
    (storage_of(&[(LOG, &log)]), behind)
}

/// Where the first payload of a batch starts.
const PAYLOAD: usize = BATCH_HEADER_BYTES + FRAME_HEADER_BYTES;

#[test]
fn a_batch_inside_any_whole_message_of_a_damaged_batch_is_no_survivor() {
    let nested = batch(1, &[b"nested"]);
    for (payloads, damaged) in [
        ([&nested[..], b"second", b"third"], PAYLOAD + nested.len() + FRAME_HEADER_BYTES),
        ([b"first", &nested, b"third"], PAYLOAD),
        ([b"first", b"second", &nested], PAYLOAD),
    ] {
        let (storage, behind) = torn(&payloads, damaged);
        for (window, limit) in [(512, 512), (777, 3000), (4096, 1 << 20)] {
            assert_eq!(survivors(&storage, window, limit), [behind], "{window} bytes, {limit} a step");
        }
    }
}

#[test]
fn one_read_that_lies_makes_no_survivor_of_a_batch_inside_a_payload() {
    let nested = batch(2, &[b"nested"]);
    let (storage, _) = torn(&[&[7; 300], &nested], PAYLOAD);
    let inside = (PAYLOAD + 300 + FRAME_HEADER_BYTES) as u64;
    for window in [512, 4096] {
        storage.start(None);
        assert!(!survivors(&storage, window, 1 << 20).contains(&inside));
        for call in 1..=storage.call_count() {
            let storage = storage.clone();
            storage.start(Some(Fault::Misread(call)));
            let facts = observed(&storage, Expectation::of(NAMESPACE), window, 1 << 20).facts;
            let finds = facts.segments.iter().flat_map(|segment| &segment.residue.survivors);
            let positions: Vec<u64> = finds.map(|find| find.position.get()).collect();
            assert!(!positions.contains(&inside), "{window} bytes, call {call}: {positions:?}");
        }
    }
}

#[test]
fn a_long_message_of_a_damaged_batch_is_read_in_long_pieces() {
    let (storage, _) = torn(&[&[7; 16 << 10], b"second"], PAYLOAD + (16 << 10) + FRAME_HEADER_BYTES);
    storage.start(None);
    survivors(&storage, 4096, 1 << 20);
    let reads = storage.calls().iter().filter(|call| call.starts_with("read ")).count();
    assert!(reads <= 60, "{reads} reads of a log of 17 KiB through a window of 4 KiB");
}

#[test]
fn the_frames_that_a_probe_steps_over_are_counted() {
    let noise = [0xee; 100];
    let log = [&noise[..], &batch(0, &[b"one", b"two", b"three"])].concat();
    let facts = facts(&storage_of(&[(LOG, &log)]), 4096, 1 << 20);
    // Once for the structure, and once for the bodies.
    assert_eq!(facts.work.bytes_walked, 2 * 3 * FRAME_HEADER_BYTES as u64);
}

#[test]
fn a_batch_with_a_frame_too_many_stops_the_walk_behind_those_it_counts() {
    let mut log = batch(0, &[b"one", b"two"]);
    log[48] = 1;
    let facts = facts(&storage_of(&[(LOG, &log)]), 4096, 1 << 20);
    let stop = facts.segments.first().expect("there is a log").stop;
    assert_eq!(stop, StopDetail::Undecodable(Undecodable::Tiling { claimed: 1, found: 1 }));
}
