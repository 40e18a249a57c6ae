//! The whole line for one partition: settle, observe, decide, plan, apply.
//!
//! Promises: each arrow is a value that can be looked at; nothing moves before every segment is judged, and
//! nothing at all in a partition that is refused or unavailable; each step is bounded. Leaves out: the
//! lock, which the caller takes first, and what becomes of a refused partition, which its host decides.

use crate::decide::{Verdict, decide};
use crate::format::FileName;
use crate::ledger::LedgerWriter;
use crate::observe::{Expectation, Observation, Observed, PartitionFacts, Progress, Unavailable, Workspace};
use crate::plan::{Applied, Applying, FencedFile, Plan, PlanOptions, Settling, Step, build};
use crate::storage::{Call, Errno, PartitionDirectory, Storage, StorageError};

/// How far recovery goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Looks, and changes nothing: not even what the cache holds is written back.
    Look,
    /// Settles first, and carries the plan out.
    Repair,
}

/// Where a recovery is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecoveryStep {
    /// Writing back what only the cache holds.
    Settle,
    /// Looking.
    Observe,
    /// Carrying the plan out.
    Apply,
    /// Over.
    Done,
}

/// What recovery of one partition came to.
pub struct Recovered<S: Storage> {
    /// What was found.
    pub facts: PartitionFacts,
    /// Whether the facts are about all of the partition: a call that fails while it is looked at leaves
    /// them incomplete, and one that fails while the plan is carried out does not.
    pub is_observed: bool,
    /// What follows.
    pub verdict: Verdict,
    /// What there is to do, or was done.
    pub plan: Plan,
    /// What lies in fences now of all that the plan set aside; empty under [`Mode::Look`], and if a step
    /// failed, since nothing was taken stock of then.
    pub fenced: Vec<FencedFile>,
    /// The step that failed. Those before it are done.
    pub stopped_at: Option<Step>,
    /// The ledger, if records were added to it. The caller hands it to a writer or closes it.
    pub ledger: Option<LedgerWriter<S>>,
}

enum Phase<S: Storage> {
    Settling(Box<Settling<S>>),
    Observing(Box<Observation<S>>),
    Applying {
        facts: Box<PartitionFacts>,
        verdict: Box<Verdict>,
        plan: Plan,
        applying: Box<Applying<S>>,
    },
    Done(Box<Recovered<S>>),
    /// Only ever seen while one phase is exchanged for the next.
    Between,
}

/// Recovery of one partition under way.
pub struct Recovery<S: Storage> {
    expectation: Expectation,
    options: PlanOptions,
    mode: Mode,
    /// What was done to carry batches over, before the partition was looked at once more.
    carried: Carried,
    phase: Phase<S>,
}

/// Steps that are done, and what they set aside.
#[derive(Default)]
struct Carried {
    steps: Vec<Step>,
    fenced: Vec<FencedFile>,
}

impl Carried {
    /// Whether batches were carried over. That is done once: it ends with a record for each segment, durable, behind
    /// which none waits for it any more.
    fn is_done(&self) -> bool {
        !self.steps.is_empty()
    }
}

impl<S: Storage> Recovery<S> {
    /// A recovery that has not begun.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::partition_components;
    /// use recovery_core::observe::{Expectation, Progress, Workspace};
    /// use recovery_core::plan::PlanOptions;
    /// use recovery_core::recovery::{Mode, Recovery};
    /// use recovery_core::storage::os::OsStorage;
    /// use recovery_core::storage::{LockMode, PartitionDirectory};
    /// use recovery_core::units::{Namespace, Offset};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// let storage = OsStorage::open(data.path())?;
    /// let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// assert!(partition.lock(&storage, LockMode::Exclusive).is_ok());
    ///
    /// let mut workspace = Workspace::new(64 * 1024);
    /// let (expectation, options) = (Expectation::of(namespace), PlanOptions::default());
    /// let mut recovery = Recovery::new(expectation, Mode::Repair, options, &mut workspace);
    /// // A slice at a time: a server does something else in between.
    /// while recovery.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
    /// let recovered = recovery.finish();
    /// assert_eq!(recovered.verdict.next_offset, Some(Offset::ZERO));
    /// assert!(recovered.ledger.is_none(), "no record was added to a ledger");
    /// partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        expectation: Expectation,
        mode: Mode,
        options: PlanOptions,
        workspace: &mut Workspace,
    ) -> Self {
        let phase = match mode {
            Mode::Look => Phase::Observing(Box::new(Observation::new(expectation, workspace))),
            Mode::Repair => {
                Phase::Settling(Box::new(Settling::new(expectation, options.sync_indexes, workspace)))
            }
        };
        Self { expectation, options, mode, carried: Carried::default(), phase }
    }

    /// Goes on for about `limit` bytes of reading, hashing or copying.
    ///
    /// # Panics
    ///
    /// If `limit` is below [`crate::observe::STEP_BYTES_MIN`].
    pub fn step(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Progress {
        match &mut self.phase {
            Phase::Settling(settling) => match settling.step(storage, partition, workspace, limit) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => {
                    let observation = Observation::new(self.expectation, workspace);
                    self.phase = Phase::Observing(Box::new(observation));
                }
                Err(error) => self.fail(&error),
            },
            Phase::Observing(observation) => {
                if observation.step(storage, partition, workspace, limit) == Progress::Done {
                    self.judge();
                }
            }
            Phase::Applying { facts, applying, .. } => {
                match applying.step(storage, partition, facts, workspace, limit) {
                    Ok(Progress::More) => {}
                    Ok(Progress::Done) => self.end_applying(storage, workspace),
                    Err(error) => self.fail(&error),
                }
            }
            Phase::Done(_) | Phase::Between => {}
        }
        if matches!(self.phase, Phase::Done(_)) { Progress::Done } else { Progress::More }
    }

    /// Where it is now.
    pub fn reached(&self) -> RecoveryStep {
        match self.phase {
            Phase::Settling(_) => RecoveryStep::Settle,
            Phase::Observing(_) => RecoveryStep::Observe,
            Phase::Applying { .. } => RecoveryStep::Apply,
            Phase::Done(_) | Phase::Between => RecoveryStep::Done,
        }
    }

    /// The step of its plan that is in hand; none before it has one, and behind the last.
    pub fn acting(&self) -> Option<Step> {
        match &self.phase {
            Phase::Applying { applying, .. } => applying.current().copied(),
            Phase::Settling(_) | Phase::Observing(_) | Phase::Done(_) | Phase::Between => None,
        }
    }

    /// Bytes read so far in looking at the partition, for a progress bar.
    pub fn bytes_observed(&self) -> u64 {
        match &self.phase {
            Phase::Observing(observation) => observation.bytes_read(),
            Phase::Applying { facts, .. } => facts.work.bytes_read,
            Phase::Done(recovered) => recovered.facts.work.bytes_read,
            Phase::Settling(_) | Phase::Between => 0,
        }
    }

    /// What it came to.
    ///
    /// # Panics
    ///
    /// If [`Recovery::step`] has not said [`Progress::Done`].
    pub fn finish(self) -> Recovered<S> {
        match self.phase {
            Phase::Done(recovered) => *recovered,
            Phase::Settling(_) | Phase::Observing(_) | Phase::Applying { .. } | Phase::Between => {
                unreachable!("recovery is finished when its last step is done")
            }
        }
    }

    /// Closes what is open, of a recovery that is given up half-way.
    pub fn close(&mut self, storage: &S) {
        match std::mem::replace(&mut self.phase, Phase::Between) {
            Phase::Settling(mut settling) => settling.close(storage),
            Phase::Observing(mut observation) => observation.close(storage),
            Phase::Applying { mut applying, .. } => applying.close(storage),
            Phase::Done(recovered) => {
                if let Some(ledger) = recovered.ledger {
                    ledger.close(storage);
                }
            }
            Phase::Between => {}
        }
    }

    /// From facts to a verdict, and to a plan.
    fn judge(&mut self) {
        let Phase::Observing(observation) = std::mem::replace(&mut self.phase, Phase::Between) else {
            unreachable!("facts come from an observation")
        };
        let Observed { facts, failure } = observation.finish();
        let is_observed = failure.is_none();
        let verdict = match failure {
            Some(failure) => Verdict::unavailable(failure, &facts.segments),
            None => decide(&facts),
        };
        let plan = build(&facts, &verdict, self.options);
        assert!(verdict.is_served() || plan.is_empty(), "nothing is planned for what is not served");
        if plan.carries() && self.carried.is_done() {
            self.end_forgotten(facts);
            return;
        }
        let is_over = self.mode == Mode::Look || plan.is_empty();
        self.phase = if is_over {
            let Carried { steps, fenced } = std::mem::take(&mut self.carried);
            let plan = Plan { steps: [steps, plan.steps].concat() };
            Phase::Done(Box::new(Recovered {
                facts,
                is_observed,
                verdict,
                plan,
                fenced,
                stopped_at: None,
                ledger: None,
            }))
        } else {
            let applying = Box::new(Applying::new(plan.clone()));
            Phase::Applying { facts: Box::new(facts), verdict: Box::new(verdict), plan, applying }
        };
    }

    /// The ledger does not hold what a sync said that it does: to go on would be to write it again, for ever.
    fn end_forgotten(&mut self, facts: PartitionFacts) {
        let forgotten = StorageError { call: Call::Sync, file: FileName::ledger(), errno: Errno::STALE };
        let verdict = Verdict::unavailable(Unavailable::Io(forgotten), &facts.segments);
        let plan = Plan { steps: std::mem::take(&mut self.carried).steps };
        let stopped_at = plan.steps.last().copied();
        self.phase = Phase::Done(Box::new(Recovered {
            facts,
            is_observed: true,
            verdict,
            plan,
            fenced: Vec::new(),
            stopped_at,
            ledger: None,
        }));
    }

    fn end_applying(&mut self, storage: &S, workspace: &mut Workspace) {
        let Phase::Applying { facts, verdict, plan, applying } =
            std::mem::replace(&mut self.phase, Phase::Between)
        else {
            unreachable!("a plan is ended that was begun")
        };
        let Applied { mut fenced, ledger } = applying.finish(storage);
        self.carried.fenced.append(&mut fenced);
        if plan.carries() {
            if let Some(ledger) = ledger {
                ledger.close(storage);
            }
            self.carried.steps.extend(plan.steps);
            let settling = Settling::new(self.expectation, self.options.sync_indexes, workspace);
            self.phase = Phase::Settling(Box::new(settling));
            return;
        }
        let Carried { steps, mut fenced } = std::mem::take(&mut self.carried);
        fenced.sort();
        let plan = Plan { steps: [steps, plan.steps].concat() };
        let (facts, verdict) = (*facts, *verdict);
        self.phase = Phase::Done(Box::new(Recovered {
            facts,
            is_observed: true,
            verdict,
            plan,
            fenced,
            stopped_at: None,
            ledger,
        }));
    }

    /// An error is no evidence: whatever was found, the partition is unavailable.
    fn fail(&mut self, error: &StorageError) {
        let (facts, plan, stopped_at) = match std::mem::replace(&mut self.phase, Phase::Between) {
            Phase::Applying { facts, plan, applying, .. } => (*facts, plan, applying.current().copied()),
            Phase::Settling(_) | Phase::Observing(_) | Phase::Done(_) | Phase::Between => {
                (PartitionFacts::of_nothing(self.expectation), Plan::default(), None)
            }
        };
        let verdict = Verdict::unavailable(Unavailable::Io(*error), &facts.segments);
        self.phase = Phase::Done(Box::new(Recovered {
            facts,
            is_observed: stopped_at.is_some(),
            verdict,
            plan,
            fenced: Vec::new(),
            stopped_at,
            ledger: None,
        }));
    }
}
