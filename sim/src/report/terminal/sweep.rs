//! A sweep for people.

use std::io::{self, Write};

use super::text::{counted, paragraph};
use crate::command::sweep::SweepReport;

/// Tells what a sweep came to.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn sweep(out: &mut dyn Write, report: &SweepReport) -> io::Result<()> {
    let summary = &report.summary;
    writeln!(out, "   calls  states  failed")?;
    for (name, (calls, states, failures)) in report.subjects.iter().zip(&summary.subjects) {
        writeln!(out, "{calls:>8}{states:>8}{failures:>8}  {name}")?;
    }
    for name in &report.skipped {
        writeln!(out, "    left out                {name}")?;
    }
    for (group, file) in summary.groups.iter().zip(&report.files) {
        let (variants, first) = (counted(group.count, "variant"), &report.subjects[group.subject]);
        writeln!(out, "    FAIL  {}: {variants}, the first of {first}", group.id)?;
        writeln!(out, "          {}", group.sentence)?;
        writeln!(out, "          cargo sim replay {}", file.display())?;
    }
    if let Some(first) = summary.incomplete.first().filter(|_| report.is_interrupted) {
        let count = counted(summary.incomplete.len() as u64, "subject");
        let first = &report.subjects[*first];
        paragraph(
            out,
            "CUT",
            &format!("interrupted: not all variants of {count} were run, the first {first}"),
        )?;
    }
    let kinds: Vec<&str> = report.kinds.iter().map(|kind| kind.code()).collect();
    let subjects = counted(report.subjects.len() as u64, "subject");
    writeln!(out, " Summary  {subjects}, depth {}: {}", report.depth, kinds.join(", "))?;
    writeln!(
        out,
        "          {} storage calls, {} states, {} variants that a state met before",
        summary.calls, summary.states, summary.deduplicated
    )?;
    writeln!(
        out,
        "          stands for, {} worlds in {:.1} s: {}",
        summary.runs,
        report.elapsed.as_secs_f64(),
        verdict(report)
    )
}

fn verdict(report: &SweepReport) -> String {
    let summary = &report.summary;
    let held = match summary.failures {
        0 => "all held".to_owned(),
        failures => format!("{failures} failed, in {}", counted(summary.groups.len() as u64, "group")),
    };
    if summary.is_complete() { held } else { format!("{held}, and NOT complete") }
}
