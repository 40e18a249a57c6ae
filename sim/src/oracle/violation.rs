//! One thing that a check found wrong, as plain data.
//!
//! Promises: no text is made before somebody wants to read it. Leaves out: where in the schedule it
//! happened, which whoever ran the check knows.

use std::fmt;
use std::ops::Range;

use recovery_core::storage::Name;
use recovery_core::units::{Length, Offset, SegmentStart};

use super::Check;

/// What a check expected, and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which check.
    pub check: Check,
    /// Which file, where it is about one.
    pub file: Option<Name>,
    /// Which segment, where it is about one.
    pub segment: Option<SegmentStart>,
    /// Which bytes of the file, where it is about some.
    pub range: Option<Range<u64>>,
    /// What was looked at.
    pub subject: &'static str,
    /// What it should be.
    pub expected: Value,
    /// What it is.
    pub actual: Value,
}

/// One compared value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A permanent word.
    Code(&'static str),
    /// A number.
    Number(u64),
    /// Words that are of no vocabulary.
    Text(Box<str>),
    /// No such thing.
    None,
}

impl From<Offset> for Value {
    fn from(offset: Offset) -> Self {
        Self::Number(offset.get())
    }
}

impl From<Length> for Value {
    fn from(length: Length) -> Self {
        Self::Number(length.get())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

impl Violation {
    /// A violation that is about nothing smaller than the partition yet.
    pub const fn new(check: Check, subject: &'static str, expected: Value, actual: Value) -> Self {
        Self { check, file: None, segment: None, range: None, subject, expected, actual }
    }

    /// The same, about one file.
    #[must_use]
    pub fn in_file(self, file: Name) -> Self {
        Self { file: Some(file), ..self }
    }

    /// The same, about one segment.
    #[must_use]
    pub fn in_segment(self, segment: SegmentStart) -> Self {
        Self { segment: Some(segment), ..self }
    }

    /// The same, about some bytes.
    #[must_use]
    pub fn at(self, range: Range<u64>) -> Self {
        Self { range: Some(range), ..self }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => formatter.write_str(code),
            Self::Text(words) => write!(formatter, "\"{words}\""),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::None => formatter.write_str("none"),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.check)?;
        if let Some(segment) = self.segment {
            write!(formatter, "segment {segment}: ")?;
        }
        if let Some(file) = self.file {
            write!(formatter, "{file}: ")?;
        }
        if let Some(range) = &self.range {
            write!(formatter, "bytes {} to {}: ", range.start, range.end)?;
        }
        write!(formatter, "{} should be {} and is {}", self.subject, self.expected, self.actual)
    }
}
