//! What a sync commits of names and lengths, and how far.
//!
//! Promises: what is committed survives every crash; a change of length is committed without the data around it.
//! Leaves out: data, which is written back (`writeback`).

use super::directory::{DirectoryId, NameChange, Node, Reach, find, set};
use super::file::FileId;
use super::pending::{Change, Landing, Pending};
use super::rules::{NamesSynced, Sequence};
use super::state::Disk;

/// Which pending names a sync is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum NameScope {
    /// None.
    Nothing,
    /// All that were changed no later than a change, counted over all changes of the disk.
    UpTo(u32),
    /// Those that lead to a file, and to the directories on the way to it.
    ToFile(FileId),
    /// Those in a directory, and, where the filesystem adds them, those that lead to it.
    In(DirectoryId),
}

impl Disk {
    /// What the sync of a file makes durable of the names.
    pub(super) fn scope_of_file_sync(&self, id: FileId) -> NameScope {
        match self.rules.file_sync_names {
            NamesSynced::Nothing => NameScope::Nothing,
            NamesSynced::Own => NameScope::ToFile(id),
            NamesSynced::Earlier => self.last_in_journal(id).map_or(NameScope::Nothing, NameScope::UpTo),
            NamesSynced::All => NameScope::UpTo(u32::MAX),
        }
    }

    /// The last pending change of a file that its journal takes: a length, a block or a name of its own.
    fn last_in_journal(&self, id: FileId) -> Option<u32> {
        let is_journalled = |change: &&Pending| {
            change.is_committed_with_names() || change.extends() || self.is_new_on_medium(id, change)
        };
        let of_file = self.state.file(id).pending.iter().filter(is_journalled).map(|change| change.sequence);
        let names = self.state.name_changes.iter();
        let of_names = names.filter(|change| change.node == Some(Node::File(id))).map(|it| it.sequence);
        of_file.chain(of_names).max()
    }

    /// What the sync of a directory makes durable of the names.
    pub(super) fn scope_of_directory_sync(&self, id: DirectoryId) -> NameScope {
        match self.rules.directory_sync_names {
            NamesSynced::Nothing => NameScope::Nothing,
            NamesSynced::Own => NameScope::In(id),
            NamesSynced::Earlier => {
                let is_own =
                    |change: &&NameChange| change.directory == id || change.node == Some(Node::Directory(id));
                let changes = self.state.name_changes.iter().filter(is_own);
                changes.map(|change| change.sequence).max().map_or(NameScope::Nothing, NameScope::UpTo)
            }
            NamesSynced::All => NameScope::UpTo(u32::MAX),
        }
    }

    /// Whether a pending name is one that the sync is about.
    pub(super) fn is_in_scope(&self, change: &NameChange, scope: NameScope) -> bool {
        match scope {
            NameScope::Nothing => false,
            NameScope::UpTo(last) => change.sequence <= last,
            NameScope::ToFile(file) => {
                change.node == Some(Node::File(file))
                    || self.directory_of(file).is_some_and(|directory| self.leads_to(change, directory))
            }
            NameScope::In(directory) => {
                change.directory == directory
                    || (self.rules.file_sync_names == NamesSynced::Own && self.leads_to(change, directory))
            }
        }
    }

    /// A directory that has a name for a file.
    fn directory_of(&self, file: FileId) -> Option<DirectoryId> {
        let has_it = |directory: &DirectoryId| {
            self.state.directory(*directory).entries.iter().any(|entry| entry.node == Node::File(file))
        };
        self.state.directory_ids().find(has_it)
    }

    /// Whether the change is the name of a directory, or of one above it.
    fn leads_to(&self, change: &NameChange, directory: DirectoryId) -> bool {
        let Some(Node::Directory(target)) = change.node else { return false };
        let mut at = directory;
        while at != DirectoryId::ROOT {
            if at == target {
                return true;
            }
            at = self.state.directory(at).parent;
        }
        false
    }

    /// Makes pending names durable, and with a whole journal what is in it besides: cuts, or everything.
    pub(super) fn commit_names(&mut self, scope: NameScope) {
        if matches!(scope, NameScope::Nothing) {
            return;
        }
        if self.rules.sequence == Sequence::Everything {
            for id in self.state.file_ids() {
                self.write_back(id);
            }
        }
        if !self.state.name_changes.is_empty() {
            self.commit_matching_names(scope);
        }
        if let NameScope::UpTo(last) = scope
            && self.state.commit_held > 0
        {
            for id in self.state.file_ids() {
                self.commit_lengths(id, last);
            }
        }
    }

    /// Commits a file's changes of length up to a change, without the data around them, but for the zeros that
    /// a cut writes into its last page, where it waits for them. What a failed writeback has left there is settled, and is written.
    fn commit_lengths(&mut self, id: FileId, last: u32) {
        let is_due = |change: &Pending| change.is_committed_with_names() && change.sequence <= last;
        let pending = &self.state.file(id).pending;
        if pending.iter().any(|change| is_due(change) && change.landing == Landing::Failed) {
            let count = pending.iter().rposition(is_due).map_or(0, |last| last + 1);
            self.write_back_first(id, count);
            return;
        }
        let waits_for_zeros = self.rules.cut_waits_for_zeros;
        let mut committed = 0;
        for at in 0..self.state.file(id).pending.len() {
            let pending = &mut self.state.file_mut(id).pending;
            if is_due(&pending[at]) {
                committed += 1;
                pending[at].is_committed = true;
                if waits_for_zeros && at > 0 && pending[at - 1].change == Change::TailZeros {
                    pending[at - 1].is_committed = true;
                }
            }
        }
        self.state.commit_held -= committed;
    }

    fn commit_matching_names(&mut self, scope: NameScope) {
        let changes = std::mem::take(&mut self.state.name_changes);
        let mut groups = std::mem::take(&mut self.scratch.groups);
        groups.clear();
        for change in &changes {
            if self.is_in_scope(change, scope) {
                groups.push(change.group);
            }
        }
        let is_whole = self.rules.groups_are_whole;
        let is_committed = |disk: &Self, change: &NameChange| {
            if is_whole { groups.contains(&change.group) } else { disk.is_in_scope(change, scope) }
        };
        let mut left = Vec::new();
        let mut removed = Vec::new();
        for change in &changes {
            if is_committed(self, change) {
                self.state.device_held -= u32::from(change.reach == Reach::Device);
                self.apply_name(change, &mut removed);
                // An older change of the same name can no longer come after this one.
                left.retain(|older: &NameChange| {
                    let is_same = older.directory == change.directory && older.name == change.name;
                    if is_same {
                        self.state.device_held -= u32::from(older.reach == Reach::Device);
                    }
                    !is_same
                });
            } else {
                left.push(*change);
            }
        }
        self.state.name_changes = changes;
        self.state.name_changes.clear();
        self.state.name_changes.extend_from_slice(&left);
        self.scratch.groups = groups;
        for file in removed {
            self.release_if_orphan(file);
        }
    }

    /// Puts one change of a name onto the medium; files that lose the name are added to `removed`.
    pub(super) fn apply_name(&mut self, change: &NameChange, removed: &mut Vec<FileId>) {
        if let Some(Node::File(file)) = find(&self.state.directory(change.directory).durable, change.name) {
            self.state.file_mut(file).has_lost_name = true;
            removed.push(file);
        }
        set(&mut self.state.directory_mut(change.directory).durable, change.name, change.node);
    }
}
