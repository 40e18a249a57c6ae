//! What a scenario expects, held against the last start, the last answer and the last error.
//!
//! Promises: only what is named is compared, and every difference says what was expected and what is.
//! Leaves out: what is right; the oracle says that of every start and answer anyway.

use recovery_core::decide::{Action as SegmentAction, Disposition};
use recovery_core::observe::Unavailable;
use recovery_core::units::Offset;

use super::asked;
use super::boot::Boot;
use super::node::{Service, Slot};
use super::poll::Reply;
use super::report::Failure;
use super::run::World;
use super::serve::Answer;
use crate::oracle::invariants::is_untouched;
use crate::oracle::truth::Truth;
use crate::oracle::{Check, Value, Violation, judge};
use crate::run::tally::Tally;
use crate::schedule::{
    Action, ExpectAnswer, ExpectPartition, ExpectPoll, ExpectSegment, Expectation, OffsetRange, Poll,
    Schedule, StatusWord, Step,
};

/// What a scenario may ask about a partition.
#[derive(Default)]
pub(super) struct Last {
    /// Its last start.
    pub(super) boot: Option<Box<Boot>>,
    /// The last answer to a client that read, and the offset that was asked for; nothing has happened since.
    pub(super) reply: Option<(Offset, Reply)>,
    /// How the last call of a client failed, if it did.
    pub(super) error: Option<&'static str>,
}

impl World<'_> {
    /// Compares alternatives, of which one must hold.
    pub(super) fn expect(&mut self, alternatives: &[Expectation], tally: &mut Tally) -> Answer {
        let mut differences: Vec<(&Expectation, Vec<Violation>)> = Vec::new();
        for expectation in alternatives {
            let found = self.differences(expectation, tally);
            if found.is_empty() {
                return Answer::Done;
            }
            differences.push((expectation, found));
        }
        let many = differences.len() > 1;
        for (expectation, found) in differences {
            let boot = self.schedule.world.index_of(expectation.partition());
            let boot = boot.and_then(|index| self.node.slots[index].last.boot.as_deref());
            let recovery_step = recovery_step(self.schedule, self.step, expectation, boot);
            for violation in found {
                self.failures.push(Failure {
                    violation,
                    partition: Some(expectation.partition()),
                    remark: many.then(|| NO_ALTERNATIVE.to_owned()),
                    varied: None,
                    node: self.recorder.node(),
                    step: self.step,
                    recovery_step,
                });
            }
        }
        Answer::Done
    }

    fn differences(&mut self, expectation: &Expectation, tally: &mut Tally) -> Vec<Violation> {
        let namespace = expectation.partition();
        let Some(index) = self.schedule.world.index_of(namespace) else {
            return vec![difference("the partition", Value::Code("there"), Value::None)];
        };
        match expectation {
            Expectation::Partition(expected) => {
                let slot = &self.node.slots[index];
                match &slot.last.boot {
                    Some(boot) => of_partition(expected, boot, &slot.truth),
                    None => vec![difference("a start of the partition", Value::Code("one"), Value::None)],
                }
            }
            Expectation::Poll(expected) => {
                let reply = self.reply_to(expected, index, tally);
                answer(expected, reply.as_ref())
            }
            Expectation::Status { state, .. } => {
                let actual = status(&self.node.slots[index]);
                unlike("the status", Value::Code(state.code()), actual).into_iter().collect()
            }
            Expectation::Error { code, .. } => {
                let actual = self.node.slots[index].last.error.map_or(Value::None, text);
                unlike("the error of the last call", text(code), actual).into_iter().collect()
            }
        }
    }

    /// The last answer, if it was to the same question and nothing has happened since; else a new one.
    fn reply_to(&mut self, expected: &ExpectPoll, index: usize, tally: &mut Tally) -> Option<Reply> {
        let last = self.node.slots[index].last.reply;
        if let Some((_, reply)) = last.filter(|(from, _)| *from == expected.from) {
            return Some(reply);
        }
        let ExpectPoll { partition, from, .. } = *expected;
        let everything = Poll { partition, from, count: u32::MAX };
        match self.poll(&everything, index, tally) {
            Answer::Missed => None,
            Answer::Done | Answer::Failed(_) => self.node.slots[index].last.reply.map(|(_, reply)| reply),
        }
    }
}

/// What is said of each alternative where none holds.
pub(super) const NO_ALTERNATIVE: &str = "no alternative holds; this is what one of them misses";

/// Where it broke if an expectation fails: in what it speaks of, which is a start, a client's read, or the last
/// thing that was done on its node.
pub(super) fn recovery_step(
    schedule: &Schedule,
    at: u32,
    expectation: &Expectation,
    boot: Option<&Boot>,
) -> &'static str {
    let of_boot = || boot.map_or("decide", |boot| boot.recovery_step(Check::Expect));
    match expectation {
        Expectation::Partition(_) => of_boot(),
        Expectation::Poll(_) => "poll",
        Expectation::Status { .. } | Expectation::Error { .. } => {
            let at = usize::try_from(at).expect("a schedule is short").min(schedule.steps.len());
            let own = |step: &&Step| schedule.steps.get(at).is_none_or(|look| look.node == step.node);
            let before = schedule.steps[..at].iter().rev().filter(own);
            match before.filter(|step| !step.is_expectation()).map(|step| &step.action).next() {
                None | Some(Action::Start) => of_boot(),
                Some(action) => asked::recovery_step(action),
            }
        }
    }
}

pub(super) fn difference(subject: &'static str, expected: Value, actual: Value) -> Violation {
    Violation::new(Check::Expect, subject, expected, actual)
}

pub(super) fn unlike(subject: &'static str, expected: Value, actual: Value) -> Option<Violation> {
    (expected != actual).then(|| difference(subject, expected, actual))
}

/// A word of a scenario, which need not be one of the vocabulary.
pub(super) fn text(word: &str) -> Value {
    Value::Text(word.into())
}

/// What a node says of a partition, in the words of the grammar; nothing while it is down.
fn status(slot: &Slot) -> Value {
    match &slot.service {
        Service::Down => Value::None,
        Service::Serving(_) => Value::Code(StatusWord::Served.code()),
        Service::Refused(_) => Value::Code(StatusWord::Refused.code()),
        Service::Unavailable => Value::Code(StatusWord::Unavailable.code()),
    }
}

pub(super) fn answer(expected: &ExpectPoll, reply: Option<&Reply>) -> Vec<Violation> {
    let Some(reply) = reply else {
        return vec![difference("an answer", Value::Code("one"), Value::None)];
    };
    let mut found = Vec::new();
    match (&expected.answer, reply) {
        (None, _) => {}
        (Some(ExpectAnswer::Messages(wanted)), Reply::Messages { count, .. }) => {
            found.extend(unlike("messages of the answer", Value::Number(*wanted), Value::Number(*count)));
        }
        (Some(ExpectAnswer::Messages(wanted)), Reply::Error { code, .. }) => {
            found.push(difference("messages of the answer", Value::Number(*wanted), Value::Code(code)));
        }
        (Some(ExpectAnswer::Error { class, .. }), Reply::Messages { .. }) => {
            found.push(difference("the answer", Value::Code(class.code()), Value::Code("messages")));
        }
        (Some(ExpectAnswer::Error { class, code }), Reply::Error { class: actual, code: word }) => {
            let (class, actual) = (Value::Code(class.code()), Value::Code(actual.code()));
            found.extend(unlike("the class of the error", class, actual));
            if let Some(code) = code {
                found.extend(unlike("the code of the error", text(code), text(word)));
            }
        }
    }
    found
}

pub(super) fn of_partition(expected: &ExpectPartition, boot: &Boot, truth: &Truth) -> Vec<Violation> {
    let verdict = &boot.verdict;
    let mut found = Vec::new();
    let mut compare = |subject, wanted: Option<Value>, actual: Value| {
        found.extend(wanted.and_then(|wanted| unlike(subject, wanted, actual)));
    };
    let disposition = expected.disposition.map(|word| Value::Code(word.code()));
    compare("the disposition", disposition, Value::Code(verdict.disposition.code()));
    compare("the reason", expected.reason.map(|word| Value::Code(word.code())), reason(boot));
    compare("the next offset", expected.next_offset.map(Value::from), verdict.next_offset.into());
    let proven: u64 = boot.facts.segments.iter().map(|segment| segment.proven.messages).sum();
    let messages = if verdict.is_served() { proven } else { 0 };
    compare("messages served", expected.messages.map(Value::Number), Value::Number(messages));
    let wanted = expected.served.as_ref().map(|runs| text(&spelled(runs)));
    compare("offsets served", wanted, text(&spelled(&served(boot))));
    let saved: u64 = verdict.segments.iter().map(|segment| saved(segment.action)).sum();
    compare("bytes saved", expected.saved_bytes.map(Value::Number), Value::Number(saved));
    let unchanged = Value::Code(match &boot.before {
        Some(before) if is_untouched(before, &boot.after) => "unchanged",
        Some(_) => "changed",
        // An error of settling came first.
        None => "not looked at",
    });
    compare("the directory", expected.unchanged.then_some(Value::Code("unchanged")), unchanged);
    for expected in &expected.segments {
        found.extend(segment(expected, boot, truth));
    }
    found
}

fn reason(boot: &Boot) -> Value {
    match &boot.verdict.disposition {
        Disposition::Refuse(reason) => Value::Code(reason.code()),
        Disposition::Unavailable(Unavailable::Io(_)) => Value::Code("io"),
        Disposition::Unavailable(Unavailable::Locked) => Value::Code("locked"),
        Disposition::Serve | Disposition::ServeFrom { .. } => Value::None,
    }
}

fn saved(action: SegmentAction) -> u64 {
    match action {
        SegmentAction::Cut { save, .. } => save.get(),
        SegmentAction::Keep | SegmentAction::RebuildIndex => 0,
    }
}

/// Offsets that lie in the served logs, as runs.
fn served(boot: &Boot) -> Vec<OffsetRange> {
    let mut runs: Vec<OffsetRange> = Vec::new();
    for lying in judge::lying(&boot.after.directory, &boot.facts, &boot.verdict) {
        let Some(last) = lying.next.before().filter(|last| *last >= lying.base) else { continue };
        match runs.last_mut() {
            Some(run) if run.last.checked_add(1) == Some(lying.base) => run.last = last,
            Some(_) | None => runs.push(OffsetRange { first: lying.base, last }),
        }
    }
    runs
}

fn spelled(runs: &[OffsetRange]) -> String {
    let runs: Vec<String> = runs.iter().map(|run| format!("{}..{}", run.first, run.last)).collect();
    runs.join(",")
}

fn segment(expected: &ExpectSegment, boot: &Boot, truth: &Truth) -> Vec<Violation> {
    let facts = boot.facts.segments.iter().position(|facts| facts.start == expected.start);
    let Some(index) = facts else {
        let missing = difference("the segment", Value::Code("there"), Value::None);
        return vec![missing.in_segment(expected.start)];
    };
    let facts = &boot.facts.segments[index];
    let mut found = Vec::new();
    let mut compare = |subject, wanted: Option<Value>, actual: Value| {
        let violation = wanted.and_then(|wanted| unlike(subject, wanted, actual));
        found.extend(violation.map(|violation| violation.in_segment(expected.start)));
    };
    let action = boot.verdict.segments.get(index).map(|segment| segment.action);
    compare("the stop", expected.stop.map(|stop| Value::Code(stop.code())), {
        Value::Code(facts.stop.stop().code())
    });
    compare("the residue", expected.residue.map(|kind| Value::Code(kind.code())), {
        Value::Code(facts.residue.kind.code())
    });
    compare("the evidence", expected.evidence.map(|evidence| Value::Code(evidence.code())), {
        Value::Code(facts.evidence.code())
    });
    compare("the index", expected.index.map(|state| Value::Code(state.code())), {
        Value::Code(facts.index.state.code())
    });
    compare("the action", expected.action.map(|word| Value::Code(word.code())), {
        action.map_or(Value::None, |action| Value::Code(action.code()))
    });
    let cut = match action {
        Some(SegmentAction::Cut { at, .. }) => Value::Number(at.get()),
        Some(SegmentAction::Keep | SegmentAction::RebuildIndex) | None => Value::None,
    };
    let batch = expected.at_batch.map(|batch| match truth.find(batch) {
        Some(write) => Value::Number(write.position),
        None => Value::Code("a batch that was never written"),
    });
    compare("the place of the cut", batch, cut.clone());
    compare("the place of the cut", expected.at.map(|at| Value::Number(at.get())), cut);
    found
}
