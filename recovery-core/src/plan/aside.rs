//! Sets the end of the metadata log aside: the steps that save a residue, for a file that is no segment.
//!
//! Promises: as for a partition's residue. The copy has its name only once three reads agree; the fence and
//! its reason are durable before this is done. Leaves out: the cut.

use super::FencedFile;
use super::copies::{Copies, Place};
use super::fence::Fences;
use super::reason_file;
use super::save::Saving;
use super::search::Searching;
use super::site::Site;
use crate::format::{Checksum, FileName};
use crate::observe::{Expectation, PartitionFacts};
use crate::storage::{PartitionDirectory, Storage, StorageError};
use crate::units::{Length, Namespace, Position};

enum Phase<S: Storage> {
    Begin,
    Searching(Searching<S>),
    Saving { task: Saving<S>, fence: usize },
    Telling,
    Done,
}

/// The end of the metadata log on its way into a fence.
pub(crate) struct SettingAside<S: Storage> {
    copies: Copies,
    fences: Fences<S>,
    /// Of no partition: what is set aside belongs to none.
    facts: PartitionFacts,
    phase: Phase<S>,
}

impl<S: Storage> SettingAside<S> {
    /// Of `length` bytes from `position` on, which hashed to `checksum` when they were judged.
    pub(crate) fn new(position: Position, length: Length, checksum: Checksum) -> Self {
        Self {
            copies: Copies::of_metadata(position, length, checksum),
            fences: Fences::none(),
            facts: PartitionFacts::of_nothing(Expectation::of(Namespace::default())),
            phase: Phase::Begin,
        }
    }

    /// Does one slice; gives the copy once it is durable, and closes what is open then.
    ///
    /// `root` is the data directory, as the directory of the log and of its fences.
    ///
    /// # Errors
    ///
    /// Whatever a storage call returns; the log is as it was. Everything is closed.
    pub(crate) fn step(
        &mut self,
        storage: &S,
        root: &PartitionDirectory<S>,
        scratch: &mut [u8],
        limit: u64,
    ) -> Result<Option<FencedFile>, StorageError> {
        let done = self.advance(storage, root, scratch, limit);
        if !matches!(done, Ok(None)) {
            self.close(storage);
        }
        done
    }

    fn advance(
        &mut self,
        storage: &S,
        root: &PartitionDirectory<S>,
        scratch: &mut [u8],
        limit: u64,
    ) -> Result<Option<FencedFile>, StorageError> {
        let site = Site { storage, partition: root, facts: &self.facts };
        match &mut self.phase {
            Phase::Begin => self.phase = Phase::Searching(Searching::start(site, &self.copies)?),
            Phase::Searching(task) => {
                if task.advance(site, &mut self.copies, &mut self.fences, scratch, limit)? {
                    let copy = *self.copies.of_file(&FileName::metadata_log());
                    self.phase = match copy.place {
                        Place::Assigned(fence) => {
                            let task = Saving::start(site, &copy, self.fences.get(fence))?;
                            Phase::Saving { task, fence }
                        }
                        Place::Found(fence) => {
                            let task = Saving::again(site, &copy, self.fences.get(fence))?;
                            Phase::Saving { task, fence }
                        }
                        Place::Missing | Place::Spared => unreachable!("a search places every copy"),
                    };
                }
            }
            Phase::Saving { task, fence } => {
                if task.advance(site, self.fences.get(*fence), scratch, limit)?
                    && let Phase::Saving { task, .. } = std::mem::replace(&mut self.phase, Phase::Telling)
                {
                    task.close(storage);
                }
            }
            Phase::Telling => {
                self.phase = Phase::Done;
                let copy = *self.copies.of_file(&FileName::metadata_log());
                let fence = self.fences.get(copy.fence().expect("a copy that is told of has a fence"));
                reason_file::write(site, fence, self.copies.iter())?;
                storage.sync_directory(&fence.directory)?;
                return Ok(Some(FencedFile { fence: fence.name, file: copy.expect_name().name() }));
            }
            Phase::Done => unreachable!("what is set aside is set aside once"),
        }
        Ok(None)
    }

    /// Closes what is open.
    pub(crate) fn close(&mut self, storage: &S) {
        match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Searching(task) => task.close(storage),
            Phase::Saving { task, .. } => task.close(storage),
            Phase::Begin | Phase::Telling | Phase::Done => {}
        }
        self.fences.close(storage);
    }
}
