//! What of one file's pending changes reaches the medium, given a choice and a filesystem's rules.
//!
//! Promises: changes are applied in issue order; what lacks its prerequisite is dropped, never invented;
//! bytes on the medium are copied before they are changed, so that snapshots keep theirs. Leaves out: which
//! choice it is, and the order between files (`closure`).

use crate::schedule::{Fill, SizeChoice};

use super::file::FileId;
use super::fold::{Fold, Folding};
use super::pending::{Change, Pending};
use super::rules::Rules;
use super::state::Disk;

/// What is to become of one file's pending changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolution {
    /// The rules of the crash; `None`: everything is written back in order, nothing is lost.
    pub(super) crash: Option<CrashRules>,
    /// Lengths and extents; `None`: new where a surviving sector needs it.
    pub(super) length: Option<SizeChoice>,
    pub(super) fill: Fill,
    /// The element, counted over the file, from which on no write makes it longer.
    pub(super) old_lengths_from: Option<u32>,
    /// Where the file's elements start in the choice.
    pub(super) first_element: u32,
}

impl Resolution {
    /// Everything is written back.
    pub(super) const WRITE_BACK: Self = Self {
        crash: None,
        length: Some(SizeChoice::New),
        fill: Fill::Zeros,
        old_lengths_from: None,
        first_element: 0,
    };
}

/// What a crash keeps in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrashRules {
    pub(super) rules: &'static Rules,
    /// The first change of names or cuts that is lost, where those are one sequence.
    pub(super) metadata_cut: u32,
    /// The first change that takes everything behind it along.
    pub(super) everything_cut: u32,
    /// The device's cache survives.
    pub(super) keeps_device: bool,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Resolved {
    /// Sectors and changes of length that survived.
    pub(super) kept: u32,
    /// Those that did not.
    pub(super) lost: u32,
    /// The bytes that the lost sectors span.
    pub(super) lost_bytes: Option<(u64, u64)>,
    /// The bytes that old blocks or noise show in.
    pub(super) filled_bytes: Option<(u64, u64)>,
}

/// Memory that resolving needs, kept between uses.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    folds: Vec<Fold>,
    /// One bit for each element of each file, in file order: it is to survive.
    pub(super) bits: Vec<u64>,
    /// For each pending name change: it is to survive.
    pub(super) names: Vec<bool>,
    /// Groups of name changes that a sync is about.
    pub(super) groups: Vec<u32>,
    /// For each file: where its bits start.
    pub(super) first_elements: Vec<u32>,
}

impl Disk {
    /// Applies the first `count` pending changes of a file to its medium, and takes them off the list.
    pub(super) fn resolve(&mut self, id: FileId, count: usize, resolution: Resolution) -> Resolved {
        let geometry = self.geometry;
        let Self { arena, state, scratch, .. } = self;
        let mut pending = std::mem::take(&mut state.file_mut(id).pending);
        let mut pages = std::mem::take(&mut state.file_mut(id).pages);
        let (home, old_length) = (state.file(id).home, state.file(id).durable_length);
        let Scratch { folds, bits, .. } = scratch;
        folds.clear();
        folds.resize(pages.len(), Fold::default());
        let mut folding = Folding {
            geometry,
            arena,
            freed: &mut state.freed,
            home,
            file: id,
            pages: &mut pages,
            folds,
            bits,
            resolution,
            old_length,
            length: old_length,
            is_stuck: false,
            has_stopped: false,
            lost_cut: u64::MAX,
            resolved: Resolved::default(),
        };
        let mut element = resolution.first_element;
        for change in &pending[..count] {
            match change.change {
                Change::Write | Change::TailZeros => folding.write(change, element),
                Change::SetLength => folding.set_length(change, element),
            }
            element += change.elements();
        }
        folding.fill_holes();
        let (length, resolved) = (folding.length, folding.resolved);
        for change in pending.drain(..count) {
            state.device_held -= u32::from(change.is_in_device());
            state.commit_held -= u32::from(change.is_committed_with_names());
        }
        let file = state.file_mut(id);
        file.durable_length = length;
        file.has_special = pending.iter().any(Pending::is_special);
        file.pending = pending;
        file.pages = pages;
        resolved
    }
}
