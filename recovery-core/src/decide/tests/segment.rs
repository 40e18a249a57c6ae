//! The rows of the segment table, from facts to verdict.

use super::builder::{BATCH, bad_checksum, mark, partition, segment, undecodable, with_ledger};
use super::{check, check_rows};
use crate::format::BATCH_BYTES_MAX;
use crate::observe::{Evidence, IndexState, Residue, StopDetail};
use crate::storage::Errno;
use crate::units::{Length, Offset, PartitionId, Position};

const SHORT: StopDetail = StopDetail::Short { needed: Length::new(304), available: Length::new(100) };
const FOREIGN: StopDetail = StopDetail::Foreign { found: PartitionId::new(7) };

#[test]
fn a_whole_log_is_kept() {
    check(partition([segment(0, 3)]), "serve, next 3");
    check(with_ledger([segment(0, 3).marked(3)]), "serve, next 3");
    check(with_ledger([segment(0, 3).marked(2)]), "serve, next 3");
    check_rows(partition([segment(0, 3)]), "end-unknown next-offset-meets");
    check_rows(with_ledger([segment(0, 3).marked(3)]), "end-at-or-above next-offset-meets");
}

#[test]
fn a_log_that_ends_early_on_a_boundary_has_lost_what_was_durable() {
    check(
        with_ledger([segment(0, 3).marked(5)]),
        "refuse lost-durable: segment 0 is proven to byte 912 (offset 3 next) and stops there (end), and the \
         ledger has it durable to byte 1520 (offset 5 next)",
    );
    check_rows(with_ledger([segment(0, 3).marked(5)]), "end-below segment-refused");
}

#[test]
fn damage_below_a_mark_is_loss_whatever_follows() {
    for kind in [Residue::Noise, Residue::Stray, Residue::Unproven, Residue::Zeros] {
        let stop = if kind == Residue::Zeros { undecodable() } else { bad_checksum() };
        check_rows(
            with_ledger([segment(0, 3).stopped(stop, kind, 608).marked(5)]),
            "damage-below segment-refused",
        );
    }
    check(
        with_ledger([segment(0, 3).survived(608, 4).marked(5)]),
        "refuse lost-durable: segment 0 is proven to byte 912 (offset 3 next) and stops there (bad-checksum), \
         and the ledger has it durable to byte 1520 (offset 5 next)",
    );
}

#[test]
fn without_a_ledger_an_index_entry_may_prove_a_loss() {
    check(
        partition([segment(0, 3).stopped(bad_checksum(), Residue::Noise, 608).promised_by_index(1216, 4)]),
        "refuse lost-durable: segment 0 is proven to byte 912 (offset 3 next) and stops there (bad-checksum), \
         and its index has it durable to byte 1216 (offset 4 next)",
    );
}

#[test]
fn beside_a_ledger_the_index_is_no_witness() {
    check(
        with_ledger([segment(0, 3).promised_by_index(1824, 6).marked(5)]),
        "refuse lost-durable: segment 0 is proven to byte 912 (offset 3 next) and stops there (end), and the \
         ledger has it durable to byte 1520 (offset 5 next)",
    );
}

#[test]
fn damage_at_or_above_a_mark_is_cut_and_saved() {
    for kind in [Residue::Noise, Residue::Stray] {
        check(
            with_ledger([segment(0, 3).stopped(SHORT, kind, 100).marked(3)]),
            "serve, next 3, cut 0 at 912 saving 100",
        );
    }
    check_rows(
        with_ledger([segment(0, 3).stopped(SHORT, Residue::Noise, 100).marked(2)]),
        "damage-at-or-above next-offset-meets",
    );
}

#[test]
fn zeros_are_cut_and_not_saved() {
    check(
        with_ledger([segment(0, 3).stopped(SHORT, Residue::Zeros, 100).marked(3)]),
        "serve, next 3, cut 0 at 912 saving 0",
    );
    check(
        partition([segment(0, 3).stopped(undecodable(), Residue::Zeros, 4096)]),
        "serve, next 3, cut 0 at 912 saving 0",
    );
    check(
        partition([segment(0, 0).stopped(undecodable(), Residue::Zeros, 4096)]),
        "serve, next 0, cut 0 at 0 saving 0",
    );
}

#[test]
fn a_survivor_at_or_above_a_mark_is_cut_and_its_offset_is_reserved() {
    check(
        with_ledger([segment(0, 3).survived(608, 4).marked(3)]),
        "serve-from with gap 3..4, next 5, reserve 5, cut 0 at 912 saving 608",
    );
    check_rows(
        with_ledger([segment(0, 3).survived(608, 4).marked(3)]),
        "damage-at-or-above next-offset-survivor",
    );
}

#[test]
fn damage_that_nothing_is_known_of_is_cut_if_nothing_continues_the_partition() {
    for (kind, row) in [(Residue::Noise, "noise"), (Residue::Stray, "stray"), (Residue::Zeros, "zeros")] {
        let saved = if kind == Residue::Zeros { 0 } else { 100 };
        let facts = partition([segment(0, 3).stopped(SHORT, kind, 100)]);
        check(facts.clone(), &format!("serve, next 3, cut 0 at 912 saving {saved}"));
        check_rows(facts, &format!("damage-unknown-{row} next-offset-meets"));
    }
}

#[test]
fn damage_that_nothing_is_known_of_is_refused_if_a_survivor_follows() {
    let facts = partition([segment(0, 3).survived(608, 4)]);
    check(
        facts.clone(),
        "refuse interior-damage: segment 0 is damaged at byte 912 (bad-checksum), and a whole batch of this \
         partition with base offset 4 follows at byte 1216 (1 such in all)",
    );
    check_rows(facts, "damage-unknown-survivor segment-refused");
}

#[test]
fn damage_that_nothing_is_known_of_is_refused_if_the_budget_ran_out() {
    let mut torn = segment(0, 3).stopped(bad_checksum(), Residue::Unproven, 8000);
    torn.0.residue.candidates = 500;
    check(
        partition([torn]),
        "refuse unproven-residue: segment 0 is damaged at byte 912, and of the 8000 bytes from there the budget \
         did not allow all to be judged (500 candidates looked at)",
    );
}

#[test]
fn a_misplaced_batch_is_refused_where_it_may_have_been_promised() {
    let misplaced = |stop| segment(0, 3).stopped(stop, Residue::Stray, BATCH);
    for facts in [partition([misplaced(FOREIGN)]), with_ledger([misplaced(FOREIGN).marked(5)])] {
        check(
            facts,
            "refuse foreign-batch: segment 0 holds at byte 912 a whole batch of partition 7, and this is \
             partition 3",
        );
    }
    check(
        partition([misplaced(StopDetail::Gap { found: Offset::new(9) })]),
        "refuse offset-discontinuity: segment 0 holds at byte 912 a whole batch with base offset 9, and the \
         chain continues at 3",
    );
    check(
        partition([misplaced(StopDetail::Regression { found: Offset::new(1) })]),
        "refuse offset-discontinuity: segment 0 holds at byte 912 a whole batch with base offset 1, and the \
         chain continues at 3",
    );
    check_rows(partition([misplaced(FOREIGN)]), "misplaced-unknown segment-refused");
    check_rows(with_ledger([misplaced(FOREIGN).marked(5)]), "misplaced-below segment-refused");
}

#[test]
fn a_batch_that_leaves_no_offset_or_is_too_large_is_refused_by_its_own_reason() {
    let overflow = StopDetail::Overflow { base_offset: Offset::new(u64::MAX - 2), message_count: 3 };
    check(
        partition([segment(u64::MAX - 5, 3).stopped(overflow, Residue::Stray, BATCH)]),
        "refuse offset-overflow: segment 18446744073709551610 holds at byte 912 a whole batch of 3 messages \
         from offset 18446744073709551613, behind which no offset is left",
    );
    let length = BATCH_BYTES_MAX.get() + 1;
    let oversize = StopDetail::Oversize { batch_length: Length::new(length) };
    check(
        partition([segment(0, 3).stopped(oversize, Residue::Survivor, length)]),
        "refuse record-ceiling: segment 0 holds at byte 912 a whole batch of 268435713 bytes, and the ceiling \
         is 268435712",
    );
}

#[test]
fn a_misplaced_batch_behind_a_mark_is_cut_and_saved() {
    let facts = with_ledger([segment(0, 3).stopped(FOREIGN, Residue::Stray, BATCH).marked(3)]);
    check(facts.clone(), "serve, next 3, cut 0 at 912 saving 304");
    check_rows(facts, "misplaced-at-or-above next-offset-meets");
}

/// Not even where nothing was promised: no door of ours lets such a batch in, so it is no write of ours (F74).
#[test]
fn a_whole_batch_above_the_ceiling_is_never_cut() {
    let length = BATCH_BYTES_MAX.get() + 1;
    let oversize = StopDetail::Oversize { batch_length: Length::new(length) };
    let facts = with_ledger([segment(0, 3).stopped(oversize, Residue::Survivor, length).marked(3)]);
    check(
        facts.clone(),
        "refuse record-ceiling: segment 0 holds at byte 912 a whole batch of 268435713 bytes, and the ceiling \
         is 268435712",
    );
    check_rows(facts, "ceiling-at-or-above segment-refused");
}

#[test]
fn a_log_that_verifies_and_is_not_the_ledgers_is_refused() {
    let conflict = StopDetail::Conflict { agrees: Some(mark(0, 912, 3)), differs: mark(0, 1520, 5) };
    let facts = with_ledger([segment(0, 3).stopped(conflict, Residue::Survivor, 608).marked(5)]);
    check(
        facts.clone(),
        "refuse evidence-conflict: segment 0 agrees with the ledger up to byte 912 (offset 3 next), and \
         verifies behind it, but not as the ledger has it: it differs from the ledger's mark at byte 1520 \
         (offset 5 next)",
    );
    check_rows(facts, "conflict-below segment-refused");
    let nothing_agrees = StopDetail::Conflict { agrees: None, differs: mark(7, 1520, 12) };
    check(
        with_ledger([segment(7, 0).stopped(nothing_agrees, Residue::Survivor, 1520).marked(5)]).floor(7),
        "refuse evidence-conflict: segment 7 agrees with the ledger up to byte 0 (offset 7 next), and \
         verifies behind it, but not as the ledger has it: it differs from the ledger's mark at byte 1520 \
         (offset 12 next)",
    );
}

#[test]
fn what_lies_past_a_sealed_length_is_cut_unless_a_survivor_may_have_been_promised() {
    let overrun = StopDetail::Overrun { sealed: Length::new(912) };
    let sealed = segment(0, 3).stopped(overrun, Residue::Noise, 50).sealed(3, 3);
    check(with_ledger([sealed.clone(), segment(3, 1).marked(1)]), "serve, next 4, cut 0 at 912 saving 50");
    // Past a clean stop another program may have written.
    let mut appended = segment(0, 3).survived(608, 4).sealed(3, 3).evidence(Evidence::Unknown);
    appended.0.stop = overrun;
    check_rows(with_ledger([appended]), "damage-unknown-survivor segment-refused");
}

#[test]
fn an_unreadable_log_makes_the_whole_partition_unavailable() {
    let unreadable = StopDetail::Unreadable { errno: Errno::IO, position: Position::new(912) };
    let broken = segment(3, 3).stopped(unreadable, Residue::Noise, 608);
    let lost = segment(0, 3).marked(5);
    check(
        with_ledger([lost, broken.clone()]),
        "unavailable: read of 00000000000000000003.log failed with EIO",
    );
    check_rows(partition([segment(0, 3), broken]), "unreadable partition-unavailable");
}

#[test]
fn facts_that_no_bytes_have_say_that_two_readings_differ() {
    let zeros_behind_a_header = segment(0, 3).stopped(bad_checksum(), Residue::Zeros, 608);
    check(
        partition([zeros_behind_a_header.clone()]),
        "unavailable: read of 00000000000000000000.log failed with ESTALE",
    );
    check_rows(partition([zeros_behind_a_header]), "impossible partition-unavailable");
}

#[test]
fn an_index_that_is_not_good_is_rebuilt_and_never_a_reason() {
    for state in [IndexState::Absent, IndexState::PartialTail, IndexState::Wrong] {
        check(partition([segment(0, 3).index(state)]), "serve, next 3, rebuild-index 0");
    }
    check(partition([segment(0, 0).index(IndexState::Absent)]), "serve, next 0, rebuild-index 0");
    // A cut says so alone: the index follows its log.
    check(
        partition([segment(0, 3).stopped(SHORT, Residue::Noise, 100).index(IndexState::Wrong)]),
        "serve, next 3, cut 0 at 912 saving 100",
    );
}
