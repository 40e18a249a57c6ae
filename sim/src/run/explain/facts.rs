//! What a start's own facts say, beside what is true.
//!
//! Promises: what is true is told by what was written and what lies on the disk, never by the core. Leaves
//! out: judging; rows that differ are where to look first.

use recovery_core::decide::Action;
use recovery_core::format::FileName;
use recovery_core::observe::SegmentFacts;
use recovery_core::units::SegmentStart;

use crate::oracle::boot_view::bytes_of;
use crate::oracle::judge::verdict_code;
use crate::oracle::obligation::Obligation;
use crate::oracle::truth::{Life, Write};
use crate::world::{BootTold, PartitionLeft};

/// One thing that recovery knew or decided, and how it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRow {
    /// Of which segment; `None` for the partition.
    pub segment: Option<SegmentStart>,
    /// What.
    pub what: &'static str,
    /// What recovery says.
    pub recovery: String,
    /// What is true.
    pub truth: String,
    /// Whether the two differ. What has no counterpart differs from nothing.
    pub differs: bool,
}

/// The first row of which recovery knew otherwise.
pub fn first_difference(rows: &[FactRow]) -> Option<usize> {
    rows.iter().position(|row| row.differs)
}

/// Everything that recovery knew in a start, where `left` is what lay there when it began.
pub(super) fn rows(boot: &BootTold, left: Option<&PartitionLeft>) -> Vec<FactRow> {
    let Some(left) = left else { return Vec::new() };
    let mut rows: Vec<FactRow> =
        boot.facts.segments.iter().flat_map(|facts| segment(boot, facts, left)).collect();
    let next = boot.verdict.next_offset.map_or("none".to_owned(), |next| next.to_string());
    let whole = whole_next(left);
    // What is not served has no next offset.
    let differs = boot.verdict.next_offset.is_some() && next != whole;
    rows.push(FactRow { segment: None, what: "next offset", recovery: next, truth: whole, differs });
    rows.push(FactRow {
        segment: None,
        what: "verdict",
        recovery: verdict_code(&boot.verdict).to_owned(),
        truth: owed(left),
        differs: false,
    });
    rows
}

fn segment(boot: &BootTold, facts: &SegmentFacts, left: &PartitionLeft) -> Vec<FactRow> {
    let start = facts.start;
    let row = |what: &'static str, recovery: String, truth: String, differs: bool| FactRow {
        segment: Some(start),
        what,
        recovery,
        truth,
        differs,
    };
    let length = log(left, start).map_or(0, |log| log.len() as u64);
    let proven = facts.proven.end.get();
    let whole = whole_end(left, start);
    let action = boot.verdict.segments.iter().find(|segment| segment.start == start);
    let (did, keeps) = match action.map(|segment| segment.action) {
        Some(Action::Cut { at, .. }) => (format!("cut at {at}"), at.get()),
        Some(action @ (Action::Keep | Action::RebuildIndex)) => (action.code().to_owned(), length),
        None => ("none".to_owned(), length),
    };
    let promised = promised_end(left, start);
    let residue = format!("{}, {}", facts.residue.kind.code(), facts.evidence.code());
    let kept = whole.min(promised);
    vec![
        row("log bytes", facts.log_length.to_string(), length.to_string(), facts.log_length.get() != length),
        row("whole up to byte", proven.to_string(), whole.to_string(), proven != whole),
        row("what follows", residue, format!("promised up to {promised}"), false),
        row("action", did, format!("keep at least {kept}"), keeps < kept),
    ]
}

/// The first segment whose log recovery did not see, or saw to be whole up to another byte than it is.
pub(super) fn first_doubtful_segment(boot: &BootTold, left: &PartitionLeft) -> Option<SegmentStart> {
    let mut starts: Vec<SegmentStart> = living(left).map(|write| write.segment).collect();
    starts.extend(boot.facts.segments.iter().map(|facts| facts.start));
    starts.sort_unstable();
    starts.dedup();
    starts.into_iter().find(|start| {
        let facts = boot.facts.segments.iter().find(|facts| facts.start == *start);
        facts.is_none_or(|facts| facts.proven.end.get() != whole_end(left, *start))
    })
}

fn log(left: &PartitionLeft, start: SegmentStart) -> Option<&[u8]> {
    bytes_of(&left.image.directory, &FileName::log(start))
}

fn living(left: &PartitionLeft) -> impl Iterator<Item = &Write> {
    left.truth
        .writes()
        .iter()
        .filter(|write| matches!(write.life, Life::Buffered | Life::Acknowledged | Life::Adopted))
}

/// Where the batches of a log end that lie there as they were written, one behind the other from byte 0.
pub(super) fn whole_end(left: &PartitionLeft, start: SegmentStart) -> u64 {
    let mut writes: Vec<&Write> = living(left).filter(|write| write.segment == start).collect();
    writes.sort_by_key(|write| write.position);
    let whole = writes.into_iter().scan(0, |end, write| {
        let continues = write.position == *end && left.truth.lies_in(&left.image.directory, write);
        *end += u64::from(write.length);
        continues.then_some(*end)
    });
    whole.last().unwrap_or_default()
}

fn promised_end(left: &PartitionLeft, start: SegmentStart) -> u64 {
    let promised = living(left).filter(|write| write.segment == start && write.is_promised);
    promised.map(|write| write.position + u64::from(write.length)).max().unwrap_or_default()
}

/// One behind the last offset that can be served without a gap.
fn whole_next(left: &PartitionLeft) -> String {
    let mut writes: Vec<&Write> = living(left).collect();
    writes.sort_by_key(|write| write.base);
    let whole = writes.into_iter().take_while(|write| left.truth.lies_in(&left.image.directory, write));
    whole.last().map_or(left.truth.floor, |write| write.next).to_string()
}

/// What is owed, batch by batch, in one line.
fn owed(left: &PartitionLeft) -> String {
    let owed: Vec<Obligation> = left
        .truth
        .writes()
        .iter()
        .filter_map(|write| left.truth.owed(write, left.truth.lies_in(&left.image.directory, write)))
        .collect();
    let counts = Obligation::ALL.into_iter().filter_map(|kind| {
        let count = owed.iter().filter(|other| **other == kind).count();
        (count > 0).then(|| format!("{count} {}", kind.code()))
    });
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() { "nothing is owed".to_owned() } else { counts.join(", ") }
}
