//! The relation of a stop to what was durable, and what conflicts with it.

use super::check;
use crate::oracle::specimen::{
    CLEAN_STOP, Directory, FRONTIER, ONE, OPENED, RECOVERED, Record, batch, batches, entries, entry, mark,
    record, seal,
};

/// Two whole batches and a torn third one behind which a survivor lies.
fn torn_before_survivor() -> Vec<u8> {
    let mut log = [batches(0, 2), batch(2, 1), batch(3, 1)].concat();
    log[3 * ONE - 1] = b'y';
    log
}

fn check_torn(ledger: &[Record], expected: &str) {
    let log = torn_before_survivor();
    check(Directory::new().log(0, log).index(0, entries(0, 2)).ledger(ledger), expected);
}

const TAIL: &str = "0 712/1424 next=2 messages=2 batches=2 bad-checksum survivor";

#[test]
fn without_a_ledger_nothing_is_known() {
    let directory = Directory::new().log(0, torn_before_survivor()).index(0, entries(0, 2));
    check(directory, &format!("refuse interior-damage in 0\n{TAIL} unknown good keep saved=0"));
}

#[test]
fn an_empty_or_wholly_invalid_ledger_is_none() {
    for bytes in [vec![], vec![0; 128], vec![7; 1000], vec![1; 127]] {
        let directory =
            Directory::new().log(0, torn_before_survivor()).index(0, entries(0, 2)).file("ledger", bytes);
        check(directory, &format!("refuse interior-damage in 0\n{TAIL} unknown good keep saved=0"));
    }
}

#[test]
fn a_stop_at_the_mark_is_above_it_and_one_before_it_below() {
    check_torn(
        &[mark(FRONTIER, 0, &batches(0, 2))],
        &format!("serve-from gap=2..3 next=4 reserve=4\n{TAIL} at-or-above good cut saved=712"),
    );
    check_torn(
        &[mark(FRONTIER, 0, &[])],
        &format!("serve-from gap=2..3 next=4 reserve=4\n{TAIL} at-or-above good cut saved=712"),
    );
    check_torn(
        &[mark(FRONTIER, 0, &batches(0, 3))],
        &format!("refuse lost-durable in 0\n{TAIL} below good keep saved=0"),
    );
}

#[test]
fn the_newest_mark_by_slot_decides_and_not_the_highest() {
    check_torn(
        &[mark(FRONTIER, 0, &batches(0, 3)), mark(RECOVERED, 0, &batches(0, 2))],
        &format!("serve-from gap=2..3 next=4 reserve=4\n{TAIL} at-or-above good cut saved=712"),
    );
}

#[test]
fn past_a_clean_stop_nothing_is_known_but_below_it_loss_is() {
    check_torn(
        &[mark(CLEAN_STOP, 0, &batches(0, 2))],
        &format!("refuse interior-damage in 0\n{TAIL} unknown good keep saved=0"),
    );
    check_torn(
        &[mark(CLEAN_STOP, 0, &batches(0, 3))],
        &format!("refuse lost-durable in 0\n{TAIL} below good keep saved=0"),
    );
    check_torn(
        &[mark(CLEAN_STOP, 0, &batches(0, 2)), record(OPENED)],
        &format!("serve-from gap=2..3 next=4 reserve=4\n{TAIL} at-or-above good cut saved=712"),
    );
}

#[test]
fn a_segment_without_a_mark_is_judged_by_its_place_among_those_with_one() {
    let newer = Directory::new()
        .segment(0, 2)
        .log(2, [&batches(2, 1)[..], &[7; 40]].concat())
        .index(2, entries(2, 1));
    let whole = "0 712/712 next=2 messages=2 batches=2 end none";
    let torn = "2 356/396 next=3 messages=1 batches=1 short noise";
    check(
        newer.clone().ledger(&[mark(FRONTIER, 0, &batches(0, 1))]),
        &format!("serve next=3\n{whole} at-or-above good keep saved=0\n{torn} at-or-above good cut saved=40"),
    );
    check(
        newer.clone().ledger(&[mark(FRONTIER, 2, &[])]),
        &format!("serve next=3\n{whole} unknown good keep saved=0\n{torn} at-or-above good cut saved=40"),
    );
    check(
        newer.ledger(&[record(OPENED)]),
        &format!("serve next=3\n{whole} unknown good keep saved=0\n{torn} unknown good cut saved=40"),
    );
}

#[test]
fn a_mark_that_speaks_of_another_log_conflicts() {
    let other = [batch(0, 2)].concat();
    let ours = [batches(0, 2), batch(2, 2)].concat();
    let conflict =
        |records: &[Record]| Directory::new().log(0, ours.clone()).index(0, entries(0, 1)).ledger(records);
    // Inside a batch; and at a boundary with another chain hash.
    check(
        conflict(&[mark(FRONTIER, 0, &other)]),
        "refuse evidence-conflict in 0
         0 356/1168 next=1 messages=1 batches=1 conflict survivor below good keep saved=0",
    );
    let other_content = [batches(0, 1), {
        let mut batch = batch(1, 1);
        batch[16] = 77;
        crate::oracle::specimen::restamp(&mut batch);
        batch
    }]
    .concat();
    check(
        conflict(&[mark(FRONTIER, 0, &batches(0, 1)), mark(FRONTIER, 0, &other_content)]),
        "refuse evidence-conflict in 0
         0 356/1168 next=1 messages=1 batches=1 conflict survivor below good keep saved=0",
    );
    // An older mark is checked on the way to the newest.
    check(
        conflict(&[mark(FRONTIER, 0, &other_content), mark(FRONTIER, 0, &ours)]),
        "refuse evidence-conflict in 0
         0 356/1168 next=1 messages=1 batches=1 conflict survivor below good keep saved=0",
    );
    let other_offset =
        Record { mark: [0, 712, 3, mark(FRONTIER, 0, &batches(0, 2)).mark[3]], ..record(FRONTIER) };
    check(
        conflict(&[other_offset]),
        "refuse evidence-conflict in 0
         0 356/1168 next=1 messages=1 batches=1 conflict survivor below good keep saved=0",
    );
}

#[test]
fn a_log_of_another_incarnation_conflicts_although_every_checksum_passes() {
    let mut record = mark(FRONTIER, 0, &batches(0, 2));
    record.mark[3] ^= 1;
    check(
        Directory::new().segment(0, 2).ledger(&[record]),
        "refuse evidence-conflict in 0
         0 356/712 next=1 messages=1 batches=1 conflict survivor below wrong keep saved=0",
    );
}

#[test]
fn a_sealed_segment_ends_at_its_sealed_length() {
    let sealed = |log: Vec<u8>| {
        Directory::new().log(0, log).index(0, entries(0, 2)).ledger(&[seal(0, &batches(0, 2), 2)])
    };
    check(
        sealed(batches(0, 2)),
        "serve next=2\n0 712/712 next=2 messages=2 batches=2 end none at-or-above good keep saved=0",
    );
    check(
        sealed(batches(0, 1)),
        "refuse lost-durable in 0\n0 356/356 next=1 messages=1 batches=1 end none below wrong keep saved=0",
    );
    check(
        sealed([batches(0, 2), vec![0; 512]].concat()),
        "serve next=2\n0 712/1224 next=2 messages=2 batches=2 overrun zeros at-or-above good cut saved=0",
    );
}

#[test]
fn a_seal_of_the_same_length_over_other_bytes_is_void() {
    let mut of_other_bytes = seal(0, &batches(0, 2), 2);
    of_other_bytes.mark[3] ^= 1;
    check(
        Directory::new().segment(0, 3).ledger(&[of_other_bytes, mark(FRONTIER, 0, &batches(0, 2))]),
        "serve next=3\n0 1068/1068 next=3 messages=3 batches=3 end none at-or-above good keep saved=0",
    );
}

#[test]
fn the_index_speaks_once_for_a_synced_directory_without_a_ledger() {
    let log = [&batches(0, 2)[..], &[7; 40]].concat();
    let with_index = |index: Vec<u8>| Directory::new().log(0, log.clone()).index(0, index);
    let cut = |index| {
        format!(
            "serve next=2\n0 712/752 next=2 messages=2 batches=2 short noise unknown {index} cut saved=40"
        )
    };
    let lost = "refuse lost-durable in 0\n0 712/752 next=2 messages=2 batches=2 short noise below wrong keep saved=0";
    // An entry at the stop is the flush in flight; one behind it was begun after the rest was synced.
    check(with_index(entries(0, 3)).synced(), &cut("wrong"));
    check(with_index(entries(0, 4)).synced(), lost);
    check(with_index(entries(0, 4)), &cut("wrong"));
    // What is not well formed ends what counts.
    let flipped = |at: usize| {
        let mut index = entries(0, 4);
        index[at] ^= 0x80;
        index
    };
    for index in [flipped(0), flipped(16), flipped(24), flipped(24 + 16), entries(0, 4)[24..].to_vec()] {
        check(with_index(index).synced(), &cut("wrong"));
    }
    let not_above_next = [entry(0, 0), entry(1, 356), entry(2, 800)].concat();
    check(with_index(not_above_next).synced(), &cut("wrong"));
    let descending = [entry(0, 0), entry(1, 356), entry(1, 900)].concat();
    check(with_index(descending).synced(), &cut("wrong"));
}

#[test]
fn the_index_shows_that_a_synced_log_ends_early_on_a_boundary() {
    let directory = Directory::new().log(0, batches(0, 2)).index(0, entries(0, 4)).synced();
    check(
        directory.clone(),
        "refuse lost-durable in 0\n0 712/712 next=2 messages=2 batches=2 end none below wrong keep saved=0",
    );
    check(
        directory.ledger(&[mark(FRONTIER, 0, &batches(0, 1))]),
        "serve next=2\n0 712/712 next=2 messages=2 batches=2 end none at-or-above wrong rebuild-index saved=0",
    );
}
