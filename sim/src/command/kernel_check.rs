//! `sim kernel-check`: the model of a filesystem held against a real one.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cli::KernelCheck;
use crate::command::run::request::drawn_seed;
use crate::exit::Exit;
use crate::kernel::{CycleError, Found, Kind, MountError, Session};
use crate::report::{json, terminal};

/// What a check is shown as.
#[derive(Debug)]
pub struct KernelReport {
    /// The filesystem.
    pub kind: Kind,
    /// Which Linux.
    pub kernel: String,
    /// The first program.
    pub from_seed: u64,
    /// What was found.
    pub found: Found,
    /// What the machine lacks, if nothing could be tried.
    pub missing: Option<String>,
    /// Programs that were not run, since somebody ended it.
    pub not_run: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// How the command ends.
    pub exit: Exit,
}

/// Runs programs on a real filesystem and tells what it left that the model does not allow; no crash is begun once
/// somebody has asked the program to end.
///
/// # Errors
///
/// When a stream cannot be written.
#[expect(clippy::disallowed_types, reason = "how long it took is shown; no verdict depends on it")]
pub fn kernel_check(
    options: &KernelCheck,
    interrupted: &AtomicBool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let begin = std::time::Instant::now();
    let kind = options.filesystem;
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned();
    let from_seed = options.from_seed.unwrap_or_else(drawn_seed);
    let mut report = KernelReport {
        kind,
        kernel,
        from_seed,
        found: Found::default(),
        missing: None,
        not_run: 0,
        elapsed: Duration::ZERO,
        exit: Exit::Held,
    };
    if !options.json {
        terminal::kernel_check_begin(out, kind, &report.kernel, from_seed)?;
    }
    let ran = try_programs(options, &mut report, interrupted, out);
    report.elapsed = begin.elapsed();
    match ran? {
        Ok(()) => report.exit = exit_of(&report),
        Err(CycleError::Mount(MountError::Missing(missing))) => {
            report.missing = Some(missing.to_string());
            report.exit = Exit::Nothing;
        }
        Err(error) => {
            writeln!(err, "error: {error}")?;
            report.exit = Exit::Harness;
        }
    }
    if options.json {
        json::write(out, &json::kernel_check_summary(&report))?;
    } else {
        terminal::kernel_check_summary(out, &report)?;
    }
    Ok(report.exit)
}

fn exit_of(report: &KernelReport) -> Exit {
    let exit = if report.found.programs == 0 { Exit::Nothing } else { Exit::Held };
    let exit = exit.worst(if report.not_run > 0 { Exit::Interrupted } else { Exit::Held });
    let is_good = report.found.strange.is_empty() && report.found.wronged.is_empty();
    exit.worst(if is_good { Exit::Held } else { Exit::Failed })
}

/// Runs the programs, and tells of each that left something strange.
fn try_programs(
    options: &KernelCheck,
    report: &mut KernelReport,
    interrupted: &AtomicBool,
    out: &mut dyn Write,
) -> io::Result<Result<(), CycleError>> {
    let mut session = match Session::begin(report.kind) {
        Ok(session) => session,
        Err(error) => return Ok(Err(error)),
    };
    let mut done = 0;
    while done < options.runs {
        if interrupted.load(Ordering::Relaxed) {
            report.not_run = options.runs - done;
            break;
        }
        let told = (session.found().strange.len(), session.found().wronged.len());
        match session.run(report.from_seed.wrapping_add(done), options.runs - done) {
            Ok(ran) => done += ran,
            Err(error) => return Ok(Err(error)),
        }
        for strange in &session.found().strange[told.0..] {
            if options.json {
                json::write(out, &json::kernel_strange(report.kind, strange))?;
            } else {
                terminal::kernel_strange(out, report.kind, strange)?;
            }
        }
        for wronged in &session.found().wronged[told.1..] {
            if options.json {
                json::write(out, &json::kernel_wronged(report.kind, wronged))?;
            } else {
                terminal::kernel_wronged(out, report.kind, wronged)?;
            }
        }
        report.found.clone_from(session.found());
    }
    Ok(Ok(()))
}
