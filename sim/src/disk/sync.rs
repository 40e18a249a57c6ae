//! Syncs: the barrier itself, its stages, and who is told about which error.
//!
//! Promises: what a sync reported durable is on the medium; an error is told once to each descriptor that
//! was open when it happened (`errseq_t`), and to the first later one if nobody had the file open. Leaves
//! out: what a failed sync leaves behind (`failure`).

use recovery_core::storage::{Call, Errno};

use crate::schedule::{Fill, SyncStage};

use super::commit::NameScope;
use super::directory::DirectoryId;
use super::failure::{DataFailure, Report};
use super::file::FileId;
use super::handle::{SimDirectory, SimFile};
use super::injection::{Disturbance, SyncPart};
use super::pending::Pending;
use super::rules::FailedData;
use super::state::Disk;
use super::step::{Hit, Subject};

impl Disk {
    /// The call `sync`.
    pub(super) fn sync(&mut self, handle: &SimFile) -> Result<(), Errno> {
        let id = self.state.handles.file(handle).file;
        let hit = self.enter(Call::Sync, Subject::File(id))?;
        if let Some(hit) = hit {
            self.disturbed_sync(handle, id, hit)?;
        } else {
            self.sync_file(id);
        }
        self.report_error(handle, id)?;
        let is_lie = hit.is_some_and(|hit| hit.disturbance == Disturbance::LieAboutFlush);
        if !is_lie && self.state.file(id).pending.is_empty() {
            self.stamp(id);
        }
        Ok(())
    }

    /// Makes a file durable, as its filesystem does.
    fn sync_file(&mut self, id: FileId) {
        // A journal is committed only as far as it holds something of this file: asked before that is gone.
        let scope = self.scope_of_file_sync(id);
        self.write_back(id);
        self.commit_names(scope);
        self.flush_device();
    }

    /// Whether a change gives the file a block that the medium does not map yet.
    pub(super) fn is_new_on_medium(&self, id: FileId, change: &Pending) -> bool {
        let pages = self.geometry.page_of(change.position)..self.geometry.page_count(change.end);
        self.state
            .file(id)
            .pages
            .iter()
            .take(pages.end)
            .skip(pages.start)
            .any(|slot| !slot.medium.is_stored())
    }

    fn disturbed_sync(&mut self, handle: &SimFile, id: FileId, hit: Hit) -> Result<(), Errno> {
        let failure = DataFailure {
            pages: u64::MAX,
            fill: Fill::Zeros,
            errno: Errno::IO,
            report: Report::Next,
            fault: hit.fault,
        };
        match hit.disturbance {
            Disturbance::Crash { inside, .. } => {
                self.sync_until(id, inside);
                return Err(Errno::IO);
            }
            Disturbance::LieAboutFlush => {
                self.state.health.lie = hit.fault;
                self.touch_pending(id);
                self.touch_names(self.scope_of_file_sync(id));
                self.lie_about_file(id);
            }
            Disturbance::FailSync { part: SyncPart::Data, errno, pages, fill } => {
                if self.rules.failed_data == FailedData::LengthStaysReportedLate {
                    self.touch_pending(id);
                }
                self.fail_data(id, DataFailure { pages, fill, errno, ..failure });
            }
            Disturbance::FailSync { part: SyncPart::Journal, errno, .. } => {
                self.fail_journal();
                return Err(errno);
            }
            Disturbance::FailSync { part: SyncPart::InPlace, .. } => {
                self.sync_file(id);
                self.fail_in_place();
            }
            Disturbance::DeferSyncError => {
                // The error that this sync itself finds is an older one.
                self.report_error(handle, id)?;
                self.touch_pending(id);
                self.fail_data(id, DataFailure { report: Report::Late, ..failure });
                self.commit_names(self.scope_of_file_sync(id));
            }
            Disturbance::SwallowSyncError => {
                self.touch_pending(id);
                self.fail_data(id, DataFailure { report: Report::Never, ..failure });
                self.commit_names(self.scope_of_file_sync(id));
            }
            Disturbance::Fail { .. }
            | Disturbance::Short { .. }
            | Disturbance::LoseWrite
            | Disturbance::ShearWrite { .. }
            | Disturbance::MisdirectWrite { .. }
            | Disturbance::MisdirectRead { .. }
            | Disturbance::CorruptRead { .. }
            | Disturbance::GoReadOnly
            | Disturbance::ListInOrder { .. } => unreachable!("entering a sync handles or refuses these"),
        }
        Ok(())
    }

    /// The part of a file's sync that comes before a crash inside it.
    fn sync_until(&mut self, id: FileId, stage: Option<SyncStage>) {
        match stage {
            None | Some(SyncStage::Data) => {}
            Some(SyncStage::Metadata) => self.move_file_to_device(id, false, false),
            Some(SyncStage::Flush) => {
                self.move_file_to_device(id, true, false);
                let scope = self.scope_of_file_sync(id);
                self.move_names_to_device(scope, false);
                self.move_committed_lengths_to_device(scope);
            }
            Some(SyncStage::Report) => self.sync_file(id),
        }
    }

    /// Tells the descriptor of an error it has not been told of.
    fn report_error(&mut self, handle: &SimFile, id: FileId) -> Result<(), Errno> {
        let open = *self.state.handles.file(handle);
        let error = &mut self.state.file_mut(id).error;
        if open.error_cursor == error.count {
            if error.is_deferred {
                // Found by the sync after the one that hit it.
                error.is_deferred = false;
                error.raise(error.errno);
            }
            return Ok(());
        }
        error.is_seen = true;
        let (count, errno) = (error.count, error.errno);
        self.state.handles.file(handle).error_cursor = count;
        Err(errno)
    }

    /// The call `sync-directory`.
    pub(super) fn sync_directory(&mut self, handle: &SimDirectory) -> Result<(), Errno> {
        let id = self.state.handles.directory(handle);
        let hit = self.enter(Call::SyncDirectory, Subject::Directory(id))?;
        let scope = self.scope_of_directory_sync(id);
        let fault = hit.and_then(|hit| hit.fault);
        match hit.map(|hit| hit.disturbance) {
            None => self.sync_names(scope),
            Some(Disturbance::Crash { inside, .. }) => {
                self.sync_names_until(id, inside);
                return Err(Errno::IO);
            }
            Some(Disturbance::LieAboutFlush) => {
                self.state.health.lie = fault;
                self.touch_names(scope);
                self.lie_about_directory(id);
            }
            Some(Disturbance::FailSync { part, errno, .. }) => {
                // A directory's data is metadata: whatever fails, the journal does.
                match part {
                    SyncPart::Data => {}
                    SyncPart::Journal => self.fail_journal(),
                    SyncPart::InPlace => {
                        self.sync_names(scope);
                        self.fail_in_place();
                        return Ok(());
                    }
                }
                return Err(errno);
            }
            Some(
                Disturbance::Fail { .. }
                | Disturbance::Short { .. }
                | Disturbance::LoseWrite
                | Disturbance::ShearWrite { .. }
                | Disturbance::MisdirectWrite { .. }
                | Disturbance::MisdirectRead { .. }
                | Disturbance::CorruptRead { .. }
                | Disturbance::DeferSyncError
                | Disturbance::SwallowSyncError
                | Disturbance::GoReadOnly
                | Disturbance::ListInOrder { .. },
            ) => unreachable!("entering a directory sync handles or refuses these"),
        }
        Ok(())
    }

    fn sync_names(&mut self, scope: NameScope) {
        let has_names = self.state.name_changes.iter().any(|change| self.is_in_scope(change, scope));
        if has_names {
            self.commit_names(scope);
        }
        self.flush_device();
    }

    fn sync_names_until(&mut self, id: DirectoryId, stage: Option<SyncStage>) {
        let scope = self.scope_of_directory_sync(id);
        match stage {
            None | Some(SyncStage::Data | SyncStage::Metadata) => {}
            Some(SyncStage::Flush) => {
                self.move_names_to_device(scope, false);
                self.move_committed_lengths_to_device(scope);
            }
            Some(SyncStage::Report) => self.sync_names(scope),
        }
    }

    /// Moves the cuts and lengths that a commit of the whole journal takes along into the device's cache.
    fn move_committed_lengths_to_device(&mut self, scope: NameScope) {
        if let NameScope::UpTo(last) = scope
            && self.state.commit_held > 0
        {
            for id in self.state.file_ids() {
                let is_held = |change: &Pending| change.is_committed_with_names() && change.sequence <= last;
                if self.state.file(id).pending.iter().any(is_held) {
                    self.move_file_to_device(id, true, false);
                }
            }
        }
    }
}
