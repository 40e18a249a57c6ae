//! One printed KDL node: its line, its children, and how they are laid out.
//!
//! Promises: what is printed is KDL 2 whatever the text holds; a node with one short leaf for a child takes
//! one line. Leaves out: which words a node has.

use std::fmt::{Display, Write};

use recovery_core::units::Namespace;

use crate::schedule::word::Word;

/// Longest line on which a node shares a line with its only child.
const INLINE_COLUMNS_MAX: usize = 100;

const INDENT: &str = "    ";

/// A node under construction.
#[derive(Debug)]
pub(super) struct Node {
    head: String,
    children: Vec<Self>,
    is_block: bool,
}

impl Node {
    pub(super) fn new(name: &str) -> Self {
        Self { head: name.to_owned(), children: Vec::new(), is_block: false }
    }

    /// A node whose children each take a line of their own, even if there is one or none.
    pub(super) fn block(name: &str) -> Self {
        Self { is_block: true, ..Self::new(name) }
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.head.push(' ');
        quote(&mut self.head, text);
        self
    }

    pub(super) fn texts<'a>(self, texts: impl IntoIterator<Item = &'a String>) -> Self {
        texts.into_iter().fold(self, |node, text| node.text(text))
    }

    pub(super) fn word(self, word: impl Word) -> Self {
        self.text(word.word())
    }

    pub(super) fn partition(self, partition: Namespace) -> Self {
        self.text(&partition.to_string())
    }

    pub(super) fn number(mut self, number: u64) -> Self {
        write(&mut self.head, format_args!(" {number}"));
        self
    }

    pub(super) fn set_text(mut self, name: &str, text: &str) -> Self {
        write(&mut self.head, format_args!(" {name}="));
        quote(&mut self.head, text);
        self
    }

    pub(super) fn set_word(self, name: &str, word: impl Word) -> Self {
        self.set_text(name, word.word())
    }

    pub(super) fn set(mut self, name: &str, number: impl Into<u64>) -> Self {
        write(&mut self.head, format_args!(" {name}={}", number.into()));
        self
    }

    pub(super) fn set_hexadecimal(mut self, name: &str, number: u64) -> Self {
        write(&mut self.head, format_args!(" {name}={number:#018x}"));
        self
    }

    pub(super) fn set_flag(mut self, name: &str, flag: bool) -> Self {
        write(&mut self.head, format_args!(" {name}=#{flag}"));
        self
    }

    /// Sets a number that is not its default.
    pub(super) fn set_unless(self, name: &str, number: impl Into<u64>, default: impl Into<u64>) -> Self {
        let number = number.into();
        if number == default.into() { self } else { self.set(name, number) }
    }

    pub(super) fn set_some(self, name: &str, number: Option<impl Into<u64>>) -> Self {
        match number {
            Some(number) => self.set(name, number),
            None => self,
        }
    }

    pub(super) fn set_some_word(self, name: &str, word: Option<impl Word>) -> Self {
        match word {
            Some(word) => self.set_word(name, word),
            None => self,
        }
    }

    pub(super) fn child(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }

    pub(super) fn children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    /// Writes the node and its children behind `depth` indents.
    pub(super) fn render(&self, depth: usize, out: &mut String) {
        let indent = INDENT.repeat(depth);
        if self.children.is_empty() && !self.is_block {
            write(out, format_args!("{indent}{}\n", self.head));
        } else if let Some(line) = self.inline(depth) {
            write(out, format_args!("{indent}{line}\n"));
        } else {
            write(out, format_args!("{indent}{} {{\n", self.head));
            for child in &self.children {
                child.render(depth + 1, out);
            }
            write(out, format_args!("{indent}}}\n"));
        }
    }

    /// The whole node on one line, children and all.
    pub(super) fn line(&self) -> String {
        if self.children.is_empty() {
            return self.head.clone();
        }
        let children: Vec<String> = self.children.iter().map(Self::line).collect();
        format!("{} {{ {}; }}", self.head, children.join("; "))
    }

    fn inline(&self, depth: usize) -> Option<String> {
        let [child] = self.children.as_slice() else { return None };
        if self.is_block || !child.children.is_empty() || child.is_block {
            return None;
        }
        let line = self.line();
        let columns = INDENT.len() * depth + line.chars().count();
        (columns <= INLINE_COLUMNS_MAX).then_some(line)
    }
}

fn write(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("a string takes all that is written to it");
}

/// Writes `text` as a KDL string: between quotes, with everything escaped that may not stand for itself.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            plain if stands_for_itself(plain) => out.push(plain),
            special => write(out, format_args!("\\u{{{:x}}}", u32::from(special))),
        }
    }
    out.push('"');
}

/// Whether KDL 2 lets the character stand in a quoted string: no control, no newline of Unicode's, none
/// that steers the direction of text, no byte order mark.
fn stands_for_itself(character: char) -> bool {
    let is_newline = matches!(character, '\u{2028}' | '\u{2029}');
    let is_direction =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !character.is_control() && !is_newline && !is_direction && character != '\u{feff}'
}

/// What prints itself between quotes.
pub(super) fn shown(value: impl Display) -> String {
    value.to_string()
}
