//! Opens the metadata log of a data directory: settled, read whole, its torn end set aside and cut.
//!
//! Promises: what is adopted was read from the medium; only a definite "not found" means that there is no
//! log yet; a log that is refused is not touched; a crash anywhere, then another opening, comes to the same.
//! Each step is bounded. Leaves out: what is done about a log that is refused or cannot be read.

use super::log::Tail;
use super::probe::{Probe, Probed};
use super::walk::{Walk, Walked};
use super::{MetadataError, MetadataFault, MetadataLog};
use crate::format::{Checksum, FileName};
use crate::observe::{Meter, Progress, STEP_BYTES_MIN, Source, Workspace};
use crate::plan::{FencedFile, SettingAside};
use crate::storage::{Access, Call, Errno, PartitionDirectory, Storage, StorageError, exact};
use crate::units::{Length, Position};

/// The end of the log that was cut off: a torn write, and perhaps, if more than a crash hit it, records that
/// somebody was told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutTail {
    /// Where the log ends now.
    pub position: Position,
    /// Bytes cut off.
    pub length: Length,
    /// Where they are kept; `None` if all of them were zero.
    pub kept: Option<FencedFile>,
}

/// What an opening came to.
pub enum Opened<S: Storage> {
    /// The log, and what was cut off its end.
    Log(MetadataLog<S>, Option<CutTail>),
    /// Nothing of it may be acted on.
    Refused(MetadataFault),
    /// Nothing can be said now.
    Unavailable(StorageError),
}

enum Phase<S: Storage> {
    Open,
    Walking {
        file: S::File,
        walk: Box<Walk>,
    },
    Probing {
        file: S::File,
        walk: Box<Walk>,
        probe: Box<Probe>,
    },
    Saving {
        file: S::File,
        walk: Box<Walk>,
        task: Box<SettingAside<S>>,
    },
    Cutting {
        file: S::File,
        walk: Box<Walk>,
        kept: Option<FencedFile>,
    },
    Confirming {
        log: MetadataLog<S>,
        cut: Option<CutTail>,
    },
    Done(Opened<S>),
    /// Only ever seen while one phase is exchanged for the next, and after closing.
    Between,
}

/// An opening under way.
pub struct Opening<S: Storage> {
    phase: Phase<S>,
    /// Where the first walk stopped, and why, unless that was the end of the log.
    stopped: Option<(Position, Walked)>,
    /// What the first probe found.
    probed: Option<Probed>,
}

impl<S: Storage> Default for Opening<S> {
    fn default() -> Self {
        Self { phase: Phase::Open, stopped: None, probed: None }
    }
}

impl<S: Storage> Opening<S> {
    /// Goes on for about `limit` bytes of reading, hashing or copying, with the data directory `root`: its
    /// `parent` and its `directory` are the data directory itself, its name is the log's.
    ///
    /// # Panics
    ///
    /// If `limit` is below [`STEP_BYTES_MIN`].
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{FileName, MetadataKind, MetadataRecord};
    /// use recovery_core::observe::{Progress, Workspace};
    /// use recovery_core::storage::os::OsStorage;
    /// use recovery_core::storage::{PartitionDirectory, Storage};
    /// use recovery_core::units::{Durability, Incarnation, Namespace};
    /// use recovery_core::wal::{Opened, Opening};
    ///
    /// # let data = tempfile::tempdir()?;
    /// let storage = OsStorage::open(data.path())?;
    /// let (parent, directory) = (storage.root()?, storage.root()?);
    /// let root = PartitionDirectory { parent, directory, name: FileName::metadata_log() };
    /// let mut workspace = Workspace::new(64 * 1024);
    /// let mut opening = Opening::default();
    /// while opening.step(&storage, &root, &mut workspace, 1024 * 1024) == Progress::More {}
    /// let Opened::Log(mut log, None) = opening.finish() else { panic!("a directory without a log has an empty one") };
    ///
    /// let created = MetadataRecord {
    ///     kind: MetadataKind::Created { replicas: 1, durability: Durability::Synced },
    ///     namespace: Namespace { stream: 1, topic: 1, partition: 0 },
    ///     incarnation: Incarnation::new(1),
    /// };
    /// log.append(&storage, &root.directory, &[created])?;
    /// assert_eq!(log.registry().entries().count(), 1);
    /// log.close(&storage);
    /// root.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step(
        &mut self,
        storage: &S,
        root: &PartitionDirectory<S>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Progress {
        assert!(limit >= STEP_BYTES_MIN, "a step has room for a batch");
        if let Err(error) = self.advance(storage, root, workspace, limit) {
            self.close(storage);
            self.phase = Phase::Done(Opened::Unavailable(error));
        }
        if matches!(self.phase, Phase::Done(_)) { Progress::Done } else { Progress::More }
    }

    /// What it came to.
    ///
    /// # Panics
    ///
    /// If the last step has not said that it is done.
    pub fn finish(self) -> Opened<S> {
        match self.phase {
            Phase::Done(opened) => opened,
            Phase::Open
            | Phase::Walking { .. }
            | Phase::Probing { .. }
            | Phase::Saving { .. }
            | Phase::Cutting { .. }
            | Phase::Confirming { .. }
            | Phase::Between => unreachable!("an opening is finished when its last step is done"),
        }
    }

    /// Closes what is open, of an opening that is given up half-way.
    pub fn close(&mut self, storage: &S) {
        match std::mem::replace(&mut self.phase, Phase::Between) {
            Phase::Walking { file, .. } | Phase::Probing { file, .. } | Phase::Cutting { file, .. } => {
                storage.close(file);
            }
            Phase::Saving { file, mut task, .. } => {
                task.close(storage);
                storage.close(file);
            }
            Phase::Confirming { log, .. } | Phase::Done(Opened::Log(log, _)) => log.close(storage),
            Phase::Open | Phase::Between | Phase::Done(Opened::Refused(_) | Opened::Unavailable(_)) => {}
        }
    }

    fn advance(
        &mut self,
        storage: &S,
        root: &PartitionDirectory<S>,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Result<(), StorageError> {
        let mut meter = Meter::default();
        meter.begin_step(limit);
        let name = FileName::metadata_log();
        match &mut self.phase {
            Phase::Open => self.open(storage, root),
            Phase::Walking { file, walk } => {
                // Others use the windows between two steps.
                workspace.forget();
                let source = Source { storage, file, name: &name, length: walk.length };
                let walked = walk.step(&source, workspace, &mut meter)?;
                self.after_walk(storage, walked)
            }
            Phase::Probing { file, walk, probe } => {
                workspace.forget();
                let source = Source { storage, file, name: &name, length: walk.length };
                match probe.step(&source, workspace, &mut meter)? {
                    Some(probed) => self.after_probe(storage, probed),
                    None => Ok(()),
                }
            }
            Phase::Saving { task, .. } => {
                if let Some(kept) = task.step(storage, root, workspace.scratch(), limit)? {
                    self.save_done(&kept);
                }
                Ok(())
            }
            Phase::Cutting { .. } => self.cut(storage),
            Phase::Confirming { log, .. } => match log.confirm(storage) {
                Ok(()) => {
                    self.end_confirming();
                    Ok(())
                }
                Err(MetadataError::Io(error) | MetadataError::Poisoned { cause: error }) => Err(error),
                Err(MetadataError::Contradiction(_) | MetadataError::TooLarge { .. }) => {
                    unreachable!("a batch without records contradicts nothing")
                }
            },
            Phase::Done(_) | Phase::Between => Ok(()),
        }
    }

    /// Makes name and bytes durable, and lets what is read come from the medium.
    fn open(&mut self, storage: &S, root: &PartitionDirectory<S>) -> Result<(), StorageError> {
        storage.sync_directory(&root.directory)?;
        let name = FileName::metadata_log();
        let file = match exact::uninterrupted(|| storage.open(&root.directory, &name, Access::ReadWrite)) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => {
                self.phase = Phase::Done(Opened::Log(MetadataLog::without_file(), None));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let settled = storage
            .sync(&file)
            .and_then(|()| exact::uninterrupted(|| storage.drop_cache(&file)))
            .and_then(|()| exact::uninterrupted(|| storage.length(&file)));
        match settled {
            Ok(length) => {
                self.phase = Phase::Walking { file, walk: Box::new(Walk::new(length)) };
                Ok(())
            }
            Err(error) => {
                storage.close(file);
                Err(error)
            }
        }
    }

    /// What is wrong counts only if a second reading agrees (N13).
    fn after_walk(&mut self, storage: &S, walked: Walked) -> Result<(), StorageError> {
        match (walked, &mut self.phase) {
            (Walked::Paused, _) => return Ok(()),
            (Walked::End, _) if self.stopped.is_none() => {}
            (Walked::End | Walked::Damaged | Walked::Fault(_), Phase::Walking { file, walk }) => {
                let stop = (walk.position(), walked);
                if self.stopped.is_none() {
                    self.stopped = Some(stop);
                    exact::uninterrupted(|| storage.drop_cache(file))?;
                    **walk = Walk::new(walk.length);
                    return Ok(());
                }
                if self.stopped != Some(stop) {
                    return Err(changed(Call::Read));
                }
            }
            (Walked::End | Walked::Damaged | Walked::Fault(_), _) => {}
        }
        self.conclude_walk(storage, walked);
        Ok(())
    }

    fn conclude_walk(&mut self, storage: &S, walked: Walked) {
        let Phase::Walking { file, walk } = std::mem::replace(&mut self.phase, Phase::Between) else {
            unreachable!("a walk ends where it was under way")
        };
        let fault = match walked {
            Walked::Fault(fault) => fault,
            Walked::End | Walked::Damaged if walk.sequence == 0 => {
                MetadataFault::Headless { length: Length::new(walk.length) }
            }
            Walked::End | Walked::Paused => {
                let log = Self::adopt(file, *walk);
                self.phase = Phase::Confirming { log, cut: None };
                return;
            }
            Walked::Damaged => {
                let probe = Box::new(Probe::new(walk.position(), walk.length));
                self.phase = Phase::Probing { file, walk, probe };
                return;
            }
        };
        storage.close(file);
        self.phase = Phase::Done(Opened::Refused(fault));
    }

    fn after_probe(&mut self, storage: &S, probed: Probed) -> Result<(), StorageError> {
        if let (None, Phase::Probing { file, walk, probe }) = (self.probed, &mut self.phase) {
            self.probed = Some(probed);
            exact::uninterrupted(|| storage.drop_cache(file))?;
            **probe = Probe::new(walk.position(), walk.length);
            return Ok(());
        }
        if self.probed != Some(probed) {
            return Err(changed(Call::Read));
        }
        self.conclude_probe(storage, probed);
        Ok(())
    }

    fn conclude_probe(&mut self, storage: &S, probed: Probed) {
        let Phase::Probing { file, walk, .. } = std::mem::replace(&mut self.phase, Phase::Between) else {
            unreachable!("a probe ends where it was under way")
        };
        self.phase = match probed {
            Probed::Torn { is_zeros: true, .. } => Phase::Cutting { file, walk, kept: None },
            Probed::Torn { checksum, is_zeros: false } => {
                Phase::Saving { file, task: Box::new(Self::saving(&walk, checksum)), walk }
            }
            Probed::Fault(fault) => {
                storage.close(file);
                Phase::Done(Opened::Refused(fault))
            }
        };
    }

    fn saving(walk: &Walk, checksum: Checksum) -> SettingAside<S> {
        SettingAside::new(walk.position(), walk.residue(), checksum)
    }

    fn save_done(&mut self, kept: &FencedFile) {
        if let Phase::Saving { file, walk, .. } = std::mem::replace(&mut self.phase, Phase::Between) {
            self.phase = Phase::Cutting { file, walk, kept: Some(*kept) };
        }
    }

    /// Cuts what was judged, if the file is still as long as it was then.
    fn cut(&mut self, storage: &S) -> Result<(), StorageError> {
        let Phase::Cutting { file, walk, kept } = &self.phase else { return Ok(()) };
        let cut = CutTail { position: walk.position(), length: walk.residue(), kept: *kept };
        if exact::uninterrupted(|| storage.length(file))? != walk.length {
            return Err(changed(Call::Length));
        }
        exact::uninterrupted(|| storage.set_length(file, walk.end))?;
        storage.sync(file)?;
        if let Phase::Cutting { file, walk, .. } = std::mem::replace(&mut self.phase, Phase::Between) {
            let log = Self::adopt(file, *walk);
            self.phase = Phase::Confirming { log, cut: Some(cut) };
        }
        Ok(())
    }

    fn adopt(file: S::File, walk: Walk) -> MetadataLog<S> {
        let tail = Tail {
            end: walk.position(),
            sequence: walk.sequence,
            previous: walk.previous,
            is_unconfirmed: walk.is_unconfirmed,
        };
        MetadataLog::of(file, tail, walk.registry)
    }

    fn end_confirming(&mut self) {
        if let Phase::Confirming { log, cut } = std::mem::replace(&mut self.phase, Phase::Between) {
            self.phase = Phase::Done(Opened::Log(log, cut));
        }
    }
}

/// Two looks at the log differ: nothing is done about either.
fn changed(call: Call) -> StorageError {
    StorageError { call, file: FileName::metadata_log(), errno: Errno::STALE }
}
