//! The batches that lie in the logs of a partition that is served, found with the reference's own reading
//! of the format: nothing of the core's walker is used.

use recovery_core::format::FileName;
use recovery_core::observe::PartitionFacts;
use recovery_core::units::{Offset, SegmentStart};

use super::Image;
use super::boot_view::bytes_of;

/// A batch as it lies in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lying<'a> {
    /// In which segment.
    pub segment: SegmentStart,
    /// At which position.
    pub position: u64,
    /// Its base offset.
    pub base: Offset,
    /// One behind its last offset.
    pub next: Offset,
    /// All its bytes.
    pub bytes: &'a [u8],
}

/// Calls `visit` for each batch of the served logs, in order, as far as lengths lead; returns the position
/// at which a log does not go on in batches, if one does not.
///
/// # Errors
///
/// That position.
pub fn for_each<'a>(
    after: &'a Image,
    facts: &PartitionFacts,
    visit: impl FnMut(Lying<'a>),
) -> Result<(), (SegmentStart, u64)> {
    let segments: Vec<SegmentStart> = facts.segments.iter().map(|facts| facts.start).collect();
    for_each_in(after, &segments, visit)
}

/// The same of the segments that are named.
///
/// # Errors
///
/// The first position at which a log does not go on in batches.
pub fn for_each_in<'a>(
    after: &'a Image,
    segments: &[SegmentStart],
    mut visit: impl FnMut(Lying<'a>),
) -> Result<(), (SegmentStart, u64)> {
    for segment in segments.iter().copied() {
        let Some(log) = bytes_of(after, &FileName::log(segment)) else { continue };
        let mut position = 0;
        // Each pass takes at least a header's bytes.
        while position < log.len() {
            let Some(lying) = read(segment, log, position) else { return Err((segment, position as u64)) };
            position += lying.bytes.len();
            visit(lying);
        }
    }
    Ok(())
}

fn read(segment: SegmentStart, log: &[u8], position: usize) -> Option<Lying<'_>> {
    let rest = &log[position..];
    let field =
        |at: usize| rest.get(at..at + 8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("8 bytes")));
    let (base, length) = (field(8)?, usize::try_from(field(32)?).ok()?);
    let count = u32::from_le_bytes(rest.get(48..52)?.try_into().expect("4 bytes"));
    let bytes = rest.get(..length).filter(|bytes| bytes.len() >= 256)?;
    let next = base.checked_add(u64::from(count))?;
    let (base, next) = (Offset::new(base), Offset::new(next));
    Some(Lying { segment, position: position as u64, base, next, bytes })
}
