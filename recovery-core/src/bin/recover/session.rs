//! One command on one partition: open, lock, observe, decide, plan, and with `apply` carry it out.
//!
//! Promises: `check` and `plan` make no call that changes anything; whatever fails, the partition is closed
//! and the failure is in the answer. Leaves out: every judgement, and the words for it.

use std::io::{IsTerminal, stderr};

use recovery_core::decide::{Verdict, decide};
use recovery_core::observe::{
    Expectation, Observation, PartitionFacts, Progress, Unavailable, Work, Workspace,
};
use recovery_core::plan::{Plan, PlanOptions, build};
use recovery_core::storage::{
    Access, EntryKind, LockMode, Name, PartitionDirectory, Storage, StorageError, exact,
};

use crate::progress::ScanProgress;

/// Bytes of the windows over the files: small enough to stay in a processor's cache.
const WINDOW_BYTES: usize = 64 * 1024;

/// Bytes of one step, after which the progress bar moves.
const STEP_BYTES: u64 = 8 * 1024 * 1024;

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Found {
    /// Everything that was found; `None` if not enough could be read to say.
    pub(crate) facts: Option<PartitionFacts>,
    /// What was read, as far as it came; `None` if the partition could not be opened.
    pub(crate) work: Option<Work>,
    /// What follows.
    pub(crate) verdict: Verdict,
    /// What carries that out.
    pub(crate) plan: Plan,
}

impl Found {
    /// Nothing, for this cause.
    pub(crate) fn unavailable(cause: &Unavailable, work: Option<Work>) -> Self {
        Self { facts: None, work, verdict: Verdict::unavailable(*cause, &[]), plan: Plan::default() }
    }
}

/// Looks at the partition that `components` lead to, and changes nothing.
pub(crate) fn look<S: Storage>(storage: &S, components: &[Name], expectation: Expectation) -> Found {
    match PartitionDirectory::open(storage, components) {
        Ok(partition) => {
            let found = match partition.lock(storage, LockMode::Shared) {
                Ok(()) => observe(storage, &partition, expectation),
                Err(cause) => Found::unavailable(&cause, None),
            };
            partition.close(storage);
            found
        }
        Err(error) => Found::unavailable(&Unavailable::Io(error), None),
    }
}

fn observe<S: Storage>(storage: &S, partition: &PartitionDirectory<S>, expectation: Expectation) -> Found {
    let progress = ScanProgress::new(scan_bytes(storage, partition));
    let mut workspace = Workspace::new(WINDOW_BYTES);
    let mut observation = Observation::new(expectation, &mut workspace);
    while observation.step(storage, partition, &mut workspace, STEP_BYTES) == Progress::More {
        progress.show("verifying", observation.bytes_read());
    }
    let observed = observation.finish();
    if let Some(cause) = observed.failure {
        return Found::unavailable(&cause, Some(observed.facts.work));
    }
    let verdict = decide(&observed.facts);
    let plan = build(&observed.facts, &verdict, PLAN_OPTIONS);
    Found { work: Some(observed.facts.work), facts: Some(observed.facts), verdict, plan }
}

/// The tool hands a partition over as if its server had stopped cleanly.
const PLAN_OPTIONS: PlanOptions = PlanOptions { sync_indexes: true, clean_stop: true, makes_ledger: false };

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
