//! Directories: what lookups see, what the medium holds, and the entry changes in between.
//!
//! Promises: the entry changes of the whole disk are one list in issue order, because journals order them
//! so. Leaves out: what a file holds.

use super::file::FileId;
use super::geometry::index;
use super::name_table::NameId;

/// The number of a directory. It stays the same when the directory is renamed; 0 is the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId(pub(super) u32);

impl DirectoryId {
    /// The data directory itself.
    pub const ROOT: Self = Self(0);

    /// The bare number, for digests.
    pub const fn number(self) -> u32 {
        self.0
    }

    #[inline]
    pub(super) fn slot(self) -> usize {
        index(u64::from(self.0))
    }
}

/// What a directory entry leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A regular file.
    File(FileId),
    /// A directory.
    Directory(DirectoryId),
    /// A symbolic link, to nowhere in particular.
    Link,
    /// A FIFO, socket or device.
    Special,
}

/// One name in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: NameId,
    pub(super) node: Node,
}

/// One directory.
#[derive(Clone, Debug)]
pub(super) struct DirectoryNode {
    /// The entries that lookups see, in the order they were made.
    pub(super) entries: Vec<Entry>,
    /// The entries on the medium.
    pub(super) durable: Vec<Entry>,
    /// The name it was made or last renamed by.
    pub(super) name: NameId,
    /// The directory that it is in, as lookups see it.
    pub(super) parent: DirectoryId,
    /// Removed: nothing can be made in it any more.
    pub(super) is_removed: bool,
    /// Opening it fails with `EACCES`.
    pub(super) is_denied: bool,
}

impl DirectoryNode {
    pub(super) fn new(name: NameId, parent: DirectoryId) -> Self {
        Self { entries: Vec::new(), durable: Vec::new(), name, parent, is_removed: false, is_denied: false }
    }

    /// Makes a used slot an empty directory again.
    pub(super) fn renew(&mut self, name: NameId, parent: DirectoryId) {
        self.entries.clear();
        self.durable.clear();
        self.name = name;
        self.parent = parent;
        self.is_removed = false;
        self.is_denied = false;
    }

    /// What lookups find under a name.
    pub(super) fn find(&self, name: NameId) -> Option<Node> {
        find(&self.entries, name)
    }

    /// Takes over another directory without giving memory back.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.entries.clone_from(&other.entries);
        self.durable.clone_from(&other.durable);
        self.name = other.name;
        self.parent = other.parent;
        self.is_removed = other.is_removed;
        self.is_denied = other.is_denied;
    }
}

/// What a list of entries has under a name.
pub(super) fn find(entries: &[Entry], name: NameId) -> Option<Node> {
    entries.iter().find(|entry| entry.name == name).map(|entry| entry.node)
}

/// Sets or removes a name in a list of entries.
pub(super) fn set(entries: &mut Vec<Entry>, name: NameId, node: Option<Node>) {
    let at = entries.iter().position(|entry| entry.name == name);
    match (at, node) {
        (Some(at), Some(node)) => entries[at].node = node,
        (Some(at), None) => {
            entries.remove(at);
        }
        (None, Some(node)) => entries.push(Entry { name, node }),
        (None, None) => {}
    }
}

/// How far a pending change has come on its way to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// It is in memory only.
    Memory,
    /// It is in the device's cache: it survives an OS crash, not a power loss.
    Device,
}

/// One pending change of a directory entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameChange {
    /// When it was issued, counted over all changes of the disk.
    pub(super) sequence: u32,
    pub(super) directory: DirectoryId,
    pub(super) name: NameId,
    /// What the name leads to afterwards; `None`: it is gone.
    pub(super) node: Option<Node>,
    /// Changes of one group are all or nothing where the filesystem makes them so.
    pub(super) group: u32,
    pub(super) reach: Reach,
    /// A sync lied about it, so no barrier orders it.
    pub(super) is_lied_about: bool,
    /// A rename that replaced a file: the file whose data some filesystems write first.
    pub(super) replaced_by: Option<FileId>,
}
