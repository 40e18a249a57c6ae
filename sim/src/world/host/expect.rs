//! What a scenario expects of a node with a host.
//!
//! Promises: as of a lone partition, with what the host itself says of a partition's state.

use super::run::HostWorld;
use crate::oracle::Value;
use crate::run::tally::Tally;
use crate::schedule::{ExpectPoll, Expectation, Poll};
use crate::world::expect::{answer, difference, of_partition, text, unlike};
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
            failures.extend(found.into_iter().map(|violation| {
                Failure {
                    violation,
                    partition: Some(expectation.partition()),
                    remark: (alternatives.len() > 1)
                        .then(|| "no alternative holds; this is what one of them misses".to_owned()),
                    node: self.recorder.node(),
                    step: self.step,
                    recovery_step: "decide",
                }
            }));
        }
        self.failures.extend(failures);
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
                let actual = match &member.host {
                    None => "down",
                    Some(host) => host.state(namespace).map_or("gone", |state| state.code()),
                };
                unlike("the status", Value::Code(state.code()), Value::Code(actual)).into_iter().collect()
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
