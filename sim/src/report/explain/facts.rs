//! Recovery's own facts beside the truth, with a mark at the first place where they part.

use std::io::{self, Write};

use super::palette::{BAD, paint};
use crate::report::terminal::paragraph;
use crate::run::explain::{Explanation, FactRow, first_difference};

/// Rows that a person reads at once.
const ROWS_MAX: usize = 12;

/// Columns for what is true.
const TRUTH_COLUMNS: usize = 22;

/// The rows that are shown: those of the first segment that differs, and what follows from it.
pub fn facts(rows: &[FactRow]) -> &[FactRow] {
    let first = first_difference(rows).unwrap_or(0);
    // Two rows of context: the length of the log stands before where it is whole.
    &rows[first.saturating_sub(1).min(rows.len().saturating_sub(ROWS_MAX))..]
}

pub(super) fn write(out: &mut dyn Write, explanation: &Explanation) -> io::Result<()> {
    let rows = explanation.facts.as_slice();
    let is_varied = explanation.failure.varied.is_some();
    let first = first_difference(rows);
    let shown = facts(rows);
    let hidden = rows.len() - shown.len();
    let parts = match first.map(|first| &rows[first]) {
        Some(FactRow { segment: Some(segment), what, .. }) => {
            format!("recovery and the truth part at \"{what}\" of segment {segment}")
        }
        Some(FactRow { segment: None, what, .. }) => format!("recovery and the truth part at \"{what}\""),
        None if is_varied => "recovery saw what is there".to_owned(),
        None => "recovery saw what is there: what broke is what it made of it".to_owned(),
    };
    let of = if is_varied { "of the start that was not varied: " } else { "" };
    paragraph(out, "Facts", &format!("{of}{parts}"))?;
    writeln!(out, "{:12}{:<21} {:<23} the truth", "", "", "recovery says")?;
    let mut segment = None;
    for (at, row) in shown.iter().enumerate().take(ROWS_MAX) {
        if row.segment != segment {
            segment = row.segment;
            let name = segment.map_or("partition".to_owned(), |segment| format!("segment {segment}"));
            writeln!(out, "{:12}{name}", "")?;
        }
        let is_first = first == Some(at + hidden);
        let mark = if is_first { paint(BAD, ">") } else { " ".to_owned() };
        let lead = format!("{:10}{mark}   {:<19} {:<23}", "", row.what, row.recovery);
        if row.truth.chars().count() > TRUTH_COLUMNS {
            writeln!(out, "{}\n{:16}in truth: {}", lead.trim_end(), "", row.truth)?;
        } else {
            writeln!(out, "{lead} {}", row.truth)?;
        }
    }
    Ok(())
}
