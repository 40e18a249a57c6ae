//! What is stated of a ledger with many records: which marks and losses are kept, and which give way.

use recovery_core::format::{ChainHash, LedgerKind, LedgerRecord, Mark};
use recovery_core::observe::{ABSENT_SEGMENTS_MAX, LOSSES_MAX, LedgerFacts, LedgerState, MARKS_CHECKED_MAX};
use recovery_core::units::{Offset, Position, SegmentStart};

use crate::observe_world::{facts, record, storage_of};

fn mark(segment: u64, position: u64) -> Mark {
    Mark {
        segment: SegmentStart::new(segment),
        position: Position::new(position),
        next_offset: Offset::new(segment + position),
        chain_hash: ChainHash::new(position),
    }
}

fn ledger(kinds: &[LedgerKind]) -> Vec<u8> {
    kinds.iter().zip(0..).flat_map(|(kind, slot)| record(slot, *kind).encode()).collect()
}

#[track_caller]
fn read(bytes: &[u8]) -> LedgerFacts {
    match facts(&storage_of(&[("ledger", bytes)]), 4096, 1 << 20).ledger {
        LedgerState::Known(facts) => facts,
        other @ (LedgerState::None { .. } | LedgerState::Mismatch { .. }) => {
            panic!("the ledger says something: {other:?}")
        }
    }
}

/// Positions of marks in segment 0, in the order of their records; those that are checked, the newest last.
#[track_caller]
fn check_marks(written: &[u64], expected: &[u64]) {
    let kinds: Vec<LedgerKind> =
        written.iter().map(|position| LedgerKind::Frontier { mark: mark(0, *position) }).collect();
    let read = read(&ledger(&kinds));
    let marks = read.segments.first().expect("the segment has marks");
    let checked: Vec<u64> =
        marks.checks.iter().chain([&marks.newest]).map(|mark| mark.position.get()).collect();
    assert_eq!(checked, expected);
}

#[test]
fn older_marks_below_the_newest_are_checked_and_others_are_void() {
    check_marks(&[100, 200, 300], &[100, 200, 300]);
    check_marks(&[100, 200, 200], &[100, 200]);
    check_marks(&[100, 200, 100], &[100]);
    check_marks(&[100, 200, 300, 150], &[100, 150]);
}

#[test]
fn of_very_many_older_marks_the_newest_are_checked() {
    let most = MARKS_CHECKED_MAX as u64;
    let all: Vec<u64> = (1..=most + 1).map(|number| number * 100).collect();
    check_marks(&all, &all);
    let more: Vec<u64> = (1..=most + 5).map(|number| number * 100).collect();
    check_marks(&more, &more[4..]);
}

#[test]
fn a_record_in_the_slot_of_another_one_is_skipped() {
    let kind = LedgerKind::Frontier { mark: mark(0, 100) };
    let other = LedgerKind::Frontier { mark: mark(0, 200) };
    let bytes = [(0, kind), (2, other), (2, kind)].map(|(slot, kind)| record(slot, kind).encode());
    let read = read(&bytes.concat());
    assert_eq!((read.valid, read.skipped), (2, 1));
    assert_eq!(read.newest.slot, 2);
    assert_eq!(read.segments.first().map(|marks| marks.newest), Some(mark(0, 100)));
}

fn loss(first: u64, next: u64) -> LedgerKind {
    LedgerKind::AcceptedLoss { mark: mark(0, 1), first: Offset::new(first), next: Offset::new(next) }
}

#[test]
fn an_accepted_loss_of_no_offset_gives_nothing_up() {
    let read = read(&ledger(&[loss(10, 10)]));
    assert_eq!((read.given_up.len(), read.gaps.len()), (0, 0));
    assert!(read.segments.first().is_some_and(|marks| marks.accepts_loss));
}

#[test]
fn a_gap_is_recorded_only_where_it_reaches_above_the_floor() {
    for (floor, gaps) in [(19, 1), (20, 0), (21, 0)] {
        let record = LedgerRecord { floor: SegmentStart::new(floor), ..record(0, loss(10, 20)) };
        assert_eq!(read(&record.encode()).gaps.len(), gaps, "above {floor}");
    }
}

#[test]
fn of_very_many_losses_the_newest_are_kept() {
    for (written, oldest) in [(LOSSES_MAX, 0), (LOSSES_MAX + 1, 1), (LOSSES_MAX + 9, 9)] {
        let kinds: Vec<LedgerKind> =
            (0..written as u64).map(|number| loss(number * 10, number * 10 + 5)).collect();
        let given_up = read(&ledger(&kinds)).given_up;
        assert_eq!(given_up.len(), LOSSES_MAX);
        assert_eq!(given_up.first().map(|gap| gap.first.get()), Some(oldest * 10));
    }
}

#[test]
fn of_very_many_segments_without_a_log_the_newest_are_kept() {
    let most = ABSENT_SEGMENTS_MAX as u64;
    let marks: Vec<LedgerKind> =
        (0..3 * most).map(|segment| LedgerKind::Frontier { mark: mark(segment, 1) }).collect();
    let read = read(&ledger(&marks));
    assert_eq!(read.segments.len(), ABSENT_SEGMENTS_MAX);
    assert_eq!(read.segments.first().map(|marks| marks.segment.get()), Some(2 * most));
}

#[test]
fn segments_that_a_loss_voided_take_no_place_from_older_ones() {
    let most = 2 * ABSENT_SEGMENTS_MAX as u64;
    let mut kinds: Vec<LedgerKind> =
        (0..most).map(|segment| LedgerKind::Frontier { mark: mark(segment, 1) }).collect();
    let (first, next) = (Offset::new(11), Offset::new(most));
    kinds.push(LedgerKind::AcceptedLoss { mark: mark(10, 1), first, next });
    let read = read(&ledger(&kinds));
    let segments: Vec<u64> = read.segments.iter().map(|marks| marks.segment.get()).collect();
    assert_eq!(segments, (0..=10).collect::<Vec<u64>>());
}
