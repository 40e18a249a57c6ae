//! Facts in, verdict out.

mod arbitrary_facts;
mod builder;
mod laws;
mod losses;
mod next_offset;
mod partition;
mod pieces;
mod promises;
mod reasons;
mod segment;

use std::fmt::Write;

use super::{Action, Disposition, Row, Verdict, decide, decide_telling};
use crate::observe::{PartitionFacts, Unavailable};

/// Decides, and compares the verdict in words with `expected`.
#[track_caller]
fn check(facts: impl Into<PartitionFacts>, expected: &str) {
    assert_eq!(words(&decide(&facts.into())), expected);
}

/// Decides, and compares the ids of the rows that were used with `expected`.
#[track_caller]
fn check_rows(facts: impl Into<PartitionFacts>, expected: &str) {
    let mut rows: Vec<Row> = Vec::new();
    let _ = decide_telling(&facts.into(), &mut |row| rows.push(row));
    let codes: Vec<&str> = rows.into_iter().map(Row::code).collect();
    assert_eq!(codes.join(" "), expected);
}

/// A verdict in one line: the disposition, the offset to reserve, and each action that is not `Keep`.
fn words(verdict: &Verdict) -> String {
    let mut line = match &verdict.disposition {
        Disposition::Serve => "serve".to_owned(),
        Disposition::ServeFrom { first, last } => format!("serve-from with gap {first}..{last}"),
        Disposition::Refuse(reason) => format!("refuse {}: {reason}", reason.code()),
        Disposition::Unavailable(Unavailable::Locked) => "unavailable: locked".to_owned(),
        Disposition::Unavailable(Unavailable::Io(error)) => format!("unavailable: {error}"),
    };
    if let Some(offset) = verdict.next_offset {
        write!(line, ", next {offset}").expect("to a string");
    }
    if let Some(offset) = verdict.reserve {
        write!(line, ", reserve {offset}").expect("to a string");
    }
    for segment in &verdict.segments {
        match segment.action {
            Action::Keep => {}
            Action::RebuildIndex => write!(line, ", rebuild-index {}", segment.start).expect("to a string"),
            Action::Cut { at, save } => {
                write!(line, ", cut {} at {at} saving {save}", segment.start).expect("to a string");
            }
        }
    }
    line
}
