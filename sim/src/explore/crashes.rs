//! Crashes before each call of a step that changes anything, and inside each of its syncs.
//!
//! A crash between two calls that only read finds what a crash before the first of them finds, so those are
//! left out. What survives is one of a few choices; all of them are for [`super::survivors`].

use recovery_core::storage::Call;

use super::calls::number;
use crate::schedule::{CallPoint, Crash, CrashInside, Interruption, Survival, Survivors, SyncStage};

/// Every other pending write, counted from the oldest: one that survives before one that does not.
const EVERY_OTHER: u64 = 0x5555_5555_5555_5555;

/// How a node goes down.
fn ways() -> Vec<Crash> {
    let survivors = [
        Survivors::None,
        Survivors::All,
        Survivors::Subset { mask: EVERY_OTHER },
        Survivors::Subset { mask: !EVERY_OTHER },
    ];
    let power = survivors.map(|survive| Crash::Power(Survival::of(survive)));
    let os = [Survivors::None, Survivors::All].map(|survive| Crash::Os(Survival::of(survive)));
    [Crash::Process].into_iter().chain(os).chain(power).collect()
}

/// The crashes at the calls of one step.
pub(super) fn of_step(calls: &[Call]) -> Vec<Interruption> {
    let mut crashes = Vec::new();
    for (at, call) in calls.iter().enumerate().filter(|(_, call)| call.is_mutating()) {
        for inside in stages(*call) {
            for crash in ways() {
                let at = CallPoint { on: None, call: number(at) };
                crashes.push(Interruption::Crash(CrashInside { at, inside, crash }));
            }
        }
    }
    crashes
}

/// Before the call, and inside it if it is a sync.
pub(super) fn stages(call: Call) -> Vec<Option<SyncStage>> {
    let is_sync = matches!(call, Call::Sync | Call::SyncDirectory);
    let inside = SyncStage::ALL.into_iter().filter(|_| is_sync).map(Some);
    [None].into_iter().chain(inside).collect()
}
