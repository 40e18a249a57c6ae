//! What the comparison of reference and core sees: each field, changed alone, is a disagreement.

use recovery_core::decide::{Action, Disposition, Verdict};
use recovery_core::observe::{
    Evidence, IndexState, PartitionFacts, Residue, Stop, StopDetail, Unavailable, Undecodable,
};
use recovery_core::storage::{Call, Errno, Name, StorageError};
use recovery_core::units::{Length, Offset, Position, SegmentStart};

use super::differential::run_core;
use super::specimen::{Directory, FLOOR, FRONTIER, Record, batch, batches, entries, mark, record};
use crate::oracle::reference::agrees;

type Change = fn(&mut PartitionFacts, &mut Verdict);

/// Lets the core judge `directory`, changes what it said, and compares that with the reference.
#[track_caller]
fn check(directory: &Directory, change: Change, expected: &str) {
    let (mut observed, mut verdict) = run_core(&directory.image, directory.expectation(), 4096, 100_000);
    change(&mut observed.facts, &mut verdict);
    let found = agrees(&directory.recover(), Some(&observed.facts), &verdict);
    assert_eq!(
        found.map_or_else(|disagreement| disagreement.to_string(), |()| "agreed".to_owned()),
        expected
    );
}

/// A segment below the floor, a whole one, and a torn one with a survivor above its mark.
fn torn() -> Directory {
    let log = [&batches(3, 2)[..], &[7; 400], &batch(6, 1)].concat();
    let records = [mark(FRONTIER, 3, &batches(3, 2)), record(FLOOR)];
    let records = records.map(|record| Record { floor: 2, ..record });
    Directory::new().segment(0, 2).segment(2, 1).log(3, log).index(3, entries(3, 2)).ledger(&records)
}

/// Damage without evidence, and no survivor behind it.
fn unknown() -> Directory {
    Directory::new().log(0, [&batches(0, 2)[..], &[7; 400]].concat()).index(0, entries(0, 2))
}

#[test]
fn what_nobody_changed_agrees() {
    check(&torn(), |_, _| (), "agreed");
    check(&unknown(), |_, _| (), "agreed");
    check(&Directory::new(), |_, _| (), "agreed");
}

#[test]
fn each_changed_fact_of_a_segment_is_seen() {
    let changes: [(Change, &str); 10] = [
        (
            |facts, _| facts.segments[1].start = SegmentStart::new(9),
            "start is 3 to the reference and 9 to the core",
        ),
        (
            |facts, _| facts.segments[1].log_length = Length::new(1),
            "log_bytes is 1468 to the reference and 1 to the core",
        ),
        (
            |facts, _| facts.segments[1].stop = StopDetail::End,
            "stop is undecodable to the reference and end to the core",
        ),
        (
            |facts, _| facts.segments[1].evidence = Evidence::Unknown,
            "evidence is at-or-above to the reference and unknown to the core",
        ),
        (
            |facts, _| facts.segments[1].proven.end = Position::new(711),
            "proven_bytes is 712 to the reference and 711 to the core",
        ),
        (
            |facts, _| facts.segments[1].proven.next_offset = Offset::new(6),
            "proven next offset is 5 to the reference and 6 to the core",
        ),
        (
            |facts, _| facts.segments[1].proven.messages = 3,
            "messages is 2 to the reference and 3 to the core",
        ),
        (|facts, _| facts.segments[1].proven.batches = 3, "batches is 2 to the reference and 3 to the core"),
        (
            |facts, _| facts.segments[1].residue.kind = Residue::Noise,
            "residue is survivor to the reference and noise to the core",
        ),
        (
            |facts, _| facts.segments[1].index.state = IndexState::Wrong,
            "index is good to the reference and wrong to the core",
        ),
    ];
    for (change, expected) in changes {
        check(&torn(), change, &format!("segment 3: {expected}"));
    }
}

#[test]
fn each_changed_part_of_a_verdict_is_seen() {
    let changes: [(Change, &str); 7] = [
        (
            |_, verdict| verdict.segments[1].action = Action::Keep,
            "segment 3: action is cut to the reference and keep to the core",
        ),
        (
            |_, verdict| {
                verdict.segments[1].action = Action::Cut { at: Position::new(700), save: Length::new(756) }
            },
            "segment 3: cut position is 712 to the reference and 700 to the core",
        ),
        (
            |_, verdict| {
                verdict.segments[1].action = Action::Cut { at: Position::new(712), save: Length::new(0) }
            },
            "segment 3: saved_bytes is 756 to the reference and 0 to the core",
        ),
        (
            |_, verdict| verdict.disposition = Disposition::Serve,
            "partition: disposition is serve-from to the reference and serve to the core",
        ),
        (
            |_, verdict| {
                verdict.disposition = Disposition::ServeFrom { first: Offset::new(4), last: Offset::new(6) };
            },
            "partition: gap is 5 to the reference and 4 to the core",
        ),
        (
            |_, verdict| verdict.next_offset = Some(Offset::new(5)),
            "partition: next_offset is 7 to the reference and 5 to the core",
        ),
        (
            |_, verdict| verdict.reserve = None,
            "partition: reserve is 7 to the reference and none to the core",
        ),
    ];
    for (change, expected) in changes {
        check(&torn(), change, expected);
    }
    check(
        &torn(),
        |facts, _| facts.expired.clear(),
        "partition: expired is 1 to the reference and 0 to the core",
    );
    check(
        &torn(),
        |facts, _| drop(facts.segments.pop()),
        "partition: segments is 2 to the reference and 1 to the core",
    );
}

#[test]
fn another_reason_or_another_segment_named_by_it_is_seen() {
    let refused = || Directory::new().segment(0, 2).segment(5, 1);
    check(&refused(), |_, _| (), "agreed");
    let overlap = Directory::new().segment(0, 2).segment(1, 2);
    let change: Change = |_, verdict| {
        let other = Directory::new().segment(0, 2).segment(1, 2);
        verdict.disposition = run_core(&other.image, other.expectation(), 4096, 100_000).1.disposition;
    };
    check(&overlap, change, "agreed");
    check(&refused(), change, "partition: reason is hole to the reference and overlap to the core");
    let elsewhere: Change = |_, verdict| {
        let other = Directory::new().segment(1, 2).segment(5, 1);
        verdict.disposition = run_core(&other.image, other.expectation(), 4096, 100_000).1.disposition;
    };
    check(&refused(), elsewhere, "partition: refused segment is 0 to the reference and 1 to the core");
}

#[test]
fn unavailable_is_a_word_of_its_own() {
    let change: Change = |facts, verdict| {
        let file = Name::new(b"ledger").unwrap();
        let cause = Unavailable::Io(StorageError { call: Call::Read, file, errno: Errno::IO });
        *verdict = Verdict::unavailable(cause, &facts.segments);
    };
    check(&unknown(), change, "partition: disposition is serve to the reference and unavailable to the core");
    let mut unlistable = unknown();
    unlistable.image.is_listable = false;
    let (_, verdict) = run_core(&unlistable.image, unlistable.expectation(), 4096, 100_000);
    assert_eq!(agrees(&unlistable.recover(), None, &verdict), Ok(()));
    assert!(agrees(&unknown().recover(), None, &verdict).is_err());
}

#[test]
fn a_budget_that_ran_out_is_believed_with_what_follows_from_it() {
    // Without evidence it is a refusal, and no longer a cut.
    check(
        &unknown(),
        |facts, _| facts.segments[0].residue.kind = Residue::Unproven,
        "segment 0: action is keep to the reference and cut to the core",
    );
    check(
        &unknown(),
        |facts, verdict| {
            facts.segments[0].residue.kind = Residue::Unproven;
            *verdict = recovery_core::decide::decide(facts);
        },
        "agreed",
    );
    // Above a mark it is a cut that skips all that could lie there.
    let with_room: Change = |facts, verdict| {
        facts.segments[1].residue.kind = Residue::Unproven;
        *verdict = recovery_core::decide::decide(facts);
    };
    check(&torn(), with_room, "agreed");
    check(
        &torn(),
        |facts, verdict| {
            facts.segments[1].residue.kind = Residue::Unproven;
            verdict.next_offset = Some(Offset::new(6));
        },
        "partition: next_offset is 7 to the reference and 6 to the core",
    );
    check(
        &torn(),
        |facts, verdict| {
            facts.segments[1].residue.kind = Residue::Unproven;
            verdict.next_offset = Some(Offset::new(5 + 756 / 48 + 1));
        },
        "partition: next_offset is 7 to the reference and 21 to the core",
    );
}

#[test]
fn a_budget_does_not_run_out_over_nothing() {
    let zeros = Directory::new().log(0, [&batches(0, 2)[..], &[0; 400]].concat()).index(0, entries(0, 2));
    check(
        &zeros,
        |facts, _| facts.segments[0].residue.kind = Residue::Unproven,
        "segment 0: residue is zeros to the reference and unproven to the core",
    );
}

#[test]
fn where_the_prefix_ends_before_a_conflict_is_left_open() {
    let other = Directory::new().segment(0, 3).ledger(&[mark(FRONTIER, 0, &batch(0, 2))]);
    check(
        &other,
        |facts, _| {
            assert_eq!(facts.segments[0].stop.stop(), Stop::Conflict);
            facts.segments[0].proven.end = Position::new(0);
        },
        "agreed",
    );
    check(
        &other,
        |facts, _| facts.segments[0].stop = StopDetail::Undecodable(Undecodable::Count { claimed: 1 }),
        "segment 0: stop is conflict to the reference and undecodable to the core",
    );
}
