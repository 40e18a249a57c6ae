//! What the comparison of reference and core sees: each field, changed alone, is a disagreement.

use recovery_core::decide::{Action, Disposition, Verdict};
use recovery_core::observe::{
    Evidence, IndexState, PartitionFacts, Residue, Stop, StopDetail, Unavailable, Undecodable,
};
use recovery_core::storage::{Call, Errno, Name, StorageError};
use recovery_core::units::{Length, Offset, Position, SegmentStart};

use super::differential::run_core;
use crate::oracle::Value;
use crate::oracle::reference::{agrees, looks_at_all};
use crate::oracle::specimen::{
    Directory, FLOOR, FRONTIER, Record, batch, batch_of, batches, entries, mark, record,
};

type Change = fn(&mut PartitionFacts, &mut Verdict);

/// Lets the core judge `directory`, changes what it said, and compares that with the reference.
#[track_caller]
fn check(directory: &Directory, change: Change, expected: &str) {
    let (mut observed, mut verdict) = run_core(&directory.image, directory.expectation(), 4096, 100_000);
    change(&mut observed.facts, &mut verdict);
    let found = agrees(&directory.recover(), Some(&observed.facts), &verdict);
    assert_eq!(found.map_or_else(|violation| violation.to_string(), |()| "agreed".to_owned()), expected);
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
        (|facts, _| facts.segments[1].start = SegmentStart::new(9), "start should be 3 and is 9"),
        (|facts, _| facts.segments[1].log_length = Length::new(1), "log_bytes should be 1468 and is 1"),
        (|facts, _| facts.segments[1].stop = StopDetail::End, "stop should be undecodable and is end"),
        (
            |facts, _| facts.segments[1].evidence = Evidence::Unknown,
            "evidence should be at-or-above and is unknown",
        ),
        (
            |facts, _| facts.segments[1].proven.end = Position::new(711),
            "proven_bytes should be 712 and is 711",
        ),
        (
            |facts, _| facts.segments[1].proven.next_offset = Offset::new(6),
            "proven next offset should be 5 and is 6",
        ),
        (|facts, _| facts.segments[1].proven.messages = 3, "messages should be 2 and is 3"),
        (|facts, _| facts.segments[1].proven.batches = 3, "batches should be 2 and is 3"),
        (
            |facts, _| facts.segments[1].residue.kind = Residue::Noise,
            "residue should be survivor and is noise",
        ),
        (|facts, _| facts.segments[1].index.state = IndexState::Wrong, "index should be good and is wrong"),
    ];
    for (change, expected) in changes {
        check(&torn(), change, &format!("reference: segment 3: {expected}"));
    }
}

#[test]
fn each_changed_part_of_a_verdict_is_seen() {
    let changes: [(Change, &str); 7] = [
        (
            |_, verdict| verdict.segments[1].action = Action::Keep,
            "reference: segment 3: action should be cut and is keep",
        ),
        (
            |_, verdict| {
                verdict.segments[1].action = Action::Cut { at: Position::new(700), save: Length::new(756) }
            },
            "reference: segment 3: cut position should be 712 and is 700",
        ),
        (
            |_, verdict| {
                verdict.segments[1].action = Action::Cut { at: Position::new(712), save: Length::new(0) }
            },
            "reference: segment 3: saved_bytes should be 756 and is 0",
        ),
        (
            |_, verdict| verdict.disposition = Disposition::Serve,
            "reference: disposition should be serve-from and is serve",
        ),
        (
            |_, verdict| {
                verdict.disposition = Disposition::ServeFrom { first: Offset::new(4), last: Offset::new(6) };
            },
            "reference: gap should be 5 and is 4",
        ),
        (
            |_, verdict| verdict.next_offset = Some(Offset::new(5)),
            "reference: next_offset should be 7 and is 5",
        ),
        (|_, verdict| verdict.reserve = None, "reference: reserve should be 7 and is none"),
    ];
    for (change, expected) in changes {
        check(&torn(), change, expected);
    }
    check(&torn(), |facts, _| facts.expired.clear(), "reference: expired should be 1 and is 0");
    check(&torn(), |facts, _| drop(facts.segments.pop()), "reference: segments should be 2 and is 1");
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
    check(&refused(), change, "reference: reason should be hole and is overlap");
    let elsewhere: Change = |_, verdict| {
        let other = Directory::new().segment(1, 2).segment(5, 1);
        verdict.disposition = run_core(&other.image, other.expectation(), 4096, 100_000).1.disposition;
    };
    check(&refused(), elsewhere, "reference: refused segment should be 0 and is 1");
}

#[test]
fn unavailable_is_a_word_of_its_own() {
    let change: Change = |facts, verdict| {
        let file = Name::new(b"ledger").unwrap();
        let cause = Unavailable::Io(StorageError { call: Call::Read, file, errno: Errno::IO });
        *verdict = Verdict::unavailable(cause, &facts.segments);
    };
    check(&unknown(), change, "reference: disposition should be serve and is unavailable");
    let mut unlistable = unknown();
    unlistable.image.is_listable = false;
    let (_, verdict) = run_core(&unlistable.image, unlistable.expectation(), 4096, 100_000);
    assert_eq!(agrees(&unlistable.recover(), None, &verdict), Ok(()));
    assert!(agrees(&unknown().recover(), None, &verdict).is_err());
}

/// A damaged batch that holds batches inside of batches.
fn bait() -> Vec<u8> {
    let mut bait = batch(9, 1);
    for _ in 0..3 {
        bait = batch_of(3, 5, &[&bait]);
    }
    *bait.last_mut().expect("it has bytes") ^= 1;
    bait
}

/// Bait, and nothing that says how far the log is proven.
fn unknown_bait() -> Directory {
    Directory::new().log(0, [&batches(0, 2)[..], &bait()].concat()).index(0, entries(0, 2))
}

const RAN_OUT: Change = |facts, verdict| {
    facts.segments.last_mut().expect("there is a segment").residue.kind = Residue::Unproven;
    *verdict = recovery_core::decide::decide(facts);
};

#[test]
fn a_budget_that_ran_out_is_believed_with_what_follows_from_it() {
    // Without evidence it is a refusal, and no longer a cut.
    check(
        &unknown_bait(),
        |facts, _| facts.segments[0].residue.kind = Residue::Unproven,
        "reference: segment 0: action should be keep and is cut",
    );
    check(&unknown_bait(), RAN_OUT, "agreed");
    // Above a mark it is a cut that skips all that could lie there.
    check(&baited(), RAN_OUT, "agreed");
    // Behind the last survivor at least, and no further than the bytes have room for.
    for next_offset in [6, 1000] {
        let (mut observed, mut verdict) = run_core(&baited().image, baited().expectation(), 4096, 100_000);
        observed.facts.segments[0].residue.kind = Residue::Unproven;
        verdict.next_offset = Some(Offset::new(next_offset));
        let found = agrees(&baited().recover(), Some(&observed.facts), &verdict);
        let expected = format!("reference: next_offset should be 7 and is {next_offset}");
        assert_eq!(found.map_err(|violation| violation.to_string()), Err(expected));
    }
}

#[test]
fn no_budget_runs_out_where_nothing_is_bait() {
    check(&unknown(), RAN_OUT, "reference: segment 0: residue should be noise and is unproven");
    check(&torn(), RAN_OUT, "reference: segment 3: residue should be survivor and is unproven");
    for (directory, expected) in [(unknown(), Err("enough")), (unknown_bait(), Ok(()))] {
        let (mut observed, mut verdict) = run_core(&directory.image, directory.expectation(), 4096, 100_000);
        let told = directory.recover();
        assert_eq!(looks_at_all(&told, &observed.facts, &verdict), Ok(()));
        RAN_OUT(&mut observed.facts, &mut verdict);
        let found = looks_at_all(&told, &observed.facts, &verdict);
        assert_eq!(found.map_err(|violation| violation.expected), expected.map_err(Value::Code));
    }
}

/// A damaged batch that holds batches inside of batches, and a survivor behind it, above a mark.
fn baited() -> Directory {
    let log = [&batches(3, 2)[..], &bait(), &batch(6, 1)].concat();
    let records = [Record { floor: 3, ..mark(FRONTIER, 3, &batches(3, 2)) }];
    Directory::new().log(3, log).index(3, entries(3, 2)).ledger(&records)
}

#[test]
fn a_budget_that_ran_out_behind_a_survivor_skips_all_there_is_room_for() {
    let skipping: Change = |facts, verdict| {
        let segment = facts.segments.last_mut().expect("there is a segment");
        let room = segment.residue.length.get() / 48;
        segment.residue.survivors_next_offset = segment.proven.next_offset.checked_add(room);
        *verdict = recovery_core::decide::decide(facts);
    };
    check(&baited(), |_, _| (), "agreed");
    check(&baited(), skipping, "agreed");
    // Where nothing claims more bytes than there are, no budget runs out.
    check(&torn(), skipping, "reference: gap should be 6 and is 19");
    // Nothing between what was seen and all that there is room for.
    let halfway: Change = |facts, verdict| {
        facts.segments[0].residue.survivors_next_offset = Some(Offset::new(9));
        *verdict = recovery_core::decide::decide(facts);
    };
    check(&baited(), halfway, "reference: gap should be 6 and is 8");
}

#[test]
fn a_budget_does_not_run_out_over_nothing() {
    let zeros = Directory::new().log(0, [&batches(0, 2)[..], &[0; 400]].concat()).index(0, entries(0, 2));
    check(
        &zeros,
        |facts, _| facts.segments[0].residue.kind = Residue::Unproven,
        "reference: segment 0: residue should be zeros and is unproven",
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
        "reference: segment 0: stop should be conflict and is undecodable",
    );
}
