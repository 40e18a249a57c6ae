//! Carries a plan out, step by step.
//!
//! Promises: nothing blocks for long, since saving and comparing are sliced and every other step is a few
//! calls; an error ends it with every byte that is not cut in place or in a fence, and every handle
//! closed; a repeat, after a crash anywhere, finds what is done and does the rest. Leaves out: settling
//! ([`super::Settling`]) and locking, which the caller has done before it observed.

use super::carrying::{self, Carrying, RunPlace};
use super::copies::{Copies, Place};
use super::fence::Fences;
use super::identify::{CheckingZeros, Identifying};
use super::index::{self, Staging};
use super::record::Recorder;
use super::save::Saving;
use super::search::Searching;
use super::set_aside::set_aside;
use super::site::Site;
use super::{Plan, Step, cut, reason_file};
use crate::format::{FileName, LedgerKind};
use crate::ledger::LedgerWriter;
use crate::observe::{PartitionFacts, Progress, STEP_BYTES_MIN, Workspace};
use crate::storage::{Name, PartitionDirectory, Storage, StorageError};

/// Something that was set aside: a fence, and a name in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FencedFile {
    /// The fence, in the directory that holds the partition directory.
    pub fence: Name,
    /// The copy in it.
    pub file: Name,
}

impl std::fmt::Display for FencedFile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.fence, self.file)
    }
}

/// What carrying a plan out came to.
pub struct Applied<S: Storage> {
    /// What lies in fences now of all that the plan set aside, whether this run or an earlier one put it
    /// there; ascending.
    pub fenced: Vec<FencedFile>,
    /// The ledger, if records were added to it: the facts do not know them. The caller closes it.
    pub ledger: Option<LedgerWriter<S>>,
}

/// The sliced part of a step that is under way.
enum Task<S: Storage> {
    None,
    Carrying(Box<Carrying<S>>),
    Identifying(Identifying<S>),
    Searching(Searching<S>),
    CheckingZeros(CheckingZeros<S>),
    Saving { task: Saving<S>, fence: usize },
    Staging(Staging<S>),
}

/// A plan that is being carried out.
pub struct Applying<S: Storage> {
    plan: Plan,
    /// Index of the step in hand.
    next: usize,
    task: Task<S>,
    copies: Copies,
    fences: Fences<S>,
    recorder: Recorder<S>,
    failure: Option<StorageError>,
}

impl<S: Storage> Applying<S> {
    /// A plan of which nothing is done yet.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::partition_components;
    /// # use recovery_core::observe::{Expectation, Progress, Workspace};
    /// # use recovery_core::plan::PlanOptions;
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::storage::PartitionDirectory;
    /// # use recovery_core::units::Namespace;
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let storage = OsStorage::open(data.path())?;
    /// # let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// use recovery_core::decide::decide;
    /// use recovery_core::observe::Observation;
    /// use recovery_core::plan::{Applying, build};
    ///
    /// let mut observation = Observation::new(Expectation::of(namespace), &mut workspace);
    /// while observation.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
    /// let facts = observation.finish().facts;
    /// let plan = build(&facts, &decide(&facts), PlanOptions::default());
    /// let mut applying = Applying::new(plan);
    /// while applying.step(&storage, &partition, &facts, &mut workspace, 1024 * 1024)? == Progress::More {}
    /// assert!(applying.finish(&storage).fenced.is_empty(), "nothing was set aside");
    /// # partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(plan: Plan) -> Self {
        Self {
            copies: Copies::of(&plan.steps),
            plan,
            next: 0,
            task: Task::None,
            fences: Fences::none(),
            recorder: Recorder::unopened(),
            failure: None,
        }
    }

    /// The step in hand, or the one that failed; `None` once all are done.
    pub fn current(&self) -> Option<&Step> {
        self.plan.steps.get(self.next)
    }

    /// Does one slice of one step: reads, writes and hashes about `limit` bytes at most.
    ///
    /// `partition` is locked, and `facts` are those that the plan was built from, every time.
    ///
    /// # Errors
    ///
    /// Whatever a storage call returns, and [`crate::storage::Errno::STALE`] for a file that is not what
    /// observation saw. The partition is unavailable then: what is not cut yet stays, every handle is
    /// closed, and each further step returns the same error.
    ///
    /// # Panics
    ///
    /// If `limit` is below [`STEP_BYTES_MIN`].
    pub fn step(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        facts: &PartitionFacts,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<Progress, StorageError> {
        assert!(limit >= STEP_BYTES_MIN, "a step has room for a slice");
        if let Some(error) = self.failure {
            return Err(error);
        }
        let Some(step) = self.current().copied() else { return Ok(Progress::Done) };
        match self.perform(Site { storage, partition, facts }, &step, workspace, limit) {
            Ok(is_done) => self.next += usize::from(is_done),
            Err(error) => {
                self.failure = Some(error);
                self.close(storage);
                return Err(error);
            }
        }
        Ok(if self.current().is_none() { Progress::Done } else { Progress::More })
    }

    /// What was set aside, once every step is done. Closes what is still open.
    ///
    /// # Panics
    ///
    /// If [`Applying::step`] has not said [`Progress::Done`].
    pub fn finish(mut self, storage: &S) -> Applied<S> {
        assert!(self.current().is_none(), "a plan is finished when every step is done");
        let fenced_file = |fence: usize, file| FencedFile { fence: self.fences.get(fence).name, file };
        let mut fenced: Vec<_> = self
            .copies
            .iter()
            .filter_map(|copy| copy.fence().map(|fence| fenced_file(fence, copy.expect_name().name())))
            .collect();
        fenced.sort();
        let ledger = self.recorder.take();
        self.close(storage);
        Applied { fenced, ledger }
    }

    /// Closes what is open. A plan that is given up half-way must be closed first; one that failed is.
    pub fn close(&mut self, storage: &S) {
        self.end_task(storage);
        self.fences.close(storage);
        if let Some(ledger) = self.recorder.take() {
            ledger.close(storage);
        }
    }

    /// Does a slice of `step`; says whether the step is done by then.
    fn perform(
        &mut self,
        site: Site<'_, S>,
        step: &Step,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<bool, StorageError> {
        if matches!(self.task, Task::None) {
            self.task = self.begin(site, step)?;
        }
        if let Task::Carrying(task) = &mut self.task {
            let is_done = task.advance(site, workspace, limit)?;
            if is_done {
                self.end_task(site.storage);
            }
            return Ok(is_done);
        }
        let scratch = workspace.scratch();
        let is_done = match &mut self.task {
            Task::Carrying(_) => unreachable!("carrying needs all of the workspace"),
            Task::None => self.perform_at_once(site, step).map(|()| true),
            Task::Identifying(task) => task.advance(site, &mut self.copies, scratch, limit),
            Task::Searching(task) => task.advance(site, &mut self.copies, &mut self.fences, scratch, limit),
            Task::CheckingZeros(task) => task.advance(site, scratch, limit),
            Task::Saving { task, fence } => task.advance(site, self.fences.get(*fence), scratch, limit),
            Task::Staging(task) => task.advance(site, scratch, limit),
        }?;
        if is_done {
            let was_compared = matches!(self.task, Task::Saving { .. });
            self.end_task(site.storage);
            if let (Step::SetAside { file }, true) = (*step, was_compared) {
                set_aside(site, self.copies.of_file(&file), &self.fences)?;
            }
        }
        Ok(is_done)
    }

    /// Starts the sliced part of a step, if it has one and that is not done yet.
    fn begin(&mut self, site: Site<'_, S>, step: &Step) -> Result<Task<S>, StorageError> {
        match *step {
            Step::Identify { file, position, length } => {
                Identifying::start(site, &file, position, length).map(Task::Identifying)
            }
            Step::MakeFence if self.copies.any_missing() => {
                Searching::start(site, &self.copies).map(Task::Searching)
            }
            Step::CheckZeros { segment, position, length } => {
                CheckingZeros::start(site, segment, position, length).map(Task::CheckingZeros)
            }
            Step::SaveResidue { segment, .. } => self.begin_saving(site, &FileName::log(segment)),
            Step::SaveIndex { segment, .. } => self.begin_saving(site, &FileName::index(segment)),
            // Only the second of two copies goes, once it is known to be one.
            Step::SetAside { file } if matches!(self.copies.of_file(&file).place, Place::Found(_)) => {
                self.begin_saving(site, &file)
            }
            Step::StageRun { segment, prefix, position, length, mark } => {
                let place = RunPlace { segment, prefix, position, length, mark };
                Carrying::start(site, place).map(|task| Task::Carrying(Box::new(task)))
            }
            Step::StageIndex { segment, sync, .. } => Staging::start(site, segment, sync).map(Task::Staging),
            Step::MakeFence
            | Step::WriteReason
            | Step::SyncFence
            | Step::InstallRun { .. }
            | Step::RecordSealed { .. }
            | Step::RecordFrontier { .. }
            | Step::ReserveOffset { .. }
            | Step::CutLog { .. }
            | Step::SetAside { .. }
            | Step::InstallIndex { .. }
            | Step::SyncDirectory
            | Step::RecordRecovered { .. }
            | Step::RecordCleanStop { .. } => Ok(Task::None),
        }
    }

    fn begin_saving(&mut self, site: Site<'_, S>, file: &Name) -> Result<Task<S>, StorageError> {
        let copy = *self.copies.of_file(file);
        match copy.place {
            Place::Found(fence) => {
                let task = Saving::again(site, &copy, self.fences.get(fence))?;
                Ok(Task::Saving { task, fence })
            }
            Place::Assigned(fence) => {
                let task = Saving::start(site, &copy, self.fences.get(fence))?;
                Ok(Task::Saving { task, fence })
            }
            Place::Missing | Place::Spared => unreachable!("what is saved has a place in a fence"),
        }
    }

    /// Does a step that is a few calls, or nothing any more.
    fn perform_at_once(&mut self, site: Site<'_, S>, step: &Step) -> Result<(), StorageError> {
        match *step {
            // Every copy was found, or has another way into the fence.
            Step::MakeFence | Step::SaveResidue { .. } | Step::SaveIndex { .. } => Ok(()),
            Step::WriteReason => self.write_reasons(site),
            Step::SyncFence => {
                self.fences.iter().try_for_each(|fence| site.storage.sync_directory(&fence.directory))
            }
            Step::ReserveOffset { offset } => self.recorder.reserve(site, offset),
            Step::CutLog { segment, from, to } => cut::cut(site, segment, from, to),
            Step::SetAside { file } => set_aside(site, self.copies.of_file(&file), &self.fences),
            Step::InstallIndex { segment } => index::install(site, segment),
            Step::InstallRun { segment } => carrying::install(site, segment),
            Step::RecordSealed { mark, next_start } => {
                self.recorder.mark(site, LedgerKind::Sealed { mark, next_start })
            }
            Step::RecordFrontier { mark } => self.recorder.mark(site, LedgerKind::Frontier { mark }),
            Step::SyncDirectory => site.storage.sync_directory(&site.partition.directory),
            Step::RecordRecovered { mark } => self.recorder.recovered(site, mark),
            Step::RecordCleanStop { mark, next_offset } => self.recorder.clean_stop(site, mark, next_offset),
            Step::StageRun { .. }
            | Step::Identify { .. }
            | Step::CheckZeros { .. }
            | Step::StageIndex { .. } => {
                unreachable!("these steps are done in slices")
            }
        }
    }

    fn write_reasons(&self, site: Site<'_, S>) -> Result<(), StorageError> {
        for (index, fence) in self.fences.iter().enumerate() {
            let copies = self.copies.iter().filter(|copy| copy.fence() == Some(index));
            reason_file::write(site, fence, copies)?;
        }
        Ok(())
    }

    fn end_task(&mut self, storage: &S) {
        match std::mem::replace(&mut self.task, Task::None) {
            Task::None => {}
            Task::Carrying(task) => task.close(storage),
            Task::Identifying(task) => task.close(storage),
            Task::Searching(task) => task.close(storage),
            Task::CheckingZeros(task) => task.close(storage),
            Task::Saving { task, .. } => task.close(storage),
            Task::Staging(task) => task.close(storage),
        }
    }
}
