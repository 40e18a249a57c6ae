//! Facts that no observation states are no facts to decide on.

use std::panic::catch_unwind;

use super::super::decide;
use super::builder::{Partition, partition, segment};
use crate::observe::PartitionFacts;
use crate::units::{Length, Offset, Position};

/// Decides, and compares what is said against the facts with `expected`.
#[track_caller]
fn check(facts: Partition, expected: &str) {
    let facts = PartitionFacts::from(facts);
    let complaint = catch_unwind(|| decide(&facts)).expect_err("nothing is decided");
    assert_eq!(complaint.downcast_ref::<&str>(), Some(&expected));
}

#[test]
fn segments_that_do_not_ascend_are_none() {
    check(partition([segment(3, 1), segment(0, 3)]), "segments ascend");
    check(partition([segment(0, 0), segment(0, 0)]), "no segment is stated twice");
}

#[test]
fn a_prefix_that_lies_outside_of_its_segment_is_none() {
    let mut backwards = segment(5, 1);
    backwards.0.proven.next_offset = Offset::new(4);
    check(partition([backwards]), "a prefix ends behind its start");
    let mut beyond = segment(0, 1);
    (beyond.0.proven.end, beyond.0.log_length) = (Position::new(304), Length::new(303));
    check(partition([beyond]), "a prefix ends within its file");
}
