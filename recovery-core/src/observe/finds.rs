//! The batches that verify in a residue, sorted into survivors and strays.

use super::{FINDS_LISTED_MAX, Find, Residue};
use crate::units::Offset;

/// What a probe has found so far. The lists are bounded, the counts are not.
#[derive(Debug, Default)]
pub(crate) struct Finds {
    pub(crate) survivors: Vec<Find>,
    pub(crate) survivor_count: u64,
    /// One behind the largest offset that a survivor holds.
    pub(crate) survivors_next: Option<Offset>,
    pub(crate) strays: Vec<Find>,
    pub(crate) stray_count: u64,
}

impl Finds {
    /// Notes a batch that continues this partition and ends before `next`.
    pub(crate) fn survivor(&mut self, find: Find, next: Offset) {
        self.survivor_count += 1;
        self.survivors_next = self.survivors_next.max(Some(next));
        if self.survivors.len() < FINDS_LISTED_MAX {
            self.survivors.push(find);
        }
    }

    /// Notes a batch that verifies and continues nothing.
    pub(crate) fn stray(&mut self, find: Find) {
        self.stray_count += 1;
        if self.strays.len() < FINDS_LISTED_MAX {
            self.strays.push(find);
        }
    }

    /// What the residue is. A survivor outranks everything; a stray proves nothing about bytes that were
    /// not looked at.
    pub(crate) fn kind(&self, is_exhausted: bool, is_zero: bool) -> Residue {
        if self.survivor_count > 0 {
            Residue::Survivor
        } else if is_exhausted {
            Residue::Unproven
        } else if self.stray_count > 0 {
            Residue::Stray
        } else if is_zero {
            Residue::Zeros
        } else {
            Residue::Noise
        }
    }
}
