//! One partition directory as plain data: names, kinds and bytes, or the fact that they cannot be read.
//!
//! Promises: whole files in memory, in any order, with no cache and no fault that comes and goes.
//! Leaves out: the disk that an image was taken from, and what its bytes mean.

use std::ops::Range;

use recovery_core::storage::Name;

/// A directory, one level deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its entries, in any order; no name twice.
    pub entries: Vec<ImageEntry>,
    /// Whether listing the directory succeeds.
    pub is_listable: bool,
}

/// One name in a directory and what it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageEntry {
    /// Its name.
    pub name: Name,
    /// What it leads to.
    pub content: Content,
}

/// What a name leads to, without following it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A regular file.
    File(FileImage),
    /// A regular file that cannot be opened.
    Unopenable,
    /// A directory.
    Directory,
    /// Anything else: symbolic link, FIFO, socket, device.
    Other,
}

/// A regular file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileImage {
    /// All its bytes; those of an unreadable range count for nothing.
    pub bytes: Vec<u8>,
    /// Byte ranges that every read fails on.
    pub unreadable: Vec<Range<u64>>,
    /// Which file of its disk it is, where that is known: a rename that a crash cut in half leaves one file
    /// with two names.
    pub number: Option<u32>,
}

impl Default for Image {
    fn default() -> Self {
        Self { entries: Vec::new(), is_listable: true }
    }
}

impl Image {
    /// What `name` leads to, or `None` if there is no such name.
    pub fn find(&self, name: &[u8]) -> Option<&Content> {
        self.entries.iter().find(|entry| entry.name.as_bytes() == name).map(|entry| &entry.content)
    }
}

impl Image {
    /// Whether one of its names leads to this very file.
    pub fn holds(&self, file: &FileImage) -> bool {
        self.entries.iter().any(|entry| match &entry.content {
            Content::File(own) => own.number.is_some() && own.number == file.number,
            Content::Unopenable | Content::Directory | Content::Other => false,
        })
    }
}

impl FileImage {
    /// A file that can be read from end to end.
    pub const fn readable(bytes: Vec<u8>) -> Self {
        Self { bytes, unreadable: Vec::new(), number: None }
    }

    /// Whether every byte of the file can be read.
    pub fn is_readable(&self) -> bool {
        let length = self.bytes.len() as u64;
        self.unreadable.iter().all(|range| range.is_empty() || range.start >= length)
    }
}
