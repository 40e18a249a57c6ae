//! Pending changes of one file: what a crash may keep or drop.
//!
//! Promises: one entry for each call, in issue order; its sectors are counted one by one, a change of
//! length counts as one more element. Leaves out: which of them survive.

use super::arena::Run;
use super::directory::Reach;
use super::fault::FaultId;
use super::geometry::Geometry;

/// What a pending change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Bytes, and the length if they pass the end.
    Write,
    /// Zeros behind the new end of a file that is about to be cut. Part of the cut.
    TailZeros,
    /// The length alone.
    SetLength,
}

/// What becomes of a change's bytes when the filesystem writes them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Landing {
    /// They land as the cache holds them.
    Whole,
    /// Something lands, but not what the cache holds: the sectors were shorn.
    Altered,
    /// The filesystem believes that they land, and none will.
    Lost,
    /// Writing them back has failed already: its contents are what the block shows instead, and only
    /// block and length are left to become durable.
    Failed,
}

/// One pending change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// When it was issued, counted over all changes of the disk.
    pub(super) sequence: u32,
    pub(super) change: Change,
    /// The bytes it changes: `[position, end)`.
    pub(super) position: u64,
    pub(super) end: u64,
    /// The sectors it changes, and the run that holds their whole contents after it.
    pub(super) first_sector: u32,
    pub(super) sectors: u32,
    pub(super) contents: Run,
    /// The file's length before and after it.
    pub(super) length_before: u64,
    pub(super) length_after: u64,
    pub(super) landing: Landing,
    pub(super) reach: Reach,
    /// Whether its length is in the device's cache too.
    pub(super) length_reach: Reach,
    /// A sync lied about it, so no barrier orders it.
    pub(super) is_lied_about: bool,
    /// A change of length, or the zeros of a cut, that the journal has committed: it survives, whatever
    /// becomes of the data around it.
    pub(super) is_committed: bool,
    /// What keeps bytes of it from the medium, and from which position on.
    pub(super) withheld: Option<Withheld>,
}

/// Bytes of a change that a fault keeps from the medium: from a position to the change's end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Withheld {
    pub(super) start: u64,
    pub(super) fault: FaultId,
    /// The length that the change would have given the file is withheld, too.
    pub(super) with_length: bool,
}

impl Pending {
    /// How many choices a crash has to make about it.
    #[inline]
    pub(super) const fn elements(&self) -> u32 {
        match self.change {
            Change::Write | Change::TailZeros => self.sectors,
            Change::SetLength => 1,
        }
    }

    /// Whether writing it back needs more than sharing the cached page.
    #[inline]
    pub(super) fn is_special(&self) -> bool {
        self.landing != Landing::Whole || self.is_in_device()
    }

    /// Whether the device's cache holds it.
    #[inline]
    pub(super) fn is_in_device(&self) -> bool {
        self.reach == Reach::Device
    }

    /// Whether its bytes are still to be written back from the cache.
    #[inline]
    pub(super) fn dirties(&self) -> bool {
        self.reach == Reach::Memory && self.landing != Landing::Failed
    }

    /// Whether it becomes durable with the next commit of a journal, whoever asks for it.
    #[inline]
    pub(super) fn is_committed_with_names(&self) -> bool {
        (self.change == Change::SetLength || self.landing == Landing::Failed) && !self.is_committed
    }

    /// Whether it makes the file longer by writing behind its end.
    #[inline]
    pub(super) const fn extends(&self) -> bool {
        matches!(self.change, Change::Write) && self.length_after > self.length_before
    }

    /// How many of its sectors lie in the last page that it writes to. It writes something.
    pub(super) fn sectors_of_last_page(&self, geometry: Geometry) -> u32 {
        let per_page = geometry.sectors_per_page();
        (self.first_sector + self.sectors - 1) % per_page + 1
    }

    /// Whether it is zeros before a gap, with which a file may come to end.
    #[inline]
    pub(super) const fn ends_before_gap(&self) -> bool {
        matches!(self.change, Change::TailZeros) && self.length_after > self.length_before
    }

    /// Whether it makes the file shorter.
    #[inline]
    pub(super) const fn cuts(&self) -> bool {
        matches!(self.change, Change::SetLength) && self.length_after < self.length_before
    }
}
