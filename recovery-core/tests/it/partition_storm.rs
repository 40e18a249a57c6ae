//! Any sequence of calls, failures and crashes: what was promised is served, and nothing else that was not
//! written.
//!
//! A crash leaves what is durable and any part of what is not, file by file and name by name. Leaves out:
//! every damage that is no crash, which is the simulator's part.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use recovery_core::format::{BatchBuilder, FileName, Message};
use recovery_core::observe::Workspace;
use recovery_core::partition::{PartitionOptions, PollRequest, Polled, Reader, Skipped, Writer, WriterError};
use recovery_core::storage::Errno;
use recovery_core::units::{Durability, Length, Offset};

use crate::partition_world::{INCARNATION, Recovered, empty, recover};
use crate::recording_storage::{Fault, RecordingStorage};

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    Append(u32),
    Flush,
    Checkpoint,
    Retain(u64),
    Stop,
    Discard,
    /// From the call of this number on, these failures.
    Fail(u64, Vec<Failure>),
    /// The process ends and starts again.
    Restart,
    /// The power goes; the numbers choose what is left.
    PowerCut(Vec<u64>),
}

#[derive(Clone, Copy, Debug)]
enum Failure {
    Io,
    NoSpace,
    Interrupted,
    Short(usize),
}

fn failure() -> impl Strategy<Value = Failure> {
    prop_oneof![
        Just(Failure::Io),
        Just(Failure::NoSpace),
        Just(Failure::Interrupted),
        (1..400_usize).prop_map(Failure::Short),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..5_u32).prop_map(Step::Append),
        6 => Just(Step::Flush),
        1 => Just(Step::Checkpoint),
        1 => (0..40_u64).prop_map(Step::Retain),
        1 => Just(Step::Stop),
        1 => Just(Step::Discard),
        3 => (1..9_u64, vec(failure(), 1..4)).prop_map(|(call, failures)| Step::Fail(call, failures)),
        2 => Just(Step::Restart),
        2 => vec(any::<u64>(), 0..24).prop_map(Step::PowerCut),
    ]
}

fn options() -> impl Strategy<Value = PartitionOptions> {
    let durability =
        prop_oneof![Just(Durability::Buffered), Just(Durability::Synced), Just(Durability::Proven)];
    (durability, 512..2000_u64, prop_oneof![Just(0_u64), 1..8_u64]).prop_map(
        |(durability, segment_bytes, reserve_block)| PartitionOptions {
            segment_bytes: Length::new(segment_bytes),
            reserve_block,
            ledger_bytes_max: Length::new(1024),
            ..PartitionOptions::new(durability, Some(INCARNATION))
        },
    )
}

/// What the batches are known by: how many messages, and a number that no other batch has.
type Batch = (u32, u64);

struct Storm {
    storage: RecordingStorage,
    writer: Option<Writer<RecordingStorage>>,
    options: PartitionOptions,
    batches: u64,
    /// Every batch that ever got an offset, by that offset.
    written: BTreeMap<u64, Vec<Batch>>,
    /// Batches that are buffered, then acknowledged, then promised; each by its offset.
    buffered: BTreeMap<u64, Batch>,
    acknowledged: BTreeMap<u64, Batch>,
    promised: BTreeMap<u64, Batch>,
    /// Batches that were ever acknowledged.
    known_to_clients: BTreeMap<u64, Batch>,
    /// Retention was asked to give up what lies below, and may have done so.
    given_up: u64,
}

impl Storm {
    fn new(options: PartitionOptions) -> Self {
        let mut storm = Self {
            storage: empty(),
            writer: None,
            options,
            batches: 0,
            written: BTreeMap::new(),
            buffered: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
            promised: BTreeMap::new(),
            known_to_clients: BTreeMap::new(),
            given_up: 0,
        };
        storm.start();
        storm
    }

    fn run(&mut self, step: &Step) {
        match step {
            Step::Append(messages) => self.append(*messages),
            Step::Flush => self.flush(),
            Step::Checkpoint => {
                let done = self.with_writer(Writer::checkpoint);
                if done.is_ok() {
                    self.promised.extend(self.acknowledged.clone());
                }
            }
            Step::Stop => {
                let done = self.with_writer(|writer, storage| writer.stop(storage).map(|_| ()));
                if done.is_ok() {
                    self.acknowledge();
                    self.promised.extend(self.acknowledged.clone());
                }
            }
            Step::Retain(below) => {
                self.given_up = self.given_up.max(*below);
                let _outcome =
                    self.with_writer(|writer, storage| writer.retain(storage, Offset::new(*below)));
            }
            Step::Discard => {
                self.writer.as_mut().unwrap().discard();
                self.buffered.clear();
            }
            Step::Fail(call, failures) => {
                let faults: Vec<Fault> = failures.iter().map(fault).collect();
                self.storage.arm(*call, &faults);
            }
            Step::Restart => {
                self.end();
                self.start();
            }
            Step::PowerCut(choices) => self.power_cut(choices),
        }
        if self.writer.as_ref().unwrap().poisoned_by().is_some() {
            self.end();
            self.start();
        }
        self.check_lengths();
    }

    /// I12: every file ends where the writer says.
    fn check_lengths(&self) {
        for segment in self.writer.as_ref().unwrap().chain().segments() {
            let length = |name| self.storage.bytes(&name).unwrap().len() as u64;
            assert_eq!(length(FileName::log(segment.start)), segment.end.get());
            assert_eq!(length(FileName::index(segment.start)), segment.index_length.get());
        }
    }

    fn with_writer<T>(
        &mut self,
        call: impl FnOnce(&mut Writer<RecordingStorage>, &RecordingStorage) -> Result<T, WriterError>,
    ) -> Result<T, WriterError> {
        call(self.writer.as_mut().unwrap(), &self.storage)
    }

    fn append(&mut self, messages: u32) {
        self.batches += 1;
        let number = self.batches;
        let mut bytes = Vec::new();
        let mut builder = BatchBuilder::begin(&mut bytes, number);
        for _ in 0..messages {
            builder.push(&Message { payload: b"payload", ..Message::default() }).unwrap();
        }
        builder.finish();
        if let Ok(appended) = self.with_writer(|writer, storage| writer.append(storage, &bytes, number)) {
            let base = appended.base_offset.get();
            self.check_unpromised(base, u64::from(messages));
            self.written.entry(base).or_default().push((messages, number));
            self.buffered.insert(base, (messages, number));
        }
    }

    /// I08: no promised offset is given to another batch; where offsets are reserved, none that was
    /// acknowledged.
    fn check_unpromised(&self, base: u64, messages: u64) {
        let given = if self.options.reserve_block > 0 { &self.known_to_clients } else { &self.promised };
        let taken = given
            .iter()
            .find(|(first, (count, _))| **first < base + messages && base < **first + u64::from(*count));
        assert!(taken.is_none(), "offset {base} is given to a second batch: {taken:?}");
    }

    fn flush(&mut self) {
        if self.with_writer(|writer, storage| writer.flush(storage).map(|_| ())).is_ok() {
            self.acknowledge();
        }
    }

    fn acknowledge(&mut self) {
        let flushed = std::mem::take(&mut self.buffered);
        if self.options.durability != Durability::Buffered {
            self.promised.extend(flushed.clone());
        }
        self.known_to_clients.extend(flushed.clone());
        self.acknowledged.extend(flushed);
    }

    fn end(&mut self) {
        self.storage.disarm();
        self.buffered.clear();
        let writer = self.writer.take().unwrap();
        writer.close(&self.storage).close(&self.storage);
        assert_eq!(self.storage.open_handles(), 0);
    }

    fn power_cut(&mut self, choices: &[u64]) {
        self.end();
        let mut choices = choices.iter().copied();
        let mut pick = |below: u64| choices.next().map_or(0, |choice| choice % below);
        self.storage = self.storage.after_torn_power_cut(&mut pick);
        self.start();
    }

    /// Recovers, opens, and compares everything that is served with everything that was promised.
    fn start(&mut self) {
        let Recovered { verdict, adopted, ledger } = recover(&self.storage);
        let adopted = adopted.unwrap_or_else(|| panic!("a crash is never refused: {verdict:?}"));
        let directory = self.storage.partition();
        self.writer = Some(Writer::open(&self.storage, directory, adopted, ledger, self.options).unwrap());
        let served = self.served();
        for (base, batch) in &self.promised {
            let is_given_up = base + u64::from(batch.0) <= self.given_up;
            assert!(is_given_up || served.get(base) == Some(batch), "offset {base} was promised");
        }
        for (base, batch) in &served {
            let is_written = self.written.get(base).is_some_and(|batches| batches.contains(batch));
            assert!(is_written, "offset {base} is served and was not written: {batch:?}");
        }
        // What recovery adopted is durable.
        self.acknowledged.clone_from(&served);
        self.promised = served;
    }

    fn served(&self) -> BTreeMap<u64, Batch> {
        let writer = self.writer.as_ref().unwrap();
        let request =
            PollRequest { from: Offset::ZERO, messages_max: u64::MAX, bytes_max: Length::new(u64::MAX) };
        let (mut polled, mut workspace) = (Polled::default(), Workspace::new(512));
        Reader::new()
            .poll(&self.storage, writer.directory(), writer.chain(), &request, &mut workspace, &mut polled)
            .unwrap();
        let mut next = 0;
        let mut skipped = polled.skipped().iter();
        let mut served = BTreeMap::new();
        for (header, _) in polled.batches() {
            let base = header.base_offset.get();
            while next < base {
                next = match skipped.next().expect("offsets are dense, or what is missing is reported") {
                    Skipped::Expired { next, .. } => next.get(),
                    Skipped::Gap(gap) => gap.next.get(),
                };
            }
            assert_eq!(next, base, "offsets are dense, or what is missing is reported");
            next = header.next_offset().unwrap().get();
            served.insert(base, (header.message_count, header.origin_timestamp));
        }
        served
    }
}

fn fault(failure: &Failure) -> Fault {
    match failure {
        Failure::Io => Fault::Error(Errno::IO),
        Failure::NoSpace => Fault::Error(Errno::NO_SPACE),
        Failure::Interrupted => Fault::Error(Errno::INTERRUPTED),
        Failure::Short(bytes) => Fault::Short(*bytes),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_promised_is_served_whatever_fails(options in options(), steps in vec(step(), 1..40)) {
        let mut storm = Storm::new(options);
        for step in &steps {
            storm.run(step);
        }
        storm.end();
        storm.start();
    }
}
