//! Writing pending changes to the medium in good order, and dropping clean pages from the cache.
//!
//! Promises: after a write-back the medium holds what the cache holds, but for pages that a fault kept
//! back, which stay *diverged*. Leaves out: crashes, and errors.

use super::arena::{Arena, Run};
use super::directory::Reach;
use super::fault::{Effect, Mark};
use super::file::{FileId, FileNode};
use super::geometry::Geometry;
use super::pending::{Change, Landing, Pending, Withheld};
use super::resolve::Resolution;
use super::state::Disk;

impl Disk {
    /// Writes everything pending of a file to the medium.
    pub(super) fn write_back(&mut self, id: FileId) {
        let geometry = self.geometry;
        let file = self.state.file(id);
        let count = file.pending.len();
        if count == 0 {
            return;
        }
        self.mark_written(id, count);
        if self.state.file(id).has_special {
            self.write_back_some(id, count);
            return;
        }
        let Self { arena, state, .. } = self;
        let mut pending = std::mem::take(&mut state.file_mut(id).pending);
        for change in &pending {
            let file = state.file_mut(id);
            match change.change {
                Change::Write | Change::TailZeros => copy_to_medium(arena, geometry, file, change),
                Change::SetLength => {
                    let home = file.home;
                    for page in geometry.page_count(change.length_after)..file.pages.len() {
                        let slot = &mut state.file_mut(id).pages[page];
                        let medium = std::mem::replace(&mut slot.medium, Run::NONE);
                        state.freed.free(medium, home);
                    }
                    state.commit_held -= u32::from(change.is_committed_with_names());
                }
            }
        }
        pending.clear();
        let file = state.file_mut(id);
        file.pending = pending;
        file.durable_length = file.length;
        file.pages.truncate(geometry.page_count(file.length));
        for slot in &mut file.pages {
            slot.is_dirty = false;
            if slot.cached == Run::ZEROS {
                slot.cached = Run::NONE;
            }
        }
    }

    /// Writes the first `count` pending changes of a file to the medium, one by one.
    pub(super) fn write_back_first(&mut self, id: FileId, count: usize) {
        self.mark_written(id, count);
        self.write_back_some(id, count);
    }

    /// As [`Disk::write_back_first`], the marks apart.
    fn write_back_some(&mut self, id: FileId, count: usize) {
        self.resolve(id, count, Resolution::WRITE_BACK);
        self.settle_cache(id);
    }

    /// Makes the dirty flags of a file's pages say again what is pending, and lets go of pages behind its
    /// end.
    pub(super) fn settle_cache(&mut self, id: FileId) {
        let geometry = self.geometry;
        let file = self.state.file_mut(id);
        let pages = geometry.page_count(file.length.max(file.durable_length));
        if file.pending.is_empty() {
            file.pages.truncate(pages);
        }
        for slot in &mut file.pages {
            slot.is_dirty = false;
        }
        for change in file.pending.iter().filter(|change| change.dirties()) {
            let end = match change.change {
                Change::Write | Change::TailZeros => geometry.page_count(change.end),
                Change::SetLength if change.cuts() => file.pages.len(),
                Change::SetLength => 0,
            };
            let first = match change.change {
                Change::Write | Change::TailZeros => geometry.page_of(change.position),
                Change::SetLength => geometry.page_count(change.length_after),
            };
            for slot in file.pages.iter_mut().take(end).skip(first) {
                slot.is_dirty = true;
            }
        }
        for slot in &mut file.pages {
            if slot.cached == Run::ZEROS && !slot.is_dirty && !slot.medium.is_stored() {
                slot.cached = Run::NONE;
            }
        }
    }

    /// Takes fault marks off the bytes that the first `count` changes overwrite, and marks those that a
    /// fault keeps from the medium.
    pub(super) fn mark_written(&mut self, id: FileId, count: usize) {
        let file = self.state.file(id);
        if !file.is_marked && !file.has_special {
            return;
        }
        for at in 0..count {
            let change = self.state.file(id).pending[at];
            let written_end = change.withheld.map_or(change.end, |withheld| withheld.start);
            match change.change {
                Change::Write | Change::TailZeros
                    if change.position < written_end
                        && !matches!(change.landing, Landing::Lost | Landing::Failed) =>
                {
                    let start = self.geometry.sector_start(change.first_sector);
                    let end = start + u64::from(change.sectors) * self.geometry.sector_bytes();
                    self.state.faults.heal(id, (change.position, written_end), (start, end));
                }
                Change::SetLength if change.cuts() => {
                    self.state.faults.heal_from(id, change.length_after);
                }
                Change::Write | Change::TailZeros | Change::SetLength => {}
            }
            self.mark_withheld(id, &change);
        }
    }

    /// Marks the bytes that a fault keeps from the medium.
    pub(super) fn mark_withheld(&mut self, id: FileId, change: &Pending) {
        let Some(Withheld { start, fault, with_length }) = change.withheld else { return };
        self.add_mark(Mark { file: id, start, end: change.end, effect: Effect::Changed, fault });
        if with_length {
            self.state.faults.mark_length(id, fault);
        }
    }

    /// Makes durable all that a lying flush left in the device's cache: the device flushes it whole.
    pub(super) fn flush_device(&mut self) {
        if self.state.device_held == 0 {
            return;
        }
        let mut removed = Vec::new();
        let changes = std::mem::take(&mut self.state.name_changes);
        for change in changes.iter().filter(|change| change.reach == Reach::Device) {
            self.apply_name(change, &mut removed);
            self.state.device_held -= 1;
        }
        self.state.name_changes = changes;
        self.state.name_changes.retain(|change| change.reach != Reach::Device);
        for id in self.state.file_ids() {
            let last = self.state.file(id).pending.iter().rposition(Pending::is_in_device);
            if let Some(last) = last {
                self.write_back_first(id, last + 1);
            }
        }
        assert!(self.state.device_held == 0, "a flush empties the device's cache");
        for file in removed {
            self.release_if_orphan(file);
        }
    }

    /// Drops a file's clean pages from the cache, diverged ones included, so that reads ask the medium.
    pub(super) fn evict(&mut self, id: FileId) {
        self.drop_clean_pages(id);
        let file = self.state.file_mut(id);
        let is_idle = file.open_count == 0;
        if is_idle && !file.error.is_seen {
            // The inode goes with its pages, and the error that nobody asked for with it.
            file.error.is_seen = true;
        }
    }

    /// Drops a file's clean pages, and nothing else of it.
    pub(super) fn drop_clean_pages(&mut self, id: FileId) {
        let geometry = self.geometry;
        let Self { arena, state, .. } = self;
        let file = state.file_mut(id);
        for page in 0..file.pages.len() {
            let slot = file.pages[page];
            if slot.is_dirty || slot.cached == Run::NONE {
                continue;
            }
            let mut cached = Run::NONE;
            if !file.pending.is_empty() {
                // Block and length are on their way although the bytes are not: what reads see now is
                // what the block shows.
                cached = page_of_pending(arena, geometry, file, page);
            }
            file.pages[page].cached = cached;
        }
    }
}

/// Puts the sectors of one change onto the medium. A page there is written in place unless a snapshot, or the
/// cache, may hold the same one.
fn copy_to_medium(arena: &mut Arena, geometry: Geometry, file: &mut FileNode, change: &Pending) {
    let per_page = geometry.sectors_per_page();
    let mut done = 0;
    while done < change.sectors {
        let sector = change.first_sector + done;
        let within = sector % per_page;
        let count = (per_page - within).min(change.sectors - done);
        if let Some(slot) = file.pages.get_mut((sector / per_page) as usize) {
            if !slot.medium.is_stored() {
                slot.medium = arena.allocate_zeroed(per_page);
            } else if arena.is_frozen(slot.medium) || slot.cached == slot.medium {
                slot.medium = arena.allocate_copy(slot.medium, per_page);
            }
            arena.copy(change.contents.plus(done), slot.medium.plus(within), count);
        }
        done += count;
    }
}

/// What a page shows when it is read back while changes to it are pending: its block, with the changes on it.
fn page_of_pending(arena: &mut Arena, geometry: Geometry, file: &FileNode, page: usize) -> Run {
    let touches = |change: &&Pending| match change.change {
        Change::Write | Change::TailZeros => {
            geometry.page_of(change.position) <= page && page < geometry.page_count(change.end)
        }
        Change::SetLength => change.cuts() && page >= geometry.page_count(change.length_after),
    };
    if !file.pending.iter().any(|change| touches(&change)) {
        return Run::NONE;
    }
    let per_page = geometry.sectors_per_page();
    let medium = file.pages[page].medium;
    let run = if medium.is_stored() {
        arena.allocate_copy(medium, per_page)
    } else {
        arena.allocate_zeroed(per_page)
    };
    let first = geometry.sector_of(geometry.page_start(page));
    for change in file.pending.iter().filter(touches) {
        if change.change == Change::SetLength {
            arena.page_mut(run).fill(0);
            continue;
        }
        if change.landing == Landing::Lost {
            continue;
        }
        for sector in
            change.first_sector.max(first)..(change.first_sector + change.sectors).min(first + per_page)
        {
            let source = change.contents.plus(sector - change.first_sector);
            arena.copy(source, run.plus(sector - first), 1);
        }
    }
    run
}
