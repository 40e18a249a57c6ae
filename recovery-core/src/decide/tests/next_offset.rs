//! Which offset comes next, and why.

use super::builder::{bad_checksum, partition, segment, undecodable, with_ledger};
use super::{check, check_rows};
use crate::observe::Residue;
use crate::units::Offset;

#[test]
fn a_fresh_partition_starts_at_0() {
    check(partition([]), "serve, next 0");
    check(with_ledger([]), "serve, next 0");
    check(partition([segment(0, 0)]), "serve, next 0");
}

#[test]
fn a_fresh_partition_with_a_floor_starts_there() {
    check(with_ledger([]).floor(100).reserved(100), "serve, next 100");
}

#[test]
fn an_empty_last_segment_gives_its_own_start() {
    check(partition([segment(50, 0)]), "serve, next 50");
    check(partition([segment(0, 50), segment(50, 0)]), "serve, next 50");
    check(with_ledger([segment(0, 50).sealed(50, 80), segment(80, 0).marked(0)]), "serve, next 80");
}

#[test]
fn a_seal_gives_the_start_of_a_segment_that_was_not_made() {
    let facts = with_ledger([segment(0, 3).sealed(3, 10)]);
    check(facts.clone(), "serve-from with gap 3..9, next 10");
    check_rows(facts, "end-at-or-above roll-cut-short next-offset-seal");
}

#[test]
fn the_reserved_offset_is_the_larger_of_ledger_and_superblock() {
    check(partition([segment(0, 3)]).frontier(3), "serve, next 3");
    check(partition([segment(0, 3)]).frontier(2), "serve, next 3");
    check(partition([segment(0, 3)]).frontier(8), "serve-from with gap 3..7, next 8");
    let marked = with_ledger([segment(0, 3).marked(3)]);
    check(marked.clone().reserved(6).frontier(8), "serve-from with gap 3..7, next 8");
    check(marked.clone().reserved(9).frontier(8), "serve-from with gap 3..8, next 9");
    check_rows(marked.reserved(9), "end-at-or-above next-offset-reserved");
    check(partition([]).frontier(500), "serve-from with gap 0..499, next 500");
}

#[test]
fn a_survivor_that_is_cut_keeps_its_offsets() {
    check(
        with_ledger([segment(0, 3).survived(608, 4).marked(3)]).reserved(4),
        "serve-from with gap 3..4, next 5, reserve 5, cut 0 at 912 saving 608",
    );
    check(
        with_ledger([segment(0, 3).survived(608, 4).marked(3)]).reserved(9),
        "serve-from with gap 3..8, next 9, reserve 5, cut 0 at 912 saving 608",
    );
    // Cut in front of a segment that goes further: nothing is left to skip.
    check(
        with_ledger([segment(0, 3).survived(608, 3).sealed(3, 3), segment(3, 4).marked(4)]),
        "serve, next 7, reserve 4, cut 0 at 912 saving 608",
    );
}

#[test]
fn a_residue_that_was_not_judged_whole_keeps_all_offsets_that_it_has_room_for() {
    let torn = segment(0, 3).stopped(bad_checksum(), Residue::Unproven, 480).marked(3);
    check(
        with_ledger([torn.clone()]),
        "serve-from with gap 3..12, next 13, reserve 13, cut 0 at 912 saving 480",
    );
    // What survivors are known to hold at least is no other row: the room is what counts.
    let mut searched = torn.clone();
    searched.0.residue.survivors_next_offset = Some(Offset::new(13));
    check_rows(with_ledger([searched]), "damage-at-or-above next-offset-unproven");
    check_rows(with_ledger([torn]), "damage-at-or-above next-offset-unproven");
    let short = segment(0, 3).stopped(undecodable(), Residue::Unproven, 47).marked(3);
    check(with_ledger([short]), "serve, next 3, reserve 3, cut 0 at 912 saving 47");
}

#[test]
fn no_offset_is_computed_past_the_largest() {
    let last = u64::MAX;
    check(partition([segment(last, 0)]), &format!("serve, next {last}"));
    check(partition([segment(last - 3, 3)]), &format!("serve, next {last}"));
    check(
        with_ledger([segment(last - 3, 2).stopped(bad_checksum(), Residue::Unproven, 4800).marked(2)])
            .floor(last - 3),
        &format!(
            "serve-from with gap {}..{}, next {last}, reserve {last}, cut {} at 608 saving 4800",
            last - 1,
            last - 1,
            last - 3
        ),
    );
}
