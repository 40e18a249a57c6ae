//! Restarts: what the process, the kernel and the power take with them (FAULT_MODEL 2.8).
//!
//! Promises: a process crash loses handles and locks and nothing else; after an OS crash or a power loss
//! nothing is cached, nothing pending, and reads see the medium. Leaves out: which survivors the filesystem
//! allows (`closure`, `resolve`).

use xxhash_rust::xxh3::Xxh3;

use crate::schedule::{Restart, Survivors, TornKind};

use super::arena::Run;
use super::choice::{CrashReport, SurvivorChoice};
use super::directory::{DirectoryId, Entry, Node};
use super::fault::{Cause, Effect, FaultId, Mark};
use super::file::{FileId, WritebackError};
use super::history::Kept;
use super::resolve::{CrashRules, Resolution, Resolved};
use super::state::{Disk, Health};

impl Disk {
    /// The node goes down and comes back.
    pub(super) fn crash(&mut self, restart: Restart, choice: &SurvivorChoice) -> CrashReport {
        if let Some((begun, _)) = self.state.health.frozen.take() {
            assert!(begun == restart, "a node that went down inside a step stays down in the same way");
        }
        self.state.step.reset();
        self.disarm();
        self.state.handles.reset();
        for id in self.state.file_ids() {
            self.state.file_mut(id).open_count = 0;
        }
        let report = match restart {
            Restart::Process => {
                self.release_orphans();
                CrashReport { digest: 0, kept: 0, lost: 0 }
            }
            Restart::Os => self.lose_memory(choice, true),
            Restart::Power => self.lose_memory(choice, false),
        };
        self.remember();
        report
    }

    fn release_orphans(&mut self) {
        for id in self.state.file_ids() {
            self.release_if_orphan(id);
        }
    }

    fn lose_memory(&mut self, choice: &SurvivorChoice, keeps_device: bool) -> CrashReport {
        let cuts = self.close_choice(choice, keeps_device);
        let mut report = CrashReport { digest: self.digest_of_choice(), kept: 0, lost: 0 };
        let crash = CrashRules {
            rules: self.rules,
            metadata_cut: cuts.metadata,
            everything_cut: cuts.everything,
            keeps_device,
        };
        for id in self.state.file_ids() {
            let count = self.state.file(id).pending.len();
            if count > 0 {
                let own = choice.of_file(id);
                self.mark_survivors(id, count);
                let lie = self.lie_about(id);
                let resolved = self.resolve(
                    id,
                    count,
                    Resolution {
                        crash: Some(crash),
                        length: own.length,
                        fill: own.fill,
                        old_lengths_from: own.old_lengths_from,
                        first_element: self.scratch.first_elements[id.slot()],
                    },
                );
                report.kept += resolved.kept;
                report.lost += resolved.lost;
                self.count_torn(id, own.survive, resolved);
                self.count_lie(id, lie, resolved);
            }
            self.drop_memory_of(id);
        }
        self.lose_names(&mut report);
        self.state.health = Health::default();
        assert!(self.state.device_held == 0, "nothing is in the device's cache after a restart");
        assert!(self.state.commit_held == 0, "nothing waits for a commit after a restart");
        if let Err(broken) = self.check_stamps() {
            panic!("the simulated disk is wrong: {broken}");
        }
        report
    }

    /// Notes what the fault marks of a file are if its pending changes survive as chosen. Where some do not,
    /// marks stay: a sector that was not written is as bad as before.
    fn mark_survivors(&mut self, id: FileId, count: usize) {
        let file = self.state.file(id);
        if !file.is_marked && !file.has_special {
            return;
        }
        if self.keeps_all(self.scratch.first_elements[id.slot()], self.pending_elements(id)) {
            self.mark_written(id, count);
            return;
        }
        for at in 0..count {
            let change = self.state.file(id).pending[at];
            self.mark_withheld(id, &change);
        }
    }

    fn digest_of_choice(&self) -> u64 {
        let mut hash = Xxh3::new();
        for word in &self.scratch.bits {
            hash.update(&word.to_le_bytes());
        }
        for &keeps in &self.scratch.names {
            hash.update(&[u8::from(keeps)]);
        }
        hash.digest()
    }

    /// Counts a write that the crash tore, and old blocks that it let show.
    fn count_torn(&mut self, id: FileId, survive: Survivors, resolved: Resolved) {
        if let (Some(kind), Some((start, end))) = (survive.torn_kind(), resolved.lost_bytes)
            && resolved.kept > 0
        {
            let fault = self.state.faults.apply(Cause::Torn(kind));
            let end = end.min(self.state.file(id).durable_length);
            self.add_mark(Mark { file: id, start, end, effect: Effect::Missing, fault });
            self.state.file_mut(id).is_marked = true;
            self.state.faults.mark_length(id, fault);
        }
        if let Some((start, end)) = resolved.filled_bytes {
            let fault = self.state.faults.apply(Cause::Torn(TornKind::StaleBlockFill));
            self.add_mark(Mark { file: id, start, end, effect: Effect::Missing, fault });
        }
    }

    /// The lie that a file's pending changes were told about, if they were.
    fn lie_about(&self, id: FileId) -> Option<FaultId> {
        let is_lied_about = self.state.file(id).pending.iter().any(|change| change.is_lied_about);
        self.state.health.lie.filter(|_| is_lied_about)
    }

    /// Marks what a file lost although a sync said that it was durable.
    fn count_lie(&mut self, id: FileId, lie: Option<FaultId>, resolved: Resolved) {
        if let (Some(fault), Some((start, end))) = (lie, resolved.lost_bytes) {
            let end = end.min(self.state.file(id).durable_length);
            self.add_mark(Mark { file: id, start, end, effect: Effect::Missing, fault });
            self.state.file_mut(id).is_marked = true;
            self.state.faults.mark_length(id, fault);
        }
    }

    /// A file is what the medium says it is.
    fn drop_memory_of(&mut self, id: FileId) {
        let geometry = self.geometry;
        let file = self.state.file_mut(id);
        file.length = file.durable_length;
        file.error = WritebackError::NONE;
        let count = geometry.page_count(file.length);
        if file.pages.len() > count {
            file.pages.truncate(count);
        }
        for slot in &mut file.pages {
            slot.cached = Run::NONE;
            slot.is_dirty = false;
        }
    }

    /// Names are what the medium says they are, and what no name leads to is gone.
    fn lose_names(&mut self, report: &mut CrashReport) {
        let changes = std::mem::take(&mut self.state.name_changes);
        let keeps = std::mem::take(&mut self.scratch.names);
        let mut replaced = Vec::new();
        for (change, &keeps) in changes.iter().zip(&keeps) {
            if keeps {
                self.apply_name(change, &mut replaced);
                report.kept += 1;
            } else {
                report.lost += 1;
            }
            self.state.device_held -= u32::from(change.reach == super::directory::Reach::Device);
        }
        self.scratch.names = keeps;
        self.state.name_changes = changes;
        self.state.name_changes.clear();
        self.adopt_durable_names();
        for file in self.state.file_ids() {
            let node = self.state.file(file);
            if node.has_lost_name && !node.is_released {
                self.release(file);
            }
        }
    }

    /// Walks the durable names from the root: what it meets is what there is.
    fn adopt_durable_names(&mut self) {
        for directory in self.state.directories_mut() {
            directory.is_removed = true;
            directory.entries.clear();
        }
        for file in self.state.file_ids() {
            self.state.file_mut(file).has_lost_name = true;
        }
        self.state.directory_mut(DirectoryId::ROOT).is_removed = false;
        let mut left = vec![DirectoryId::ROOT];
        while let Some(id) = left.pop() {
            let mut durable = std::mem::take(&mut self.state.directory_mut(id).durable);
            durable.retain(|entry| self.adopt_entry(id, *entry, &mut left));
            let directory = self.state.directory_mut(id);
            directory.entries.extend_from_slice(&durable);
            directory.durable = durable;
        }
        for directory in self.state.directories_mut() {
            if directory.is_removed {
                directory.durable.clear();
            }
        }
    }

    /// Takes one durable entry; returns whether it stays. A directory that a torn rename left under two
    /// names keeps the one that is met first, as a check of the filesystem would have it.
    fn adopt_entry(&mut self, parent: DirectoryId, entry: Entry, left: &mut Vec<DirectoryId>) -> bool {
        match entry.node {
            Node::File(id) => {
                let file = self.state.file_mut(id);
                file.name = entry.name;
                file.is_released = false;
                file.has_lost_name = false;
                true
            }
            Node::Directory(id) => {
                let directory = self.state.directory_mut(id);
                if !directory.is_removed {
                    return false;
                }
                directory.is_removed = false;
                directory.name = entry.name;
                directory.parent = parent;
                left.push(id);
                true
            }
            Node::Link | Node::Special => true,
        }
    }

    /// Keeps what every file is now, for an operator who puts one back later.
    pub(super) fn remember(&mut self) {
        self.arena.freeze();
        let mut history = std::mem::take(&mut self.state.history);
        history.kept.clear();
        history.pages.clear();
        for directory in self.state.directory_ids() {
            for entry in &self.state.directory(directory).entries {
                let Node::File(file) = entry.node else { continue };
                let node = self.state.file(file);
                let first_page = history.pages.len();
                history.pages.extend(node.pages.iter().map(|slot| slot.visible()));
                history.kept.push(Kept {
                    file,
                    directory,
                    name: entry.name,
                    length: node.length,
                    first_page,
                    pages: node.pages.len(),
                });
            }
        }
        self.state.history = history;
    }
}
