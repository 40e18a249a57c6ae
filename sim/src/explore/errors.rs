//! Errors at each call of a step: once, and from that call on, with every error that the call can give.
//!
//! Promises: the errors are those that `open(2)`, `pread(2)`, `pwrite(2)`, `fsync(2)`, `rename(2)` and their
//! kin state, and short transfers. Leaves out: calls that lie instead of failing.

use recovery_core::storage::Call;

use super::calls::number;
use crate::schedule::{CallPoint, Fault, FaultInside, FaultKind, Interruption, Target, Times};

/// What a call can give.
const fn kinds(call: Call) -> &'static [FaultKind] {
    match call {
        Call::Open => &[
            FaultKind::ReadError,
            FaultKind::TooManyFiles,
            FaultKind::PermissionDenied,
            FaultKind::Interrupted,
        ],
        Call::Create => &[
            FaultKind::WriteError,
            FaultKind::NoSpace,
            FaultKind::TooManyFiles,
            FaultKind::PermissionDenied,
            FaultKind::Interrupted,
            FaultKind::ReadOnly,
        ],
        Call::Read => &[FaultKind::ReadError, FaultKind::ShortRead, FaultKind::Interrupted],
        Call::Write => &[
            FaultKind::WriteError,
            FaultKind::NoSpace,
            FaultKind::ShortWrite,
            FaultKind::Interrupted,
            FaultKind::ReadOnly,
        ],
        Call::SetLength => &[FaultKind::WriteError, FaultKind::Interrupted, FaultKind::ReadOnly],
        Call::Sync | Call::SyncDirectory => &[FaultKind::SyncFailure, FaultKind::NoSpace],
        Call::Length | Call::List | Call::DropCache => &[FaultKind::ReadError],
        Call::Rename | Call::MakeDirectory => {
            &[FaultKind::WriteError, FaultKind::NoSpace, FaultKind::PermissionDenied, FaultKind::ReadOnly]
        }
        Call::Remove => &[FaultKind::WriteError, FaultKind::PermissionDenied, FaultKind::ReadOnly],
        Call::Lock => &[FaultKind::ReadError, FaultKind::Interrupted],
    }
}

/// The errors at the calls of one step.
pub(super) fn of_step(calls: &[Call]) -> Vec<Interruption> {
    let mut errors = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        for kind in kinds(*call) {
            // A signal that came for ever would be waited for for ever, and a disk stays read-only anyway.
            let is_once = matches!(kind, FaultKind::Interrupted | FaultKind::ReadOnly);
            let times = [Times::Count(1), Times::Always];
            for times in times.into_iter().take(if is_once { 1 } else { 2 }) {
                let fault = Fault { times, ..Fault::new(*kind, Target::Any) };
                let at = CallPoint { on: None, call: number(at) };
                errors.push(Interruption::Fault(FaultInside { at, at_peer: false, fault }));
            }
        }
    }
    errors
}
