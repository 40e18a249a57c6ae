//! Prints expectations.

use recovery_core::units::{Offset, Position};

use super::node::Node;
use crate::schedule::expect::{ExpectAnswer, ExpectPartition, ExpectPoll, ExpectSegment, Expectation};
use crate::schedule::step::OffsetRange;

pub(super) fn either(expectations: &[Expectation]) -> Node {
    Node::block("either").children(expectations.iter().map(expectation))
}

pub(super) fn expectation(expectation: &Expectation) -> Node {
    match expectation {
        Expectation::Partition(expected) => partition(expected),
        Expectation::Poll(expected) => poll(expected),
        Expectation::Status { partition, state } => {
            Node::new("expect-status").partition(*partition).set_word("state", *state)
        }
        Expectation::Error { partition, code } => {
            Node::new("expect-error").partition(*partition).set_text("code", code)
        }
    }
}

fn partition(expected: &ExpectPartition) -> Node {
    let node = Node::new("expect")
        .partition(expected.partition)
        .set_some_word("disposition", expected.disposition)
        .set_some_word("reason", expected.reason)
        .set_some("next-offset", expected.next_offset.map(Offset::get))
        .set_some("messages", expected.messages);
    let node = match &expected.served {
        None => node,
        Some(runs) => node.set_text("served", &served(runs)),
    };
    let node = node.children(expected.segments.iter().map(segment));
    let node = match expected.saved_bytes {
        None => node,
        Some(bytes) => node.child(Node::new("saved").set("bytes", bytes)),
    };
    if expected.unchanged { node.child(Node::new("unchanged")) } else { node }
}

fn served(runs: &[OffsetRange]) -> String {
    let runs: Vec<String> = runs.iter().map(|run| format!("{}..{}", run.first, run.last)).collect();
    runs.join(",")
}

fn segment(expected: &ExpectSegment) -> Node {
    Node::new("segment")
        .number(expected.start.get())
        .set_some_word("stop", expected.stop)
        .set_some_word("residue", expected.residue)
        .set_some_word("evidence", expected.evidence)
        .set_some_word("index", expected.index)
        .set_some_word("action", expected.action)
        .set_some("at-batch", expected.at_batch.map(|batch| batch.0))
        .set_some("at", expected.at.map(Position::get))
}

fn poll(expected: &ExpectPoll) -> Node {
    let node = Node::new("expect-poll").partition(expected.partition).set("from", expected.from.get());
    match &expected.answer {
        None => node,
        Some(ExpectAnswer::Messages(count)) => node.set("messages", *count),
        Some(ExpectAnswer::Error { class, code }) => {
            let node = node.set_word("error", *class);
            match code {
                None => node,
                Some(code) => node.set_text("code", code),
            }
        }
    }
}
