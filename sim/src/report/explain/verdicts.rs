//! What the failure takes: the world without each fault, and with each crash losing nothing.

use std::io::{self, Write};

use super::palette::{BAD, DIM, paint};
use crate::report::terminal::paragraph;
use crate::run::ending::{Ending, FailureClass};
use crate::run::explain::Explanation;
use crate::run::replay::Replayed;

/// One thing left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictRow {
    /// What.
    pub left_out: String,
    /// How the world ends then.
    pub verdict: String,
    /// Whether that is another end.
    pub is_decisive: bool,
    /// Whether the failure is gone.
    pub is_needed: bool,
}

/// Each fault, then each crash that loses something.
pub fn rows(explanation: &Explanation, replayed: &Replayed) -> Vec<VerdictRow> {
    let class = FailureClass::of(&explanation.failure);
    let whole = Ending { outcome: replayed.report.outcome, class: replayed.class() };
    let faults = replayed.counterfactuals.iter().map(|found| VerdictRow {
        left_out: found.suspect.to_string(),
        verdict: verdict(found.ending, class),
        is_decisive: found.is_decisive,
        is_needed: found.is_culprit,
    });
    let crashes = explanation.crashes.iter().map(|crash| {
        let child = crash.child.map_or(String::new(), |child| format!(".{child}"));
        VerdictRow {
            left_out: format!("what is lost in crash@{}{child}", crash.step),
            verdict: verdict(crash.ending, class),
            is_decisive: crash.ending != whole,
            is_needed: crash.is_needed,
        }
    });
    faults.chain(crashes).collect()
}

fn verdict(ending: Ending, class: FailureClass) -> String {
    match ending.class {
        None => "all holds".to_owned(),
        Some(found) if found == class => "it fails alike".to_owned(),
        Some(found) => format!("{} in {}", found.check.code(), found.recovery_step),
    }
}

pub(super) fn write(out: &mut dyn Write, rows: &[VerdictRow]) -> io::Result<()> {
    let mut label = "Without";
    for row in rows {
        let word = if row.is_needed { paint(BAD, "needed") } else { paint(DIM, "not needed") };
        writeln!(out, "{label:>8}  {:<37} {:<20} {word}", row.left_out, row.verdict)?;
        label = "";
    }
    if !rows.iter().any(|row| row.is_needed) {
        paragraph(
            out,
            "",
            "nothing that can be left out is needed: look at the code that the last rows ran",
        )?;
    }
    Ok(())
}
