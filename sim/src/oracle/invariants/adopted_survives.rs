//! I11: what recovery adopted survives an immediate power loss, and so does what it set aside of a log.
//!
//! Asked of every start that serves, right after it, of the disk itself: is this range, with its names and
//! exact length, in every crash state? Damage that no crash explains is excused at its place. Does not claim
//! that an index survives, which is derived, nor a ledger, which may only prove less afterwards.

use std::ops::Range;

use recovery_core::storage::Name;

use crate::disk::Exposed;
use crate::oracle::damage::Damages;
use crate::oracle::{Check, Image, PartitionImage, Value, Violation};

/// The first log or copy that some crash state lacks. `is_durable` asks the disk about bytes of a file of
/// the partition, or of the fence that is named.
pub fn check_adopted(
    after: &PartitionImage,
    damages: &Damages,
    cuts: bool,
    is_durable: impl Fn(Option<&Name>, &Name, Range<u64>) -> Result<(), Exposed>,
) -> Option<Violation> {
    let exposed = |fence: Option<&Name>, file: &Name, length: u64| {
        let lacks = Value::Code(word(is_durable(fence, file, 0..length).err()?));
        let violation = Violation::new(Check::I11, "after a power loss", Value::Code("whole"), lacks);
        Some(violation.in_file(*file).at(0..length))
    };
    let logs = files(&after.directory).filter(|(name, _)| name.as_bytes().ends_with(b".log"));
    let mut lost = logs
        .filter(|(name, length)| !damages.explains_divergence(name, &(0..*length)))
        .filter_map(|(name, length)| exposed(None, name, length));
    // What a start did not cut it did not copy either; older copies were asked about in their own start.
    let fences = after.fences.iter().filter(|_| cuts && !damages.explains_lost_copies());
    let mut copies = fences.flat_map(|fence| {
        let copies = files(&fence.image).filter(|(name, _)| is_of_a_log(name));
        copies.filter_map(|(name, length)| exposed(Some(&fence.name), name, length))
    });
    lost.next().or_else(|| copies.next())
}

fn files(image: &Image) -> impl Iterator<Item = (&Name, u64)> {
    image.entries.iter().filter_map(|entry| match &entry.content {
        crate::oracle::Content::File(file) => Some((&entry.name, file.bytes.len() as u64)),
        crate::oracle::Content::Unopenable
        | crate::oracle::Content::Directory
        | crate::oracle::Content::Other => None,
    })
}

/// Whether a file of a fence is a copy of bytes of a log. One that was never finished is none: nothing was cut for it.
fn is_of_a_log(name: &Name) -> bool {
    let name = name.as_bytes();
    name.windows(5).any(|part| part == b".log.") && !name.ends_with(b".staging")
}

/// What some crash state lacks.
pub(super) const fn word(exposed: Exposed) -> &'static str {
    match exposed {
        Exposed::Absent => "absent",
        Exposed::Name { .. } => "without its name",
        Exposed::Length { .. } => "shorter",
        Exposed::Longer { .. } => "longer",
        Exposed::Bytes { .. } => "of other bytes",
        Exposed::Unreadable { .. } => "unreadable",
    }
}
