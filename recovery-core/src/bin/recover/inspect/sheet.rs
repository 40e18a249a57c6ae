//! What inspection shows: rows of fields, each with its place, its value, and what a check says of it.
//!
//! Promises: a wrong row says what is wrong, in words; nothing wrong is ever left out. Leaves out: what
//! follows from it. Inspection looks at one file and cannot know what the partition is worth.

use std::fmt::Display;

use recovery_core::storage::Name;
use serde::Serialize;

use crate::palette::{BAD, DIM, GOOD, HEADING, paint};
use crate::paragraph::{counted, paragraph};

/// What the bytes were taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SheetKind {
    /// A batch of a log.
    Batch,
    /// Entries of an index.
    Index,
    /// Records of a ledger.
    Ledger,
    /// A superblock slot.
    Superblock,
    /// Nothing known.
    Bytes,
}

impl SheetKind {
    /// The permanent word for this kind.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Index => "index",
            Self::Ledger => "ledger",
            Self::Superblock => "superblock",
            Self::Bytes => "bytes",
        }
    }
}

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// By itself this can be neither right nor wrong.
    None,
    /// It holds.
    Right,
    /// It does not.
    Wrong,
}

impl Check {
    /// `Right` if `holds`, else `Wrong`.
    pub(crate) const fn of(holds: bool) -> Self {
        if holds { Self::Right } else { Self::Wrong }
    }

    const fn code(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Right => Some("ok"),
            Self::Wrong => Some("wrong"),
        }
    }
}

/// One field, or one frame, entry or record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Its first byte in the file.
    pub(crate) position: u64,
    /// Its name.
    pub(crate) field: String,
    /// Its value.
    pub(crate) value: String,
    /// What is to be said of it.
    pub(crate) check: Check,
    /// Why it is wrong, or what its value means.
    pub(crate) note: Option<String>,
}

impl Row {
    /// A field without a check.
    pub(crate) fn new(position: u64, field: impl Into<String>, value: impl Display) -> Self {
        let (field, value) = (field.into(), format!("{value}"));
        Self { position, field, value, check: Check::None, note: None }
    }

    /// The same, checked: `wrong` says what is wrong.
    #[must_use]
    pub(crate) fn checked(mut self, wrong: Option<String>) -> Self {
        self.check = Check::of(wrong.is_none());
        self.note = wrong;
        self
    }

    /// The same with a remark.
    #[must_use]
    pub(crate) fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

/// Rows that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sheet {
    /// What they describe.
    pub(crate) kind: SheetKind,
    /// The file.
    pub(crate) file: Name,
    /// Its length.
    pub(crate) file_bytes: u64,
    /// Where the first row lies.
    pub(crate) position: u64,
    /// The rows, by position.
    pub(crate) rows: Vec<Row>,
    /// Checks that hold, of rows that are not shown.
    pub(crate) unshown: u64,
    /// Where to look next; `None` at the end of the file, or where that cannot be known.
    pub(crate) next: Option<u64>,
}

impl Sheet {
    /// The sheet for people. `path` is what a person would type again.
    pub(crate) fn text(&self, path: &str) -> String {
        let mut text = format!(
            "{} {}\n",
            paint(HEADING, &format!("{} in {}", self.kind.code(), self.file)),
            paint(DIM, &format!("at byte {} of {}", self.position, self.file_bytes))
        );
        for row in &self.rows {
            text.push_str(&row_text(row));
        }
        if self.unshown > 0 {
            let more = format!("{} of which every check holds, not shown", counted(self.unshown, "more row"));
            text.push_str(&paragraph("      ", &more));
        }
        text.push_str(&self.summary());
        if let Some(next) = self.next {
            text.push_str(&paragraph("hint: ", &format!("recover inspect {path}@{next} shows what follows")));
        }
        text
    }

    /// The fields that are wrong.
    fn wrong(&self) -> Vec<&str> {
        let wrong = self.rows.iter().filter(|row| row.check == Check::Wrong);
        wrong.map(|row| row.field.as_str()).collect()
    }

    fn summary(&self) -> String {
        let wrong = self.wrong();
        if !wrong.is_empty() {
            let words = format!("{}: {}", counted(wrong.len() as u64, "wrong row"), wrong.join(", "));
            return paragraph("", &paint(BAD, &words));
        }
        if self.rows.iter().any(|row| row.check == Check::Right) {
            return paragraph("", &paint(GOOD, "every check holds"));
        }
        paragraph("", "nothing here can be checked")
    }

    /// The sheet for programs.
    pub(crate) fn object(&self) -> SheetObject<'_> {
        let rows = self.rows.iter().map(|row| RowObject {
            position: row.position,
            field: &row.field,
            value: &row.value,
            check: row.check.code(),
            note: row.note.as_deref(),
        });
        SheetObject {
            version: 1,
            file: self.file.to_string(),
            file_bytes: self.file_bytes,
            kind: self.kind.code(),
            position: self.position,
            rows: rows.collect(),
            rows_unshown: self.unshown,
            next_position: self.next,
        }
    }
}

fn row_text(row: &Row) -> String {
    let mark = match row.check {
        Check::None => "     ".to_owned(),
        Check::Right => paint(GOOD, "ok   "),
        Check::Wrong => paint(BAD, "WRONG"),
    };
    let lead = format!("{mark} {:>10}  {:<16} ", row.position, row.field);
    match &row.note {
        Some(note) => paragraph(&lead, &format!("{}  ({note})", row.value)),
        None => paragraph(&lead, &row.value),
    }
}

/// The object that `recover inspect --json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct SheetObject<'a> {
    version: u32,
    file: String,
    file_bytes: u64,
    kind: &'static str,
    position: u64,
    rows: Vec<RowObject<'a>>,
    rows_unshown: u64,
    next_position: Option<u64>,
}

#[derive(Debug, Serialize)]
struct RowObject<'a> {
    position: u64,
    field: &'a str,
    value: &'a str,
    check: Option<&'static str>,
    note: Option<&'a str>,
}
