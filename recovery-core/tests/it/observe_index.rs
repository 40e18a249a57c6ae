//! What is stated of an index beside a log: its state, what it says beyond the log, and the one to replace it.

use recovery_core::format::{INDEX_ENTRY_BYTES, IndexEntry};
use recovery_core::units::{Offset, Position};

use crate::observe_world::{DIRECTORY, INDEX, LOG, STAMPED_AT, batch, facts, storage_of};

fn entry(offset: u64, position: u64) -> [u8; INDEX_ENTRY_BYTES] {
    IndexEntry { offset: Offset::new(offset), timestamp: STAMPED_AT, position: Position::new(position) }
        .encode()
}

fn index_of(entries: &[(u64, u64)]) -> Vec<u8> {
    entries.iter().flat_map(|(offset, position)| entry(*offset, *position)).collect()
}

fn told(entry: &IndexEntry) -> String {
    format!("{}@{}", entry.offset, entry.position)
}

/// State, the entry beyond, the entries to write instead, and whether those begin with the bytes that are there.
#[track_caller]
fn check(log: &[Vec<u8>], index: Option<&[u8]>, expected: &str) {
    let log = log.concat();
    let storage = storage_of(&[(LOG, &log)]);
    if let Some(index) = index {
        storage.put(&format!("{DIRECTORY}/{INDEX}"), index);
    }
    for limit in [512, 1 << 20] {
        let facts = facts(&storage, 4096, limit);
        let index = &facts.segments.first().expect("there is a log").index;
        let beyond = index.beyond.as_ref().map_or("nothing".to_owned(), told);
        let rebuilt: Vec<String> = index.rebuilt.iter().map(told).collect();
        let prefix = if index.is_prefix_of_rebuilt { "prefix" } else { "other bytes" };
        let found = format!("{}; beyond: {beyond}; new: {}; {prefix}", index.state.code(), rebuilt.join(" "));
        assert_eq!(found, expected, "{limit} bytes a step");
    }
}

/// Batches of 324 bytes and one message each.
fn small(offsets: std::ops::Range<u64>) -> Vec<Vec<u8>> {
    offsets.map(|offset| batch(offset, &[&[7; 20]])).collect()
}

/// Ten batches of 20,304 bytes and one message each: every fourth is due for an entry.
fn large() -> Vec<Vec<u8>> {
    let payload = vec![7; 20_000];
    (0..10).map(|offset| batch(offset, &[&payload])).collect()
}

/// A batch of no messages at offset 0, and two batches of one message behind it.
fn behind_an_empty_batch() -> Vec<Vec<u8>> {
    [vec![batch(0, &[])], small(0..2)].concat()
}

#[test]
fn an_index_that_names_batches_in_order_is_good() {
    let good = "good; beyond: nothing; new: ; other bytes";
    check(&small(0..3), Some(&index_of(&[(0, 0), (2, 648)])), good);
    check(&behind_an_empty_batch(), Some(&index_of(&[(0, 0), (1, 580)])), good);
}

#[test]
fn the_first_entry_names_the_first_byte() {
    let wrong = "wrong; beyond: nothing; new: 0@0; other bytes";
    check(&small(0..3), Some(&index_of(&[(1, 324)])), wrong);
    // The same offset as the segment's, but not its first batch.
    check(&behind_an_empty_batch(), Some(&index_of(&[(0, 256)])), wrong);
}

#[test]
fn offsets_of_entries_ascend_even_where_a_batch_has_no_messages() {
    let wrong = "wrong; beyond: nothing; new: 0@0; other bytes";
    check(&behind_an_empty_batch(), Some(&index_of(&[(0, 0), (0, 256)])), wrong);
}

#[test]
fn a_new_index_has_an_entry_every_64_kib() {
    check(&large(), None, "absent; beyond: nothing; new: 0@0 4@81216 8@162432; prefix");
}

#[test]
fn a_new_index_never_names_an_offset_twice() {
    let mut log = vec![batch(0, &[]); 300];
    log.extend(small(0..2));
    check(&log, None, "absent; beyond: nothing; new: 0@0 1@77124; prefix");
}

#[test]
fn a_torn_index_may_be_the_start_of_the_new_one() {
    let mut index = index_of(&[(0, 0), (4, 81_216)]);
    index.truncate(30);
    let state = "partial-tail; beyond: nothing; new: 0@0 4@81216 8@162432";
    check(&large(), Some(&index), &format!("{state}; prefix"));
    index.extend([0; 10]);
    check(&large(), Some(&index), &format!("{state}; other bytes"));
    index.truncate(27);
    check(&large(), Some(&index), &format!("{state}; prefix"));
}

/// Two whole batches and half of the third: the proof ends at byte 648, before offset 2.
#[track_caller]
fn check_torn(entries: &[(u64, u64)], beyond: &str) {
    let mut log = small(0..3);
    log[2].truncate(100);
    check(&log, Some(&index_of(entries)), &format!("wrong; beyond: {beyond}; new: 0@0; other bytes"));
}

#[test]
fn an_entry_is_beyond_the_log_only_if_a_batch_behind_the_torn_one_was_begun() {
    check_torn(&[(0, 0), (3, 972)], "3@972");
    check_torn(&[(0, 0), (3, 972), (4, 1296)], "4@1296");
    // The torn batch itself, and entries that contradict it in one of two things.
    check_torn(&[(0, 0), (2, 648)], "nothing");
    check_torn(&[(0, 0), (3, 648)], "nothing");
    check_torn(&[(0, 0), (2, 972)], "nothing");
}

#[test]
fn an_entry_that_breaks_the_order_silences_all_behind_it() {
    check_torn(&[(0, 0), (0, 900), (3, 972)], "nothing");
    check_torn(&[(0, 0), (1, 400), (3, 972)], "nothing");
    check_torn(&[(0, 0), (3, 972), (4, 972), (5, 1296)], "3@972");
    check_torn(&[(1, 0), (3, 972)], "nothing");
}
