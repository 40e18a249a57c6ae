//! What a scenario expects of a node with a host.
//!
//! Promises: as of a lone partition, with what the host itself says of a partition's state.

use recovery_core::host::PartitionState;

use super::run::HostWorld;
use crate::oracle::Value;
use crate::run::tally::Tally;
use crate::schedule::{ExpectPoll, Expectation, Poll, StatusWord};
use crate::world::expect::{NO_ALTERNATIVE, answer, difference, of_partition, recovery_step, text, unlike};
use crate::world::poll::Reply;
use crate::world::report::Failure;
use crate::world::serve::Answer;

impl HostWorld<'_> {
    /// Compares alternatives, of which one must hold.
    pub(super) fn expect(&mut self, m: usize, alternatives: &[Expectation], tally: &mut Tally) {
        let mut failures = Vec::new();
        for expectation in alternatives {
            let found = self.differences(m, expectation, tally);
            if found.is_empty() {
                return;
            }
            let boot = self.members[m].index_of(expectation.partition());
            let boot = boot.and_then(|index| self.members[m].node.slots[index].last.boot.as_deref());
            let recovery_step = recovery_step(self.schedule, self.step, expectation, boot);
            let remark = self.remark(m, expectation, alternatives.len() > 1);
            failures.extend(found.into_iter().map(|violation| Failure {
                violation,
                partition: Some(expectation.partition()),
                remark: remark.clone(),
                varied: None,
                node: self.recorder.node(),
                step: self.step,
                recovery_step,
            }));
        }
        self.failures.extend(failures);
    }

    /// What the grammar has no word for: that it is one of many, and a state that is on its way to another.
    fn remark(&self, m: usize, expectation: &Expectation, is_one_of_many: bool) -> Option<String> {
        if is_one_of_many {
            return Some(NO_ALTERNATIVE.to_owned());
        }
        let Expectation::Status { partition, .. } = expectation else { return None };
        let state = self.members[m].host.as_ref()?.state(*partition)?;
        status(state).is_none().then(|| format!("its host has it as {}", state.code()))
    }

    fn differences(
        &mut self,
        m: usize,
        expectation: &Expectation,
        tally: &mut Tally,
    ) -> Vec<crate::oracle::Violation> {
        let namespace = expectation.partition();
        let Some(index) = self.members[m].index_of(namespace) else {
            return vec![difference("the partition", Value::Code("there"), Value::None)];
        };
        let member = &self.members[m];
        let slot = &member.node.slots[index];
        match expectation {
            Expectation::Partition(expected) => match &slot.last.boot {
                Some(boot) => of_partition(expected, boot, &slot.truth),
                None => vec![difference("a start of the partition", Value::Code("one"), Value::None)],
            },
            Expectation::Poll(expected) => {
                let reply = self.reply_to(m, index, expected, tally);
                answer(expected, reply.as_ref())
            }
            Expectation::Status { state, .. } => {
                let actual = member.host.as_ref().and_then(|host| status(host.state(namespace)?));
                let actual = actual.map_or(Value::None, |word| Value::Code(word.code()));
                unlike("the status", Value::Code(state.code()), actual).into_iter().collect()
            }
            Expectation::Error { code, .. } => {
                let actual = slot.last.error.map_or(Value::None, text);
                unlike("the error of the last call", text(code), actual).into_iter().collect()
            }
        }
    }

    /// The last answer, if it was to the same question and nothing has happened since; else a new one.
    fn reply_to(
        &mut self,
        m: usize,
        index: usize,
        expected: &ExpectPoll,
        tally: &mut Tally,
    ) -> Option<Reply> {
        let last = self.members[m].node.slots[index].last.reply;
        if let Some((_, reply)) = last.filter(|(from, _)| *from == expected.from) {
            return Some(reply);
        }
        let everything = Poll { partition: expected.partition, from: expected.from, count: u32::MAX };
        match self.poll(m, index, &everything, tally) {
            Answer::Missed => None,
            Answer::Done | Answer::Failed(_) => {
                self.members[m].node.slots[index].last.reply.map(|(_, reply)| reply)
            }
        }
    }
}

/// What a host says of a partition, in the words of the grammar; `None` while it is neither here nor there.
const fn status(state: PartitionState) -> Option<StatusWord> {
    match state {
        PartitionState::Served => Some(StatusWord::Served),
        PartitionState::Refused => Some(StatusWord::Refused),
        PartitionState::Unavailable => Some(StatusWord::Unavailable),
        PartitionState::Rebuilding => Some(StatusWord::Rebuilding),
        PartitionState::Created | PartitionState::Recovering | PartitionState::Deleting => None,
    }
}
