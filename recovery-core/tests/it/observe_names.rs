//! What is stated of names that hold something else than they should, and of the superblocks.

use recovery_core::format::{SUPERBLOCK_BYTES_MAX, Superblock};
use recovery_core::observe::{Listing, SUPERBLOCK_STEP_BYTES, SuperblockState};
use recovery_core::units::Offset;

use crate::observe_world::{DIRECTORY, facts, storage_of};

/// What the listing says of an entry of this name that is a directory.
#[track_caller]
fn check_directory(name: &str, expected: &str) {
    let storage = storage_of::<&str, &[u8]>(&[]);
    storage.put_directory(&format!("{DIRECTORY}/{name}"));
    let Listing { segments, unexpected, scratch, others } = facts(&storage, 4096, 1 << 20).listing;
    assert!(segments.is_empty() && scratch.is_empty(), "a directory is no file of ours");
    let found: Vec<&str> = [("unexpected", unexpected.len()), ("other", others.len())]
        .into_iter()
        .filter_map(|(what, count)| (count == 1).then_some(what))
        .collect();
    assert_eq!(found, [expected], "{name}");
}

#[test]
fn a_directory_is_unexpected_where_its_name_is_needed_and_left_alone_elsewhere() {
    check_directory("00000000000000000000.log", "unexpected");
    check_directory("odd.log", "unexpected");
    check_directory("ledger", "unexpected");
    check_directory("ledger.staging", "unexpected");
    check_directory("superblock.a", "unexpected");
    check_directory("00000000000000000000.index", "other");
    check_directory("00000000000000000000.log.staging", "other");
    check_directory("superblock.a.staging", "other");
    check_directory("odd.index", "other");
    check_directory("offsets", "other");
}

fn superblock(sequence: u64, offset_frontier: u64) -> Superblock {
    let offset_frontier = Offset::new(offset_frontier);
    Superblock {
        sequence,
        cluster: 1,
        replica: 0,
        replica_count: 1,
        view: 1,
        log_view: 1,
        commit: 1,
        offset_frontier,
    }
}

/// Sequence and offset frontier of both slots; the one that counts.
#[track_caller]
fn check_superblocks(first: (u64, u64), second: (u64, u64), expected: (u64, u64)) {
    let (first, second) = (superblock(first.0, first.1).encode(), superblock(second.0, second.1).encode());
    let storage = storage_of(&[("superblock.a", &first), ("superblock.b", &second)]);
    match facts(&storage, 4096, 512).superblock {
        SuperblockState::Known { sequence, offset_frontier, .. } => {
            assert_eq!((sequence, offset_frontier.get()), expected);
        }
        other @ (SuperblockState::None
        | SuperblockState::Unreadable { .. }
        | SuperblockState::Mismatch { .. }) => panic!("one of them counts: {other:?}"),
    }
}

#[test]
fn the_newer_superblock_counts_and_of_two_alike_the_first() {
    check_superblocks((2, 10), (1, 20), (2, 10));
    check_superblocks((1, 10), (2, 20), (2, 20));
    check_superblocks((2, 10), (2, 20), (2, 10));
}

#[test]
fn both_superblocks_are_read_in_one_step_whatever_its_limit() {
    let record = superblock(1, 10).encode();
    let storage = storage_of(&[("superblock.a", &record), ("superblock.b", &record)]);
    let work = facts(&storage, 4096, 512).work;
    let both = 2 * record.len() as u64;
    assert_eq!((work.bytes_read, work.bytes_hashed, work.longest_step_bytes), (both, both, 2 * both));
}

#[test]
fn the_step_that_reads_the_largest_superblocks_is_as_long_as_is_said_and_a_larger_one_is_not_read() {
    let largest = [9; SUPERBLOCK_BYTES_MAX];
    let storage = storage_of(&[("superblock.a", &largest), ("superblock.b", &largest)]);
    assert_eq!(facts(&storage, 4096, 512).work.longest_step_bytes, SUPERBLOCK_STEP_BYTES);
    let larger = [9; SUPERBLOCK_BYTES_MAX + 1];
    let storage = storage_of(&[("superblock.a", &larger), ("superblock.b", &larger)]);
    assert_eq!(facts(&storage, 4096, 512).work.longest_step_bytes, 0);
}
