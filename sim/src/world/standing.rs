//! Faults that lie in wait: as steps, the kinds that hit calls hit those on their target from now on.
//!
//! Promises: a standing fault hits as often as it says, whichever step makes the calls, until its node goes
//! down. Leaves out: faults inside a step ([`super::interrupt`]), and damage at rest ([`super::damage`]).

use recovery_core::storage::Call;

use super::node::Node;
use super::{aim, interrupt, look};
use crate::disk::{Cause, Scope, Standing};
use crate::schedule::{Fault, FaultKind, Target};

/// Arms a fault. `None` if what it is about is not there.
pub(super) fn arm(node: &mut Node, fault: &Fault) -> Option<()> {
    let disturbance = interrupt::disturbance(node, fault)?;
    let standing = Standing {
        scope: scope(node, &fault.target)?,
        on: calls_of(fault.kind),
        times: fault.times,
        cause: Cause::Fault(fault.kind),
        disturbance,
    };
    node.is_waiting = true;
    node.lies.add(&disturbance, fault.times);
    node.disk.arm(standing);
    Some(())
}

/// The calls that a kind hits when none is named; empty for all that it can mean anything for.
const fn calls_of(kind: FaultKind) -> &'static [Call] {
    match kind {
        FaultKind::ReadError => &[Call::Read, Call::Open, Call::Length, Call::List],
        FaultKind::WriteError => {
            &[Call::Write, Call::Create, Call::SetLength, Call::Rename, Call::Remove, Call::MakeDirectory]
        }
        FaultKind::ShortRead => &[Call::Read],
        FaultKind::ShortWrite => &[Call::Write],
        FaultKind::Interrupted => &[Call::Read, Call::Write, Call::Open],
        FaultKind::NoSpace => {
            &[Call::Write, Call::Create, Call::Rename, Call::Sync, Call::SyncDirectory, Call::MakeDirectory]
        }
        FaultKind::TooManyFiles => &[Call::Open, Call::Create],
        FaultKind::PermissionDenied => &[Call::Open, Call::Create, Call::Rename, Call::Remove],
        FaultKind::BitFlip
        | FaultKind::Zeroed
        | FaultKind::Noise
        | FaultKind::ShornWrite
        | FaultKind::LostWrite
        | FaultKind::LyingFlush
        | FaultKind::MisdirectedWrite
        | FaultKind::MisdirectedRead
        | FaultKind::ForeignBatch
        | FaultKind::StaleGenerationBatch
        | FaultKind::DuplicateBatch
        | FaultKind::LatentSectorError
        | FaultKind::TransientReadCorruption
        | FaultKind::SyncFailure
        | FaultKind::DeferredSyncError
        | FaultKind::SwallowedSyncError
        | FaultKind::ReadOnly
        | FaultKind::LostDirectoryEntry
        | FaultKind::UndoneRename
        | FaultKind::UndoneUnlink
        | FaultKind::ListingOrder
        | FaultKind::StrayFile
        | FaultKind::OperatorDeletesIndex
        | FaultKind::OperatorCopiesSegment
        | FaultKind::OperatorRestoresFile
        | FaultKind::OperatorDropsLedger => &[],
    }
}

/// Whether a standing fault of a kind hits syncs, too.
pub(super) fn fails_syncs(kind: FaultKind) -> bool {
    let calls = calls_of(kind);
    calls.is_empty() || calls.contains(&Call::Sync)
}

/// What the calls are on: everything, a partition's directory and its files, or the file that holds the
/// target.
fn scope(node: &Node, target: &Target) -> Option<Scope> {
    match target {
        Target::Any => Some(Scope::Disk),
        Target::Partition(namespace) => {
            let slot = aim::slot_of(node, *namespace)?;
            look::directory(&node.disk, &node.slots[slot].components).map(Scope::Directory)
        }
        Target::Batch { .. }
        | Target::Segment { .. }
        | Target::IndexEntry { .. }
        | Target::LedgerRecord { .. }
        | Target::Superblock { .. }
        | Target::File { .. }
        | Target::Name { .. } => aim::spot(node, target).map(|spot| Scope::File(spot.file)),
    }
}
