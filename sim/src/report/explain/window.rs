//! A batch header as bytes and as fields, with what is wrong marked.

use std::io::{self, Write};

use super::palette::{BAD, paint};
use crate::report::terminal::paragraph;
use crate::run::explain::{FieldRow, Window};

/// Bytes of a row.
const ROW_BYTES: usize = 16;

/// Writes it; `of` says of which start it is, if that needs saying.
pub(super) fn write(out: &mut dyn Write, window: &Window, of: &str) -> io::Result<()> {
    let Window { file, position, when, .. } = window;
    paragraph(out, "Bytes", &format!("{file} at byte {position}, {when}{of}"))?;
    let length = window.written.as_ref().map_or(window.found.len(), Vec::len);
    for from in (0..length).step_by(ROW_BYTES) {
        let range = from..(from + ROW_BYTES).min(length);
        let cells: Vec<String> = range.map(|at| cell(window, at)).collect();
        writeln!(out, "{:10}{:>8}  {}", "", position + from as u64, cells.join(" "))?;
    }
    if window.written.is_none() {
        paragraph(out, "", "nobody wrote a batch here")?;
    }
    for row in &window.fields {
        writeln!(out, "{:10}{}", "", field(row))?;
    }
    if window.found.is_empty() {
        paragraph(out, "", "the file ends before this batch")?;
    } else if let Some(wrong) = window.first_wrong_behind {
        paragraph(out, "", &format!("behind the header, byte {wrong} is the first that is not as written"))?;
    } else if window.written == Some(window.found.clone()) {
        paragraph(out, "", "every byte of this batch is as it was written")?;
    }
    Ok(())
}

fn cell(window: &Window, at: usize) -> String {
    let written = window.written.as_ref().and_then(|bytes| bytes.get(at));
    let found = window.found.get(at);
    let text = found.map_or("..".to_owned(), |byte| format!("{byte:02x}"));
    if written.is_some() && written != found { paint(BAD, &text) } else { text }
}

/// Checksums are read digit by digit, everything else is a number.
fn value(field: &str, value: u64) -> String {
    if field.ends_with("checksum") { format!("{value:016x}") } else { value.to_string() }
}

fn field(row: &FieldRow) -> String {
    let FieldRow { field, found, written } = row;
    match written {
        Some(written) if written != found => {
            let (found, written) = (value(field, *found), value(field, *written));
            paint(BAD, &format!("> {field:<17}{found:<20} WRONG was {written}"))
        }
        Some(_) | None => format!("  {field:<17}{}", value(field, *found)),
    }
}
