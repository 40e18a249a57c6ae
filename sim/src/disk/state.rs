//! Everything a node's disk is at one moment, apart from the bytes themselves.
//!
//! Promises: copying this value and keeping the arena's mark is a snapshot of the disk. Leaves out: what a
//! call, a sync or a crash does to it.

use crate::schedule::{Filesystem, Restart, SyncStage};

use super::arena::Arena;
use super::directory::{DirectoryId, DirectoryNode, NameChange, Node};
use super::event::Event;
use super::fault::{FaultId, Faults};
use super::file::{FileId, FileNode};
use super::freed::FreedPool;
use super::geometry::{Geometry, narrow};
use super::handle::Handles;
use super::history::History;
use super::injection::StepState;
use super::name_table::{NameId, NameTable};
use super::resolve::Scratch;
use super::rest::keep_small;
use super::rules::{Rules, rules_of};
use super::stamp::Stamps;
use super::strike::Strike;

/// What errors call the data directory itself.
const ROOT_NAME: &[u8] = b"data directory";

/// Why calls fail whatever they ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Health {
    /// Changing calls fail with `EROFS`.
    pub(super) is_read_only: bool,
    /// All calls fail with `EIO`: the filesystem has shut down.
    pub(super) is_shut_down: bool,
    /// The node went down inside a step: all calls fail with `EIO` and are not counted.
    pub(super) frozen: Option<(Restart, Option<SyncStage>)>,
    /// The newest lie about a flush since the node last came up.
    pub(super) lie: Option<FaultId>,
}

/// What there is only so much of. `None`: enough.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// Free pages.
    pub(super) pages_free: Option<u64>,
    /// Descriptors that the process may have.
    pub(super) descriptors: Option<u32>,
}

/// One moment of a disk.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) names: NameTable,
    directories: Vec<DirectoryNode>,
    directories_used: usize,
    files: Vec<FileNode>,
    files_used: usize,
    pub(super) name_changes: Vec<NameChange>,
    sequence: u32,
    group: u32,
    pub(super) handles: Handles,
    pub(super) freed: FreedPool,
    pub(super) faults: Faults,
    pub(super) step: StepState,
    pub(super) health: Health,
    pub(super) limits: Limits,
    pub(super) history: History,
    /// Pending changes that are in the device's cache.
    pub(super) device_held: u32,
    /// Pending cuts, and changes that the next commit of the journal makes durable.
    pub(super) commit_held: u32,
    /// 0: listings come in the order the names were made. Else it picks another one.
    pub(super) listing_order: u64,
}

impl State {
    pub(super) fn reset(&mut self) {
        self.names.reset();
        self.directories_used = 0;
        self.files_used = 0;
        self.name_changes.clear();
        self.sequence = 0;
        self.group = 0;
        self.handles.reset();
        self.freed.reset();
        self.faults.reset();
        self.step.reset();
        self.step.disarm();
        self.health = Health::default();
        self.limits = Limits::default();
        self.history.reset();
        self.device_held = 0;
        self.commit_held = 0;
        self.listing_order = 0;
        let root = self.names.intern(ROOT_NAME);
        let id = self.new_directory(root, DirectoryId::ROOT);
        assert!(id == DirectoryId::ROOT, "the root is the first directory");
    }

    /// Takes over another moment without giving memory back.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.names.copy_from(&other.names);
        copy_slots(&mut self.directories, other.directories(), DirectoryNode::copy_from);
        self.directories_used = other.directories_used;
        copy_slots(&mut self.files, other.files(), FileNode::copy_from);
        self.files_used = other.files_used;
        self.name_changes.clone_from(&other.name_changes);
        self.sequence = other.sequence;
        self.group = other.group;
        self.handles.copy_from(&other.handles);
        self.freed.copy_from(&other.freed);
        self.faults.copy_from(&other.faults);
        self.step.copy_from(&other.step);
        self.health = other.health;
        self.limits = other.limits;
        self.history.copy_from(&other.history);
        self.device_held = other.device_held;
        self.commit_held = other.commit_held;
        self.listing_order = other.listing_order;
    }

    /// Lets go of the room that only large steps needed.
    pub(super) fn rest(&mut self) {
        for file in &mut self.files {
            keep_small(&mut file.pending);
            keep_small(&mut file.pages);
        }
        keep_small(&mut self.history.pages);
    }

    pub(super) fn files(&self) -> &[FileNode] {
        &self.files[..self.files_used]
    }

    pub(super) fn directories(&self) -> &[DirectoryNode] {
        &self.directories[..self.directories_used]
    }

    pub(super) fn directories_mut(&mut self) -> &mut [DirectoryNode] {
        &mut self.directories[..self.directories_used]
    }

    /// Every file's id, released ones included.
    pub(super) fn file_ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..narrow(self.files_used as u64)).map(FileId)
    }

    /// Every directory's id, removed ones included.
    pub(super) fn directory_ids(&self) -> impl Iterator<Item = DirectoryId> + use<> {
        (0..narrow(self.directories_used as u64)).map(DirectoryId)
    }

    #[inline]
    pub(super) fn file(&self, id: FileId) -> &FileNode {
        &self.files()[id.slot()]
    }

    #[inline]
    pub(super) fn file_mut(&mut self, id: FileId) -> &mut FileNode {
        &mut self.files[..self.files_used][id.slot()]
    }

    #[inline]
    pub(super) fn directory(&self, id: DirectoryId) -> &DirectoryNode {
        &self.directories()[id.slot()]
    }

    #[inline]
    pub(super) fn directory_mut(&mut self, id: DirectoryId) -> &mut DirectoryNode {
        &mut self.directories[..self.directories_used][id.slot()]
    }

    /// A file that nothing leads to yet.
    pub(super) fn new_file(&mut self, name: NameId, home: DirectoryId) -> FileId {
        let id = FileId(narrow(self.files_used as u64));
        if self.files_used == self.files.len() {
            self.files.push(FileNode::new(name, home));
        } else {
            self.files[self.files_used].renew(name, home);
        }
        self.files_used += 1;
        id
    }

    /// A directory that nothing leads to yet.
    pub(super) fn new_directory(&mut self, name: NameId, parent: DirectoryId) -> DirectoryId {
        let id = DirectoryId(narrow(self.directories_used as u64));
        if self.directories_used == self.directories.len() {
            self.directories.push(DirectoryNode::new(name, parent));
        } else {
            self.directories[self.directories_used].renew(name, parent);
        }
        self.directories_used += 1;
        id
    }

    /// The number of the next change.
    #[inline]
    pub(super) fn next_sequence(&mut self) -> u32 {
        self.sequence += 1;
        self.sequence
    }

    /// A file, and the counter that numbers its next changes.
    #[inline]
    pub(super) fn file_and_sequence(&mut self, id: FileId) -> (&mut FileNode, &mut u32) {
        (&mut self.files[..self.files_used][id.slot()], &mut self.sequence)
    }

    /// The number of a new group of name changes.
    pub(super) fn next_group(&mut self) -> u32 {
        self.group += 1;
        self.group
    }
}

/// Copies used slots over others, whose memory is kept.
fn copy_slots<T: Clone>(target: &mut Vec<T>, source: &[T], copy: impl Fn(&mut T, &T)) {
    for (at, value) in source.iter().enumerate() {
        match target.get_mut(at) {
            Some(slot) => copy(slot, value),
            None => target.push(value.clone()),
        }
    }
}

/// A node's disk: one moment, the bytes behind it, and what observes it.
#[derive(Debug)]
pub(super) struct Disk {
    pub(super) geometry: Geometry,
    pub(super) filesystem: Filesystem,
    pub(super) rules: &'static Rules,
    pub(super) arena: Arena,
    pub(super) state: State,
    pub(super) scratch: Scratch,
    pub(super) events: Vec<Event>,
    pub(super) strikes: Vec<Strike>,
    pub(super) is_recording: bool,
    /// Whether events hold the hash of the bytes that a call moved.
    pub(super) records_contents: bool,
    pub(super) stamps: Stamps,
}

impl Disk {
    pub(super) fn new(geometry: Geometry, filesystem: Filesystem) -> Self {
        let mut disk = Self {
            geometry,
            filesystem,
            rules: rules_of(filesystem),
            arena: Arena::new(geometry),
            state: State::default(),
            scratch: Scratch::default(),
            events: Vec::new(),
            strikes: Vec::new(),
            is_recording: false,
            records_contents: false,
            stamps: Stamps::default(),
        };
        disk.reset(geometry, filesystem);
        disk
    }

    pub(super) fn reset(&mut self, geometry: Geometry, filesystem: Filesystem) {
        self.geometry = geometry;
        self.filesystem = filesystem;
        self.rules = rules_of(filesystem);
        self.arena.reset(geometry);
        self.state.reset();
        self.events.clear();
        self.strikes.clear();
        self.is_recording = false;
        self.records_contents = false;
        self.stamps.reset();
    }

    /// Gives a file's blocks to the pool once nothing leads to it any more, in memory or on the medium.
    pub(super) fn release_if_orphan(&mut self, id: FileId) {
        let file = self.state.file(id);
        if !file.has_lost_name || file.open_count > 0 || file.is_released {
            return;
        }
        let leads = |entry: &super::directory::Entry| entry.node == Node::File(id);
        let is_held = self
            .state
            .directories()
            .iter()
            .any(|directory| directory.entries.iter().any(leads) || directory.durable.iter().any(leads));
        let is_pending = self.state.name_changes.iter().any(|change| change.node == Some(Node::File(id)));
        if !is_held && !is_pending {
            self.release(id);
        }
    }

    /// Gives a file's blocks to the pool.
    pub(super) fn release(&mut self, id: FileId) {
        let file = &mut self.state.files[..self.state.files_used][id.slot()];
        file.is_released = true;
        let home = file.home;
        let mut pages = 0;
        for slot in &file.pages {
            pages += u64::from(slot.visible().is_stored());
            self.state.freed.free(slot.medium, home);
        }
        for pending in &file.pending {
            self.state.device_held -= u32::from(pending.is_in_device());
            self.state.commit_held -= u32::from(pending.is_committed_with_names());
        }
        file.pending.clear();
        file.has_special = false;
        if let Some(free) = &mut self.state.limits.pages_free {
            *free += pages;
        }
        self.stamps.forget_file(id);
    }
}
