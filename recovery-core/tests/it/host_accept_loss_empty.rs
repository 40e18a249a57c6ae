//! Accepting a loss behind batches that hold no message: they are proven, and stay where they were.

use recovery_core::format::{BatchBuilder, stamp};
use recovery_core::units::Offset;

use crate::loss_world::{DIRECTORY, NAMESPACE, accept, change, look, lost, served, written};

const LAST: &str = "00000000000000000010.log";

/// A batch without a message, as the next one at offset 10.
fn empty_batch() -> Vec<u8> {
    let mut bytes = Vec::new();
    BatchBuilder::begin(&mut bytes, 1_000).finish();
    stamp(&mut bytes, NAMESPACE.partition_id(), Offset::new(10), 5_000).expect("a whole batch");
    bytes
}

/// What is carried over begins at the segment's own start, so the new log takes the place of the old one.
#[test]
fn batches_without_a_message_stay_in_front_of_those_that_are_carried_over() {
    for has_ledger in [true, false] {
        let storage = written(has_ledger);
        let mut all = Vec::new();
        change(&storage, LAST, |log| {
            all = std::mem::take(log);
            *log = [&empty_batch(), &all[..70], &all].concat();
        });
        let found = lost(&storage).expect("a loss that can be accepted");
        assert_eq!(found.ranges, [], "only bytes that held no offset are lost");
        accept(&storage, &[]).expect("nothing else is lost");
        assert!(look(&storage).1.is_served());
        let log = &storage.files()[&format!("{DIRECTORY}/{LAST}")];
        assert!(*log == [empty_batch(), all].concat(), "the prefix first, then what was behind the damage");
        assert_eq!(served(&storage), "0 1 2 3 4 5 6 7 8 9 10 11 12");
    }
}
