//! Names of the copies in a fence (CONTRACTS 2): `<file>.<position>-<length>.<xxh3 of the bytes>`.
//!
//! Promises: the name says which bytes of which file a copy holds, so a repeat finds its own and two
//! different contents never meet under one name; what prints parses to the same value, and only the one
//! canonical spelling parses. Leaves out: whether a copy holds what its name says.

use super::file_name::parse_stem;
use super::{Checksum, FileName};
use crate::storage::{NAME_BYTES_MAX, Name};
use crate::units::{Length, Position};

/// Digits of a checksum in a name.
const CHECKSUM_DIGITS: usize = 16;

/// Bytes of the longest suffix: two points, a dash, two numbers of 20 digits and a checksum.
const SUFFIX_BYTES_MAX: usize = 3 + 20 + 20 + CHECKSUM_DIGITS;

/// What a copy is called while it is being written.
const STAGING_SUFFIX: &[u8] = b".staging";

/// Longest file name that a copy's name can carry whole, with room for the suffix of its staging file.
const FILE_BYTES_MAX: usize = NAME_BYTES_MAX - SUFFIX_BYTES_MAX - STAGING_SUFFIX.len();

/// What the ledger is called in the names of its copies.
const LEDGER_COPY: &[u8] = b"00000000000000000000.ledger";

/// Which bytes of which file a copy holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopyName {
    file: Name,
    position: Position,
    length: Length,
    checksum: Checksum,
}

impl CopyName {
    /// The name of a copy of `length` bytes at `position` of the file called `file`, which is a log, an
    /// index or scratch.
    ///
    /// A scratch name that leaves no room for the rest is replaced by its checksum.
    pub fn new(file: &Name, position: Position, length: Length, checksum: Checksum) -> Self {
        assert!(is_copied(file), "only logs, indexes, ledgers and scratch are ever copied");
        Self { file: shortened(file), position, length, checksum }
    }

    /// Reads a name, or `None` if it is not the canonical name of any copy.
    pub fn parse(name: &Name) -> Option<Self> {
        let (rest, checksum) = split_at_last(name.as_bytes(), b'.')?;
        let (file, range) = split_at_last(rest, b'.')?;
        let (position, length) = split_at_last(range, b'-')?;
        let file = Name::new(file)?;
        let copy = Self {
            file,
            position: Position::new(parse_decimal(position)?),
            length: Length::new(parse_decimal(length)?),
            checksum: Checksum::new(parse_checksum(checksum)?),
        };
        let is_canonical = is_copied(&file) && shortened(&file) == file && copy.name() == *name;
        is_canonical.then_some(copy)
    }

    /// The copy's name in its fence.
    pub fn name(&self) -> Name {
        let suffix = format!(".{}-{}.{}", self.position, self.length, self.checksum);
        self.file.with_suffix(suffix.as_bytes()).expect("a shortened file name leaves room for the suffix")
    }

    /// The name under which the copy is written before it is renamed into place.
    pub fn staging(&self) -> Name {
        self.name().with_suffix(STAGING_SUFFIX).expect("a copy's name leaves room for the suffix")
    }

    /// Whether `name` is what some copy is called while it is being written.
    pub fn is_staging(name: &Name) -> bool {
        let copy = name.as_bytes().strip_suffix(STAGING_SUFFIX).and_then(Name::new);
        copy.is_some_and(|copy| Self::parse(&copy).is_some())
    }

    /// The file that the bytes were in.
    pub const fn file(&self) -> Name {
        self.file
    }

    /// Where in it they started.
    pub const fn position(&self) -> Position {
        self.position
    }

    /// How many they are.
    pub const fn length(&self) -> Length {
        self.length
    }

    /// XXH3-64 of them.
    pub const fn checksum(&self) -> Checksum {
        self.checksum
    }
}

/// Whether recovery, or the host, ever sets bytes of a file with this name aside.
fn is_copied(file: &Name) -> bool {
    match FileName::classify(file) {
        FileName::Log(_)
        | FileName::Index(_)
        | FileName::StrayIndex
        | FileName::Staging
        | FileName::Ledger => true,
        // The ledger is one a directory; its copies carry 20 digits like every other file's.
        FileName::Other => file.as_bytes().strip_suffix(b".ledger").and_then(parse_stem).is_some(),
        // It lies beside no segment, and no partition has such a name.
        FileName::StrayLog => *file == FileName::metadata_log(),
        FileName::Superblock(_) => false,
    }
}

/// The name itself; the ledger's with digits; or, if it is too long, its checksum with the ending that
/// made it scratch.
fn shortened(file: &Name) -> Name {
    let bytes = file.as_bytes();
    if *file == FileName::ledger() {
        return Name::new(LEDGER_COPY).expect("20 digits and an ending are a name");
    }
    if bytes.len() <= FILE_BYTES_MAX {
        return *file;
    }
    let ending: &[u8] = if bytes.ends_with(STAGING_SUFFIX) { STAGING_SUFFIX } else { b".index" };
    let stem = Checksum::of(bytes).to_string();
    Name::new(stem.as_bytes()).and_then(|stem| stem.with_suffix(ending)).expect("16 digits leave room")
}

fn split_at_last(bytes: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().rposition(|byte| *byte == separator)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

fn parse_decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    // Leading zeros are caught by printing the value again.
    digits.iter().try_fold(0_u64, |number, digit| {
        let value = char::from(*digit).to_digit(10)?;
        number.checked_mul(10)?.checked_add(u64::from(value))
    })
}

fn parse_checksum(digits: &[u8]) -> Option<u64> {
    if digits.len() != CHECKSUM_DIGITS {
        return None;
    }
    // Capitals are caught by printing the value again.
    digits.iter().try_fold(0_u64, |number, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(number << 4 | u64::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text.as_bytes()).expect("a test name is one component")
    }

    /// Parses `text`; what parses must print as it was.
    fn check(text: &str, expected: Option<(&str, u64, u64, u64)>) {
        let parsed = CopyName::parse(&name(text));
        let fields = parsed.map(|copy| {
            assert_eq!(copy.name(), name(text), "printing is the inverse of parsing");
            assert!(CopyName::is_staging(&copy.staging()), "a staging name is recognised");
            assert!(!CopyName::is_staging(&copy.name()), "a finished copy is no staging file");
            (copy.file().to_string(), copy.position().get(), copy.length().get(), copy.checksum().get())
        });
        let expected = expected.map(|(file, at, length, hash)| (file.to_owned(), at, length, hash));
        assert_eq!(fields, expected, "{text}");
    }

    #[test]
    fn a_canonical_name_parses_to_what_it_says() {
        let log = "00000000000000000007.log";
        check(&format!("{log}.404-96.0123456789abcdef"), Some((log, 404, 96, 0x0123_4567_89ab_cdef)));
        let index = "18446744073709551615.index";
        let most = u64::MAX;
        check(&format!("{index}.{most}-{most}.ffffffffffffffff"), Some((index, most, most, most)));
        let ledger = "00000000000000000000.ledger";
        check(&format!("{ledger}.0-0.0000000000000000"), Some((ledger, 0, 0, 0)));
        let scratch = "a-b.1-2.staging";
        check(&format!("{scratch}.0-3.00000000000000ff"), Some((scratch, 0, 3, 255)));
    }

    #[test]
    fn any_other_spelling_is_no_copy() {
        let log = "00000000000000000007.log";
        for text in [
            log.to_owned(),
            format!("{log}.404-96"),
            format!("{log}.404-96.0123456789ABCDEF"),
            format!("{log}.404-96.123456789abcdef"),
            format!("{log}.0404-96.0123456789abcdef"),
            format!("{log}.+404-96.0123456789abcdef"),
            format!("{log}.-96.0123456789abcdef"),
            format!("{log}.404-18446744073709551616.0123456789abcdef"),
            "7.log.404-96.0123456789abcdef".to_owned(),
            "ledger.0-128.0123456789abcdef".to_owned(),
            "7.ledger.0-128.0123456789abcdef".to_owned(),
            "superblock.a.0-128.0123456789abcdef".to_owned(),
            ".404-96.0123456789abcdef".to_owned(),
            "REASON.toml".to_owned(),
        ] {
            check(&text, None);
            assert!(!CopyName::is_staging(&name(&format!("{text}.staging"))), "{text}");
        }
    }

    #[test]
    fn a_scratch_name_of_any_length_leaves_room() {
        for length in [8, FILE_BYTES_MAX, FILE_BYTES_MAX + 1, NAME_BYTES_MAX] {
            for ending in [".staging", ".index"] {
                let file = name(&format!("{}{ending}", "x".repeat(length - ending.len())));
                let most = u64::MAX;
                let copy = CopyName::new(&file, Position::new(most), Length::new(most), Checksum::new(most));
                assert_eq!(CopyName::parse(&copy.name()), Some(copy), "{length} bytes of {ending}");
                assert_eq!(copy.file() == file, length <= FILE_BYTES_MAX, "{length} bytes of {ending}");
            }
        }
    }
}
