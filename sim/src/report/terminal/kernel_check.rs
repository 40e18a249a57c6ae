//! A check against a real kernel, for people.

use std::io::{self, Write};

use super::text::{counted, paragraph};
use crate::command::kernel_check::KernelReport;
use crate::kernel::{Kind, Strange, Wronged};

/// What is about to be tried.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn kernel_check_begin(out: &mut dyn Write, kind: Kind, kernel: &str, from_seed: u64) -> io::Result<()> {
    let text = format!("{} of Linux {kernel}, programs from seed {from_seed:#x}", kind.code());
    paragraph(out, "Kernel", &text)
}

/// What a program left that the model does not allow.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn kernel_strange(out: &mut dyn Write, kind: Kind, strange: &Strange) -> io::Result<()> {
    let Strange { program, found, before } = strange;
    let head = format!("seed {:#x}: the model of {} does not allow what it left", program.seed, kind.code());
    paragraph(out, "FAIL", &head)?;
    for (at, step) in program.steps.iter().enumerate() {
        paragraph(out, "", &format!("{at}: {step}"))?;
    }
    paragraph(out, "", &format!("before the crash: {before}"))?;
    paragraph(out, "", &format!("found behind it: {found}"))
}

/// What is wrong with a partition that was recovered.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn kernel_wronged(out: &mut dyn Write, kind: Kind, wronged: &Wronged) -> io::Result<()> {
    let head = format!("the partition of seed {:#x}, recovered on {}", wronged.seed, kind.code());
    paragraph(out, "FAIL", &head)?;
    wronged.sentences.iter().try_for_each(|sentence| paragraph(out, "", sentence))
}

/// What it came to.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn kernel_check_summary(out: &mut dyn Write, report: &KernelReport) -> io::Result<()> {
    let found = &report.found;
    if let Some(missing) = &report.missing {
        return paragraph(out, "Nothing", &format!("could be tried: {missing}"));
    }
    if report.not_run > 0 {
        let left = counted(report.not_run, "program");
        paragraph(out, "CUT", &format!("interrupted: the last {left} were not run"))?;
    }
    let verdict = match found.strange.len() {
        0 => "the model allows all of them".to_owned(),
        count => format!("{count} are outside the model"),
    };
    let text = format!(
        "{} over {} of {} in {:.1} s: {verdict}; of {} the crash took nothing",
        counted(found.programs, "program"),
        counted(found.crashes, "crash"),
        report.kind.code(),
        report.elapsed.as_secs_f64(),
        found.whole,
    );
    paragraph(out, "Summary", &text)?;
    let allowed: usize = found.shown.iter().map(|shown| shown.allowed.len()).sum();
    let seen: usize = found.shown.iter().map(|shown| shown.seen.len()).sum();
    let shapes = counted(found.shown.len() as u64, "small program");
    paragraph(
        out,
        "",
        &format!(
            "{shapes}, run {} times in all, showed {seen} of the {allowed} states that the model allows them",
            found.shape_runs
        ),
    )?;
    for shown in &found.shown {
        let text = format!("{}: {} of {}", shown.name, shown.seen.len(), shown.allowed.len());
        paragraph(out, "", &text)?;
    }
    let wronged = match found.wronged.len() {
        0 => "nothing is wrong with any".to_owned(),
        count => format!("something is wrong with {count}"),
    };
    let recovered = counted(found.partitions, "partition");
    paragraph(out, "", &format!("{recovered} written, crashed and recovered: {wronged}"))
}
