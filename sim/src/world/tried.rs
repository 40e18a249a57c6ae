//! A start put to another program, beside the linked core: what `sim run --subject` does.
//!
//! Promises: the world goes on with the linked core, so a program changes no schedule and no digest, and each of
//! its starts stands for itself. Leaves out: running and judging it ([`crate::subject`]).

use super::frozen::told;
use super::linked::recover_linked;
use super::report::Failure;
use super::run::World;
use super::{boot, look};
use crate::oracle::case::Case;
use crate::report::json;
use crate::run::tally::Tally;

/// Where a program failed: it is one whole to the simulator.
const RECOVERY_STEP: &str = "boot";

impl World<'_> {
    /// What another program is to recover, where there is one and a real directory can hold it.
    pub(super) fn case_of_subject(&self, index: usize, tally: &mut Tally) -> Option<Case> {
        let trial = self.trial.as_ref()?;
        let slot = &self.node.slots[index];
        let disk = &self.node.disk;
        let case = look::directory(disk, &slot.components).map(|_| {
            let before = look::settled(disk, || look::image(disk, &slot.components));
            let expectation = told(boot::expectation(slot), trial.program().is_told_durability());
            Case::new(before, slot.truth.clone(), expectation, slot.header.ledger)
        });
        let case = case.filter(|case| case.unreadable().is_empty());
        tally.subject.left_out += u64::from(case.is_none());
        case
    }

    /// Puts the start to the other program.
    pub(super) fn try_subject(&mut self, index: usize, case: &Case, tally: &mut Tally) {
        let Some(trial) = self.trial.clone() else { return };
        let slot = &self.node.slots[index];
        let (told, left) = recover_linked(&case.before, &slot.components, case.expectation);
        let tried = trial.start(case, &slot.components, &(json::partition(&told), left));
        let namespace = slot.header.namespace;
        tally.subject.starts += 1;
        tally.subject.agreed += u64::from(tried.difference.is_none());
        if let Some(difference) = tried.difference {
            let sentence = format!("step {}, partition {namespace}: {difference}", self.step);
            tally.subject.difference.get_or_insert(sentence);
        }
        for (violation, remark) in tried.violations {
            let partition = Some(namespace);
            let (step, recovery_step) = (self.step, RECOVERY_STEP);
            let node = self.recorder.node();
            self.failures.push(Failure {
                violation,
                partition,
                remark,
                varied: None,
                node,
                step,
                recovery_step,
            });
        }
    }
}
