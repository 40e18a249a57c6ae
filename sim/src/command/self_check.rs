//! `sim self-check`: the harness judged.

use std::io::{self, Write};

use crate::cli::SelfCheck;
use crate::exit::Exit;
use crate::report::{json, terminal};
use crate::run::panics::remember_panics;
use crate::self_check::parts;

/// Runs every part and reports each.
///
/// # Errors
///
/// When a stream cannot be written.
#[expect(clippy::disallowed_types, reason = "how long a part takes is shown; no verdict depends on it")]
pub fn self_check(options: &SelfCheck, out: &mut dyn Write) -> io::Result<Exit> {
    remember_panics();
    let begin = std::time::Instant::now();
    let (mut count, mut failed) = (0, Vec::new());
    for part in parts() {
        let result = part.run();
        count += 1;
        if result.finding.is_err() {
            failed.push(result.name);
        }
        if options.json {
            json::write(out, &json::self_check(&result))?;
        } else {
            terminal::self_check(out, &result)?;
        }
        out.flush()?;
    }
    let exit = if failed.is_empty() { Exit::Held } else { Exit::Harness };
    let seconds = begin.elapsed().as_secs_f64();
    if options.json {
        json::write(out, &json::self_check_summary(count, &failed, seconds, exit))?;
    } else {
        terminal::self_check_summary(out, count, &failed, seconds)?;
    }
    Ok(exit)
}
