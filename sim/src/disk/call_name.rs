//! The storage calls on names: opening, making, renaming, removing, listing, locking.
//!
//! Promises: errors as the system calls give them, and without effect. Leaves out: when a name is durable.

use recovery_core::storage::{Access, Call, EntryKind, Errno, LockMode, Name};

use super::directory::{DirectoryId, NameChange, Node, Reach, set};
use super::file::FileId;
use super::freed::mix;
use super::geometry::index;
use super::handle::{SimDirectory, SimFile};
use super::history::{Removed, Renamed};
use super::name_table::NameId;
use super::state::Disk;
use super::step::Subject;

impl Disk {
    /// The call `open` on the data directory.
    pub(super) fn root(&mut self) -> Result<SimDirectory, Errno> {
        self.enter(Call::Open, Subject::Directory(DirectoryId::ROOT))?;
        self.take_descriptor()?;
        Ok(self.state.handles.open_directory(DirectoryId::ROOT))
    }

    /// The call `open` on a directory.
    pub(super) fn open_directory(
        &mut self,
        parent: &SimDirectory,
        name: &Name,
    ) -> Result<SimDirectory, Errno> {
        let parent = self.state.handles.directory(parent);
        self.enter(Call::Open, Subject::Name(parent, name))?;
        let node = self.look_up(parent, name)?.ok_or(Errno::NOT_FOUND)?;
        let Node::Directory(directory) = node else { return Err(Errno::NOT_A_DIRECTORY) };
        if self.state.directory(directory).is_denied {
            return Err(Errno::PERMISSION_DENIED);
        }
        self.take_descriptor()?;
        Ok(self.state.handles.open_directory(directory))
    }

    /// The call `open` on a file.
    pub(super) fn open(
        &mut self,
        directory: &SimDirectory,
        name: &Name,
        access: Access,
    ) -> Result<SimFile, Errno> {
        let directory = self.state.handles.directory(directory);
        self.enter(Call::Open, Subject::Name(directory, name))?;
        let id = match self.look_up(directory, name)?.ok_or(Errno::NOT_FOUND)? {
            Node::File(id) => id,
            Node::Directory(_) => return Err(Errno::IS_A_DIRECTORY),
            Node::Link => return Err(Errno::SYMLINK),
            Node::Special => return Err(Errno::NOT_SUPPORTED),
        };
        if self.state.file(id).is_denied {
            return Err(Errno::PERMISSION_DENIED);
        }
        if access == Access::ReadWrite && self.state.health.is_read_only {
            return Err(Errno::READ_ONLY);
        }
        self.take_descriptor()?;
        Ok(self.open_file(id, access))
    }

    fn open_file(&mut self, id: FileId, access: Access) -> SimFile {
        let file = self.state.file_mut(id);
        file.open_count += 1;
        let cursor = file.error.cursor();
        self.state.handles.open_file(id, access, cursor)
    }

    /// What is under a name, with the faults counted that the lookup meets.
    fn look_up(&mut self, directory: DirectoryId, name: &Name) -> Result<Option<Node>, Errno> {
        let Some(name) = self.state.names.find(name.as_bytes()) else { return Ok(None) };
        self.state.faults.see_name(directory, Some(name));
        let node = self.state.directory(directory);
        if node.is_denied {
            return Err(Errno::PERMISSION_DENIED);
        }
        Ok(node.find(name))
    }

    fn take_descriptor(&self) -> Result<(), Errno> {
        match self.state.limits.descriptors {
            Some(most) if self.state.handles.open_count() >= most => Err(Errno::TOO_MANY_FILES),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether something new may be made in a directory.
    fn check_new_name(&self, directory: DirectoryId) -> Result<(), Errno> {
        if self.state.directory(directory).is_removed {
            return Err(Errno::NOT_FOUND);
        }
        if self.state.limits.pages_free == Some(0) {
            return Err(Errno::NO_SPACE);
        }
        Ok(())
    }

    /// The call `create`.
    pub(super) fn create(&mut self, directory: &SimDirectory, name: &Name) -> Result<SimFile, Errno> {
        let parent = self.state.handles.directory(directory);
        self.enter(Call::Create, Subject::Name(parent, name))?;
        if self.look_up(parent, name)?.is_some() {
            return Err(Errno::EXISTS);
        }
        self.check_new_name(parent)?;
        self.take_descriptor()?;
        let name = self.state.names.intern(name.as_bytes());
        let id = self.state.new_file(name, parent);
        let group = self.state.next_group();
        self.change_name(parent, name, Some(Node::File(id)), group, None);
        Ok(self.open_file(id, Access::ReadWrite))
    }

    /// The call `make-directory`.
    pub(super) fn make_directory(&mut self, parent: &SimDirectory, name: &Name) -> Result<(), Errno> {
        let parent = self.state.handles.directory(parent);
        self.enter(Call::MakeDirectory, Subject::Name(parent, name))?;
        if self.look_up(parent, name)?.is_some() {
            return Err(Errno::EXISTS);
        }
        self.check_new_name(parent)?;
        let name = self.state.names.intern(name.as_bytes());
        let id = self.state.new_directory(name, parent);
        let group = self.state.next_group();
        self.change_name(parent, name, Some(Node::Directory(id)), group, None);
        Ok(())
    }

    /// Changes what lookups find under a name, and notes the pending change.
    fn change_name(
        &mut self,
        directory: DirectoryId,
        name: NameId,
        node: Option<Node>,
        group: u32,
        replaced_by: Option<FileId>,
    ) {
        let sequence = self.state.next_sequence();
        if let Some(Node::File(file)) = self.state.directory(directory).find(name) {
            self.state.file_mut(file).has_lost_name = true;
        }
        set(&mut self.state.directory_mut(directory).entries, name, node);
        self.state.name_changes.push(NameChange {
            sequence,
            directory,
            name,
            node,
            group,
            reach: Reach::Memory,
            is_lied_about: false,
            replaced_by,
        });
    }

    /// The call `remove`.
    pub(super) fn remove(
        &mut self,
        directory: &SimDirectory,
        name: &Name,
        kind: EntryKind,
    ) -> Result<(), Errno> {
        let parent = self.state.handles.directory(directory);
        self.enter(Call::Remove, Subject::Name(parent, name))?;
        let node = self.look_up(parent, name)?.ok_or(Errno::NOT_FOUND)?;
        match (node, kind) {
            (Node::Directory(id), EntryKind::Directory) => {
                if !self.state.directory(id).entries.is_empty() {
                    return Err(Errno::NOT_EMPTY);
                }
                self.state.directory_mut(id).is_removed = true;
            }
            (Node::Directory(_), EntryKind::File | EntryKind::Other) => return Err(Errno::IS_A_DIRECTORY),
            (Node::File(_) | Node::Link | Node::Special, EntryKind::Directory) => {
                return Err(Errno::NOT_A_DIRECTORY);
            }
            (Node::File(_) | Node::Link | Node::Special, EntryKind::File | EntryKind::Other) => {}
        }
        let name = self.state.names.intern(name.as_bytes());
        let group = self.state.next_group();
        self.change_name(parent, name, None, group, None);
        self.state.history.removed.push(Removed { directory: parent, name, node });
        Ok(())
    }

    /// The call `rename`.
    pub(super) fn rename(
        &mut self,
        from_directory: &SimDirectory,
        from: &Name,
        to_directory: &SimDirectory,
        to: &Name,
    ) -> Result<(), Errno> {
        let from_directory = self.state.handles.directory(from_directory);
        let to_directory = self.state.handles.directory(to_directory);
        self.enter(Call::Rename, Subject::Name(from_directory, from))?;
        let node = self.look_up(from_directory, from)?.ok_or(Errno::NOT_FOUND)?;
        let replaced = self.look_up(to_directory, to)?;
        if let Node::Directory(moved) = node
            && self.is_inside(to_directory, moved)
        {
            return Err(Errno::INVALID);
        }
        if let Some(Node::Directory(outer)) = replaced
            && self.is_inside(from_directory, outer)
        {
            // The kernel finds this before it looks at what the two are.
            return Err(Errno::NOT_EMPTY);
        }
        if replaced == Some(node) {
            return Ok(());
        }
        self.check_replacement(node, replaced)?;
        if self.state.directory(to_directory).is_removed {
            return Err(Errno::NOT_FOUND);
        }
        let from = self.state.names.intern(from.as_bytes());
        let to = self.state.names.intern(to.as_bytes());
        let group = self.state.next_group();
        let data_of = match (node, replaced) {
            (Node::File(id), Some(Node::File(_))) => Some(id),
            _ => None,
        };
        if let Some(replaced) = replaced {
            self.change_name(to_directory, to, None, group, data_of);
            self.state.history.removed.push(Removed { directory: to_directory, name: to, node: replaced });
            if let Node::Directory(id) = replaced {
                self.state.directory_mut(id).is_removed = true;
            }
        }
        self.change_name(to_directory, to, Some(node), group, data_of);
        self.change_name(from_directory, from, None, group, data_of);
        self.state.history.renamed.push(Renamed { from_directory, from, to_directory, to, node, replaced });
        match node {
            Node::File(id) => self.state.file_mut(id).name = to,
            Node::Directory(id) => {
                let directory = self.state.directory_mut(id);
                directory.name = to;
                directory.parent = to_directory;
            }
            Node::Link | Node::Special => {}
        }
        Ok(())
    }

    fn check_replacement(&self, node: Node, replaced: Option<Node>) -> Result<(), Errno> {
        match (node, replaced) {
            (Node::Directory(_), Some(Node::Directory(id)))
                if !self.state.directory(id).entries.is_empty() =>
            {
                Err(Errno::NOT_EMPTY)
            }
            (Node::Directory(_), Some(Node::File(_) | Node::Link | Node::Special)) => {
                Err(Errno::NOT_A_DIRECTORY)
            }
            (Node::File(_) | Node::Link | Node::Special, Some(Node::Directory(_))) => {
                Err(Errno::IS_A_DIRECTORY)
            }
            (Node::Directory(_), Some(Node::Directory(_)) | None)
            | (
                Node::File(_) | Node::Link | Node::Special,
                Some(Node::File(_) | Node::Link | Node::Special) | None,
            ) => Ok(()),
        }
    }

    /// Whether a directory is another one, or lies below it.
    fn is_inside(&self, directory: DirectoryId, outer: DirectoryId) -> bool {
        let mut at = directory;
        // A path leads upwards through other directories only, so their number bounds the loop.
        for _ in 0..=self.state.directories().len() {
            if at == outer {
                return true;
            }
            at = self.state.directory(at).parent;
        }
        false
    }

    /// The call `list`: the entries are put into `found`, for the caller to visit. One that fails by a fault has come
    /// half of the way, as `getdents64(2)` may, which gives names in pieces.
    pub(super) fn list(
        &mut self,
        directory: &SimDirectory,
        found: &mut Vec<(Name, EntryKind)>,
    ) -> Result<(), Errno> {
        let id = self.state.handles.directory(directory);
        let entered = self.enter(Call::List, Subject::Directory(id));
        if entered.is_ok() {
            self.state.faults.see_name(id, None);
        }
        let node = self.state.directory(id);
        if node.is_removed {
            return entered.and(Err(Errno::NOT_FOUND));
        }
        if node.is_denied {
            return entered.and(Err(Errno::PERMISSION_DENIED));
        }
        for entry in &node.entries {
            let kind = match entry.node {
                Node::File(_) => EntryKind::File,
                Node::Directory(_) => EntryKind::Directory,
                Node::Link | Node::Special => EntryKind::Other,
            };
            found.push((self.state.names.name_of(entry.name), kind));
        }
        shuffle(found, self.state.listing_order);
        if entered.is_err() {
            found.truncate(found.len().div_ceil(2));
        }
        entered.map(|_| ())
    }

    /// The number of a name, for events; `u64::MAX` if nothing was ever called that.
    pub(super) fn name_number(&self, name: &Name) -> u64 {
        self.state.names.find(name.as_bytes()).map_or(u64::MAX, |id| u64::from(id.number()))
    }

    /// The call `lock`.
    pub(super) fn lock(&mut self, directory: &SimDirectory, mode: LockMode) -> Result<(), Errno> {
        let id = self.state.handles.directory(directory);
        self.enter(Call::Lock, Subject::Directory(id))?;
        self.state.handles.lock(directory, mode)
    }
}

/// Puts entries into the order that a number picks; 0 leaves them as they are.
fn shuffle<T>(entries: &mut [T], order: u64) {
    if order == 0 {
        return;
    }
    for last in (1..entries.len()).rev() {
        let other = mix(order.wrapping_add(last as u64)) % (last as u64 + 1);
        entries.swap(last, index(other));
    }
}
