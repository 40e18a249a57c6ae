//! Builds a replacement for a partition beside it, and puts it in its place.
//!
//! Promises: in slices; memory of the workspace; the directory that is there is only read until its replacement is
//! durable, and whatever fails before leaves it byte for byte as it was; a half-made replacement of an earlier run
//! is built anew. Leaves out: the lock on the old directory, which the caller holds, and opening the new one, which
//! is an ordinary start.

use super::segment_build::{SegmentBuild, Site};
use super::{InstallError, Offer, RebuildPlan, Source, carry_over, completion, swap};
use crate::format::{FileName, LedgerKind};
use crate::host::removal::Removal;
use crate::ledger::{LedgerError, LedgerWriter, NewLedger};
use crate::observe::{PartitionFacts, Progress, SuperblockIdentity, SuperblockState, Workspace};
use crate::storage::{Call, Errno, Name, Storage, StorageError, exact};
use crate::units::{Durability, Incarnation, Namespace, SegmentStart};

/// What is installed, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallOptions {
    /// Which partition is wanted.
    pub namespace: Namespace,
    /// Which life of it.
    pub incarnation: Incarnation,
    /// The mode that it is written in.
    pub durability: Durability,
    /// Which cluster and replica a superblock must name to come along, where that is known.
    pub superblock: Option<SuperblockIdentity>,
    /// Why the old directory is replaced: one sentence for its reason file.
    pub why: String,
}

enum Phase<S: Storage> {
    Begin,
    Clearing(Removal<S>),
    Make,
    Segment { index: usize, build: Option<Box<SegmentBuild<S>>> },
    Rest,
    Swap,
    Done,
}

/// An installation under way.
pub struct Install<S: Storage> {
    offer: Offer,
    options: InstallOptions,
    plan: RebuildPlan,
    epoch: u64,
    generation: u64,
    /// Whether the newest superblock that lies here is not known to be of another cluster or replica: such a one stays in
    /// the fence with the one before it, or the replacement would be refused for it again.
    has_own_superblock: bool,
    sibling: Option<S::Directory>,
    old: Option<S::Directory>,
    phase: Phase<S>,
    failure: Option<InstallError>,
}

impl<S: Storage> Install<S> {
    /// An installation of which nothing is done. `local` are the facts on the directory that is there.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::decide::decide;
    /// use recovery_core::observe::{Expectation, PartitionFacts, Progress, Workspace};
    /// use recovery_core::storage::os::OsStorage;
    /// use recovery_core::storage::{Name, PartitionDirectory, Storage};
    /// use recovery_core::transfer::{Install, InstallOptions, Offer, StorageSource};
    /// use recovery_core::units::{Durability, Incarnation, Namespace};
    ///
    /// let (namespace, incarnation) = (Namespace { stream: 1, topic: 1, partition: 0 }, Incarnation::new(1));
    /// let name = Name::new(b"0").expect("one component");
    /// # let (there, here) = (tempfile::tempdir()?, tempfile::tempdir()?);
    /// # std::fs::create_dir(there.path().join("0"))?;
    /// // What the peer offers: here an empty partition.
    /// let peer = OsStorage::open(there.path())?;
    /// let partition = PartitionDirectory::open(&peer, &[name])?;
    /// let facts = PartitionFacts::of_nothing(Expectation::of(namespace));
    /// let offer = Offer::of(&facts, &decide(&facts), incarnation).expect("it is served there");
    /// let mut source = StorageSource::new(&peer, &partition, &offer);
    ///
    /// // What this node makes of it, beside whatever lies here.
    /// let storage = OsStorage::open(here.path())?;
    /// let parent = storage.root()?;
    /// let mut workspace = Workspace::new(64 * 1024);
    /// let why = "there was nothing here".to_owned();
    /// let durability = Durability::Synced;
    /// let options = InstallOptions { namespace, incarnation, durability, superblock: None, why };
    /// let mut install = Install::new(offer.clone(), None, options);
    /// while install.step(&storage, &parent, &name, &mut source, &mut workspace, 1024 * 1024)? == Progress::More {}
    /// source.close();
    /// storage.open_directory(&parent, &name).map(|installed| storage.close_directory(installed))?;
    /// # storage.close_directory(parent);
    /// # partition.close(&peer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(offer: Offer, local: Option<&PartitionFacts>, options: InstallOptions) -> Self {
        let plan = RebuildPlan::of(local, &offer);
        let known = local.and_then(|facts| facts.ledger.known()).map(|ledger| ledger.newest);
        let ours = known.map_or(0, |newest| newest.generation);
        let next = |number: u64| number.checked_add(1).map_or(number, |next| next);
        Self {
            epoch: known.map_or(1, |newest| next(newest.epoch)),
            generation: next(offer.generation.max(ours)),
            has_own_superblock: local
                .is_none_or(|facts| !matches!(facts.superblock, SuperblockState::Mismatch { .. })),
            offer,
            options,
            plan,
            sibling: None,
            old: None,
            phase: Phase::Begin,
            failure: None,
        }
    }

    /// Goes on for about `limit` bytes of copying or verifying; `parent` holds the partition called `name`.
    ///
    /// # Errors
    ///
    /// [`InstallError`]: everything is closed, and each further step returns the same error.
    ///
    /// # Panics
    ///
    /// If `limit` is below [`crate::observe::STEP_BYTES_MIN`].
    pub fn step<R: Source>(
        &mut self,
        storage: &S,
        parent: &S::Directory,
        name: &Name,
        source: &mut R,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<Progress, InstallError> {
        assert!(limit >= crate::observe::STEP_BYTES_MIN, "a step has room for a batch header");
        if let Some(error) = self.failure {
            return Err(error);
        }
        match self.advance(storage, parent, name, source, workspace, limit) {
            Ok(()) if matches!(self.phase, Phase::Done) => {
                self.close(storage);
                Ok(Progress::Done)
            }
            Ok(()) => Ok(Progress::More),
            Err(error) => {
                self.failure = Some(error);
                self.close(storage);
                Err(error)
            }
        }
    }

    /// What is asked of the peer, and what lies here.
    pub const fn plan(&self) -> &RebuildPlan {
        &self.plan
    }

    /// Closes what is open, of an installation that is given up half-way.
    pub fn close(&mut self, storage: &S) {
        match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Clearing(removal) => removal.close(storage),
            Phase::Segment { build: Some(build), .. } => build.close(storage),
            Phase::Begin
            | Phase::Make
            | Phase::Segment { build: None, .. }
            | Phase::Rest
            | Phase::Swap
            | Phase::Done => {}
        }
        for directory in [self.sibling.take(), self.old.take()].into_iter().flatten() {
            storage.close_directory(directory);
        }
    }

    fn advance<R: Source>(
        &mut self,
        storage: &S,
        parent: &S::Directory,
        name: &Name,
        source: &mut R,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<(), InstallError> {
        let sibling_name = sibling_name(name)?;
        match &mut self.phase {
            Phase::Begin => {
                let InstallOptions { namespace, incarnation, .. } = self.options;
                self.offer.check(namespace, incarnation).map_err(InstallError::Offer)?;
                // What an earlier run left may be all there is.
                let _finished = completion::finish_install(storage, parent, name)?;
                self.phase = clear(storage, parent, &sibling_name)?;
            }
            Phase::Clearing(removal) => {
                if removal.step(storage, parent)? {
                    storage.sync_directory(parent)?;
                    self.phase = Phase::Make;
                }
            }
            Phase::Make => {
                self.make(storage, parent, name, &sibling_name)?;
                self.phase = Phase::Segment { index: 0, build: None };
            }
            Phase::Segment { .. } => self.advance_segment(storage, source, workspace, limit)?,
            Phase::Rest => {
                self.write_rest(storage, parent, name, workspace)?;
                self.phase = Phase::Swap;
            }
            Phase::Swap => {
                self.swap(storage, parent, name, &sibling_name)?;
                self.phase = Phase::Done;
            }
            Phase::Done => {}
        }
        Ok(())
    }

    fn make(
        &mut self,
        storage: &S,
        parent: &S::Directory,
        name: &Name,
        sibling: &Name,
    ) -> Result<(), StorageError> {
        exact::uninterrupted(|| storage.make_directory(parent, sibling))?;
        storage.sync_directory(parent)?;
        self.sibling = Some(exact::uninterrupted(|| storage.open_directory(parent, sibling))?);
        self.old = match exact::uninterrupted(|| storage.open_directory(parent, name)) {
            Ok(old) => Some(old),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error),
        };
        Ok(())
    }

    fn advance_segment<R: Source>(
        &mut self,
        storage: &S,
        source: &mut R,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<(), InstallError> {
        let Phase::Segment { index, build } = &mut self.phase else { return Ok(()) };
        let Some(end) = self.offer.segments.get(*index).copied() else {
            self.phase = Phase::Rest;
            return Ok(());
        };
        let sibling = self.sibling.as_ref().expect("the sibling was made before");
        let mut site = Site { storage, sibling, old: self.old.as_ref(), source };
        if build.is_none() {
            let pieces = self.plan.of_segment(end.segment);
            *build = Some(Box::new(SegmentBuild::start(&site, &self.offer, end, pieces)?));
        }
        let open = build.as_mut().expect("it was begun above");
        if open.advance(&mut site, workspace, limit)? {
            *index += 1;
            if let Some(done) = build.take() {
                done.close(storage);
            }
        }
        Ok(())
    }

    /// All but the logs and their indexes; `COMPLETE` comes last.
    fn write_rest(
        &self,
        storage: &S,
        parent: &S::Directory,
        name: &Name,
        workspace: &mut Workspace,
    ) -> Result<(), StorageError> {
        let sibling = self.sibling.as_ref().expect("the sibling was made before");
        self.write_ledger(storage, sibling)?;
        if let Some(old) = &self.old {
            if self.has_own_superblock {
                let identity = self.options.superblock;
                carry_over::superblocks(storage, old, sibling, identity, workspace.scratch())?;
            }
            carry_over::offsets(storage, old, sibling, workspace.scratch())?;
        }
        let fence = swap::free_fence(storage, parent, name)?;
        let text = completion::text(self.options.namespace, &fence, &self.options.why);
        completion::write(storage, sibling, &text)
    }

    fn write_ledger(&self, storage: &S, sibling: &S::Directory) -> Result<(), StorageError> {
        // Where nothing is held, the chain starts where the next message goes.
        let floor = match self.offer.segments.first() {
            Some(_) => self.offer.floor,
            None => SegmentStart::at(self.offer.next_offset),
        };
        let new = NewLedger {
            namespace: self.options.namespace,
            incarnation: self.options.incarnation,
            durability: self.options.durability,
            epoch: self.epoch,
            generation: self.generation,
            floor,
            reserved_offset: self.offer.next_offset,
        };
        let segments = &self.offer.segments;
        let kinds: Vec<LedgerKind> = segments
            .iter()
            .enumerate()
            .map(|(index, mark)| match segments.get(index + 1) {
                Some(next) => LedgerKind::Sealed { mark: *mark, next_start: next.segment },
                // Offsets behind the last one that nobody holds are a gap like any other.
                None if self.offer.next_offset > mark.next_offset => {
                    LedgerKind::Sealed { mark: *mark, next_start: SegmentStart::at(self.offer.next_offset) }
                }
                None => LedgerKind::Frontier { mark: *mark },
            })
            .collect();
        match LedgerWriter::create_saying(storage, sibling, &new, &kinds) {
            Ok(ledger) => {
                ledger.close(storage);
                Ok(())
            }
            Err(error) => Err(cause(&error)),
        }
    }

    fn swap(
        &mut self,
        storage: &S,
        parent: &S::Directory,
        name: &Name,
        sibling: &Name,
    ) -> Result<(), StorageError> {
        // The same list as when the fence was named: nothing else works on a partition that is locked.
        let fence = swap::free_fence(storage, parent, name)?;
        let text = completion::text(self.options.namespace, &fence, &self.options.why);
        swap::set_aside(storage, parent, name, &fence)?;
        swap::explain(storage, parent, &fence, text.as_bytes())?;
        swap::take_place(storage, parent, sibling, name)?;
        completion::remove(storage, self.sibling.as_ref().expect("the sibling was made before"))
    }
}

fn sibling_name(name: &Name) -> Result<Name, StorageError> {
    let too_long = StorageError { call: Call::MakeDirectory, file: *name, errno: Errno::NAME_TOO_LONG };
    FileName::rebuild(name).ok_or(too_long)
}

/// A replacement that an earlier run left is no replacement from the first moment on, and then goes.
fn clear<S: Storage>(storage: &S, parent: &S::Directory, sibling: &Name) -> Result<Phase<S>, StorageError> {
    match exact::uninterrupted(|| storage.open_directory(parent, sibling)) {
        Ok(directory) => match completion::remove(storage, &directory) {
            Ok(()) => Ok(Phase::Clearing(Removal::new(directory, *sibling))),
            Err(error) => {
                storage.close_directory(directory);
                Err(error)
            }
        },
        Err(error) if error.is_not_found() => Ok(Phase::Make),
        Err(error) => Err(error),
    }
}

fn cause(error: &LedgerError) -> StorageError {
    let changed = StorageError { call: Call::Write, file: FileName::ledger(), errno: Errno::STALE };
    error.cause().unwrap_or(changed)
}
