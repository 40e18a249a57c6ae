//! Which bytes of a file are neither in place nor set aside any more.

use std::ops::Range;

use recovery_core::storage::Name;

use crate::oracle::fence_copy::FenceCopy;
use crate::oracle::{Content, Image};

/// The bytes of a file, if the name leads to one.
pub(super) fn bytes_of<'a>(image: &'a Image, name: &Name) -> Option<&'a [u8]> {
    match image.find(name.as_bytes())? {
        Content::File(file) => Some(&file.bytes),
        Content::Unopenable | Content::Directory | Content::Other => None,
    }
}

/// Whether all that `before` had is where it was.
pub(super) fn is_in_place(before: &[u8], after: Option<&[u8]>) -> bool {
    after.is_some_and(|after| after.starts_with(before))
}

/// The runs of bytes within `wanted` that are lost, leaving out those (position, byte) that `is_worthless` says
/// nothing is lost with.
pub(super) fn lost_runs(
    name: &Name,
    before: &[u8],
    after: Option<&[u8]>,
    copies: &[FenceCopy<'_>],
    wanted: Range<usize>,
    is_worthless: impl Fn(usize, u8) -> bool,
) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    let copies: Vec<&FenceCopy<'_>> = copies.iter().filter(|copy| copy.is_of(name)).collect();
    for at in wanted {
        let byte = before[at];
        let position = at as u64;
        let is_kept = is_worthless(at, byte)
            || after.is_some_and(|after| after.get(at) == Some(&byte))
            || copies.iter().any(|copy| copy.byte(position) == Some(byte));
        if is_kept {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.end == position => run.end += 1,
            Some(_) | None => runs.push(position..position + 1),
        }
    }
    runs
}
