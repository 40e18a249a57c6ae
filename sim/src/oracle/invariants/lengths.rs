//! I12: file length = recovered length = writer cursor, behind a start and behind every call of a client.

use recovery_core::decide::{Action, Verdict};
use recovery_core::format::FileName;
use recovery_core::observe::PartitionFacts;
use recovery_core::units::{Length, Position, SegmentStart};

use crate::oracle::{Check, Content, Image, Value, Violation};

/// Where a writer appends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The segment it appends to.
    pub segment: SegmentStart,
    /// The position of the next byte.
    pub position: Position,
}

/// How long each log is by what recovery says.
pub fn recovered_lengths(facts: &PartitionFacts, verdict: &Verdict) -> Vec<(SegmentStart, Length)> {
    let pairs = facts.segments.iter().zip(&verdict.segments);
    pairs
        .map(|(facts, verdict)| match verdict.action {
            Action::Keep | Action::RebuildIndex => (facts.start, facts.log_length),
            Action::Cut { at, .. } => (facts.start, at.as_length()),
        })
        .collect()
}

/// Compares the logs of a served partition with what recovery said of them, and with its writer.
pub fn check_lengths(
    after: &Image,
    recovered: &[(SegmentStart, Length)],
    cursor: Option<Cursor>,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut expect = |segment, subject, expected: Value, actual: Value| {
        if expected != actual {
            violations.push(Violation::new(Check::I12, subject, expected, actual).in_segment(segment));
        }
    };
    for (segment, length) in recovered {
        expect(*segment, "log length", (*length).into(), log_length(after, *segment).into());
    }
    if let Some(cursor) = cursor {
        let length = log_length(after, cursor.segment);
        expect(cursor.segment, "writer cursor", length.into(), cursor.position.as_length().into());
    }
    violations
}

/// Compares the log that a writer appends to with the writer, behind a call of a client: nothing is written ahead of a
/// flush, and what a call has written that failed is taken back (F11).
pub fn check_cursor(cursor: Cursor, log: Option<Length>) -> Option<Violation> {
    let expected = cursor.position.as_length();
    if log == Some(expected) {
        return None;
    }
    let violation = Violation::new(Check::I12, "log length behind a call", expected.into(), log.into());
    Some(violation.in_segment(cursor.segment))
}

fn log_length(image: &Image, segment: SegmentStart) -> Option<Length> {
    match image.find(FileName::log(segment).as_bytes()) {
        Some(Content::File(file)) => Some(Length::new(file.bytes.len() as u64)),
        Some(Content::Unopenable | Content::Directory | Content::Other) | None => None,
    }
}
