//! The parts of plans that nothing outside shows: how large slices are, and what steps come to.

use std::panic::catch_unwind;

use super::copies::Copies;
use super::range::slice_bytes;
use super::{Plan, Step};
use crate::format::{ChainHash, FileName, Mark};
use crate::units::{Length, Offset, Position, SegmentStart};

#[track_caller]
fn check_slice(limit: u64, charges: u64, scratch_bytes: usize, expected: usize) {
    assert_eq!(slice_bytes(limit, charges, scratch_bytes), expected);
}

#[test]
fn a_slice_takes_whole_pages_of_what_the_limit_and_the_memory_allow() {
    check_slice(1 << 20, 1, 64 * 1024, 64 * 1024);
    check_slice(10_000, 1, 64 * 1024, 8192);
    check_slice(1 << 20, 1, 10_000, 8192);
    check_slice(12_287, 1, 64 * 1024, 8192);
    check_slice(4096, 1, 64 * 1024, 4096);
}

#[test]
fn a_slice_is_charged_as_often_as_its_bytes_are_moved() {
    check_slice(10_000, 2, 64 * 1024, 4096);
    check_slice(30_000, 3, 64 * 1024, 8192);
}

#[test]
fn a_slice_below_a_page_takes_what_there_is_and_never_nothing() {
    check_slice(4095, 1, 64 * 1024, 4095);
    check_slice(1000, 3, 64 * 1024, 333);
    check_slice(1 << 20, 1, 700, 700);
    check_slice(2, 3, 64 * 1024, 1);
    check_slice(0, 1, 64 * 1024, 1);
}

#[test]
fn no_plan_sets_a_file_aside_twice() {
    let steps = [Step::SetAside { file: FileName::ledger() }; 2];
    let complaint = catch_unwind(|| Copies::of(&steps)).expect_err("one of the two would be lost");
    assert_eq!(complaint.downcast_ref::<&str>(), Some(&"a plan sets each file aside once"));
}

/// What a plan of one step is: whether it is nothing, carries batches over, and repairs.
#[track_caller]
fn check_plan(steps: Vec<Step>, expected: [bool; 3]) {
    let plan = Plan { steps };
    assert_eq!([plan.is_empty(), plan.carries(), plan.repairs()], expected, "{:?}", plan.steps);
}

#[test]
fn a_plan_repairs_if_a_log_an_index_or_a_name_changes() {
    let segment = SegmentStart::new(5);
    let (position, length) = (Position::new(9), Length::new(4));
    let mark = Mark { segment, position, next_offset: Offset::new(8), chain_hash: ChainHash::default() };
    check_plan(vec![], [true, false, false]);
    for step in [
        Step::InstallRun { segment },
        Step::RecordSealed { mark, next_start: segment },
        Step::RecordFrontier { mark },
    ] {
        check_plan(vec![step], [false, true, true]);
    }
    for step in [
        Step::CutLog { segment, from: length, to: position },
        Step::SetAside { file: FileName::ledger() },
        Step::InstallIndex { segment },
    ] {
        check_plan(vec![step], [false, false, true]);
    }
    for step in [
        Step::StageRun { segment, prefix: Length::ZERO, position, length, mark },
        Step::CheckZeros { segment, position, length },
        Step::SyncDirectory,
        Step::RecordRecovered { mark },
        Step::RecordCleanStop { mark, next_offset: mark.next_offset },
    ] {
        check_plan(vec![step], [false, false, false]);
    }
}

#[test]
fn a_step_names_the_file_that_it_reads_or_changes() {
    let (segment, new) = (SegmentStart::new(5), SegmentStart::new(7));
    let (position, length) = (Position::new(9), Length::new(4));
    let mark = Mark { segment: new, position, next_offset: Offset::new(8), chain_hash: ChainHash::default() };
    let staged = Step::StageRun { segment, prefix: Length::ZERO, position, length, mark };
    assert_eq!(staged.file(), Some(FileName::log_staging(new)));
    assert_eq!(Step::InstallRun { segment }.file(), Some(FileName::log(segment)));
    assert_eq!(Step::RecordFrontier { mark }.file(), Some(FileName::ledger()));
    assert_eq!(Step::SyncFence.file(), None);
}
