//! What went wrong on purpose: counted by kind, and marked where it lies until it is overwritten.
//!
//! Promises: a fault counts as injected once when it is applied, and as read once when a storage call
//! returns bytes, names or lengths that it changed, or fails because of it. Leaves out: whether it was
//! decisive, which only another run of the world can tell.

use crate::schedule::{FaultKind, TornKind};

use super::directory::DirectoryId;
use super::file::FileId;
use super::geometry::index;
use super::name_table::NameId;

/// One applied fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultId(u32);

/// What kind of fault it was, torn writes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A fault of the schedule.
    Fault(FaultKind),
    /// What a crash left of unsynced writes.
    Torn(TornKind),
    /// A whole batch that was put down by hand.
    Plant,
}

/// How many causes there are.
pub const CAUSES: usize = FaultKind::ALL.len() + TornKind::ALL.len() + 1;

impl Cause {
    /// Its place in a [`FaultTally`].
    pub fn index(self) -> usize {
        let place = match self {
            Self::Fault(kind) => FaultKind::ALL.iter().position(|&other| other == kind),
            Self::Torn(kind) => {
                let place = TornKind::ALL.iter().position(|&other| other == kind);
                place.map(|at| at + FaultKind::ALL.len())
            }
            Self::Plant => Some(CAUSES - 1),
        };
        place.expect("every kind is listed")
    }

    /// Its permanent word.
    pub fn code(self) -> &'static str {
        match self {
            Self::Fault(kind) => kind.code(),
            Self::Torn(kind) => kind.code(),
            Self::Plant => "plant",
        }
    }

    /// Every cause, in the order of [`Cause::index`].
    pub fn all() -> impl Iterator<Item = Self> {
        let faults = FaultKind::ALL.into_iter().map(Self::Fault);
        faults.chain(TornKind::ALL.into_iter().map(Self::Torn)).chain([Self::Plant])
    }
}

/// Counts for each [`Cause`], by [`Cause::index`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultTally {
    /// Applied.
    pub injected: [u32; CAUSES],
    /// Seen by a storage call afterwards.
    pub read: [u32; CAUSES],
    /// Had no target.
    pub missed: [u32; CAUSES],
}

impl Default for FaultTally {
    fn default() -> Self {
        Self { injected: [0; CAUSES], read: [0; CAUSES], missed: [0; CAUSES] }
    }
}

/// What a mark means for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The bytes are others than were written last.
    Changed,
    /// They cannot be read.
    Unreadable,
    /// A crash or a failed write took them, as a correct disk may. No checksum of the disk's own sees that.
    Missing,
}

/// Bytes of a file's medium that a fault touched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) file: FileId,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) effect: Effect,
    pub(super) fault: FaultId,
}

/// Something about a file's length that a fault changed.
#[derive(Clone, Copy, Debug)]
struct LengthMark {
    file: FileId,
    fault: FaultId,
}

/// A name, or all names of a directory, that a fault touched.
#[derive(Clone, Copy, Debug)]
struct NameMark {
    directory: DirectoryId,
    name: Option<NameId>,
    fault: FaultId,
}

#[derive(Clone, Copy, Debug)]
struct Applied {
    cause: Cause,
    is_read: bool,
}

/// All faults of a world's disk.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    applied: Vec<Applied>,
    pub(super) tally: FaultTally,
    pub(super) marks: Vec<Mark>,
    lengths: Vec<LengthMark>,
    names: Vec<NameMark>,
}

impl Faults {
    pub(super) fn reset(&mut self) {
        self.applied.clear();
        self.tally = FaultTally::default();
        self.marks.clear();
        self.lengths.clear();
        self.names.clear();
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.applied.clone_from(&other.applied);
        self.tally = other.tally;
        self.marks.clone_from(&other.marks);
        self.lengths.clone_from(&other.lengths);
        self.names.clone_from(&other.names);
    }

    /// Counts a fault that is now in force.
    pub(super) fn apply(&mut self, cause: Cause) -> FaultId {
        let id = FaultId(u32::try_from(self.applied.len()).expect("a world has under 2^32 faults"));
        self.applied.push(Applied { cause, is_read: false });
        self.tally.injected[cause.index()] += 1;
        id
    }

    /// Counts a fault that had nothing to hit.
    pub(super) fn miss(&mut self, cause: Cause) {
        self.tally.missed[cause.index()] += 1;
    }

    /// Counts that a storage call met the fault.
    pub(super) fn read(&mut self, fault: FaultId) {
        let applied = &mut self.applied[index(u64::from(fault.0))];
        if !applied.is_read {
            applied.is_read = true;
            self.tally.read[applied.cause.index()] += 1;
        }
    }

    /// Whether a storage call has met the fault.
    pub(super) fn is_read(&self, fault: FaultId) -> bool {
        self.applied[index(u64::from(fault.0))].is_read
    }

    /// Marks a file's length as changed by a fault.
    pub(super) fn mark_length(&mut self, file: FileId, fault: FaultId) {
        self.lengths.push(LengthMark { file, fault });
    }

    /// Marks a name, or the order of all names, as changed by a fault.
    pub(super) fn mark_name(&mut self, directory: DirectoryId, name: Option<NameId>, fault: FaultId) {
        self.names.push(NameMark { directory, name, fault });
    }

    /// A storage call learnt the length of a file.
    pub(super) fn see_length(&mut self, file: FileId) {
        for at in 0..self.lengths.len() {
            if self.lengths[at].file == file {
                self.read(self.lengths[at].fault);
            }
        }
    }

    /// A storage call looked a name up; `None`: it listed them all.
    #[inline]
    pub(super) fn see_name(&mut self, directory: DirectoryId, name: Option<NameId>) {
        for at in 0..self.names.len() {
            let mark = self.names[at];
            let is_met = mark.directory == directory && (name.is_none() || mark.name == name);
            if is_met {
                self.read(mark.fault);
            }
        }
    }

    /// Takes the marks off bytes that were overwritten. Unreadable sectors heal with the sectors written.
    pub(super) fn heal(&mut self, file: FileId, bytes: (u64, u64), sectors: (u64, u64)) {
        let mut at = 0;
        while at < self.marks.len() {
            let mark = self.marks[at];
            let (start, end) = match mark.effect {
                Effect::Changed | Effect::Missing => bytes,
                Effect::Unreadable => sectors,
            };
            if mark.file != file || mark.end <= start || end <= mark.start {
                at += 1;
                continue;
            }
            self.marks.swap_remove(at);
            if mark.start < start {
                self.marks.push(Mark { end: start, ..mark });
            }
            if end < mark.end {
                self.marks.push(Mark { start: end, ..mark });
            }
        }
    }

    /// Takes all marks off a file's bytes from `start` on, and those on its length.
    pub(super) fn heal_from(&mut self, file: FileId, start: u64) {
        self.heal(file, (start, u64::MAX), (start, u64::MAX));
        self.lengths.retain(|mark| mark.file != file);
    }
}
