//! A partition for the tests of its writer and reader: opened through recovery, written by a clockwork.
//!
//! Promises: every start settles, observes, decides and carries the plan out, as a server does.

use recovery_core::decide::{Verdict, decide};
use recovery_core::format::{BatchBuilder, FileName, Message};
use recovery_core::ledger::LedgerWriter;
use recovery_core::observe::{Expectation, Observation, Progress, Workspace};
use recovery_core::partition::{
    Acknowledged, Adopted, Appended, OpenError, PartitionOptions, Writer, WriterError,
};
use recovery_core::plan::{Applying, PlanOptions, Settling, build};
use recovery_core::storage::Errno;
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset};

use crate::recording_storage::{Fault, RecordingStorage, name};

pub(crate) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 1, partition: 1 };
pub(crate) const INCARNATION: Incarnation = Incarnation::new(7);

/// Larger than any test fills.
pub(crate) const LARGE: u64 = 1024 * 1024;

pub(crate) const EIO: Fault = Fault::Error(Errno::IO);

/// Bytes of a batch that [`batch`] makes of `messages`.
pub(crate) const fn batch_bytes(messages: u64) -> u64 {
    256 + messages * (48 + PAYLOAD.len() as u64)
}

const PAYLOAD: &[u8; 52] = b"fifty-two bytes of a payload, so that a frame is 100";

/// One batch in producer form.
pub(crate) fn batch(messages: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = BatchBuilder::begin(&mut bytes, 1_000);
    for id in 1..=messages {
        let message = Message { id: u128::from(id), payload: PAYLOAD, ..Message::default() };
        builder.push(&message).unwrap();
    }
    builder.finish();
    bytes
}

/// Usual options, with segments of `segment_bytes`.
pub(crate) fn options(durability: Durability, segment_bytes: u64) -> PartitionOptions {
    PartitionOptions {
        segment_bytes: Length::new(segment_bytes),
        ..PartitionOptions::new(durability, Some(INCARNATION))
    }
}

/// The same, for a partition that has no ledger and gets none.
pub(crate) fn without_ledger(durability: Durability, segment_bytes: u64) -> PartitionOptions {
    PartitionOptions { new_ledger: None, ..options(durability, segment_bytes) }
}

/// Buffered, with offsets reserved ahead.
pub(crate) fn reserving(reserve_block: u64) -> PartitionOptions {
    PartitionOptions { reserve_block, ..options(Durability::Buffered, LARGE) }
}

/// Synced, with a ledger that is compacted early.
pub(crate) fn small_ledger() -> PartitionOptions {
    PartitionOptions { ledger_bytes_max: Length::new(1024), ..options(Durability::Synced, LARGE) }
}

/// An empty data directory with one empty partition directory, and no calls on record.
pub(crate) fn empty() -> RecordingStorage {
    let storage = RecordingStorage::new();
    storage.partition().close(&storage);
    storage.take_calls();
    storage
}

const STEP: u64 = 1 << 20;

/// What a start makes of a partition that is served: the facts it was judged by, what is left, and the
/// ledger if recovery wrote to it.
pub(crate) struct Recovered {
    pub(crate) verdict: Verdict,
    pub(crate) adopted: Option<Adopted>,
    pub(crate) ledger: Option<LedgerWriter<RecordingStorage>>,
}

/// Settles, observes, decides, and carries the plan out, as a server that makes ledgers.
pub(crate) fn recover(storage: &RecordingStorage) -> Recovered {
    recover_with(storage, PlanOptions { makes_ledger: true, ..PlanOptions::default() })
}

pub(crate) fn recover_with(storage: &RecordingStorage, options: PlanOptions) -> Recovered {
    let mut workspace = Workspace::new(4096);
    let directory = storage.partition();
    let expectation = Expectation { incarnation: Some(INCARNATION), ..Expectation::of(NAMESPACE) };
    let mut settling = Settling::new(expectation, false, &mut workspace);
    while settling.step(storage, &directory, &mut workspace, STEP).unwrap() == Progress::More {}
    let mut observation = Observation::new(expectation, &mut workspace);
    while observation.step(storage, &directory, &mut workspace, STEP) == Progress::More {}
    let observed = observation.finish();
    assert_eq!(observed.failure, None);
    let facts = observed.facts;
    let verdict = decide(&facts);
    let plan = build(&facts, &verdict, options);
    let mut applying = Applying::new(plan.clone());
    while applying.step(storage, &directory, &facts, &mut workspace, STEP).unwrap() == Progress::More {}
    let ledger = applying.finish(storage).ledger;
    directory.close(storage);
    Recovered { adopted: Adopted::of(&facts, &verdict, &plan), verdict, ledger }
}

/// What recovery leaves of a partition that it serves and in which nothing is to be repaired.
pub(crate) fn adopt(storage: &RecordingStorage) -> Adopted {
    let recovered = recover(storage);
    if let Some(ledger) = recovered.ledger {
        ledger.close(storage);
    }
    recovered.adopted.unwrap_or_else(|| panic!("{:?}", recovered.verdict))
}

/// A writer on its storage, with a clock that goes one microsecond an append.
pub(crate) struct World {
    pub(crate) storage: RecordingStorage,
    pub(crate) writer: Writer<RecordingStorage>,
    now: u64,
}

impl World {
    /// Starts on `storage`: recovers it and opens a writer. Nothing of that stays on record.
    pub(crate) fn start(storage: RecordingStorage, options: PartitionOptions) -> Self {
        let Recovered { verdict, adopted, ledger } = recover(&storage);
        let adopted = adopted.unwrap_or_else(|| panic!("{verdict:?}"));
        let writer = Writer::open(&storage, storage.partition(), adopted, ledger, options).unwrap();
        storage.take_calls();
        Self { storage, writer, now: 5_000 }
    }

    pub(crate) fn append(&mut self, messages: u32) -> Result<Appended, WriterError> {
        self.now += 1;
        self.writer.append(&self.storage, &batch(messages), self.now)
    }

    pub(crate) fn flush(&mut self) -> Result<Acknowledged, WriterError> {
        self.writer.flush(&self.storage)
    }

    /// Appends one batch and flushes it.
    pub(crate) fn write(&mut self, messages: u32) -> Result<Offset, WriterError> {
        self.append(messages)?;
        Ok(self.flush()?.next_offset)
    }

    /// The process ends here: only the files stay.
    pub(crate) fn crash(self) -> RecordingStorage {
        self.writer.close(&self.storage).close(&self.storage);
        assert_eq!(self.storage.open_handles(), 0, "a writer closes what it opened");
        self.storage.disarm();
        self.storage
    }

    /// The power goes: only what is durable stays.
    pub(crate) fn power_cut(self) -> RecordingStorage {
        self.crash().after_power_cut()
    }

    /// The writer's end, as a reader sees it: `start..next@bytes` a segment.
    pub(crate) fn chain(&self) -> String {
        let segments = self.writer.chain().segments().iter();
        let lines: Vec<String> = segments
            .map(|segment| format!("{}..{}@{}", segment.start, segment.next_offset, segment.end))
            .collect();
        lines.join(" ")
    }
}

/// Opens a writer on whatever `adopted` says, and gives its error.
pub(crate) fn refused(storage: &RecordingStorage, adopted: Adopted, options: PartitionOptions) -> OpenError {
    let error = Writer::open(storage, storage.partition(), adopted, None, options).err();
    assert_eq!(storage.open_handles(), 0, "a writer that is not opened leaves nothing open");
    error.expect("the writer is not opened")
}

/// The records of the ledger in slot order, each as `kind segment:position:next`.
pub(crate) fn ledger_lines(storage: &RecordingStorage) -> Vec<String> {
    use recovery_core::format::{LEDGER_RECORD_BYTES, LedgerKind, LedgerRecord};
    let bytes = storage.bytes(&FileName::ledger()).unwrap_or_default();
    let (records, _) = bytes.as_chunks::<LEDGER_RECORD_BYTES>();
    let line = |bytes: &[u8; LEDGER_RECORD_BYTES]| match LedgerRecord::decode(bytes) {
        Err(damage) => damage.to_string(),
        Ok(record) => match (record.kind, record.kind.mark()) {
            (LedgerKind::Floor, _) => format!("floor {}", record.floor),
            (LedgerKind::Reserved, _) => format!("reserved {}", record.reserved_offset),
            (LedgerKind::Sealed { mark, next_start }, _) => {
                format!("sealed {}:{}:{} then {next_start}", mark.segment, mark.position, mark.next_offset)
            }
            (kind, Some(mark)) => {
                format!("{} {}:{}:{}", kind.code(), mark.segment, mark.position, mark.next_offset)
            }
            (kind, None) => kind.code().to_owned(),
        },
    };
    records.iter().map(line).collect()
}

/// A name in the partition directory.
pub(crate) fn file(text: &str) -> recovery_core::storage::Name {
    match text.split_once('.') {
        Some((stem, suffix)) => name(&format!("{:020}.{suffix}", stem.parse::<u64>().unwrap())),
        None => name(text),
    }
}

/// The calls of `work`.
pub(crate) fn calls<T>(world: &mut World, work: impl FnOnce(&mut World) -> T) -> String {
    world.storage.take_calls();
    let _done = work(world);
    world.storage.take_calls()
}

/// A partition in `durability` that has been written to once.
pub(crate) fn written(durability: Durability, segment_bytes: u64) -> World {
    let mut world = World::start(empty(), options(durability, segment_bytes));
    assert_eq!(world.write(1).unwrap(), Offset::new(1));
    world
}

/// All files of the partition directory but the ledger.
pub(crate) fn segment_files(storage: &RecordingStorage) -> Vec<(String, Vec<u8>)> {
    let names = storage.names().into_iter().filter(|name| name != "ledger");
    names.map(|name| (name.clone(), storage.bytes(&file(&name)).unwrap())).collect()
}

pub(crate) fn assert_poisoned(world: &mut World) {
    world.storage.take_calls();
    let is_poisoned = |error: WriterError| assert_eq!(error.code(), "poisoned");
    is_poisoned(world.append(1).unwrap_err());
    is_poisoned(world.flush().unwrap_err());
    is_poisoned(world.writer.checkpoint(&world.storage).unwrap_err());
    is_poisoned(world.writer.retain(&world.storage, Offset::new(1)).unwrap_err());
    is_poisoned(world.writer.stop(&world.storage).unwrap_err());
    assert!(world.writer.poisoned_by().is_some());
    assert_eq!(world.storage.take_calls(), "\n", "a poisoned writer makes no call");
}
