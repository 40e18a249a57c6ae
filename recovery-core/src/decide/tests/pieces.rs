//! The chain as it will be, once batches behind accepted damage are carried over: facts in, a line a piece out.

use super::super::{Piece, pieces};
use super::builder::{BATCH, Segment, bad_checksum, partition, run, segment};
use crate::observe::{PartitionFacts, Residue, Run};
use crate::units::Position;

fn words(piece: &Piece<'_>) -> String {
    let what = match (piece.run, piece.staged(), piece.replaces()) {
        (None, None, false) => "as it is",
        (Some(_), None, false) => "in place",
        (Some(_), Some(_), false) => "new",
        (Some(_), Some(_), true) => "replaced",
        (None, _, true) | (None, Some(_), false) | (Some(_), None, true) => "impossible",
    };
    format!("{}..{}@{} {what}", piece.start, piece.next_offset, piece.end)
}

#[track_caller]
fn check(segments: impl IntoIterator<Item = Segment>, expected: &[&str]) {
    let facts = PartitionFacts::from(partition(segments));
    assert_eq!(pieces(&facts).iter().map(words).collect::<Vec<_>>(), expected);
}

/// A segment with damage that was accepted, and these runs behind its prefix.
fn accepted(start: u64, messages: u64, runs: &[Run]) -> Segment {
    let mut segment = segment(start, messages).stopped(bad_checksum(), Residue::Survivor, 9 * BATCH);
    segment.0.accepts_loss = true;
    segment.0.residue.runs = runs.to_vec();
    segment
}

#[test]
fn a_segment_without_an_accepted_loss_is_as_it_is() {
    check([segment(0, 3), segment(3, 1)], &["0..3@912 as it is", "3..4@304 as it is"]);
    let mut refused = accepted(0, 3, &[run(1216, 4, 6)]);
    refused.0.accepts_loss = false;
    check([refused], &["0..3@912 as it is"]);
    check([accepted(0, 3, &[])], &["0..3@912 as it is"]);
}

#[test]
fn each_run_behind_damage_becomes_a_segment_of_its_own() {
    check(
        [accepted(0, 3, &[run(1216, 4, 6), run(2128, 7, 8)]), segment(9, 1)],
        &["0..3@912 as it is", "4..6@608 new", "7..8@304 new", "9..10@304 as it is"],
    );
}

#[test]
fn a_run_at_the_start_of_its_segment_takes_the_place_of_it() {
    check([accepted(5, 0, &[run(70, 5, 7)])], &["5..7@608 replaced"]);
    // Batches without a message stay in front of it.
    let mut empty_batch = accepted(5, 0, &[run(400, 5, 7)]);
    empty_batch.0.proven.end = Position::new(256);
    check([empty_batch], &["5..7@864 replaced"]);
}

#[test]
fn a_run_that_continues_the_prefix_in_bytes_and_offsets_stays_in_place() {
    check([accepted(0, 3, &[run(912, 3, 5)])], &["0..5@1520 in place"]);
    check([accepted(0, 0, &[run(0, 0, 2)])], &["0..2@608 in place"]);
    // Not one that continues it in one of the two.
    check([accepted(0, 3, &[run(912, 4, 5)])], &["0..3@912 as it is", "4..5@304 new"]);
    check([accepted(0, 3, &[run(1216, 3, 5)])], &["0..3@912 as it is", "3..5@608 new"]);
}
