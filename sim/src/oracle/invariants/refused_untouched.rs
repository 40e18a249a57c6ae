//! I04: refused means byte-identical: names, lengths, contents, scratch and fences included.
//!
//! Settling comes before anything is known, so it holds to this whatever the verdict will be: it changes
//! nothing, and what readers see differs behind it only where the medium shows through an emptied cache.

use super::sameness::first_difference;
use crate::oracle::{Check, PartitionImage, Value, Violation};

/// Whether a partition is what it was, to the byte.
pub fn is_untouched(before: &PartitionImage, after: &PartitionImage) -> bool {
    first_difference(Check::I04, before, after).is_none()
}

/// What differs about a partition that was refused.
pub fn check_refused_untouched(before: &PartitionImage, after: &PartitionImage) -> Option<Violation> {
    first_difference(Check::I04, before, after)
}

/// What settling changed: `calls` is how many it made that change names, lengths or contents.
pub fn check_settling(calls: u64) -> Option<Violation> {
    let subject = "changing calls of settling";
    (calls > 0).then(|| Violation::new(Check::I04, subject, Value::Number(0), Value::Number(calls)))
}
