//! I04: refused means byte-identical: names, lengths, contents, scratch and fences included.

use super::sameness::first_difference;
use crate::oracle::{Check, PartitionImage, Violation};

/// Whether a partition is what it was, to the byte.
pub fn is_untouched(before: &PartitionImage, after: &PartitionImage) -> bool {
    first_difference(Check::I04, before, after).is_none()
}

/// What differs about a partition that was refused.
pub fn check_refused_untouched(before: &PartitionImage, after: &PartitionImage) -> Option<Violation> {
    first_difference(Check::I04, before, after)
}
