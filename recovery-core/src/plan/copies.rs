//! What a plan sets aside, and which fence each of it is in or goes to.
//!
//! Promises: one entry a file, found by its name. Leaves out: how bytes get there.

use super::Step;
use crate::format::{Checksum, CopyName, FileName};
use crate::storage::Name;
use crate::units::{Length, Position, SegmentStart};

/// Why something is set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is cut from a log.
    Residue(SegmentStart),
    /// It is an index that is replaced.
    Index(SegmentStart),
    /// It is scratch, and moves as it is.
    Scratch,
    /// It is cut from the metadata log.
    Metadata,
}

/// Where it is, as far as is known. Fences are counted as [`super::fence::Fences`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In no fence that was looked at.
    Missing,
    /// In this fence, durably, put there by an earlier run.
    Found(usize),
    /// It goes to this fence, or went there in this run.
    Assigned(usize),
    /// Nowhere: it is an index of ours that was not finished, and is written again.
    Spared,
}

/// One thing to be set aside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub(super) origin: Origin,
    pub(super) file: Name,
    /// What it is called in a fence; `None` before it was identified.
    pub(super) name: Option<CopyName>,
    pub(super) place: Place,
}

impl Copy {
    pub(super) fn expect_name(&self) -> CopyName {
        self.name.expect("a plan identifies before it looks for copies")
    }

    /// The fence it is in or goes to.
    pub(super) const fn fence(&self) -> Option<usize> {
        match self.place {
            Place::Found(fence) | Place::Assigned(fence) => Some(fence),
            Place::Missing | Place::Spared => None,
        }
    }
}

/// All that a plan sets aside, ascending by file.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies(Vec<Copy>);

impl Copies {
    pub(super) fn of(steps: &[Step]) -> Self {
        let mut copies: Vec<_> = steps.iter().filter_map(planned).collect();
        copies.sort_by_key(|copy| copy.file);
        let is_unique = copies.windows(2).all(|pair| pair[0].file < pair[1].file);
        assert!(is_unique, "a plan sets each file aside once");
        Self(copies)
    }

    /// The one copy of the end of the metadata log.
    pub(super) fn of_metadata(position: Position, length: Length, checksum: Checksum) -> Self {
        let file = FileName::metadata_log();
        let name = Some(CopyName::new(&file, position, length, checksum));
        Self(vec![Copy { origin: Origin::Metadata, file, name, place: Place::Missing }])
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Copy> {
        self.0.iter()
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut Copy {
        &mut self.0[index]
    }

    pub(super) fn get(&self, index: usize) -> &Copy {
        &self.0[index]
    }

    /// What is set aside of `file`.
    pub(super) fn of_file(&mut self, file: &Name) -> &mut Copy {
        let index = self.0.binary_search_by_key(file, |copy| copy.file);
        &mut self.0[index.expect("the plan sets this file aside")]
    }

    /// What is in no fence yet, by its name there: ascending, with its index.
    pub(super) fn missing_by_name(&self) -> Vec<(CopyName, usize)> {
        let missing = self.0.iter().enumerate().filter(|(_, copy)| copy.place == Place::Missing);
        let mut by_name: Vec<_> = missing.map(|(index, copy)| (copy.expect_name(), index)).collect();
        by_name.sort();
        by_name
    }

    /// Sends everything that is in no fence yet to `fence`.
    pub(super) fn assign_missing(&mut self, fence: usize) {
        for copy in self.0.iter_mut().filter(|copy| copy.place == Place::Missing) {
            copy.place = Place::Assigned(fence);
        }
    }

    pub(super) fn any_missing(&self) -> bool {
        self.0.iter().any(|copy| copy.place == Place::Missing)
    }
}

fn planned(step: &Step) -> Option<Copy> {
    let copy = |origin, file: Name, range: Option<(Position, Length, Checksum)>| {
        let name = range.map(|(position, length, checksum)| CopyName::new(&file, position, length, checksum));
        Some(Copy { origin, file, name, place: Place::Missing })
    };
    match *step {
        Step::SaveResidue { segment, position, length, checksum } => copy(
            Origin::Residue(segment),
            FileName::log(segment),
            checksum.map(|checksum| (position, length, checksum)),
        ),
        Step::SaveIndex { segment, length, checksum } => {
            copy(Origin::Index(segment), FileName::index(segment), Some((Position::ZERO, length, checksum)))
        }
        Step::SetAside { file } => copy(Origin::Scratch, file, None),
        Step::StageRun { .. }
        | Step::InstallRun { .. }
        | Step::RecordSealed { .. }
        | Step::RecordFrontier { .. }
        | Step::Identify { .. }
        | Step::MakeFence
        | Step::CheckZeros { .. }
        | Step::WriteReason
        | Step::SyncFence
        | Step::ReserveOffset { .. }
        | Step::CutLog { .. }
        | Step::StageIndex { .. }
        | Step::InstallIndex { .. }
        | Step::SyncDirectory
        | Step::RecordRecovered { .. }
        | Step::RecordCleanStop { .. } => None,
    }
}
