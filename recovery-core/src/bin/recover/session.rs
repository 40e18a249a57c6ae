//! One command on one partition: open, lock, recover as far as the command goes, close.
//!
//! Promises: `check` and `plan` make no call that changes anything; whatever fails, the partition is closed
//! and the failure is in the answer. Leaves out: every judgement, and the words for it.

use std::io::{IsTerminal, stderr};

use recovery_core::decide::{Disposition, LostRange, Verdict};
use recovery_core::host::{AcceptedLoss, AcceptingLoss, Adopting};
use recovery_core::observe::{Expectation, PartitionFacts, Progress, Unavailable, Work, Workspace};
use recovery_core::plan::{FencedFile, Plan, PlanOptions, Step};
use recovery_core::recovery::{self, Recovered, Recovery, RecoveryStep};
use recovery_core::storage::{
    Access, EntryKind, LockMode, Name, PartitionDirectory, Storage, StorageError, exact,
};

use crate::mistake::Mistake;
use crate::progress::ScanProgress;
use crate::report::Mode;
use crate::target::Target;
use recovery_core::units::Incarnation;

/// Bytes of the windows over the files: small enough to stay in a processor's cache.
const WINDOW_BYTES: usize = 64 * 1024;

/// Bytes of one step, after which the progress bar moves.
const STEP_BYTES: u64 = 8 * 1024 * 1024;

/// The tool hands a partition over as if its server had stopped cleanly.
const PLAN_OPTIONS: PlanOptions = PlanOptions { sync_indexes: true, clean_stop: true, makes_ledger: false };

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Found {
    /// Everything that was found; `None` if not enough could be read to say.
    pub(crate) facts: Option<PartitionFacts>,
    /// What was read, as far as it came; `None` if nothing was.
    pub(crate) work: Option<Work>,
    /// What follows.
    pub(crate) verdict: Verdict,
    /// What carries that out, or carried it out.
    pub(crate) plan: Plan,
    /// What lies in fences of all that the plan set aside; `None` if nothing was to be changed, or a call
    /// failed before that was known.
    pub(crate) fenced: Option<Vec<FencedFile>>,
    /// The step that failed.
    pub(crate) failed: Option<Step>,
    /// The ranges of offsets that were given up just now; `None` if none was to be.
    pub(crate) given_up: Option<Vec<LostRange>>,
}

impl Found {
    /// Nothing, for this cause.
    pub(crate) fn unavailable(cause: &Unavailable) -> Self {
        Self {
            facts: None,
            work: None,
            verdict: Verdict::unavailable(*cause, &[]),
            plan: Plan::default(),
            fenced: None,
            failed: None,
            given_up: None,
        }
    }

    fn new<S: Storage>(mode: Mode, recovered: Recovered<S>) -> Self {
        let is_applied = matches!(mode, Mode::Apply | Mode::AcceptLoss)
            && recovered.stopped_at.is_none()
            && !matches!(recovered.verdict.disposition, Disposition::Unavailable(_));
        Self {
            work: Some(recovered.facts.work),
            facts: recovered.is_observed.then_some(recovered.facts),
            verdict: recovered.verdict,
            plan: recovered.plan,
            fenced: is_applied.then_some(recovered.fenced),
            failed: recovered.stopped_at,
            given_up: None,
        }
    }
}

/// Does what the command says with the partition that `components` lead to.
pub(crate) fn run<S: Storage>(
    storage: &S,
    components: &[Name],
    expectation: Expectation,
    mode: Mode,
) -> Found {
    let partition = match PartitionDirectory::open(storage, components) {
        Ok(partition) => partition,
        Err(error) => return Found::unavailable(&Unavailable::Io(error)),
    };
    let lock = match mode {
        Mode::Check | Mode::Plan => LockMode::Shared,
        Mode::Apply | Mode::AcceptLoss | Mode::Adopt => LockMode::Exclusive,
    };
    let found = match partition.lock(storage, lock) {
        Ok(()) => recover(storage, &partition, expectation, mode),
        Err(cause) => Found::unavailable(&cause),
    };
    partition.close(storage);
    found
}

/// Opens and locks a partition that is to be changed, does `work` with it, and closes it.
fn alone<S: Storage>(
    storage: &S,
    target: &Target,
    work: impl FnOnce(&PartitionDirectory<S>) -> Result<Found, Mistake>,
) -> Result<Found, Mistake> {
    let partition = match PartitionDirectory::open(storage, &target.components) {
        Ok(partition) => partition,
        Err(error) => return Ok(Found::unavailable(&Unavailable::Io(error))),
    };
    let found = match partition.lock(storage, LockMode::Exclusive) {
        Ok(()) => work(&partition),
        Err(cause) => Ok(Found::unavailable(&cause)),
    };
    partition.close(storage);
    found
}

/// Gives up the offsets in `named`, if just those are lost.
///
/// # Errors
///
/// When others are; nothing was changed.
pub(crate) fn accept_loss<S: Storage>(
    storage: &S,
    target: &Target,
    expectation: Expectation,
    named: &[LostRange],
    new_ledger: Incarnation,
) -> Result<Found, Mistake> {
    alone(storage, target, |partition| {
        let mut workspace = Workspace::new(WINDOW_BYTES);
        let mut accepting = AcceptingLoss::new(expectation, PLAN_OPTIONS, new_ledger, named, &mut workspace);
        while accepting
            .step(storage, partition, &mut workspace, STEP_BYTES)
            .map_err(|mistake| Mistake::WrongRange { sentence: mistake.to_string() })?
            == Progress::More
        {}
        let AcceptedLoss { lost, is_accepted, mut recovered } = accepting.finish();
        if let Some(ledger) = recovered.ledger.take() {
            ledger.close(storage);
        }
        let given_up = is_accepted.then_some(lost);
        Ok(Found { given_up, ..Found::new(Mode::AcceptLoss, recovered) })
    })
}

/// Sets the ledger aside, and looks at what is left.
///
/// # Errors
///
/// When there is none; nothing was changed.
pub(crate) fn adopt<S: Storage>(
    storage: &S,
    target: &Target,
    expectation: Expectation,
) -> Result<Found, Mistake> {
    alone(storage, target, |partition| {
        let unavailable = |error| Ok(Found::unavailable(&Unavailable::Io(error)));
        let mut adopting = match Adopting::begin(storage, partition, expectation) {
            Ok(Ok(adopting)) => adopting,
            Ok(Err(mistake)) => return Err(Mistake::NoLedger { sentence: mistake.to_string() }),
            Err(error) => return unavailable(error),
        };
        let mut workspace = Workspace::new(WINDOW_BYTES);
        loop {
            match adopting.step(storage, partition, &mut workspace, STEP_BYTES) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => break,
                Err(error) => return unavailable(error),
            }
        }
        let fenced = adopting.finish(storage);
        let found = recover(storage, partition, expectation, Mode::Adopt);
        Ok(Found { fenced: Some(fenced), ..found })
    })
}

fn recover<S: Storage>(
    storage: &S,
    partition: &PartitionDirectory<S>,
    expectation: Expectation,
    mode: Mode,
) -> Found {
    let progress = ScanProgress::new(scan_bytes(storage, partition));
    let mut workspace = Workspace::new(WINDOW_BYTES);
    let depth = match mode {
        Mode::Check | Mode::Plan | Mode::Adopt => recovery::Mode::Look,
        Mode::Apply | Mode::AcceptLoss => recovery::Mode::Repair,
    };
    let mut recovery = Recovery::new(expectation, depth, PLAN_OPTIONS, &mut workspace);
    while recovery.step(storage, partition, &mut workspace, STEP_BYTES) == Progress::More {
        progress.show(word(recovery.reached()), recovery.bytes_observed());
    }
    let mut recovered = recovery.finish();
    if let Some(ledger) = recovered.ledger.take() {
        ledger.close(storage);
    }
    Found::new(mode, recovered)
}

/// What a person sees beside the bar.
const fn word(step: RecoveryStep) -> &'static str {
    match step {
        RecoveryStep::Settle => "settling",
        RecoveryStep::Observe => "verifying",
        RecoveryStep::Apply | RecoveryStep::Done => "repairing",
    }
}

/// How many bytes a scan reads, if a bar would be seen and it can be told. What fails here fails again, and
/// is told, when it is observed.
fn scan_bytes<S: Storage>(storage: &S, partition: &PartitionDirectory<S>) -> Option<u64> {
    if !stderr().is_terminal() {
        return None;
    }
    let mut names = Vec::new();
    let listed = storage.list(&partition.directory, &mut |name, kind| {
        if kind == EntryKind::File {
            names.push(*name);
        }
    });
    listed.ok()?;
    names.iter().map(|name| length(storage, partition, name).ok()).sum()
}

fn length<S: Storage>(
    storage: &S,
    partition: &PartitionDirectory<S>,
    name: &Name,
) -> Result<u64, StorageError> {
    let file = exact::uninterrupted(|| storage.open(&partition.directory, name, Access::Read))?;
    let length = exact::uninterrupted(|| storage.length(&file));
    storage.close(file);
    length
}
