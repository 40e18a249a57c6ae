//! I02, I04 and I11 of a directory that a copy replaces: it lies in a fence, byte for byte as it was, and it went there
//! only once what replaces it would survive a power loss.
//!
//! Asked behind every step in which a partition got another directory, or lost the one that it had. And I20 of a copy that
//! lacks only its name: a start in which nothing fails gives it that name. Does not claim that the replacement is what was
//! offered ([`super::check_installed`]).

use recovery_core::storage::Name;

use super::sameness::first_difference;
use crate::oracle::{Check, Image, PartitionImage, Value, Violation};

/// What became of a directory that is not in its place any more.
#[derive(Debug)]
pub struct Replaced<'a> {
    /// The partition before the step; `None` if it may have held what the medium did not.
    pub before: Option<&'a PartitionImage>,
    /// What lies in the fence that the old directory has become; `None` if no fence is it.
    pub fence: Option<&'a Image>,
    /// Whether there is a replacement that a start takes: in the old one's place, or beside it and complete.
    pub has_replacement: bool,
    /// A file of the replacement that a power loss may take, or may leave shorter.
    pub exposed: Option<Name>,
}

/// Files that a fence has of its own.
const OWN: [&[u8]; 2] = [b"REASON.toml", b"REASON.toml.staging"];

/// What is wrong with that, if anything is.
pub fn check_replaced(replaced: &Replaced<'_>) -> Option<Violation> {
    let Some(fence) = replaced.fence else {
        let (expected, actual) = (Value::Code("in a fence"), Value::Code("gone"));
        return Some(Violation::new(Check::I02, "a directory that is replaced", expected, actual));
    };
    let directory = Image {
        entries: fence
            .entries
            .iter()
            .filter(|entry| !OWN.contains(&entry.name.as_bytes()))
            .cloned()
            .collect(),
        is_listable: fence.is_listable,
    };
    let alone = |directory: &Image| PartitionImage { directory: directory.clone(), fences: Vec::new() };
    let difference = replaced
        .before
        .and_then(|before| first_difference(Check::I04, &alone(&before.directory), &alone(&directory)));
    if difference.is_some() {
        return difference;
    }
    if replaced.has_replacement {
        return check_complete(replaced.exposed);
    }
    let (expected, actual) = (Value::Code("complete"), Value::Code("incomplete"));
    Some(Violation::new(Check::I11, "a replacement", expected, actual))
}

/// What is wrong with a copy that says that it is complete: `exposed` is a file of it that a power loss may take.
pub fn check_complete(exposed: Option<Name>) -> Option<Violation> {
    let (expected, actual) = (Value::Code("durable"), Value::Code("not durable"));
    exposed.map(|name| Violation::new(Check::I11, "a replacement", expected, actual).in_file(name))
}

/// What is wrong behind a start in which nothing failed: a copy that says that it is complete lies beside the place of its
/// partition, and nothing lies there (B22, G27).
pub fn check_taken_over(has_directory: bool, has_complete_copy: bool) -> Option<Violation> {
    let (expected, actual) = (Value::Code("in its place"), Value::Code("beside it"));
    let is_left = has_complete_copy && !has_directory;
    is_left.then(|| Violation::new(Check::I20, "a complete copy behind a start", expected, actual))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{Content, FileImage, ImageEntry};

    fn image(files: &[(&str, &[u8])]) -> Image {
        let entries = files.iter().map(|(name, bytes)| ImageEntry {
            name: Name::new(name.as_bytes()).expect("a short name"),
            content: Content::File(FileImage { bytes: bytes.to_vec(), unreadable: Vec::new(), number: None }),
        });
        Image { entries: entries.collect(), is_listable: true }
    }

    #[track_caller]
    fn check(fence: Option<&Image>, has_replacement: bool, exposed: Option<&str>, expected: Option<Check>) {
        let before = PartitionImage { directory: image(&[("ledger", b"old")]), fences: Vec::new() };
        let exposed = exposed.and_then(|name| Name::new(name.as_bytes()));
        let replaced = Replaced { before: Some(&before), fence, has_replacement, exposed };
        assert_eq!(check_replaced(&replaced).map(|violation| violation.check), expected);
    }

    #[test]
    fn a_directory_that_is_moved_whole_behind_a_durable_replacement_passes() {
        check(Some(&image(&[("ledger", b"old"), ("REASON.toml", b"why")])), true, None, None);
    }

    #[test]
    fn one_that_is_gone_changed_or_moved_too_early_is_a_violation() {
        check(None, true, None, Some(Check::I02));
        check(Some(&image(&[("ledger", b"new")])), true, None, Some(Check::I04));
        check(Some(&image(&[])), true, None, Some(Check::I04));
        check(Some(&image(&[("ledger", b"old")])), false, None, Some(Check::I11));
        check(Some(&image(&[("ledger", b"old")])), true, Some("ledger"), Some(Check::I11));
    }

    #[test]
    fn a_complete_copy_beside_an_empty_place_is_a_violation() {
        let check = |has_directory, has_copy| {
            check_taken_over(has_directory, has_copy).map(|violation| violation.check)
        };
        assert_eq!(check(false, true), Some(Check::I20));
        assert_eq!(check(true, true), None);
        assert_eq!(check(false, false), None);
    }
}
