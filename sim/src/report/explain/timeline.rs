//! What happened to the bytes that broke: the steps and events that touch them, and no others.
//!
//! Promises: rows stand in the order in which things happened. Where there are more than a person reads at once, what
//! wrote the bytes that the check names is kept, and the last rows are. Leaves out: reads that went well.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::touch::touches;
use crate::report::terminal::paragraph;
use crate::report::timeline::{sentence, step_line};
use crate::run::explain::Explanation;
use crate::run::replay::Replayed;
use crate::schedule::{Action, Step};
use crate::world::event::{Event, EventCode};

/// Rows that a person reads at once.
const ROWS_MAX: usize = 15;

/// Damages that are shown, however long ago.
const DAMAGES_MAX: usize = 3;

/// Columns of what a row says.
const COLUMNS: usize = 70;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineRow {
    /// The step.
    pub step: u32,
    /// What it is.
    pub kind: RowKind,
    /// What it says.
    pub text: String,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A step of the schedule.
    Step,
    /// A step that appends.
    Append,
    /// A step that damages something.
    Damage,
    /// An event that came of a step.
    Event,
    /// A fault that hit a call, or a call that failed.
    Failed,
    /// A call that makes a file longer or shorter.
    Cut,
    /// A write of the bytes that the check names.
    Wrote,
    /// An acknowledgement.
    Acknowledged,
    /// What the start that matters was to do.
    Plan,
}

impl RowKind {
    const fn is_step(self) -> bool {
        matches!(self, Self::Step | Self::Append | Self::Damage)
    }
}

/// Every row, whatever their number.
pub fn rows(explanation: &Explanation, replayed: &Replayed) -> Vec<TimelineRow> {
    let events = Events { explanation, replayed, ordered: replayed.report.in_order() };
    let mut rows = Vec::new();
    let schedule = &replayed.schedule;
    for (number, step) in (0..=explanation.failure.step).zip(&schedule.steps) {
        let came = events.of(number);
        if came.is_empty() && !concerns(number, step, explanation) {
            continue;
        }
        rows.push(TimelineRow { step: number, kind: kind_of(step), text: step_line(step) });
        rows.extend(came);
    }
    let end = u32::try_from(schedule.steps.len()).expect("a schedule is short");
    if explanation.failure.step == end {
        let text = "then faults end, links come up, and every node starts".to_owned();
        rows.push(TimelineRow { step: end, kind: RowKind::Step, text });
        rows.extend(events.of(end));
    }
    rows
}

fn kind_of(step: &Step) -> RowKind {
    match &step.action {
        Action::Append(_) => RowKind::Append,
        Action::Fault { .. } | Action::Plant(_) => RowKind::Damage,
        Action::Flush(_)
        | Action::Roll(_)
        | Action::Checkpoint(_)
        | Action::Retain(_)
        | Action::Stop
        | Action::Start
        | Action::Poll(_)
        | Action::Crash(_)
        | Action::Evict(_)
        | Action::Create(_)
        | Action::Delete(_)
        | Action::Confirm(_)
        | Action::Reconcile
        | Action::QueueInsert(_)
        | Action::ApplyInserts
        | Action::AcceptLoss(_)
        | Action::Link(_)
        | Action::Transfer { .. }
        | Action::Expect(_)
        | Action::Either(_) => RowKind::Step,
    }
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

/// The events of a world, as far as they touch what broke.
struct Events<'a> {
    explanation: &'a Explanation,
    replayed: &'a Replayed,
    ordered: Vec<(u64, &'a Event)>,
}

impl Events<'_> {
    /// What came of a step.
    fn of(&self, number: u32) -> Vec<TimelineRow> {
        let subjects = self.replayed.report.told.as_ref().map(|told| &told.subjects);
        let mut rows: Vec<TimelineRow> = Vec::new();
        // What a verdict does to segments follows it.
        let mut judged = None;
        for (at, event) in &self.ordered {
            if event.step != number || event.node != self.explanation.failure.node {
                continue;
            }
            let subject = subjects.and_then(|subjects| subjects.get(at)).map(String::as_str);
            if event.code == EventCode::Verdict {
                judged = Some(event.a);
            }
            let Some(kind) = touches(event, subject, judged, self.explanation) else { continue };
            let text = sentence(event, subject);
            if rows.last().is_none_or(|last| last.text != text) {
                rows.push(TimelineRow { step: number, kind, text });
            }
            if event.code == EventCode::Verdict {
                rows.extend(self.plan(number));
            }
        }
        rows
    }

    /// What the start that matters was to do, if that is the step.
    fn plan(&self, number: u32) -> Option<TimelineRow> {
        let boot = self.explanation.boot.as_ref().filter(|boot| boot.step == number)?;
        let steps: Vec<&str> = boot.plan.steps.iter().map(recovery_core::plan::Step::code).collect();
        let text = format!("its plan: {}", steps.join(", "));
        (!steps.is_empty()).then_some(TimelineRow { step: number, kind: RowKind::Plan, text })
    }
}

/// The rows that are shown, by their numbers: what first and what last wrote the bytes that the check names, with the
/// append and the acknowledgement around it; the last damages, the last call that failed, and the last cut; the plan;
/// and as many of the last ones as there is room for, each with its step.
fn chosen(rows: &[TimelineRow]) -> BTreeSet<usize> {
    if rows.len() <= ROWS_MAX {
        return (0..rows.len()).collect();
    }
    let mut chosen = BTreeSet::new();
    let wrote = |row: &TimelineRow| row.kind == RowKind::Wrote;
    for write in rows.iter().position(wrote).into_iter().chain(rows.iter().rposition(wrote)) {
        let before = |is_it: fn(RowKind) -> bool| rows[..write].iter().rposition(|row| is_it(row.kind));
        let told = rows[write..].iter().take_while(|row| !row.kind.is_step());
        let told = told.into_iter().position(|row| row.kind == RowKind::Acknowledged);
        chosen.extend(before(|kind| kind == RowKind::Append));
        chosen.extend(before(RowKind::is_step));
        chosen.insert(write);
        chosen.extend(told.map(|behind| write + behind));
    }
    let damages = (0..rows.len()).rev().filter(|row| rows[*row].kind == RowKind::Damage);
    chosen.extend(damages.take(DAMAGES_MAX));
    for kind in [RowKind::Failed, RowKind::Cut, RowKind::Plan] {
        chosen.extend(rows.iter().rposition(|row| row.kind == kind));
    }
    for row in (0..rows.len()).rev() {
        if chosen.len() >= ROWS_MAX {
            break;
        }
        chosen.insert(row);
        chosen.extend(rows[..row].iter().rposition(|row| row.kind.is_step()));
    }
    chosen
}

/// The same, and each row that is the only one left out between two that are shown: dots would take its line.
fn without_gaps_of_one(mut chosen: BTreeSet<usize>) -> BTreeSet<usize> {
    let alone: Vec<usize> = chosen
        .iter()
        .filter_map(|at| at.checked_sub(1))
        .filter(|at| !chosen.contains(at) && at.checked_sub(1).is_none_or(|before| chosen.contains(&before)))
        .collect();
    chosen.extend(alone);
    chosen
}

pub(super) fn write(out: &mut dyn Write, explanation: &Explanation, replayed: &Replayed) -> io::Result<()> {
    let rows = rows(explanation, replayed);
    let chosen = without_gaps_of_one(chosen(&rows));
    let mut label = "Timeline";
    if chosen.len() < rows.len() {
        let count = rows.len() - chosen.len();
        let are = if count == 1 { "row is" } else { "rows are" };
        paragraph(out, label, &format!("{count} {are} left out, at each ...: --full shows every call"))?;
        label = "";
    }
    let (mut shown, mut next) = (None, 0);
    for at in chosen {
        let row = &rows[at];
        if at > next {
            writeln!(out, "{:10}...", "")?;
        }
        next = at + 1;
        let lead = match (row.kind.is_step(), shown == Some(row.step)) {
            (true, _) => format!("{:>3} ", row.step),
            (false, true) => "      - ".to_owned(),
            (false, false) => format!("{:>3}   - ", row.step),
        };
        shown = Some(row.step);
        for line in lines(&lead, row) {
            writeln!(out, "{label:>8}  {line}")?;
            label = "";
        }
    }
    Ok(())
}

/// A row in as many lines as it needs; what is to be copied from a schedule stands there whole, and is cut.
fn lines(lead: &str, row: &TimelineRow) -> Vec<String> {
    if row.kind.is_step() {
        return vec![clipped(&format!("{lead}{}", row.text))];
    }
    let mut lines = vec![lead.to_owned()];
    for word in row.text.split_whitespace() {
        let last = lines.last_mut().expect("there is one");
        let is_first = last.trim_end().len() <= lead.trim_end().len();
        let (width, indent) = (word.chars().count(), lead.chars().count());
        // What no line holds is cut where it stands.
        let is_cut = indent + width > COLUMNS;
        if !is_first && !is_cut && last.chars().count() + 1 + width > COLUMNS {
            lines.push(format!("{}{word}", " ".repeat(indent)));
        } else {
            let blank = if is_first { "" } else { " " };
            *last = format!("{last}{blank}{word}");
        }
    }
    lines.iter().map(|line| clipped(line)).collect()
}

/// A text in a line's columns, with dots where it goes on.
fn clipped(text: &str) -> String {
    if text.chars().count() <= COLUMNS {
        return text.to_owned();
    }
    let kept: String = text.chars().take(COLUMNS - 3).collect();
    format!("{kept}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: RowKind) -> TimelineRow {
        TimelineRow { step: 0, kind, text: "a word".to_owned() }
    }

    #[track_caller]
    fn check(kinds: &[RowKind], expected: &[usize]) {
        let rows: Vec<TimelineRow> = kinds.iter().map(|kind| row(*kind)).collect();
        assert_eq!(chosen(&rows), expected.iter().copied().collect());
    }

    #[test]
    fn what_wrote_the_bytes_is_shown_with_the_last_rows() {
        use RowKind::{Acknowledged, Append, Damage, Event, Step, Wrote};
        let few = [Append, Event, Step, Wrote, Acknowledged];
        check(&few, &[0, 1, 2, 3, 4]);
        let others = [Append, Event, Step, Event];
        let many = [&others[..], &few, &[Step], &[Event; 20]].concat();
        let last = (many.len() - 10..many.len()).collect::<Vec<usize>>();
        check(&many, &[&[4, 6, 7, 8, 9], &last[..]].concat());
        let damaged = [&[Damage; 4][..], &[Event; 20]].concat();
        check(&damaged, &[&[1, 2, 3][..], &(12..24).collect::<Vec<usize>>()].concat());
        let none = [Event; 20];
        check(&none, &(5..20).collect::<Vec<usize>>());
    }

    #[test]
    fn the_plan_and_what_failed_or_was_cut_last_are_shown_however_much_follows() {
        let rows = [&[RowKind::Step, RowKind::Plan][..], &[RowKind::Event; 20]].concat();
        check(&rows, &[&[0, 1][..], &(9..22).collect::<Vec<usize>>()].concat());
        let rows = [&[RowKind::Cut, RowKind::Cut][..], &[RowKind::Event; 20]].concat();
        check(&rows, &[&[1][..], &(8..22).collect::<Vec<usize>>()].concat());
        let rows = [&[RowKind::Failed, RowKind::Failed][..], &[RowKind::Event; 20]].concat();
        check(&rows, &[&[1][..], &(8..22).collect::<Vec<usize>>()].concat());
    }

    #[test]
    fn dots_never_stand_for_one_row() {
        let shown = |chosen: &[usize]| without_gaps_of_one(chosen.iter().copied().collect());
        assert_eq!(shown(&[1, 3, 6]), BTreeSet::from([0, 1, 2, 3, 6]));
        assert_eq!(shown(&[2, 5]), BTreeSet::from([2, 5]));
    }

    #[test]
    fn a_long_row_goes_on_below_itself_and_a_long_word_is_cut() {
        let told = |kind, text: &str| lines("      - ", &TimelineRow { text: text.to_owned(), ..row(kind) });
        let words = "word ".repeat(14);
        assert_eq!(
            told(RowKind::Event, &words),
            [format!("      - {}", "word ".repeat(12).trim_end()), "        word word".to_owned()]
        );
        assert_eq!(told(RowKind::Event, &"x".repeat(80)), [format!("      - {}...", "x".repeat(59))]);
        assert_eq!(
            told(RowKind::Event, &format!("a {}", "x".repeat(80))),
            [format!("      - a {}...", "x".repeat(57))]
        );
        assert_eq!(told(RowKind::Step, &words).len(), 1);
    }
}
