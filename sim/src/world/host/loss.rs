//! The operator gives up what a refused partition has lost, beside a host that is up.
//!
//! Promises: the host has closed the directory, and judges it again afterwards; what is named is what the schedule
//! names. Leaves out: the tool, which does the same to a node that is down.

use recovery_core::host::{AcceptingLoss, PartitionState};
use recovery_core::observe::Progress;
use recovery_core::plan::PlanOptions;
use recovery_core::storage::{LockMode, PartitionDirectory};
use recovery_core::units::{Namespace, Offset};

use super::member::Accepting;
use super::run::HostWorld;
use super::slices::{SLICES_MAX, slice_bytes};
use crate::oracle::{Check, Value, Violation};
use crate::schedule::AcceptLoss;
use crate::world::boot::expectation;
use crate::world::serve::Answer;

impl HostWorld<'_> {
    pub(super) fn accept_loss(&mut self, m: usize, index: usize, loss: &AcceptLoss) -> Answer {
        let key = self.members[m].key(index);
        let state = self.members[m].host.as_ref().and_then(|host| host.state_of(&key));
        // With peers what is refused waits for them; an operator may give something up all the same.
        if !matches!(state, Some(PartitionState::Refused | PartitionState::Rebuilding)) {
            return Answer::Failed(state.map_or("no-such-partition", PartitionState::code));
        }
        let ranges = loss.range.map(|range| (range.first.get(), range.last.get()));
        let before = self.members[m].extras[index]
            .accepting
            .replace(Accepting { ranges: ranges.into_iter().collect() });
        let answer = self.accept(m, index, loss);
        // Behind an error nobody knows whether the ledger says so, before it is read again.
        if answer == Ok(false) {
            self.members[m].extras[index].accepting = before;
        }
        let member = &mut self.members[m];
        let host = member.host.as_mut().expect("the node is up");
        let again = host.judge_again(&member.node.disk, key.namespace);
        self.judge_pending(m);
        match (answer, again) {
            (Ok(true), Ok(())) => Answer::Done,
            (Ok(false), _) => Answer::Failed("range-mistake"),
            (Ok(true), Err(error)) => Answer::Failed(error.code()),
            (Err(code), _) => Answer::Failed(code),
        }
    }

    /// Does it; says whether the range was the one that is lost.
    fn accept(&mut self, m: usize, index: usize, loss: &AcceptLoss) -> Result<bool, &'static str> {
        let limit = slice_bytes(self.schedule);
        let member = &self.members[m];
        let slot = &member.node.slots[index];
        let disk = &member.node.disk;
        let partition = PartitionDirectory::open(disk, &slot.components).map_err(|_| "io")?;
        if partition.lock(disk, LockMode::Exclusive).is_err() {
            partition.close(disk);
            return Err("locked");
        }
        let named: Vec<_> = loss.range.into_iter().map(|range| lost(range.first, range.last)).collect();
        let options = PlanOptions { makes_ledger: slot.header.ledger, ..PlanOptions::default() };
        let mut accepting =
            AcceptingLoss::new(expectation(slot), options, slot.incarnation, &named, &mut self.workspace);
        for _ in 0..SLICES_MAX {
            match accepting.step(disk, &partition, &mut self.workspace, limit) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => {
                    let accepted = accepting.finish();
                    if let Some(ledger) = accepted.recovered.ledger {
                        ledger.close(disk);
                    }
                    partition.close(disk);
                    return if accepted.recovered.verdict.is_served() {
                        Ok(true)
                    } else {
                        Err("still-refused")
                    };
                }
                Err(_) => {
                    partition.close(disk);
                    return Ok(false);
                }
            }
        }
        let namespace: Namespace = slot.header.namespace;
        let violation =
            Violation::new(Check::I20, "slices of one command", Value::Code("an end"), Value::None);
        self.fail(Some(namespace), violation, "accept-loss", None);
        Err("endless")
    }
}

fn lost(first: Offset, last: Offset) -> recovery_core::decide::LostRange {
    recovery_core::decide::LostRange { first, last }
}
