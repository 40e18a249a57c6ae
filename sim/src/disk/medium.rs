//! Reading and changing what lies on the medium, behind the back of everybody.
//!
//! Promises: a page is copied before it is changed, so the cache and every snapshot keep theirs. Leaves out:
//! why it is changed.

use super::arena::Run;
use super::fault::{Effect, FaultId, Mark};
use super::file::{FileId, PageSlot};
use super::geometry::index;
use super::state::Disk;

impl Disk {
    /// Reads the medium: holes, and what lies behind the end, are zeros.
    pub(super) fn read_medium(&self, id: FileId, position: u64, bytes: &mut [u8]) {
        self.read_pages(id, position, bytes, |slot| slot.medium);
    }

    /// Reads what reads see, without touching the cache.
    pub(super) fn read_visible(&self, id: FileId, position: u64, bytes: &mut [u8]) {
        self.read_pages(id, position, bytes, PageSlot::visible);
    }

    fn read_pages(&self, id: FileId, position: u64, bytes: &mut [u8], run_of: impl Fn(PageSlot) -> Run) {
        let pages = &self.state.file(id).pages;
        let mut done = 0;
        while done < bytes.len() {
            let at = position + done as u64;
            let within = self.geometry.within_page(at);
            let count = (index(self.geometry.page_bytes()) - within).min(bytes.len() - done);
            let target = &mut bytes[done..done + count];
            match pages.get(self.geometry.page_of(at)).map(|&slot| run_of(slot)) {
                Some(run) if run.is_stored() => {
                    target.copy_from_slice(&self.arena.page(run)[within..within + count]);
                }
                Some(_) | None => target.fill(0),
            }
            done += count;
        }
    }

    /// A page on the medium as a run of its own that may be changed; `None` if the medium has no such page.
    pub(super) fn own_medium_page(&mut self, id: FileId, page: usize) -> Option<Run> {
        let medium = self.state.file(id).pages.get(page)?.medium;
        if !medium.is_stored() {
            return None;
        }
        let run = self.arena.allocate_copy(medium, self.geometry.sectors_per_page());
        self.state.file_mut(id).pages[page].medium = run;
        Some(run)
    }

    /// Overwrites bytes on the medium, as far as it has pages for them below the durable length, and marks
    /// them; returns how many bytes it hit.
    pub(super) fn overwrite_medium(
        &mut self,
        id: FileId,
        position: u64,
        bytes: &[u8],
        fault: Option<FaultId>,
        drops_cache: bool,
    ) -> u64 {
        let end = (position + bytes.len() as u64).min(self.state.file(id).durable_length);
        let mut hit = 0;
        let mut at = position;
        while at < end {
            let page = self.geometry.page_of(at);
            let within = self.geometry.within_page(at);
            let count = (self.geometry.page_bytes() - within as u64).min(end - at);
            if let Some(run) = self.own_medium_page(id, page) {
                let from = index(at - position);
                self.arena.page_mut(run)[within..within + index(count)]
                    .copy_from_slice(&bytes[from..from + index(count)]);
                hit += count;
                if drops_cache {
                    self.drop_page(id, page);
                }
            }
            at += count;
        }
        if position < end {
            self.state.faults.heal(id, (position, end), (end, end));
            self.forget_stamps(id, position, end);
            if let Some(fault) = fault {
                self.add_mark(Mark { file: id, start: position, end, effect: Effect::Changed, fault });
            }
        }
        hit
    }

    /// Drops one clean page from the cache.
    pub(super) fn drop_page(&mut self, id: FileId, page: usize) {
        let slot = &mut self.state.file_mut(id).pages[page];
        if !slot.is_dirty {
            slot.cached = Run::NONE;
        }
    }

    /// Forgets what a sync reported of bytes that are changed on purpose.
    pub(super) fn forget_stamps(&mut self, id: FileId, start: u64, end: u64) {
        if self.stamps.is_on() && start < end {
            self.stamps.forget(id, self.geometry.sector_of(start), self.geometry.sector_of(end - 1) + 1);
        }
    }
}
