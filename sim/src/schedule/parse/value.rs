//! Reads single values: numbers, words, names.
//!
//! Promises: a number never wraps and a word is one of its list.

use std::borrow::Cow;

use kdl::KdlValue;
use recovery_core::units::{Namespace, Offset, Position, SegmentStart};

use super::error::ParseFault;
use crate::schedule::step::{BatchId, NodeId};
use crate::schedule::word::Word;
use crate::schedule::world::{WINDOW_BYTES_DEFAULT, WINDOW_BYTES_MIN};

/// A value of the language.
pub(super) trait Value: Sized {
    /// What it looks like, for errors.
    const WANTED: &'static str;

    /// Takes it from KDL; `Err` says why not.
    fn read(value: &KdlValue) -> Result<Self, Unfit>;
}

/// Why a KDL value is not the value that is wanted.
pub(super) enum Unfit {
    /// It is of another type, or its text has another form.
    Type,
    /// It is a number out of range.
    Range { least: u64, most: u64 },
    /// It is no word of the list.
    Word { kind: &'static str, words: String },
}

impl Unfit {
    /// The fault that a reader reports, and its help.
    pub(super) fn fault<V: Value>(
        self,
        name: &'static str,
        value: &KdlValue,
    ) -> (ParseFault, Option<String>) {
        let found = value.to_string();
        match self {
            Self::Type => (ParseFault::WrongType { name, wanted: V::WANTED, found }, None),
            Self::Range { least, most } => (ParseFault::OutOfRange { name, least, most, found }, None),
            Self::Word { kind, words } => {
                (ParseFault::UnknownWord { kind, found }, Some(format!("one of: {words}")))
            }
        }
    }
}

pub(super) fn text(value: &KdlValue) -> Result<&str, Unfit> {
    value.as_string().ok_or(Unfit::Type)
}

fn number(value: &KdlValue, least: u64, most: u64) -> Result<u64, Unfit> {
    let found = value.as_integer().ok_or(Unfit::Type)?;
    let number = u64::try_from(found).ok().filter(|number| (least..=most).contains(number));
    number.ok_or(Unfit::Range { least, most })
}

macro_rules! numbers {
    ($($name:ty, $least:expr, $most:expr, $make:expr;)+) => {
        $(impl Value for $name {
            const WANTED: &'static str = "a whole number";

            fn read(value: &KdlValue) -> Result<Self, Unfit> {
                let make: fn(u64) -> Self = $make;
                number(value, $least, $most).map(make)
            }
        })+
    };
}

/// A number of at least 1.
pub(super) struct Positive(pub(super) u32);

/// A number of nodes.
pub(super) struct NodeCount(pub(super) u8);

/// A read window that the core accepts.
pub(super) struct WindowBytes(pub(super) u32);

const U32_MAX: u64 = u32::MAX as u64;

const U8_MAX: u64 = u8::MAX as u64;

numbers! {
    u64, 0, u64::MAX, |number| number;
    u32, 0, U32_MAX, narrow;
    u8, 0, U8_MAX, narrowest;
    Positive, 1, U32_MAX, |number| Positive(narrow(number));
    NodeCount, 1, U8_MAX, |number| NodeCount(narrowest(number));
    WindowBytes, u64::from(WINDOW_BYTES_MIN), u64::from(WINDOW_BYTES_DEFAULT), |number| WindowBytes(narrow(number));
    BatchId, 0, U32_MAX, |number| BatchId(narrow(number));
    NodeId, 0, U8_MAX, |number| NodeId(narrowest(number));
    Offset, 0, u64::MAX, Offset::new;
    Position, 0, u64::MAX, Position::new;
    SegmentStart, 0, u64::MAX, SegmentStart::new;
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).expect("the range was checked")
}

fn narrowest(number: u64) -> u8 {
    u8::try_from(number).expect("the range was checked")
}

impl Value for bool {
    const WANTED: &'static str = "#true or #false";

    fn read(value: &KdlValue) -> Result<Self, Unfit> {
        value.as_bool().ok_or(Unfit::Type)
    }
}

impl Value for String {
    const WANTED: &'static str = "a text";

    fn read(value: &KdlValue) -> Result<Self, Unfit> {
        text(value).map(str::to_owned)
    }
}

impl Value for Cow<'static, str> {
    const WANTED: &'static str = "a text";

    fn read(value: &KdlValue) -> Result<Self, Unfit> {
        text(value).map(|text| Cow::Owned(text.to_owned()))
    }
}

impl Value for Namespace {
    const WANTED: &'static str = "a partition as \"S/T/P\", at most 20, 12 and 20 bits";

    fn read(value: &KdlValue) -> Result<Self, Unfit> {
        let mut parts = text(value)?.split('/').map(decimal);
        let mut part = || parts.next().flatten().ok_or(Unfit::Type);
        let namespace = Self { stream: part()?, topic: part()?, partition: part()? };
        let is_over = parts.next().is_none();
        if is_over && namespace.is_packable() { Ok(namespace) } else { Err(Unfit::Type) }
    }
}

/// Reads a number that has one spelling only: no sign, no leading zero.
pub(super) fn decimal<N: std::str::FromStr + ToString>(text: &str) -> Option<N> {
    text.parse().ok().filter(|number: &N| number.to_string() == text)
}

impl<W: Word> Value for W {
    const WANTED: &'static str = W::KIND;

    fn read(value: &KdlValue) -> Result<Self, Unfit> {
        Self::from_word(text(value)?).ok_or_else(|| Unfit::Word { kind: W::KIND, words: words::<W>() })
    }
}

fn words<W: Word>() -> String {
    let words: Vec<&str> = W::WORDS.iter().map(|word| word.word()).collect();
    words.join(" ")
}
