//! Judges one partition: opened, locked, recovered, and then served, refused or asked of peers.
//!
//! Promises: a step is bounded, and steps of different partitions may alternate in any order; nothing is
//! created for a partition whose directory is gone; a refused partition is told of with its reason. Leaves
//! out: partitions that are to be made or removed.

use super::disposition::{Deed, Finding, Replication, deed};
use super::rebuilding::{OffsetRange, RebuildCause, Rebuilding, UNREADABLE_TRIES};
use super::slot::{Recovering, Served, SlotState};
use super::statistics::MessageCounts;
use super::superblock::SuperblockWriter;
use super::{Cause, Host, HostEvent, HostOptions, directory};
use crate::decide::{Action, Disposition, Reason, SegmentVerdict, is_recorded};
use crate::format::partition_components;
use crate::observe::{Expectation, PartitionFacts, Progress, Stop, Workspace};
use crate::partition::{Adopted, PartitionOptions, Reader, Writer};
use crate::plan::PlanOptions;
use crate::recovery::{Mode, Recovered, Recovery};
use crate::storage::{LockMode, PartitionDirectory, Storage, StorageError};
use crate::transfer::{Finished, finish_install};
use crate::units::{Length, Namespace, Offset};
use crate::wal::{Entry, Key};

impl<S: Storage> Host<S> {
    /// Goes on with judging a partition for about `limit` bytes of reading, hashing or copying. Does nothing
    /// for one that is not pending.
    ///
    /// # Panics
    ///
    /// If `limit` is below [`crate::observe::STEP_BYTES_MIN`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use recovery_core::host::NewPartition;
    /// use recovery_core::host::{Host, HostOptions, PartitionState};
    /// use recovery_core::observe::{Progress, Workspace};
    /// # use recovery_core::storage::os::OsStorage;
    /// use recovery_core::units::Namespace;
    /// # use recovery_core::units::{Durability, Incarnation};
    ///
    /// # let data = tempfile::tempdir()?;
    /// # let storage = OsStorage::open(data.path())?;
    /// # let mut workspace = Workspace::new(64 * 1024);
    /// # let mut before = Host::new(HostOptions::new())?;
    /// # while before.start(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # let (incarnation, durability) = (Incarnation::new(1), Durability::Synced);
    /// # for partition in 0..2 {
    /// #     let namespace = Namespace { stream: 1, topic: 1, partition };
    /// #     before.create(&storage, &NewPartition { namespace, incarnation, replicas: 1, durability })?;
    /// # }
    /// # while before.reconcile(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// # before.close(&storage);
    /// // The next process on a data directory with two partitions.
    /// let mut host = Host::new(HostOptions::new())?;
    /// while host.start(&storage, &mut workspace, 1024 * 1024) == Progress::More {}
    /// // A slice of each in turn, so that a large one keeps no other waiting.
    /// loop {
    ///     let pending: Vec<Namespace> = host.pending().collect();
    ///     if pending.is_empty() {
    ///         break;
    ///     }
    ///     for namespace in pending {
    ///         host.step(&storage, namespace, &mut workspace, 1024 * 1024);
    ///     }
    /// }
    /// assert!(host.keys().all(|key| host.state_of(&key) == Some(PartitionState::Served)));
    /// # assert_eq!(host.keys().count(), 2);
    /// host.close(&storage);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn step(
        &mut self,
        storage: &S,
        namespace: Namespace,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Progress {
        match self.newest(namespace) {
            Some(key) => self.step_key(storage, &key, workspace, limit),
            None => Progress::Done,
        }
    }

    pub(super) fn step_key(
        &mut self,
        storage: &S,
        key: &Key,
        workspace: &mut Workspace,
        limit: u64,
    ) -> Progress {
        let Some(slot) = self.slots.get_mut(key) else { return Progress::Done };
        match &mut slot.state {
            SlotState::Waiting => {
                let entry = slot.entry;
                match self.begin(storage, key, entry, workspace) {
                    Ok(state) => self.set(storage, key, state),
                    Err(cause) => self.set_unavailable(storage, key, &cause),
                }
            }
            SlotState::Recovering(recovering) => {
                let Recovering { directory, recovery } = &mut **recovering;
                if recovery.step(storage, directory, workspace, limit) == Progress::Done {
                    self.conclude(storage, key);
                }
            }
            SlotState::Created
            | SlotState::Served(_)
            | SlotState::Refused(_)
            | SlotState::Unavailable(_)
            | SlotState::Rebuilding(_)
            | SlotState::Deleting(_) => return Progress::Done,
        }
        let is_pending = self
            .slots
            .get(key)
            .is_some_and(|slot| matches!(slot.state, SlotState::Waiting | SlotState::Recovering(_)));
        if is_pending { Progress::More } else { Progress::Done }
    }

    /// Opens and locks the directory.
    fn begin(
        &mut self,
        storage: &S,
        key: &Key,
        entry: Entry,
        workspace: &mut Workspace,
    ) -> Result<SlotState<S>, Cause> {
        self.finish_install(storage, key)?;
        let Some(directory) = directory::find(storage, key.namespace)? else {
            return Ok(self.missing(key, entry));
        };
        if let Err(unavailable) = directory.lock(storage, LockMode::Exclusive) {
            directory.close(storage);
            return Err(unavailable.into());
        }
        let expectation = expectation(key, entry, &self.options);
        let options = PlanOptions { makes_ledger: self.options.makes_ledgers, ..PlanOptions::default() };
        let recovery = Recovery::new(expectation, Mode::Repair, options, workspace);
        Ok(SlotState::Recovering(Box::new(Recovering { directory, recovery })))
    }

    /// Ends an installation that a crash cut short: until then the directory may be there under another name.
    fn finish_install(&mut self, storage: &S, key: &Key) -> Result<(), StorageError> {
        let Some(parent) = directory::find_parent(storage, key.namespace)? else { return Ok(()) };
        let [.., name] = partition_components(key.namespace);
        let finished = finish_install(storage, &parent, &name);
        storage.close_directory(parent);
        match finished? {
            Finished::Installed => self.events.push(HostEvent::Installed(*key)),
            Finished::Nothing | Finished::Incomplete => {}
        }
        Ok(())
    }

    /// It was made, and there is nothing.
    fn missing(&mut self, key: &Key, entry: Entry) -> SlotState<S> {
        let reason = Reason::MissingPartition { namespace: key.namespace };
        match deed(Finding::Missing, Replication::of(entry.replicas), true) {
            Deed::RebuildWhole => self.rebuild(key, RebuildCause::Refused(reason), None),
            Deed::Tombstone
            | Deed::Serve
            | Deed::ServeWithGap
            | Deed::AskForGap
            | Deed::RebuildAround
            | Deed::Retry => self.refuse(key, reason),
        }
    }

    fn refuse(&mut self, key: &Key, reason: Reason) -> SlotState<S> {
        self.events.push(HostEvent::Refused { key: *key, reason: reason.clone() });
        SlotState::Refused(Box::new(reason))
    }

    fn rebuild(
        &mut self,
        key: &Key,
        cause: RebuildCause,
        facts: Option<Box<PartitionFacts>>,
    ) -> SlotState<S> {
        self.events.push(HostEvent::Rebuilding { key: *key, cause: cause.clone() });
        SlotState::Rebuilding(Box::new(Rebuilding { cause, facts, installing: None }))
    }

    pub(super) fn set_unavailable(&mut self, storage: &S, key: &Key, cause: &Cause) {
        self.events.push(HostEvent::Unavailable { key: *key, cause: *cause });
        self.set(storage, key, SlotState::Unavailable(*cause));
    }

    /// From a recovery that is over to what the partition is.
    fn conclude(&mut self, storage: &S, key: &Key) {
        let Some(slot) = self.slots.get(key) else { return };
        let (entry, gap_settled) = (slot.entry, slot.gap_settled);
        let Some(SlotState::Recovering(recovering)) = self.replace(key, SlotState::Waiting) else {
            unreachable!("a recovery ends where it was under way")
        };
        let Recovering { directory, recovery } = *recovering;
        let recovered = recovery.finish();
        let is_proven_empty = recovered.facts.segments.iter().all(|segment| segment.proven.batches == 0);
        let finding = self.finding(key, &recovered);
        let state = match deed(finding, Replication::of(entry.replicas), is_proven_empty) {
            Deed::Serve | Deed::ServeWithGap => self.serve(storage, key, entry, directory, recovered, None),
            Deed::AskForGap if gap_settled.is_some() || has_settled_gap(&recovered) => {
                self.serve(storage, key, entry, directory, recovered, gap_settled)
            }
            deed @ (Deed::AskForGap
            | Deed::Tombstone
            | Deed::RebuildAround
            | Deed::RebuildWhole
            | Deed::Retry) => {
                let Recovered { verdict, facts, ledger, .. } = recovered;
                if let Some(ledger) = ledger {
                    ledger.close(storage);
                }
                directory.close(storage);
                Ok(self.leave(key, deed, verdict.disposition, Box::new(facts)))
            }
        };
        match state {
            Ok(state) => self.set(storage, key, state),
            Err(cause) => self.set_unavailable(storage, key, &cause),
        }
    }

    /// What was found, with a memory for ranges that cannot be read.
    fn finding(&mut self, key: &Key, recovered: &Recovered<S>) -> Finding {
        let finding = Finding::of(&recovered.verdict.disposition);
        let is_unreadable = finding == Finding::Unavailable
            && recovered.facts.segments.iter().any(|segment| segment.stop.stop() == Stop::Unreadable);
        let Some(slot) = self.slots.get_mut(key) else { return finding };
        slot.unreadable = if is_unreadable { UNREADABLE_TRIES.min(slot.unreadable + 1) } else { 0 };
        if slot.unreadable == UNREADABLE_TRIES { Finding::Unreadable } else { finding }
    }

    /// What is not served.
    fn leave(
        &mut self,
        key: &Key,
        deed: Deed,
        disposition: Disposition,
        facts: Box<PartitionFacts>,
    ) -> SlotState<S> {
        match disposition {
            Disposition::Refuse(reason) if deed == Deed::Tombstone => self.refuse(key, reason),
            Disposition::Refuse(reason) => self.rebuild(key, RebuildCause::Refused(reason), Some(facts)),
            Disposition::ServeFrom { first, last } => {
                let gap = OffsetRange { first, next: last.checked_add(1) };
                self.rebuild(key, RebuildCause::Gap(gap), Some(facts))
            }
            Disposition::Unavailable(cause) if deed == Deed::Retry => {
                let cause = Cause::from(cause);
                self.events.push(HostEvent::Unavailable { key: *key, cause });
                SlotState::Unavailable(cause)
            }
            Disposition::Unavailable(cause) => {
                self.rebuild(key, RebuildCause::Unreadable(cause.into()), Some(facts))
            }
            Disposition::Serve => unreachable!("what is whole is served"),
        }
    }

    fn serve(
        &mut self,
        storage: &S,
        key: &Key,
        entry: Entry,
        directory: PartitionDirectory<S>,
        recovered: Recovered<S>,
        goes_on_at: Option<Offset>,
    ) -> Result<SlotState<S>, Cause> {
        let Recovered { facts, verdict, plan, fenced, ledger, .. } = recovered;
        let mut adopted =
            Adopted::of(&facts, &verdict, &plan).expect("a partition that is served is adopted");
        // What the other replicas have promised away is not given again by this one.
        adopted.next_offset = goes_on_at.map_or(adopted.next_offset, |next| next.max(adopted.next_offset));
        let options = self.options_of(key, entry);
        let writer = Writer::open(storage, directory, adopted, ledger, options).map_err(Cause::Open)?;
        let superblock = SuperblockWriter::open(
            storage,
            &writer.directory().directory,
            &facts.superblock,
            self.options.superblock,
        );
        let superblock = match superblock {
            Ok(superblock) => superblock,
            Err(error) => {
                writer.close(storage).close(storage);
                return Err(Cause::Io(error));
            }
        };
        let counts = MessageCounts::of(&facts);
        self.events.push(HostEvent::Served {
            key: *key,
            next_offset: writer.next_offset(),
            messages: counts.total(),
            cut: bytes_cut(&facts, &verdict.segments),
            copies: fenced.len() as u64,
            gap: match verdict.disposition {
                Disposition::ServeFrom { first, last } => {
                    let behind = writer.next_offset().get().checked_sub(1);
                    Some((first, behind.map_or(last, Offset::new)))
                }
                Disposition::Serve | Disposition::Refuse(_) | Disposition::Unavailable(_) => None,
            },
        });
        let served = Served { writer, reader: Reader::new(), counts, superblock };
        Ok(SlotState::Served(Box::new(served)))
    }

    /// How a partition is written.
    pub(super) fn options_of(&self, key: &Key, entry: Entry) -> PartitionOptions {
        let options = self.special.get(&key.namespace).copied().unwrap_or(self.options.partition);
        PartitionOptions {
            durability: entry.durability,
            new_ledger: self.options.makes_ledgers.then_some(key.incarnation),
            ..options
        }
    }
}

/// Whether a record says already that nobody holds the offsets of the gap: a copy from a peer that left it brings one.
fn has_settled_gap<S: Storage>(recovered: &Recovered<S>) -> bool {
    let Disposition::ServeFrom { first, last } = recovered.verdict.disposition else { return false };
    let ledger = recovered.facts.ledger.known();
    last.checked_add(1).zip(ledger).is_some_and(|(next, ledger)| is_recorded(&ledger.gaps, first, next))
}

fn bytes_cut(facts: &PartitionFacts, verdicts: &[SegmentVerdict]) -> Length {
    let cut = facts.segments.iter().zip(verdicts).filter_map(|(facts, verdict)| match verdict.action {
        Action::Cut { .. } => Some(facts.residue.length),
        Action::Keep | Action::RebuildIndex => None,
    });
    cut.fold(Length::ZERO, |sum, length| sum.checked_add(length).expect("files are shorter than that"))
}

pub(super) fn expectation(key: &Key, entry: Entry, options: &HostOptions) -> Expectation {
    Expectation {
        namespace: key.namespace,
        incarnation: Some(key.incarnation),
        durability: entry.durability,
        superblock: options.superblock,
    }
}
