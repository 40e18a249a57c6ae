//! What happened to the bytes that broke: the steps and events that touch them, and no others.

use std::io::{self, Write};

use recovery_core::format::partition_components;
use recovery_core::storage::Call;

use crate::report::terminal::paragraph;
use crate::report::timeline::{sentence, step_line};
use crate::run::explain::{Explanation, Place};
use crate::run::replay::Replayed;
use crate::schedule::{Action, Step};
use crate::world::event::{Event, EventCode};

/// Rows that a person reads at once.
const ROWS_MAX: usize = 15;

/// Columns of what a row says.
const COLUMNS: usize = 70;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineRow {
    /// The step.
    pub step: u32,
    /// Whether it is the step itself, and not what came of it.
    pub is_step: bool,
    /// What it says.
    pub text: String,
}

/// Every row, whatever their number.
pub fn rows(explanation: &Explanation, replayed: &Replayed) -> Vec<TimelineRow> {
    let mut rows = Vec::new();
    let schedule = &replayed.schedule;
    for (number, step) in (0..=explanation.failure.step).zip(&schedule.steps) {
        let events = events(number, explanation, replayed);
        if events.is_empty() && !concerns(number, step, explanation) {
            continue;
        }
        let text = step_line(step);
        rows.push(TimelineRow { step: number, is_step: true, text });
        rows.extend(events.into_iter().map(|text| TimelineRow { step: number, is_step: false, text }));
    }
    let end = u32::try_from(schedule.steps.len()).expect("a schedule is short");
    if explanation.failure.step == end {
        let text = "then faults end, links come up, and every node starts".to_owned();
        rows.push(TimelineRow { step: end, is_step: true, text });
        let events = events(end, explanation, replayed).into_iter();
        rows.extend(events.map(|text| TimelineRow { step: end, is_step: false, text }));
    }
    rows
}

/// Whether a step itself has to do with what broke: it is the one that failed, or names the partition, or is
/// about all of the node.
fn concerns(number: u32, step: &Step, explanation: &Explanation) -> bool {
    let failure = &explanation.failure;
    let partition = step.action.partition();
    let is_about_partition = partition.is_some() && partition == failure.partition;
    let is_about_node = matches!(step.action, Action::Crash(_) | Action::Start | Action::Stop);
    let is_about_node =
        step.node.0 == failure.node && (is_about_node || (partition.is_none() && step.action.is_host()));
    let is_any = failure.partition.is_none();
    let is_about_it = is_about_partition || is_about_node || is_any;
    number == failure.step || (!step.is_expectation() && is_about_it)
}

/// What came of a step, as far as it touches what broke.
fn events(number: u32, explanation: &Explanation, replayed: &Replayed) -> Vec<String> {
    let subjects = replayed.report.told.as_ref().map(|told| &told.subjects);
    let (mut calls, mut others): (Vec<String>, Vec<String>) = Default::default();
    for (at, event) in (0..).zip(&replayed.report.events) {
        if event.step != number || event.node != explanation.failure.node {
            continue;
        }
        let subject = subjects.and_then(|subjects| subjects.get(&at)).map(String::as_str);
        if touches(event, subject, explanation) {
            // A step's calls are recorded when it is over, behind what they led to.
            let is_call = matches!(event.code, EventCode::Call | EventCode::CallFailed);
            let found = if is_call { &mut calls } else { &mut others };
            let text = sentence(event, subject);
            if found.last() != Some(&text) {
                found.push(text);
            }
        }
    }
    calls.append(&mut others);
    calls
}

fn touches(event: &Event, subject: Option<&str>, explanation: &Explanation) -> bool {
    let Some(place) = &explanation.place else { return false };
    let namespace = place.namespace.packed();
    match event.code {
        EventCode::Call | EventCode::CallFailed => call_touches(event, subject, place),
        EventCode::Crashed | EventCode::Missed | EventCode::Hit => true,
        EventCode::Acknowledged
        | EventCode::WriterFailed
        | EventCode::Verdict
        | EventCode::Polled
        | EventCode::Stopped
        | EventCode::Told => event.a == namespace,
        EventCode::Action => place.segment.is_some_and(|segment| segment.get() == event.a),
        EventCode::Step | EventCode::Bytes | EventCode::Planned | EventCode::Appended | EventCode::Fault => {
            false
        }
    }
}

/// Whether a storage call changes, secures or fails on the file that broke, at its bytes.
fn call_touches(event: &Event, subject: Option<&str>, place: &Place) -> bool {
    let Some(path) = subject else { return false };
    let directory: Vec<String> =
        partition_components(place.namespace).iter().map(ToString::to_string).collect();
    let directory = directory.join("/");
    let call = Call::ALL.into_iter().find(|call| *call as u64 == event.a & 0xff);
    let Some(below) = path.strip_prefix(&format!("{directory}/")) else {
        // Names beside the partition: fences, and the partition's own directory.
        let is_change =
            matches!(call, Some(Call::Rename | Call::Remove | Call::MakeDirectory | Call::SyncDirectory));
        return is_change && (path == directory || path.starts_with(&format!("{directory}.")));
    };
    let segment = place.segment.map(|segment| format!("{:020}", segment.get()));
    let is_file = match (&place.file, segment) {
        (Some(file), _) if file.as_bytes() == below.as_bytes() => true,
        (_, Some(stem)) => below == format!("{stem}.log"),
        (_, None) => false,
    };
    let (from, to) = (event.b, event.b.saturating_add(event.c));
    let overlaps = place.range.as_ref().is_none_or(|range| from < range.end && range.start < to);
    let failed = event.code == EventCode::CallFailed;
    is_file
        && match call {
            Some(Call::Write) => overlaps || failed,
            Some(Call::SetLength | Call::Sync | Call::Create | Call::Rename | Call::Remove) => true,
            Some(Call::Read | Call::Length | Call::Open) => failed,
            Some(Call::SyncDirectory | Call::List | Call::MakeDirectory | Call::Lock | Call::DropCache)
            | None => false,
        }
}

pub(super) fn write(out: &mut dyn Write, explanation: &Explanation, replayed: &Replayed) -> io::Result<()> {
    let rows = rows(explanation, replayed);
    let hidden = rows.len().saturating_sub(ROWS_MAX);
    let mut label = "Timeline";
    if hidden > 0 {
        paragraph(out, label, &format!("{hidden} earlier rows are left out: --full shows every call"))?;
        label = "";
    }
    let mut shown = None;
    for row in &rows[hidden..] {
        let lead = match (row.is_step, shown == Some(row.step)) {
            (true, _) => format!("{:>3} ", row.step),
            (false, true) => "      - ".to_owned(),
            (false, false) => format!("{:>3}   - ", row.step),
        };
        shown = Some(row.step);
        let text = clipped(&format!("{lead}{}", row.text));
        writeln!(out, "{label:>8}  {text}")?;
        label = "";
    }
    Ok(())
}

/// A text in a line's columns, with dots where it goes on.
fn clipped(text: &str) -> String {
    if text.chars().count() <= COLUMNS {
        return text.to_owned();
    }
    let kept: String = text.chars().take(COLUMNS - 3).collect();
    format!("{kept}...")
}
