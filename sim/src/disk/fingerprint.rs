//! One number for all of a disk that what happens next can depend on.
//!
//! Promises: two disks with one fingerprint answer the same calls alike from here on, whatever led to them:
//! both views of all that names lead to, what is pending and in which order, errors that are still to be
//! reported, damage that lies there, and old blocks. Leaves out: how often faults were counted, and numbers
//! that only say when something was made.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::Xxh3;

use super::SimDisk;
use super::arena::Run;
use super::directory::{DirectoryId, Node};
use super::file::FileId;
use super::name_table::NameId;
use super::place::View;
use super::state::Disk;

impl SimDisk {
    /// The fingerprint of the disk as it is. The node is down, or between two calls.
    pub fn fingerprint(&self) -> u64 {
        let disk = self.disk.borrow();
        let mut hash = Xxh3::new();
        for view in [View::Visible, View::Durable] {
            hash.update(&disk.image_hash(view).to_le_bytes());
        }
        Fingerprint { disk: &disk, hash, files: BTreeMap::new(), directories: BTreeMap::new() }.finish()
    }

    /// How many choices a crash has to make about the pending changes of all files.
    pub fn all_pending_elements(&self) -> u32 {
        self.file_ids().map(|file| self.pending_elements(file)).sum()
    }
}

/// A fingerprint under way.
struct Fingerprint<'a> {
    disk: &'a Disk,
    hash: Xxh3,
    /// Files by the order in which names lead to them: numbers that no history changes.
    files: BTreeMap<u32, u64>,
    /// Directories alike.
    directories: BTreeMap<u32, u64>,
}

impl Fingerprint<'_> {
    fn finish(mut self) -> u64 {
        self.number_files(DirectoryId::ROOT, View::Visible);
        self.number_files(DirectoryId::ROOT, View::Durable);
        let order = self.order();
        let files: Vec<FileId> = self.files.keys().map(|number| FileId(*number)).collect();
        let mut by_place: Vec<(u64, FileId)> =
            files.into_iter().map(|file| (self.files[&file.number()], file)).collect();
        by_place.sort_unstable();
        for (place, file) in by_place {
            self.word(place);
            self.file(file, &order);
        }
        self.names(&order);
        self.damage();
        self.rest();
        self.hash.digest()
    }

    fn word(&mut self, word: u64) {
        self.hash.update(&word.to_le_bytes());
    }

    fn debug(&mut self, value: &dyn std::fmt::Debug) {
        self.hash.update(format!("{value:?}").as_bytes());
    }

    fn name(&mut self, name: NameId) {
        let bytes = self.disk.state.names.bytes_of(name);
        self.hash.update(&(bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
    }

    /// The number of a directory; one that no name leads to has none of its own.
    fn number_of(&self, directory: DirectoryId) -> u64 {
        if directory == DirectoryId::ROOT {
            return 0;
        }
        self.directories.get(&directory.number()).copied().unwrap_or(u64::MAX)
    }

    fn number_files(&mut self, directory: DirectoryId, view: View) {
        let mut entries = self.disk.entries(directory, view).to_vec();
        entries.sort_by_key(|entry| self.disk.state.names.bytes_of(entry.name));
        for entry in entries {
            match entry.node {
                Node::File(file) => {
                    let next = self.files.len() as u64;
                    let number = *self.files.entry(file.number()).or_insert(next);
                    // Two names may lead to one file.
                    self.word(number);
                }
                Node::Directory(below) => {
                    let next = self.directories.len() as u64 + 1;
                    let number = *self.directories.entry(below.number()).or_insert(next);
                    self.word(number);
                    self.number_files(below, view);
                }
                Node::Link | Node::Special => {}
            }
        }
    }

    /// The rank of each pending change among all of them: when exactly it was issued means nothing.
    fn order(&self) -> BTreeMap<u32, u64> {
        let state = &self.disk.state;
        let of_files =
            state.file_ids().flat_map(|file| &state.file(file).pending).map(|change| change.sequence);
        let of_names = state.name_changes.iter().map(|change| change.sequence);
        let mut sequences: Vec<u32> = of_files.chain(of_names).collect();
        sequences.sort_unstable();
        sequences.into_iter().zip(0..).collect()
    }

    fn file(&mut self, id: FileId, order: &BTreeMap<u32, u64>) {
        let disk = self.disk;
        let file = disk.state.file(id);
        self.debug(&(file.error, file.is_denied, file.open_count));
        for page in &file.pages {
            // Clean and unlike the medium, hole and unwritten extent: all of it decides what a crash shows.
            let is_diverged = page.cached != Run::NONE && page.cached != page.medium;
            self.hash.update(&[
                kind(page.cached),
                kind(page.medium),
                u8::from(page.is_dirty),
                u8::from(is_diverged),
            ]);
        }
        for change in &file.pending {
            self.word(order[&change.sequence]);
            self.debug(&(change.change, change.landing, change.reach, change.length_reach));
            for number in [change.position, change.end, change.length_before, change.length_after] {
                self.word(number);
            }
            self.debug(&(
                change.is_lied_about,
                change.is_committed,
                change.withheld.map(|withheld| withheld.start),
            ));
            // A length that waits brings no bytes.
            if change.contents != Run::NONE {
                let bytes = disk.arena.sectors(change.contents, change.sectors);
                self.hash.update(bytes);
            }
        }
    }

    fn names(&mut self, order: &BTreeMap<u32, u64>) {
        for change in &self.disk.state.name_changes {
            self.word(order[&change.sequence]);
            self.word(self.number_of(change.directory));
            self.name(change.name);
            let leads_to = change.node.map(|node| match node {
                Node::File(file) => (0, self.files.get(&file.number()).copied()),
                Node::Directory(directory) => (1, Some(self.number_of(directory))),
                Node::Link => (2, None),
                Node::Special => (3, None),
            });
            self.debug(&(leads_to, change.reach, change.is_lied_about));
        }
    }

    fn damage(&mut self) {
        let marks = &self.disk.state.faults.marks;
        let mut places: Vec<(Option<u64>, u64, u64, String)> = marks
            .iter()
            .map(|mark| {
                let file = self.files.get(&mark.file.number()).copied();
                (file, mark.start, mark.end, format!("{:?}", mark.effect))
            })
            .collect();
        places.sort_unstable();
        self.debug(&places);
    }

    fn rest(&mut self) {
        let state = &self.disk.state;
        let health = &state.health;
        self.debug(&(health.is_read_only, health.is_shut_down, health.lie.is_some()));
        self.debug(&(state.limits, state.listing_order));
        let geometry = self.disk.geometry;
        for (run, home) in state.freed.blocks() {
            self.word(self.number_of(home));
            let bytes = self.disk.arena.sectors(run, geometry.sectors_per_page());
            self.hash.update(bytes);
        }
        for removed in &state.history.removed {
            self.word(self.number_of(removed.directory));
            self.name(removed.name);
        }
        for renamed in &state.history.renamed {
            self.word(self.number_of(renamed.from_directory));
            self.name(renamed.from);
            self.name(renamed.to);
        }
    }
}

/// What a page is, apart from its bytes: not there, known to be zeros, or stored.
fn kind(page: Run) -> u8 {
    if page == Run::NONE {
        0
    } else if page == Run::ZEROS {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

    use recovery_core::storage::{EntryKind, Name, Storage};

    use super::super::{Geometry, SurvivorChoice};
    use super::*;
    use crate::schedule::{Filesystem, Restart, Survivors};

    fn disk() -> SimDisk {
        SimDisk::new(Geometry::new(64, 256).unwrap(), Filesystem::Adversarial)
    }

    fn write(disk: &SimDisk, name: &str, chunks: &[(u64, &[u8])]) {
        let root = disk.root().unwrap();
        let file = disk.create(&root, &Name::new(name.as_bytes()).unwrap()).unwrap();
        for (position, bytes) in chunks {
            assert_eq!(disk.write(&file, *position, bytes).unwrap(), bytes.len());
        }
        disk.sync_directory(&root).unwrap();
        disk.close(file);
        disk.close_directory(root);
    }

    #[test]
    fn the_same_state_by_another_way_has_the_same_fingerprint() {
        let (one, other) = (disk(), disk());
        write(&one, "a", &[(0, b"aaaa"), (4, b"bbbb")]);
        write(&other, "b", &[(0, b"gone")]);
        let root = other.root().unwrap();
        other.remove(&root, &Name::new(b"b").unwrap(), EntryKind::File).unwrap();
        other.close_directory(root);
        write(&other, "a", &[(0, b"aaaabbbb")]);
        assert_ne!(one.fingerprint(), other.fingerprint(), "what is pending differs");
        for disk in [&one, &other] {
            disk.crash(Restart::Power, &SurvivorChoice::of(Survivors::All));
        }
        // The file that is gone has left its block in the pool and its name in the history.
        assert_ne!(one.fingerprint(), other.fingerprint());
        let third = disk();
        write(&third, "a", &[(0, b"aaaabbbb")]);
        third.crash(Restart::Power, &SurvivorChoice::of(Survivors::All));
        assert_eq!(one.fingerprint(), third.fingerprint());
    }

    #[test]
    fn a_length_that_waits_is_another_state_than_one_that_is_durable() {
        let (pending, durable) = (disk(), disk());
        for disk in [&pending, &durable] {
            write(disk, "a", &[(0, b"aaaa")]);
            let root = disk.root().unwrap();
            let file = disk
                .open(&root, &Name::new(b"a").unwrap(), recovery_core::storage::Access::ReadWrite)
                .unwrap();
            disk.sync(&file).unwrap();
            disk.set_length(&file, 1).unwrap();
            disk.close(file);
            disk.close_directory(root);
        }
        durable.crash(Restart::Power, &SurvivorChoice::of(Survivors::All));
        assert_ne!(pending.fingerprint(), durable.fingerprint());
    }

    #[test]
    fn what_only_the_cache_holds_is_another_state_than_what_is_durable() {
        let (pending, durable) = (disk(), disk());
        write(&pending, "a", &[(0, b"aaaa")]);
        write(&durable, "a", &[(0, b"aaaa")]);
        let root = durable.root().unwrap();
        let file = durable
            .open(&root, &Name::new(b"a").unwrap(), recovery_core::storage::Access::ReadWrite)
            .unwrap();
        durable.sync(&file).unwrap();
        durable.close(file);
        durable.close_directory(root);
        assert_eq!(pending.image_hash(View::Visible), durable.image_hash(View::Visible));
        assert_ne!(pending.fingerprint(), durable.fingerprint());
        assert_eq!((pending.all_pending_elements(), durable.all_pending_elements()), (1, 0));
    }
}
