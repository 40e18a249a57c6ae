//! What a person sees: reads without colour, fits 80 columns, and ends with what to do next.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use crate::run::session::{FailedSeed, Request, Summary};
use crate::schedule::{Schedule, print_step};
use crate::world::Report;
use crate::world::event::EventCode;

/// The first line of a run.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn run_started(out: &mut dyn Write, request: &Request) -> io::Result<()> {
    let knobs = request.knobs;
    let limit = match (request.seconds, request.seeds.count) {
        (Some(seconds), u64::MAX) => format!("{seconds} seconds"),
        (Some(seconds), seeds) => format!("{seeds} seeds or {seconds} seconds"),
        (None, u64::MAX) => "no limit but failures".to_owned(),
        (None, seeds) => format!("{seeds} seeds"),
    };
    writeln!(
        out,
        "     Run  from seed {:#x}, {limit}, {} jobs: {} regime, {} filesystem, {} size",
        request.seeds.from,
        request.jobs,
        knobs.regime.code(),
        knobs.filesystem.code(),
        knobs.size.code(),
    )
}

/// A failing seed.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn failure(out: &mut dyn Write, failed: &FailedSeed<'_>, file: &Path) -> io::Result<()> {
    let failure = failed.failure;
    let place = failure.partition.map_or(String::new(), |namespace| format!(" in partition {namespace}"));
    writeln!(out, "    FAIL  seed {:#x}, step {}{place}", failed.token.seed, failure.step)?;
    writeln!(out, "          {}", failure.violation)?;
    if let Some(remark) = &failure.remark {
        writeln!(out, "          {remark}")?;
    }
    writeln!(out, "          group   {}", failed.group)?;
    writeln!(out, "          replay  cargo sim replay {}", failed.token)?;
    writeln!(out, "          saved   {}", file.display())
}

/// One line that is written over again and again.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn progress(err: &mut dyn Write, summary: &Summary, elapsed: Duration) -> io::Result<()> {
    let injected: u64 = summary.tally.faults.values().map(|reached| reached.injected).sum();
    write!(
        err,
        "\r{:>12} seeds {:>8.0}/s {:>10} boots {:>10} faults {:>4} failed\x1b[K",
        summary.seeds,
        summary.rate_after(elapsed),
        summary.tally.boots,
        injected,
        summary.failures
    )?;
    err.flush()
}

/// What was tried and what held.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn run_summary(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let tally = &summary.tally;
    let faults: u64 = tally.faults.values().map(|reached| reached.injected).sum();
    writeln!(
        out,
        "   Tried  {} worlds: {} crashes, {} faults, {} batches, {} starts of partitions",
        summary.seeds, tally.crashes, faults, tally.batches, tally.boots
    )?;
    for (title, counts) in [
        ("Verdicts", lines(tally.verdicts.iter().map(|(code, count)| (*code, *count)))),
        ("Stops", lines(tally.stops.iter().map(|(stop, count)| (stop.code(), *count)))),
        ("Residues", lines(tally.residues.iter().map(|(residue, count)| (residue.code(), *count)))),
        ("Faults", lines(tally.faults.iter().map(|(kind, reached)| (*kind, reached.injected)))),
    ] {
        for (index, line) in counts.iter().enumerate() {
            writeln!(out, "{:>8}  {line}", if index == 0 { title } else { "" })?;
        }
    }
    for group in &summary.groups {
        let (count, id, token) = (group.count, &group.id, &group.token);
        writeln!(out, "    FAIL  {count} of {id}\n          replay  cargo sim replay {token}")?;
    }
    let held = if summary.failures == 0 { "all held" } else { "NOT all held" };
    writeln!(
        out,
        " Summary  {} worlds in {:.1} s ({:.0}/s): {held}; {} failed in {} groups; {} run twice, {} differed",
        summary.seeds,
        summary.elapsed.as_secs_f64(),
        summary.rate(),
        summary.failures,
        summary.groups.len(),
        summary.reruns,
        summary.mismatches,
    )
}

/// Words with their counts, in lines of at most 68 columns.
fn lines<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (word, count) in counts {
        let cell = format!("{word} {count}");
        match lines.last_mut() {
            Some(line) if line.len() + cell.len() + 2 <= 68 => {
                line.push_str(", ");
                line.push_str(&cell);
            }
            Some(_) | None => lines.push(cell),
        }
    }
    lines
}

/// A schedule step by step, with what each came to.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn replay(out: &mut dyn Write, schedule: &Schedule, report: &Report, full: bool) -> io::Result<()> {
    for (index, step) in schedule.steps.iter().enumerate() {
        writeln!(out, "{index:>4}  {}", print_step(step).trim_end())?;
        for event in report.events.iter().filter(|event| event.step as usize == index) {
            let is_call = matches!(event.code, EventCode::Call | EventCode::CallFailed | EventCode::Step);
            if full || !is_call {
                writeln!(out, "        {:?} {:#x} {:#x} {:#x}", event.code, event.a, event.b, event.c)?;
            }
        }
        for failure in report.failures.iter().filter(|failure| failure.step as usize == index) {
            writeln!(out, "  FAIL  {} ({})", failure.violation, failure.recovery_step)?;
        }
    }
    writeln!(out, "digest {:016x}, outcome {:016x}", report.digest, report.outcome)
}
