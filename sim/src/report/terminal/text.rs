//! Lines of at most 80 columns: a label of eight, two blanks, and what there is to say.

use std::io::{self, Write};

/// Columns of a line.
const COLUMNS: usize = 80;

/// Columns of a label and the blanks behind it.
const LEAD: usize = 10;

/// Writes words under a label, in as many lines as they need. A word that is longer than a line, such as a
/// token, is not broken: it is there to be copied.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn paragraph(out: &mut dyn Write, label: &str, text: &str) -> io::Result<()> {
    flow(out, &format!("{label:>8}  "), "", text)
}

/// Writes words behind a mark of two columns, where a label's words stand, and under themselves.
///
/// # Errors
///
/// When the stream cannot be written.
pub(super) fn item(out: &mut dyn Write, mark: &str, text: &str) -> io::Result<()> {
    flow(out, &format!("{:LEAD$}{mark:<2}", ""), "", text)
}

/// Writes one of several lines that stand under each other: what does not fit goes on further in, so that no piece looks
/// like the next line.
///
/// # Errors
///
/// When the stream cannot be written.
pub(super) fn line_of_many(out: &mut dyn Write, text: &str) -> io::Result<()> {
    flow(out, &format!("{:LEAD$}  ", ""), "    ", text)
}

/// Writes words behind a lead, and below it, by `inset` further in, where a line is full.
fn flow(out: &mut dyn Write, lead: &str, inset: &str, text: &str) -> io::Result<()> {
    let indent = lead.chars().count() + inset.chars().count();
    let mut line = lead.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            writeln!(out, "{line}")?;
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    writeln!(out, "{}", line.trim_end())
}

/// Writes a short word and something to copy on a line of its own, however long.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn hint(out: &mut dyn Write, word: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{:LEAD$}{word:<7} {text}", "")
}

/// Says how much was not run because somebody ended it, and from where on.
///
/// # Errors
///
/// When the stream cannot be written.
pub fn not_run<T: std::fmt::Display>(out: &mut dyn Write, noun: &str, left: &[T]) -> io::Result<()> {
    let Some(first) = left.first() else { return Ok(()) };
    let were = if left.len() == 1 { "was" } else { "were" };
    let count = counted(left.len() as u64, noun);
    paragraph(out, "CUT", &format!("interrupted: {count} {were} not run, from {first} on"))
}

/// A number with its noun: `1 seed`, `2 seeds`, `2 batches`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = match noun {
        _ if count == 1 => "",
        _ if noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// A count in at most four columns: `999`, `1k`, `999k`, `1M`.
pub fn short(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{}M", count / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(label: &str, text: &str, expected: &str) {
        let mut out = Vec::new();
        paragraph(&mut out, label, text).expect("memory takes it");
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }

    #[test]
    fn words_flow_under_their_label() {
        check("Run", "two words", "     Run  two words\n");
        check("", "", "\n");
        let text = "aaaaaaaaaa ".repeat(8);
        let six = ["aaaaaaaaaa"; 6].join(" ");
        check("Tried", &text, &format!("   Tried  {six}\n          aaaaaaaaaa aaaaaaaaaa\n"));
        let long = "x".repeat(100);
        check("a", &format!("b {long} c"), &format!("       a  b\n          {long}\n          c\n"));
    }

    #[test]
    fn what_was_not_run_is_counted_and_its_first_is_named() {
        let told = |left: &[&str]| {
            let mut out = Vec::new();
            not_run(&mut out, "bug", left).expect("memory takes it");
            String::from_utf8(out).expect("text")
        };
        assert_eq!(told(&[]), "");
        assert_eq!(told(&["b"]), "     CUT  interrupted: 1 bug was not run, from b on\n");
        assert_eq!(told(&["b", "c"]), "     CUT  interrupted: 2 bugs were not run, from b on\n");
    }

    #[test]
    fn items_hang_behind_their_mark() {
        let mut out = Vec::new();
        item(&mut out, "-", &"aaaaaaaaaa ".repeat(7)).expect("memory takes it");
        let six = ["aaaaaaaaaa"; 6].join(" ");
        let expected = format!("          - {six}\n            aaaaaaaaaa\n");
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }

    #[test]
    fn numbers_and_nouns_agree() {
        assert_eq!(counted(1, "batch"), "1 batch");
        assert_eq!(counted(2, "batch"), "2 batches");
        assert_eq!(counted(0, "seed"), "0 seeds");
        assert_eq!((short(999), short(1999), short(2_500_000)), ("999".into(), "1k".into(), "2M".into()));
    }
}
