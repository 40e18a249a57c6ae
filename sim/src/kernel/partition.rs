//! A real partition on a real filesystem, written by the production writer until a crash.
//!
//! Promises: writer and storage are what ships; what is owed is noted when the writer answers. Leaves out: what
//! recovery makes of it (`crashed`), hosts, and calls that fail; the kernel fails none here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use recovery_core::format::{BatchBuilder, FileName, Message, stamp};
use recovery_core::observe::{Expectation, Workspace};
use recovery_core::partition::{Adopted, PartitionOptions, Writer};
use recovery_core::recovery::Recovered;
use recovery_core::storage::PartitionDirectory;
use recovery_core::storage::os::OsStorage;
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset};

use crate::oracle::truth::{Life, Truth};
use crate::schedule::tape::{Stream, Tape};

use super::crashed::{Crashed, WINDOW_BYTES, path_of, recover};
use super::cycle::ask_to_write_back;

/// Steps of a partition's life, at most.
const STEPS_MAX: u64 = 24;

/// Time of the first batch; microseconds.
const BEGIN: u64 = 1_700_000_000_000_000;

const STREAM: Stream = Stream::Host;

/// Why a partition could not be written or recovered at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the partition of seed {seed}: {doing}: {told}")]
pub struct PartitionError {
    /// Its seed.
    pub seed: u64,
    /// What was done.
    pub doing: &'static str,
    /// What was said of it.
    pub told: String,
}

/// A partition that lives on a real filesystem.
pub(super) struct Partition {
    seed: u64,
    tape: Tape,
    root: PathBuf,
    storage: OsStorage,
    expectation: Expectation,
    has_ledger: bool,
    truth: Truth,
    writer: Option<Writer<OsStorage>>,
    workspace: Workspace,
    steps_left: u64,
    time: u64,
}

impl Partition {
    /// Makes the directories of a partition below `root`, and opens its writer, as a server does for a topic
    /// that is new.
    pub(super) fn begin(root: &Path, seed: u64) -> Result<Self, PartitionError> {
        let mut tape = Tape::from_seed(seed);
        let failed = |doing, told: String| PartitionError { seed, doing, told };
        let namespace = Namespace { stream: 1, topic: 1, partition: 0 };
        fs::create_dir_all(path_of(root, namespace))
            .map_err(|error| failed("making its directory", error.to_string()))?;
        sync_above(root, namespace).map_err(|error| failed("syncing its directories", error.to_string()))?;
        let storage =
            OsStorage::open(root).map_err(|error| failed("opening its directory", error.to_string()))?;
        let durability = tape.pick(STREAM, &[Durability::Synced, Durability::Proven, Durability::Buffered]);
        let has_ledger = tape.chance(STREAM, 750);
        let incarnation = has_ledger.then_some(Incarnation::new(1));
        let mut truth = Truth::default();
        truth.reset(Offset::ZERO);
        truth.has_ledger = has_ledger;
        let steps_left = tape.range(STREAM, 1, STEPS_MAX);
        let mut partition = Self {
            seed,
            tape,
            root: root.to_owned(),
            storage,
            expectation: Expectation { incarnation, durability, ..Expectation::of(namespace) },
            has_ledger,
            truth,
            writer: None,
            workspace: Workspace::new(WINDOW_BYTES),
            steps_left,
            time: BEGIN,
        };
        partition.open()?;
        Ok(partition)
    }

    fn failed(&self, doing: &'static str, told: &dyn ToString) -> PartitionError {
        PartitionError { seed: self.seed, doing, told: told.to_string() }
    }

    fn open(&mut self) -> Result<(), PartitionError> {
        let (recovered, directory) = self.recover()?;
        let Recovered { facts, verdict, plan, ledger, .. } = recovered;
        let adopted = Adopted::of(&facts, &verdict, &plan)
            .ok_or_else(|| self.failed("opening it", &"an empty partition is not served"))?;
        let segment_bytes = Length::new(self.tape.range(STREAM, 512, 40_000));
        let options = PartitionOptions {
            segment_bytes,
            ..PartitionOptions::new(self.expectation.durability, self.expectation.incarnation)
        };
        let writer = Writer::open(&self.storage, directory, adopted, ledger, options)
            .map_err(|error| self.failed("opening its writer", &error))?;
        self.writer = Some(writer);
        Ok(())
    }

    /// Whether it has steps left.
    pub(super) const fn is_busy(&self) -> bool {
        self.steps_left > 0
    }

    /// Takes one step: most often an append or a flush, sometimes a roll, a checkpoint or a writeback.
    pub(super) fn step(&mut self) -> Result<(), PartitionError> {
        self.steps_left -= 1;
        match self.tape.weighted(STREAM, &[(8, 0), (5, 1), (1, 2), (1, 3), (3, 4)]) {
            0 => self.append(),
            1 => self.flush(),
            2 => self.roll(),
            3 => self.checkpoint(),
            _ => self.write_back(),
        }
    }

    /// Lets the kernel write back some of the newest log, as it may at any time.
    fn write_back(&mut self) -> Result<(), PartitionError> {
        let writer = self.writer.as_ref().expect("it is open until it ends");
        let Some(last) = writer.chain().segments().last().copied() else { return Ok(()) };
        let path =
            path_of(&self.root, self.expectation.namespace).join(FileName::log(last.start).to_string());
        let position = self.tape.range(STREAM, 0, last.end.get());
        let length = self.tape.range(STREAM, 1, 40_000);
        ask_to_write_back(&path, position, length).map_err(|error| self.failed("writing back", &error))
    }

    fn append(&mut self) -> Result<(), PartitionError> {
        self.time += 1000;
        let (time, partition) = (self.time, self.expectation.namespace.partition_id());
        let mut bytes = Vec::new();
        let mut builder = BatchBuilder::begin(&mut bytes, time);
        for delta in 0..u32::try_from(self.tape.range(STREAM, 1, 3)).expect("it is small") {
            let length = self.tape.range(STREAM, 0, 5000);
            let letter = b'a' + u8::try_from(self.tape.range(STREAM, 0, 25)).expect("a letter");
            let payload = vec![letter; usize::try_from(length).expect("it is short")];
            let message = Message {
                id: u128::from(time) << 32 | u128::from(delta),
                timestamp_delta: delta,
                payload: &payload,
                user_headers: &[],
            };
            builder.push(&message).expect("it lies below the ceiling");
        }
        builder.finish();
        let storage = &self.storage;
        let writer = self.writer.as_mut().expect("it is open until it ends");
        let appended = writer.append(storage, &bytes, time);
        let appended = appended.map_err(|error| PartitionError {
            seed: self.seed,
            doing: "append",
            told: error.to_string(),
        })?;
        stamp(&mut bytes, partition, appended.base_offset, time).expect("what was taken in is whole");
        let last = writer.chain().segments().last().expect("an append has a segment");
        let position = last.end.get() + writer.buffered_length().get() - bytes.len() as u64;
        let offsets = (appended.base_offset, appended.next_offset);
        self.truth.append(None, offsets, (last.start, position), &bytes, Life::Buffered);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), PartitionError> {
        let writer = self.writer.as_mut().expect("it is open until it ends");
        match writer.flush(&self.storage) {
            Ok(acknowledged) => {
                self.acknowledge(acknowledged.next_offset);
                Ok(())
            }
            Err(error) => Err(self.failed("flush", &error)),
        }
    }

    /// Notes what an acknowledgement promises. A mark is owed only where a sync says that it is durable.
    fn acknowledge(&mut self, next: Offset) {
        let marks = self.truth.acknowledge(next) && self.has_ledger;
        match self.expectation.durability {
            Durability::Buffered => {}
            Durability::Synced => {
                if marks {
                    self.truth.mark(next);
                }
                self.truth.promise(next);
            }
            Durability::Proven => {
                self.truth.promise(next);
                if marks {
                    self.truth.mark(next);
                }
            }
        }
    }

    fn roll(&mut self) -> Result<(), PartitionError> {
        let writer = self.writer.as_mut().expect("it is open until it ends");
        match writer.roll(&self.storage) {
            Ok(acknowledged) => {
                self.acknowledge(acknowledged.next_offset);
                self.promise_all();
                Ok(())
            }
            Err(error) => Err(self.failed("roll", &error)),
        }
    }

    fn checkpoint(&mut self) -> Result<(), PartitionError> {
        let writer = self.writer.as_mut().expect("it is open until it ends");
        match writer.checkpoint(&self.storage) {
            Ok(()) => {
                self.promise_all();
                Ok(())
            }
            Err(error) => Err(self.failed("checkpoint", &error)),
        }
    }

    /// Everything that lives is durable now, and the ledger, if there is one, says so durably.
    fn promise_all(&mut self) {
        let next = self.truth.living_next();
        self.truth.promise(next);
        if self.has_ledger {
            self.truth.mark(next);
        }
    }

    /// Ends as a process does: files are closed, and nothing is written.
    pub(super) fn end(self) -> Crashed {
        drop(self.writer);
        Crashed {
            seed: self.seed,
            root: self.root,
            expectation: self.expectation,
            has_ledger: self.has_ledger,
            truth: self.truth,
        }
    }

    fn recover(&mut self) -> Result<(Recovered<OsStorage>, PartitionDirectory<OsStorage>), PartitionError> {
        recover(&self.storage, self.expectation, self.has_ledger, &mut self.workspace)
            .map_err(|told| self.failed("opening its directory", &told))
    }
}

/// Makes the way down to a partition durable, as a server does before it serves a topic that is new.
fn sync_above(root: &Path, namespace: Namespace) -> io::Result<()> {
    let path = path_of(root, namespace);
    let mut above = path.ancestors().take_while(|above| above.starts_with(root));
    above.try_for_each(|directory| fs::File::open(directory)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On any filesystem, without a crash: everything that was flushed is there, and nothing is wrong.
    #[test]
    fn a_partition_whose_process_ends_is_recovered_and_nothing_is_wrong() {
        for seed in 0..12 {
            let scratch = tempfile::tempdir().expect("a temporary directory can be made");
            let mut partition = Partition::begin(scratch.path(), seed).expect("it begins");
            while partition.is_busy() {
                partition.step().expect("nothing fails here");
            }
            assert_eq!(partition.end().judge().expect("it is recovered"), None, "seed {seed}");
        }
    }

    /// A log that lost bytes which were promised is found out.
    #[test]
    fn a_promise_that_is_broken_is_found() {
        let mut found = 0;
        for seed in 0..12 {
            let scratch = tempfile::tempdir().expect("a temporary directory can be made");
            let mut partition = Partition::begin(scratch.path(), seed).expect("it begins");
            partition.append().expect("nothing fails here");
            partition.flush().expect("nothing fails here");
            partition.checkpoint().expect("nothing fails here");
            let path = path_of(scratch.path(), partition.expectation.namespace);
            let crashed = partition.end();
            let log = path.join("00000000000000000000.log");
            let bytes = fs::read(&log).expect("the log is there");
            fs::write(&log, &bytes[..bytes.len() / 2]).expect("it can be cut");
            found += u32::from(crashed.judge().expect("it is recovered").is_some());
        }
        assert_eq!(found, 12);
    }
}
