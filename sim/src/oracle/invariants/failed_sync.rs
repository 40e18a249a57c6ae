//! I15: after a failed sync nothing that it covered is acknowledged on a bare retry, and no mark covers it.
//!
//! Asked after every call of a client, from a sync of a log or ledger that failed in a call of that
//! partition until its next start: nothing more is acknowledged, nothing promised, and nothing written to the ledger, so no mark
//! either. A sync that was merely interrupted has not failed. Does not claim anything about syncs that fail
//! without saying so.

use recovery_core::storage::{Call, Errno};
use recovery_core::units::Offset;

use crate::disk::Event;
use crate::oracle::truth::Truth;
use crate::oracle::{Check, Value, Violation};

/// What was known of a partition when a sync of it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedSync {
    /// One behind the last acknowledged offset; `None` if no batch lives.
    pub acknowledged: Option<Offset>,
    /// One behind the last promised offset.
    pub promised: Offset,
}

impl FailedSync {
    /// What is known now.
    pub fn now(truth: &Truth) -> Self {
        Self { acknowledged: truth.last_living(), promised: truth.promised_next }
    }
}

/// The place of the first sync among `calls` that failed, of a file that `is_covering` says promises rest on:
/// a log or the ledger. One that was only being made when its sync failed is thrown away, and made anew.
pub fn failed_sync(calls: &[Event], is_covering: impl Fn(u32) -> bool) -> Option<usize> {
    calls.iter().position(|call| {
        let has_failed = call.errno.is_some_and(|errno| errno != Errno::INTERRUPTED);
        call.call == Call::Sync && has_failed && is_covering(call.object)
    })
}

/// A call in which a sync failed, and which was answered with success.
pub fn check_call_of_failed_sync(is_success: bool) -> Option<Violation> {
    let (error, success) = (Value::Code("an error"), Value::Code("success"));
    is_success.then(|| Violation::new(Check::I15, "the answer to a call whose sync failed", error, success))
}

/// What was acknowledged or promised since a sync failed.
pub fn check_after_failed_sync(truth: &Truth, failed: FailedSync) -> Option<Violation> {
    let now = FailedSync::now(truth);
    let grown = [
        ("offsets acknowledged behind a failed sync", failed.acknowledged, now.acknowledged),
        ("offsets promised behind a failed sync", Some(failed.promised), Some(now.promised)),
    ];
    let (subject, before, after) = grown.into_iter().find(|(_, before, after)| before < after)?;
    let told = |offset: Option<Offset>| offset.map_or(Value::Code("none"), Value::from);
    Some(Violation::new(Check::I15, subject, told(before), told(after)))
}

/// A write to the ledger, whose file is `ledger`, among the calls behind a failed sync.
pub fn check_ledger_behind_failed_sync(calls: &[Event], ledger: u32) -> Option<Violation> {
    let is_write = |call: &&Event| call.call == Call::Write && call.errno.is_none() && call.object == ledger;
    let written = calls.iter().find(is_write)?;
    let violation = Violation::new(
        Check::I15,
        "bytes written to the ledger behind a failed sync",
        Value::Number(0),
        Value::Number(written.length),
    );
    Some(violation.at(written.position..written.position + written.length))
}
