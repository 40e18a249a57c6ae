//! "In every crash state" is a query, and here it is held against all crash states.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::disk::litmus::every_state::{Step, hold_program};
use crate::disk::litmus::hand::{Hand, name};
use crate::disk::{DirectoryId, View};
use crate::schedule::Filesystem;

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_to_be_in_every_crash_state_is(
        steps in vec(step(), 1..9),
        filesystem in 0..Filesystem::ALL.len(),
    ) {
        let held = hold_program(Filesystem::ALL[filesystem], &steps);
        prop_assert!(held.is_ok(), "{}", held.expect_err("it does not hold"));
    }

    #[test]
    fn where_nothing_is_ordered_the_answer_is_exact(steps in vec(step(), 1..8)) {
        let held = hold_program(Filesystem::Adversarial, &steps);
        prop_assert!(held.is_ok(), "{}", held.expect_err("it does not hold"));
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
