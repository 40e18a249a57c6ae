//! What a start served, and why not more: I05, I06, I07, I13, I20, and what lies behind one wrong read.
//!
//! Answers to clients that read are judged by the same names, so they are here too.

use recovery_core::decide::{Action, Disposition};
use recovery_core::format::{ChainHash, LedgerKind, LedgerRecord, Mark, stamp};
use recovery_core::observe::{SegmentFacts, StopDetail, Unavailable};
use recovery_core::storage::{Call, Errno, StorageError};
use recovery_core::units::{Durability, Incarnation, Length, Offset, PartitionId, Position, SegmentStart};

use super::judge;
use super::making::{
    NAMESPACE, ONE, PROVEN, SEGMENT, Start, batch, batch_at, batches, cut, cutting, facts, file, log,
    partition, refused, served, truth, verdict,
};
use crate::oracle::answer::{Answer, AnswerView, Answered};
use crate::oracle::damage::Place;
use crate::oracle::invariants::{
    check_answer, check_ends, check_not_skipped, check_own_error, check_promises, check_served, steps_max,
};
use crate::oracle::judge::judge as judge_start;
use crate::oracle::truth::{Life, Truth};
use crate::oracle::{Check, Violation};
use crate::world::meter::Meter;

fn answered(batch: &[u8], base: u64) -> Answered<'_> {
    Answered { base: Offset::new(base), next: Offset::new(base + 1), bytes: batch }
}

/// What is said of an answer from offset `from` on.
fn told(from: u64, answer: &Answer<'_>, truth: &Truth) -> Option<Violation> {
    let from = Offset::new(from);
    check_answer(&AnswerView {
        partition_id: NAMESPACE.partition_id(),
        from,
        is_calm: true,
        sees_truth: true,
        has_sync_failed: false,
        answer,
        truth,
    })
}

/// Whole batches, of which a log holds `count`, behind a start.
fn kept(before: u64, after: u64) -> Start {
    Start::of(&batches(before), &batches(after), after)
}

/// The first batch is damaged, and nothing is served.
fn damaged_at_the_start(is_marked: bool) -> Start {
    let mut bytes = batches(2);
    bytes[300] ^= 1;
    let mut start = Start::of(&bytes, &[], 0);
    start.truth.damages.add(Place::Bytes { file: log(), range: 300..301 });
    if is_marked {
        start.truth.mark(Offset::new(2));
    }
    start
}

pub(super) fn promises() -> Result<String, String> {
    let check = |start: Start| start.look(check_promises);
    // Damage behind a batch is no excuse for it.
    let mut excused_too_soon = kept(3, 1);
    excused_too_soon.truth.damages.add(Place::Bytes { file: log(), range: PROVEN as u64..PROVEN as u64 + 9 });
    let mut bytes = batches(3);
    bytes[ONE + 5] ^= 1;
    let mut excused = Start::of(&bytes, &batches(1), 1);
    excused.truth.damages.add(Place::Bytes { file: log(), range: ONE as u64..ONE as u64 + 9 });
    let damaged = || Answer::Damaged { first: Offset::new(1), last: Offset::new(1) };
    let mut hit = truth();
    hit.damages.add(Place::Anywhere);
    judge(
        Check::I05,
        [
            check(kept(2, 1)),
            check(kept(1, 1)),
            check(excused_too_soon),
            check(damaged_at_the_start(true)),
            told(1, &damaged(), &truth()),
        ],
        [
            check(kept(2, 2)),
            check(kept(3, 2)),
            check(excused),
            check(damaged_at_the_start(false)),
            told(1, &damaged(), &hit),
        ],
    )
}

/// A mark behind `count` batches.
fn mark(count: u64) -> Mark {
    Mark {
        segment: SEGMENT,
        position: Position::new(count * ONE as u64),
        next_offset: Offset::new(count),
        chain_hash: ChainHash::start(NAMESPACE, Incarnation::new(1), SEGMENT),
    }
}

/// The record of a ledger that says so.
fn frontier(mark: Mark) -> LedgerRecord {
    LedgerRecord {
        kind: LedgerKind::Frontier { mark },
        durability: Durability::Synced,
        namespace: NAMESPACE,
        incarnation: Incarnation::new(1),
        epoch: 1,
        slot: 0,
        generation: 0,
        floor: SEGMENT,
        reserved_offset: Offset::ZERO,
    }
}

/// A whole batch of another partition.
fn foreign(offset: u64) -> Vec<u8> {
    let mut bytes = batch(offset);
    stamp(&mut bytes, PartitionId::new(4), Offset::new(offset), 1_000).expect("it is whole");
    bytes
}

pub(super) fn strangers() -> Result<String, String> {
    let mut other = batch(1);
    other[200] ^= 1;
    let like_it = batch_at(1, 2_000);
    // The second batch is another, and a mark covers the first `marked`, whatever the core believes.
    let swapped = |second: &[u8], marked: u64| {
        let bytes = [&batch(0)[..], second].concat();
        let mut start = Start::of(&bytes, &bytes, 2);
        start.before.directory.entries.push(file("ledger", &frontier(mark(marked)).encode()));
        start.look(check_served)
    };
    let behind = |rest: &[u8]| {
        let bytes = [&batches(2)[..], rest].concat();
        Start::of(&bytes, &bytes, 2).look(check_served)
    };
    // A start went on without both batches, and they lie there again; it saw that they were gone, or may not have.
    let back = |sees_truth: bool| {
        let bytes = batches(2);
        let mut start = Start::of(&bytes, &bytes, 2);
        start.before.directory.entries.push(file("ledger", &frontier(mark(2)).encode()));
        start.truth.reconcile(&[], None, sees_truth);
        start.look(check_served)
    };
    let (first, second, third) = (batch(0), batch(1), batch(2));
    let both = Answer::Batches(vec![answered(&first, 0), answered(&second, 1)]);
    // A batch of the same offset that verifies: nobody who reads damaged bytes can tell it apart.
    let mut hit = truth();
    hit.damages.add(Place::Anywhere);
    judge(
        Check::I06,
        [
            swapped(&like_it, 2),
            swapped(&other, 1),
            swapped(&foreign(1), 1),
            swapped(&batch_at(2, 2_000), 1),
            behind(&[7; 40]),
            back(true),
            told(1, &Answer::Batches(vec![answered(&other, 1)]), &truth()),
            told(1, &Answer::Batches(vec![answered(&other, 1)]), &hit),
            told(1, &Answer::Batches(vec![answered(&like_it, 1)]), &truth()),
            told(2, &Answer::Batches(vec![answered(&third, 2)]), &truth()),
        ],
        [
            swapped(&like_it, 1),
            behind(&[]),
            back(false),
            told(0, &both, &truth()),
            told(1, &Answer::Batches(vec![answered(&like_it, 1)]), &hit),
        ],
    )
}

pub(super) fn gaps() -> Result<String, String> {
    // A segment behind a gap that the core has told of, and that no record explains, or one does.
    let recorded = |next_start: Option<u64>| {
        let (first, second) = (batch(0), batch(2));
        let mut start = Start::of(&first, &first, 1);
        let behind = SegmentStart::new(2);
        let log = file("00000000000000000002.log", &second);
        start.after.directory.entries.push(log);
        start.facts.segments.push(SegmentFacts { start: behind, ..facts(&second, 1).segments[0].clone() });
        start.truth.append(None, (Offset::new(2), Offset::new(3)), (behind, 0), &second, Life::Acknowledged);
        let seal = next_start.map(|next_start| LedgerRecord {
            kind: LedgerKind::Sealed { mark: mark(1), next_start: SegmentStart::new(next_start) },
            ..frontier(mark(1))
        });
        start.before.directory.entries.extend(seal.map(|seal| file("ledger", &seal.encode())));
        start.look(check_served)
    };
    let of = |offsets: &[u64]| {
        let bytes: Vec<u8> = offsets.iter().copied().flat_map(batch).collect();
        Start::of(&bytes, &bytes, offsets.len() as u64).look(check_served)
    };
    let (first, second) = (batch(0), batch(1));
    let both = Answer::Batches(vec![answered(&first, 0), answered(&second, 1)]);
    // The third batch was given its offset, and no call began to write it, or one did.
    let goes_on_behind = |was_tried: bool| {
        let mut start = Start { verdict: served(3), ..kept(2, 2) };
        if was_tried {
            start.truth.try_flush();
        }
        start.look(check_not_skipped)
    };
    judge(
        Check::I07,
        [
            goes_on_behind(false),
            of(&[0, 2]),
            of(&[0, 1, 1]),
            recorded(None),
            recorded(Some(3)),
            told(0, &Answer::Batches(vec![answered(&second, 1)]), &truth()),
            told(0, &Answer::Batches(Vec::new()), &truth()),
        ],
        [
            goes_on_behind(true),
            of(&[0, 1, 2]),
            recorded(Some(2)),
            told(0, &both, &truth()),
            told(2, &Answer::Batches(Vec::new()), &truth()),
        ],
    )
}

pub(super) fn clean_crash() -> Result<String, String> {
    let refusing = |place: Option<Place>| {
        let mut start = Start { verdict: refused(), ..kept(2, 2) };
        if let Some(place) = place {
            start.truth.damages.add(place);
        }
        start.look(check_promises)
    };
    let index = Place::File(recovery_core::format::FileName::index(SEGMENT));
    let damaged_log = Place::Bytes { file: log(), range: 0..1 };
    // An index is derived: no damage to it explains a refusal.
    judge(Check::I13, [refusing(None), refusing(Some(index))], [refusing(Some(damaged_log))])
}

pub(super) fn errors() -> Result<String, String> {
    let unavailable = |sees_truth| {
        let disposition = Disposition::Unavailable(Unavailable::Locked);
        let verdict = verdict(disposition, None, Action::Keep);
        Start { verdict, sees_truth, ..kept(2, 2) }.look(check_promises)
    };
    let first = batch(0);
    let answer = Answer::Batches(vec![answered(&first, 0)]);
    let image = partition(&batches(3));
    let most = steps_max(&image);
    let takes = |steps| check_ends(&image, steps);
    let tells = |errno, failed: &[Errno]| {
        let error = StorageError { call: Call::Rename, file: log(), errno };
        check_own_error(&error, failed.iter().copied())
    };
    judge(
        Check::I20,
        [
            unavailable(true),
            told(0, &Answer::Failed, &truth()),
            takes(most + 1),
            tells(Errno::STALE, &[Errno::IO]),
            tells(Errno::EXISTS, &[Errno::EXISTS]),
        ],
        [unavailable(false), told(0, &answer, &truth()), takes(most), tells(Errno::IO, &[Errno::IO])],
    )
}

/// One read showed something else than what lies there, and a batch was cut that is whole, and kept aside:
/// no other check has anything to say.
pub(super) fn one_wrong_read() -> Result<String, String> {
    let behind = |third: &[u8]| {
        let (before, rest) = ([&batches(2)[..], third].concat(), third.len() as u64);
        let mut facts = facts(&before, 2);
        let bytes = Length::new(rest);
        facts.segments[0].stop = StopDetail::Short { needed: bytes, available: bytes };
        let start = Start {
            after: cut(third),
            facts,
            verdict: cutting(rest),
            sees_truth: false,
            ..Start::of(&before, &batches(2), 2)
        };
        start.look(|view| judge_start(view, &mut Meter::on(|| 0)))
    };
    let mut damaged = batch(2);
    damaged[300] ^= 1;
    judge(Check::Reference, [behind(&batch(2))], [behind(&damaged)])
}
