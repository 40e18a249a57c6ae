//! An index that a check names, entry by entry, with the batch that lies where each points.

use std::io::{self, Write};

use super::palette::{BAD, paint};
use crate::report::terminal::{counted, paragraph};
use crate::run::explain::{EntryTold, IndexTold};

/// Entries that a person reads at once.
const ENTRIES_MAX: usize = 8;

/// Writes it; `of` says of which start it is, if that needs saying.
pub(super) fn write(out: &mut dyn Write, index: &IndexTold, of: &str) -> io::Result<()> {
    let IndexTold { when, file, index_bytes, entries } = index;
    let Some(bytes) = index_bytes else {
        return paragraph(out, "Index", &format!("{file} is not there {when}{of}"));
    };
    paragraph(out, "Index", &format!("{file}, {}, {when}{of}", counted(*bytes, "byte")))?;
    writeln!(
        out,
        "{:12}{:<6} {:<9} {:<18} {:<10} at that position",
        "", "byte", "offset", "time", "position"
    )?;
    let first_wrong = entries.iter().position(EntryTold::is_wrong).unwrap_or(entries.len());
    let hidden = (first_wrong + 1).min(entries.len()).saturating_sub(ENTRIES_MAX);
    if hidden > 0 {
        let are = if hidden == 1 { "is" } else { "are" };
        let rows =
            format!("{hidden} earlier {} {are} left out", if hidden == 1 { "entry" } else { "entries" });
        paragraph(out, "", &rows)?;
    }
    let entry_bytes = recovery_core::format::INDEX_ENTRY_BYTES;
    for (at, entry) in entries.iter().enumerate().skip(hidden).take(ENTRIES_MAX) {
        let EntryTold { offset, timestamp, position, batch } = entry;
        let lies = match batch {
            None => "no batch".to_owned(),
            Some(_) if !entry.is_wrong() => "that batch".to_owned(),
            Some((base, _)) if base != offset => format!("the batch of offset {base}"),
            Some((_, time)) => format!("one of time {time}"),
        };
        let mark = if entry.is_wrong() { paint(BAD, ">") } else { " ".to_owned() };
        let place = at * entry_bytes;
        writeln!(out, "{:10}{mark} {place:<6} {offset:<9} {timestamp:<18} {position:<10} {lies}", "")?;
    }
    match bytes % entry_bytes as u64 {
        0 => Ok(()),
        rest => paragraph(out, "", &format!("behind the last whole entry: {}", counted(rest, "byte"))),
    }
}
