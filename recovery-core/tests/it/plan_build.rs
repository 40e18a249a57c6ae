//! Verdict to plan: facts in, one line a step out.

use std::panic::catch_unwind;

use recovery_core::decide::Verdict;
use recovery_core::format::{LedgerKind, Mark};
use recovery_core::observe::{LedgerState, Unavailable};
use recovery_core::plan::{PlanOptions, Step, build};
use recovery_core::storage::{Call, Errno, StorageError};
use recovery_core::units::{Length, Offset, Position};

use crate::memory_storage::name;
use crate::plan_run::{SERVER, TOOL};
use crate::plan_world::{Segment, World};

/// The plan that a partition gets, one line a step.
fn plan(world: &World, options: PlanOptions) -> Vec<String> {
    let storage = world.storage();
    let facts = world.observe(&storage);
    let plan = build(&facts, &world.decide(&facts), options);
    plan.steps.iter().map(line).collect()
}

fn check(world: &World, options: PlanOptions, expected: &[&str]) {
    assert_eq!(plan(world, options), expected, "{world:?}");
}

fn line(step: &Step) -> String {
    let code = step.code();
    let file = step.file().map_or_else(String::new, |file| {
        let text = file.to_string();
        let short = text.trim_start_matches('0');
        format!(" {}{short}", if short.starts_with('.') { "0" } else { "" })
    });
    let numbers = match step {
        Step::Identify { position, length: Some(length), .. } => format!(" {position}+{length}"),
        Step::SaveResidue { position, length, .. } | Step::CheckZeros { position, length, .. } => {
            format!(" {position}+{length}")
        }
        Step::SaveIndex { length, .. } => format!(" 0+{length}"),
        Step::ReserveOffset { offset } => format!(" {offset}"),
        Step::CutLog { from, to, .. } => format!(" {from}->{to}"),
        Step::StageIndex { entries, sync, .. } => {
            format!(" {entries}{}", if *sync { " synced" } else { "" })
        }
        Step::RecordRecovered { mark } => format!(" {}@{}", mark.next_offset, mark.position),
        Step::RecordCleanStop { mark, next_offset } => format!(" {next_offset}@{}", mark.position),
        Step::StageRun { .. }
        | Step::InstallRun { .. }
        | Step::RecordSealed { .. }
        | Step::RecordFrontier { .. }
        | Step::Identify { length: None, .. }
        | Step::MakeFence
        | Step::WriteReason
        | Step::SyncFence
        | Step::SetAside { .. }
        | Step::InstallIndex { .. }
        | Step::SyncDirectory => String::new(),
    };
    format!("{code}{file}{numbers}")
}

fn world(segments: Vec<Segment>) -> World {
    World { segments, ..World::default() }
}

#[test]
fn a_whole_partition_gets_an_empty_plan() {
    check(&world(vec![Segment::whole(0, 9)]), SERVER, &[]);
    check(&world(vec![Segment::whole(0, 9)]), TOOL, &[]);
    check(&world(vec![]), TOOL, &[]);
    let with_ledger = World { has_ledger: true, ..world(vec![Segment::whole(0, 9)]) };
    check(&with_ledger, SERVER, &[]);
}

#[test]
fn a_refused_or_unavailable_partition_gets_an_empty_plan() {
    let damaged = World {
        others: vec![("x.staging", vec![1])],
        ..world(vec![Segment::whole(0, 9).with_residue(&[1, 2]).with_index(None)])
    };
    let storage = damaged.storage();
    let facts = damaged.observe(&storage);
    let error = StorageError { call: Call::Read, file: name("ledger"), errno: Errno::IO };
    for cause in [Unavailable::Locked, Unavailable::Io(error)] {
        let verdict = Verdict::unavailable(cause, &facts.segments);
        assert_eq!(build(&facts, &verdict, TOOL).steps, []);
    }
}

#[test]
fn everything_is_saved_before_anything_is_cut_and_cut_before_anything_is_installed() {
    let damaged = World {
        has_ledger: true,
        survivors: Some(40),
        others: vec![("x.staging", vec![1]), ("00000000000000000077.index", vec![2])],
        segments: vec![
            Segment::whole(0, 9).with_residue(&[1, 2]).with_index(None),
            Segment::whole(9, 3).with_residue(&[0; 5]).with_index(Some(&[7; 24])),
        ],
    };
    let expected = [
        "identify 77.index",
        "identify x.staging",
        "make-fence",
        "save-residue 0.log 9+2",
        "check-zeros 9.log 3+5",
        "save-index 9.index 0+24",
        "write-reason",
        "sync-fence",
        "reserve-offset ledger 40",
        "cut-log 0.log 11->9",
        "cut-log 9.log 8->3",
        "set-aside 77.index",
        "set-aside x.staging",
        "stage-index 0.index.staging 2",
        "stage-index 9.index.staging 2",
        "install-index 0.index",
        "install-index 9.index",
        "sync-fence",
        "sync-directory",
        "record-recovered ledger 12@3",
    ];
    check(&damaged, SERVER, &expected);
}

#[test]
fn zeros_are_checked_and_cut_without_a_fence() {
    check(
        &world(vec![Segment::whole(0, 9).with_residue(&[0; 4])]),
        SERVER,
        &["check-zeros 0.log 9+4", "cut-log 0.log 13->9"],
    );
}

#[test]
fn a_residue_that_was_not_read_to_its_end_is_identified_first() {
    let mut segment = Segment::whole(0, 9).with_residue(&[1, 2, 3]);
    segment.is_read_whole = false;
    check(
        &world(vec![segment]),
        SERVER,
        &[
            "identify 0.log 9+3",
            "make-fence",
            "save-residue 0.log 9+3",
            "write-reason",
            "sync-fence",
            "cut-log 0.log 12->9",
        ],
    );
}

#[test]
fn scratch_is_set_aside_even_if_nothing_else_is_to_be_done() {
    let scratch = World { others: vec![("x.staging", vec![1])], ..world(vec![Segment::whole(0, 9)]) };
    check(
        &scratch,
        SERVER,
        &[
            "identify x.staging",
            "make-fence",
            "write-reason",
            "sync-fence",
            "set-aside x.staging",
            "sync-fence",
            "sync-directory",
        ],
    );
}

#[test]
fn an_index_is_saved_unless_its_successor_holds_all_of_it() {
    let whole = Segment::whole(0, 9);
    let new = whole.new_index();
    let install = ["stage-index 0.index.staging 2 synced", "install-index 0.index", "sync-directory"];
    for held in [None, Some(&new[..0]), Some(&new[..30])] {
        check(&world(vec![whole.clone().with_index(held)]), SERVER, &install);
    }
    let saved = ["make-fence", "save-index 0.index 0+24", "write-reason", "sync-fence"];
    let all: Vec<_> = saved.into_iter().chain(install).collect();
    check(&world(vec![whole.with_index(Some(&[0; 24]))]), SERVER, &all);
}

#[test]
fn an_index_need_not_be_synced_where_a_ledger_is_and_the_tool_does_it_all_the_same() {
    let world = World { has_ledger: true, ..world(vec![Segment::whole(0, 9).with_index(None)]) };
    assert_eq!(plan(&world, SERVER)[0], "stage-index 0.index.staging 2");
    assert_eq!(plan(&world, TOOL)[0], "stage-index 0.index.staging 2 synced");
}

#[test]
fn a_clean_stop_comes_last_and_once() {
    let whole = World { has_ledger: true, ..world(vec![Segment::whole(0, 9)]) };
    check(&whole, TOOL, &["record-clean-stop ledger 9@9"]);
    let torn = World { has_ledger: true, ..world(vec![Segment::whole(0, 9).with_residue(&[0])]) };
    let steps = plan(&torn, TOOL);
    assert_eq!(steps[steps.len() - 2..], ["record-recovered ledger 9@9", "record-clean-stop ledger 9@9"]);

    let storage = whole.storage();
    let mut facts = whole.observe(&storage);
    let verdict = whole.decide(&facts);
    let last = &facts.segments[0];
    let mark = Mark {
        segment: last.start,
        position: last.proven.end,
        next_offset: last.proven.next_offset,
        chain_hash: last.proven.chain_hash.expect("the world has a ledger"),
    };
    let mut ledger = facts.ledger.known().expect("the world has a ledger").clone();
    ledger.newest.kind = LedgerKind::CleanStop { mark };
    ledger.newest.reserved_offset = mark.next_offset;
    facts.ledger = LedgerState::Known(ledger.clone());
    assert_eq!(build(&facts, &verdict, TOOL).steps, [], "it was stopped just there");

    // Elsewhere, or with more offsets reserved, is another stop.
    let again = [Step::RecordCleanStop { mark, next_offset: mark.next_offset }];
    let mut reserving = ledger.clone();
    reserving.newest.reserved_offset = Offset::new(10);
    facts.ledger = LedgerState::Known(reserving);
    assert_eq!(build(&facts, &verdict, TOOL).steps, again);
    ledger.newest.kind = LedgerKind::CleanStop { mark: Mark { position: Position::new(8), ..mark } };
    facts.ledger = LedgerState::Known(ledger);
    assert_eq!(build(&facts, &verdict, TOOL).steps, again);
}

#[test]
fn what_lies_under_the_ledgers_name_is_set_aside_where_a_ledger_will_be_made() {
    let aside = [
        "identify ledger",
        "make-fence",
        "write-reason",
        "sync-fence",
        "set-aside ledger",
        "sync-fence",
        "sync-directory",
    ];
    let whole = world(vec![Segment::whole(0, 9)]);
    let check = |length: Option<u64>, makes_ledger, expected: &[&str]| {
        let mut facts = whole.observe(&whole.storage());
        facts.ledger = LedgerState::None { length: length.map(Length::new) };
        let plan = build(&facts, &whole.decide(&facts), PlanOptions { makes_ledger, ..SERVER });
        assert_eq!(plan.steps.iter().map(line).collect::<Vec<_>>(), expected, "{length:?}");
    };
    check(Some(1), true, &aside);
    check(Some(1), false, &[]);
    // An empty file is none.
    check(Some(0), true, &[]);
    check(None, true, &[]);
}

/// What is judged and what is done are about the same segments, or nothing is done.
#[test]
fn a_verdict_on_other_segments_is_no_plan() {
    let whole = world(vec![Segment::whole(0, 9)]);
    let facts = whole.observe(&whole.storage());
    let other = world(vec![Segment::whole(9, 9)]);
    let verdict = other.decide(&other.observe(&other.storage()));
    let complaint = catch_unwind(|| build(&facts, &verdict, SERVER)).expect_err("nothing is planned");
    assert_eq!(complaint.downcast_ref::<&str>(), Some(&"facts and verdict list the same segments"));
}

#[test]
fn a_reserved_offset_is_not_raised_to_what_it_is() {
    let damaged = World {
        has_ledger: true,
        survivors: Some(0),
        ..world(vec![Segment::whole(0, 9).with_residue(&[1])])
    };
    assert!(!plan(&damaged, SERVER).iter().any(|step| step.starts_with("reserve-offset")));
}

#[test]
fn only_a_change_of_files_counts_as_a_repair() {
    for (damage, repairs) in [
        (world(vec![Segment::whole(0, 9)]), false),
        (World { has_ledger: true, ..world(vec![Segment::whole(0, 9)]) }, false),
        (world(vec![Segment::whole(0, 9).with_residue(&[0])]), true),
        (world(vec![Segment::whole(0, 9).with_index(None)]), true),
        (World { others: vec![("x.staging", vec![])], ..world(vec![]) }, true),
    ] {
        let storage = damage.storage();
        let facts = damage.observe(&storage);
        assert_eq!(build(&facts, &damage.decide(&facts), TOOL).repairs(), repairs, "{damage:?}");
    }
}
