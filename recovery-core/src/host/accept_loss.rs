//! The operator's way out of a refusal: what is lost is accepted, and the rest is served (DESIGN section 8).
//!
//! Promises: nothing changes unless exactly the offsets that are lost are named; the ledger says so first, durably,
//! and all else is ordinary recovery, so whatever call fails or crashes, a repeat comes to the same end, and so does any
//! later start once the ledger has it; batches behind the damage are carried over, and a copy of everything that is cut is kept. Leaves out:
//! a partition of which no rule tells what is right, which stays refused.

use thiserror::Error;

use super::loss_record::record;
use crate::decide::{Disposition, Losses, LostRange, Unacceptable, Verdict, decide, is_accepted, losses};
use crate::observe::{
    Expectation, LedgerState, Observation, Observed, PartitionFacts, Progress, Unavailable, Workspace,
};
use crate::plan::{Applying, FencedFile, Plan, PlanOptions, Settling};
use crate::recovery::{Mode, Recovered, Recovery};
use crate::storage::{PartitionDirectory, Storage, StorageError};
use crate::units::{Incarnation, Length};

/// The ranges that were named are not those that are lost. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", sentence(lost, named))]
pub struct RangeMistake {
    /// What is lost.
    pub lost: Vec<LostRange>,
    /// What was named.
    pub named: Vec<LostRange>,
}

fn sentence(lost: &[LostRange], named: &[LostRange]) -> String {
    let told =
        |ranges: &[LostRange]| ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    let truth = if lost.is_empty() {
        "no offset is lost".to_owned()
    } else {
        format!("offsets {} are lost", told(lost))
    };
    let claim =
        if named.is_empty() { "no range was named".to_owned() } else { format!("{} was named", told(named)) };
    format!("{truth}, and {claim}")
}

/// What accepting came to.
pub struct AcceptedLoss<S: Storage> {
    /// The ranges that were accepted; empty if no offset is lost, or nothing was accepted.
    pub lost: Vec<LostRange>,
    /// Whether records of an accepted loss were written.
    pub is_accepted: bool,
    /// What recovery came to. A partition that is still refused here was not touched.
    pub recovered: Recovered<S>,
}

enum Phase<S: Storage> {
    Settling(Box<Settling<S>>),
    Observing(Box<Observation<S>>),
    /// What has the ledger's name and is none gets out of the way.
    SettingAside {
        facts: Box<PartitionFacts>,
        losses: Losses,
        applying: Box<Applying<S>>,
    },
    Recovering(Box<Recovery<S>>),
    Done(Box<Recovered<S>>),
    /// Only ever seen while one phase is exchanged for the next.
    Between,
}

/// The acceptance of a loss under way.
pub struct AcceptingLoss<S: Storage> {
    expectation: Expectation,
    options: PlanOptions,
    new_ledger: Incarnation,
    named: Vec<LostRange>,
    lost: Vec<LostRange>,
    is_accepted: bool,
    fenced: Vec<FencedFile>,
    phase: Phase<S>,
}

impl<S: Storage> AcceptingLoss<S> {
    /// An acceptance of which nothing is done. `named` are the ranges that the operator gives up; a ledger is made,
    /// if there is none, for the life that `expectation` names, or else for `new_ledger`.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::partition_components;
    /// use recovery_core::host::AcceptingLoss;
    /// use recovery_core::observe::{Expectation, Progress, Workspace};
    /// use recovery_core::plan::PlanOptions;
    /// use recovery_core::storage::os::OsStorage;
    /// use recovery_core::storage::{LockMode, PartitionDirectory};
    /// use recovery_core::units::{Incarnation, Namespace};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// let storage = OsStorage::open(data.path())?;
    /// let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// assert!(partition.lock(&storage, LockMode::Exclusive).is_ok());
    /// let mut workspace = Workspace::new(64 * 1024);
    /// let (expectation, options) = (Expectation::of(namespace), PlanOptions::default());
    /// let mut accepting = AcceptingLoss::new(expectation, options, Incarnation::new(1), &[], &mut workspace);
    /// while accepting.step(&storage, &partition, &mut workspace, 1024 * 1024)? == Progress::More {}
    /// let accepted = accepting.finish();
    /// // The partition is served: nothing is lost, and nothing was accepted.
    /// assert!(!accepted.is_accepted && accepted.lost.is_empty());
    /// assert!(accepted.recovered.verdict.is_served());
    /// partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        expectation: Expectation,
        options: PlanOptions,
        new_ledger: Incarnation,
        named: &[LostRange],
        workspace: &mut Workspace,
    ) -> Self {
        let settling = Settling::new(expectation, options.sync_indexes, workspace);
        Self {
            expectation,
            options,
            new_ledger,
            named: named.to_vec(),
            lost: Vec::new(),
            is_accepted: false,
            fenced: Vec::new(),
            phase: Phase::Settling(Box::new(settling)),
        }
    }

    /// Goes on for about `limit` bytes of reading, hashing or copying. `partition` is locked, every time.
    ///
    /// # Errors
    ///
    /// [`RangeMistake`]: nothing was changed, nothing is open, and there is nothing to go on with.
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
    ) -> Result<Progress, RangeMistake> {
        match &mut self.phase {
            Phase::Settling(settling) => match settling.step(storage, partition, workspace, limit) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => self.observe(workspace),
                Err(error) => self.fail(PartitionFacts::of_nothing(self.expectation), &error),
            },
            Phase::Observing(observation) => {
                if observation.step(storage, partition, workspace, limit) == Progress::Done {
                    self.judge(storage, partition, workspace)?;
                }
            }
            Phase::SettingAside { facts, applying, .. } => {
                match applying.step(storage, partition, facts, workspace, limit) {
                    Ok(Progress::More) => {}
                    Ok(Progress::Done) => self.end_setting_aside(storage, partition, workspace),
                    Err(error) => self.fail(PartitionFacts::of_nothing(self.expectation), &error),
                }
            }
            Phase::Recovering(recovery) => {
                if recovery.step(storage, partition, workspace, limit) == Progress::Done
                    && let Phase::Recovering(recovery) = std::mem::replace(&mut self.phase, Phase::Between)
                {
                    self.phase = Phase::Done(Box::new(recovery.finish()));
                }
            }
            Phase::Done(_) | Phase::Between => {}
        }
        Ok(if matches!(self.phase, Phase::Done(_)) { Progress::Done } else { Progress::More })
    }

    /// What it came to.
    ///
    /// # Panics
    ///
    /// If [`AcceptingLoss::step`] has not said [`Progress::Done`].
    pub fn finish(self) -> AcceptedLoss<S> {
        let Phase::Done(recovered) = self.phase else {
            unreachable!("an acceptance is finished when its last step is done")
        };
        let mut recovered = *recovered;
        recovered.fenced.extend(self.fenced);
        recovered.fenced.sort();
        AcceptedLoss { lost: self.lost, is_accepted: self.is_accepted, recovered }
    }

    /// Closes what is open, of an acceptance that is given up half-way.
    pub fn close(&mut self, storage: &S) {
        match std::mem::replace(&mut self.phase, Phase::Between) {
            Phase::Settling(mut settling) => settling.close(storage),
            Phase::Observing(mut observation) => observation.close(storage),
            Phase::SettingAside { mut applying, .. } => applying.close(storage),
            Phase::Recovering(mut recovery) => recovery.close(storage),
            Phase::Done(recovered) => {
                if let Some(ledger) = recovered.ledger {
                    ledger.close(storage);
                }
            }
            Phase::Between => {}
        }
    }

    fn observe(&mut self, workspace: &mut Workspace) {
        self.phase = Phase::Observing(Box::new(Observation::new(self.expectation, workspace)));
    }

    fn judge(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
    ) -> Result<(), RangeMistake> {
        let Phase::Observing(observation) = std::mem::replace(&mut self.phase, Phase::Between) else {
            unreachable!("facts come from an observation")
        };
        let Observed { facts, failure } = observation.finish();
        if let Some(failure) = failure {
            let verdict = Verdict::unavailable(failure, &facts.segments);
            self.end(facts, verdict, false);
            return Ok(());
        }
        let verdict = decide(&facts);
        let found = match losses(&facts) {
            Ok(found) if found.are(&self.named, &facts) => found,
            Ok(found) => return Err(RangeMistake { lost: found.ranges, named: self.named.clone() }),
            Err(Unacceptable::Undecidable(_)) => {
                self.end(facts, verdict, true);
                return Ok(());
            }
            Err(Unacceptable::NotRefused) => return self.finish_earlier(facts, verdict, workspace),
        };
        if found.records.iter().any(|loss| loss.chain_hash.is_none()) {
            // No ledger names a life to hash for. All is read once more for the one that will.
            assert!(self.expectation.incarnation.is_none(), "facts are hashed for a life that is known");
            self.expectation.incarnation = Some(self.new_ledger);
            self.observe(workspace);
            return Ok(());
        }
        self.lost.clone_from(&found.ranges);
        match facts.ledger {
            LedgerState::None { length: Some(length) } if length > Length::ZERO => {
                let applying = Box::new(Applying::new(Plan::of_ledger_set_aside()));
                self.phase = Phase::SettingAside { facts: Box::new(facts), losses: found, applying };
            }
            LedgerState::None { .. } | LedgerState::Known(_) | LedgerState::Mismatch { .. } => {
                self.accept(storage, partition, facts, &found, workspace);
            }
        }
        Ok(())
    }

    /// A partition that is served: either an earlier run accepted all that was named, and what is left of it is
    /// done; or nothing is lost.
    fn finish_earlier(
        &mut self,
        facts: PartitionFacts,
        verdict: Verdict,
        workspace: &mut Workspace,
    ) -> Result<(), RangeMistake> {
        match verdict.disposition {
            Disposition::Serve | Disposition::ServeFrom { .. } => {}
            Disposition::Refuse(_) | Disposition::Unavailable(_) => {
                self.end(facts, verdict, true);
                return Ok(());
            }
        }
        if !self.named.iter().all(|named| is_accepted(named, &facts)) {
            return Err(RangeMistake { lost: Vec::new(), named: self.named.clone() });
        }
        self.recover(workspace);
        Ok(())
    }

    fn end_setting_aside(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
    ) {
        let Phase::SettingAside { facts, losses, applying } =
            std::mem::replace(&mut self.phase, Phase::Between)
        else {
            unreachable!("a plan is ended that was begun")
        };
        self.fenced.extend(applying.finish(storage).fenced);
        self.accept(storage, partition, *facts, &losses, workspace);
    }

    /// Writes the records, durably; what follows is ordinary recovery.
    fn accept(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        facts: PartitionFacts,
        losses: &Losses,
        workspace: &mut Workspace,
    ) {
        match record(storage, partition, &facts, losses, self.expectation.incarnation) {
            Ok(()) => {
                self.is_accepted = true;
                self.recover(workspace);
            }
            Err(error) => self.fail(facts, &error),
        }
    }

    fn recover(&mut self, workspace: &mut Workspace) {
        let recovery = Recovery::new(self.expectation, Mode::Repair, self.options, workspace);
        self.phase = Phase::Recovering(Box::new(recovery));
    }

    /// An error is no evidence: whatever was found, the partition is unavailable.
    fn fail(&mut self, facts: PartitionFacts, error: &StorageError) {
        let verdict = Verdict::unavailable(Unavailable::Io(*error), &facts.segments);
        self.end(facts, verdict, false);
    }

    fn end(&mut self, facts: PartitionFacts, verdict: Verdict, is_observed: bool) {
        self.phase = Phase::Done(Box::new(Recovered {
            facts,
            is_observed,
            verdict,
            plan: Plan::default(),
            fenced: Vec::new(),
            stopped_at: None,
            ledger: None,
        }));
    }
}
