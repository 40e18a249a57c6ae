//! What survives a crash, as explicit data.
//!
//! Promises: plain data that says the same for every world. Leaves out: closing a choice under the
//! filesystem's order, which happens when the crash is resolved.

use crate::schedule::{Fill, SizeChoice, Survivors};

use super::file::FileId;

/// What survives of one file's pending changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileChoice {
    /// Which elements survive: sector writes in issue order, a change of length alone (`set-length`) being
    /// one element too.
    pub survive: Survivors,
    /// Lengths and extents; `None`: new where a surviving sector needs it.
    pub length: Option<SizeChoice>,
    /// What shows where a length survived and its bytes did not.
    pub fill: Fill,
    /// The element, counted from 0, from which on no page of a write makes the file longer, although its bytes
    /// may survive where an earlier one has given them a block: they were written in place before the journal was
    /// committed. With new lengths, no change of length alone survives from there on, either. `None`: as
    /// `length` says. It means nothing where data and length are committed as one.
    pub old_lengths_from: Option<u32>,
}

impl FileChoice {
    /// A choice with lengths as the sectors need them, and zeros in holes.
    pub const fn of(survive: Survivors) -> Self {
        Self { survive, length: None, fill: Fill::Zeros, old_lengths_from: None }
    }
}

/// What survives a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurvivorChoice {
    /// For every file that is not named below.
    pub everything: FileChoice,
    /// Which pending changes of names survive, in issue order over the whole disk. A rename counts once
    /// where the filesystem makes it atomic, else once for each entry it changes.
    pub names: Survivors,
    /// Files with a choice of their own.
    pub files: Vec<(FileId, FileChoice)>,
}

impl SurvivorChoice {
    /// The same choice for all files and names.
    pub const fn of(survive: Survivors) -> Self {
        Self { everything: FileChoice::of(survive), names: survive, files: Vec::new() }
    }

    /// The choice for a file.
    pub(super) fn of_file(&self, id: FileId) -> FileChoice {
        self.files.iter().find(|(file, _)| *file == id).map_or(self.everything, |(_, choice)| *choice)
    }
}

/// What a crash came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashReport {
    /// XXH3-64 of what was chosen, for a digest.
    pub digest: u64,
    /// Sectors, lengths and names that were pending and survived.
    pub kept: u32,
    /// Those that did not.
    pub lost: u32,
}
