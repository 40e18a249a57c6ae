//! The storage calls on an open file, apart from its sync.
//!
//! Promises: errors as the system calls give them, and without effect. Leaves out: names (`call_name`),
//! syncs (`sync`).

use recovery_core::storage::{Access, Call, Errno};

use super::arena::Run;
use super::fault::{Effect, FaultId, Mark};
use super::file::FileId;
use super::geometry::index;
use super::handle::SimFile;
use super::injection::Disturbance;
use super::pending::{Landing, Withheld};
use super::state::Disk;
use super::step::{Hit, Subject};

impl Disk {
    /// The call `read`.
    pub(super) fn read(
        &mut self,
        handle: &SimFile,
        position: u64,
        buffer: &mut [u8],
    ) -> Result<usize, Errno> {
        let id = self.state.handles.file(handle).file;
        let hit = self.enter(Call::Read, Subject::File(id))?;
        let mut wanted = buffer.len();
        if let Some(Hit { disturbance: Disturbance::Short { bytes }, .. }) = hit {
            wanted = shortened(wanted, bytes);
        }
        if self.state.file(id).is_marked {
            wanted = self.readable(id, position, wanted)?;
        }
        let geometry = self.geometry;
        let Self { arena, state, .. } = self;
        let count = state.file_mut(id).read(arena, geometry, position, &mut buffer[..wanted]);
        match hit.map(|hit| hit.disturbance) {
            Some(Disturbance::CorruptRead { .. } | Disturbance::MisdirectRead { .. })
                if self.rules.checks_data =>
            {
                Err(Errno::IO)
            }
            Some(Disturbance::CorruptRead { byte, bit }) if count > 0 => {
                self.touch_bytes(id, position..position + count as u64);
                buffer[index(byte % count as u64)] ^= 1 << (bit % 8);
                Ok(count)
            }
            Some(Disturbance::MisdirectRead { file, position: other }) if count > 0 => {
                self.touch_bytes(id, position..position + count as u64);
                self.read_medium(file, other, &mut buffer[..count]);
                Ok(count)
            }
            Some(_) | None => Ok(count),
        }
    }

    /// How much of a read meets no unreadable page, with the faults counted that it meets.
    fn readable(&mut self, id: FileId, position: u64, wanted: usize) -> Result<usize, Errno> {
        let end = position.saturating_add(wanted as u64);
        if end > self.state.file(id).length {
            self.state.faults.see_length(id);
        }
        let end = end.min(self.state.file(id).length);
        let mut stop: Option<(u64, FaultId)> = None;
        for at in 0..self.state.faults.marks.len() {
            let mark = self.state.faults.marks[at];
            if mark.file != id {
                continue;
            }
            let is_bad = self.is_unreadable(&mark);
            // A page is read whole: a bad sector spoils the good ones beside it.
            let (first, last) = (self.geometry.page_of(mark.start), self.geometry.page_of(mark.end - 1));
            for page in first..=last {
                let page_start = self.geometry.page_start(page);
                let page_end = page_start + self.geometry.page_bytes();
                let (start, stretch_end) = if is_bad {
                    (page_start, page_end)
                } else {
                    (mark.start.max(page_start), mark.end.min(page_end))
                };
                if start >= end || stretch_end <= position || self.is_shielded(id, page) {
                    continue;
                }
                if !is_bad {
                    self.state.faults.read(mark.fault);
                } else if stop.is_none_or(|(earliest, _)| start < earliest) {
                    stop = Some((start, mark.fault));
                }
            }
        }
        let Some((start, fault)) = stop else { return Ok(wanted) };
        if start <= position {
            self.state.faults.read(fault);
            return Err(Errno::IO);
        }
        Ok(index(start - position).min(wanted))
    }

    /// Whether a mark makes its bytes unreadable.
    pub(super) fn is_unreadable(&self, mark: &Mark) -> bool {
        match mark.effect {
            Effect::Unreadable => true,
            Effect::Changed => self.rules.checks_data,
            Effect::Missing => false,
        }
    }

    /// Whether the cache hides what lies on the medium of a page.
    pub(super) fn is_shielded(&self, id: FileId, page: usize) -> bool {
        let slot = self.state.file(id).pages.get(page);
        slot.is_some_and(|slot| slot.cached != Run::NONE && slot.cached != slot.medium)
    }

    /// The call `write`.
    pub(super) fn write(&mut self, handle: &SimFile, position: u64, bytes: &[u8]) -> Result<usize, Errno> {
        let open = *self.state.handles.file(handle);
        let hit = self.enter(Call::Write, Subject::File(open.file))?;
        if open.access == Access::Read {
            return Err(BAD_DESCRIPTOR);
        }
        let mut count = bytes.len();
        if let Some(Hit { disturbance: Disturbance::Short { bytes }, .. }) = hit {
            count = shortened(count, bytes);
        }
        if count == 0 {
            return Ok(0);
        }
        let end = position.checked_add(count as u64).ok_or(Errno::INVALID)?;
        let limit = self.geometry.file_bytes_max();
        if position >= limit {
            return Err(Errno::FILE_TOO_LARGE);
        }
        count = index(end.min(limit) - position);
        count = self.take_space(open.file, position, count)?;
        self.check_partial_pages(open.file, position, count)?;
        let before = self.state.file(open.file).pending.len();
        self.write_cached(open.file, position, &bytes[..count]);
        if let Some(hit) = hit {
            self.disturb_write(open.file, before, hit);
        }
        Ok(count)
    }

    /// Writes into the cache.
    pub(super) fn write_cached(&mut self, id: FileId, position: u64, bytes: &[u8]) {
        let geometry = self.geometry;
        let Self { arena, state, .. } = self;
        let (file, sequence) = state.file_and_sequence(id);
        file.write(arena, geometry, position, bytes, || {
            *sequence += 1;
            *sequence
        });
        if self.stamps.is_on() {
            let (first, last) = (position, position + bytes.len() as u64 - 1);
            self.stamps.forget(id, geometry.sector_of(first), geometry.sector_of(last) + 1);
        }
    }

    /// Takes the pages that a write needs from what is free; returns how many bytes fit.
    fn take_space(&mut self, id: FileId, position: u64, count: usize) -> Result<usize, Errno> {
        let Some(free) = self.state.limits.pages_free else { return Ok(count) };
        let geometry = self.geometry;
        let end = position + count as u64;
        let mut needed = 0;
        for page in geometry.page_of(position)..geometry.page_count(end) {
            let has_page = self.state.file(id).pages.get(page).is_some_and(|slot| slot.visible().is_stored());
            if has_page {
                continue;
            }
            if needed == free {
                let fits = geometry.page_start(page).checked_sub(position).filter(|&fits| fits > 0);
                self.state.limits.pages_free = Some(0);
                return fits.map(index).ok_or(Errno::NO_SPACE);
            }
            needed += 1;
        }
        self.state.limits.pages_free = Some(free - needed);
        Ok(count)
    }

    /// Refuses a write that would have to read an unreadable page first.
    fn check_partial_pages(&mut self, id: FileId, position: u64, count: usize) -> Result<(), Errno> {
        if !self.state.file(id).is_marked {
            return Ok(());
        }
        let end = position + count as u64;
        for at in 0..self.state.faults.marks.len() {
            let mark = self.state.faults.marks[at];
            if mark.file != id || !self.is_unreadable(&mark) {
                continue;
            }
            for page in self.geometry.page_of(mark.start)..=self.geometry.page_of(mark.end - 1) {
                let page_start = self.geometry.page_start(page);
                let page_end = page_start + self.geometry.page_bytes();
                let is_partial = (position > page_start || end < page_end.min(self.state.file(id).length))
                    && position < page_end
                    && end > page_start;
                if is_partial && !self.is_shielded(id, page) {
                    self.state.faults.read(mark.fault);
                    return Err(Errno::IO);
                }
            }
        }
        Ok(())
    }

    /// Lets the write that was just made go wrong on its way to the medium.
    fn disturb_write(&mut self, id: FileId, before: usize, hit: Hit) {
        let at = self.state.file(id).pending.len() - 1;
        assert!(at >= before, "a write leaves a pending change");
        let mut change = self.state.file(id).pending[at];
        let (start, end) = (change.position, change.end);
        let mut with_length = change.extends();
        let missing = match hit.disturbance {
            Disturbance::LoseWrite => start,
            Disturbance::MisdirectWrite { file, position } => {
                let mut bytes = vec![0; index(end - start)];
                self.read_visible(id, start, &mut bytes);
                self.overwrite_medium(file, position, &bytes, hit.fault, false);
                self.touch_bytes(file, position..position + (end - start));
                start
            }
            Disturbance::ShearWrite { bytes } => {
                let kept = shortened(index(end - start), bytes) as u64;
                change.landing = Landing::Altered;
                change.contents = self.shear(id, at, kept);
                with_length = false;
                start + kept
            }
            Disturbance::Crash { .. }
            | Disturbance::Fail { .. }
            | Disturbance::Short { .. }
            | Disturbance::LieAboutFlush
            | Disturbance::MisdirectRead { .. }
            | Disturbance::CorruptRead { .. }
            | Disturbance::FailSync { .. }
            | Disturbance::DeferSyncError
            | Disturbance::SwallowSyncError
            | Disturbance::GoReadOnly
            | Disturbance::ListInOrder { .. } => return,
        };
        self.touch_bytes(id, missing..end);
        if missing == start {
            change.landing = Landing::Lost;
            change.length_after = change.length_before;
        }
        change.withheld = hit.fault.map(|fault| Withheld { start: missing, fault, with_length });
        let file = self.state.file_mut(id);
        file.pending[at] = change;
        file.has_special = true;
    }

    /// The sectors of a pending write of which only the first `kept` bytes land.
    fn shear(&mut self, id: FileId, at: usize, kept: u64) -> Run {
        let file = self.state.file(id);
        let change = file.pending[at];
        let contents = self.arena.allocate_copy(change.contents, change.sectors);
        let start = self.geometry.sector_start(change.first_sector);
        let mut old = vec![0; index(self.geometry.sector_start(change.sectors))];
        self.read_on_device(id, at, start, &mut old);
        let from = index(change.position + kept - start);
        let end = index(change.end - start);
        self.arena.sectors_mut(contents, change.sectors)[from..end].copy_from_slice(&old[from..end]);
        contents
    }

    /// What the device would hold of a file after the first `count` pending changes.
    fn read_on_device(&self, id: FileId, count: usize, position: u64, bytes: &mut [u8]) {
        self.read_medium(id, position, bytes);
        for change in &self.state.file(id).pending[..count] {
            for nth in 0..change.sectors {
                let sector_start = self.geometry.sector_start(change.first_sector + nth);
                let is_inside = sector_start >= position
                    && sector_start + self.geometry.sector_bytes() <= position + bytes.len() as u64;
                if is_inside && change.landing != Landing::Lost {
                    let from = index(sector_start - position);
                    let sector = self.arena.sectors(change.contents.plus(nth), 1);
                    bytes[from..from + sector.len()].copy_from_slice(sector);
                }
            }
        }
    }

    /// The call `length`.
    pub(super) fn length(&mut self, handle: &SimFile) -> Result<u64, Errno> {
        let id = self.state.handles.file(handle).file;
        self.enter(Call::Length, Subject::File(id))?;
        if self.state.file(id).is_marked {
            self.state.faults.see_length(id);
        }
        Ok(self.state.file(id).length)
    }

    /// The call `set-length`.
    pub(super) fn set_length(&mut self, handle: &SimFile, length: u64) -> Result<(), Errno> {
        let open = *self.state.handles.file(handle);
        self.enter(Call::SetLength, Subject::File(open.file))?;
        if open.access == Access::Read || length > i64::MAX.cast_unsigned() {
            return Err(Errno::INVALID);
        }
        if length > self.geometry.file_bytes_max() {
            return Err(Errno::FILE_TOO_LARGE);
        }
        if length != self.state.file(open.file).length {
            self.set_length_cached(open.file, length);
        }
        Ok(())
    }

    /// Changes the length in the cache.
    pub(super) fn set_length_cached(&mut self, id: FileId, length: u64) {
        let geometry = self.geometry;
        let pages_before = self.visible_pages(id);
        let Self { arena, state, .. } = self;
        let (file, sequence) = state.file_and_sequence(id);
        file.set_length(arena, geometry, length, || {
            *sequence += 1;
            *sequence
        });
        state.commit_held += 1;
        let pages_after = self.visible_pages(id);
        if let Some(free) = &mut self.state.limits.pages_free {
            *free += pages_before - pages_after;
        }
        self.stamps.forget(id, geometry.sector_of(length), u32::MAX);
    }

    fn visible_pages(&self, id: FileId) -> u64 {
        if self.state.limits.pages_free.is_none() {
            return 0;
        }
        self.state.file(id).pages.iter().filter(|slot| slot.visible().is_stored()).count() as u64
    }

    /// The call `drop-cache`.
    pub(super) fn drop_cache(&mut self, handle: &SimFile) -> Result<(), Errno> {
        let id = self.state.handles.file(handle).file;
        self.enter(Call::DropCache, Subject::File(id))?;
        self.evict(id);
        Ok(())
    }

    /// Closes a file. Nothing happens if its process is gone.
    pub(super) fn close(&mut self, handle: &SimFile) {
        if let Some(id) = self.state.handles.close_file(handle) {
            self.state.file_mut(id).open_count -= 1;
            self.release_if_orphan(id);
        }
    }
}

/// `EBADF`: the descriptor is not open for this (write(2)).
const BAD_DESCRIPTOR: Errno = Errno::from_raw(9);

/// How much of a transfer of `asked` bytes a short one moves.
fn shortened(asked: usize, bytes: Option<u64>) -> usize {
    match bytes {
        Some(bytes) => usize::try_from(bytes).map_or(asked, |bytes| bytes.max(1).min(asked)),
        None => asked.div_ceil(2),
    }
}
