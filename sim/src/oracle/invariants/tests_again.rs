//! The checks of clients' calls, of second looks and of what is on the medium, each on a hand-made
//! violation, and on the same history made right.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::ops::Range;

use recovery_core::decide::{Action, Disposition, Reason, SegmentVerdict, Verdict};
use recovery_core::format::FileName;
use recovery_core::observe::{Expectation, PartitionFacts};
use recovery_core::plan::Plan;
use recovery_core::storage::{Call, Errno, Name};
use recovery_core::units::{Length, Offset, Position, SegmentStart};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    FailedSync, check_adopted, check_after_failed_sync, check_call_of_failed_sync, check_indexes,
    check_interrupted, check_ledger_behind_failed_sync, check_more_damage, check_not_adopted,
    check_own_offsets, check_promise_durable, check_same_verdict, check_success, check_work, failed_sync,
};
use crate::disk::{Event, Exposed};
use crate::oracle::damage::{Damages, Place};
use crate::oracle::served_log::Lying;
use crate::oracle::specimen::{Directory, NAMESPACE, ONE, batch, batches, entries};
use crate::oracle::truth::{Life, Truth};
use crate::oracle::{Check, Content, Fence, FileImage, Image, ImageEntry, PartitionImage, Violation};

const SEGMENT: SegmentStart = SegmentStart::new(0);

#[track_caller]
fn check(violations: impl IntoIterator<Item = Violation>, expected: &[&str]) {
    let found: Vec<String> = violations.into_iter().map(|violation| violation.to_string()).collect();
    assert_eq!(found, expected);
}

fn partition(directory: Directory) -> PartitionImage {
    PartitionImage { directory: directory.image, fences: Vec::new() }
}

fn verdict(disposition: Disposition, next: Option<u64>, action: Action) -> Verdict {
    let segments = vec![SegmentVerdict { start: SEGMENT, action }];
    Verdict { disposition, next_offset: next.map(Offset::new), reserve: None, segments }
}

fn served(next: u64) -> Verdict {
    verdict(Disposition::Serve, Some(next), Action::Keep)
}

fn refused() -> Verdict {
    let overlap =
        Reason::Overlap { segment: SEGMENT, last_offset: Offset::new(2), next_segment: SegmentStart::new(1) };
    verdict(Disposition::Refuse(overlap), None, Action::Keep)
}

/// Batches of one message each, from offset 0 on, as they lie one behind the other.
fn lying(log: &[u8]) -> Vec<Lying<'_>> {
    let chunks = log.chunks(ONE).zip(0..);
    chunks
        .map(|(bytes, at)| Lying {
            segment: SEGMENT,
            position: at * ONE as u64,
            base: Offset::new(at),
            next: Offset::new(at + 1),
            bytes,
        })
        .collect()
}

/// Three batches, the first two acknowledged and promised.
fn truth() -> Truth {
    let mut truth = Truth::default();
    truth.reset(Offset::ZERO);
    for at in 0..3 {
        let offsets = (Offset::new(at), Offset::new(at + 1));
        truth.append(None, offsets, (SEGMENT, at * ONE as u64), &batch(at, 1), Life::Buffered);
    }
    truth.acknowledge(Offset::new(2));
    truth.promise(Offset::new(2));
    truth
}

fn append(truth: &mut Truth, base: u64) -> usize {
    let offsets = (Offset::new(base), Offset::new(base + 1));
    truth.append(None, offsets, (SegmentStart::new(9), 0), &batch(base, 1), Life::Buffered);
    truth.writes().len() - 1
}

#[test]
fn what_is_not_served_answers_no_client_and_is_handed_to_no_writer() {
    check(check_success(true, true), &[]);
    check(check_success(false, false), &[]);
    check(
        check_success(false, true),
        &["I03: an answer of a partition that is not served should be an error and is success"],
    );
    let facts = PartitionFacts::of_nothing(Expectation::of(NAMESPACE));
    check(check_not_adopted(&facts, &refused(), &Plan::default()), &[]);
}

#[test]
fn an_offset_that_is_held_is_given_to_nobody_else() {
    let mut right = truth();
    let newest = append(&mut right, 3);
    check(check_own_offsets(&right, newest), &[]);
    let mut wrong = truth();
    let newest = append(&mut wrong, 1);
    check(check_own_offsets(&wrong, newest), &["I08: the first offset of a new batch should be 2 and is 1"]);
}

#[test]
fn an_offset_of_a_survivor_in_a_fence_is_given_to_nobody_else() {
    // The first batch is damaged; the second one is whole behind it, and is cut with it.
    let mut log = batches(0, 2);
    log[300] ^= 1;
    let before = partition(Directory::new().log(0, log)).directory;
    let cut = |offset: u64| {
        let mut truth = truth();
        truth.reconcile(&[], Some(&before));
        let newest = append(&mut truth, offset);
        check_own_offsets(&truth, newest)
    };
    check(cut(2), &[]);
    check(cut(1), &["I08: the first offset of a new batch should be 2 and is 1"]);
    check(cut(0), &[]);
    let mut forgetful = truth();
    forgetful.reconcile(&[], Some(&before));
    forgetful.damages.add(Place::File(FileName::ledger()));
    let newest = append(&mut forgetful, 1);
    check(check_own_offsets(&forgetful, newest), &[]);
}

#[test]
fn a_promise_holds_in_every_crash_state() {
    let durable = |_: &Name, _: Range<u64>| Ok(());
    let exposed = |_: &Name, range: Range<u64>| {
        if range.end > ONE as u64 {
            Err(Exposed::Length { length: ONE as u64, end: range.end })
        } else {
            Ok(())
        }
    };
    check(check_promise_durable(&truth(), Offset::ZERO, durable), &[]);
    check(
        check_promise_durable(&truth(), Offset::ZERO, exposed),
        &["I14: segment 0: bytes 356 to 712: a batch at its acknowledgement should be whole and is shorter"],
    );
    check(check_promise_durable(&truth(), Offset::new(2), exposed), &[]);
    let mut lied_to = truth();
    lied_to.damages.add(Place::Anywhere);
    check(check_promise_durable(&lied_to, Offset::ZERO, exposed), &[]);
}

fn call(call: Call, errno: Option<Errno>, object: u32) -> Event {
    Event { call, errno, object, position: 128, length: 128 }
}

#[test]
fn behind_a_failed_sync_nothing_is_acknowledged_and_no_mark_written() {
    let (log, ledger, staging) = (1, 2, 3);
    let covers = |object| object == log || object == ledger;
    let failing = |object| [call(Call::Write, None, ledger), call(Call::Sync, Some(Errno::IO), object)];
    assert_eq!(failed_sync(&failing(log), covers), Some(1));
    assert_eq!(failed_sync(&failing(staging), covers), None);
    let interrupted = [call(Call::Sync, Some(Errno::INTERRUPTED), log)];
    assert_eq!(failed_sync(&interrupted, covers), None);

    check(check_call_of_failed_sync(false), &[]);
    check(
        check_call_of_failed_sync(true),
        &["I15: the answer to a call whose sync failed should be an error and is success"],
    );
    let mut retried = truth();
    let failed = FailedSync::now(&retried);
    check(check_after_failed_sync(&retried, failed), &[]);
    retried.acknowledge(Offset::new(3));
    check(
        check_after_failed_sync(&retried, failed),
        &["I15: offsets acknowledged behind a failed sync should be 2 and is 3"],
    );

    let cut_back = [call(Call::SetLength, None, log), call(Call::Write, None, log)];
    check(check_ledger_behind_failed_sync(&cut_back, ledger), &[]);
    check(
        check_ledger_behind_failed_sync(&[call(Call::Write, None, ledger)], ledger),
        &["I15: bytes 128 to 256: bytes written to the ledger behind a failed sync should be 0 and is 128"],
    );
}

#[test]
fn an_index_names_batches_that_lie_in_its_log() {
    let log = batches(0, 3);
    let with = |index: Vec<u8>| Directory::new().log(0, log.clone()).index(0, index).image;
    check(check_indexes(&with(entries(0, 3)), &lying(&log)), &[]);
    check(check_indexes(&with(entries(0, 1)), &lying(&log)), &[]);
    let wrong = |index: Vec<u8>, word: &str| {
        let text =
            format!("I16: segment 0: 00000000000000000000.index: an index should be good and is {word}");
        check(check_indexes(&with(index), &lying(&log)), &[&text]);
    };
    wrong(entries(0, 3)[24..].to_vec(), "of other batches");
    wrong(entries(0, 4), "of other batches");
    wrong(entries(0, 2)[..40].to_vec(), "torn");
    wrong(Vec::new(), "empty");
    let mut late = entries(0, 2);
    late[8] ^= 1;
    wrong(late, "of other batches");
    check(
        check_indexes(&Directory::new().log(0, log.clone()).image, &lying(&log)),
        &["I16: segment 0: 00000000000000000000.index: an index should be good and is absent"],
    );
}

#[test]
fn what_was_adopted_is_on_the_medium() {
    let image = partition(Directory::new().log(0, batches(0, 2)));
    let adopted = |damages: &Damages, lacks: Result<(), Exposed>| {
        check_adopted(&image, damages, false, |_, _, _| lacks)
    };
    let lacks = Err(Exposed::Bytes { position: 0 });
    check(adopted(&Damages::default(), Ok(())), &[]);
    let text = "I11: 00000000000000000000.log: bytes 0 to 712: after a power loss should be whole and is of other bytes";
    check(adopted(&Damages::default(), lacks), &[text]);
    let mut rotten = Damages::default();
    rotten.add(Place::Bytes { file: FileName::log(SEGMENT), range: 3..4 });
    check(adopted(&rotten, lacks), &[]);
}

/// Two whole batches and 40 bytes of noise, cut and set aside under the name of where they lay.
fn cut_and_saved() -> PartitionImage {
    let mut image = partition(Directory::new().log(0, batches(0, 2)));
    let text = format!("00000000000000000000.log.712-40.{:016x}", xxh3_64(&[7; 40]));
    let content = Content::File(FileImage::readable(vec![7; 40]));
    let entries = vec![ImageEntry { name: Name::new(text.as_bytes()).unwrap(), content }];
    let fence = Image { entries, ..Image::default() };
    image.fences.push(Fence { name: Name::new(b"3.fenced.0").unwrap(), image: fence });
    image
}

#[test]
fn a_copy_that_was_set_aside_is_on_the_medium_before_the_cut() {
    let unsynced = |fence: Option<&Name>, _: &Name, _: Range<u64>| match fence {
        Some(_) => Err(Exposed::Absent),
        None => Ok(()),
    };
    let copies = |cuts| check_adopted(&cut_and_saved(), &Damages::default(), cuts, unsynced);
    check(copies(false), &[]);
    let violation = copies(true).unwrap();
    assert_eq!((violation.check, violation.actual), (Check::I11, crate::oracle::Value::Code("absent")));
}

#[test]
fn a_start_that_is_cut_short_ends_like_one_that_is_not() {
    let cutting =
        verdict(Disposition::Serve, Some(2), Action::Cut { at: Position::new(712), save: Length::new(40) });
    let image = cut_and_saved();
    let ends =
        |verdict: &Verdict, again: &PartitionImage| check_interrupted((&cutting, &image), (verdict, again));
    check(ends(&served(2), &image), &[]);
    check(
        ends(&refused(), &image),
        &["I10: the verdict behind a crash in recovery should be serve and is overlap"],
    );
    check(
        ends(&served(3), &image),
        &["I10: the next offset behind a crash in recovery should be 2 and is 3"],
    );
    let unsaved = PartitionImage { fences: Vec::new(), ..cut_and_saved() };
    check(
        ends(&served(2), &unsaved),
        &["I10: copies in fences behind a crash in recovery should be 1 and is 0"],
    );
    let uncut =
        PartitionImage { fences: image.fences.clone(), ..partition(Directory::new().log(0, batches(0, 3))) };
    check(
        ends(&served(2), &uncut),
        &["I10: 00000000000000000000.log: a log behind a crash in recovery should be 712 and is 1068"],
    );
}

#[test]
fn a_verdict_does_not_depend_on_the_guise_of_the_bytes() {
    let same = |other: &Verdict, but_for_indexes| {
        check_same_verdict(Check::I18, "the verdict", (&served(2), other), but_for_indexes)
    };
    check(same(&served(2), false), &[]);
    check(same(&refused(), false), &["I18: the verdict should be serve and is overlap"]);
    check(same(&served(3), false), &["I18: the verdict should be 2 and is 3"]);
    let rebuilding = verdict(Disposition::Serve, Some(2), Action::RebuildIndex);
    check(same(&rebuilding, true), &[]);
    check(same(&rebuilding, false), &["I18: segment 0: the verdict should be keep and is rebuild-index"]);
}

#[test]
fn more_damage_serves_no_more() {
    let log = batches(0, 3);
    let less = Directory::new().log(0, log[..2 * ONE].to_vec()).image;
    let more = |before: &Verdict, after: &Verdict, count: usize| {
        check_more_damage((before, &less), after, &lying(&log[..count * ONE]))
    };
    check(more(&served(2), &served(1), 1), &[]);
    check(more(&served(2), &refused(), 0), &[]);
    check(
        more(&served(2), &served(3), 3),
        &["I22: segment 0: bytes 712 to 1068: a batch with more damage should be not served and is served"],
    );
    check(
        more(&refused(), &served(2), 2),
        &["I22: the verdict with more damage should be overlap and is serve"],
    );
}

#[test]
fn work_is_linear_in_what_there_is() {
    let image = partition(Directory::new().log(0, batches(0, 2)));
    let facts = PartitionFacts::of_nothing(Expectation::of(NAMESPACE));
    let work = |bytes_read: u64| check_work(&image, &facts, bytes_read, (65_536, 4096));
    check(work(16 * 712 + 65_536), &[]);
    check(work(16 * 712 + 65_537), &["I17: bytes read should be 76928 and is 76929"]);
    let mut slow = facts.clone();
    slow.work.longest_step_bytes = 65_536 + 4 * 4096 + 1;
    check(
        check_work(&image, &slow, 0, (65_536, 4096)),
        &["I17: bytes of the longest step should be 81920 and is 81921"],
    );
}
