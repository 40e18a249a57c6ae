//! The observation of one partition: listing, ledger, superblock, then segment by segment.
//!
//! Promises: resumable; one step reads plus hashes no more than its limit, mid-batch if need be; whatever
//! fails, every file is closed and what was learnt before is stated. Leaves out: the settling that a server
//! does first ([`crate::plan`]), and rulings ([`crate::decide`]).

use super::directory_listing::Names;
use super::ledger_reader::LedgerReader;
use super::meter::Meter;
use super::segment_files::open;
use super::segment_walk::{Background, SegmentWalk};
use super::superblock_reader::{self, SuperblockIdentity};
use super::verifier::Verifier;
use super::window::{Fill, Source};
use super::workspace::{Tenant, Workspace};
use super::{LedgerState, PartitionFacts, SegmentFacts, SuperblockState, Unavailable};
use crate::format::FileName;
use crate::storage::{Name, PartitionDirectory, Storage, StorageError};
use crate::units::{Durability, Incarnation, Namespace, SegmentStart};

/// Smallest limit of one step in bytes: enough to read a batch header and to hash what it asks for.
pub const STEP_BYTES_MIN: u64 = 512;

/// What the caller knows of the partition before it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Which partition the directory is.
    pub namespace: Namespace,
    /// Which life of it, where the metadata says so.
    pub incarnation: Option<Incarnation>,
    /// What the directory was written with; counts only where there is no ledger.
    pub durability: Durability,
    /// Which cluster and replica the superblock must name, where that is known.
    pub superblock: Option<SuperblockIdentity>,
}

impl Expectation {
    /// A partition of which only the name is known.
    pub const fn of(namespace: Namespace) -> Self {
        Self { namespace, incarnation: None, durability: Durability::Buffered, superblock: None }
    }
}

/// Whether a state machine has more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Step again.
    More,
    /// Nothing is left to do.
    Done,
}

enum Phase<S: Storage> {
    Names,
    Ledger { file: S::File, name: Name, length: u64, reader: Box<LedgerReader> },
    Superblock,
    Segments { next: usize, open: Option<Box<SegmentWalk<S>>> },
    Done,
}

/// The observation of one partition under way.
pub struct Observation<S: Storage> {
    expectation: Expectation,
    tenant: Tenant,
    verifier: Verifier,
    meter: Meter,
    names: Names,
    ledger: LedgerState,
    superblock: SuperblockState,
    expired: Vec<SegmentStart>,
    live: Vec<SegmentStart>,
    segments: Vec<SegmentFacts>,
    phase: Phase<S>,
    failure: Option<StorageError>,
}

/// What an observation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The facts; incomplete if something failed.
    pub facts: PartitionFacts,
    /// What failed, if anything did: then no verdict follows from the facts.
    pub failure: Option<Unavailable>,
}

impl<S: Storage> Observation<S> {
    /// An observation that has not looked at anything yet.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::partition_components;
    /// use recovery_core::observe::{Expectation, Observation, Observed, Progress, Workspace};
    /// use recovery_core::storage::PartitionDirectory;
    /// use recovery_core::storage::os::OsStorage;
    /// use recovery_core::units::Namespace;
    ///
    /// # let data = tempfile::tempdir()?;
    /// # std::fs::create_dir_all(data.path().join("streams/1/topics/1/partitions/0"))?;
    /// let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
    /// let storage = OsStorage::open(data.path())?;
    /// let partition = PartitionDirectory::open(&storage, &partition_components(namespace))?;
    /// let mut workspace = Workspace::new(64 * 1024);
    /// let mut observation = Observation::new(Expectation::of(namespace), &mut workspace);
    /// while observation.step(&storage, &partition, &mut workspace, 1024 * 1024) == Progress::More {}
    /// let Observed { facts, failure } = observation.finish();
    /// // A failed call is no evidence: facts count only where nothing failed.
    /// assert_eq!(failure, None);
    /// assert!(facts.segments.is_empty());
    /// partition.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(expectation: Expectation, workspace: &mut Workspace) -> Self {
        Self {
            expectation,
            tenant: workspace.enroll(),
            verifier: Verifier::new(),
            meter: Meter::default(),
            names: Names::default(),
            ledger: LedgerState::None { length: None },
            superblock: SuperblockState::None,
            expired: Vec::new(),
            live: Vec::new(),
            segments: Vec::new(),
            phase: Phase::Names,
            failure: None,
        }
    }

    /// Reads plus hashes at most `limit` bytes more. Listing, opening and the superblock are outside of
    /// the limit: a few calls of bounded size.
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
    ) -> Progress {
        assert!(limit >= STEP_BYTES_MIN, "a step has room for a batch header");
        workspace.hand_to(self.tenant);
        self.meter.begin_step(limit);
        // Each pass that goes on has ended a phase or a segment.
        loop {
            match self.advance(storage, partition, workspace) {
                Ok(Fill::Paused) => return Progress::More,
                Ok(Fill::Ready) if matches!(self.phase, Phase::Done) => return Progress::Done,
                Ok(Fill::Ready) => {}
                Err(error) => {
                    self.failure = Some(error);
                    self.close(storage);
                    return Progress::Done;
                }
            }
        }
    }

    /// Bytes that storage has returned so far, of all files: for a progress bar.
    pub fn bytes_read(&self) -> u64 {
        self.meter.work().bytes_read
    }

    /// Closes what is open. An observation that is dropped half-way must be closed first.
    pub fn close(&mut self, storage: &S) {
        match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Ledger { file, .. } => storage.close(file),
            Phase::Segments { open: Some(walk), .. } => walk.abandon(storage),
            Phase::Names | Phase::Superblock | Phase::Segments { open: None, .. } | Phase::Done => {}
        }
    }

    /// The facts, once nothing is left to do.
    ///
    /// # Panics
    ///
    /// If [`Observation::step`] has not said [`Progress::Done`].
    pub fn finish(self) -> Observed {
        assert!(matches!(self.phase, Phase::Done), "facts are stated when all was observed");
        let facts = PartitionFacts {
            namespace: self.expectation.namespace,
            durability: self.expectation.durability,
            listing: self.names.listing,
            ledger: self.ledger,
            superblock: self.superblock,
            segments: self.segments,
            expired: self.expired,
            work: self.meter.work(),
        };
        Observed { facts, failure: self.failure.map(Unavailable::Io) }
    }

    fn advance(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
    ) -> Result<Fill, StorageError> {
        match &mut self.phase {
            Phase::Done => Ok(Fill::Ready),
            Phase::Names => {
                self.names = Names::read(storage, partition)?;
                self.begin_ledger(storage, partition)
            }
            Phase::Ledger { file, name, length, reader } => {
                let source = Source { storage, file, name, length: *length };
                if reader.step(&source, &mut workspace.log, &mut self.meter)? == Fill::Ready {
                    self.end_ledger(storage)?;
                    workspace.forget();
                    return Ok(Fill::Ready);
                }
                Ok(Fill::Paused)
            }
            Phase::Superblock => {
                let (slots, identity) = (&self.names.superblocks, self.expectation.superblock);
                self.superblock =
                    superblock_reader::read(storage, partition, slots, identity, &mut self.meter)?;
                self.begin_segments();
                Ok(Fill::Ready)
            }
            Phase::Segments { .. } => self.advance_segment(storage, partition, workspace),
        }
    }

    fn begin_ledger(&mut self, storage: &S, partition: &PartitionDirectory<S>) -> Result<Fill, StorageError> {
        self.phase = Phase::Superblock;
        if self.names.has_ledger {
            let name = FileName::ledger();
            let (file, length) = open(storage, partition, &name)?;
            let Expectation { namespace, incarnation, .. } = self.expectation;
            let present = &self.names.listing.segments;
            let reader = Box::new(LedgerReader::new(namespace, incarnation, present, length));
            self.phase = Phase::Ledger { file, name, length, reader };
        }
        Ok(Fill::Ready)
    }

    fn end_ledger(&mut self, storage: &S) -> Result<(), StorageError> {
        let phase = std::mem::replace(&mut self.phase, Phase::Superblock);
        if let Phase::Ledger { file, name, reader, .. } = phase {
            storage.close(file);
            self.ledger = reader.finish(&name)?;
        }
        Ok(())
    }

    fn begin_segments(&mut self) {
        let floor = self.ledger.known().map_or(SegmentStart::ZERO, |ledger| ledger.newest.floor);
        (self.expired, self.live) = self.names.listing.segments.iter().partition(|start| **start < floor);
        self.phase = Phase::Segments { next: 0, open: None };
    }

    fn advance_segment(
        &mut self,
        storage: &S,
        partition: &PartitionDirectory<S>,
        workspace: &mut Workspace,
    ) -> Result<Fill, StorageError> {
        let background = Background { expectation: &self.expectation, ledger: self.ledger.known() };
        let Phase::Segments { next, open } = &mut self.phase else { return Ok(Fill::Ready) };
        let Some(walk) = open else {
            match self.live.get(*next) {
                None => self.phase = Phase::Done,
                Some(start) => {
                    workspace.forget();
                    let walk = SegmentWalk::open(storage, partition, &self.names, *start, background)?;
                    *open = Some(Box::new(walk));
                    *next += 1;
                }
            }
            return Ok(Fill::Ready);
        };
        let fill = walk.step(storage, workspace, &mut self.verifier, &mut self.meter, background)?;
        if fill == Fill::Ready
            && let Some(walk) = open.take()
        {
            self.segments.push(walk.finish(storage, background));
        }
        Ok(fill)
    }
}
