//! Syncs that fail, lie, or report late: what each filesystem leaves behind (FAULT_MODEL 2.6).
//!
//! Promises: a page that could not be written is clean afterwards and is not tried again; what reads see
//! and what the medium holds part ways as the filesystem's row says. Leaves out: which sync it hits.

use recovery_core::storage::Errno;

use crate::schedule::Fill;

use super::arena::Run;
use super::commit::NameScope;
use super::directory::{DirectoryId, Reach};
use super::fault::{Effect, FaultId, Mark};
use super::file::{FileId, FileNode};
use super::freed::{mix, noise};
use super::pending::{Change, Landing, Pending};
use super::rules::{FailedData, FailedJournal};
use super::state::Disk;

/// Who learns of a failed write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The sync that is going on, or else the next one.
    Next,
    /// The sync after the one that is going on.
    Late,
    /// Nobody.
    Never,
}

/// A writeback of data pages that fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataFailure {
    /// Which dirty pages fail, bit 0 the first, repeated every 64.
    pub(super) pages: u64,
    /// What blocks show that were new and never written.
    pub(super) fill: Fill,
    pub(super) errno: Errno,
    pub(super) report: Report,
    pub(super) fault: Option<FaultId>,
}

impl Disk {
    /// Lets the writeback of a file's dirty pages fail.
    pub(super) fn fail_data(&mut self, id: FileId, failure: DataFailure) {
        let mut failed = Vec::new();
        let mut dirty = 0_u32;
        for (page, slot) in self.state.file(id).pages.iter().enumerate() {
            if slot.is_dirty && slot.cached.is_stored() {
                if failure.pages >> (dirty % 64) & 1 == 1 {
                    failed.push(page);
                }
                dirty += 1;
            }
        }
        for &page in &failed {
            self.mark_failed(id, page, failure.fault);
        }
        match self.rules.failed_data {
            FailedData::LengthStays => self.keep_length(id, &failed, failure.fill),
            FailedData::LengthStaysReportedLate => {
                self.keep_length(id, &failed, failure.fill);
                let count = self.state.file(id).pending.len();
                self.write_back_first(id, count);
            }
            FailedData::LengthDropped => self.drop_length(id, &failed),
            FailedData::Reverted => self.revert(id),
        }
        let is_late = self.rules.failed_data == FailedData::LengthStaysReportedLate;
        let error = &mut self.state.file_mut(id).error;
        match failure.report {
            Report::Next if !is_late => error.raise(failure.errno),
            Report::Next | Report::Late => {
                error.errno = failure.errno;
                error.is_deferred = true;
            }
            Report::Never => {}
        }
    }

    fn mark_failed(&mut self, id: FileId, page: usize, fault: Option<FaultId>) {
        let Some(fault) = fault else { return };
        let start = self.geometry.page_start(page);
        let end = start + self.geometry.page_bytes();
        self.add_mark(Mark { file: id, start, end, effect: Effect::Missing, fault });
    }

    /// Notes where a fault lies.
    pub(super) fn add_mark(&mut self, mark: Mark) {
        if mark.start < mark.end {
            self.state.file_mut(mark.file).is_marked = true;
            self.state.faults.marks.push(mark);
        }
    }

    /// ext4: the pages are clean, the cache keeps their bytes, block and length become durable later.
    fn keep_length(&mut self, id: FileId, failed: &[usize], fill: Fill) {
        for at in 0..self.state.file(id).pending.len() {
            let change = self.state.file(id).pending[at];
            if change.change == Change::SetLength || !change.dirties() {
                continue;
            }
            let contents = self.contents_on_device(id, &change, failed, fill);
            let failed = Pending { contents, landing: Landing::Failed, ..change };
            // The zeros of a cut may have been committed with it.
            self.state.commit_held += u32::from(failed.is_committed_with_names());
            self.state.file_mut(id).pending[at] = failed;
            self.state.file_mut(id).has_special = true;
        }
        self.settle_cache(id);
    }

    /// What the blocks of a change show when some of its pages could not be written.
    fn contents_on_device(&mut self, id: FileId, change: &Pending, failed: &[usize], fill: Fill) -> Run {
        let per_page = self.geometry.sectors_per_page();
        let contents = self.arena.allocate_copy(change.contents, change.sectors);
        for nth in 0..change.sectors {
            let sector = change.first_sector + nth;
            let page = (sector / per_page) as usize;
            if !failed.contains(&page) {
                continue;
            }
            let FileNode { ref pages, home, .. } = *self.state.file(id);
            let place = mix(u64::from(id.number())) ^ page as u64;
            let block = match (pages[page].medium, fill) {
                (medium, _) if medium.is_stored() => medium,
                (_, Fill::StaleSame) => self.state.freed.choose(home, false, place).unwrap_or(Run::ZEROS),
                (_, Fill::StaleForeign) => self.state.freed.choose(home, true, place).unwrap_or(Run::ZEROS),
                (_, Fill::Zeros | Fill::Noise) => Run::ZEROS,
            };
            let target = contents.plus(nth);
            if block.is_stored() {
                self.arena.copy(block.plus(sector % per_page), target, 1);
            } else if fill == Fill::Noise {
                noise(mix(place) ^ u64::from(sector), self.arena.sectors_mut(target, 1));
            } else {
                self.arena.sectors_mut(target, 1).fill(0);
            }
        }
        contents
    }

    /// XFS: what lies in a failed page is gone, its length with it; the cache keeps the bytes. What the
    /// device has already is not written again, and so does not fail.
    fn drop_length(&mut self, id: FileId, failed: &[usize]) {
        let geometry = self.geometry;
        let file = self.state.file_mut(id);
        file.pending.retain(|change| {
            let pages = geometry.page_of(change.position)..geometry.page_count(change.end);
            let is_hit = change.dirties() && failed.iter().any(|page| pages.contains(page));
            change.change == Change::SetLength || !is_hit
        });
        let good = file.pending.len();
        self.settle_cache(id);
        self.write_back_first(id, good);
    }

    /// Btrfs: the cache goes back to what the medium holds, or the device has already.
    fn revert(&mut self, id: FileId) {
        let file = self.state.file_mut(id);
        file.pending.retain(|change| change.change == Change::SetLength || !change.dirties());
        file.length = file.pending.last().map_or(file.durable_length, |change| change.length_after);
        self.settle_cache(id);
        self.drop_clean_pages(id);
    }

    /// Lets the journal, or the log, fail.
    pub(super) fn fail_journal(&mut self) {
        match self.rules.failed_journal {
            FailedJournal::ReadOnly => self.state.health.is_read_only = true,
            FailedJournal::Shutdown => self.state.health.is_shut_down = true,
            FailedJournal::SyncFails => {}
        }
    }

    /// Lets a block of metadata fail that was to be written in its place: nobody is told, and the filesystem
    /// goes read-only, or shuts down.
    pub(super) fn fail_in_place(&mut self) {
        match self.rules.failed_journal {
            FailedJournal::ReadOnly | FailedJournal::SyncFails => self.state.health.is_read_only = true,
            FailedJournal::Shutdown => self.state.health.is_shut_down = true,
        }
    }

    /// Tells everybody that a file is durable, and leaves it in the device's cache.
    pub(super) fn lie_about_file(&mut self, id: FileId) {
        self.move_file_to_device(id, true, true);
        self.move_names_to_device(self.scope_of_file_sync(id), true);
    }

    /// Tells everybody that a directory's names are durable, and leaves them in the device's cache.
    pub(super) fn lie_about_directory(&mut self, id: DirectoryId) {
        self.move_names_to_device(self.scope_of_directory_sync(id), true);
    }

    /// Moves a file's pending changes, with their lengths if so asked, into the device's cache.
    pub(super) fn move_file_to_device(&mut self, id: FileId, with_length: bool, is_lie: bool) {
        let mut held = 0;
        let file = self.state.file_mut(id);
        for change in &mut file.pending {
            held += u32::from(change.reach == Reach::Memory);
            change.reach = Reach::Device;
            change.is_lied_about |= is_lie;
            if with_length {
                change.length_reach = Reach::Device;
            }
        }
        file.has_special |= held > 0;
        self.state.device_held += held;
        self.settle_cache(id);
    }

    /// Moves pending names into the device's cache.
    pub(super) fn move_names_to_device(&mut self, scope: NameScope, is_lie: bool) {
        let mut changes = std::mem::take(&mut self.state.name_changes);
        for at in 0..changes.len() {
            if self.is_in_scope(&changes[at], scope) {
                let group = changes[at].group;
                for change in changes.iter_mut().filter(|change| change.group == group) {
                    self.state.device_held += u32::from(change.reach == Reach::Memory);
                    change.reach = Reach::Device;
                    change.is_lied_about |= is_lie;
                }
            }
        }
        self.state.name_changes = changes;
    }
}
