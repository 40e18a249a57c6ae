//! What a client that reads is answered, by the core's own reader.
//!
//! Promises: every answer goes before the oracle as it is given; a partition that is not served says why,
//! and whether asking again is of use. Leaves out: whether the answer is right.

use recovery_core::partition::{PollError, PollRequest, Polled, Reader};
use recovery_core::units::{Length, Namespace, Offset};
use xxhash_rust::xxh3::Xxh3Default;

use super::event::{EventCode, word};
use super::node::Service;
use super::report::Failure;
use super::run::World;
use super::serve;
use crate::disk::Strike;
use crate::oracle::answer::{Answer, AnswerView, Answered};
use crate::oracle::invariants::check_answer;
use crate::run::tally::Tally;
use crate::schedule::{ErrorClass, Poll};

/// The reader and its memory, reused from poll to poll.
#[derive(Default)]
pub(super) struct Reading {
    reader: Reader,
    polled: Polled,
}

/// What a client was told, without the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Messages; none at all is an answer too.
    Messages {
        /// How many, from the offset asked for on.
        count: u64,
        /// The first offset of the first batch; `None` without a batch.
        first: Option<Offset>,
        /// Where the next poll goes on.
        next: Offset,
        /// A digest of the batches.
        digest: u64,
    },
    /// An error.
    Error {
        /// What the client may make of it.
        class: ErrorClass,
        /// Its permanent code.
        code: &'static str,
    },
}

impl World<'_> {
    /// Reads as a client does, and lets the oracle look at what comes.
    pub(super) fn poll(&mut self, request: &Poll, index: usize, tally: &mut Tally) -> serve::Answer {
        let slot = &self.node.slots[index];
        let namespace = slot.header.namespace;
        let reply = match &slot.service {
            Service::Down => return serve::Answer::Missed,
            Service::Refused(code) => Reply::Error { class: ErrorClass::Terminal, code: code.code() },
            Service::Unavailable => Reply::Error { class: ErrorClass::Retriable, code: "unavailable" },
            Service::Serving(writer) => {
                let asked = PollRequest {
                    from: request.from,
                    messages_max: u64::from(request.count),
                    bytes_max: Length::new(u64::MAX),
                };
                let Reading { reader, polled } = &mut self.reading;
                let (directory, chain) = (writer.directory(), writer.chain());
                let result =
                    reader.poll(&self.node.disk, directory, chain, &asked, &mut self.workspace, polled);
                self.note_calls(tally);
                self.judge_answer(request, index, &result);
                reply(&self.reading.polled, &result)
            }
        };
        self.note_reply(namespace, &reply);
        self.node.slots[index].last.reply = Some((request.from, reply));
        if let Some(told) = &mut self.told {
            told.answer(self.step, namespace, request.from, reply);
        }
        match reply {
            Reply::Messages { .. } => serve::Answer::Done,
            Reply::Error { code, .. } => serve::Answer::Failed(code),
        }
    }

    fn judge_answer(&mut self, request: &Poll, index: usize, result: &Result<(), PollError>) {
        let answer = match result {
            Ok(()) => Answer::Batches(batches(&self.reading.polled)),
            Err(PollError::Damaged { first, last, .. }) => Answer::Damaged { first: *first, last: *last },
            Err(PollError::Io(_)) => Answer::Failed,
        };
        let slot = &self.node.slots[index];
        let violation = check_answer(&AnswerView {
            partition_id: slot.header.namespace.partition_id(),
            from: request.from,
            is_calm: !self.calls.iter().any(|call| call.errno.is_some()),
            sees_truth: !self.strikes.iter().any(Strike::misleads),
            has_sync_failed: self.has_sync_failed,
            answer: &answer,
            truth: &slot.truth,
        });
        self.failures.extend(violation.map(|violation| Failure {
            violation,
            partition: Some(slot.header.namespace),
            remark: result.as_ref().err().map(ToString::to_string),
            varied: None,
            node: self.recorder.node(),
            step: self.step,
            recovery_step: "poll",
        }));
    }

    fn note_reply(&mut self, namespace: Namespace, reply: &Reply) {
        let (digest, count) = match reply {
            Reply::Messages { count, digest, .. } => (*digest, *count),
            Reply::Error { class, code } => (word(code), word(class.code())),
        };
        self.recorder.note(EventCode::Polled, namespace.packed(), digest, count);
        self.outcome.answer(namespace, reply);
    }
}

fn reply(polled: &Polled, result: &Result<(), PollError>) -> Reply {
    match result {
        Ok(()) => messages(polled),
        Err(error @ PollError::Damaged { .. }) => {
            Reply::Error { class: ErrorClass::Damaged, code: error.code() }
        }
        Err(error @ PollError::Io(_)) => Reply::Error { class: ErrorClass::Retriable, code: error.code() },
    }
}

pub(super) fn batches(polled: &Polled) -> Vec<Answered<'_>> {
    let batches = polled.batches().map(|(header, bytes)| Answered {
        base: header.base_offset,
        next: header.next_offset().expect("a batch that is answered leaves a next offset"),
        bytes,
    });
    batches.collect()
}

pub(super) fn messages(polled: &Polled) -> Reply {
    let mut digest = Xxh3Default::new();
    polled.batches().for_each(|(_, bytes)| digest.update(bytes));
    Reply::Messages {
        count: polled.messages(),
        first: polled.batches().next().map(|(header, _)| header.base_offset),
        next: polled.next_offset(),
        digest: digest.digest(),
    }
}
