//! Where a failure is: node, partition, segment, file, bytes.

use std::ops::Range;

use recovery_core::format::FileName;
use recovery_core::storage::Name;
use recovery_core::units::{Namespace, SegmentStart};

use super::facts::first_doubtful_segment;
use super::moments::Around;
use crate::world::{BootTold, Failure};

/// What a failure is about, as far as that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The node, counted from 0.
    pub node: u8,
    /// The partition.
    pub namespace: Namespace,
    /// The segment: that which the check names, or else the first one of which recovery knew otherwise, or
    /// the newest.
    pub segment: Option<SegmentStart>,
    /// The file that the check names.
    pub file: Option<Name>,
    /// The bytes that the check names.
    pub range: Option<Range<u64>>,
}

pub(super) fn place(failure: &Failure, boot: Option<&BootTold>, around: &Around) -> Option<Place> {
    let violation = &failure.violation;
    let of_file = violation.file.as_ref().and_then(|file| match FileName::classify(file) {
        FileName::Log(segment) | FileName::Index(segment) => Some(segment),
        FileName::Ledger
        | FileName::Superblock(_)
        | FileName::Staging
        | FileName::StrayLog
        | FileName::StrayIndex
        | FileName::Other => None,
    });
    let doubtful = || {
        let (boot, left) = (boot?, around.before_start()?);
        first_doubtful_segment(boot, left)
    };
    let newest = || around.last()?.truth.writes().last().map(|write| write.segment);
    Some(Place {
        node: failure.node,
        namespace: failure.partition?,
        segment: violation.segment.or(of_file).or_else(doubtful).or_else(newest),
        file: violation.file,
        range: violation.range.clone(),
    })
}
