//! What is lost, and what accepting that comes to: facts in, one line out.

use super::super::{LostRange, Unacceptable, is_accepted, losses};
use super::builder::{
    BATCH, NAMESPACE, Partition, Segment, bad_checksum, mark, partition, run, segment, with_ledger,
};
use crate::format::{ChainHash, LedgerKind};
use crate::observe::{Evidence, PartitionFacts, RecordedGap, Residue, Run, StopDetail};
use crate::units::{Incarnation, Offset, SegmentStart};

/// Finds what is lost, and compares it in words: a record each, the floor, and the ranges.
#[track_caller]
fn check(facts: impl Into<PartitionFacts>, expected: &str) {
    let words = match losses(&facts.into()) {
        Err(Unacceptable::NotRefused) => "not refused".to_owned(),
        Err(Unacceptable::Undecidable(reason)) => format!("undecidable: {}", reason.code()),
        Ok(found) => {
            let records = found.records.iter().map(|loss| {
                let (segment, position, end) = (loss.segment, loss.position, loss.next_offset);
                format!("{segment}@{position}, next {end}: {}..{}", loss.first, loss.next)
            });
            let floor = found.floor.iter().map(|floor| format!("floor {floor}"));
            let ranges = found.ranges.iter().map(|range| format!("lost {range}"));
            records.chain(floor).chain(ranges).collect::<Vec<_>>().join("; ")
        }
    };
    assert_eq!(words, expected);
}

const fn gap(first: u64, next: u64) -> RecordedGap {
    RecordedGap { first: Offset::new(first), next: Offset::new(next) }
}

const fn range(first: u64, last: u64) -> LostRange {
    LostRange { first: Offset::new(first), last: Offset::new(last) }
}

/// Three messages, then two batches' bytes of damage, of which the ledger says that they were durable.
fn damaged() -> Segment {
    segment(0, 3).stopped(bad_checksum(), Residue::Noise, 2 * BATCH).marked(5)
}

fn with_runs(mut segment: Segment, runs: &[Run]) -> Segment {
    segment.0.residue.runs = runs.to_vec();
    segment.0.residue.kind = Residue::Survivor;
    segment
}

fn given_up(mut partition: Partition, gaps: &[RecordedGap]) -> Partition {
    partition.ledger().given_up.extend(gaps);
    partition
}

#[test]
fn nothing_is_lost_of_a_partition_that_is_served() {
    check(partition([segment(0, 3)]), "not refused");
    check(with_ledger([segment(0, 3).marked(3)]), "not refused");
}

#[test]
fn what_says_nothing_of_offsets_cannot_be_accepted() {
    check(partition([segment(0, 5), segment(3, 2)]), "undecidable: overlap");
    // Even beside a loss that alone could be.
    check(with_ledger([damaged(), segment(5, 5), segment(7, 1)]), "undecidable: overlap");
}

#[test]
fn damage_loses_what_lies_between_the_prefix_and_the_next_segment() {
    check(with_ledger([damaged(), segment(5, 1)]), "0@912, next 3: 3..5; lost 3 to 4");
    let nothing_behind = segment(0, 0).stopped(bad_checksum(), Residue::Noise, 600).marked(5);
    check(with_ledger([nothing_behind, segment(5, 1)]), "0@0, next 0: 0..5; lost 0 to 4");
}

#[test]
fn batches_behind_damage_are_not_lost_and_each_hole_is_a_record_of_its_own() {
    let segment = |runs: &[Run]| with_runs(damaged(), runs);
    check(with_ledger([segment(&[run(1216, 4, 5)])]), "0@912, next 3: 3..4; lost 3 to 3");
    check(with_ledger([segment(&[run(912, 3, 4)])]), "0@912, next 3: 4..5; lost 4 to 4");
    check(
        with_ledger([segment(&[run(1216, 4, 5), run(1520, 7, 8)]), super::builder::segment(9, 1)]),
        "0@912, next 3: 3..4; 0@912, next 3: 5..7; 0@912, next 3: 8..9; lost 3 to 3; lost 5 to 6; lost 8 to 8",
    );
}

#[test]
fn no_batch_of_a_log_that_the_ledger_calls_another_one_is_believed() {
    let mut conflicting = with_runs(damaged(), &[run(1216, 4, 5)]);
    conflicting.0.stop = StopDetail::Conflict { agrees: None, differs: mark(0, 5 * BATCH, 5) };
    check(with_ledger([conflicting]), "0@912, next 3: 3..5; lost 3 to 4");
}

#[test]
fn behind_the_last_segment_all_that_was_given_out_is_lost() {
    check(with_ledger([damaged()]), "0@912, next 3: 3..5; lost 3 to 4");
    check(with_ledger([damaged()]).marked_elsewhere(5, 2), "0@912, next 3: 3..7; lost 3 to 6");
    check(with_ledger([damaged()]).gap(5, 9), "0@912, next 3: 3..9; lost 3 to 8");
    let surviving = segment(0, 3).survived(3 * BATCH, 5).marked(5);
    check(with_ledger([surviving]), "0@912, next 3: 3..6; lost 3 to 5");
}

#[test]
fn without_a_ledger_the_index_and_the_survivors_say_what_was_given_out() {
    let surviving = segment(0, 3).survived(2 * BATCH, 4);
    check(partition([surviving.clone()]), "0@912, next 3: 3..5; lost 3 to 4");
    check(partition([surviving.promised_by_index(2000, 8)]), "0@912, next 3: 3..9; lost 3 to 8");
    // With one an entry is no evidence.
    let mut entered = damaged().promised_by_index(2000, 8);
    entered.0.evidence = Evidence::Below;
    check(with_ledger([entered]), "0@912, next 3: 3..5; lost 3 to 4");
}

/// The mark of an accepted loss says where the chain goes on, and promises nothing.
#[test]
fn damage_behind_which_nothing_was_promised_loses_no_offset() {
    let mut accepted = segment(0, 3).stopped(bad_checksum(), Residue::Noise, 600).marked(5);
    accepted.0.accepts_loss = true;
    check(with_ledger([accepted]), "0@912, next 3: 3..3");
}

#[test]
fn a_missing_segment_is_lost_by_the_one_before_it_and_by_no_other() {
    check(
        with_ledger([segment(0, 3).marked(3), segment(10, 2).marked(2), segment(12, 1).marked(1)])
            .marked_elsewhere(3, 7),
        "0@912, next 3: 3..10; lost 3 to 9",
    );
    check(
        with_ledger([segment(0, 3).marked(3), segment(3, 1).marked(1)]).marked_elsewhere(4, 7),
        "3@304, next 4: 4..11; lost 4 to 10",
    );
    // Its name was promised, so that its first offset was.
    check(with_ledger([segment(0, 3).marked(3)]).marked_elsewhere(3, 0), "0@912, next 3: 3..4; lost 3 to 3");
}

/// What is refused is the missing name: a chain that holds together without it does not make it good.
#[test]
fn a_missing_segment_is_accepted_even_where_its_neighbours_account_for_all_offsets() {
    check(
        with_ledger([segment(0, 3).marked(3), segment(10, 2).marked(2)]).gap(3, 10).marked_elsewhere(5, 2),
        "0@912, next 3: 3..10; lost 3 to 9",
    );
    check(
        with_ledger([segment(0, 10).marked(10), segment(10, 2).marked(2)]).marked_elsewhere(5, 2),
        "0@3040, next 10: 10..10",
    );
}

#[test]
fn a_hole_is_lost_by_the_segment_before_it() {
    let whole = [segment(0, 3), segment(5, 1), segment(6, 1)];
    check(partition(whole), "0@912, next 3: 3..5; lost 3 to 4");
    check(partition([segment(0, 1), segment(1, 0), segment(5, 1)]), "1@0, next 1: 1..5; lost 1 to 4");
}

#[test]
fn a_chain_whose_front_is_gone_starts_later_from_now_on() {
    let late = |start| with_ledger([segment(start, 2).marked(2)]);
    check(late(10), "0@0, next 0: 0..10; floor 10; lost 0 to 9");
    check(late(1), "0@0, next 0: 0..1; floor 1; lost 0 to 0");
    check(late(10).floor(4), "4@0, next 4: 4..10; floor 10; lost 4 to 9");
}

#[test]
fn a_chain_of_which_nothing_is_left_starts_behind_all_that_was_promised() {
    let gone = with_ledger([]).marked_elsewhere(0, 3).marked_elsewhere(3, 4);
    check(gone.clone(), "0@0, next 0: 0..7; floor 7; lost 0 to 6");
    // An acceptance that a crash cut short has told how far it goes; any other range is of no use here.
    check(given_up(gone.clone(), &[gap(0, 9)]), "0@0, next 0: 0..9; floor 9; lost 0 to 8");
    check(given_up(gone, &[gap(2, 50)]), "0@0, next 0: 0..7; floor 7; lost 0 to 6");
}

#[test]
fn a_loss_is_a_record_of_the_ledger_once_a_life_is_known() {
    let facts = PartitionFacts::from(with_ledger([damaged()]));
    let mut loss = losses(&facts).expect("a loss").records[0];
    assert_eq!(loss.record(), None, "nothing to hash for");
    let hash = ChainHash::start(NAMESPACE, Incarnation::new(1), SegmentStart::ZERO);
    loss.chain_hash = Some(hash);
    let mut mark = mark(0, 3 * BATCH, 3);
    mark.chain_hash = hash;
    let (first, next) = (Offset::new(3), Offset::new(5));
    assert_eq!(loss.record(), Some(LedgerKind::AcceptedLoss { mark, first, next }));
}

#[test]
fn the_record_of_a_lost_front_is_hashed_for_the_old_floor() {
    let facts = PartitionFacts::from(with_ledger([segment(10, 2).marked(2)]).floor(4));
    let found = losses(&facts).expect("a loss");
    let hash = ChainHash::start(NAMESPACE, Incarnation::new(1), SegmentStart::new(4));
    assert_eq!(found.records[0].chain_hash, Some(hash));
}

#[test]
fn the_operator_names_what_is_lost_and_may_name_what_was_given_up_before() {
    let facts = PartitionFacts::from(given_up(with_ledger([damaged()]), &[gap(10, 12)]));
    let found = losses(&facts).expect("a loss");
    for (named, are_they) in [
        (&[range(3, 4)][..], true),
        (&[range(3, 4), range(10, 11)], true),
        (&[range(10, 11)], false),
        (&[], false),
        (&[range(3, 4), range(10, 12)], false),
        (&[range(3, 4), range(11, 11)], false),
        (&[range(3, 4), range(3, 3)], false),
    ] {
        assert_eq!(found.are(named, &facts), are_they, "{named:?}");
    }
}

#[test]
fn only_a_record_of_just_this_range_says_that_it_was_given_up() {
    let facts = PartitionFacts::from(given_up(with_ledger([]).gap(20, 30), &[gap(10, 12)]));
    assert!(is_accepted(&range(10, 11), &facts));
    for other in [range(10, 12), range(9, 11), range(10, 10), range(20, 29), range(10, u64::MAX)] {
        assert!(!is_accepted(&other, &facts), "{other}");
    }
    assert!(!is_accepted(&range(10, 11), &PartitionFacts::from(partition([]))), "nobody says so");
}
