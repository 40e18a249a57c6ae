//! Why a replayed world failed, in words: headline, timeline, strips, facts, bytes, and what it takes.
//!
//! Promises: fits 80 columns, but for what is there to be copied; reads without colour, which a stream takes
//! out where none is wanted. Leaves out: gathering, which [`crate::run::explain`] does.

mod facts;
mod headline;
mod palette;
mod strip;
mod timeline;
mod verdicts;
mod window;

use std::io::{self, Write};

pub use facts::facts;
pub use headline::{headline, place_words};
pub use strip::{LEGEND, Strip, most, strip, strips_of};
pub use timeline::{TimelineRow, rows as timeline_rows};
pub use verdicts::{VerdictRow, rows as verdict_rows};

use crate::report::terminal::paragraph;
use crate::run::explain::Explanation;
use crate::run::replay::Replayed;

/// Everything that explains a failure.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn explanation(out: &mut dyn Write, explanation: &Explanation, replayed: &Replayed) -> io::Result<()> {
    headline::write(out, explanation)?;
    writeln!(out)?;
    timeline::write(out, explanation, replayed)?;
    if !explanation.moments.is_empty() {
        writeln!(out)?;
        strip::write(out, explanation)?;
    }
    if !explanation.facts.is_empty() {
        writeln!(out)?;
        facts::write(out, &explanation.facts)?;
    }
    if let Some(window) = &explanation.window {
        writeln!(out)?;
        window::write(out, window)?;
    }
    writeln!(out)?;
    let rows = verdicts::rows(explanation, replayed);
    if rows.is_empty() {
        return paragraph(
            out,
            "Without",
            "there is no fault, and no crash that loses anything, to leave out",
        );
    }
    verdicts::write(out, &rows)
}
