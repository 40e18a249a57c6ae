//! Looking at a disk from outside: what is where, in the view of reads or on the medium.
//!
//! Promises: nothing here is a storage call; nothing is counted, cached or recorded. Leaves out: changing
//! anything.

use std::fmt::Write;
use std::ops::Range;

use recovery_core::storage::Name;
use xxhash_rust::xxh3::Xxh3;

use super::SimDisk;
use super::directory::{DirectoryId, Entry, Node, find};
use super::file::FileId;
use super::geometry::{Geometry, index};
use super::state::Disk;

/// Which view of the disk is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// What storage calls see now.
    Visible,
    /// What is on the medium: what a power loss with no survivor leaves.
    Durable,
}

impl SimDisk {
    /// What a path leads to in a view. Its components are separated by `/`; the empty path is the root.
    pub fn node_at(&self, path: &str, view: View) -> Option<Node> {
        self.disk.borrow().node_at(path, view)
    }

    /// What a name in a directory leads to in a view.
    pub fn entry(&self, directory: DirectoryId, name: &Name, view: View) -> Option<Node> {
        self.disk.borrow().entry(directory, name.as_bytes(), view)
    }

    /// The entries of a directory in a view, in the order they were made.
    pub fn entries(&self, directory: DirectoryId, view: View) -> Vec<(Name, Node)> {
        let disk = self.disk.borrow();
        let entries = disk.entries(directory, view).iter();
        entries.map(|entry| (disk.state.names.name_of(entry.name), entry.node)).collect()
    }

    /// Visits the entries of a directory in a view, in the order they were made, with the bytes of their names. The
    /// visitor may look at this disk, and change nothing.
    pub fn for_each_entry(&self, directory: DirectoryId, view: View, visit: &mut dyn FnMut(&[u8], Node)) {
        let disk = self.disk.borrow();
        for entry in disk.entries(directory, view) {
            visit(disk.state.names.bytes_of(entry.name), entry.node);
        }
    }

    /// How many entries a directory has in a view.
    pub fn entry_count(&self, directory: DirectoryId, view: View) -> usize {
        self.disk.borrow().entries(directory, view).len()
    }

    /// Visits everything below the root in a view, as path and node, in order of path components. The
    /// visitor may look at this disk, and change nothing. Slow: for reports, exports and outcomes.
    pub fn walk(&self, view: View, visit: &mut dyn FnMut(&str, Node)) {
        self.disk.borrow().walk(view, visit);
    }

    /// A path that leads to a node in a view, or `None` if none does. Slow: for reports.
    pub fn path_of(&self, node: Node, view: View) -> Option<String> {
        self.disk.borrow().path_of(node, view)
    }

    /// The name with a number that an event gave it, or `None` if no name has it. Slow: for reports.
    pub fn name_numbered(&self, number: u64) -> Option<String> {
        let disk = self.disk.borrow();
        let id = disk.state.names.numbered(number)?;
        Some(String::from_utf8_lossy(disk.state.names.bytes_of(id)).into_owned())
    }

    /// A file's length in a view, in bytes.
    pub fn length_of(&self, file: FileId, view: View) -> u64 {
        self.disk.borrow().length_of(file, view)
    }

    /// Reads a file in a view, as far as it goes; returns how many bytes came. It is no storage call: it is
    /// not counted, fills no cache and meets no fault but the bytes themselves.
    pub fn peek(&self, file: FileId, view: View, position: u64, bytes: &mut [u8]) -> usize {
        self.disk.borrow().peek(file, view, position, bytes)
    }

    /// Its sectors and pages.
    pub fn geometry(&self) -> Geometry {
        self.disk.borrow().geometry
    }

    /// All bytes of a file in a view.
    pub fn contents_of(&self, file: FileId, view: View) -> Vec<u8> {
        let disk = self.disk.borrow();
        let mut contents = Vec::with_capacity(index(disk.length_of(file, view)));
        disk.for_each_page(file, view, &mut |bytes| contents.extend_from_slice(bytes));
        contents
    }

    /// Visits all bytes of a file in a view, page by page.
    pub fn for_each_page(&self, file: FileId, view: View, visit: &mut dyn FnMut(&[u8])) {
        self.disk.borrow().for_each_page(file, view, visit);
    }

    /// The bytes of a file that every read fails on now, by pages, in no order: bad sectors that the cache
    /// does not hide and, where data is checksummed, damage.
    pub fn unreadable_bytes(&self, file: FileId) -> Vec<Range<u64>> {
        self.disk.borrow().unreadable_bytes(file)
    }

    /// Whether nothing of a file is pending or diverged: both views are the same.
    pub fn is_clean(&self, file: FileId) -> bool {
        self.disk.borrow().is_clean(file)
    }

    /// XXH3-64 over names, kinds, lengths and bytes in a view, in order of path components.
    pub fn image_hash(&self, view: View) -> u64 {
        self.disk.borrow().image_hash(view)
    }
}

impl Disk {
    /// The entries of a directory in a view, in the order they were made.
    pub(super) fn entries(&self, id: DirectoryId, view: View) -> &[Entry] {
        let directory = self.state.directory(id);
        match view {
            View::Visible => &directory.entries,
            View::Durable => &directory.durable,
        }
    }

    /// What a name leads to in a view.
    pub(super) fn entry(&self, id: DirectoryId, name: &[u8], view: View) -> Option<Node> {
        find(self.entries(id, view), self.state.names.find(name)?)
    }

    /// What a path leads to in a view; its components are separated by `/`, and the empty path is the root.
    pub(super) fn node_at(&self, path: &str, view: View) -> Option<Node> {
        let mut at = Node::Directory(DirectoryId::ROOT);
        for component in path.split('/').filter(|component| !component.is_empty()) {
            let Node::Directory(directory) = at else { return None };
            at = self.entry(directory, component.as_bytes(), view)?;
        }
        Some(at)
    }

    /// A file's length in a view, in bytes.
    pub(super) fn length_of(&self, id: FileId, view: View) -> u64 {
        let file = self.state.file(id);
        match view {
            View::Visible => file.length,
            View::Durable => file.durable_length,
        }
    }

    /// Reads a file in a view, as far as it goes; returns how many bytes came.
    pub(super) fn peek(&self, id: FileId, view: View, position: u64, bytes: &mut [u8]) -> usize {
        let left = self.length_of(id, view).checked_sub(position);
        let count = left.map_or(0, |left| index(left.min(bytes.len() as u64)));
        match view {
            View::Visible => self.read_visible(id, position, &mut bytes[..count]),
            View::Durable => self.read_medium(id, position, &mut bytes[..count]),
        }
        count
    }

    /// The bytes of a file that every read fails on now.
    fn unreadable_bytes(&self, id: FileId) -> Vec<Range<u64>> {
        let mut unreadable = Vec::new();
        if !self.state.file(id).is_marked {
            return unreadable;
        }
        let marks = self.state.faults.marks.iter();
        for mark in marks.filter(|mark| mark.file == id && self.is_unreadable(mark)) {
            for page in self.geometry.page_of(mark.start)..=self.geometry.page_of(mark.end - 1) {
                let start = self.geometry.page_start(page);
                if !self.is_shielded(id, page) {
                    unreadable.push(start..start + self.geometry.page_bytes());
                }
            }
        }
        unreadable
    }

    /// The path that leads to a node in a view, or `None` if none does. Slow: for reports.
    pub(super) fn path_of(&self, node: Node, view: View) -> Option<String> {
        let mut found = None;
        self.walk(view, &mut |path, other| {
            if other == node {
                found = Some(path.to_owned());
            }
        });
        found
    }

    /// Visits everything below the root in a view, in order of path components. Slow: for reports.
    pub(super) fn walk(&self, view: View, visit: &mut dyn FnMut(&str, Node)) {
        let mut path = String::new();
        self.walk_directory(DirectoryId::ROOT, view, &mut path, visit);
    }

    fn walk_directory(
        &self,
        id: DirectoryId,
        view: View,
        path: &mut String,
        visit: &mut dyn FnMut(&str, Node),
    ) {
        let mut entries = self.entries(id, view).to_vec();
        entries.sort_by_key(|entry| self.state.names.bytes_of(entry.name));
        for entry in entries {
            let length = path.len();
            if !path.is_empty() {
                path.push('/');
            }
            match str::from_utf8(self.state.names.bytes_of(entry.name)) {
                Ok(name) if name.bytes().all(|byte| byte.is_ascii_graphic()) => path.push_str(name),
                // As it is shown to people.
                Ok(_) | Err(_) => {
                    let name = self.state.names.name_of(entry.name);
                    write!(path, "{name}").expect("writing to a string does not fail");
                }
            }
            visit(path, entry.node);
            if let Node::Directory(child) = entry.node {
                self.walk_directory(child, view, path, visit);
            }
            path.truncate(length);
        }
    }

    /// XXH3-64 over names, kinds, lengths and bytes in a view, in order of path components.
    pub(super) fn image_hash(&self, view: View) -> u64 {
        let mut hash = Xxh3::new();
        self.hash_directory(DirectoryId::ROOT, view, &mut hash);
        hash.digest()
    }

    fn hash_directory(&self, id: DirectoryId, view: View, hash: &mut Xxh3) {
        let mut entries = self.entries(id, view).to_vec();
        entries.sort_by_key(|entry| self.state.names.bytes_of(entry.name));
        hash.update(&(entries.len() as u64).to_le_bytes());
        for entry in entries {
            let name = self.state.names.bytes_of(entry.name);
            hash.update(&(name.len() as u64).to_le_bytes());
            hash.update(name);
            match entry.node {
                Node::File(file) => {
                    hash.update(&[0]);
                    self.hash_file(file, view, hash);
                }
                Node::Directory(child) => {
                    hash.update(&[1]);
                    self.hash_directory(child, view, hash);
                }
                Node::Link => hash.update(&[2]),
                Node::Special => hash.update(&[3]),
            }
        }
    }

    fn hash_file(&self, id: FileId, view: View, hash: &mut Xxh3) {
        let length = self.length_of(id, view);
        hash.update(&length.to_le_bytes());
        self.for_each_page(id, view, &mut |bytes| hash.update(bytes));
    }

    /// Hands out a file's bytes in a view, page by page.
    pub(super) fn for_each_page(&self, id: FileId, view: View, take: &mut dyn FnMut(&[u8])) {
        static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
        let file = self.state.file(id);
        let length = self.length_of(id, view);
        for page in 0..self.geometry.page_count(length) {
            let count = index((length - self.geometry.page_start(page)).min(self.geometry.page_bytes()));
            let run = file.pages.get(page).map(|slot| match view {
                View::Visible => slot.visible(),
                View::Durable => slot.medium,
            });
            match run {
                Some(run) if run.is_stored() => take(&self.arena.page(run)[..count]),
                Some(_) | None => take(&ZEROS[..count]),
            }
        }
    }

    /// Whether a file is the same in both views, with nothing pending.
    pub(super) fn is_clean(&self, id: FileId) -> bool {
        let file = self.state.file(id);
        file.pending.is_empty() && self.are_bytes_durable(id, 0..file.length).is_ok()
    }
}
