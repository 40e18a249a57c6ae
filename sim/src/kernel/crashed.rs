//! A real partition after its filesystem crashed: recovered by production recovery, twice, and judged.
//!
//! Promises: what is owed was noted when the writer answered, and is judged as for any other recovery program
//! ([`crate::subject`]). Leaves out: how it was written ([`super::partition`]).

use std::path::{Path, PathBuf};

use recovery_core::decide::Disposition;
use recovery_core::format::partition_components;
use recovery_core::observe::{Expectation, Progress, SegmentFacts, Workspace};
use recovery_core::plan::PlanOptions;
use recovery_core::recovery::{Mode, Recovered, Recovery};
use recovery_core::storage::os::OsStorage;
use recovery_core::storage::{LockMode, PartitionDirectory};
use recovery_core::units::{Namespace, Offset};

use crate::oracle::case::Case;
use crate::oracle::invariants::first_difference;
use crate::oracle::truth::{Truth, Write};
use crate::oracle::{Check, PartitionImage};
use crate::subject::answer::{Answer, Said, SegmentAnswer};
use crate::subject::directory;
use crate::subject::judge::judge;

use super::partition::PartitionError;

/// Bytes of the window over files, and of one step of a recovery.
pub(super) const WINDOW_BYTES: usize = 64 * 1024;

/// What recovery did wrong on a real image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wronged {
    /// The seed of the partition.
    pub seed: u64,
    /// What was seen, each in a sentence.
    pub sentences: Vec<String>,
}

/// A partition whose filesystem crashed.
pub(super) struct Crashed {
    pub(super) seed: u64,
    pub(super) root: PathBuf,
    pub(super) expectation: Expectation,
    pub(super) has_ledger: bool,
    pub(super) truth: Truth,
}

impl Crashed {
    /// Recovers it, and again, and says what is wrong with either, if anything is.
    pub(super) fn judge(self) -> Result<Option<Wronged>, PartitionError> {
        let seed = self.seed;
        let failed = |doing, told: String| PartitionError { seed, doing, told };
        let path = path_of(&self.root, self.expectation.namespace);
        let look = || directory::read(&path).map_err(|error| failed("reading it", error.to_string()));
        let storage = OsStorage::open(&self.root)
            .map_err(|error| failed("opening its directory", error.to_string()))?;
        let case = Case::new(look()?, self.truth, self.expectation, self.has_ledger);
        let mut sentences = broken_promises(&case);
        let answer = answer(&storage, self.expectation, self.has_ledger)
            .map_err(|told| failed("recovering it", told))?;
        let after = look()?;
        let violations = judge(&case, &answer, &after);
        sentences.extend(violations.iter().map(ToString::to_string));
        let second = again(&storage, self.expectation, self.has_ledger, &answer, &after, look)?;
        sentences.extend(second);
        Ok((!sentences.is_empty()).then_some(Wronged { seed, sentences }))
    }
}

/// Batches that were promised, and that the crash has taken all the same.
fn broken_promises(case: &Case) -> Vec<String> {
    let writes = case.truth.writes().iter();
    let is_broken = |write: &&Write| write.is_promised && !case.truth.lies_in(&case.before.directory, write);
    let tell = |write: &Write| format!("the batch at offset {} was promised, and is gone", write.base);
    writes.filter(is_broken).map(tell).collect()
}

/// What a second recovery says or does that it should not.
fn again(
    storage: &OsStorage,
    expectation: Expectation,
    has_ledger: bool,
    first: &Answer,
    after: &PartitionImage,
    look: impl Fn() -> Result<PartitionImage, PartitionError>,
) -> Result<Vec<String>, PartitionError> {
    let mut sentences = Vec::new();
    match answer(storage, expectation, has_ledger) {
        Ok(second) if second == *first => {}
        Ok(second) => sentences.push(format!("a second recovery says {}", second.said.code())),
        Err(told) => sentences.push(format!("a second recovery failed: {told}")),
    }
    sentences.extend(first_difference(Check::I09, after, &look()?).map(|found| found.to_string()));
    Ok(sentences)
}

/// Recovers a partition for good, and says what came of it as the operator's tool does.
fn answer(storage: &OsStorage, expectation: Expectation, has_ledger: bool) -> Result<Answer, String> {
    let mut workspace = Workspace::new(WINDOW_BYTES);
    let (recovered, directory) = recover(storage, expectation, has_ledger, &mut workspace)?;
    let Recovered { facts, verdict, ledger, stopped_at, .. } = recovered;
    if let Some(ledger) = ledger {
        ledger.close(storage);
    }
    directory.close(storage);
    if let Some(step) = stopped_at {
        return Err(format!("it stopped at {step:?}"));
    }
    let said = match &verdict.disposition {
        Disposition::Serve => Said::Serve,
        Disposition::ServeFrom { .. } => Said::ServeFrom,
        Disposition::Refuse(_) => Said::Refuse,
        Disposition::Unavailable(_) => Said::Unavailable,
    };
    let segment = |facts: &SegmentFacts| SegmentAnswer {
        start_offset: facts.start.get(),
        proven_bytes: Some(facts.proven.end.get()),
    };
    Ok(Answer {
        said,
        next_offset: verdict.next_offset.map(Offset::get),
        segments: facts.segments.iter().map(segment).collect(),
        object: serde_json::Value::Null,
    })
}

/// Recovers a partition for good, and leaves its directory open and locked.
pub(super) fn recover(
    storage: &OsStorage,
    expectation: Expectation,
    makes_ledger: bool,
    workspace: &mut Workspace,
) -> Result<(Recovered<OsStorage>, PartitionDirectory<OsStorage>), String> {
    let components = partition_components(expectation.namespace);
    let directory = PartitionDirectory::open(storage, &components).map_err(|error| error.to_string())?;
    directory.lock(storage, LockMode::Exclusive).map_err(|_| "it is locked".to_owned())?;
    let options = PlanOptions { makes_ledger, ..PlanOptions::default() };
    let mut recovery = Recovery::new(expectation, Mode::Repair, options, workspace);
    while recovery.step(storage, &directory, workspace, WINDOW_BYTES as u64) == Progress::More {}
    Ok((recovery.finish(), directory))
}

/// Where a partition lies below a data directory.
pub(super) fn path_of(root: &Path, namespace: Namespace) -> PathBuf {
    directory::path_below(root, &partition_components(namespace))
}
