//! "In every crash state" is a query, and here it is held against all crash states.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use recovery_core::storage::Storage;

use crate::disk::litmus::explore::choices;
use crate::disk::litmus::hand::{Hand, name};
use crate::disk::{DirectoryId, FileChoice, Snapshot, SurvivorChoice, View};
use crate::schedule::{Filesystem, Fill, Restart, SizeChoice};

/// One step of a program on two files; names are `a` and `b`.
#[derive(Clone, Debug)]
enum Step {
    Create(usize),
    Write(usize, u64, u64, u8),
    SetLength(usize, u64),
    Sync(usize),
    SyncRoot,
    Rename(usize),
    Remove(usize),
}

const NAMES: [&str; 2] = ["a", "b"];

fn step() -> impl Strategy<Value = Step> {
    let which = 0..2_usize;
    prop_oneof![
        2 => which.clone().prop_map(Step::Create),
        4 => (which.clone(), 0..300_u64, 1..130_u64, b'a'..b'e')
            .prop_map(|(file, position, length, byte)| Step::Write(file, position, length, byte)),
        1 => (which.clone(), 0..300_u64).prop_map(|(file, length)| Step::SetLength(file, length)),
        2 => which.clone().prop_map(Step::Sync),
        1 => Just(Step::SyncRoot),
        1 => which.clone().prop_map(Step::Rename),
        1 => which.prop_map(Step::Remove),
    ]
}

fn run(hand: &Hand, step: &Step) {
    let is_there = |which: usize| hand.look(NAMES[which]).is_some();
    match *step {
        Step::Create(which) if !is_there(which) => hand.disk.close(hand.create(NAMES[which])),
        Step::Write(which, position, length, byte) if is_there(which) => {
            let file = hand.open(NAMES[which]);
            hand.write(&file, position, byte, length);
            hand.disk.close(file);
        }
        Step::SetLength(which, length) if is_there(which) => {
            let file = hand.open(NAMES[which]);
            hand.set_length(&file, length);
            hand.disk.close(file);
        }
        Step::Sync(which) if is_there(which) => {
            let file = hand.open(NAMES[which]);
            hand.sync(&file);
            hand.disk.close(file);
        }
        Step::SyncRoot => hand.sync_root(),
        Step::Rename(from) if is_there(from) => hand.rename(NAMES[from], NAMES[1 - from]),
        Step::Remove(which) if is_there(which) => hand.remove(NAMES[which]),
        Step::Create(_)
        | Step::Write(..)
        | Step::SetLength(..)
        | Step::Sync(_)
        | Step::Rename(_)
        | Step::Remove(_) => {}
    }
}

/// What a range of a file is: its bytes, as far as they go, or nothing if there is no such file.
fn range_of(hand: &Hand, text: &str, range: &Range<usize>) -> Option<Vec<u8>> {
    let bytes = hand.look(text)?;
    Some(bytes.get(range.start.min(bytes.len())..range.end.min(bytes.len()))?.to_vec())
}

/// Every crash state of a power loss, with each length and every fill.
fn for_each_state(hand: &Hand, mut look: impl FnMut(&Hand)) {
    let mut before = Snapshot::default();
    hand.disk.snapshot(&mut before);
    let elements = hand.disk.file_ids().map(|file| hand.disk.pending_elements(file)).max().unwrap_or(0);
    let lengths = [None, Some(SizeChoice::New), Some(SizeChoice::Old)];
    for survive in choices(elements) {
        for names in choices(hand.disk.pending_names()) {
            for length in lengths {
                for fill in [Fill::Zeros, Fill::Noise] {
                    let everything = FileChoice { survive, length, fill };
                    let choice = SurvivorChoice { everything, names, files: Vec::new() };
                    hand.disk.crash(Restart::Power, &choice);
                    look(hand);
                    hand.disk.rewind(&before);
                }
            }
        }
    }
}

fn check(filesystem: Filesystem, steps: &[Step]) {
    let hand = Hand::new(filesystem);
    for step in steps {
        run(&hand, step);
    }
    for text in NAMES {
        let whole = 0..1 << 16;
        let expected = range_of(&hand, text, &whole);
        let mut is_everywhere = expected.is_some();
        for_each_state(&hand, |hand| is_everywhere &= range_of(hand, text, &whole) == expected);
        let answer = hand.disk.is_file_durable(DirectoryId::ROOT, &name(text));
        if answer.is_ok() {
            assert!(is_everywhere, "{text} on {}: not in every state as it is", filesystem.code());
        } else if filesystem == Filesystem::Adversarial {
            assert!(!is_everywhere, "{text}: in every state as it is, and {answer:?}");
        }
        for range in [0..0, 0..40, 60..70, 100..290] {
            let bytes_range = u64::try_from(range.start).unwrap()..u64::try_from(range.end).unwrap();
            let answer = hand.disk.is_durable(DirectoryId::ROOT, &name(text), bytes_range);
            let expected = range_of(&hand, text, &range);
            let mut is_everywhere = expected.as_ref().is_some_and(|bytes| bytes.len() == range.len());
            for_each_state(&hand, |hand| is_everywhere &= range_of(hand, text, &range) == expected);
            if answer.is_ok() {
                assert!(is_everywhere, "{text} {range:?} on {}: not in every state", filesystem.code());
            } else if filesystem == Filesystem::Adversarial {
                // Where nothing is ordered the query is exact. Elsewhere it may doubt what order saves.
                assert!(!is_everywhere, "{text} {range:?}: in every state, and {answer:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_to_be_in_every_crash_state_is(
        steps in vec(step(), 1..9),
        filesystem in 0..Filesystem::ALL.len(),
    ) {
        check(Filesystem::ALL[filesystem], &steps);
    }

    #[test]
    fn where_nothing_is_ordered_the_answer_is_exact(steps in vec(step(), 1..8)) {
        check(Filesystem::Adversarial, &steps);
    }
}

#[test]
fn a_name_that_leads_nowhere_is_durable_once_its_removal_is() {
    let hand = Hand::new(Filesystem::Adversarial);
    hand.durable("a", b'a', 10);
    hand.remove("a");
    let of = |hand: &Hand| hand.disk.is_name_durable(DirectoryId::ROOT, &name("a")).is_ok();
    assert!(!of(&hand), "the removal is not durable");
    hand.sync_root();
    assert!(of(&hand), "the removal is durable");
    assert!(hand.disk.is_durable(DirectoryId::ROOT, &name("a"), 0..0).is_err(), "and so nothing is there");
    assert_eq!(hand.disk.image_hash(View::Visible), hand.disk.image_hash(View::Durable));
}
