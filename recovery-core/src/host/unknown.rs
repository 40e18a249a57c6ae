//! Looks for directories that the metadata log does not name.
//!
//! Promises: they are told of and left alone; one directory is listed a step. Leaves out: what lies in them.

use std::fmt;

use super::directory::{open_path, present};
use super::teardown::is_sibling;
use super::{Host, HostEvent};
use crate::observe::Progress;
use crate::storage::{EntryKind, Name, Storage, StorageError, exact};
use crate::units::Namespace;

/// Most unknown directories that are told of one by one.
pub const UNKNOWN_LISTED_MAX: usize = 1024;

/// A directory, by its path below the data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDirectory {
    /// The components of its path.
    pub path: Vec<Name>,
}

impl fmt::Display for UnknownDirectory {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, component) in self.path.iter().enumerate() {
            let slash = if index == 0 { "" } else { "/" };
            write!(to, "{slash}{component}")?;
        }
        Ok(())
    }
}

/// The search under way.
#[derive(Debug, Default)]
pub(super) struct Unknown {
    /// Directories to list, the first one last.
    left: Vec<Vec<Name>>,
    /// Found so far.
    found: u64,
}

impl Unknown {
    pub(super) fn begin(&mut self) {
        self.left = vec![vec![literal("streams")]];
        self.found = 0;
    }
}

impl<S: Storage> Host<S> {
    /// How many directories the last start found that the metadata log does not name.
    pub const fn unknown_directories(&self) -> u64 {
        self.unknown.found
    }

    /// Lists one directory more.
    pub(super) fn list_unknown(&mut self, storage: &S) -> Progress {
        let Some(path) = self.unknown.left.pop() else { return Progress::Done };
        match children(storage, &path) {
            Ok(names) => {
                for name in names.into_iter().rev() {
                    self.take(&path, name);
                }
            }
            Err(error) => self.events.push(HostEvent::NotListed(error)),
        }
        if self.unknown.left.is_empty() { Progress::Done } else { Progress::More }
    }

    /// Takes one entry of the directory at `path`: a level to look into, a partition, or neither.
    fn take(&mut self, path: &[Name], name: Name) {
        let child: Vec<Name> = path.iter().copied().chain([name]).collect();
        let numbers = [1, 3].map(|at| child.get(at).and_then(number));
        let next_level = match child.len() {
            2 => numbers[0].map(|_| literal("topics")),
            4 => numbers[1].map(|_| literal("partitions")),
            _ => None,
        };
        if let Some(level) = next_level {
            self.unknown.left.push(child.into_iter().chain([level]).collect());
            return;
        }
        let is_known = match (numbers[0], numbers[1], partition_of(&name)) {
            (Some(stream), Some(topic), Some(partition)) if child.len() == 6 => {
                self.newest(Namespace { stream, topic, partition }).is_some()
            }
            _ => false,
        };
        if !is_known {
            self.unknown.found += 1;
            if self.unknown.found <= UNKNOWN_LISTED_MAX as u64 {
                self.events.push(HostEvent::UnknownDirectory(UnknownDirectory { path: child }));
            }
        }
    }
}

/// The directories in the directory at `path`, ascending; none if it is not there.
fn children<S: Storage>(storage: &S, path: &[Name]) -> Result<Vec<Name>, StorageError> {
    let Some(directory) = present(open_path(storage, path))? else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    let listed = exact::uninterrupted(|| {
        names.clear();
        storage.list(&directory, &mut |name, kind| {
            if kind == EntryKind::Directory {
                names.push(*name);
            }
        })
    });
    storage.close_directory(directory);
    listed?;
    names.sort_unstable();
    Ok(names)
}

/// The partition that a directory is of: its own, a fence, or a copy half installed.
fn partition_of(name: &Name) -> Option<u32> {
    let own = name.as_bytes().split(|byte| *byte == b'.').next().and_then(Name::new)?;
    let is_of_it = own == *name || is_sibling(&own, name);
    if is_of_it { number(&own) } else { None }
}

/// The number that a component spells, in the one way in which numbers are spelt.
fn number(name: &Name) -> Option<u32> {
    let digits = name.as_bytes();
    let number = digits.iter().try_fold(0_u32, |number, digit| {
        let value = char::from(*digit).to_digit(10)?;
        number.checked_mul(10)?.checked_add(value)
    })?;
    (literal(&number.to_string()) == *name).then_some(number)
}

fn literal(text: &str) -> Name {
    Name::new(text.as_bytes()).expect("a literal name is one component")
}
