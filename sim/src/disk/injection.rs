//! What goes wrong inside a step: explicit data, hit by counting storage calls.
//!
//! Promises: calls are counted from 1 within a step, all of them and each kind apart; an injection hits
//! the calls its data names and no others. Leaves out: what the filesystem makes of it.

use recovery_core::storage::{Call, Errno};

use crate::schedule::{CallPoint, Fill, Restart, SyncStage, Times};

use super::directory::DirectoryId;
use super::fault::{Cause, FaultId};
use super::file::FileId;

/// One thing that goes wrong at one call of a step, or at several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// The first call it hits.
    pub at: CallPoint,
    /// How many calls it hits, that one included.
    pub times: Times,
    /// As what it is counted; `None` for a crash.
    pub cause: Option<Cause>,
    /// What happens.
    pub disturbance: Disturbance,
}

/// What happens at a call. On a call that it does not apply to it does nothing and is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// The node goes down before the call, or inside it if it is a sync. From here on every call fails
    /// with `EIO` and does nothing, until [`super::SimDisk::crash`].
    Crash {
        /// Which parts lose their memory.
        restart: Restart,
        /// How far the sync had come.
        inside: Option<SyncStage>,
    },
    /// Any call: fails and does nothing. A sync fails as by [`Disturbance::FailSync`], unless it is merely
    /// interrupted (`EINTR`).
    Fail {
        /// With this error.
        errno: Errno,
    },
    /// Read, write: at most `bytes` move, at least 1. `None`: half of what was asked for, rounded up.
    Short {
        /// How many.
        bytes: Option<u64>,
    },
    /// Sync, sync-directory: succeeds, and nothing has crossed the device's cache.
    LieAboutFlush,
    /// Write: it and its sync succeed, and the medium keeps what it had, its length included.
    LoseWrite,
    /// Write: it and its sync succeed, and the medium gets the first `bytes` of it, even inside a sector.
    /// `None`: half, rounded up.
    ShearWrite {
        /// How many.
        bytes: Option<u64>,
    },
    /// Write: its bytes land elsewhere on the medium, and the place that was meant keeps what it had.
    MisdirectWrite {
        /// In which file.
        file: FileId,
        /// At which position.
        position: u64,
    },
    /// Read: returns what the medium holds elsewhere. The next read is right.
    MisdirectRead {
        /// In which file.
        file: FileId,
        /// At which position.
        position: u64,
    },
    /// Read: one bit of what it returns is wrong. The next read is right.
    CorruptRead {
        /// Which byte of the bytes returned, modulo their number.
        byte: u64,
        /// Which bit, 0 the least significant.
        bit: u8,
    },
    /// Sync, sync-directory: fails, with the aftermath of the filesystem (FAULT_MODEL 2.6).
    FailSync {
        /// What could not be written.
        part: SyncPart,
        /// The error reported.
        errno: Errno,
        /// Which of the file's dirty pages fail, bit 0 the first, repeated every 64.
        pages: u64,
        /// What blocks show that were new and never written.
        fill: Fill,
    },
    /// Sync: succeeds although its pages failed; the next one on the file fails.
    DeferSyncError,
    /// Sync: succeeds although its pages failed, and no sync ever says so.
    SwallowSyncError,
    /// From this call on, every changing call fails with `EROFS`, until the node restarts.
    GoReadOnly,
    /// List: from this call on, listings come in another order.
    ListInOrder {
        /// Which; 0 is the order in which entries were made.
        order: u64,
    },
}

impl Disturbance {
    /// Whether a read that it hits returns what does not lie there, or a write changes what does.
    pub const fn changes_reads(&self) -> bool {
        match self {
            Self::MisdirectRead { .. } | Self::CorruptRead { .. } => true,
            Self::Crash { .. }
            | Self::Fail { .. }
            | Self::Short { .. }
            | Self::LieAboutFlush
            | Self::LoseWrite
            | Self::ShearWrite { .. }
            | Self::MisdirectWrite { .. }
            | Self::FailSync { .. }
            | Self::DeferSyncError
            | Self::SwallowSyncError
            | Self::GoReadOnly
            | Self::ListInOrder { .. } => false,
        }
    }

    /// Whether a write or sync that it hits says that it succeeded, and did not.
    pub const fn hides_a_failure(&self) -> bool {
        match self {
            Self::LieAboutFlush
            | Self::LoseWrite
            | Self::ShearWrite { .. }
            | Self::MisdirectWrite { .. }
            | Self::DeferSyncError
            | Self::SwallowSyncError => true,
            Self::Crash { .. }
            | Self::Fail { .. }
            | Self::Short { .. }
            | Self::MisdirectRead { .. }
            | Self::CorruptRead { .. }
            | Self::FailSync { .. }
            | Self::GoReadOnly
            | Self::ListInOrder { .. } => false,
        }
    }
}

/// Which part of a sync could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncPart {
    /// Data pages.
    Data,
    /// The journal, or the log tree.
    Journal,
    /// A block of metadata in its place, which is written behind the sync's back: the sync passes.
    InPlace,
}

/// One thing that goes wrong at calls on a target, whichever step makes them, until the node goes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What the calls are on.
    pub scope: Scope,
    /// Which calls; none named: all that the disturbance applies to.
    pub on: &'static [Call],
    /// How many calls it hits.
    pub times: Times,
    /// As what it is counted: once, when it first hits.
    pub cause: Cause,
    /// What happens. A crash does not: it belongs to a step.
    pub disturbance: Disturbance,
}

/// What a call is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Anything.
    Disk,
    /// A directory, a name in it, or a file that was made in it.
    Directory(DirectoryId),
    /// A file, open or by its name.
    File(FileId),
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOutcome {
    /// Storage calls made, the one that a crash cut short included.
    pub calls: u32,
    /// Whether the node went down inside the step, and how.
    pub crashed: Option<Restart>,
    /// Injections that hit no call. Each is counted as missed.
    pub missed: u32,
}

/// A standing fault, and how often it has hit.
#[derive(Clone, Copy, Debug)]
struct Armed {
    standing: Standing,
    hits: u32,
    fault: Option<FaultId>,
}

/// Calls of the current step, and what is to hit them.
#[derive(Clone, Debug, Default)]
pub(super) struct StepState {
    injections: Vec<Injection>,
    hits: Vec<u32>,
    standing: Vec<Armed>,
    total: u32,
    by_call: [u32; Call::ALL.len()],
}

impl StepState {
    pub(super) fn reset(&mut self) {
        self.injections.clear();
        self.hits.clear();
        self.total = 0;
        self.by_call = [0; Call::ALL.len()];
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.injections.clone_from(&other.injections);
        self.hits.clone_from(&other.hits);
        self.standing.clone_from(&other.standing);
        self.total = other.total;
        self.by_call = other.by_call;
    }

    /// Starts a step.
    pub(super) fn begin(&mut self, injections: &[Injection]) {
        self.reset();
        self.injections.extend_from_slice(injections);
        self.hits.resize(injections.len(), 0);
    }

    /// Calls so far.
    pub(super) fn calls(&self) -> u32 {
        self.total
    }

    /// Counts one call.
    #[inline]
    pub(super) fn count(&mut self, call: Call) {
        self.total += 1;
        self.by_call[call as usize] += 1;
    }

    /// Whether nothing can hit.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        self.injections.is_empty() && self.standing.is_empty()
    }

    /// Arms a standing fault.
    pub(super) fn arm(&mut self, standing: Standing) {
        self.standing.push(Armed { standing, hits: 0, fault: None });
    }

    /// Disarms all standing faults; returns those that hit nothing.
    pub(super) fn disarm(&mut self) -> Vec<Cause> {
        let armed = self.standing.drain(..);
        armed.filter(|armed| armed.hits == 0).map(|armed| armed.standing.cause).collect()
    }

    /// The standing fault that hits a call, as its place in the list.
    pub(super) fn hit_standing(&mut self, call: Call, is_on: impl Fn(Scope) -> bool) -> Option<usize> {
        let at = self.standing.iter().position(|armed| {
            let Standing { scope, on, times, disturbance, .. } = armed.standing;
            let is_left = match times {
                Times::Always => true,
                Times::Count(count) => armed.hits < count,
            };
            let is_meant = on.is_empty() || on.contains(&call);
            is_left && is_meant && applies(disturbance, call) && is_on(scope)
        })?;
        self.standing[at].hits += 1;
        Some(at)
    }

    /// What a standing fault does, and as which fault it was counted before.
    pub(super) fn standing(&self, at: usize) -> (Standing, Option<FaultId>) {
        (self.standing[at].standing, self.standing[at].fault)
    }

    /// Notes as which fault a standing fault is counted.
    pub(super) fn count_standing(&mut self, at: usize, fault: FaultId) {
        self.standing[at].fault = Some(fault);
    }

    /// The injection that hits the call just counted: a crash first, else the first in the list.
    pub(super) fn hit(&self, call: Call) -> Option<(usize, Injection)> {
        let mut found = None;
        for (at, injection) in self.injections.iter().enumerate() {
            if self.hits_now(injection, call) && applies(injection.disturbance, call) {
                if matches!(injection.disturbance, Disturbance::Crash { .. }) {
                    return Some((at, *injection));
                }
                found = found.or(Some((at, *injection)));
            }
        }
        found
    }

    fn hits_now(&self, injection: &Injection, call: Call) -> bool {
        let number = match injection.at.on {
            Some(on) if on != call => return false,
            Some(_) => self.by_call[call as usize],
            None => self.total,
        };
        match (number.checked_sub(injection.at.call), injection.times) {
            (None, _) => false,
            (Some(_), Times::Always) => true,
            (Some(later), Times::Count(count)) => later < count,
        }
    }

    /// Notes that an injection hit; returns whether it was the first time.
    pub(super) fn note(&mut self, at: usize) -> bool {
        self.hits[at] += 1;
        self.hits[at] == 1
    }

    /// The injections that hit nothing.
    pub(super) fn unused(&self) -> impl Iterator<Item = &Injection> {
        self.injections.iter().zip(&self.hits).filter(|(_, hits)| **hits == 0).map(|(injection, _)| injection)
    }
}

/// Whether a disturbance means anything for a call.
fn applies(disturbance: Disturbance, call: Call) -> bool {
    let is_sync = matches!(call, Call::Sync | Call::SyncDirectory);
    match disturbance {
        Disturbance::Crash { inside, .. } => inside.is_none() || is_sync,
        Disturbance::Fail { .. } => true,
        Disturbance::Short { .. } => matches!(call, Call::Read | Call::Write),
        Disturbance::LoseWrite | Disturbance::ShearWrite { .. } | Disturbance::MisdirectWrite { .. } => {
            call == Call::Write
        }
        Disturbance::MisdirectRead { .. } | Disturbance::CorruptRead { .. } => call == Call::Read,
        Disturbance::LieAboutFlush | Disturbance::FailSync { .. } => is_sync,
        Disturbance::DeferSyncError | Disturbance::SwallowSyncError => call == Call::Sync,
        Disturbance::GoReadOnly => call.is_mutating(),
        Disturbance::ListInOrder { .. } => call == Call::List,
    }
}
