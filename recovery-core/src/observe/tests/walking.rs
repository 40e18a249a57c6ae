//! The walk along a log whose reads lie, and along marks that differ from it.

use super::{INCARNATION, Log, NAMESPACE, batch};
use crate::format::{
    BATCH_HEADER_BYTES, BatchHeader, ChainHash, Checksum, FRAME_HASHED_FROM, FRAME_HEADER_BYTES, FrameHeader,
    Mark, stamp,
};
use crate::observe::index_walk::IndexWalk;
use crate::observe::log_walk::{Checkpoints, LogWalk, WalkTools};
use crate::observe::window::Window;
use crate::observe::{Meter, Proven, SegmentMarks, StopDetail, Verifier, Work};
use crate::units::{Offset, Position, SegmentStart};

/// Bytes of a batch of one message without a payload.
const BATCH: usize = BATCH_HEADER_BYTES + FRAME_HEADER_BYTES;

/// A step that a walk over a few batches never uses up.
const STEP: u64 = 1 << 20;

/// A log of `count` batches of one message.
fn batches(count: u64) -> Vec<u8> {
    (0..count).flat_map(|offset| batch(offset, &[0])).collect()
}

/// The marks that a writer of this log may have made, one behind each batch.
fn marks(log: &[u8]) -> Vec<Mark> {
    let mut chain_hash = ChainHash::start(NAMESPACE, INCARNATION, SegmentStart::ZERO);
    let mut position = Position::ZERO;
    let mut marks = Vec::new();
    for batch in log.chunks(BATCH) {
        let header = BatchHeader::read(batch.first_chunk().expect("a batch has a header"));
        chain_hash = chain_hash.after(header.batch_checksum);
        position = position.checked_add(header.batch_length).expect("a small log");
        let next_offset = header.next_offset().expect("a small offset");
        marks.push(Mark { segment: SegmentStart::ZERO, position, next_offset, chain_hash });
    }
    marks
}

/// Walks through a window of `window` bytes, in steps of `limit`.
fn walk(log: &Log, marks: &[Mark], window: usize, limit: u64) -> (StopDetail, Proven, Work) {
    let marks = marks.split_last().map(|(newest, checks)| SegmentMarks {
        segment: SegmentStart::ZERO,
        newest: *newest,
        seal: None,
        accepts_loss: false,
        checks: checks.to_vec(),
    });
    let start_hash = ChainHash::start(NAMESPACE, INCARNATION, SegmentStart::ZERO);
    let mut walk = LogWalk::new(
        NAMESPACE.partition_id(),
        SegmentStart::ZERO,
        log.length(),
        None,
        Some(start_hash),
        Checkpoints::of(marks.as_ref()),
    );
    let (mut log_window, mut index_window) = (Window::new(window), Window::new(512));
    let mut index_walk = IndexWalk::new(SegmentStart::ZERO, None, log.length());
    let (mut verifier, mut meter) = (Verifier::new(), Meter::default());
    loop {
        meter.begin_step(limit);
        let mut tools = WalkTools {
            log: &log.source(),
            log_window: &mut log_window,
            index: None,
            index_window: &mut index_window,
            index_walk: &mut index_walk,
            verifier: &mut verifier,
            meter: &mut meter,
        };
        if let Some(stop) = walk.step(&mut tools).expect("no index is read") {
            return (stop, walk.proven(), meter.work());
        }
    }
}

/// Walks a log of `count` batches, each of which one read shows, with a mark behind each or none at all. Compares why
/// the walk ended and behind how many batches, and from which batch on each read was.
#[track_caller]
fn check(count: u64, lies: &[(usize, u64)], is_marked: bool, expected: &str) {
    let log = Log::lying(batches(count), lies);
    let marks = if is_marked { marks(&log.bytes) } else { Vec::new() };
    check_marked(&log, &marks, expected);
}

#[track_caller]
fn check_marked(log: &Log, marks: &[Mark], expected: &str) {
    let (stop, proven, _) = walk(log, marks, BATCH, STEP);
    let reads =
        log.reads().iter().map(|(at, _)| (at / BATCH as u64).to_string()).collect::<Vec<_>>().concat();
    assert_eq!(format!("{} behind {}, reads {reads}", stop.stop().code(), proven.batches), expected);
}

/// A byte of the id of a batch's message, by the number of the batch.
const fn id_of(batch: u64) -> u64 {
    batch * BATCH as u64 + (BATCH_HEADER_BYTES + FRAME_HASHED_FROM) as u64
}

#[test]
fn a_place_that_four_reads_show_differently_is_unreadable() {
    const SIX: &[(usize, u64)] = &[
        (1, id_of(0)),
        (2, id_of(0) + 1),
        (3, id_of(0) + 2),
        (4, id_of(0) + 3),
        (5, id_of(0) + 4),
        (6, id_of(0) + 5),
    ];
    check(1, SIX, false, "unreadable behind 0, reads 0000");
    check(1, SIX.split_at(3).0, false, "end behind 1, reads 0000");
}

#[test]
fn a_doubt_is_walked_up_to_once_more_and_then_only_its_own_place_is_read() {
    check(3, &[(2, id_of(1))], false, "end behind 3, reads 01012");
    check(3, &[(2, id_of(1)), (4, id_of(1) + 1)], false, "end behind 3, reads 010112");
    check(3, &[(2, id_of(1)), (4, id_of(1))], false, "bad-checksum behind 1, reads 0101");
}

#[test]
fn what_was_taken_in_and_reads_otherwise_on_the_second_walk_is_unreadable() {
    check(3, &[(2, id_of(1)), (3, id_of(0))], false, "unreadable behind 0, reads 010");
}

#[test]
fn a_log_that_is_doubted_at_a_fourth_place_is_not_walked_once_more() {
    const LIES: &[(usize, u64)] = &[(2, id_of(1)), (5, id_of(2)), (9, id_of(3)), (14, id_of(4))];
    check(5, LIES.split_at(3).0, false, "end behind 5, reads 01012012301234");
    check(5, LIES, false, "unreadable behind 0, reads 01012012301234");
}

#[test]
fn a_doubt_right_behind_a_mark_that_agrees_costs_no_second_walk() {
    const LIES: &[(usize, u64)] =
        &[(1, id_of(0)), (3, id_of(1)), (5, id_of(2)), (7, id_of(3)), (9, id_of(4)), (11, id_of(5))];
    check(6, LIES, true, "end behind 6, reads 001122334455");
}

#[test]
fn a_mark_that_differs_is_told_of_behind_a_second_walk_from_the_last_one_that_agrees() {
    let log = Log::new(batches(3));
    let true_marks = marks(&log.bytes);
    let differing = |at: usize| Mark { next_offset: Offset::new(99), ..true_marks[at] };
    check_marked(&log, &[differing(1)], "conflict behind 0, reads 0101");
    let log = Log::new(batches(3));
    check_marked(&log, &[true_marks[0], differing(1), true_marks[2]], "conflict behind 1, reads 011");
    let log = Log::new(batches(3));
    check_marked(&log, &[differing(0)], "conflict behind 0, reads 00");
}

/// A batch of so many messages, each of which claims to be the tenth.
fn batch_of_tenths(offset: u64, messages: usize) -> Vec<u8> {
    let mut bytes = batch(offset, &vec![0; messages]);
    for frame in bytes[BATCH_HEADER_BYTES..].as_chunks_mut::<FRAME_HEADER_BYTES>().0 {
        let tenth = FrameHeader { offset_delta: 9, ..FrameHeader::read(frame) };
        *frame = tenth.encode();
        let checksum = Checksum::of(&frame[FRAME_HASHED_FROM..]);
        *frame = FrameHeader { checksum, ..tenth }.encode();
    }
    stamp(&mut bytes, NAMESPACE.partition_id(), Offset::new(offset), 2).expect("it is a batch still");
    bytes
}

#[test]
fn messages_that_claim_another_place_in_their_batch_are_counted_over_the_whole_log() {
    let log = Log::new([batch_of_tenths(0, 2), batch(2, &[0]), batch_of_tenths(3, 3)].concat());
    let (stop, proven, _) = walk(&log, &[], 4096, STEP);
    assert_eq!((stop, proven.batches, proven.delta_mismatches), (StopDetail::End, 3, 5));
}

#[test]
fn a_step_that_just_suffices_for_a_header_takes_it() {
    // Two headers are read, and the first is hashed; what is left is what hashing the second takes.
    let log = Log::new([batch(0, &[]), batch(0, &[])].concat());
    let (stop, _, work) = walk(&log, &[], 512, 512 + 44 + 44);
    assert_eq!((stop, work.longest_step_bytes), (StopDetail::End, 600));
}
