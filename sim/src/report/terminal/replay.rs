//! A replay: why it failed, or one schedule step by step, with what each came to.

use std::io::{self, Write};

use recovery_core::decide::Action;

use super::run::parted;
use super::text::{counted, item, paragraph};
use crate::command::source::Source;
use crate::report::explain::explanation;
use crate::report::lines::DifferenceLine;
use crate::report::timeline::{is_detail, sentence, step_line};
use crate::run::replay::{Replayed, Reproduced};
use crate::schedule::token::Commit;
use crate::world::BootTold;
use crate::world::event::EventCode;

/// A replay: why it failed, or step by step where nothing failed; with `full` step by step and every storage
/// call too.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn replay(
    out: &mut dyn Write,
    source: &Source,
    built_from: Commit,
    replayed: &Replayed,
    full: bool,
) -> io::Result<()> {
    begin(out, source, built_from, replayed)?;
    if let Some(found) = replayed.explanation.as_ref().filter(|_| !full) {
        writeln!(out)?;
        explanation(out, found, replayed)?;
        if let Some(difference) = replayed.difference {
            parted(out, &DifferenceLine::from(difference))?;
        }
        writeln!(out)?;
        return summary(out, source, replayed);
    }
    let count = u32::try_from(replayed.schedule.steps.len()).expect("a schedule is short");
    let ended = replayed.until.map_or(count, |until| count.min(until + 1));
    for index in 0..ended {
        replay_step(out, replayed, index, full)?;
    }
    if replayed.has_rest() {
        replay_step(out, replayed, count, full)?;
    }
    replay_end(out, source, replayed)
}

fn begin(out: &mut dyn Write, source: &Source, built_from: Commit, replayed: &Replayed) -> io::Result<()> {
    let world = &replayed.schedule.world;
    let known = |lead: &str, commit: Commit| match commit {
        Commit::Unknown => String::new(),
        Commit::Known { .. } => format!("{lead} {commit}"),
    };
    let of = source.commit.map_or(String::new(), |commit| known(" of commit", commit));
    let by = known(", by", built_from);
    let (name, title) = (source.file.as_ref().or(source.token.as_ref()), &source.scenario.title);
    paragraph(out, "Replay", &format!("{}{of}{by}", name.map_or("", String::as_str)))?;
    paragraph(out, "", title)?;
    let shape = (world.filesystem.code(), world.regime.code(), world.window_bytes);
    let nodes = if world.nodes > 1 { format!(", {} nodes", world.nodes) } else { String::new() };
    paragraph(out, "World", &format!("{}, regime {}, window of {} bytes{nodes}", shape.0, shape.1, shape.2))?;
    for partition in &world.partitions {
        let ledger = if partition.ledger { "with a ledger" } else { "without a ledger" };
        paragraph(out, "", &format!("{} {}, {ledger}", partition.namespace, partition.durability.code()))?;
    }
    Ok(())
}

/// One step, with what it came to; behind the last one, what a world with hosts goes on with until all is well.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn replay_step(out: &mut dyn Write, replayed: &Replayed, index: u32, full: bool) -> io::Result<()> {
    match replayed.schedule.steps.get(index as usize) {
        Some(found) => step(out, replayed, (index, &format!("step {index}"), &step_line(found)), full),
        None => {
            step(out, replayed, (index, "then", "faults end, links come up, and every node starts"), full)
        }
    }
}

fn step(
    out: &mut dyn Write,
    replayed: &Replayed,
    (index, label, line): (u32, &str, &str),
    full: bool,
) -> io::Result<()> {
    let report = &replayed.report;
    paragraph(out, label, line)?;
    let told = report.told.as_ref();
    let boots: Vec<&BootTold> =
        told.map_or(&[][..], |told| &told.boots).iter().filter(|boot| boot.step == index).collect();
    for (at, event) in report.in_order().into_iter().filter(|(_, event)| event.step == index) {
        // A start is told whole, below.
        let is_told = matches!(event.code, EventCode::Verdict | EventCode::Action | EventCode::Planned)
            && !boots.is_empty();
        // A hash is for programs that compare, and is in the JSON.
        let is_for_programs = matches!(event.code, EventCode::Step | EventCode::Bytes);
        let is_shown = if full { !is_for_programs } else { !is_detail(event) };
        if is_shown && !is_told {
            let subject = told.and_then(|told| told.subjects.get(&at)).map(String::as_str);
            item(out, "-", &format!("{}{}", node(replayed, event.node), sentence(event, subject)))?;
        }
    }
    for told in boots {
        boot(out, told, &node(replayed, told.node))?;
    }
    for failure in report.failures.iter().filter(|failure| failure.step == index) {
        let place = failure.partition.map_or(String::new(), |namespace| format!("{namespace}: "));
        let place = format!("{}{place}", node(replayed, failure.node));
        paragraph(out, "FAIL", &format!("{place}{} (in {})", failure.violation, failure.recovery_step))?;
        if let Some(remark) = failure.said() {
            paragraph(out, "", &format!("said: {remark}"))?;
        }
    }
    Ok(())
}

/// The node that a line is about, where there are several.
fn node(replayed: &Replayed, node: u8) -> String {
    if replayed.schedule.world.nodes > 1 { format!("node {node}: ") } else { String::new() }
}

/// A start of one partition: its verdict, its segments where something is done about them, its plan.
fn boot(out: &mut dyn Write, boot: &BootTold, node: &str) -> io::Result<()> {
    let verdict = &boot.verdict;
    let next = verdict.next_offset.map_or(String::new(), |next| format!(", next offset {next}"));
    item(out, ">", &format!("{node}{}: {}{next}", boot.namespace, verdict.disposition.code()))?;
    if let Some(remark) = &boot.remark {
        item(out, "", remark)?;
    }
    for facts in &boot.facts.segments {
        let found = verdict.segments.iter().find(|segment| segment.start == facts.start);
        let (action, at) = match found.map_or(Action::Keep, |segment| segment.action) {
            action @ (Action::Keep | Action::RebuildIndex) => (action.code(), String::new()),
            action @ Action::Cut { at, save } => {
                (action.code(), format!(" at byte {at}, {} saved", counted(save.get(), "byte")))
            }
        };
        let (start, end, length) = (facts.start, facts.proven.end, facts.log_length);
        let (stop, residue, evidence) =
            (facts.stop.stop().code(), facts.residue.kind.code(), facts.evidence.code());
        let text = format!(
            "segment {start}: {end} of {length} bytes proven, stop {stop}, residue {residue}, \
             evidence {evidence}, index {}: {action}{at}",
            facts.index.state.code()
        );
        item(out, "", &text)?;
    }
    if !boot.plan.is_empty() {
        let steps: Vec<&str> = boot.plan.steps.iter().map(recovery_core::plan::Step::code).collect();
        item(out, "", &format!("plan: {}", steps.join(", ")))?;
    }
    Ok(())
}

/// What a replay that was shown step by step came to.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn replay_end(out: &mut dyn Write, source: &Source, replayed: &Replayed) -> io::Result<()> {
    let report = &replayed.report;
    if !replayed.counterfactuals.is_empty() {
        let names = |keeps: fn(&crate::run::one::Counterfactual) -> bool| {
            let named = replayed.counterfactuals.iter().filter(|counterfactual| keeps(counterfactual));
            let words: Vec<String> = named.map(|counterfactual| counterfactual.suspect.to_string()).collect();
            if words.is_empty() { "none".to_owned() } else { words.join(", ") }
        };
        let decisive = names(|counterfactual| counterfactual.is_decisive);
        paragraph(out, "Decisive", &format!("without it another end: {decisive}"))?;
        if !report.failures.is_empty() {
            let needed = names(|counterfactual| counterfactual.is_culprit);
            paragraph(out, "Needed", &format!("without it not this failure: {needed}"))?;
        }
    }
    if let Some(difference) = replayed.difference {
        parted(out, &DifferenceLine::from(difference))?;
    }
    summary(out, source, replayed)
}

fn summary(out: &mut dyn Write, source: &Source, replayed: &Replayed) -> io::Result<()> {
    let report = &replayed.report;
    let failures = report.failures.len() as u64;
    let held = if failures == 0 { "all held".to_owned() } else { counted(failures, "violation") };
    let reproduced = match (replayed.reproduced(&source.expected), replayed.until) {
        (Reproduced::Yes, _) => "reproduced: yes, as recorded".to_owned(),
        (Reproduced::No, _) => "reproduced: no, it is recorded as failing".to_owned(),
        (Reproduced::Differs, _) => "reproduced: differs from what is recorded".to_owned(),
        (Reproduced::Unknown, Some(until)) => {
            format!("reproduced: unknown, as this is no more than steps 0 to {until}")
        }
        (Reproduced::Unknown, None) => "reproduced: unknown, nothing is recorded of it".to_owned(),
    };
    paragraph(out, "Summary", &format!("{held}; {reproduced}"))?;
    let recorded =
        source.expected.digest.map_or(String::new(), |digest| format!(" (recorded {digest:016x})"));
    paragraph(out, "", &format!("digest {:016x}{recorded}, outcome {:016x}", report.digest, report.outcome))
}
