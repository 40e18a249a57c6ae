//! The rows of the partition and chain table, and their order.

use super::builder::{
    BATCH, NAMESPACE, Partition, bad_checksum, partition, segment, undecodable, with_ledger,
};
use super::{check, check_rows};
use crate::format::SuperblockSlot;
use crate::observe::{LedgerState, OtherEntry, Residue, StopDetail, SuperblockState};
use crate::storage::{EntryKind, Errno, Name};
use crate::units::{Incarnation, Length, Namespace, Position, SegmentStart};

fn of_another(mut partition: Partition) -> Partition {
    let namespace = Namespace { stream: 9, ..NAMESPACE };
    partition.0.ledger = LedgerState::Mismatch { namespace, incarnation: Incarnation::new(4), beside: None };
    partition
}

fn with_entry(mut partition: Partition, name: &str, kind: EntryKind) -> Partition {
    let name = Name::new(name.as_bytes()).expect("a name");
    partition.0.listing.unexpected.push(OtherEntry { name, kind });
    partition
}

const FOREIGN_SUPERBLOCK: SuperblockState = SuperblockState::Mismatch { slot: SuperblockSlot::B };
const BROKEN_SUPERBLOCK: SuperblockState =
    SuperblockState::Unreadable { slot: SuperblockSlot::A, length: Length::new(102) };

#[test]
fn evidence_of_another_partition_is_refused() {
    check(
        of_another(partition([segment(0, 3)])),
        "refuse identity-mismatch: the ledger belongs to partition 9/2/3, incarnation 4, and not to this life \
         of partition 1/2/3",
    );
    check(
        partition([segment(0, 3)]).superblock(FOREIGN_SUPERBLOCK),
        "refuse identity-mismatch: superblock slot superblock.b of partition 1/2/3 belongs to another cluster \
         or replica",
    );
}

#[test]
fn a_superblock_slot_that_does_not_verify_is_refused() {
    check(
        partition([segment(0, 3)]).superblock(BROKEN_SUPERBLOCK),
        "refuse superblock-unreadable: superblock slot superblock.a holds 102 bytes that do not verify",
    );
}

#[test]
fn a_log_that_is_no_segment_is_refused_by_its_name() {
    check(
        with_entry(partition([segment(0, 3)]), "17.log", EntryKind::File),
        "refuse unexpected-file: the entry 17.log ends in .log and is not named by the 20 digits of an offset \
         (1 such in all)",
    );
    let linked = with_entry(partition([]), "00000000000000000000.log", EntryKind::Other);
    check(
        with_entry(linked, "x.log", EntryKind::Directory),
        "refuse unexpected-file: the entry 00000000000000000000.log has the name of a file of the log and \
         is a link, a pipe or a device, which is not followed (2 such in all)",
    );
}

#[test]
fn a_segment_with_a_mark_and_without_a_log_is_missing() {
    check(
        with_ledger([segment(0, 3).marked(3)]).marked_elsewhere(3, 2),
        "refuse missing-segment: the ledger has segment 3 durable to byte 608, and its log is not there (1 \
         missing in all; the first log in the directory is that of segment 0)",
    );
    check(
        with_ledger([]).marked_elsewhere(0, 0).marked_elsewhere(3, 2),
        "refuse missing-segment: the ledger has segment 0 durable to byte 0, and its log is not there (2 \
         missing in all; no log is in the directory)",
    );
}

#[test]
fn a_chain_that_starts_above_the_floor_misses_its_first_segment() {
    let facts = with_ledger([segment(50, 3).marked(3)]).floor(20);
    check(
        facts.clone(),
        "refuse missing-segment: the ledger has the chain start at segment 20, and its log is not there (1 \
         missing in all; the first log in the directory is that of segment 50)",
    );
    check_rows(facts, "chain-above-floor");
    check(partition([segment(50, 3)]), "serve, next 53");
}

#[test]
fn a_segment_below_the_floor_is_not_judged() {
    let mut facts = with_ledger([segment(50, 3).marked(3)]).floor(50);
    facts.0.expired.push(SegmentStart::new(0));
    check(facts.clone(), "serve, next 53");
    check_rows(facts, "segment-expired end-at-or-above next-offset-meets");
}

#[test]
fn the_first_refused_segment_gives_the_reason() {
    let damaged = segment(3, 3).survived(608, 8);
    let lost = segment(10, 1).marked(2);
    check_rows(
        with_ledger([segment(0, 3).marked(3), damaged, lost]),
        "end-at-or-above damage-unknown-survivor end-below segment-refused",
    );
}

#[test]
fn segments_that_meet_are_served() {
    let facts = partition([segment(0, 3), segment(3, 2), segment(5, 0)]);
    check(facts.clone(), "serve, next 5");
    check_rows(facts, "end-unknown end-unknown end-unknown link-meets link-meets next-offset-meets");
}

#[test]
fn segments_that_overlap_are_refused() {
    let facts = partition([segment(0, 4), segment(3, 2)]);
    check(facts.clone(), "refuse overlap: segment 0 holds offsets up to 3, and segment 3 follows it");
    check_rows(facts, "end-unknown end-unknown link-overlap");
}

#[test]
fn an_empty_segment_before_another_is_refused() {
    check(
        partition([segment(0, 0), segment(3, 2)]),
        "refuse empty-non-tail-segment: segment 0 proves no batch in its 0 bytes, and segment 3 follows it",
    );
    check(
        partition([segment(0, 0).stopped(undecodable(), Residue::Noise, 77), segment(3, 2)]),
        "refuse empty-non-tail-segment: segment 0 proves no batch in its 77 bytes, and segment 3 follows it",
    );
}

/// Admission refuses such batches, and other servers may have written some (G11): they carry no offset.
#[test]
fn batches_without_a_message_do_not_explain_where_the_next_segment_starts() {
    let mut hollow = segment(0, 1);
    (hollow.0.proven.messages, hollow.0.proven.next_offset) = (0, crate::units::Offset::ZERO);
    check(
        partition([hollow, segment(3, 2)]),
        "refuse hole: offsets 0 to 2 lie between segment 0 and segment 3, and no record explains their absence",
    );
}

#[test]
fn an_empty_segment_that_was_sealed_empty_is_no_fault() {
    let facts = with_ledger([segment(0, 0).sealed(0, 3), segment(3, 2).marked(2)]);
    check(facts.clone(), "serve, next 5");
    check_rows(facts, "end-at-or-above end-at-or-above link-recorded-gap next-offset-meets");
}

#[test]
fn a_segment_that_was_sealed_empty_does_not_explain_a_larger_gap() {
    check(
        with_ledger([segment(0, 0).sealed(0, 3), segment(7, 2).marked(2)]),
        "refuse hole: offsets 0 to 6 lie between segment 0 and segment 7, and no record explains their absence",
    );
}

#[test]
fn a_partition_of_nothing_but_zeros_is_served_empty() {
    let zeros = segment(3, 0).stopped(undecodable(), Residue::Zeros, 4096);
    let facts = partition([segment(0, 0), zeros.clone(), segment(9, 0)]);
    check(facts.clone(), "serve, next 9, cut 3 at 0 saving 0");
    check_rows(
        facts,
        "end-unknown damage-unknown-zeros end-unknown link-all-empty link-all-empty next-offset-meets",
    );
    check_rows(
        with_ledger([segment(0, 0).marked(0), segment(9, 0).marked(0)]),
        "end-at-or-above end-at-or-above link-all-empty next-offset-meets",
    );
    let noise = segment(9, 0).stopped(undecodable(), Residue::Noise, 12);
    check_rows(
        partition([segment(0, 0), zeros, noise]),
        "end-unknown damage-unknown-zeros damage-unknown-noise link-empty-before",
    );
}

#[test]
fn a_hole_between_segments_is_refused() {
    let facts = partition([segment(0, 3), segment(7, 2)]);
    check(
        facts.clone(),
        "refuse hole: offsets 3 to 6 lie between segment 0 and segment 7, and no record explains their absence",
    );
    check_rows(facts, "end-unknown end-unknown link-hole");
}

#[test]
fn a_recorded_gap_is_no_hole_if_it_is_just_this_gap() {
    check(with_ledger([segment(0, 3).sealed(3, 7), segment(7, 2)]), "serve, next 9");
    check(with_ledger([segment(0, 3).marked(3), segment(7, 2)]).gap(3, 7), "serve, next 9");
    check(with_ledger([segment(0, 3).marked(3), segment(7, 2)]).gap(3, 5).gap(5, 7), "serve, next 9");
    check_rows(
        with_ledger([segment(0, 3).sealed(3, 6), segment(7, 2)]),
        "end-at-or-above end-unknown link-hole",
    );
    check_rows(
        with_ledger([segment(0, 3).marked(3), segment(7, 2)]).gap(3, 8),
        "end-at-or-above end-unknown link-hole",
    );
}

#[test]
fn a_loss_that_was_accepted_explains_an_empty_segment() {
    let emptied = segment(0, 0).stopped(bad_checksum(), Residue::Noise, BATCH).marked(0);
    check(with_ledger([emptied, segment(5, 2).marked(2)]).gap(0, 5), "serve, next 7, cut 0 at 0 saving 304");
}

#[test]
fn a_cut_in_front_of_another_segment_is_made_only_if_the_chain_still_meets() {
    let only_garbage = segment(0, 3).stopped(undecodable(), Residue::Noise, 50);
    check(partition([only_garbage, segment(3, 1)]), "serve, next 4, cut 0 at 912 saving 50");
    let torn = segment(0, 2).stopped(bad_checksum(), Residue::Noise, BATCH);
    check(
        partition([torn, segment(3, 1)]),
        "refuse hole: offsets 2 to 2 lie between segment 0 and segment 3, and no record explains their absence",
    );
}

#[test]
fn a_roll_that_was_cut_short_is_no_fault() {
    let facts = with_ledger([segment(0, 3).sealed(3, 3)]);
    check(facts.clone(), "serve, next 3");
    check_rows(facts, "end-at-or-above roll-cut-short next-offset-meets");
    // If the next segment's name was durable, its file is missed.
    check_rows(with_ledger([segment(0, 3).sealed(3, 3)]).marked_elsewhere(3, 0), "missing-segment");
}

/// Every fault at once; each step takes the one away that is named first.
#[test]
fn faults_are_named_in_the_order_of_the_table() {
    let unreadable = StopDetail::Unreadable { errno: Errno::IO, position: Position::ZERO };
    let broken = segment(9, 0).stopped(unreadable, Residue::None, 0);
    let chain = [segment(1, 0), segment(3, 2), segment(4, 1), segment(7, 1)];
    let bare = |segments: Vec<_>| {
        let facts = with_ledger(segments).floor(1).superblock(BROKEN_SUPERBLOCK);
        with_entry(facts, "x.log", EntryKind::File).marked_elsewhere(2, 1)
    };
    let mut with_loss = chain.to_vec();
    with_loss.push(segment(9, 1).marked(2));

    let mut all = of_another(bare([&chain[..], &[broken]].concat())).superblock(FOREIGN_SUPERBLOCK);
    check_rows(all.clone(), "unreadable partition-unavailable");
    all.0.segments.pop();
    check_rows(all.clone(), "ledger-mismatch");
    all = bare(with_loss.clone()).superblock(FOREIGN_SUPERBLOCK);
    check_rows(all.clone(), "superblock-mismatch");
    check_rows(bare(with_loss.clone()), "superblock-unreadable");
    check_rows(bare(with_loss.clone()).superblock(SuperblockState::None), "unexpected-file");
    let named = |segments: Vec<_>| with_ledger(segments).floor(0);
    check_rows(named(with_loss.clone()).marked_elsewhere(2, 1), "missing-segment");
    check_rows(named(with_loss.clone()), "chain-above-floor");
    let known = |segments: Vec<_>| with_ledger(segments).floor(1);
    let rows = "end-unknown end-unknown end-unknown end-unknown";
    check_rows(known(with_loss), &format!("{rows} end-below segment-refused"));
    check_rows(known(chain.to_vec()), &format!("{rows} link-overlap"));
    let [empty, first, _, last] = chain;
    check_rows(
        known(vec![empty, first.clone(), last.clone()]),
        "end-unknown end-unknown end-unknown link-empty-before",
    );
    check_rows(known(vec![first, last]).floor(3), "end-unknown end-unknown link-hole");
}
