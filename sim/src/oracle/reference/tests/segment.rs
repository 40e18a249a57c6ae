//! One segment: every stop, every residue, every row of the first table, every state of an index.

use recovery_core::observe::Stop;

use super::check;
use crate::oracle::reference::batch::Batch;
use crate::oracle::reference::rest::{Chain, look};
use crate::oracle::reference::walk::misplacement;
use crate::oracle::specimen::{
    Directory, FRONTIER, MORE, NAMESPACE, ONE, batch, batch_of, batches, entries, entry, frame, mark, restamp,
};

/// Three whole batches, then `rest`; an index of the whole batches.
fn torn(rest: &[u8]) -> Directory {
    Directory::new().log(0, [&batches(0, 3)[..], rest].concat()).index(0, entries(0, 3))
}

/// The same above a mark that covers the three.
fn torn_above_mark(rest: &[u8]) -> Directory {
    torn(rest).ledger(&[mark(FRONTIER, 0, &batches(0, 3))])
}

/// The same below a mark that covers a fourth.
fn torn_below_mark(rest: &[u8]) -> Directory {
    torn(rest).ledger(&[mark(FRONTIER, 0, &batches(0, 4))])
}

fn with_byte(mut bytes: Vec<u8>, at: usize, value: u8) -> Vec<u8> {
    assert_ne!(bytes[at], value);
    bytes[at] = value;
    bytes
}

#[test]
fn a_whole_log_is_kept() {
    check(
        torn(&[]),
        "serve next=3\n0 1068/1068 next=3 messages=3 batches=3 end none unknown good keep saved=0",
    );
    let log = [batch(0, 2), batch(2, 3)].concat();
    check(
        Directory::new().log(0, log).index(0, entry(0, 0)),
        "serve next=5\n0 1012/1012 next=5 messages=5 batches=2 end none unknown good keep saved=0",
    );
    check(
        torn_above_mark(&[]),
        "serve next=3\n0 1068/1068 next=3 messages=3 batches=3 end none at-or-above good keep saved=0",
    );
}

#[test]
fn a_log_that_ends_below_its_mark_on_a_boundary_has_lost_something() {
    check(
        torn_below_mark(&[]),
        "refuse lost-durable in 0\n0 1068/1068 next=3 messages=3 batches=3 end none below good keep saved=0",
    );
}

#[test]
fn a_batch_of_no_messages_is_accepted_and_moves_nothing() {
    let log = [batch(0, 1), batch(1, 0), batch(1, 1)].concat();
    check(
        Directory::new().log(0, log).index(0, [entry(0, 0), entry(1, ONE)].concat()),
        "serve next=2\n0 968/968 next=2 messages=2 batches=3 end none unknown good keep saved=0",
    );
}

#[test]
fn fewer_bytes_than_a_header_are_short() {
    check(
        torn(&[1; 255]),
        "serve next=3\n0 1068/1323 next=3 messages=3 batches=3 short noise unknown good cut saved=255",
    );
}

#[test]
fn an_extent_past_the_end_is_short() {
    check(
        torn(&batch(3, 2)[..ONE + MORE - 1]),
        "serve next=3\n0 1068/1523 next=3 messages=3 batches=3 short noise unknown good cut saved=455",
    );
}

#[test]
fn zeros_are_cut_and_not_saved() {
    check(
        torn(&[0; 255]),
        "serve next=3\n0 1068/1323 next=3 messages=3 batches=3 short zeros unknown good cut saved=0",
    );
    check(
        torn(&[0; 5000]),
        "serve next=3\n0 1068/6068 next=3 messages=3 batches=3 undecodable zeros unknown good cut saved=0",
    );
}

#[test]
fn a_header_that_is_none_is_undecodable() {
    let too_short = with_byte(with_byte(batch(3, 1), 32, 255), 33, 0);
    let reserved = with_byte(batch(3, 1), 255, 1);
    let too_many = with_byte(batch(3, 1), 48, 3);
    let too_few = with_byte(batch(3, 2), 48, 1);
    let frame_past_end = with_byte(batch(3, 1), 256 + 36, 53);
    let frame_reserved = with_byte(batch(3, 1), 256 + 40, 1);
    for bytes in [too_short, reserved, too_many, too_few, frame_past_end, frame_reserved] {
        let length = bytes.len();
        check(
            torn(&bytes),
            &format!(
                "serve next=3\n0 1068/{} next=3 messages=3 batches=3 undecodable noise unknown good cut saved={length}",
                1068 + length,
            ),
        );
    }
}

#[test]
fn a_flip_that_only_a_checksum_sees_is_a_bad_checksum_whatever_it_hits() {
    let in_payload = with_byte(batch(3, 1), ONE - 1, b'y');
    let in_message_checksum = {
        let mut bytes = batch(3, 1);
        bytes[256] ^= 1;
        bytes
    };
    let base_offset_upwards = with_byte(batch(3, 1), 8, 7);
    let base_offset_downwards = with_byte(batch(3, 1), 8, 1);
    let partition_id = with_byte(batch(3, 1), 0, 2);
    for bytes in [in_payload, in_message_checksum, base_offset_upwards, base_offset_downwards, partition_id] {
        check(
            torn(&bytes),
            "serve next=3\n0 1068/1424 next=3 messages=3 batches=3 bad-checksum noise unknown good cut saved=356",
        );
    }
}

#[test]
fn bytes_past_the_sealed_length_are_an_overrun() {
    let log = batches(0, 3);
    let sealed = torn(&[9; 10]).ledger(&[crate::oracle::specimen::seal(0, &log, 3)]);
    check(
        sealed.clone(),
        "serve next=3\n0 1068/1078 next=3 messages=3 batches=3 overrun noise at-or-above good cut saved=10",
    );
    let whole_batch = torn(&batch(3, 2)).ledger(&[crate::oracle::specimen::seal(0, &log, 3)]);
    check(
        whole_batch,
        "serve-from gap=3..4 next=5 reserve=5
         0 1068/1524 next=3 messages=3 batches=3 overrun survivor at-or-above good cut saved=456",
    );
}

#[test]
fn a_misplaced_batch_is_refused_without_evidence_and_cut_above_a_mark() {
    let foreign = batch_of(2, 3, &[&[b'x'; 52]]);
    let overflow = batch_of(3, u64::MAX, &[&[b'x'; 52]]);
    for (bytes, stop, reason) in [
        (foreign, "foreign", "foreign-batch"),
        (batch(4, 1), "gap", "offset-discontinuity"),
        (batch(2, 1), "regression", "offset-discontinuity"),
        (overflow, "gap", "offset-discontinuity"),
    ] {
        let tail = format!("0 1068/1424 next=3 messages=3 batches=3 {stop} stray");
        check(torn(&bytes), &format!("refuse {reason} in 0\n{tail} unknown good keep saved=0"));
        check(torn_below_mark(&bytes), &format!("refuse {reason} in 0\n{tail} below good keep saved=0"));
        check(torn_above_mark(&bytes), &format!("serve next=3\n{tail} at-or-above good cut saved=356"));
    }
}

#[test]
fn a_batch_behind_which_no_offset_is_left_overflows() {
    let start = u64::MAX - 1;
    let one = batch(start, 1);
    check(
        Directory::new().log(start, one.clone()).index(start, entry(start, 0)),
        &format!(
            "serve next={}\n{start} 356/356 next={} messages=1 batches=1 end none unknown good keep saved=0",
            u64::MAX,
            u64::MAX
        ),
    );
    check(
        Directory::new().log(start, batch(start, 2)).index(start, []),
        &format!(
            "refuse offset-overflow in {start}\n{start} 0/456 next={start} messages=0 batches=0 overflow stray unknown good keep saved=0"
        ),
    );
    check(
        Directory::new().log(start, [one.clone(), batch(u64::MAX, 1)].concat()).index(start, entry(start, 0)),
        &format!(
            "refuse offset-overflow in {start}\n{start} 356/712 next={} messages=1 batches=1 overflow stray unknown good keep saved=0",
            u64::MAX
        ),
    );
}

#[test]
fn a_whole_batch_above_the_ceiling_is_refused_and_never_short() {
    let batch = |length| Batch {
        partition_id: 3,
        base_offset: 0,
        base_timestamp: 0,
        length,
        messages: 1,
        checksum: 0,
    };
    assert_eq!(misplacement(&batch(256 * 1024 * 1024 + 256), 3, 0), None);
    assert_eq!(misplacement(&batch(256 * 1024 * 1024 + 257), 3, 0), Some(Stop::Oversize));
    assert_eq!(misplacement(&batch(256 * 1024 * 1024 + 257), 2, 0), Some(Stop::Foreign));
}

#[test]
fn a_survivor_behind_damage_refuses_without_evidence_and_is_cut_above_a_mark() {
    let rest = [with_byte(batch(3, 1), ONE - 1, b'y'), batch(4, 2)].concat();
    let tail = "0 1068/1880 next=3 messages=3 batches=3 bad-checksum survivor";
    check(torn(&rest), &format!("refuse interior-damage in 0\n{tail} unknown good keep saved=0"));
    check(torn_below_mark(&rest), &format!("refuse lost-durable in 0\n{tail} below good keep saved=0"));
    check(
        torn_above_mark(&rest),
        &format!("serve-from gap=3..5 next=6 reserve=6\n{tail} at-or-above good cut saved=812"),
    );
}

#[test]
fn a_stray_behind_damage_is_cut_and_saved() {
    for stray in [batch_of(2, 4, &[&[b'x'; 52]]), batch(1, 1), batch(4 + 1000, 1)] {
        let rest = [with_byte(batch(3, 1), ONE - 1, b'y'), stray].concat();
        check(
            torn(&rest),
            "serve next=3\n0 1068/1780 next=3 messages=3 batches=3 bad-checksum stray unknown good cut saved=712",
        );
    }
}

#[test]
fn a_survivor_outranks_the_strays_around_it() {
    let stray = || batch_of(2, 4, &[&[b'x'; 52]]);
    let rest = [&[7; 40][..], &stray(), &batch(4, 1), &stray()].concat();
    check(
        torn(&rest),
        "refuse interior-damage in 0\n0 1068/2176 next=3 messages=3 batches=3 undecodable survivor unknown good keep saved=0",
    );
}

#[test]
fn damage_below_a_mark_is_loss_whatever_follows_it() {
    for (rest, residue) in [(vec![0; 300], "zeros"), (vec![7; 300], "noise")] {
        check(
            torn_below_mark(&rest),
            &format!(
                "refuse lost-durable in 0\n0 1068/1368 next=3 messages=3 batches=3 undecodable {residue} below good keep saved=0"
            ),
        );
    }
}

/// The kind of residue that `bytes` are behind a chain that goes on at 3.
fn residue_of(bytes: &[u8]) -> &'static str {
    let chain = Chain { partition_id: NAMESPACE.partition_id().get(), next_offset: 3, ..Chain::default() };
    look(bytes, 0, &chain).kind.code()
}

#[test]
fn a_survivor_needs_room_for_the_offsets_that_it_skips() {
    let behind = |skipped: usize, base_offset: u64| [vec![7; skipped], batch(base_offset, 1)].concat();
    // No offset skipped needs no byte skipped; one needs a header and a frame.
    assert_eq!(residue_of(&behind(1, 3)), "survivor");
    assert_eq!(residue_of(&behind(303, 4)), "stray");
    assert_eq!(residue_of(&behind(304, 4)), "survivor");
    assert_eq!(residue_of(&behind(303 + 9 * 48, 13)), "stray");
    assert_eq!(residue_of(&behind(304 + 9 * 48, 13)), "survivor");
    assert_eq!(residue_of(&behind(5000, 2)), "stray");
    assert_eq!(residue_of(&behind(5000, u64::MAX)), "stray");
}

#[test]
fn an_empty_batch_behind_damage_is_a_survivor() {
    assert_eq!(residue_of(&[vec![7; 1], batch(3, 0)].concat()), "survivor");
}

#[test]
fn a_batch_in_a_whole_message_of_the_damaged_batch_is_payload() {
    let inner = batch(4, 1);
    let outer = batch_of(3, 3, &[&[b'x'; 52], &inner, &inner, &[b'x'; 52]]);
    // Torn behind the second message, in the third, and with a flip in the header.
    assert_eq!(residue_of(&outer[..256 + 100 + 404 + 60]), "noise");
    assert_eq!(residue_of(&outer[..outer.len() - 1]), "noise");
    assert_eq!(residue_of(&with_byte(outer.clone(), 50, 1)), "noise");
    assert_eq!(residue_of(&with_byte(outer.clone(), 100, 1)), "noise");
    // A flip in the first message leaves the others whole; one in the second leaves its payload open.
    assert_eq!(residue_of(&with_byte(outer.clone(), 256 + 60, b'y')), "noise");
    assert_eq!(residue_of(&with_byte(outer.clone(), 256 + 100 + 8, 9)), "survivor");
    // Behind the damaged batch, a batch in a payload is a candidate like any other.
    assert_eq!(residue_of(&[vec![7; 600], outer].concat()), "survivor");
}

#[test]
fn nothing_is_looked_for_inside_a_batch_that_verifies() {
    let inner = batch(4, 1);
    let foreign = batch_of(2, 4, &[&inner]);
    assert_eq!(residue_of(&[vec![7; 304], foreign].concat()), "stray");
}

#[test]
fn every_byte_offset_is_a_candidate() {
    for skipped in 1..300 {
        assert_eq!(residue_of(&[vec![7; skipped], batch(3, 1), vec![7; 5]].concat()), "survivor");
    }
}

#[test]
fn a_frame_of_zeros_is_no_payload_and_ends_nothing() {
    // The header and first frame were lost as zeros, which still tile in steps of an empty frame.
    let inner = batch(9, 1);
    let lost = [vec![0; 256 + 48], frame(1, &inner), vec![7; 10]].concat();
    assert_eq!(residue_of(&lost), "noise");
}

#[test]
fn an_index_that_does_not_fit_is_rebuilt_and_never_refuses() {
    let log = batches(0, 3);
    let with_index = |index: Vec<u8>| Directory::new().log(0, log.clone()).index(0, index);
    let check_index = |directory, state, action| {
        check(
            directory,
            &format!(
                "serve next=3\n0 1068/1068 next=3 messages=3 batches=3 end none unknown {state} {action} saved=0"
            ),
        );
    };
    check_index(with_index(entries(0, 3)), "good", "keep");
    check_index(with_index(entries(0, 1)), "good", "keep");
    check_index(with_index([entry(0, 0), entry(2, 712)].concat()), "good", "keep");
    check_index(Directory::new().log(0, log.clone()), "absent", "rebuild-index");
    check_index(with_index(vec![]), "absent", "rebuild-index");
    check_index(with_index(vec![1; 23]), "absent", "rebuild-index");
    check_index(with_index([entries(0, 2), vec![1; 23]].concat()), "partial-tail", "rebuild-index");
    check_index(with_index(entry(1, 356)), "wrong", "rebuild-index");
    check_index(with_index(vec![0; 24]), "wrong", "rebuild-index");
    check_index(with_index(entries(0, 4)), "wrong", "rebuild-index");
    check_index(with_index([entry(0, 0), entry(2, 712), entry(1, 356)].concat()), "wrong", "rebuild-index");
    check_index(with_index([entry(0, 0), entry(0, 0)].concat()), "wrong", "rebuild-index");
    check_index(with_index(with_byte(entries(0, 2), 24 + 8, 0)), "wrong", "rebuild-index");
    check_index(with_index([entry(1, 0), vec![1; 3]].concat()), "wrong", "rebuild-index");
}

#[test]
fn an_index_beside_a_log_without_batches_is_judged_too() {
    let with_index = |index: Vec<u8>| Directory::new().log(0, []).index(0, index);
    let check_index = |directory, state, action| {
        check(
            directory,
            &format!(
                "serve next=0\n0 0/0 next=0 messages=0 batches=0 end none unknown {state} {action} saved=0"
            ),
        );
    };
    check_index(with_index(vec![]), "good", "keep");
    check_index(with_index(vec![1; 5]), "partial-tail", "rebuild-index");
    check_index(with_index(entry(0, 0)), "wrong", "rebuild-index");
    check_index(Directory::new().log(0, []), "absent", "rebuild-index");
}

#[test]
fn a_cut_that_rebuilds_the_index_as_well_says_cut() {
    let log = [batches(0, 3), batch(3, 1)[..ONE - 1].to_vec()].concat();
    check(
        Directory::new().log(0, log).index(0, entries(0, 4)),
        "serve next=3\n0 1068/1423 next=3 messages=3 batches=3 short noise unknown wrong cut saved=355",
    );
}

#[test]
fn a_batch_restamped_after_an_edit_verifies() {
    let mut edited = batch(3, 1);
    edited[16] = 99;
    restamp(&mut edited);
    check(
        torn(&edited),
        "serve next=4\n0 1424/1424 next=4 messages=4 batches=4 end none unknown good keep saved=0",
    );
}
