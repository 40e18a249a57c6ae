//! Groups of failures: what is wrong, the strip of the start that broke, a short timeline, and the command
//! that shows it again.

use std::fmt::Write;

use super::escape;
use super::strip::{legend, strips};
use crate::report::again::Again;
use crate::report::lines::{FailureLine, StartedLine};
use crate::report::terminal::counted;
use crate::report::timeline::{is_detail, sentence};
use crate::report::whole::Whole;
use crate::run::session::{FailedScenario, Group};
use crate::schedule::{Schedule, print_step};
use crate::world::event::{Event, EventCode};
use crate::world::{BootTold, Report};

/// Lines of a timeline: what a person reads at once.
const TIMELINE: usize = 15;

/// Groups whose first failing seed is shown step by step: each is a page of its own, nearly.
pub const SCENES: usize = 24;

/// Whose start is drawn where another program failed.
const BY_THE_CORE: &str = "<p class=\"quiet\">By the linked core: what it found and did in the same start. The \
                           other program is judged by what it left, and not drawn.</p>\n";

/// The first failing seed of a group, run again and watched.
#[derive(Debug)]
pub struct Scene {
    /// The group.
    pub group: String,
    /// Its schedule.
    pub schedule: Schedule,
    /// What happened.
    pub report: Report,
}

/// Scenarios that failed, one a row; nothing where all held.
fn scenarios(failed: &[FailedScenario]) -> String {
    if failed.is_empty() {
        return String::new();
    }
    let row = |failed: &FailedScenario| {
        let (path, sentence) = (escape(&failed.path), escape(&failed.sentence));
        format!("<tr><td class=\"w\"><code>{path}</code></td><td class=\"w\">{sentence}</td></tr>\n")
    };
    let rows: String = failed.iter().map(row).collect();
    format!(
        "<section>\n<h2>Scenarios that failed</h2>\n<p class=\"quiet\">What does not hold first; \
         <code>cargo sim replay</code> and the file show the rest.</p>\n<table>\n{rows}</table>\n</section>\n"
    )
}

/// Scenarios that failed, and every group, new ones first.
pub(super) fn section(whole: &Whole, scenes: &[Scene]) -> String {
    let summary = &whole.summary;
    let mut text = scenarios(&summary.scenarios.failed);
    if summary.groups.is_empty() && summary.known_listed == 0 {
        return text;
    }
    text.push_str("<section>\n<h2>Failures by cause</h2>\n");
    let known = summary.groups.iter().filter(|group| group.known).count() as u64;
    let about = format!(
        "{} in {}; {} known, {known} of them failed, in {}.",
        counted(summary.new_failures(), "new failing world"),
        counted(summary.groups.len() as u64 - known, "group"),
        counted(summary.known_listed, "group"),
        counted(summary.known_failures(), "world")
    );
    writeln!(text, "<p class=\"quiet\">{about}</p>").expect("a string takes it");
    for id in &summary.known_gone {
        let id = escape(id);
        writeln!(text, "<p class=\"warn\">Known group {id} did not fail, and its faults were met.</p>")
            .expect("a string takes it");
    }
    if !scenes.is_empty() {
        text.push_str(&legend());
    }
    let new = summary.groups.iter().filter(|group| !group.known);
    for group in new.chain(summary.groups.iter().filter(|group| group.known)) {
        let scene = scenes.iter().find(|scene| scene.group == group.id);
        text.push_str(&one(&whole.started, group, whole.line_of(group), scene));
    }
    text + "</section>\n"
}

fn one(started: &StartedLine, group: &Group, line: Option<&FailureLine>, scene: Option<&Scene>) -> String {
    let (class, tag) = if group.known { ("warn", "known") } else { ("bad", "new") };
    let count = counted(group.count, "world");
    let mut text = format!(
        "<div class=\"group\"><h3>{}<span class=\"tag {class}\">{tag}</span><span class=\"tag quiet\">{count}\
         </span></h3>\n",
        escape(&group.id)
    );
    if let Some(why) = group.known_as() {
        writeln!(text, "<p class=\"warn\">known: {}</p>", escape(&why)).expect("a string takes it");
    }
    if let Some(line) = line {
        writeln!(text, "<p>{}</p>", escape(&line.sentence)).expect("a string takes it");
        if let Some(remark) = &line.remark {
            writeln!(text, "<p class=\"quiet\">said: {}</p>", escape(remark)).expect("a string takes it");
        }
        let place =
            line.partition.as_ref().map_or(String::new(), |partition| format!(", partition {partition}"));
        let faults = if line.faults.is_empty() { "none".to_owned() } else { line.faults.join(", ") };
        writeln!(
            text,
            "<p class=\"quiet\">step {}, in {}{place}; faults without which it would not be there: {}</p>",
            line.step,
            escape(&line.recovery_step),
            escape(&faults)
        )
        .expect("a string takes it");
    }
    let command = escape(&Again::of_group(started, group, line).command);
    writeln!(text, "<pre class=\"wrap\"><code>{command}</code></pre>").expect("a string takes it");
    if let (Some(scene), Some(line)) = (scene, line) {
        if started.subject.is_some() {
            text.push_str(BY_THE_CORE);
        }
        text.push_str(&watched(scene, line));
    } else {
        let left = format!(
            "Its world is not shown: the page shows those of the first {SCENES} groups, new ones first, of which \
             this program makes the world that failed."
        );
        writeln!(text, "<p class=\"quiet\">{left}</p>").expect("a string takes it");
    }
    text + "</div>\n"
}

/// The strip, the timeline and the schedule.
fn watched(scene: &Scene, line: &FailureLine) -> String {
    let mut text = String::new();
    if let Some(boot) = boot_of(scene, line) {
        let broken = segment_of(scene, line).map(|segment| (segment, line.range));
        text.push_str(&strips(boot, broken));
    }
    text.push_str(&timeline(scene, line));
    let steps: Vec<String> = scene
        .schedule
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| format!("{index:>3}  {}", print_step(step).trim()))
        .collect();
    let steps = escape(&steps.join("\n"));
    writeln!(text, "<details><summary>the whole schedule</summary><pre><code>{steps}</code></pre></details>")
        .expect("a string takes it");
    text
}

/// The start that broke: of that partition, in that step or before it.
fn boot_of<'a>(scene: &'a Scene, line: &FailureLine) -> Option<&'a BootTold> {
    let told = scene.report.told.as_ref()?;
    told.boots.iter().rev().find(|boot| {
        let is_there = line.partition.as_ref().is_none_or(|place| *place == boot.namespace.to_string());
        is_there && boot.step <= line.step
    })
}

/// The segment that is broken: as the check says, or as the name of the log that it names does.
fn segment_of(scene: &Scene, line: &FailureLine) -> Option<u64> {
    let of_file = || {
        let file = scene.report.failures.first()?.violation.file?;
        file.to_string().strip_suffix(".log")?.parse().ok()
    };
    line.segment.or_else(of_file)
}

fn timeline(scene: &Scene, line: &FailureLine) -> String {
    let told = scene.report.told.as_ref();
    let events = scene.report.in_order();
    let shown: Vec<&(u64, &Event)> =
        events.iter().filter(|(_, event)| event.step <= line.step && !is_detail(event)).collect();
    let left_out = shown.len().saturating_sub(TIMELINE);
    let mut rows = String::new();
    for (at, event) in &shown[left_out..] {
        let subject = told.and_then(|told| told.subjects.get(at)).map(String::as_str);
        let class = match event.code {
            EventCode::Fault | EventCode::Hit | EventCode::Crashed | EventCode::CallFailed => {
                " class=\"fault\""
            }
            EventCode::Step
            | EventCode::Call
            | EventCode::Bytes
            | EventCode::Appended
            | EventCode::Acknowledged
            | EventCode::WriterFailed
            | EventCode::Verdict
            | EventCode::Action
            | EventCode::Planned
            | EventCode::Polled
            | EventCode::Missed
            | EventCode::Stopped
            | EventCode::Told => "",
        };
        let said = escape(&sentence(event, subject));
        writeln!(rows, "<tr{class}><td class=\"n\">{}</td><td class=\"w\">{said}</td></tr>", event.step)
            .expect("a string takes it");
    }
    writeln!(
        rows,
        "<tr class=\"broke\"><td class=\"n\">{}</td><td class=\"w\">{}</td></tr>",
        line.step,
        escape(&line.sentence)
    )
    .expect("a string takes it");
    let before = match left_out {
        0 => String::new(),
        count => format!("<p class=\"quiet\">{} before these.</p>\n", counted(count as u64, "event")),
    };
    format!("{before}<table>\n<tr><th>step</th><th>what happened</th></tr>\n{rows}</table>\n")
}
