//! Files: the cached pages that reads see, the extents on the medium, and what is pending in between.
//!
//! Promises: the three views are separate; a page that is clean and yet differs from the medium is a state
//! of its own. Leaves out: names, and the rules of any filesystem.

use recovery_core::storage::Errno;

use super::arena::{Arena, Run};
use super::directory::{DirectoryId, Reach};
use super::geometry::{Geometry, index};
use super::name_table::NameId;
use super::pending::{Change, Landing, Pending};

/// The number of a file. It stays the same when the file is renamed, and is not used again in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(super) u32);

impl FileId {
    /// The bare number, for digests.
    pub const fn number(self) -> u32 {
        self.0
    }

    #[inline]
    pub(super) fn slot(self) -> usize {
        index(u64::from(self.0))
    }
}

/// One page of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageSlot {
    /// The page in the cache: `NONE` if it is not there, `ZEROS` if it is known to be a hole.
    pub(super) cached: Run,
    /// The page on the medium: `NONE` for a hole, `ZEROS` for an unwritten extent.
    pub(super) medium: Run,
    /// The cache holds something that is still to be written back. Such a page is never dropped.
    pub(super) is_dirty: bool,
}

impl PageSlot {
    pub(super) const EMPTY: Self = Self { cached: Run::NONE, medium: Run::NONE, is_dirty: false };

    /// The page that reads see.
    #[inline]
    pub(super) fn visible(self) -> Run {
        if self.cached == Run::NONE { self.medium } else { self.cached }
    }
}

/// A file's write error as the kernel keeps it (`errseq_t`): how many there were, and whether the newest
/// was reported to anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WritebackError {
    pub(super) count: u32,
    pub(super) errno: Errno,
    pub(super) is_seen: bool,
    /// An error that the next sync will find (ext4 with a data journal).
    pub(super) is_deferred: bool,
}

impl WritebackError {
    pub(super) const NONE: Self = Self { count: 0, errno: Errno::IO, is_seen: true, is_deferred: false };

    /// Records one more failed writeback.
    pub(super) fn raise(&mut self, errno: Errno) {
        self.count += 1;
        self.errno = errno;
        self.is_seen = false;
    }

    /// Where the cursor of a descriptor starts that is opened now: an error that nobody has seen is ahead
    /// of it.
    pub(super) fn cursor(&self) -> u32 {
        if self.is_seen { self.count } else { self.count - 1 }
    }
}

/// One file.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct FileNode {
    pub(super) pages: Vec<PageSlot>,
    /// The length that reads see.
    pub(super) length: u64,
    /// The length on the medium.
    pub(super) durable_length: u64,
    pub(super) pending: Vec<Pending>,
    /// Some pending change is special ([`Pending::is_special`]).
    pub(super) has_special: bool,
    pub(super) error: WritebackError,
    pub(super) open_count: u32,
    /// The directory it was made in: whose old block its blocks become.
    pub(super) home: DirectoryId,
    /// The name it was made or last renamed by.
    pub(super) name: NameId,
    /// Some fault mark lies on it.
    pub(super) is_marked: bool,
    /// Opening it fails with `EACCES`.
    pub(super) is_denied: bool,
    /// Nothing leads to it any more and its blocks are free.
    pub(super) is_released: bool,
    /// Some name stopped leading to it, so it may be that none does.
    pub(super) has_lost_name: bool,
}

impl FileNode {
    pub(super) fn new(name: NameId, home: DirectoryId) -> Self {
        Self {
            pages: Vec::new(),
            length: 0,
            durable_length: 0,
            pending: Vec::new(),
            has_special: false,
            error: WritebackError::NONE,
            open_count: 0,
            home,
            name,
            is_marked: false,
            is_denied: false,
            is_released: false,
            has_lost_name: false,
        }
    }

    /// Makes a used slot an empty file again.
    pub(super) fn renew(&mut self, name: NameId, home: DirectoryId) {
        self.pages.clear();
        self.pending.clear();
        self.length = 0;
        self.durable_length = 0;
        self.has_special = false;
        self.error = WritebackError::NONE;
        self.open_count = 0;
        self.home = home;
        self.name = name;
        self.is_marked = false;
        self.is_denied = false;
        self.is_released = false;
        self.has_lost_name = false;
    }

    /// Takes over another file without giving memory back.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.pages.clone_from(&other.pages);
        self.pending.clone_from(&other.pending);
        self.length = other.length;
        self.durable_length = other.durable_length;
        self.has_special = other.has_special;
        self.error = other.error;
        self.open_count = other.open_count;
        self.home = other.home;
        self.name = other.name;
        self.is_marked = other.is_marked;
        self.is_denied = other.is_denied;
        self.is_released = other.is_released;
        self.has_lost_name = other.has_lost_name;
    }

    /// Reads what the cache, or else the medium, holds; returns how many bytes came.
    pub(super) fn read(
        &mut self,
        arena: &Arena,
        geometry: Geometry,
        position: u64,
        buffer: &mut [u8],
    ) -> usize {
        let Some(left) = self.length.checked_sub(position) else { return 0 };
        let wanted = (buffer.len() as u64).min(left);
        let mut done = 0;
        while done < wanted {
            let at = position + done;
            let within = geometry.within_page(at);
            let count = (geometry.page_bytes() - within as u64).min(wanted - done);
            let target = &mut buffer[index(done)..index(done + count)];
            match self.visible_page(geometry.page_of(at)) {
                run if run.is_stored() => {
                    target.copy_from_slice(&arena.page(run)[within..within + index(count)]);
                }
                _ => target.fill(0),
            }
            done += count;
        }
        index(wanted)
    }

    /// The page that a read sees; it is in the cache afterwards.
    fn visible_page(&mut self, page: usize) -> Run {
        let Some(slot) = self.pages.get_mut(page) else { return Run::NONE };
        if slot.cached == Run::NONE && slot.medium.is_stored() {
            slot.cached = slot.medium;
        }
        slot.visible()
    }

    /// Writes into the cache and notes the pending changes. `next` gives sequence numbers.
    pub(super) fn write(
        &mut self,
        arena: &mut Arena,
        geometry: Geometry,
        position: u64,
        bytes: &[u8],
        mut next: impl FnMut() -> u32,
    ) {
        assert!(!bytes.is_empty(), "an empty write changes nothing");
        let end = position + bytes.len() as u64;
        assert!(end <= geometry.file_bytes_max(), "the caller checked the length");
        let length_before = self.length;
        if position > length_before {
            self.zero_before_gap(arena, geometry, position, &mut next);
        }
        let last = geometry.page_of(end - 1);
        if self.pages.len() <= last {
            self.pages.resize(last + 1, PageSlot::EMPTY);
        }
        let mut at = position;
        while at < end {
            let page = geometry.page_of(at);
            let within = geometry.within_page(at);
            let count = (geometry.page_bytes() - within as u64).min(end - at);
            let run = self.own_page(arena, geometry, page);
            let from = index(at - position);
            arena.page_mut(run)[within..within + index(count)]
                .copy_from_slice(&bytes[from..from + index(count)]);
            self.pages[page].is_dirty = true;
            at += count;
        }
        self.length = length_before.max(end);
        let change = self.change(arena, geometry, Change::Write, position, end, next());
        self.pending.push(Pending { length_before, ..change });
    }

    /// Changes the length in the cache and notes the pending changes. `next` gives sequence numbers.
    pub(super) fn set_length(
        &mut self,
        arena: &mut Arena,
        geometry: Geometry,
        length: u64,
        mut next: impl FnMut() -> u32,
    ) {
        assert!(length <= geometry.file_bytes_max(), "the caller checked the length");
        let length_before = self.length;
        if length < length_before {
            let page_end = geometry.page_start(geometry.page_of(length)) + geometry.page_bytes();
            self.zero(arena, geometry, length, page_end.min(length_before), &mut next);
            for slot in self.pages.iter_mut().skip(geometry.page_count(length)) {
                // Until the cut is durable the medium still holds the page, and reads must not see it.
                *slot = PageSlot { cached: Run::ZEROS, medium: slot.medium, is_dirty: true };
            }
        } else if length > length_before {
            self.zero_tail(arena, geometry, &mut next);
        }
        self.length = length;
        self.pending.push(Pending {
            sequence: next(),
            change: Change::SetLength,
            position: length.min(length_before),
            end: length.max(length_before),
            first_sector: 0,
            sectors: 0,
            contents: Run::NONE,
            length_before,
            length_after: length,
            landing: Landing::Whole,
            reach: Reach::Memory,
            length_reach: Reach::Memory,
            is_lied_about: false,
            is_committed: false,
            withheld: None,
        });
    }

    /// Zeroes what the last page holds behind the end, before the file grows over it.
    fn zero_tail(&mut self, arena: &mut Arena, geometry: Geometry, next: &mut impl FnMut() -> u32) {
        let page_end = self.length.next_multiple_of(geometry.page_bytes());
        self.zero(arena, geometry, self.length, page_end, next);
    }

    /// Zeroes what the last page holds behind the end, before the file grows over it by a write elsewhere. The page
    /// is written back once more, and some filesystems make the file end with it then.
    fn zero_before_gap(
        &mut self,
        arena: &mut Arena,
        geometry: Geometry,
        position: u64,
        next: &mut impl FnMut() -> u32,
    ) {
        let (start, page) = (self.length, geometry.page_of(self.length));
        let page_end = start.next_multiple_of(geometry.page_bytes());
        let has_page = self.pages.get(page).is_some_and(|slot| slot.visible().is_stored());
        if start == page_end || position < page_end || !has_page {
            self.zero_tail(arena, geometry, next);
            return;
        }
        let run = self.own_page(arena, geometry, page);
        arena.page_mut(run)[geometry.within_page(start)..].fill(0);
        self.pages[page].is_dirty = true;
        let change = self.change(arena, geometry, Change::TailZeros, start, page_end, next());
        self.pending.push(Pending { length_after: page_end, ..change });
    }

    /// Zeroes a range inside one page of the cache, unless it is zeros already, and notes the change.
    fn zero(
        &mut self,
        arena: &mut Arena,
        geometry: Geometry,
        start: u64,
        end: u64,
        next: &mut impl FnMut() -> u32,
    ) {
        let page = geometry.page_of(start);
        let Some(slot) = self.pages.get(page) else { return };
        if geometry.within_page(start) == 0 || !slot.visible().is_stored() {
            return;
        }
        let within = geometry.within_page(start)..geometry.within_page(end - 1) + 1;
        if arena.page(slot.visible())[within.clone()].iter().all(|&byte| byte == 0) {
            return;
        }
        let run = self.own_page(arena, geometry, page);
        arena.page_mut(run)[within].fill(0);
        self.pages[page].is_dirty = true;
        let change = self.change(arena, geometry, Change::TailZeros, start, end, next());
        self.pending.push(change);
    }

    /// The cached page as a run that this file alone may write. Bytes behind the end are zeros in it.
    fn own_page(&mut self, arena: &mut Arena, geometry: Geometry, page: usize) -> Run {
        let slot = self.pages[page];
        if slot.cached.is_stored() && slot.cached != slot.medium && !arena.is_frozen(slot.cached) {
            return slot.cached;
        }
        let source = slot.visible();
        let start = geometry.page_start(page);
        let run = if source.is_stored() && start < self.length {
            let valid = (self.length - start).min(geometry.page_bytes());
            let run = arena.allocate(geometry.sectors_per_page());
            arena.copy(source, run, geometry.sector_count(valid));
            arena.page_mut(run)[index(valid)..].fill(0);
            run
        } else {
            arena.allocate_zeroed(geometry.sectors_per_page())
        };
        self.pages[page].cached = run;
        run
    }

    /// The pending change for bytes `[position, end)`, with the cached contents of their sectors.
    fn change(
        &self,
        arena: &mut Arena,
        geometry: Geometry,
        change: Change,
        position: u64,
        end: u64,
        sequence: u32,
    ) -> Pending {
        let first_sector = geometry.sector_of(position);
        let sectors = geometry.sector_of(end - 1) - first_sector + 1;
        let per_page = geometry.sectors_per_page();
        let contents = arena.allocate(sectors);
        let mut done = 0;
        while done < sectors {
            let sector = first_sector + done;
            let within = sector % per_page;
            let count = (per_page - within).min(sectors - done);
            let run = self.pages[(sector / per_page) as usize].cached;
            assert!(run.is_stored(), "a page that was just written is cached");
            arena.copy(run.plus(within), contents.plus(done), count);
            done += count;
        }
        Pending {
            sequence,
            change,
            position,
            end,
            first_sector,
            sectors,
            contents,
            length_before: self.length,
            length_after: self.length,
            landing: Landing::Whole,
            reach: Reach::Memory,
            length_reach: Reach::Memory,
            is_lied_about: false,
            is_committed: false,
            withheld: None,
        }
    }
}
