//! Damage to the medium at a place, now: rot, bad sectors, misdirected and foreign bytes, wrong lengths.
//!
//! Promises: what is pending of the file is written back first, so that the damage stays until it is
//! overwritten; damage is a function of its place, so a retry does not heal it; where the filesystem
//! checksums data, damaged bytes read as `EIO`. Leaves out: which field of which batch it is.

use super::SimDisk;
use super::commit::NameScope;
use super::directory::DirectoryId;
use super::fault::{Cause, Effect, FaultId, FaultTally, Mark};
use super::file::{FileId, PageSlot};
use super::freed::{mix, noise};
use super::geometry::{index, narrow};
use super::pending::{Change, Pending};
use super::state::Disk;

/// What is done to a file's medium. A range is in bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage<'a> {
    /// One bit flips.
    FlipBit {
        /// Which byte.
        position: u64,
        /// Which bit, 0 the least significant.
        bit: u8,
    },
    /// Zeros. Past the end they make the file longer.
    Zero {
        /// The first byte.
        position: u64,
        /// How many.
        length: u64,
    },
    /// Noise, a function of the place. Past the end it makes the file longer.
    Noise {
        /// The first byte.
        position: u64,
        /// How many.
        length: u64,
    },
    /// Other bytes: foreign, stale, duplicate or misdirected ones. Past the end they make the file longer.
    Overwrite {
        /// The first byte.
        position: u64,
        /// What lies there afterwards.
        bytes: &'a [u8],
    },
    /// The sectors that hold these bytes cannot be read until they are written again.
    Unreadable {
        /// The first byte.
        position: u64,
        /// How many.
        length: u64,
    },
    /// The length is another one. A longer file reads as zeros behind its old end.
    Length {
        /// In bytes.
        length: u64,
    },
}

impl SimDisk {
    /// Damages a file's medium now, after what is pending of it was written back. Unless `keeps_cache`, the
    /// pages it touches leave the cache, so that the next read sees it. `None`: there is nothing at that
    /// place, which is counted as missed.
    pub fn damage(
        &self,
        file: FileId,
        damage: Damage<'_>,
        cause: Cause,
        keeps_cache: bool,
    ) -> Option<FaultId> {
        self.disk.borrow_mut().damage(file, damage, cause, keeps_cache)
    }

    /// Counts a fault that had no target.
    pub fn miss(&self, cause: Cause) {
        self.disk.borrow_mut().state.faults.miss(cause);
    }

    /// Counts of every kind of fault so far.
    pub fn fault_tally(&self) -> FaultTally {
        self.disk.borrow().state.faults.tally
    }

    /// Whether a storage call has met a fault.
    pub fn is_fault_read(&self, fault: FaultId) -> bool {
        self.disk.borrow().state.faults.is_read(fault)
    }

    /// Writes back what is pending of a file, as the kernel may at any time.
    pub fn write_back(&self, file: FileId) {
        self.disk.borrow_mut().write_back_for_good(file);
    }

    /// Drops a file's clean pages from the cache, diverged ones included. A write error that nobody was told
    /// of goes with them if nobody has the file open.
    pub fn evict(&self, file: FileId) {
        self.disk.borrow_mut().evict(file);
    }

    /// Drops every clean page from the cache.
    pub fn evict_all(&self) {
        let mut disk = self.disk.borrow_mut();
        for file in disk.state.file_ids() {
            disk.evict(file);
        }
    }

    /// How many choices a crash has about a file: its pending sector writes and changes of length.
    pub fn pending_elements(&self, file: FileId) -> u32 {
        self.disk.borrow().pending_elements(file)
    }

    /// The sectors that a file's pending elements write, in the order that a crash counts them; a change of
    /// length is `None`.
    pub fn pending_sectors(&self, file: FileId) -> Vec<Option<u32>> {
        self.disk.borrow().pending_sectors(file)
    }

    /// How many changes of names are pending.
    pub fn pending_names(&self) -> u32 {
        narrow(self.disk.borrow().state.name_changes.len() as u64)
    }

    /// Every file that was ever made on this disk, those that nothing leads to included.
    pub fn file_ids(&self) -> impl Iterator<Item = FileId> + use<> {
        self.disk.borrow().state.file_ids()
    }

    /// Gives the pool of freed blocks one more: an old block of a file in `home`, or of nobody here.
    pub fn add_freed_block(&self, home: Option<DirectoryId>, bytes: &[u8]) {
        let mut disk = self.disk.borrow_mut();
        let page_bytes = index(disk.geometry.page_bytes());
        assert!(bytes.len() <= page_bytes, "a block is at most a page");
        let per_page = disk.geometry.sectors_per_page();
        let run = disk.arena.allocate_zeroed(per_page);
        disk.arena.page_mut(run)[..bytes.len()].copy_from_slice(bytes);
        disk.state.freed.free(run, home.unwrap_or(DirectoryId(u32::MAX)));
    }

    /// Lets a byte on the medium go bad without counting a fault: for the self-check, which must find it.
    pub fn tamper(&self, file: FileId, position: u64) {
        self.disk.borrow_mut().tamper(file, position);
    }
}

impl Disk {
    /// Damages a file. `None`: there is nothing at that place, which is counted as missed.
    pub(super) fn damage(
        &mut self,
        id: FileId,
        damage: Damage<'_>,
        cause: Cause,
        keeps_cache: bool,
    ) -> Option<FaultId> {
        let file = self.state.file(id);
        let could_be_there = !file.is_released && self.is_there(damage, file.length.max(file.durable_length));
        if could_be_there {
            self.write_back_for_good(id);
        }
        // A fault may have kept the length from the medium, so it is asked again.
        if !could_be_there || !self.is_there(damage, self.state.file(id).durable_length) {
            self.state.faults.miss(cause);
            return None;
        }
        let fault = self.state.faults.apply(cause);
        match damage {
            Damage::FlipBit { position, bit } => {
                let mut byte = [0];
                self.read_medium(id, position, &mut byte);
                self.put(id, position, &[byte[0] ^ (1 << (bit % 8))], fault, keeps_cache);
            }
            Damage::Zero { position, length } => {
                self.put(id, position, &vec![0; index(length)], fault, keeps_cache);
            }
            Damage::Noise { position, length } => {
                let mut bytes = vec![0; index(length)];
                noise(mix(u64::from(id.number())) ^ position, &mut bytes);
                self.put(id, position, &bytes, fault, keeps_cache);
            }
            Damage::Overwrite { position, bytes } => self.put(id, position, bytes, fault, keeps_cache),
            Damage::Unreadable { position, length } => self.spoil(id, position, length, fault, keeps_cache),
            Damage::Length { length } => {
                self.set_durable_length(id, length);
                self.state.file_mut(id).is_marked = true;
                self.state.faults.mark_length(id, fault);
            }
        }
        Some(fault)
    }

    /// Whether there is something to damage in a file of this length.
    fn is_there(&self, damage: Damage<'_>, length: u64) -> bool {
        match damage {
            Damage::FlipBit { position, .. } => position < length,
            Damage::Unreadable { position, length: count } => position < length && count > 0,
            Damage::Zero { position, length: count } | Damage::Noise { position, length: count } => {
                count > 0 && self.is_in_range(position, count)
            }
            Damage::Overwrite { position, bytes } => {
                !bytes.is_empty() && self.is_in_range(position, bytes.len() as u64)
            }
            Damage::Length { length: wanted } => wanted != length && self.is_in_range(wanted, 0),
        }
    }

    fn is_in_range(&self, position: u64, length: u64) -> bool {
        position.checked_add(length).is_some_and(|end| end <= self.geometry.file_bytes_max())
    }

    /// Writes back what is pending of a file, as the kernel may at any time, with the names that its journal
    /// commits on the way.
    pub(super) fn write_back_for_good(&mut self, id: FileId) {
        if self.state.file(id).pending.is_empty() {
            return;
        }
        let scope = self.scope_of_file_sync(id);
        self.write_back(id);
        if matches!(scope, NameScope::UpTo(_)) {
            self.commit_names(scope);
        }
    }

    /// Puts bytes onto the medium.
    fn put(&mut self, id: FileId, position: u64, bytes: &[u8], fault: FaultId, keeps_cache: bool) {
        let end = position + bytes.len() as u64;
        if end > self.state.file(id).durable_length {
            let visible = self.state.file(id).length;
            self.set_durable_length(id, end);
            self.state.file_mut(id).length = visible.max(end);
            self.state.faults.mark_length(id, fault);
        }
        let count = self.geometry.page_count(end);
        if self.state.file(id).pages.len() < count {
            self.state.file_mut(id).pages.resize(count, PageSlot::EMPTY);
        }
        let pages = self.geometry.page_of(position)..self.geometry.page_count(end);
        let per_page = self.geometry.sectors_per_page();
        for page in pages {
            if !self.state.file(id).pages[page].medium.is_stored() {
                let run = self.arena.allocate_zeroed(per_page);
                self.state.file_mut(id).pages[page].medium = run;
            }
        }
        self.overwrite_medium(id, position, bytes, Some(fault), !keeps_cache);
    }

    /// Makes sectors unreadable.
    fn spoil(&mut self, id: FileId, position: u64, length: u64, fault: FaultId, keeps_cache: bool) {
        let end = position.saturating_add(length).min(self.state.file(id).durable_length);
        let sector_bytes = self.geometry.sector_bytes();
        let start = position - position % sector_bytes;
        let end = end.next_multiple_of(sector_bytes);
        for page in self.geometry.page_of(start)..self.geometry.page_count(end) {
            if keeps_cache {
                // The cached page is one of its own from here on, so that it hides the medium.
                self.own_medium_page(id, page);
            } else if page < self.state.file(id).pages.len() {
                self.drop_page(id, page);
            }
        }
        self.forget_stamps(id, start, end);
        self.add_mark(Mark { file: id, start, end, effect: Effect::Unreadable, fault });
    }

    /// Changes a file's length, visible and durable.
    pub(super) fn set_durable_length(&mut self, id: FileId, length: u64) {
        let pages = self.geometry.page_count(length);
        let within = self.geometry.within_page(length);
        let home = self.state.file(id).home;
        if length < self.state.file(id).durable_length
            && within != 0
            && let Some(run) = self.own_medium_page(id, pages - 1)
        {
            self.arena.page_mut(run)[within..].fill(0);
            self.drop_page(id, pages - 1);
        }
        let file = self.state.file_mut(id);
        let mut cut = Vec::new();
        if length < file.durable_length {
            cut.extend(file.pages.drain(pages.min(file.pages.len())..).map(|slot| slot.medium));
        }
        file.length = length;
        file.durable_length = length;
        for run in cut {
            self.state.freed.free(run, home);
        }
        self.stamps.forget(id, self.geometry.sector_of(length), u32::MAX);
    }

    /// Lets bytes on the medium go bad without a trace: no fault is counted. For the self-check, which must
    /// find it.
    pub(super) fn tamper(&mut self, id: FileId, position: u64) {
        let mut byte = [0];
        self.read_medium(id, position, &mut byte);
        if let Some(run) = self.own_medium_page(id, self.geometry.page_of(position)) {
            self.arena.page_mut(run)[self.geometry.within_page(position)] = byte[0] ^ 1;
        }
    }

    /// Pending sector writes and changes of length of a file, as a crash counts them.
    pub(super) fn pending_elements(&self, id: FileId) -> u32 {
        self.state.file(id).pending.iter().map(Pending::elements).sum()
    }

    /// The sectors that a file's pending elements write, in the order a crash counts them; a change of
    /// length is `None`.
    pub(super) fn pending_sectors(&self, id: FileId) -> Vec<Option<u32>> {
        let mut sectors = Vec::new();
        for change in &self.state.file(id).pending {
            match change.change {
                Change::Write | Change::TailZeros => {
                    let range = change.first_sector..change.first_sector + change.sectors;
                    sectors.extend(range.map(Some));
                }
                Change::SetLength => sectors.push(None),
            }
        }
        sectors
    }
}
