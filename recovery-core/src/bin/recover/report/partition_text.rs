//! One partition for people: what was found, where, and what would be done or was done.
//!
//! Promises: nothing is announced that does not happen; advice stands apart, in lines that start with
//! `hint:`. Leaves out: colours, which the stream takes out where none are wanted.

use recovery_core::decide::{Disposition, LostRange};
use recovery_core::observe::{OtherEntry, PartitionFacts};
use recovery_core::storage::EntryKind;

use super::change::Tense;
use super::object::messages;
use super::segment_text::{block, is_whole, whole_line};
use super::{Mode, Outcome, Report, advice, cause, change, ledger, step};
use crate::exit::Exit;
use crate::palette::{BAD, DIM, GOOD, HEADING, REPAIR, UNKNOWN, paint};
use crate::paragraph::{counted, paragraph};

/// The longest run of whole segments of which each has a line; a longer one shows its two ends.
const WHOLE_RUN_MAX: usize = 6;

/// Names of one kind that are listed.
const NAMES_LISTED_MAX: usize = 8;

/// The text of a report.
pub(crate) fn text(report: &Report<'_>) -> String {
    let mut text = format!(
        "{} {}\n",
        paint(HEADING, &format!("partition {}", report.target.namespace)),
        paint(DIM, &format!("in {}", report.target.given.display()))
    );
    text.push_str(&paragraph("", &disposition(report)));
    if let Some(facts) = report.facts() {
        text.push_str(&segments(report));
        text.push_str(&names(facts));
        text.push_str(&lost(report));
    }
    if report.mode == Mode::Plan && !report.found.plan.is_empty() {
        let steps = step::text(&report.found.plan.steps);
        text.push_str(&["\n", &paint(HEADING, "steps"), "\n", &steps].concat());
    }
    text.push_str(&closing(report));
    for hint in advice::hints(report) {
        text.push_str(&paragraph("hint: ", &hint));
    }
    text
}

fn disposition(report: &Report<'_>) -> String {
    let word = report.found.verdict.disposition.code();
    match &report.found.verdict.disposition {
        Disposition::Serve => format!("{}: {}", served_word(report), served(report)),
        Disposition::ServeFrom { first, last } => format!(
            "{}: {}; offsets {first} to {last} are a gap, which no message fills",
            served_word(report),
            served(report)
        ),
        Disposition::Refuse(reason) => format!("{} ({}): {reason}", paint(BAD, word), reason.code()),
        Disposition::Unavailable(cause) => format!(
            "{} ({}): {}",
            paint(UNKNOWN, word),
            cause::code(cause),
            cause::sentence(cause, &report.target.name())
        ),
    }
}

fn served_word(report: &Report<'_>) -> String {
    let word = report.found.verdict.disposition.code();
    if report.exit() == Exit::Clean { paint(GOOD, word) } else { paint(REPAIR, word) }
}

fn served(report: &Report<'_>) -> String {
    let facts = report.facts().expect("only what was observed is served");
    let next = report.found.verdict.next_offset.expect("what is served has a next offset");
    let held = counted(messages(facts), "message");
    let segments = counted(facts.segments.len() as u64, "segment");
    let state = match report.exit() {
        Exit::Repair if report.outcome() == Outcome::Applied => "repaired",
        Exit::Repair => "a repair is due",
        Exit::Clean | Exit::Usage | Exit::Refused | Exit::Unavailable => "nothing to repair",
    };
    format!("{held} proven in {segments}, next offset {next}, {state}")
}

/// Every segment that is not whole, and runs of whole ones between them.
fn segments(report: &Report<'_>) -> String {
    let all = report.segments();
    let runs = all.chunk_by(|(facts, verdict), (next_facts, next_verdict)| {
        is_whole(facts, verdict.action) && is_whole(next_facts, next_verdict.action)
    });
    let mut text = String::new();
    for run in runs {
        text.push('\n');
        let (facts, verdict) = run[0];
        if is_whole(facts, verdict.action) {
            text.push_str(&whole_run(&run.iter().map(|(facts, _)| whole_line(facts)).collect::<Vec<_>>()));
        } else {
            text.push_str(&block(facts, verdict.action, report.outcome()));
        }
    }
    text
}

fn whole_run(lines: &[String]) -> String {
    if lines.len() <= WHOLE_RUN_MAX {
        return lines.concat();
    }
    let (first, last) = (&lines[0], &lines[lines.len() - 1]);
    let between = paint(DIM, &format!("{} more whole segments", lines.len() - 2));
    format!("{first}  {between}\n{last}")
}

/// Which offsets a refused partition has lost, or which were given up.
fn lost(report: &Report<'_>) -> String {
    let told = |lead: &str, ranges: &[LostRange]| {
        let list = ranges.iter().map(|range| format!("offsets {range}")).collect::<Vec<_>>().join(", ");
        let list = if ranges.is_empty() { "no offset".to_owned() } else { list };
        format!("\n{}", paragraph(lead, &list))
    };
    match (&report.found.given_up, report.lost()) {
        (Some(ranges), _) => told("given up: ", ranges),
        (None, Some(lost)) => told("lost: ", &lost.ranges),
        (None, None) => String::new(),
    }
}

/// The ledger where it is not whole, and what else lies in the directory.
fn names(facts: &PartitionFacts) -> String {
    let listing = &facts.listing;
    let kinds = [
        ("unexpected: ", entries(&listing.unexpected)),
        ("scratch: ", listing.scratch.iter().map(ToString::to_string).collect()),
        ("expired: ", facts.expired.iter().map(|start| format!("{:020}", start.get())).collect()),
        ("left alone: ", entries(&listing.others)),
    ];
    let mut text = ledger::line(facts);
    for (lead, names) in kinds.into_iter().filter(|(_, names)| !names.is_empty()) {
        text.push_str(&paragraph(lead, &listed(&names)));
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES_LISTED_MAX)].join(", ");
    match names.len().checked_sub(NAMES_LISTED_MAX) {
        Some(more @ 1..) => format!("{shown} and {more} more"),
        Some(0) | None => shown,
    }
}

fn entries(entries: &[OtherEntry]) -> Vec<String> {
    let told = entries.iter().map(|entry| match entry.kind {
        EntryKind::File => entry.name.to_string(),
        EntryKind::Directory => format!("{}/", entry.name),
        EntryKind::Other => format!("{} (no regular file)", entry.name),
    });
    told.collect()
}

/// What was read, and what would be done or was.
fn closing(report: &Report<'_>) -> String {
    let Some(work) = report.found.work else { return String::new() };
    let steps = &report.found.plan.steps;
    let source = match report.mode {
        Mode::Check | Mode::Plan | Mode::Adopt => "through the page cache",
        Mode::Apply | Mode::AcceptLoss => "the page cache dropped first",
    };
    let read =
        format!("{} read and {} hashed, {source}", counted(work.bytes_read, "byte"), work.bytes_hashed);
    let changed = match report.mode {
        Mode::Apply | Mode::AcceptLoss if report.found.failed.is_some() => {
            "the repair did not come to its end".to_owned()
        }
        Mode::Apply | Mode::AcceptLoss if !steps.is_empty() => change::summary(steps, Tense::Past),
        Mode::Adopt if report.found.fenced.is_some() => "the ledger was moved into the fence".to_owned(),
        Mode::Check | Mode::Plan | Mode::Apply | Mode::AcceptLoss | Mode::Adopt => {
            "nothing was changed".to_owned()
        }
    };
    let mut text = format!("\n{}", paragraph("", &format!("{read}; {changed}")));
    if matches!(report.mode, Mode::Check | Mode::Adopt) && !steps.is_empty() {
        text.push_str(&paragraph("", &format!("apply would {}", change::summary(steps, Tense::Future))));
    }
    for file in report.found.fenced.iter().flatten() {
        text.push_str(&paragraph("fenced: ", &file.to_string()));
    }
    if let Some(step) = &report.found.failed {
        let told = format!("{} ({}); the steps before it were taken", step.code(), step::sentence(step));
        text.push_str(&paragraph("stopped at: ", &told));
    }
    text
}
