//! Changes that go through the filesystem and not through the core: the operator's hand, and names that
//! come and go although their directory was synced.
//!
//! Promises: a change here is durable and visible at once; bytes put down here are checksummed like any
//! others. Leaves out: which file an operator would take.

use recovery_core::storage::Name;

use super::SimDisk;
use super::arena::Run;
use super::directory::{DirectoryId, Node, Reach, find, set};
use super::fault::{Cause, FaultId};
use super::file::{FileId, PageSlot, WritebackError};
use super::geometry::index;
use super::name_table::NameId;
use super::place::View;
use super::state::Disk;

/// What a name that nobody of ours made leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stray<'a> {
    /// A file with these bytes.
    File(&'a [u8]),
    /// An empty directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A FIFO, socket or device.
    Special,
}

impl SimDisk {
    /// Takes a name away, in both views. `None`: there is none, which is counted as missed.
    pub fn take_name(&self, directory: DirectoryId, name: &Name, cause: Cause) -> Option<FaultId> {
        self.disk.borrow_mut().take_name(directory, name, cause)
    }

    /// Moves a name, in both views, over whatever has the new one. `None`: there is none.
    pub fn move_name(
        &self,
        from: (DirectoryId, &Name),
        to: (DirectoryId, &Name),
        cause: Cause,
    ) -> Option<FaultId> {
        self.disk.borrow_mut().move_name(from, to, cause)
    }

    /// Brings back what a name led to before it was last removed or replaced. `None`: nothing, or it still
    /// does.
    pub fn undo_unlink(&self, directory: DirectoryId, name: &Name, cause: Cause) -> Option<FaultId> {
        self.disk.borrow_mut().undo_unlink(directory, name, cause)
    }

    /// Undoes the last rename from or to a name. `None`: there was none, or the new name leads elsewhere by
    /// now.
    pub fn undo_rename(&self, directory: DirectoryId, name: &Name, cause: Cause) -> Option<FaultId> {
        self.disk.borrow_mut().undo_rename(directory, name, cause)
    }

    /// Puts a name down that nobody of ours made. `None`: it is taken.
    pub fn put_stray(
        &self,
        directory: DirectoryId,
        name: &Name,
        stray: Stray<'_>,
        cause: Cause,
    ) -> Option<FaultId> {
        self.disk.borrow_mut().put_stray(directory, name, stray, cause)
    }

    /// Puts a file down, durable and whole, over whatever file has the name. `None`: the name is no file's.
    pub fn put_file(
        &self,
        directory: DirectoryId,
        name: &Name,
        bytes: &[u8],
        cause: Cause,
    ) -> Option<FaultId> {
        self.disk.borrow_mut().put_file(directory, name, bytes, cause)
    }

    /// Puts a file back as it was when the node last went down or was told to
    /// [remember](SimDisk::remember). `None`: there was no such file, or it still is the same.
    pub fn put_back(&self, directory: DirectoryId, name: &Name, cause: Cause) -> Option<FaultId> {
        self.disk.borrow_mut().put_back(directory, name, cause)
    }

    /// Remembers every file as it is now, for [`SimDisk::put_back`]. A restart does so by itself.
    pub fn remember(&self) {
        self.disk.borrow_mut().remember();
    }

    /// Lists entries in another order from here on; 0 is the order in which they were made.
    pub fn set_listing_order(&self, order: u64, cause: Cause) -> FaultId {
        self.disk.borrow_mut().set_listing_order(order, cause)
    }

    /// Lets opening something fail with `EACCES`, or lets it be opened again.
    pub fn deny(&self, node: Node, is_denied: bool) {
        self.disk.borrow_mut().deny(node, is_denied);
    }

    /// Lets changing calls fail with `EROFS`, or lets them pass again.
    pub fn set_read_only(&self, is_read_only: bool) {
        self.disk.borrow_mut().state.health.is_read_only = is_read_only;
    }

    /// Leaves that many free pages; `None`: enough. Writes that need more are cut short, then fail with
    /// `ENOSPC`.
    pub fn set_free_pages(&self, pages: Option<u64>) {
        self.disk.borrow_mut().state.limits.pages_free = pages;
    }

    /// Lets the process have that many descriptors; `None`: enough. Beyond it opening fails with `EMFILE`.
    pub fn set_descriptors_max(&self, descriptors: Option<u32>) {
        self.disk.borrow_mut().state.limits.descriptors = descriptors;
    }
}

impl Disk {
    /// Makes a name lead to something in both views, or to nothing.
    fn set_name(&mut self, directory: DirectoryId, name: NameId, node: Option<Node>) {
        let mut held = 0;
        self.state.name_changes.retain(|change| {
            let is_same = change.directory == directory && change.name == name;
            held += u32::from(is_same && change.reach == Reach::Device);
            !is_same
        });
        self.state.device_held -= held;
        for view in [View::Visible, View::Durable] {
            if let Some(Node::File(file)) = find(self.entries(directory, view), name) {
                self.state.file_mut(file).has_lost_name = true;
            }
        }
        let parent = self.state.directory_mut(directory);
        set(&mut parent.entries, name, node);
        set(&mut parent.durable, name, node);
        match node {
            Some(Node::File(file)) => self.state.file_mut(file).is_released = false,
            Some(Node::Directory(child)) => {
                let child = self.state.directory_mut(child);
                child.is_removed = false;
                child.parent = directory;
                child.name = name;
            }
            Some(Node::Link | Node::Special) | None => {}
        }
    }

    fn applied(&mut self, cause: Cause, directory: DirectoryId, name: NameId) -> FaultId {
        let fault = self.state.faults.apply(cause);
        self.state.faults.mark_name(directory, Some(name), fault);
        fault
    }

    fn missed(&mut self, cause: Cause) -> Option<FaultId> {
        self.state.faults.miss(cause);
        None
    }

    /// Takes a name away. `None`: there is none.
    pub(super) fn take_name(&mut self, directory: DirectoryId, name: &Name, cause: Cause) -> Option<FaultId> {
        let Some(node) = self.entry(directory, name.as_bytes(), View::Visible) else {
            return self.missed(cause);
        };
        let name = self.state.names.intern(name.as_bytes());
        self.set_name(directory, name, None);
        match node {
            Node::File(file) => self.release_if_orphan(file),
            Node::Directory(child) => self.state.directory_mut(child).is_removed = true,
            Node::Link | Node::Special => {}
        }
        Some(self.applied(cause, directory, name))
    }

    /// Moves a name. `None`: there is none.
    pub(super) fn move_name(
        &mut self,
        (from_directory, from): (DirectoryId, &Name),
        (to_directory, to): (DirectoryId, &Name),
        cause: Cause,
    ) -> Option<FaultId> {
        let Some(node) = self.entry(from_directory, from.as_bytes(), View::Visible) else {
            return self.missed(cause);
        };
        let from = self.state.names.intern(from.as_bytes());
        let to = self.state.names.intern(to.as_bytes());
        self.set_name(from_directory, from, None);
        self.set_name(to_directory, to, Some(node));
        let fault = self.applied(cause, from_directory, from);
        self.state.faults.mark_name(to_directory, Some(to), fault);
        Some(fault)
    }

    /// Brings back what a name led to before it was last removed or replaced. `None`: nothing, or it still
    /// does.
    pub(super) fn undo_unlink(
        &mut self,
        directory: DirectoryId,
        name: &Name,
        cause: Cause,
    ) -> Option<FaultId> {
        let Some(id) = self.state.names.find(name.as_bytes()) else { return self.missed(cause) };
        let removed = self
            .state
            .history
            .removed
            .iter()
            .rev()
            .find(|past| past.directory == directory && past.name == id);
        let node = removed.map(|past| past.node);
        let is_news = node.is_some() && node != self.state.directory(directory).find(id);
        let Some(node) = node.filter(|_| is_news) else { return self.missed(cause) };
        self.set_name(directory, id, Some(node));
        Some(self.applied(cause, directory, id))
    }

    /// Undoes the last rename from or to a name: the old name leads there again, and the new one to what it
    /// led to before, or to nothing. `None`: there was none, or the new name leads elsewhere by now.
    pub(super) fn undo_rename(
        &mut self,
        directory: DirectoryId,
        name: &Name,
        cause: Cause,
    ) -> Option<FaultId> {
        let Some(id) = self.state.names.find(name.as_bytes()) else { return self.missed(cause) };
        let past = self.state.history.renamed.iter().rev().find(|past| {
            (past.from_directory == directory && past.from == id)
                || (past.to_directory == directory && past.to == id)
        });
        let Some(past) = past.copied() else { return self.missed(cause) };
        if self.state.directory(past.to_directory).find(past.to) != Some(past.node) {
            return self.missed(cause);
        }
        self.set_name(past.to_directory, past.to, past.replaced);
        self.set_name(past.from_directory, past.from, Some(past.node));
        let fault = self.applied(cause, past.from_directory, past.from);
        self.state.faults.mark_name(past.to_directory, Some(past.to), fault);
        Some(fault)
    }

    /// Puts a name down that nobody of ours made. `None`: the name is taken.
    pub(super) fn put_stray(
        &mut self,
        directory: DirectoryId,
        name: &Name,
        stray: Stray<'_>,
        cause: Cause,
    ) -> Option<FaultId> {
        if self.entry(directory, name.as_bytes(), View::Visible).is_some() {
            return self.missed(cause);
        }
        let id = self.state.names.intern(name.as_bytes());
        let node = match stray {
            Stray::File(bytes) => Node::File(self.new_durable_file(directory, id, bytes)),
            Stray::Directory => Node::Directory(self.state.new_directory(id, directory)),
            Stray::Link => Node::Link,
            Stray::Special => Node::Special,
        };
        self.set_name(directory, id, Some(node));
        Some(self.applied(cause, directory, id))
    }

    /// Puts a file down, over whatever file has the name, as a new file.
    pub(super) fn put_file(
        &mut self,
        directory: DirectoryId,
        name: &Name,
        bytes: &[u8],
        cause: Cause,
    ) -> Option<FaultId> {
        let old = self.entry(directory, name.as_bytes(), View::Visible);
        if !matches!(old, None | Some(Node::File(_))) {
            return self.missed(cause);
        }
        let id = self.state.names.intern(name.as_bytes());
        let file = self.new_durable_file(directory, id, bytes);
        self.set_name(directory, id, Some(Node::File(file)));
        if let Some(Node::File(old)) = old {
            self.release_if_orphan(old);
        }
        Some(self.applied(cause, directory, id))
    }

    /// A file with these bytes on the medium.
    pub(super) fn new_durable_file(&mut self, home: DirectoryId, name: NameId, bytes: &[u8]) -> FileId {
        let length = bytes.len() as u64;
        assert!(length <= self.geometry.file_bytes_max(), "the file is as long as a file may be");
        let id = self.state.new_file(name, home);
        for page in bytes.chunks(index(self.geometry.page_bytes())) {
            let run = self.arena.allocate_zeroed(self.geometry.sectors_per_page());
            self.arena.page_mut(run)[..page.len()].copy_from_slice(page);
            self.state.file_mut(id).pages.push(PageSlot { medium: run, ..PageSlot::EMPTY });
        }
        let file = self.state.file_mut(id);
        file.length = length;
        file.durable_length = length;
        id
    }

    /// Puts a file back as it was when the node last went down, under the name it had. `None`: there was no
    /// such file, or it still is the same.
    pub(super) fn put_back(&mut self, directory: DirectoryId, name: &Name, cause: Cause) -> Option<FaultId> {
        let Some(id) = self.state.names.find(name.as_bytes()) else { return self.missed(cause) };
        let kept = self.state.history.kept.iter().find(|kept| kept.directory == directory && kept.name == id);
        let Some(kept) = kept.copied() else { return self.missed(cause) };
        let runs: Vec<Run> = self.state.history.pages[kept.first_page..kept.first_page + kept.pages].to_vec();
        let file = self.state.file(kept.file);
        let is_same_page = |(slot, run): (&PageSlot, &Run)| {
            let now = slot.visible();
            now == *run
                || (now.is_stored() && run.is_stored() && self.arena.page(now) == self.arena.page(*run))
        };
        let is_same = self.state.directory(directory).find(id) == Some(Node::File(kept.file))
            && file.length == kept.length
            && file.pages.len() == runs.len()
            && file.pages.iter().zip(&runs).all(is_same_page);
        if is_same {
            return self.missed(cause);
        }
        // A file of its own, as a copy from a backup is: descriptors of the one it replaces keep that.
        let copy = self.state.new_file(id, directory);
        let file = self.state.file_mut(copy);
        file.pages.extend(runs.into_iter().map(|medium| PageSlot { medium, ..PageSlot::EMPTY }));
        file.length = kept.length;
        file.durable_length = kept.length;
        file.error = WritebackError::NONE;
        let old = self.state.directory(directory).find(id);
        self.set_name(directory, id, Some(Node::File(copy)));
        if let Some(Node::File(old)) = old {
            self.release_if_orphan(old);
        }
        Some(self.applied(cause, directory, id))
    }

    /// Lists entries in another order from here on.
    pub(super) fn set_listing_order(&mut self, order: u64, cause: Cause) -> FaultId {
        self.state.listing_order = order;
        let fault = self.state.faults.apply(cause);
        for directory in self.state.directory_ids() {
            self.state.faults.mark_name(directory, None, fault);
        }
        fault
    }

    /// Lets opening something fail with `EACCES`, or lets it be opened again.
    pub(super) fn deny(&mut self, node: Node, is_denied: bool) {
        match node {
            Node::File(file) => self.state.file_mut(file).is_denied = is_denied,
            Node::Directory(directory) => self.state.directory_mut(directory).is_denied = is_denied,
            Node::Link | Node::Special => {}
        }
    }
}
