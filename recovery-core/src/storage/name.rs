//! The name of one directory entry, held inline so that errors and listings allocate nothing.

use std::fmt;
use std::hash::{Hash, Hasher};

/// Longest name in bytes; `NAME_MAX` on Linux (`limits.h`).
pub const NAME_BYTES_MAX: usize = 255;

/// Digits of the largest `u64`.
const DIGITS_MAX: usize = 20;

/// One component of a path: 1 to 255 bytes, no `/`, no NUL, neither `.` nor `..`.
///
/// So a name can never lead out of the directory it is looked up in.
#[derive(Clone, Copy)]
pub struct Name {
    length: u8,
    bytes: [u8; NAME_BYTES_MAX],
}

impl Name {
    /// Takes `bytes` as a name, or `None` if they are not one component.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::storage::Name;
    ///
    /// let name = Name::new(b"00000000000000000000.log").expect("one component");
    /// assert_eq!(name.to_string(), "00000000000000000000.log");
    /// assert!(Name::new(b"../elsewhere").is_none());
    /// ```
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let refused = bytes.is_empty()
            || bytes.len() > NAME_BYTES_MAX
            || has_separator(bytes)
            || bytes == b"."
            || bytes == b"..";
        if refused {
            return None;
        }
        let length = u8::try_from(bytes.len()).expect("255 bytes at most were checked above");
        let mut name = Self { length, bytes: [0; NAME_BYTES_MAX] };
        name.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(name)
    }

    /// A number in decimal, with zeros before it until it has `digits_min` digits, and `suffix` behind it.
    ///
    /// # Panics
    ///
    /// If more digits are asked for than the largest number has, or the suffix ends a component.
    pub(crate) fn numbered(mut number: u64, digits_min: usize, suffix: &'static [u8]) -> Self {
        assert!(digits_min <= DIGITS_MAX && !has_separator(suffix), "no more digits, and a suffix is one");
        // A name has a digit at least, and a u64 has 20 at most.
        let digits = number.checked_ilog10().map_or(1, |largest| largest as usize + 1).max(digits_min);
        let length = digits + suffix.len();
        let mut name = Self { length: u8::try_from(length).expect("short"), bytes: [0; NAME_BYTES_MAX] };
        let (shown, behind) = name.bytes[..length].split_at_mut(digits);
        shown.fill(b'0');
        let mut first = digits;
        while number > 0 {
            first -= 1;
            shown[first] += (number % 10) as u8;
            number /= 10;
        }
        behind.copy_from_slice(suffix);
        name
    }

    /// The name's bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// The same name with `suffix` behind it, or `None` if that is too long.
    pub fn with_suffix(&self, suffix: &[u8]) -> Option<Self> {
        let length = self.as_bytes().len();
        let total = length + suffix.len();
        if total > NAME_BYTES_MAX || has_separator(suffix) {
            return None;
        }
        let mut name = *self;
        name.bytes[length..total].copy_from_slice(suffix);
        name.length = u8::try_from(total).expect("255 bytes at most were checked above");
        Some(name)
    }
}

/// Whether a byte is there that ends a component, or the whole path.
fn has_separator(bytes: &[u8]) -> bool {
    bytes.contains(&b'/') || bytes.contains(&0)
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names come from a disk: a byte that is no text or no printable character is escaped, and so is the
        // character that escapes begin with, or two names could read alike.
        for chunk in self.as_bytes().utf8_chunks() {
            let is_escaped = |character: char| character.is_control() || character == '\\';
            for run in chunk.valid().split_inclusive(is_escaped) {
                let plain = run.trim_end_matches(is_escaped);
                formatter.write_str(plain)?;
                for character in run[plain.len()..].chars() {
                    write!(formatter, "{}", character.escape_default())?;
                }
            }
            for byte in chunk.invalid() {
                write!(formatter, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_digits_that_it_needs_or_more() {
        let shown = |number, digits_min| Name::numbered(number, digits_min, b".log").to_string();
        assert_eq!((shown(0, 0).as_str(), shown(0, 1).as_str()), ("0.log", "0.log"));
        assert_eq!((shown(7, 3).as_str(), shown(1234, 3).as_str()), ("007.log", "1234.log"));
        assert_eq!(shown(12, 20), "00000000000000000012.log");
        for digits_min in [0, 20] {
            assert_eq!(shown(u64::MAX, digits_min), "18446744073709551615.log");
        }
    }

    #[test]
    fn names_that_differ_never_read_alike() {
        let shown = |bytes: &[u8]| Name::new(bytes).expect("a name").to_string();
        assert_eq!(shown(b"0.log"), "0.log");
        assert_eq!(shown("é.log".as_bytes()), "é.log");
        assert_eq!(shown(b"a\nb"), r"a\nb");
        assert_eq!(shown(b"a\\nb"), r"a\\nb");
        assert_eq!(shown(b"a\xffb"), r"a\xffb");
        assert_eq!(shown(b"a\x1bb"), r"a\u{1b}b");
    }
}
