//! An operator's word for what a partition has lost, put to the core.
//!
//! Promises: the partition is locked as by the operator's tool, and closed again. Leaves out: which host has it open, and
//! whether the word is right.

use recovery_core::decide::LostRange;
use recovery_core::host::AcceptingLoss;
use recovery_core::observe::{Progress, Workspace};
use recovery_core::plan::PlanOptions;
use recovery_core::storage::{LockMode, PartitionDirectory};

use super::boot::expectation;
use super::node::Slot;
use crate::disk::SimDisk;

/// Steps after which a word is given up on; the longest takes a few hundred.
const STEPS_MAX: u32 = 10_000;

/// What a word comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// What it names is given up, and the partition can be served.
    Served,
    /// The partition is refused for something else, or was not looked at to the end.
    StillRefused,
    /// What it names is not what is lost.
    Mistaken,
    /// The directory did not open, or not for us; why, as a word.
    Unopened(&'static str),
    /// Nobody waits for it any longer.
    Endless,
}

impl GivenUp {
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Served => "accepted",
            Self::StillRefused => "still-refused",
            Self::Mistaken => "range-mistake",
            Self::Unopened(code) => code,
            Self::Endless => "endless",
        }
    }
}

/// Gives up `named`, in steps of `limit` bytes.
pub(super) fn give_up(
    disk: &SimDisk,
    slot: &Slot,
    named: &[LostRange],
    workspace: &mut Workspace,
    limit: u64,
) -> GivenUp {
    let Ok(partition) = PartitionDirectory::open(disk, &slot.components) else {
        return GivenUp::Unopened("io");
    };
    let given_up = match partition.lock(disk, LockMode::Exclusive) {
        Ok(()) => word(disk, slot, &partition, named, workspace, limit),
        Err(_) => GivenUp::Unopened("locked"),
    };
    partition.close(disk);
    given_up
}

fn word(
    disk: &SimDisk,
    slot: &Slot,
    partition: &PartitionDirectory<SimDisk>,
    named: &[LostRange],
    workspace: &mut Workspace,
    limit: u64,
) -> GivenUp {
    let options = PlanOptions { makes_ledger: slot.header.ledger, ..PlanOptions::default() };
    let mut accepting = AcceptingLoss::new(expectation(slot), options, slot.incarnation, named, workspace);
    for _ in 0..STEPS_MAX {
        match accepting.step(disk, partition, workspace, limit) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => {
                let accepted = accepting.finish();
                if let Some(ledger) = accepted.recovered.ledger {
                    ledger.close(disk);
                }
                let is_served = accepted.recovered.verdict.is_served();
                return if is_served { GivenUp::Served } else { GivenUp::StillRefused };
            }
            Err(_) => return GivenUp::Mistaken,
        }
    }
    GivenUp::Endless
}
