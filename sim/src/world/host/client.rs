//! What clients ask of a host: append, flush, checkpoint, retain, poll. The truth is told of each answer at once.
//!
//! Promises: with more than one node a batch enters the sequence when the host has given it offsets, and only a
//! node that has followed to its end takes one. Leaves out: sessions, and a client's own retries.

use recovery_core::format::stamp;
use recovery_core::host::{ClientError, Status};
use recovery_core::partition::{PollError, PollRequest, Writer};
use recovery_core::units::{Length, Offset};

use super::cluster::{Batch, Command};
use super::run::HostWorld;
use crate::oracle::answer::{Answer as PollAnswer, AnswerView};
use crate::oracle::invariants::{check_answer, check_own_offsets, check_success};
use crate::oracle::truth::Life;
use crate::run::tally::Tally;
use crate::schedule::{Append, BatchId, ErrorClass, LinkState, Poll, Retain};
use crate::world::event::{EventCode, word};
use crate::world::poll::{Reply, batches, messages};
use crate::world::producer::{produce, time_of};
use crate::world::serve::{Answer, promise_all, tell_acknowledged};

/// What a client is told by a node that has not followed to the end.
const BEHIND: &str = "behind";

impl HostWorld<'_> {
    pub(super) fn append(&mut self, m: usize, index: usize, append: &Append, tally: &mut Tally) -> Answer {
        tally.batches += u64::from(append.count);
        let is_alone = self.members.len() == 1;
        for number in 0..append.count {
            let key = self.members[m].key(index);
            if !is_alone && self.members[m].is_served(index) && !self.is_at_the_end(m, index) {
                return Answer::Failed(BEHIND);
            }
            let batch = BatchId(append.batch.0 + number);
            let time = time_of(self.step);
            produce(append, batch, time, &mut self.scratch.batch, &mut self.scratch.payload);
            match self.produce(m, index, batch, time) {
                Ok((base, next)) if !is_alone => {
                    let bytes = std::mem::take(&mut self.scratch.batch);
                    let committed = Batch { key, id: batch, base, next, time, bytes };
                    self.cluster.commit(self.step, Command::Batch(committed));
                }
                Ok(_) => {}
                Err(error) => return self.failed(m, index, &error),
            }
        }
        Answer::Done
    }

    /// Whether a node holds all that the sequence gives a partition, and may give it more.
    fn is_at_the_end(&self, m: usize, index: usize) -> bool {
        let member = &self.members[m];
        let key = member.key(index);
        let next = member.host.as_ref().and_then(|host| host.writer(key.namespace)).map(Writer::next_offset);
        member.link != LinkState::Down
            && self.cluster.target(key.namespace) == Some(key)
            && next == Some(self.cluster.end(key))
    }

    /// Gives the batch in the scratch memory to a host.
    pub(super) fn produce(
        &mut self,
        m: usize,
        index: usize,
        batch: BatchId,
        time: u64,
    ) -> Result<(Offset, Offset), ClientError> {
        let may_answer = self.members[m].may_answer(index);
        let member = &mut self.members[m];
        let slot = &mut member.node.slots[index];
        let namespace = slot.header.namespace;
        let host = member.host.as_mut().expect("the node is up");
        let answer = host.produce(&member.node.disk, namespace, &self.scratch.batch, time);
        self.answers.push((index, answer.is_ok()));
        let violation = check_success(may_answer, answer.is_ok());
        let appended = match answer {
            Ok(appended) => appended,
            Err(error) => {
                self.fail_call(namespace, violation);
                return Err(error);
            }
        };
        let (base, next) = (appended.base_offset, appended.next_offset);
        let pending = member.node.disk.recorded();
        let what = (u64::from(batch.0), base.get(), next.get());
        self.recorder.note_behind(pending, EventCode::Appended, what);
        let mut bytes = self.scratch.batch.clone();
        stamp(&mut bytes, namespace.partition_id(), base, time).expect("what was taken in is whole");
        let writer = host.writer(namespace).expect("what takes a batch is served");
        let last = writer.chain().segments().last().expect("an append has a segment");
        let position = last.end.get() + writer.buffered_length().get() - bytes.len() as u64;
        slot.truth.append(Some(batch), (base, next), (last.start, position), &bytes, Life::Buffered);
        let newest = slot.truth.writes().len() - 1;
        let reused = check_own_offsets(&slot.truth, newest);
        self.fail_call(namespace, violation);
        self.fail_call(namespace, reused);
        Ok((base, next))
    }

    fn fail_call(
        &mut self,
        namespace: recovery_core::units::Namespace,
        violation: Option<crate::oracle::Violation>,
    ) {
        if let Some(violation) = violation {
            self.fail(Some(namespace), violation, "append", None);
        }
    }

    /// A call of a client failed.
    pub(super) fn failed(&mut self, m: usize, index: usize, error: &ClientError) -> Answer {
        let namespace = self.members[m].node.slots[index].header.namespace;
        let pending = self.members[m].node.disk.recorded();
        let what = (namespace.packed(), word(error.code()), 0);
        self.recorder.note_behind(pending, EventCode::WriterFailed, what);
        Answer::Failed(error.code())
    }

    pub(super) fn flush(&mut self, m: usize, index: usize) -> Answer {
        let may_answer = self.members[m].may_answer(index);
        let member = &mut self.members[m];
        let slot = &mut member.node.slots[index];
        let (namespace, promised) = (slot.header.namespace, slot.truth.promised_next);
        let host = member.host.as_mut().expect("the node is up");
        slot.truth.try_flush();
        let flushed = host.flush(&member.node.disk, namespace);
        self.answers.push((index, flushed.is_ok()));
        let violation = check_success(may_answer, flushed.is_ok());
        let answer = match flushed {
            Ok(acknowledged) => {
                tell_acknowledged(slot, acknowledged.next_offset);
                let what = (namespace.packed(), acknowledged.next_offset.get(), 0);
                self.recorder.note_behind(member.node.disk.recorded(), EventCode::Acknowledged, what);
                Answer::Done
            }
            Err(error) => self.failed(m, index, &error),
        };
        self.fail_call(namespace, violation);
        self.check_promises(m, index, promised);
        answer
    }

    pub(super) fn roll(&mut self, m: usize, index: usize) -> Answer {
        let may_answer = self.members[m].may_answer(index);
        let member = &mut self.members[m];
        let slot = &mut member.node.slots[index];
        let (namespace, promised) = (slot.header.namespace, slot.truth.promised_next);
        let host = member.host.as_mut().expect("the node is up");
        slot.truth.try_flush();
        let rolled = host.roll(&member.node.disk, namespace);
        // A roll flushes first. If it fails behind that, what it flushed is there for readers all the same.
        let readable = host.writer(namespace).and_then(|writer| writer.chain().next_offset());
        self.answers.push((index, rolled.is_ok()));
        let violation = check_success(may_answer, rolled.is_ok());
        if let Ok(acknowledged) = &rolled {
            tell_acknowledged(slot, acknowledged.next_offset);
        }
        if let Some(readable) = readable {
            slot.truth.acknowledge(readable);
        }
        let answer = match rolled {
            Ok(acknowledged) => {
                // A roll syncs the log before it seals it.
                promise_all(slot);
                let next = acknowledged.next_offset.get();
                let pending = member.node.disk.recorded();
                self.recorder.note_behind(pending, EventCode::Acknowledged, (namespace.packed(), next, 0));
                Answer::Done
            }
            Err(error) => self.failed(m, index, &error),
        };
        self.fail_call(namespace, violation);
        self.check_promises(m, index, promised);
        answer
    }

    pub(super) fn checkpoint(&mut self, m: usize, index: usize) -> Answer {
        let may_answer = self.members[m].may_answer(index);
        let member = &mut self.members[m];
        let slot = &mut member.node.slots[index];
        let (namespace, promised) = (slot.header.namespace, slot.truth.promised_next);
        let host = member.host.as_mut().expect("the node is up");
        slot.truth.try_flush();
        let done = host.checkpoint(&member.node.disk, namespace);
        self.answers.push((index, done.is_ok()));
        let violation = check_success(may_answer, done.is_ok());
        let answer = match done {
            Ok(()) => {
                promise_all(slot);
                Answer::Done
            }
            Err(error) => self.failed(m, index, &error),
        };
        self.fail_call(namespace, violation);
        self.check_promises(m, index, promised);
        answer
    }

    pub(super) fn retain(&mut self, m: usize, index: usize, retain: &Retain) -> Answer {
        let (is_served, may_answer) = (self.members[m].is_served(index), self.members[m].may_answer(index));
        let member = &mut self.members[m];
        let slot = &mut member.node.slots[index];
        let namespace = slot.header.namespace;
        let host = member.host.as_mut().expect("the node is up");
        if is_served {
            slot.truth.try_retain(retain.below);
        }
        slot.truth.try_flush();
        let done = host.retain(&member.node.disk, namespace, retain.below);
        // Even a deletion that failed half-way has moved the floor, which comes first.
        let chain = host.writer(namespace).map(Writer::chain);
        if let Some(first) = chain.and_then(|chain| chain.segments().first()) {
            slot.truth.retain(first.start.offset());
        }
        self.answers.push((index, done.is_ok()));
        let violation = check_success(may_answer, done.is_ok());
        let answer = match done {
            Ok(()) => {
                slot.truth.is_floor_doubtful = false;
                Answer::Done
            }
            Err(error) => self.failed(m, index, &error),
        };
        self.fail_call(namespace, violation);
        answer
    }

    /// Reads as a client does, and lets the oracle look at what comes.
    pub(super) fn poll(&mut self, m: usize, index: usize, request: &Poll, tally: &mut Tally) -> Answer {
        let (is_served, may_answer) = (self.members[m].is_served(index), self.members[m].may_answer(index));
        let member = &mut self.members[m];
        let Some(host) = &mut member.host else { return Answer::Missed };
        let namespace = request.partition;
        let asked = PollRequest {
            from: request.from,
            messages_max: u64::from(request.count),
            bytes_max: Length::new(u64::MAX),
        };
        let answered = host.poll(&member.node.disk, namespace, &asked, &mut self.workspace, &mut self.polled);
        self.note_calls(m, tally);
        let violation = check_success(may_answer, answered.is_ok());
        self.fail_call(namespace, violation);
        if is_served {
            self.judge_answer(m, index, request, &answered);
        }
        let reply = match &answered {
            Ok(()) => messages(&self.polled),
            Err(error) => reply_of(error),
        };
        let (digest, count) = match reply {
            Reply::Messages { count, digest, .. } => (digest, count),
            Reply::Error { class, code } => (word(code), word(class.code())),
        };
        self.recorder.note(EventCode::Polled, namespace.packed(), digest, count);
        self.outcome.answer(namespace, &reply);
        self.members[m].node.slots[index].last.reply = Some((request.from, reply));
        if let Some(told) = &mut self.told {
            told.answer(self.step, namespace, request.from, reply);
        }
        match reply {
            Reply::Messages { .. } => Answer::Done,
            Reply::Error { code, .. } => Answer::Failed(code),
        }
    }

    fn judge_answer(&mut self, m: usize, index: usize, request: &Poll, answered: &Result<(), ClientError>) {
        let answer = match answered {
            Ok(()) => PollAnswer::Batches(batches(&self.polled)),
            Err(ClientError::Poll(PollError::Damaged { first, last, .. })) => {
                PollAnswer::Damaged { first: *first, last: *last }
            }
            Err(_) => PollAnswer::Failed,
        };
        let member = &self.members[m];
        let violation = check_answer(&AnswerView {
            partition_id: request.partition.partition_id(),
            from: request.from,
            is_calm: !self.calls.iter().any(|call| call.errno.is_some()),
            // A read that is wrong counts as damage here.
            sees_truth: true,
            has_sync_failed: member.has_sync_failed,
            answer: &answer,
            truth: &member.node.slots[index].truth,
        });
        if let Some(violation) = violation {
            let remark = answered.as_ref().err().map(ToString::to_string);
            self.fail(Some(request.partition), violation, "poll", remark);
        }
    }
}

/// An error as a client may take it.
pub(super) const fn reply_of(error: &ClientError) -> Reply {
    let class = match (error, error.status()) {
        (ClientError::Poll(PollError::Damaged { .. }), _) => ErrorClass::Damaged,
        (_, Status::Terminal) => ErrorClass::Terminal,
        (_, Status::Retriable) => ErrorClass::Retriable,
    };
    Reply::Error { class, code: error.code() }
}
