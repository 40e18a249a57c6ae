//! Makes what a cache shows and what the medium holds the same, before observation (DESIGN section 7).
//!
//! Promises: after a process crash the cache may hold what the medium never got, and a fresh descriptor's
//! sync cannot tell (N11); so what may count and is above its mark is synced, as is a log that is not sealed, and
//! every one where a clean stop may follow; and every file that will be read is read from the medium: what is not
//! clean stays in the cache. No byte changes. Leaves out: `recover check`, which reads through the cache and says so,
//! and scratch, which is never evidence.

use super::site::open;
use crate::format::{FileName, SuperblockSlot};
use crate::observe::{Expectation, LedgerState, Progress, STEP_BYTES_MIN, SegmentMarks, Workspace};
use crate::observe::{Fill, LedgerReader, Meter, Names, Source, Tenant};
use crate::storage::{Access, Name, PartitionDirectory, Storage, StorageError, exact};
use crate::units::SegmentStart;

/// A file to settle.
#[derive(Clone, Copy)]
enum Target {
    Superblock(SuperblockSlot),
    Log(SegmentStart),
    Index(SegmentStart),
}

/// The ledger, while its marks are read.
struct OpenLedger<S: Storage> {
    file: S::File,
    name: Name,
    length: u64,
    reader: LedgerReader,
}

enum Phase<S: Storage> {
    Names,
    Ledger(Box<OpenLedger<S>>),
    Files(Vec<Target>),
}

/// The settling of one partition under way.
pub struct Settling<S: Storage> {
    expectation: Expectation,
    sync_indexes: bool,
    tenant: Tenant,
    names: Names,
    ledger: LedgerState,
    phase: Phase<S>,
    failure: Option<StorageError>,
}

impl<S: Storage> Settling<S> {
    /// A partition of which nothing is settled yet. `sync_indexes` as in [`super::PlanOptions`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::format::partition_components;
    /// # use recovery_core::observe::{Expectation, Progress, Workspace};
    /// # use recovery_core::storage::os::OsStorage;
    /// # use recovery_core::storage::PartitionDirectory;
    /// # use recovery_core::units::Namespace;
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// # let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// # let storage = OsStorage::open(data.path())?;
    /// # let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// use recovery_core::plan::Settling;
    ///
    /// // `partition` is locked: what lies in caches is on the medium before anybody judges it.
    /// let mut settling = Settling::new(Expectation::of(namespace), true, &mut workspace);
    /// while settling.step(&storage, &partition, &mut workspace, 1024 * 1024)? == Progress::More {}
    /// # partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(expectation: Expectation, sync_indexes: bool, workspace: &mut Workspace) -> Self {
        Self {
            expectation,
            sync_indexes,
            tenant: workspace.enroll(),
            names: Names::default(),
            ledger: LedgerState::None { length: None },
            phase: Phase::Names,
            failure: None,
        }
    }

    /// Settles one file more, or reads at most `limit` bytes more of the ledger.
    ///
    /// # Errors
    ///
    /// Whatever a storage call returns: the partition is unavailable then, every handle is closed, and each
    /// further step returns the same error.
    ///
    /// # Panics
    ///
    /// If `limit` is below [`STEP_BYTES_MIN`].
    pub fn step(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<Progress, StorageError> {
        assert!(limit >= STEP_BYTES_MIN, "a step has room for a record");
        workspace.hand_to(self.tenant);
        if let Some(error) = self.failure {
            return Err(error);
        }
        let progress = self.advance(storage, partition, workspace, limit);
        if let Err(error) = progress {
            self.failure = Some(error);
            self.close(storage);
        }
        progress
    }

    /// Closes what is open. A settling that is given up half-way must be closed first; one that failed is.
    pub fn close(&mut self, storage: &S) {
        match std::mem::replace(&mut self.phase, Phase::Names) {
            Phase::Ledger(ledger) => storage.close(ledger.file),
            Phase::Names | Phase::Files(_) => {}
        }
    }

    fn advance(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<Progress, StorageError> {
        match &mut self.phase {
            Phase::Names => self.read_names(storage, partition).map(|()| Progress::More),
            Phase::Ledger(ledger) => {
                let OpenLedger { file, name, length, reader } = &mut **ledger;
                let source = Source { storage, file, name, length: *length };
                let mut meter = Meter::default();
                meter.begin_step(limit);
                if reader.step(&source, &mut workspace.log, &mut meter)? == Fill::Ready {
                    self.end_ledger(storage)?;
                }
                Ok(Progress::More)
            }
            Phase::Files(targets) => match targets.pop() {
                Some(target) => {
                    self.settle(storage, partition, target)?;
                    Ok(Progress::More)
                }
                None => Ok(Progress::Done),
            },
        }
    }

    /// Makes the names durable, reads them, and opens the ledger.
    fn read_names(&mut self, storage: &S, partition: &PartitionDirectory<S>) -> Result<(), StorageError> {
        storage.sync_directory(&partition.directory)?;
        self.names = Names::read(storage, partition)?;
        if !self.names.has_ledger {
            self.phase = Phase::Files(self.targets());
            return Ok(());
        }
        let name = FileName::ledger();
        let file = open(storage, &partition.directory, &name, Access::Read)?;
        match sync_and_drop(storage, &file).and_then(|()| exact::uninterrupted(|| storage.length(&file))) {
            Ok(length) => {
                let Expectation { namespace, incarnation, .. } = self.expectation;
                let present = &self.names.listing.segments;
                let reader = LedgerReader::new(namespace, incarnation, present, length);
                self.phase = Phase::Ledger(Box::new(OpenLedger { file, name, length, reader }));
                Ok(())
            }
            Err(error) => {
                storage.close(file);
                Err(error)
            }
        }
    }

    fn end_ledger(&mut self, storage: &S) -> Result<(), StorageError> {
        if let Phase::Ledger(ledger) = std::mem::replace(&mut self.phase, Phase::Names) {
            let OpenLedger { file, name, reader, .. } = *ledger;
            storage.close(file);
            self.ledger = reader.finish(&name)?;
            self.phase = Phase::Files(self.targets());
        }
        Ok(())
    }

    /// What observation will read, the first one last.
    fn targets(&self) -> Vec<Target> {
        let floor = self.ledger.known().map_or(SegmentStart::ZERO, |ledger| ledger.newest.floor);
        let indexes = self.names.indexes.iter().filter(|start| **start >= floor);
        let logs = self.names.listing.segments.iter().filter(|start| **start >= floor);
        let superblocks = self.names.superblocks.iter();
        let mut targets: Vec<_> = superblocks.map(|slot| Target::Superblock(*slot)).collect();
        targets.extend(logs.map(|start| Target::Log(*start)));
        targets.extend(indexes.map(|start| Target::Index(*start)));
        targets.reverse();
        targets
    }

    fn settle(
        &self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        target: Target,
    ) -> Result<(), StorageError> {
        let name = match target {
            Target::Superblock(slot) => slot.name(),
            Target::Log(segment) => FileName::log(segment),
            Target::Index(segment) => FileName::index(segment),
        };
        let file = open(storage, &partition.directory, &name, Access::Read)?;
        let settled = self.may_be_unsynced(storage, &file, target).and_then(|may_be_unsynced| {
            if may_be_unsynced {
                storage.sync(&file)?;
            }
            // Below its mark too: what an eviction would show must be what is judged (I18).
            exact::uninterrupted(|| storage.drop_cache(&file))
        });
        storage.close(file);
        settled
    }

    /// Whether the file may hold bytes that count and that no sync is known to have covered.
    fn may_be_unsynced(&self, storage: &S, file: &S::File, target: Target) -> Result<bool, StorageError> {
        match target {
            Target::Superblock(_) => Ok(true),
            Target::Log(segment) => match self.marks(segment) {
                // Where a clean stop may follow, it is to stay as short as it is seen to be.
                Some(marks) if marks.seal.is_some() && !self.sync_indexes => {
                    Ok(exact::uninterrupted(|| storage.length(file))? > marks.newest.position.get())
                }
                // What was cut back to its mark is as long as that, and not clean.
                Some(_) | None => Ok(true),
            },
            // With a ledger the index is never evidence, and every reader checks what it finds by it.
            Target::Index(_) => Ok(self.sync_indexes || self.ledger.known().is_none()),
        }
    }

    fn marks(&self, segment: SegmentStart) -> Option<&SegmentMarks> {
        let marks = &self.ledger.known()?.segments;
        match marks.binary_search_by_key(&segment, |marks| marks.segment) {
            Ok(at) => Some(&marks[at]),
            Err(_) => None,
        }
    }
}

fn sync_and_drop<S: Storage>(storage: &S, file: &S::File) -> Result<(), StorageError> {
    storage.sync(file)?;
    exact::uninterrupted(|| storage.drop_cache(file))
}
