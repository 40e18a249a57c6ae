//! A host on a storage in memory, stepped to the end of whatever it does.
//!
//! Promises: small steps and a small window, so that every slice boundary is crossed. Leaves out: peers.

use std::fmt::Write as _;

use recovery_core::format::FileName;
use recovery_core::host::{ClientError, Host, HostError, HostOptions, NewPartition, PartitionState};
use recovery_core::observe::{Progress, Workspace};
use recovery_core::partition::{PollRequest, Polled};
use recovery_core::storage::Errno;
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset, SegmentStart};

use crate::memory_storage::{Fault, MemoryStorage};
use crate::partition_world::batch;

pub(crate) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
pub(crate) const OTHER: Namespace = Namespace { stream: 1, topic: 2, partition: 4 };
pub(crate) const DIRECTORY: &str = "streams/1/topics/2/partitions/3";
const LIMIT: u64 = 1024;

/// A node that is up.
pub(crate) struct World {
    pub(crate) storage: MemoryStorage,
    pub(crate) host: Host<MemoryStorage>,
    pub(crate) workspace: Workspace,
    options: HostOptions,
    now: u64,
}

impl World {
    /// A node on an empty data directory.
    pub(crate) fn new() -> Self {
        Self::on(MemoryStorage::new(), HostOptions::new())
    }

    /// A node that starts on `storage`.
    pub(crate) fn on(storage: MemoryStorage, options: HostOptions) -> Self {
        let host = Host::new(options).unwrap();
        let mut world = Self { storage, host, workspace: Workspace::new(512), options, now: 1_000 };
        world.run();
        world
    }

    /// Starts, and judges every partition.
    pub(crate) fn run(&mut self) {
        while self.host.start(&self.storage, &mut self.workspace, LIMIT) == Progress::More {}
        self.judge();
    }

    /// The same, and does `work` before the step with this number; says whether there was no such step.
    pub(crate) fn run_with(&mut self, number: u64, work: impl FnOnce(&MemoryStorage)) -> bool {
        let mut work = Some(work);
        let mut steps = 0..;
        let mut before = |storage: &MemoryStorage| {
            if steps.next() == Some(number)
                && let Some(work) = work.take()
            {
                work(storage);
            }
        };
        while self.host.start(&self.storage, &mut self.workspace, LIMIT) == Progress::More {
            before(&self.storage);
        }
        loop {
            let Some(namespace) = self.host.pending().next() else { break };
            before(&self.storage);
            self.host.step(&self.storage, namespace, &mut self.workspace, LIMIT);
        }
        work.is_some()
    }

    /// Judges every partition, in turns of one step each.
    pub(crate) fn judge(&mut self) {
        loop {
            let pending: Vec<Namespace> = self.host.pending().collect();
            if pending.is_empty() {
                return;
            }
            for namespace in pending {
                self.host.step(&self.storage, namespace, &mut self.workspace, LIMIT);
            }
        }
    }

    /// The process ends and another one starts.
    pub(crate) fn restart(&mut self) {
        self.restart_with(None);
    }

    /// The same, and a storage call fails.
    pub(crate) fn restart_with(&mut self, fault: Option<Fault>) {
        let host = std::mem::replace(&mut self.host, Host::new(self.options).unwrap());
        host.close(&self.storage);
        assert_eq!(self.storage.open_handles(), 0, "a host closes what it opened");
        self.storage.start(fault);
        self.run();
    }

    /// The process ends and another one starts, which is told something first.
    pub(crate) fn restart_keeping(&mut self, tell: impl FnOnce(&mut Host<MemoryStorage>)) {
        let mut host = Host::new(self.options).unwrap();
        tell(&mut host);
        std::mem::replace(&mut self.host, host).close(&self.storage);
        self.storage.start(None);
        self.run();
    }

    /// The power goes, and the node starts again.
    pub(crate) fn power_cut(&mut self) {
        self.host = Host::new(self.options).unwrap();
        self.storage.lose_power();
        self.storage.start(None);
        self.run();
    }

    pub(crate) fn create(&mut self, incarnation: u64) -> Result<(), HostError> {
        self.create_on(NAMESPACE, incarnation, 1)
    }

    pub(crate) fn create_on(
        &mut self,
        namespace: Namespace,
        incarnation: u64,
        replicas: u8,
    ) -> Result<(), HostError> {
        let incarnation = Incarnation::new(incarnation);
        let new = NewPartition { namespace, incarnation, replicas, durability: Durability::Proven };
        self.host.create(&self.storage, &new).map(|_| ())
    }

    pub(crate) fn delete(&mut self) -> Result<(), HostError> {
        self.host.delete(&self.storage, NAMESPACE).map(|_| ())
    }

    pub(crate) fn confirm(&mut self) -> Result<(), HostError> {
        self.host.confirm(&self.storage, NAMESPACE).map(|_| ())
    }

    /// One whole pass.
    pub(crate) fn reconcile(&mut self) {
        while self.host.reconcile(&self.storage, &mut self.workspace, LIMIT) == Progress::More {}
    }

    pub(crate) fn apply_inserts(&mut self) {
        while self.host.apply_inserts(&self.storage, &mut self.workspace, LIMIT) == Progress::More {}
    }

    /// Appends a batch of `messages` and acknowledges it.
    pub(crate) fn write(&mut self, namespace: Namespace, messages: u32) -> Result<Offset, ClientError> {
        self.now += 1;
        self.host.produce(&self.storage, namespace, &batch(messages), self.now)?;
        Ok(self.host.flush(&self.storage, namespace)?.next_offset)
    }

    /// Lets a sync of the log fail, so that the writer gives up.
    pub(crate) fn poison(&mut self) {
        self.now += 1;
        self.host.produce(&self.storage, NAMESPACE, &batch(1), self.now).unwrap();
        for call in 1.. {
            self.storage.start_again(Some(Fault::Once(call, Errno::IO)));
            let error = self.host.flush(&self.storage, NAMESPACE).unwrap_err();
            self.storage.start_again(None);
            if error.code() == "poisoned" {
                return;
            }
        }
    }

    /// The base offsets of all batches from 0 on.
    pub(crate) fn poll(&mut self, namespace: Namespace) -> Result<Vec<u64>, ClientError> {
        let request =
            PollRequest { from: Offset::ZERO, messages_max: 1_000, bytes_max: Length::new(1 << 20) };
        let mut polled = Polled::default();
        self.host.poll(&self.storage, namespace, &request, &mut self.workspace, &mut polled)?;
        Ok(polled.batches().map(|(header, _)| header.base_offset.get()).collect())
    }

    pub(crate) fn state(&self) -> Option<PartitionState> {
        self.host.state(NAMESPACE)
    }

    /// The events since this was last asked, one a line.
    pub(crate) fn events(&mut self) -> String {
        let mut lines = String::new();
        for event in self.host.take_events() {
            writeln!(lines, "{event}").unwrap();
        }
        lines
    }

    /// Every path of the data directory that has `part` in it.
    pub(crate) fn paths(&self, part: &str) -> Vec<String> {
        self.storage.files().into_keys().filter(|path| path.contains(part)).collect()
    }

    /// Flips a bit of the first log, on the medium.
    pub(crate) fn flip(&self, at: usize) {
        let path = log_path();
        let mut bytes = self.storage.files()[&path].clone();
        bytes[at] ^= 1;
        self.storage.put(&path, &bytes);
    }
}

/// The path of the first log.
pub(crate) fn log_path() -> String {
    format!("{DIRECTORY}/{}", FileName::log(SegmentStart::ZERO))
}

/// A node with one partition that holds three batches, the last of them a mark, and no event left.
pub(crate) fn healthy() -> World {
    healthy_on(1)
}

/// The same of a partition with so many replicas.
fn healthy_on(replicas: u8) -> World {
    let mut world = World::new();
    world.create_on(NAMESPACE, 1, replicas).unwrap();
    world.reconcile();
    for expected in 1..=3 {
        assert_eq!(world.write(NAMESPACE, 1).unwrap(), Offset::new(expected));
    }
    world.events();
    world
}

/// A replica that waits for peers, after a bit of its first batch has gone, and a restart.
pub(crate) fn rebuilding() -> World {
    let mut world = healthy_on(3);
    world.flip(310);
    world.restart();
    assert_eq!(world.state(), Some(PartitionState::Rebuilding));
    world
}

/// A lone one after a bit of its first batch has gone, and a restart.
pub(crate) fn refused() -> World {
    let mut world = healthy();
    world.flip(310);
    world.restart();
    assert_eq!(world.state(), Some(PartitionState::Refused));
    world
}
