//! Deletes copies from the fences of a partition once they take more than a limit (DESIGN section 7).
//!
//! Promises: only after a clean stop that came later; the largest first, and no more than the limit asks for; never
//! a copy in which a batch verifies, or of which the budget does not tell; only copies that are what their names
//! say, so that a whole directory that was set aside stays; a call that fails deletes nothing more. Leaves out: when
//! this is done, which the caller says.

use crate::format::{CopyName, FenceName};
use crate::observe::{BatchSearch, PartitionFacts, Progress, Workspace};
use crate::storage::{Access, EntryKind, Name, PartitionDirectory, Storage, StorageError, exact};
use crate::units::{Length, Namespace};

/// Bytes of copies that a partition may keep, whatever they are.
pub const FENCE_BYTES_MAX: Length = Length::new(1 << 30);

/// Most copies that are held in memory; with more, only the largest are looked at.
const COPIES_HELD_MAX: usize = 4096;

/// One copy in one fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Copy {
    length: Length,
    fence: Name,
    file: Name,
}

/// The copy that is looked at.
struct Open<S: Storage> {
    fence: S::Directory,
    file: S::File,
    search: Option<BatchSearch>,
}

enum Phase<S: Storage> {
    Listing,
    Fences(Vec<Name>),
    Trimming,
    Searching(Copy, Box<Open<S>>),
    Done,
}

/// The trimming of one partition's fences under way.
pub struct FenceTrim<S: Storage> {
    namespace: Namespace,
    limit: Length,
    /// Bytes of all copies that are still there.
    bytes: u128,
    /// Copies that are not looked at yet, the largest last.
    copies: Vec<Copy>,
    deleted: Vec<(Name, Name)>,
    phase: Phase<S>,
}

impl<S: Storage> FenceTrim<S> {
    /// A trimming to `limit` bytes; `None` unless the ledger says that the partition was stopped cleanly since.
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::{BatchBuilder, Message, partition_components};
    /// # use recovery_core::host::{Host, HostOptions, NewPartition};
    /// # use recovery_core::observe::{Expectation, Observation, Progress, Workspace};
    /// # use recovery_core::storage::PartitionDirectory;
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::units::{Durability, Incarnation, Namespace};
    /// use recovery_core::host::{FENCE_BYTES_MAX, FenceTrim};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # let storage = OsStorage::open(data.path())?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # let mut host = Host::new(HostOptions::new())?;
    /// # while host.start(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let (incarnation, durability) = (Incarnation::new(1), Durability::Synced);
    /// # host.create(&storage, &NewPartition { namespace, incarnation, replicas: 1, durability })?;
    /// # while host.reconcile(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let mut batch = Vec::new();
    /// # let mut builder = BatchBuilder::begin(&mut batch, 1);
    /// # builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// # builder.finish();
    /// # host.produce(&storage, namespace, &batch, 2)?;
    /// host.stop(&storage, namespace)?;
    /// host.close(&storage);
    /// # let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// # let mut observation = Observation::new(Expectation::of(namespace), &mut workspace);
    /// # while observation.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let facts = observation.finish().facts;
    /// // Behind a clean stop, whatever was set aside before has had its time.
    /// let mut trim = FenceTrim::new(&facts, FENCE_BYTES_MAX).expect("it was stopped cleanly");
    /// while trim.step(&storage, &partition, &mut workspace, 1024 * 1024)? == Progress::More {}
    /// assert!(trim.deleted().is_empty(), "there are no copies here, let alone a gigabyte of them");
    /// # partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(facts: &PartitionFacts, limit: Length) -> Option<Self> {
        let is_stopped = facts.ledger.known().is_some_and(|ledger| ledger.newest.kind.is_clean_stop());
        is_stopped.then(|| Self {
            namespace: facts.namespace,
            limit,
            bytes: 0,
            copies: Vec::new(),
            deleted: Vec::new(),
            phase: Phase::Listing,
        })
    }

    /// Goes on for about `limit` bytes of reading and hashing, or for one copy.
    ///
    /// # Errors
    ///
    /// Whatever a storage call returns; everything is closed, and what was deleted stays so.
    ///
    /// # Panics
    ///
    /// If `limit` is below [`crate::observe::STEP_BYTES_MIN`].
    pub fn step(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<Progress, StorageError> {
        assert!(limit >= crate::observe::STEP_BYTES_MIN, "a step has room for a batch header");
        let advanced = self.advance(storage, partition, workspace, limit);
        if advanced.is_err() {
            self.close(storage);
        }
        advanced?;
        Ok(if matches!(self.phase, Phase::Done) { Progress::Done } else { Progress::More })
    }

    /// The copies that were deleted, each with its fence.
    pub fn deleted(&self) -> &[(Name, Name)] {
        &self.deleted
    }

    /// Closes what is open.
    pub fn close(&mut self, storage: &S) {
        if let Phase::Searching(_, open) = std::mem::replace(&mut self.phase, Phase::Done) {
            storage.close(open.file);
            storage.close_directory(open.fence);
        }
    }

    fn advance(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<(), StorageError> {
        match &mut self.phase {
            Phase::Listing => self.phase = Phase::Fences(fences(storage, partition)?),
            Phase::Fences(left) => {
                if let Some(fence) = left.pop() {
                    self.list(storage, partition, &fence)?;
                } else {
                    self.copies.sort_unstable();
                    self.phase = Phase::Trimming;
                }
            }
            Phase::Trimming => self.next(storage, partition, workspace)?,
            Phase::Searching(copy, open) => {
                let copy_name = copy.file;
                let Open { file, search, .. } = &mut **open;
                let search = search.as_mut().expect("a search is under way");
                if search.step(storage, file, &copy_name, workspace, limit)? {
                    self.judge(storage)?;
                }
            }
            Phase::Done => {}
        }
        Ok(())
    }

    /// Notes the copies in one fence.
    fn list(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        fence: &Name,
    ) -> Result<(), StorageError> {
        let directory = exact::uninterrupted(|| storage.open_directory(&partition.parent, fence))?;
        let mut found = Vec::new();
        let listed = exact::uninterrupted(|| {
            found.clear();
            storage.list(&directory, &mut |name, kind| {
                if kind == EntryKind::File
                    && let Some(copy) = CopyName::parse(name)
                {
                    found.push(Copy { length: copy.length(), fence: *fence, file: *name });
                }
            })
        });
        storage.close_directory(directory);
        listed?;
        for copy in found {
            self.bytes += u128::from(copy.length.get());
            self.copies.push(copy);
        }
        self.copies.sort_unstable();
        if let Some(surplus) = self.copies.len().checked_sub(COPIES_HELD_MAX) {
            self.copies.drain(..surplus);
        }
        Ok(())
    }

    /// Opens the largest copy that is left, if there are too many bytes.
    fn next(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
    ) -> Result<(), StorageError> {
        let next = self.copies.pop().filter(|_| self.bytes > u128::from(self.limit.get()));
        let Some(copy) = next else {
            self.phase = Phase::Done;
            return Ok(());
        };
        let fence = exact::uninterrupted(|| storage.open_directory(&partition.parent, &copy.fence))?;
        let opened =
            exact::uninterrupted(|| storage.open(&fence, &copy.file, Access::Read)).and_then(|file| {
                match exact::uninterrupted(|| storage.length(&file)) {
                    Ok(length) => Ok((file, length)),
                    Err(error) => {
                        storage.close(file);
                        Err(error)
                    }
                }
            });
        match opened {
            Ok((file, length)) if length == copy.length.get() && length > 0 => {
                let search = Some(BatchSearch::new(self.namespace, copy.length, workspace));
                self.phase = Phase::Searching(copy, Box::new(Open { fence, file, search }));
                Ok(())
            }
            // It is not what its name says, or takes no room.
            Ok((file, _)) => {
                storage.close(file);
                storage.close_directory(fence);
                Ok(())
            }
            Err(error) => {
                storage.close_directory(fence);
                Err(error)
            }
        }
    }

    /// Deletes the copy that was searched, unless it may hold a batch.
    fn judge(&mut self, storage: &S) -> Result<(), StorageError> {
        let Phase::Searching(copy, open) = std::mem::replace(&mut self.phase, Phase::Trimming) else {
            unreachable!("what is judged was searched")
        };
        let Open { fence, file, search } = *open;
        storage.close(file);
        let is_kept = search.expect("a search is under way").may_hold_batch();
        let removed = if is_kept {
            Ok(())
        } else {
            exact::uninterrupted(|| storage.remove(&fence, &copy.file, EntryKind::File))
                .and_then(|()| storage.sync_directory(&fence))
        };
        storage.close_directory(fence);
        removed?;
        if !is_kept {
            self.bytes = self.bytes.checked_sub(u128::from(copy.length.get())).expect("it was counted");
            self.deleted.push((copy.fence, copy.file));
        }
        Ok(())
    }
}

/// The fences of the partition.
fn fences<S: Storage>(storage: &S, partition: &PartitionDirectory<S>) -> Result<Vec<Name>, StorageError> {
    let mut fences = Vec::new();
    exact::uninterrupted(|| {
        fences.clear();
        storage.list(&partition.parent, &mut |name, kind| {
            if kind == EntryKind::Directory && FenceName::parse(&partition.name, name).is_some() {
                fences.push(*name);
            }
        })
    })?;
    fences.sort_unstable();
    Ok(fences)
}
