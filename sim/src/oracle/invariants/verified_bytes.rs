//! I01: no verified byte is truncated away; it is in place or in a fence.
//!
//! Every batch that verified anywhere in a log before, in the proven prefix or behind damage, is there
//! afterwards, zeros in it included.

use recovery_core::units::Length;

use super::lost_bytes::{bytes_of, is_in_place, lost_runs};
use crate::oracle::fence_copy::copies;
use crate::oracle::reference::verified_batches;
use crate::oracle::{Check, Content, PartitionImage, Value, Violation};

/// What recovery took away of the batches that verified before it.
pub fn check_verified_bytes(before: &PartitionImage, after: &PartitionImage) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut kept_aside = None;
    for entry in &before.directory.entries {
        let Content::File(file) = &entry.content else { continue };
        let now = bytes_of(&after.directory, &entry.name);
        if !entry.name.as_bytes().ends_with(b".log") || is_in_place(&file.bytes, now) {
            continue;
        }
        let copies = kept_aside.get_or_insert_with(|| copies(after));
        for batch in verified_batches(&file.bytes) {
            let verified = Value::from(Length::new(batch.len() as u64));
            for run in lost_runs(&entry.name, &file.bytes, now, copies, batch.clone(), |_, _| false) {
                let left = Value::from(Length::new(batch.len() as u64 - (run.end - run.start)));
                let violation =
                    Violation::new(Check::I01, "bytes left of a verified batch", verified.clone(), left);
                violations.push(violation.in_file(entry.name).at(run));
            }
        }
    }
    violations
}
