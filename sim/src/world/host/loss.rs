//! The operator gives up what a refused partition has lost, beside a host that is up.
//!
//! Promises: the host has closed the directory, and judges it again afterwards; what is named is what the schedule
//! names. Leaves out: the tool, which does the same to a node that is down.

use recovery_core::decide::LostRange;
use recovery_core::host::PartitionState;

use super::member::Accepting;
use super::run::HostWorld;
use super::slices::slice_bytes;
use crate::oracle::{Check, Value, Violation};
use crate::schedule::AcceptLoss;
use crate::world::giving_up::{GivenUp, give_up};
use crate::world::node::Node;
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
        let Node { disk, slots, .. } = &self.members[m].node;
        let namespace = slots[index].header.namespace;
        let range = loss.range.map(|range| LostRange { first: range.first, last: range.last });
        let limit = slice_bytes(self.schedule);
        let given_up = give_up(disk, &slots[index], range.as_slice(), &mut self.workspace, limit);
        match given_up {
            GivenUp::Served => Ok(true),
            GivenUp::Mistaken => Ok(false),
            GivenUp::StillRefused | GivenUp::Unopened(_) => Err(given_up.code()),
            GivenUp::Endless => {
                let subject = "slices of one command";
                let violation = Violation::new(Check::I20, subject, Value::Code("an end"), Value::None);
                self.fail(Some(namespace), violation, "accept-loss", None);
                Err(given_up.code())
            }
        }
    }
}
