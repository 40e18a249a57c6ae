//! A short way to write litmus programs: a disk, its root, and calls that must succeed.
//!
//! Promises: every call here is an ordinary storage call. Leaves out: everything that a program of one or
//! two files does not need.

use recovery_core::storage::{Access, EntryKind, Errno, Name, Storage};

use crate::disk::rules::Rules;
use crate::disk::{Geometry, Node, SimDirectory, SimDisk, SimFile, View};
use crate::schedule::Filesystem;

/// Bytes of a sector in litmus programs.
pub(in crate::disk) const SECTOR: u64 = 64;

/// Bytes of a page in litmus programs: 4 sectors.
pub(in crate::disk) const PAGE: u64 = 256;

/// A disk of small geometry with its root open.
pub(in crate::disk) struct Hand {
    pub(in crate::disk) disk: SimDisk,
    root: SimDirectory,
}

/// The name that `text` is.
pub(in crate::disk) fn name(text: &str) -> Name {
    Name::new(text.as_bytes()).expect("litmus programs use plain names")
}

impl Hand {
    /// An empty disk that checks its own promises at every crash.
    #[cfg(test)]
    pub(in crate::disk) fn new(filesystem: Filesystem) -> Self {
        Self::with_rules(filesystem, crate::disk::rules::rules_of(filesystem))
    }

    /// An empty disk, of a filesystem that promises what `rules` say, that checks its own promises at every
    /// crash.
    pub(in crate::disk) fn with_rules(filesystem: Filesystem, rules: &'static Rules) -> Self {
        let disk = SimDisk::new(Geometry::SMALL, filesystem);
        disk.disk.borrow_mut().rules = rules;
        disk.turn_stamps_on();
        let root = disk.root().expect("nothing is in the way");
        Self { disk, root }
    }

    /// Opens the root anew, after the node went down.
    pub(in crate::disk) fn come_back(&mut self) {
        self.root = self.disk.root().expect("nothing is in the way");
    }

    pub(in crate::disk) fn create(&self, text: &str) -> SimFile {
        self.disk.create(&self.root, &name(text)).expect("the name is free")
    }

    pub(in crate::disk) fn make_directory(&self, text: &str) -> SimDirectory {
        self.disk.make_directory(&self.root, &name(text)).expect("the name is free");
        self.disk.open_directory(&self.root, &name(text)).expect("it was just made")
    }

    pub(in crate::disk) fn create_in(&self, directory: &SimDirectory, text: &str) -> SimFile {
        self.disk.create(directory, &name(text)).expect("the name is free")
    }

    pub(in crate::disk) fn open(&self, text: &str) -> SimFile {
        self.disk.open(&self.root, &name(text), Access::ReadWrite).expect("the file is there")
    }

    pub(in crate::disk) fn write(&self, file: &SimFile, position: u64, byte: u8, length: u64) {
        let bytes = vec![byte; usize::try_from(length).expect("litmus programs write little")];
        let count = self.disk.write(file, position, &bytes).expect("nothing is in the way");
        assert!(count == bytes.len(), "nothing makes writes short");
    }

    pub(in crate::disk) fn set_length(&self, file: &SimFile, length: u64) {
        self.disk.set_length(file, length).expect("nothing is in the way");
    }

    pub(in crate::disk) fn sync(&self, file: &SimFile) {
        self.disk.sync(file).expect("nothing is in the way");
    }

    /// Syncs, and tells with which error.
    pub(in crate::disk) fn try_sync(&self, file: &SimFile) -> Option<Errno> {
        self.disk.sync(file).err().map(|error| error.errno)
    }

    pub(in crate::disk) fn sync_root(&self) {
        self.disk.sync_directory(&self.root).expect("nothing is in the way");
    }

    pub(in crate::disk) fn rename(&self, from: &str, to: &str) {
        self.disk.rename(&self.root, &name(from), &self.root, &name(to)).expect("nothing is in the way");
    }

    pub(in crate::disk) fn remove(&self, text: &str) {
        self.disk.remove(&self.root, &name(text), EntryKind::File).expect("the file is there");
    }

    /// A file that is durable with its name.
    pub(in crate::disk) fn durable(&self, text: &str, byte: u8, length: u64) -> SimFile {
        let file = self.create(text);
        if length > 0 {
            self.write(&file, 0, byte, length);
        }
        self.sync(&file);
        self.sync_root();
        file
    }

    /// What reads would see of a file, without touching the cache; `None` if there is no such file.
    pub(in crate::disk) fn look(&self, text: &str) -> Option<Vec<u8>> {
        match self.disk.node_at(text, View::Visible)? {
            Node::File(file) => Some(self.disk.contents_of(file, View::Visible)),
            Node::Directory(_) | Node::Link | Node::Special => None,
        }
    }

    /// What a read sees of a file: it fills the cache.
    pub(in crate::disk) fn read(&self, file: &SimFile) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        let count = self.disk.read(file, 0, &mut bytes).expect("nothing is in the way");
        bytes.truncate(count);
        bytes
    }
}

/// Whether a slice is one byte all over.
pub(in crate::disk) fn is_all(bytes: &[u8], byte: u8) -> bool {
    bytes.iter().all(|&other| other == byte)
}
