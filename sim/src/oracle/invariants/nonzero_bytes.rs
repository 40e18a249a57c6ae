//! I02: no non-zero byte is destroyed; it is in place or in a fence.
//!
//! Every file of the partition directory counts, strangers' files too, and so does every copy that lay in a
//! fence before. The core's own half-made index is excepted, and so are copies that do not hold what their
//! names say: both are written anew.

use recovery_core::storage::Name;

use super::lost_bytes::{bytes_of, is_in_place, lost_runs};
use crate::oracle::fence_copy::{FenceCopy, copies};
use crate::oracle::{Check, Content, FileImage, PartitionImage, Value, Violation};

/// What recovery destroyed.
pub fn check_nonzero_bytes(before: &PartitionImage, after: &PartitionImage) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut copies_after = None;
    for entry in &before.directory.entries {
        let Content::File(file) = &entry.content else { continue };
        let now = bytes_of(&after.directory, &entry.name);
        if is_half_made_index(&entry.name) || is_in_place(&file.bytes, now) {
            continue;
        }
        let copies = copies_after.get_or_insert_with(|| copies(after));
        destroyed(&entry.name, file, now, copies, &mut violations);
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

fn destroyed(
    name: &Name,
    file: &FileImage,
    now: Option<&[u8]>,
    copies: &[FenceCopy<'_>],
    violations: &mut Vec<Violation>,
) {
    for run in lost_runs(name, &file.bytes, now, copies, 0..file.bytes.len(), |byte| byte == 0) {
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
