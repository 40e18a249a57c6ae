//! Text that fits 80 columns: words broken into lines under a hanging indent, and counted nouns.
//!
//! Promises: no line is longer than [`COLUMNS`] unless a single word is. A word is measured as it is seen:
//! colour takes no room. Leaves out: what the words say.

use std::fmt::Write as _;

/// Width of every text.
pub(crate) const COLUMNS: usize = 80;

/// `text` broken into lines: the first starts with `lead`, the others with as many blanks.
pub(crate) fn paragraph(lead: &str, text: &str) -> String {
    let indent = width(lead);
    let mut lines = String::from(lead);
    let mut column = indent;
    for word in text.split_whitespace() {
        let needed = width(word);
        if column > indent && column + 1 + needed > COLUMNS {
            let _ = write!(lines, "\n{:indent$}", "");
            column = indent;
        }
        if column > indent {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += needed;
    }
    lines.push('\n');
    lines
}

/// How many columns `text` takes: characters, without the escape sequences that colour it.
pub(crate) fn width(text: &str) -> usize {
    let mut columns = 0;
    let mut is_escape = false;
    for character in text.chars() {
        match character {
            '\u{1b}' => is_escape = true,
            'm' if is_escape => is_escape = false,
            _ if is_escape => {}
            _ => columns += 1,
        }
    }
    columns
}

/// A number and its noun: `1 batch`, `2 batches`, `3 entries`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 {
        return format!("1 {noun}");
    }
    match noun.strip_suffix("ry") {
        Some(stem) => format!("{count} {stem}ries"),
        None if noun.ends_with("ch") || noun.ends_with('x') => format!("{count} {noun}es"),
        None => format!("{count} {noun}s"),
    }
}
