//! Reads expectations.

use kdl::KdlNode;

use super::compound::Served;
use super::error::{ParseFault, Read};
use super::reader::{Reader, unknown_node};
use crate::schedule::expect::{ExpectAnswer, ExpectPartition, ExpectPoll, ExpectSegment, Expectation};

const EXPECTATIONS: [&str; 4] = ["expect", "expect-poll", "expect-status", "expect-error"];

pub(super) fn either(reader: Reader<'_>) -> Read<Vec<Expectation>> {
    let children = reader.finish_entries()?;
    children.iter().map(alternative).collect()
}

fn alternative(node: &KdlNode) -> Read<Expectation> {
    match expectation(Reader::new(node)?)? {
        Some(expectation) => Ok(expectation),
        None => unknown_node(node, "either", &EXPECTATIONS),
    }
}

/// Reads one expectation; `None` for a name that is none.
pub(super) fn expectation(mut reader: Reader<'_>) -> Read<Option<Expectation>> {
    let name = reader.name();
    if !EXPECTATIONS.contains(&name) {
        return Ok(None);
    }
    let partition = reader.argument("a partition")?;
    let expectation = match name {
        "expect-poll" => {
            let from = reader.required("from")?;
            let answer = answer(&mut reader)?;
            Expectation::Poll(ExpectPoll { partition, from, answer })
        }
        "expect-status" => Expectation::Status { partition, state: reader.required("state")? },
        "expect-error" => Expectation::Error { partition, code: reader.required("code")? },
        _ => {
            let expected = expect_partition(reader, ExpectPartition::new(partition))?;
            return Ok(Some(Expectation::Partition(Box::new(expected))));
        }
    };
    reader.finish()?;
    Ok(Some(expectation))
}

fn answer(reader: &mut Reader<'_>) -> Read<Option<ExpectAnswer>> {
    reader.not_both("messages", "error")?;
    if let Some(count) = reader.property("messages")? {
        return Ok(Some(ExpectAnswer::Messages(count)));
    }
    match reader.property("error")? {
        None => Ok(None),
        Some(class) => Ok(Some(ExpectAnswer::Error { class, code: reader.property("code")? })),
    }
}

fn expect_partition(mut reader: Reader<'_>, mut expected: ExpectPartition) -> Read<ExpectPartition> {
    expected.disposition = reader.property("disposition")?;
    expected.reason = reader.property("reason")?;
    expected.next_offset = reader.property("next-offset")?;
    expected.messages = reader.property("messages")?;
    expected.served = reader.property::<Served>("served")?.map(|served| served.0);
    for node in reader.finish_entries()? {
        let mut reader = Reader::new(node)?;
        match reader.name() {
            "segment" => expected.segments.push(segment(reader)?),
            "saved" if expected.saved_bytes.is_none() => {
                expected.saved_bytes = Some(reader.required("bytes")?);
                reader.finish()?;
            }
            "unchanged" if !expected.unchanged => {
                expected.unchanged = true;
                reader.finish()?;
            }
            name @ ("saved" | "unchanged") => {
                return reader.misfit(ParseFault::Repeated { name: name.to_owned() });
            }
            _ => return unknown_node(node, "expect", &["segment", "saved", "unchanged"]),
        }
    }
    Ok(expected)
}

fn segment(mut reader: Reader<'_>) -> Read<ExpectSegment> {
    let expected = ExpectSegment {
        start: reader.argument("the start of a segment")?,
        stop: reader.property("stop")?,
        residue: reader.property("residue")?,
        evidence: reader.property("evidence")?,
        index: reader.property("index")?,
        action: reader.property("action")?,
        at_batch: reader.property("at-batch")?,
        at: reader.property("at")?,
    };
    reader.finish()?;
    Ok(expected)
}
