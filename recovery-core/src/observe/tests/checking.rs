//! A log that was just written, held against what it was meant to be.

use super::{INCARNATION, Log, NAMESPACE, batch};
use crate::format::{BatchHeader, ChainHash, Mark, stamp};
use crate::observe::{LogCheck, LogExpectation, Workspace};
use crate::units::{Incarnation, Length, Offset, SegmentStart};

/// Whether a log of these bytes is what `end` says.
#[track_caller]
fn check(bytes: &[u8], end: Mark, incarnation: Incarnation, expected: bool) {
    let log = Log::new(bytes.to_vec());
    let mut workspace = Workspace::new(4096);
    let expectation = LogExpectation { namespace: NAMESPACE, incarnation, end };
    let mut check = LogCheck::new(expectation, &mut workspace);
    let found = check.step(&log, &(), &log.name, &mut workspace, 1 << 20).expect("no read fails");
    assert_eq!(found, Some(expected));
}

#[test]
fn only_a_whole_log_with_the_end_and_the_chain_that_it_was_given_is_what_it_was_meant_to_be() {
    let (segment, bytes) = (SegmentStart::ZERO, batch(0, &[0]));
    let header = BatchHeader::read(bytes.first_chunk().expect("a batch has a header"));
    let chain_hash = ChainHash::start(NAMESPACE, INCARNATION, segment).after(header.batch_checksum);
    let position = Length::new(bytes.len() as u64).as_position();
    let end = Mark { segment, position, next_offset: Offset::new(1), chain_hash };
    check(&bytes, end, INCARNATION, true);
    // Whole all of them, and of the same length.
    check(&bytes, end, Incarnation::new(8), false);
    check(&bytes, Mark { next_offset: Offset::new(2), ..end }, INCARNATION, false);
    check(&batch(0, &[0]).iter().rev().copied().collect::<Vec<_>>(), end, INCARNATION, false);
    let mut other = batch(0, &[0]);
    stamp(&mut other, NAMESPACE.partition_id(), Offset::ZERO, 3).expect("it is a batch still");
    check(&other, end, INCARNATION, false);
}
