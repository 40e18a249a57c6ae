//! I02: no non-zero byte is destroyed; it is in place or in a fence.
//!
//! Every file of the partition directory counts, strangers' files too, and so does every copy that lay in a
//! fence before. The core's own half-made index is excepted, and so are copies that do not hold what their
//! names say: both are written anew. A file of two names, as a rename leaves it that a crash cut in half, is
//! there as long as one of them leads to it. Of a file whose sync failed only what the medium held counts:
//! the disk may have dropped the rest, whatever anybody did.

use recovery_core::storage::Name;

use super::lost_bytes::{bytes_of, is_in_place, lost_runs};
use crate::oracle::fence_copy::{FenceCopy, copies};
use crate::oracle::{Check, Content, FileImage, Forgotten, Image, PartitionImage, Value, Violation};

/// What recovery destroyed.
pub fn check_nonzero_bytes(
    before: &PartitionImage,
    after: &PartitionImage,
    forgotten: &[Forgotten],
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut copies_after = None;
    for entry in &before.directory.entries {
        let Content::File(file) = &entry.content else { continue };
        let now = bytes_of(&after.directory, &entry.name);
        if is_half_made_index(&entry.name) || is_in_place(&file.bytes, now) {
            continue;
        }
        if has_another_name(&before.directory, &entry.name, file, &after.directory) {
            continue;
        }
        let copies = copies_after.get_or_insert_with(|| copies(after));
        let forgotten = forgotten.iter().find(|forgotten| forgotten.name == entry.name);
        let medium = forgotten.map(|forgotten| &forgotten.medium[..]);
        destroyed((&entry.name, file), now, copies, medium, &mut violations);
    }
    if !before.fences.is_empty() {
        let copies_after = copies_after.unwrap_or_else(|| copies(after));
        for copy in copies(before) {
            if !copies_after.contains(&copy) {
                let present = Value::Code("present");
                violations.push(Violation::new(Check::I02, "a copy in a fence", present, Value::None));
            }
        }
    }
    violations
}

/// Whether the file had another name too, and is where that one says.
fn has_another_name(before: &Image, name: &Name, file: &FileImage, after: &Image) -> bool {
    before.entries.iter().any(|other| match &other.content {
        Content::File(same) => {
            other.name != *name
                && file.number.is_some()
                && same.number == file.number
                && is_in_place(&file.bytes, bytes_of(after, &other.name))
        }
        Content::Unopenable | Content::Directory | Content::Other => false,
    })
}

fn destroyed(
    (name, file): (&Name, &FileImage),
    now: Option<&[u8]>,
    copies: &[FenceCopy<'_>],
    medium: Option<&[u8]>,
    violations: &mut Vec<Violation>,
) {
    let was_written = |at: usize, byte: u8| medium.is_none_or(|medium| medium.get(at) == Some(&byte));
    let is_worthless = |at: usize, byte: u8| byte == 0 || !was_written(at, byte);
    for run in lost_runs(name, &file.bytes, now, copies, 0..file.bytes.len(), is_worthless) {
        let bytes = run.end - run.start;
        let violation =
            Violation::new(Check::I02, "non-zero bytes kept", Value::Number(bytes), Value::Number(0));
        violations.push(violation.in_file(*name).at(run));
    }
}

/// The one file that recovery may overwrite: an index that an earlier recovery did not finish.
fn is_half_made_index(name: &Name) -> bool {
    name.as_bytes().ends_with(b".index.staging")
}
