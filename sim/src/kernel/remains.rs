//! What lies in a directory after a crash: names, lengths and bytes.
//!
//! Promises: two directories are alike if and only if their remains are equal. Leaves out: times, owners and
//! whatever is no regular file; programs make none.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use crate::disk::{DirectoryId, Node, SimDisk, View};

/// The files of one directory by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remains {
    /// Each file's bytes; their number is its length.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Remains {
    /// What lies in a real directory.
    ///
    /// # Errors
    ///
    /// As `readdir(3)` and `read(2)`.
    pub fn of_directory(path: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            files.insert(entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?);
        }
        Ok(Self { files })
    }

    /// What reads see in the root of a simulated disk.
    pub fn of_disk(disk: &SimDisk) -> Self {
        let entries = disk.entries(DirectoryId::ROOT, View::Visible);
        let file = |(name, node): (recovery_core::storage::Name, Node)| match node {
            Node::File(id) => Some((name.to_string(), disk.contents_of(id, View::Visible))),
            Node::Directory(_) | Node::Link | Node::Special => None,
        };
        Self { files: entries.into_iter().filter_map(file).collect() }
    }
}

/// Names with lengths, and what lies where in them: runs of zeros, and runs of bytes that somebody wrote.
impl fmt::Display for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.files.is_empty() {
            return f.write_str("nothing");
        }
        for (at, (name, bytes)) in self.files.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{name} of {} bytes", bytes.len())?;
            let zeros = zero_runs(bytes);
            if !zeros.is_empty() {
                let runs: Vec<String> = zeros.iter().map(|(start, end)| format!("{start}..{end}")).collect();
                write!(f, ", zeros at {}", runs.join(" "))?;
            }
        }
        Ok(())
    }
}

/// Where zeros lie.
fn zero_runs(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == 0) {
        match runs.last_mut() {
            Some((_, end)) if *end == at => *end = at + 1,
            Some(_) | None => runs.push((at, at + 1)),
        }
    }
    runs
}
