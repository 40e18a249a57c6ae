//! What goes wrong inside a step, as the disk takes it.

use super::aim;
use super::node::Node;
use crate::disk::{Cause, Disturbance, FileChoice, Injection, SurvivorChoice, SyncPart};
use crate::schedule::{
    Crash, Edit, Fault, FaultInside, FaultKind, Filesystem, Fill, Interruption, Survivors, Target,
};
use recovery_core::storage::{Call, Errno};

/// The injection for an interruption; `None` if its target is not there.
pub(super) fn injection(node: &Node, interruption: &Interruption) -> Option<Injection> {
    match interruption {
        Interruption::Crash(crash) => Some(Injection {
            at: crash.at,
            times: crate::schedule::Times::Count(1),
            cause: None,
            disturbance: Disturbance::Crash { restart: crash.crash.restart(), inside: crash.inside },
        }),
        Interruption::Fault(FaultInside { at, at_peer: _, fault }) => Some(Injection {
            at: *at,
            times: fault.times,
            cause: Some(Cause::Fault(fault.kind)),
            disturbance: disturbance(node, fault)?,
        }),
    }
}

/// What a fault does to a call; `None` if what it needs is not there.
pub(super) fn disturbance(node: &Node, fault: &Fault) -> Option<Disturbance> {
    let fail = |errno| Some(Disturbance::Fail { errno });
    match fault.kind {
        FaultKind::ReadError | FaultKind::WriteError => fail(Errno::IO),
        FaultKind::Interrupted => fail(Errno::INTERRUPTED),
        FaultKind::NoSpace => fail(Errno::NO_SPACE),
        FaultKind::TooManyFiles => fail(Errno::TOO_MANY_FILES),
        FaultKind::PermissionDenied => fail(Errno::PERMISSION_DENIED),
        FaultKind::ReadOnly => Some(Disturbance::GoReadOnly),
        FaultKind::ShortRead | FaultKind::ShortWrite => Some(Disturbance::Short { bytes: fault.bytes }),
        FaultKind::ShornWrite => Some(Disturbance::ShearWrite { bytes: fault.bytes }),
        FaultKind::LostWrite => Some(Disturbance::LoseWrite),
        FaultKind::LyingFlush => Some(Disturbance::LieAboutFlush),
        FaultKind::SyncFailure => Some(Disturbance::FailSync {
            part: SyncPart::Data,
            errno: Errno::IO,
            pages: mask(fault),
            fill: Fill::Zeros,
        }),
        FaultKind::DeferredSyncError => Some(Disturbance::DeferSyncError),
        FaultKind::SwallowedSyncError => Some(Disturbance::SwallowSyncError),
        FaultKind::ListingOrder => Some(Disturbance::ListInOrder { order: listing_order(fault) }),
        FaultKind::TransientReadCorruption => {
            let bit = match fault.edit {
                Some(Edit::Bit(bit)) => bit,
                Some(Edit::Value(_)) | None => 0,
            };
            Some(Disturbance::CorruptRead { byte: u64::from(bit / 8), bit: (bit % 8) as u8 })
        }
        FaultKind::MisdirectedRead | FaultKind::MisdirectedWrite => {
            let spot = elsewhere(node, fault)?;
            Some(if fault.kind == FaultKind::MisdirectedRead {
                Disturbance::MisdirectRead { file: spot.file, position: spot.position }
            } else {
                Disturbance::MisdirectWrite { file: spot.file, position: spot.position }
            })
        }
        FaultKind::BitFlip
        | FaultKind::Zeroed
        | FaultKind::Noise
        | FaultKind::LatentSectorError
        | FaultKind::ForeignBatch
        | FaultKind::StaleGenerationBatch
        | FaultKind::DuplicateBatch
        | FaultKind::LostDirectoryEntry
        | FaultKind::UndoneRename
        | FaultKind::UndoneUnlink
        | FaultKind::StrayFile
        | FaultKind::OperatorDeletesIndex
        | FaultKind::OperatorCopiesSegment
        | FaultKind::OperatorRestoresFile
        | FaultKind::OperatorDropsLedger => None,
    }
}

/// Whether a failure that hits a sync, among others where `on` names no call, is not reported by it: with
/// data in the journal the sync whose write failed succeeds, and only the next one says so (FAULT_MODEL 2.6).
pub(super) fn is_told_late(filesystem: Filesystem, disturbance: &Disturbance, on: Option<Call>) -> bool {
    let fails_a_sync = match disturbance {
        Disturbance::FailSync { .. } => true,
        // What a signal cuts short is begun again.
        Disturbance::Fail { errno } => {
            *errno != Errno::INTERRUPTED && on.is_none_or(|call| call == Call::Sync)
        }
        Disturbance::Crash { .. }
        | Disturbance::GoReadOnly
        | Disturbance::Short { .. }
        | Disturbance::ShearWrite { .. }
        | Disturbance::LoseWrite
        | Disturbance::LieAboutFlush
        | Disturbance::DeferSyncError
        | Disturbance::SwallowSyncError
        | Disturbance::ListInOrder { .. }
        | Disturbance::CorruptRead { .. }
        | Disturbance::MisdirectRead { .. }
        | Disturbance::MisdirectWrite { .. } => false,
    };
    fails_a_sync && filesystem == Filesystem::Ext4Journal
}

/// The order of listings that a fault names.
pub(super) fn listing_order(fault: &Fault) -> u64 {
    match fault.edit {
        Some(Edit::Value(value)) => value,
        Some(Edit::Bit(bit)) => 1 << (bit % 64),
        None => 1,
    }
}

/// Which pages of a failed sync fail: all, unless the schedule says which.
fn mask(fault: &Fault) -> u64 {
    match fault.edit {
        Some(Edit::Value(mask)) => mask,
        Some(Edit::Bit(bit)) => 1 << (bit % 64),
        None => u64::MAX,
    }
}

/// Where a misdirected transfer goes: a batch, or the whole of a segment.
fn elsewhere(node: &Node, fault: &Fault) -> Option<aim::Spot> {
    let partition = fault.to.partition.or(fault.target.partition())?;
    let target = match (fault.to.batch, fault.to.segment) {
        (Some(batch), _) => Target::Batch { partition, batch, field: None },
        (None, Some(segment)) => Target::Segment { partition, segment },
        (None, None) => fault.target.clone(),
    };
    aim::spot(node, &target)
}

/// What survives a crash, as the disk takes it. Files of exceptions that are not there are left out.
pub(super) fn survivors(node: &Node, crash: &Crash) -> SurvivorChoice {
    let Some(survival) = crash.survival() else { return SurvivorChoice::of(Survivors::All) };
    let everything =
        FileChoice { length: survival.size, fill: survival.fill, ..FileChoice::of(survival.survive) };
    let mut choice = SurvivorChoice { everything, names: survival.survive, files: Vec::new() };
    for exception in &survival.exceptions {
        aim::except(node, exception, &mut choice);
    }
    choice
}
