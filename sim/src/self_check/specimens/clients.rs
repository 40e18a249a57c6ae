//! What clients were told and given: I03, I08, I14, I15.

use std::ops::Range;

use recovery_core::format::FileName;
use recovery_core::storage::{Call, Errno, Name};
use recovery_core::units::{Offset, SegmentStart};

use super::judge;
use super::making::{ONE, batch, batches, partition, truth};
use crate::disk::{Event, Exposed};
use crate::oracle::damage::Place;
use crate::oracle::invariants::{
    FailedSync, check_after_failed_sync, check_call_of_failed_sync, check_inserted,
    check_ledger_behind_failed_sync, check_own_offsets, check_promise_durable, check_success,
    failed_sync as find_failed_sync,
};
use crate::oracle::truth::{Life, Truth};
use crate::oracle::{Check, Violation};

pub(super) fn not_served() -> Result<String, String> {
    judge(
        Check::I03,
        [check_success(false, true), check_inserted(true, false)],
        [check_success(true, true), check_success(false, false), check_inserted(true, true)],
    )
}

/// What is said of a new batch of the offset `base`.
fn given(mut truth: Truth, base: u64) -> Option<Violation> {
    let offsets = (Offset::new(base), Offset::new(base + 1));
    truth.append(None, offsets, (SegmentStart::new(9), 0), &batch(base), Life::Buffered);
    check_own_offsets(&truth, truth.writes().len() - 1)
}

/// The first batch is damaged; the second one is whole behind it, and is cut with it, into a fence.
fn survivor_cut() -> Truth {
    gone_behind(truth())
}

/// The same of what is true, with damage perhaps.
fn gone_behind(mut truth: Truth) -> Truth {
    let mut log = batches(2);
    log[300] ^= 1;
    truth.reconcile(&[], Some(&partition(&log).directory), true);
    truth
}

pub(super) fn own_offsets() -> Result<String, String> {
    let mut forgetful = survivor_cut();
    forgetful.damages.add(Place::File(FileName::ledger()));
    // Something in the start itself was laid over the second one: then it was not cut.
    let mut hit = truth();
    let second = ONE as u64..2 * ONE as u64;
    hit.damages.add(Place::Bytes { file: FileName::log(SegmentStart::ZERO), range: second });
    judge(
        Check::I08,
        [given(truth(), 1), given(survivor_cut(), 1)],
        [
            given(truth(), 3),
            given(survivor_cut(), 2),
            given(survivor_cut(), 0),
            given(forgetful, 1),
            given(gone_behind(hit), 1),
        ],
    )
}

pub(super) fn promise_durable() -> Result<String, String> {
    let first_alone = |_: &Name, range: Range<u64>| {
        if range.end > ONE as u64 {
            Err(Exposed::Length { length: ONE as u64, end: range.end })
        } else {
            Ok(())
        }
    };
    let mut lied_to = truth();
    lied_to.damages.add(Place::Anywhere);
    judge(
        Check::I14,
        [check_promise_durable(&truth(), Offset::ZERO, first_alone)],
        [
            check_promise_durable(&truth(), Offset::ZERO, |_, _| Ok(())),
            check_promise_durable(&truth(), Offset::new(2), first_alone),
            check_promise_durable(&lied_to, Offset::ZERO, first_alone),
        ],
    )
}

fn call(call: Call, errno: Option<Errno>, object: u32) -> Event {
    Event { call, errno, object, position: 128, length: 128, content: None }
}

pub(super) fn failed_sync() -> Result<String, String> {
    let (log, ledger, staging) = (1, 2, 3);
    // A call in which this sync came to this, and which was answered with success.
    let answered = |object, errno| {
        let calls = [call(Call::Write, None, ledger), call(Call::Sync, errno, object)];
        let is_covering = |object| object == log || object == ledger;
        find_failed_sync(&calls, is_covering).and_then(|_| check_call_of_failed_sync(true))
    };
    let failed = FailedSync::now(&truth());
    let mut retried = truth();
    retried.acknowledge(Offset::new(3));
    let mut promised = retried.clone();
    promised.promise(Offset::new(3));
    let written = |behind: &[Event]| check_ledger_behind_failed_sync(behind, ledger);
    let cut_back = [call(Call::SetLength, None, log), call(Call::Write, None, log)];
    judge(
        Check::I15,
        [
            answered(log, Some(Errno::IO)),
            answered(ledger, Some(Errno::IO)),
            check_after_failed_sync(&retried, failed),
            check_after_failed_sync(&promised, FailedSync::now(&retried)),
            written(&[call(Call::Write, None, ledger)]),
        ],
        [
            answered(log, None),
            answered(log, Some(Errno::INTERRUPTED)),
            answered(staging, Some(Errno::IO)),
            check_call_of_failed_sync(false),
            check_after_failed_sync(&truth(), failed),
            written(&cut_back),
        ],
    )
}
