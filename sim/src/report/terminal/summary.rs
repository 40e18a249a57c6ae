//! What a run tried and what held.

use std::io::{self, Write};

use super::text::{counted, hint, paragraph, short};
use crate::exit::Exit;
use crate::report::again::{Again, run_again};
use crate::report::lines::StartedLine;
use crate::report::whole::Whole;
use crate::run::part::PartEnd;
use crate::run::planted::{CHECK, PlantedFate};
use crate::run::reach::{Goal, Line, ReachKind};
use crate::run::regime_tally::WithoutLedger;
use crate::run::session::{Group, NotRun, Summary};
use crate::run::tally::Tally;

/// Columns of one of the two cells of a line of the table of faults.
const CELL: usize = 39;

/// Columns of a fault's name there.
const NAME: usize = 25;

/// What was tried, what was reached and what held.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn run_summary(out: &mut dyn Write, whole: &Whole) -> io::Result<()> {
    let Whole { started, summary, reach, .. } = whole;
    let tally = &summary.tally;
    let injected: u64 = tally.faults.values().map(|reached| reached.injected).sum();
    let tried = [
        (summary.seeds, "world"),
        (tally.crashes, "crash"),
        (injected, "fault"),
        (tally.batches, "batch"),
        (tally.boots, "start"),
    ];
    let [worlds, crashes, faults, batches, boots] = tried.map(|(count, noun)| counted(count, noun));
    let text = format!("{worlds}: {crashes}, {faults}, {batches} appended, {boots} of partitions judged");
    paragraph(out, "Tried", &text)?;
    let (passed, failed) = (summary.scenarios.passed, summary.scenarios.failed.len() as u64);
    if passed + failed > 0 {
        paragraph(out, "", &format!("{} passed, {failed} failed", counted(passed, "scenario")))?;
    }
    let verdicts: Vec<String> =
        tally.verdicts.iter().map(|(code, count)| format!("{code} {count}")).collect();
    paragraph(out, "Verdicts", &verdicts.join(", "))?;
    regimes(out, tally)?;
    faults_table(out, summary, reach)?;
    reached(out, summary, reach)?;
    newest(out, started, summary)?;
    subject(out, started, summary)?;
    alive(out, summary)?;
    groups(out, whole)?;
    end(out, whole)
}

/// How another program did beside the linked core, if one was tried.
fn subject(out: &mut dyn Write, started: &StartedLine, summary: &Summary) -> io::Result<()> {
    if started.subject.is_none() {
        return Ok(());
    }
    let subject = &summary.tally.subject;
    let (starts, agreed, left_out) = (counted(subject.starts, "start"), subject.agreed, subject.left_out);
    let text =
        format!("{starts} tried, {agreed} as the linked core; {left_out} left out: no directory holds them");
    paragraph(out, "Subject", &text)?;
    match &subject.difference {
        Some(difference) => paragraph(out, "unlike", difference),
        None => Ok(()),
    }
}

/// What the worlds of each regime came to, which owe different things.
fn regimes(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    let mut label = "Regimes";
    for (regime, counts) in &tally.regimes {
        let is_served = |code: &str| code == "serve" || code == "serve-from";
        let sum = |is_meant: &dyn Fn(&str) -> bool| -> u64 {
            let meant = counts.verdicts.iter().filter(|(code, _)| is_meant(code));
            meant.map(|(_, count)| count).sum()
        };
        let is_unavailable = |code: &str| code == "unavailable";
        let (served, unavailable) = (sum(&is_served), sum(&is_unavailable));
        let refused = sum(&|code| !is_served(code) && !is_unavailable(code));
        let WithoutLedger { starts, refused: refused_without } = counts.without_ledger;
        let (worlds, failed) = (counted(counts.worlds, "world"), counts.failures);
        let text = format!(
            "{}: {worlds}, {failed} failed; starts: served {served}, refused {refused}, unavailable \
             {unavailable}; without a ledger {starts}, of them refused {refused_without} ({})",
            regime.code(),
            per_mille(refused_without, starts)
        );
        paragraph(out, label, &text)?;
        label = "";
    }
    Ok(())
}

/// A share in tenths of a percent, rounded down.
fn per_mille(part: u64, whole: u64) -> String {
    let mille = (u128::from(part) * 1000).checked_div(u128::from(whole)).unwrap_or_default();
    format!("{}.{}%", mille / 10, mille % 10)
}

/// Whether the harness heard of the failure that was planted.
fn alive(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let check = CHECK.code();
    let text = match summary.planted.fate {
        PlantedFate::Found => {
            format!("the planted failure was found by {check}, and is in every output")
        }
        PlantedFate::Silent => {
            format!("NOT: the planted failure was lost: {check} or an output is blind")
        }
        PlantedFate::Masked => "unknown: the world of the planted failure fails without it".to_owned(),
        PlantedFate::NotRun => "unknown: no failure was planted".to_owned(),
    };
    paragraph(out, "Alive", &text)
}

/// What failed: scenarios and new groups one by one, known ones counted in one line, so that they are not forgotten,
/// and known ones that did not fail.
fn groups(out: &mut dyn Write, whole: &Whole) -> io::Result<()> {
    let Whole { started, summary, .. } = whole;
    for failed in &summary.scenarios.failed {
        paragraph(out, "FAIL", &format!("{}: {}", failed.path, failed.sentence))?;
    }
    for group in summary.groups.iter().filter(|group| !group.known) {
        paragraph(out, "FAIL", &format!("{} of {}", counted(group.count, "seed"), group.id))?;
        let again = Again::of_group(started, group, whole.line_of(group));
        hint(out, again.word, &again.command)?;
    }
    let known: Vec<&Group> = summary.groups.iter().filter(|group| group.known).collect();
    if summary.known_listed > 0 {
        let (listed, seeds) = (counted(summary.known_listed, "group"), summary.known_failures());
        let failed = counted(seeds, "seed");
        paragraph(out, "Known", &format!("{listed} known, {} of them failed, in {failed}", known.len()))?;
    }
    for group in known {
        let why = group.known_as().unwrap_or_default();
        paragraph(out, "known", &format!("{} of {}: {why}", counted(group.count, "seed"), group.id))?;
    }
    for id in &summary.known_gone {
        paragraph(out, "gone", &format!("known group {id} did not fail, and its faults were met"))?;
    }
    Ok(())
}

/// Each fault kind: injected, read, decisive.
fn faults_table(out: &mut dyn Write, summary: &Summary, reach: &[Line]) -> io::Result<()> {
    let text = format!(
        "injected / read / decisive: without it another end, in {} run again",
        counted(summary.tally.counterfactuals, "world")
    );
    paragraph(out, "Faults", &text)?;
    let cells: Vec<String> = reach.iter().filter_map(fault_cell).collect();
    let rows = cells.len().div_ceil(2);
    for (row, left) in cells[..rows].iter().enumerate() {
        let right = cells.get(rows + row).map_or("", String::as_str);
        writeln!(out, "{}", format!("{left:<CELL$}  {right}").trim_end())?;
    }
    Ok(())
}

fn fault_cell(line: &Line) -> Option<String> {
    let fault = line.fault?;
    let numbers = [fault.injected, fault.read, fault.decisive].map(short).join("/");
    Some(format!("{:<NAME$} {numbers:>width$}", line.id, width = CELL - NAME - 1))
}

/// How many words of each vocabulary were reached, and what was missed.
fn reached(out: &mut dyn Write, summary: &Summary, reach: &[Line]) -> io::Result<()> {
    let mut parts = Vec::new();
    for kind in ReachKind::ALL {
        let wanted: Vec<&Line> =
            reach.iter().filter(|line| line.kind == kind && line.budget().is_some()).collect();
        let hit = wanted.iter().filter(|line| line.reached() > 0).count();
        parts.push(format!("{} {hit} of {}", plural(kind), wanted.len()));
    }
    paragraph(out, "Reach", &parts.join(", "))?;
    for line in reach.iter().filter(|line| line.is_missed(summary.seeds)) {
        match &line.goal {
            Goal::Within(worlds) | Goal::ReadWithin(worlds) => {
                let name = line.name();
                paragraph(out, "missed", &format!("{name} (wanted within {})", counted(*worlds, "world")))?;
            }
            Goal::Never(why) => {
                paragraph(out, "never", &format!("{} was reached, and cannot be: {why}", line.name()))?;
            }
        }
    }
    Ok(())
}

/// How long the run still saw something new.
fn newest(out: &mut dyn Write, started: &StartedLine, summary: &Summary) -> io::Result<()> {
    let Some((class, seed)) = summary.first_seen.newest(started.from_seed) else { return Ok(()) };
    let classes = match summary.first_seen.count() {
        1 => "1 class of outcome".to_owned(),
        count => format!("{count} classes of outcome"),
    };
    let text = format!("of {classes} the last to be seen was {class}, by seed {seed:#x}");
    paragraph(out, "Newest", &text)
}

const fn plural(kind: ReachKind) -> &'static str {
    match kind {
        ReachKind::Fault => "faults",
        ReachKind::Row => "rows",
        ReachKind::Reason => "reasons",
        ReachKind::Stop => "stops",
        ReachKind::Residue => "residues",
        ReachKind::Restart => "restarts",
        ReachKind::Filesystem => "filesystems",
        ReachKind::CallError => "calls that failed",
    }
}

/// What the whole run comes to, in words that agree with its exit status.
fn conclusion(whole: &Whole) -> String {
    let summary = &whole.summary;
    let (failures, scenarios) = (summary.new_failures(), summary.scenarios.failed.len() as u64);
    let groups = summary.groups.iter().filter(|group| !group.known).count() as u64;
    let failed = counted(failures, "world");
    match (summary.seeds, summary.planted.fate) {
        (_, PlantedFate::Silent) => "nothing is shown: the harness is not alive".to_owned(),
        _ if failures > 0 => format!("NOT all held: {failed} failed, in {}", counted(groups, "group")),
        _ if scenarios > 0 => format!("NOT all held: {} failed", counted(scenarios, "scenario")),
        _ if summary.parts.iter().any(|end| !matches!(end.exit, Exit::Held | Exit::Interrupted)) => {
            "NOT all held: what ran beside the seeds did not".to_owned()
        }
        (_, PlantedFate::Masked) => "NOT all held: the world of the planted failure failed".to_owned(),
        (0, _) => "no seed ran".to_owned(),
        _ if !summary.shards_missing.is_empty() => "what ran held, and shards are missing".to_owned(),
        _ if whole.started.require_reach && !whole.missed.is_empty() => {
            "all held, and goals of reach were missed".to_owned()
        }
        _ if summary.cut_by_time.is_some() => "what ran held, and time cut it short".to_owned(),
        _ if left_out(&summary.not_run).is_some() => "what ran held".to_owned(),
        _ if summary.known_failures() > 0 => "all held but what is known".to_owned(),
        _ => "all held".to_owned(),
    }
}

/// What was not run since somebody ended it, in words; `None` if all was.
pub fn left_out(not_run: &NotRun) -> Option<String> {
    let NotRun { seeds, scenarios, parts } = not_run;
    let counts = [(*seeds, "seed"), (*scenarios, "scenario")].into_iter().filter(|(count, _)| *count > 0);
    let mut left: Vec<String> = counts.map(|(count, noun)| counted(count, noun)).collect();
    left.extend(parts.iter().map(|part| part.code().to_owned()));
    (!left.is_empty()).then(|| left.join(", "))
}

fn end(out: &mut dyn Write, whole: &Whole) -> io::Result<()> {
    let Whole { started, summary, .. } = whole;
    let violated: Vec<String> =
        summary.tally.violations.iter().map(|(check, count)| format!("{check} {count}")).collect();
    if !violated.is_empty() {
        paragraph(out, "Violated", &format!("{} (worlds)", violated.join(", ")))?;
    }
    for shard in &summary.shards_missing {
        paragraph(out, "MISSING", &format!("shard {shard}: it is not there, or has no summary"))?;
    }
    if !summary.parts.is_empty() {
        let one = |end: &PartEnd| {
            format!("{} exit {} in {:.1} s", end.part.code(), end.exit as u8, end.elapsed.as_secs_f64())
        };
        let ends = summary.parts.iter().map(one);
        paragraph(out, "Beside", &ends.collect::<Vec<String>>().join(", "))?;
    }
    if let Some(wanted) = summary.cut_by_time {
        paragraph(out, "CUT", &format!("by time, {} of {wanted} seeds ran", summary.seeds))?;
    }
    if let Some(left) = left_out(&summary.not_run) {
        paragraph(out, "CUT", &format!("interrupted: {left} were not run"))?;
    }
    let held = conclusion(whole);
    let interrupted = if summary.is_interrupted { ", interrupted" } else { "" };
    let (worlds, seconds, rate) =
        (counted(summary.seeds, "world"), summary.elapsed.as_secs_f64(), summary.rate());
    paragraph(out, "Summary", &format!("{worlds} in {seconds:.1} s ({rate:.0}/s){interrupted}: {held}"))?;
    let (twice, differed) = (summary.reruns, summary.mismatches);
    let digest = summary.digest.get();
    paragraph(out, "", &format!("{twice} run twice, {differed} differed; run digest {digest:016x}"))?;
    if summary.seeds == 0 {
        return Ok(());
    }
    match run_again(started, summary) {
        Some(command) => hint(out, "again", &command),
        None => paragraph(out, "uneven", "the shards are not one stretch of seeds: run each of them again"),
    }
}
