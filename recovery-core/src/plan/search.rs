//! Looks through every fence of the partition for copies that an earlier run made, and chooses the fence
//! that the others go to.
//!
//! Promises: a copy counts only if it has the right name, length and checksum, and is durable by then; the
//! fence chosen is the lowest that is free or holds nothing but copies, so a crash loop uses up no names
//! (N03). Leaves out: writing anything into a fence.

use super::copies::{Copies, Place};
use super::fence::{Fence, Fences};
use super::range::{Range, slice_bytes};
use super::reason_file;
use super::site::Site;
use crate::format::{CopyName, FenceName, FileName, Hasher};
use crate::storage::{Call, EntryKind, Errno, Name, Storage, StorageError, exact};
use crate::units::Position;

/// The fence that is being looked through.
struct Visit<S: Storage> {
    fence: Fence<S>,
    /// Indexes of copies whose name is there and whose bytes are not looked at yet.
    named: Vec<usize>,
    is_used: bool,
    reading: Option<(usize, Range<S>)>,
}

/// A search under way.
pub(super) struct Searching<S: Storage> {
    /// The copies that are looked for, by name.
    wanted: Vec<(CopyName, usize)>,
    /// Directories beside the partition that are not looked through yet, the first one last.
    unvisited: Vec<Name>,
    /// Numbers that no copy may go to, ascending as far as fences were visited.
    taken: Vec<u64>,
    /// Numbers of fences that are there.
    present: Vec<u64>,
    visit: Option<Visit<S>>,
    hasher: Hasher,
}

impl<S: Storage> Searching<S> {
    /// Lists what lies beside the partition.
    pub(super) fn start(site: Site<'_, S>, copies: &Copies) -> Result<Self, StorageError> {
        let partition = &site.partition.name;
        let (mut unvisited, mut taken) = (Vec::new(), Vec::new());
        exact::uninterrupted(|| {
            unvisited.clear();
            taken.clear();
            site.storage.list(&site.partition.parent, &mut |name, kind| match kind {
                EntryKind::Directory if FenceName::is_beside(partition, name) => unvisited.push(*name),
                EntryKind::Directory | EntryKind::File | EntryKind::Other => {
                    taken.extend(FenceName::parse(partition, name).map(|fence| fence.number));
                }
            })
        })?;
        unvisited.sort_by_key(|name| (FenceName::parse(partition, name), *name));
        unvisited.reverse();
        let wanted = copies.missing_by_name();
        let hasher = Hasher::new();
        Ok(Self { wanted, unvisited, taken, present: Vec::new(), visit: None, hasher })
    }

    /// Does one slice; says whether every copy has its place by then.
    pub(super) fn advance(
        &mut self,
        site: Site<'_, S>,
        copies: &mut Copies,
        fences: &mut Fences<S>,
        scratch: &mut [u8],
        limit: u64,
    ) -> Result<bool, StorageError> {
        if self.visit.is_some() {
            self.read_copy(site, copies, fences, scratch, limit)?;
            return Ok(false);
        }
        match self.unvisited.pop() {
            Some(name) => self.enter(site, &name).map(|()| false),
            None => self.choose(site, copies, fences).map(|()| true),
        }
    }

    /// Lists one fence.
    fn enter(&mut self, site: Site<'_, S>, name: &Name) -> Result<(), StorageError> {
        let fence = Fence::open(site, name)?;
        let listed = self.list(site, &fence);
        let (named, is_ours) = match listed {
            Ok(listed) => listed,
            Err(error) => {
                fence.close(site.storage);
                return Err(error);
            }
        };
        if let Some(FenceName { number }) = FenceName::parse(&site.partition.name, name) {
            let numbers = if is_ours { &mut self.present } else { &mut self.taken };
            numbers.push(number);
        }
        self.visit = Some(Visit { fence, named, is_used: false, reading: None });
        Ok(())
    }

    /// Which of the wanted names are there, and whether the fence holds copies and nothing else.
    fn list(&self, site: Site<'_, S>, fence: &Fence<S>) -> Result<(Vec<usize>, bool), StorageError> {
        let reason = FileName::reason();
        let (mut named, mut is_ours, mut has_reason) = (Vec::new(), true, false);
        exact::uninterrupted(|| {
            named.clear();
            (is_ours, has_reason) = (true, false);
            site.storage.list(&fence.directory, &mut |name, kind| {
                let copy = CopyName::parse(name);
                let is_known = copy.is_some() || CopyName::is_staging(name) || reason_file::is_reason(name);
                is_ours &= is_known && kind == EntryKind::File;
                has_reason |= *name == reason;
                let found = copy.and_then(|copy| self.find(&copy)).filter(|_| kind == EntryKind::File);
                named.extend(found);
            })
        })?;
        named.sort_unstable();
        if is_ours && has_reason {
            is_ours = reason_file::takes_more(site, fence)?;
        }
        Ok((named, is_ours))
    }

    fn find(&self, name: &CopyName) -> Option<usize> {
        let at = self.wanted.binary_search_by_key(name, |(wanted, _)| *wanted);
        at.map_or(None, |at| Some(self.wanted[at].1))
    }

    /// Reads a slice of a file that has the name of a wanted copy, or leaves the fence after the last.
    fn read_copy(
        &mut self,
        site: Site<'_, S>,
        copies: &mut Copies,
        fences: &mut Fences<S>,
        scratch: &mut [u8],
        limit: u64,
    ) -> Result<(), StorageError> {
        let visit = self.visit.as_mut().expect("a fence is being looked through");
        let Some((index, range)) = &mut visit.reading else {
            return self.read_next(site, copies, fences);
        };
        let count = slice_bytes(limit, 2, scratch.len());
        let bytes = range.read(site.storage, &mut scratch[..count])?;
        self.hasher.update(bytes);
        if !range.is_read() {
            return Ok(());
        }
        let copy = copies.get_mut(*index);
        if self.hasher.finish() == copy.expect_name().checksum() {
            // Whoever put it there may have died before it was durable.
            site.storage.sync(&range.file)?;
            copy.place = Place::Found(fences.len());
            visit.is_used = true;
        }
        if let Some((_, range)) = visit.reading.take() {
            range.close(site.storage);
        }
        Ok(())
    }

    fn read_next(
        &mut self,
        site: Site<'_, S>,
        copies: &Copies,
        fences: &mut Fences<S>,
    ) -> Result<(), StorageError> {
        let visit = self.visit.as_mut().expect("a fence is being looked through");
        if let Some(index) = visit.named.pop() {
            let copy = copies.get(index);
            let name = copy.expect_name();
            if copy.place == Place::Missing {
                let directory = &visit.fence.directory;
                let range = Range::open(site, directory, &name.name(), Position::ZERO, None)?;
                if range.length() == name.length() {
                    self.hasher.reset();
                    visit.reading = Some((index, range));
                } else {
                    range.close(site.storage);
                }
            }
            return Ok(());
        }
        if let Some(Visit { fence, is_used, .. }) = self.visit.take() {
            if is_used {
                fences.push(fence);
            } else {
                fence.close(site.storage);
            }
        }
        Ok(())
    }

    /// Finds a fence for what is in none, and makes the names of all fences in use durable.
    fn choose(
        &mut self,
        site: Site<'_, S>,
        copies: &mut Copies,
        fences: &mut Fences<S>,
    ) -> Result<(), StorageError> {
        if copies.any_missing() {
            self.taken.sort_unstable();
            let mut number = 0;
            // Each pass that goes on has found one more of the numbers that are taken.
            while self.taken.binary_search(&number).is_ok() {
                number += 1;
            }
            let partition = &site.partition.name;
            let too_long =
                StorageError { call: Call::MakeDirectory, file: *partition, errno: Errno::NAME_TOO_LONG };
            let name = FenceName { number }.name(partition).ok_or(too_long)?;
            let index = match fences.index_of(&name) {
                Some(index) => index,
                None if self.present.contains(&number) => fences.push(Fence::open(site, &name)?),
                None => fences.push(Fence::make(site, &name)?),
            };
            copies.assign_missing(index);
        }
        // Before anything is cut (N01), and even if every fence was there: an earlier run may have died before
        // this. A search is begun where a copy is missing, and each copy ends in a fence: there is one.
        site.storage.sync_directory(&site.partition.parent)
    }

    pub(super) fn close(self, storage: &S) {
        if let Some(Visit { fence, reading, .. }) = self.visit {
            if let Some((_, range)) = reading {
                range.close(storage);
            }
            fence.close(storage);
        }
    }
}
