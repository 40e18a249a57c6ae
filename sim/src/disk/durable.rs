//! Whether something is in *every* crash state, answered without enumerating them.
//!
//! Promises: `Ok` means that whatever survives of what is pending, the names lead to the file, it is long
//! enough, and the bytes are those that reads see now. Leaves out: faults of the medium that are yet to
//! come, and unreadable sectors that a retry would not heal either.

use std::ops::Range;

use recovery_core::storage::Name;
use thiserror::Error;

use super::SimDisk;
use super::arena::Run;
use super::directory::{DirectoryId, Node, find};
use super::fault::Effect;
use super::file::FileId;
use super::geometry::index;
use super::pending::{Change, Landing, Pending};
use super::place::View;
use super::state::Disk;

/// Why something would be missing in some crash state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Exposed {
    /// No name leads there now.
    #[error("nothing is called that")]
    Absent,
    /// A name on the way is not durable, or may still change.
    #[error("the name of {} is not durable", describe(*node))]
    Name {
        /// What the name leads to.
        node: Node,
    },
    /// Some crash state has the file shorter.
    #[error("the file may be {length} bytes long, and byte {end} is its last one needed")]
    Length {
        /// Its shortest length.
        length: u64,
        /// One behind the last byte asked about.
        end: u64,
    },
    /// Some crash state has the file longer.
    #[error("the file may be {length} bytes long again, and ends at byte {end} now")]
    Longer {
        /// Its longest length.
        length: u64,
        /// Its length.
        end: u64,
    },
    /// Some crash state has other bytes.
    #[error("byte {position} may be another one")]
    Bytes {
        /// The first page, or the first byte of a pending write, where it shows.
        position: u64,
    },
    /// A sector cannot be read.
    #[error("byte {position} cannot be read")]
    Unreadable {
        /// Where its mark starts.
        position: u64,
    },
}

fn describe(node: Node) -> &'static str {
    match node {
        Node::File(_) => "the file",
        Node::Directory(_) => "a directory above it",
        Node::Link | Node::Special => "the entry",
    }
}

impl SimDisk {
    /// Whether the name of a file, those of the directories above it, its length and a range of its bytes
    /// are in every crash state as reads see them now.
    ///
    /// # Errors
    ///
    /// The first thing found that some crash state lacks.
    pub fn is_durable(&self, directory: DirectoryId, name: &Name, range: Range<u64>) -> Result<(), Exposed> {
        self.disk.borrow().is_durable(directory, name.as_bytes(), range)
    }

    /// The length that a crash leaves of a file that is longer, where nothing is on its way that would make it so: a sync
    /// that failed has dropped that, and no later one brings it back (FAULT_MODEL 2.6, XFS).
    pub fn dropped_length(&self, directory: DirectoryId, name: &Name) -> Option<u64> {
        let disk = self.disk.borrow();
        let Some(Node::File(id)) = disk.entry(directory, name.as_bytes(), View::Visible) else { return None };
        let file = disk.state.file(id);
        (file.pending.is_empty() && file.durable_length < file.length).then_some(file.durable_length)
    }

    /// The same of all of a file: no crash state has it longer, either.
    ///
    /// # Errors
    ///
    /// As [`SimDisk::is_durable`], and [`Exposed::Longer`].
    pub fn is_file_durable(&self, directory: DirectoryId, name: &Name) -> Result<(), Exposed> {
        let disk = self.disk.borrow();
        let node = disk.entry(directory, name.as_bytes(), View::Visible).ok_or(Exposed::Absent)?;
        let Node::File(file) = node else { return disk.is_name_durable(directory, name.as_bytes()) };
        let (end, length) = (disk.length_of(file, View::Visible), disk.longest_length(file));
        disk.is_durable(directory, name.as_bytes(), 0..end)?;
        if length > end { Err(Exposed::Longer { length, end }) } else { Ok(()) }
    }

    /// Whether a name, and those of the directories above it, lead in every crash state to what they lead
    /// to now, if only to nothing.
    ///
    /// # Errors
    ///
    /// The first name found that some crash state lacks, or has although it is gone now.
    pub fn is_name_durable(&self, directory: DirectoryId, name: &Name) -> Result<(), Exposed> {
        self.disk.borrow().is_name_durable(directory, name.as_bytes())
    }

    /// Whether a range of a file is in every crash state as reads see it now, names apart.
    ///
    /// # Errors
    ///
    /// As [`SimDisk::is_durable`].
    pub fn are_bytes_durable(&self, file: FileId, range: Range<u64>) -> Result<(), Exposed> {
        self.disk.borrow().are_bytes_durable(file, range)
    }
}

impl Disk {
    /// The longest that a file may be after a crash.
    fn longest_length(&self, id: FileId) -> u64 {
        let file = self.state.file(id);
        file.pending.iter().map(|change| change.length_after).fold(file.durable_length, u64::max)
    }

    /// Whether a file, the names that lead to it, and a range of its bytes are in every crash state.
    pub(super) fn is_durable(
        &self,
        directory: DirectoryId,
        name: &[u8],
        range: Range<u64>,
    ) -> Result<(), Exposed> {
        let node = self.entry(directory, name, View::Visible).ok_or(Exposed::Absent)?;
        self.is_name_durable(directory, name)?;
        match node {
            Node::File(id) => self.are_bytes_durable(id, range),
            Node::Directory(_) | Node::Link | Node::Special => Ok(()),
        }
    }

    /// Whether a name, and those of the directories above it, lead to what they lead to now in every crash
    /// state. A name that leads to nothing now must do so in every crash state.
    pub(super) fn is_name_durable(&self, directory: DirectoryId, name: &[u8]) -> Result<(), Exposed> {
        let mut at = directory;
        // Each pass goes up by one directory, so their number bounds the loop.
        for _ in 0..self.state.directories().len() {
            if at == DirectoryId::ROOT {
                break;
            }
            let node = self.state.directory(at);
            self.is_entry_durable(node.parent, node.name)?;
            at = node.parent;
        }
        match self.state.names.find(name) {
            Some(name) => self.is_entry_durable(directory, name),
            None => Ok(()),
        }
    }

    fn is_entry_durable(
        &self,
        directory: DirectoryId,
        name: super::name_table::NameId,
    ) -> Result<(), Exposed> {
        let node = self.state.directory(directory);
        let (visible, durable) = (find(&node.entries, name), find(&node.durable, name));
        let is_pending =
            self.state.name_changes.iter().any(|change| change.directory == directory && change.name == name);
        if visible == durable && !is_pending {
            return Ok(());
        }
        match visible.or(durable) {
            Some(node) => Err(Exposed::Name { node }),
            // Made and removed again, and neither is durable.
            None => Err(Exposed::Absent),
        }
    }

    /// Whether a range of a file is in every crash state, names apart.
    pub(super) fn are_bytes_durable(&self, id: FileId, range: Range<u64>) -> Result<(), Exposed> {
        let file = self.state.file(id);
        let cut = file.pending.iter().filter(|change| change.change == Change::SetLength);
        let shortest = cut.map(|change| change.length_after).fold(file.durable_length, u64::min);
        let length = shortest.min(file.length);
        if length < range.end {
            return Err(Exposed::Length { length, end: range.end });
        }
        if range.is_empty() {
            return Ok(());
        }
        for mark in self.state.faults.marks.iter().filter(|mark| mark.file == id) {
            let is_hit = mark.start < range.end && range.start < mark.end;
            if is_hit && mark.effect == Effect::Unreadable {
                return Err(Exposed::Unreadable { position: mark.start });
            }
        }
        for page in self.geometry.page_of(range.start)..=self.geometry.page_of(range.end - 1) {
            self.is_page_durable(id, page, &range)?;
        }
        for change in &file.pending {
            self.is_change_harmless(id, change, &range)?;
        }
        Ok(())
    }

    /// Whether the medium has the bytes of a page that reads see.
    fn is_page_durable(&self, id: FileId, page: usize, range: &Range<u64>) -> Result<(), Exposed> {
        let Some(slot) = self.state.file(id).pages.get(page) else { return Ok(()) };
        if slot.visible() == slot.medium {
            return Ok(());
        }
        let page_start = self.geometry.page_start(page);
        let start = range.start.max(page_start);
        let within = index(start - page_start)
            ..index(range.end.min(page_start + self.geometry.page_bytes()) - page_start);
        let (visible, medium) = (slot.visible(), slot.medium);
        let is_zeros = |run: Run| self.arena.page(run)[within.clone()].iter().all(|&byte| byte == 0);
        let is_same = match (visible.is_stored(), medium.is_stored()) {
            (true, true) => {
                self.arena.page(visible)[within.clone()] == self.arena.page(medium)[within.clone()]
            }
            (true, false) => is_zeros(visible),
            (false, true) => is_zeros(medium),
            (false, false) => true,
        };
        if is_same { Ok(()) } else { Err(Exposed::Bytes { position: start }) }
    }

    /// Whether a pending change leaves a range as reads see it, landed or not.
    fn is_change_harmless(&self, id: FileId, change: &Pending, range: &Range<u64>) -> Result<(), Exposed> {
        let (start, end) = (change.position.max(range.start), change.end.min(range.end));
        if change.change == Change::SetLength || start >= end || change.landing == Landing::Lost {
            return Ok(());
        }
        let base = self.geometry.sector_start(change.first_sector);
        let version =
            &self.arena.sectors(change.contents, change.sectors)[index(start - base)..index(end - base)];
        let mut visible = vec![0; version.len()];
        self.read_visible(id, start, &mut visible);
        if version == visible { Ok(()) } else { Err(Exposed::Bytes { position: start }) }
    }
}
