//! A partition that a writer wrote and accidents damaged, for the tests of what an operator can do then.
//!
//! Promises: thirteen messages, one a batch of 324 bytes, in segments 0 to 4, 5 to 9 and 10 to 12, all durable.
//! Leaves out: what is to come of the damage.

use recovery_core::decide::{Losses, LostRange, Unacceptable, Verdict, losses};
use recovery_core::format::{BatchBuilder, LedgerKind, LedgerRecord, Message, partition_components};
use recovery_core::host::{AcceptedLoss, AcceptingLoss, RangeMistake};
use recovery_core::observe::{Expectation, PartitionFacts, Progress, Workspace};
use recovery_core::partition::{Adopted, PartitionOptions, PollRequest, Polled, Reader, Skipped, Writer};
use recovery_core::plan::PlanOptions;
use recovery_core::recovery::{Mode, Recovered, Recovery};
use recovery_core::storage::{PartitionDirectory, Storage};
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset};

use crate::memory_storage::MemoryStorage;

pub(crate) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
pub(crate) const INCARNATION: Incarnation = Incarnation::new(7);
pub(crate) const DIRECTORY: &str = "streams/1/topics/2/partitions/3";
pub(crate) const SERVER: PlanOptions =
    PlanOptions { sync_indexes: false, clean_stop: false, makes_ledger: false };
pub(crate) const TOOL: PlanOptions =
    PlanOptions { sync_indexes: true, clean_stop: true, makes_ledger: false };

/// Bytes of the windows.
const WINDOW: usize = 16 * 1024;

/// Bytes of one batch.
pub(crate) const BATCH: usize = 324;

pub(crate) fn batch(payload: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = BatchBuilder::begin(&mut bytes, 1_000);
    builder
        .push(&Message { id: u128::from(payload), payload: &[payload; 20], ..Message::default() })
        .unwrap();
    builder.finish();
    bytes
}

/// A data directory with the partition in it.
pub(crate) fn written(has_ledger: bool) -> MemoryStorage {
    let storage = MemoryStorage::new();
    storage.put_directory(DIRECTORY);
    let partition = PartitionDirectory::open(&storage, &partition_components(NAMESPACE)).unwrap();
    let adopted = Adopted {
        namespace: NAMESPACE,
        segments: Vec::new(),
        expired: Vec::new(),
        next_offset: Offset::ZERO,
        ledger: None,
        invalid_ledger_length: Length::ZERO,
    };
    let options = PartitionOptions {
        segment_bytes: Length::new(5 * BATCH as u64),
        ..PartitionOptions::new(Durability::Proven, has_ledger.then_some(INCARNATION))
    };
    let mut writer = Writer::open(&storage, partition, adopted, None, options).unwrap();
    for number in 0..13 {
        writer.append(&storage, &batch(number + 1), 5_000).unwrap();
        let _acknowledged = writer.flush(&storage).unwrap();
    }
    writer.close(&storage).close(&storage);
    // Indexes too.
    for (path, bytes) in storage.files() {
        storage.put(&path, &bytes);
    }
    storage
}

pub(crate) fn path(file: &str) -> String {
    format!("{DIRECTORY}/{file}")
}

/// Changes a file; one that is not there is empty first.
pub(crate) fn change(storage: &MemoryStorage, file: &str, happens: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = storage.files().get(&path(file)).cloned().unwrap_or_default();
    happens(&mut bytes);
    storage.put(&path(file), &bytes);
}

pub(crate) fn expectation() -> Expectation {
    Expectation { durability: Durability::Proven, ..Expectation::of(NAMESPACE) }
}

pub(crate) fn open<S: Storage>(storage: &S) -> PartitionDirectory<S> {
    PartitionDirectory::open(storage, &partition_components(NAMESPACE)).unwrap()
}

/// Looks at the partition.
pub(crate) fn look(storage: &MemoryStorage) -> (PartitionFacts, Verdict) {
    let Recovered { facts, verdict, .. } = recover(storage, Mode::Look, SERVER);
    (facts, verdict)
}

/// An ordinary start.
pub(crate) fn recover(storage: &MemoryStorage, mode: Mode, options: PlanOptions) -> Recovered<MemoryStorage> {
    let mut recovered = recover_for_a_writer(storage, mode, options);
    if let Some(ledger) = recovered.ledger.take() {
        ledger.close(storage);
    }
    recovered
}

/// The same, with the ledger open for a writer.
pub(crate) fn start(storage: &MemoryStorage) -> Recovered<MemoryStorage> {
    recover_for_a_writer(storage, Mode::Repair, SERVER)
}

fn recover_for_a_writer(
    storage: &MemoryStorage,
    mode: Mode,
    options: PlanOptions,
) -> Recovered<MemoryStorage> {
    let partition = open(storage);
    let mut workspace = Workspace::new(WINDOW);
    let mut recovery = Recovery::new(expectation(), mode, options, &mut workspace);
    while recovery.step(storage, &partition, &mut workspace, 1 << 20) == Progress::More {}
    let recovered = recovery.finish();
    partition.close(storage);
    recovered
}

/// What is lost.
pub(crate) fn lost(storage: &MemoryStorage) -> Result<Losses, Unacceptable> {
    losses(&look(storage).0)
}

/// Accepts the loss of `named`.
pub(crate) fn accept<S: Storage>(storage: &S, named: &[LostRange]) -> Result<AcceptedLoss<S>, RangeMistake> {
    accept_through(storage, named, WINDOW)
}

/// The same through a window of so many bytes.
pub(crate) fn accept_through<S: Storage>(
    storage: &S,
    named: &[LostRange],
    window: usize,
) -> Result<AcceptedLoss<S>, RangeMistake> {
    let partition = open(storage);
    let mut workspace = Workspace::new(window);
    let mut accepting = AcceptingLoss::new(expectation(), TOOL, INCARNATION, named, &mut workspace);
    let accepted = loop {
        match accepting.step(storage, &partition, &mut workspace, 64 * window as u64) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break Ok(accepting.finish()),
            Err(mistake) => break Err(mistake),
        }
    };
    let accepted = accepted.map(|mut accepted| {
        if let Some(ledger) = accepted.recovered.ledger.take() {
            ledger.close(storage);
        }
        accepted
    });
    partition.close(storage);
    accepted
}

/// Everything that a reader is given, as `first..next` a batch and `first!next` a gap.
pub(crate) fn served(storage: &MemoryStorage) -> String {
    let mut recovered = recover(storage, Mode::Repair, SERVER);
    let adopted = Adopted::of(&recovered.facts, &recovered.verdict, &recovered.plan).unwrap();
    let options = PartitionOptions::new(Durability::Proven, None);
    let writer = Writer::open(storage, open(storage), adopted, recovered.ledger.take(), options).unwrap();
    let mut polled = Polled::default();
    let request =
        PollRequest { from: Offset::ZERO, messages_max: u64::MAX, bytes_max: Length::new(u64::MAX) };
    let mut workspace = Workspace::new(512);
    Reader::new()
        .poll(storage, writer.directory(), writer.chain(), &request, &mut workspace, &mut polled)
        .unwrap();
    let mut parts: Vec<(Offset, String)> = Vec::new();
    for (header, bytes) in polled.batches() {
        let first = header.base_offset;
        let payload = *bytes.last().unwrap();
        assert_eq!(u64::from(payload), first.get() + 1, "the message at {first} is the one written there");
        parts.push((first, first.to_string()));
    }
    for skipped in polled.skipped() {
        let (Skipped::Expired { first, next }
        | Skipped::Gap(recovery_core::observe::RecordedGap { first, next })) = skipped;
        parts.push((*first, format!("{first}!{next}")));
    }
    writer.close(storage).close(storage);
    parts.sort();
    parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
}

/// Every record of the ledger by its kind and mark, from `from` on.
pub(crate) fn records(storage: &MemoryStorage, from: usize) -> Vec<String> {
    let bytes = storage.files().get(&path("ledger")).cloned().unwrap_or_default();
    let (slots, _) = bytes.as_chunks::<128>();
    let text = |slot: &[u8; 128]| match LedgerRecord::decode(slot) {
        Ok(record) => {
            let mark = record.kind.mark().map(|mark| format!(" {}@{}", mark.segment, mark.next_offset));
            let more = match record.kind {
                LedgerKind::AcceptedLoss { first, next, .. } => format!(" lost {first}..{next}"),
                LedgerKind::Sealed { next_start, .. } => format!(" then {next_start}"),
                LedgerKind::Floor => format!(" {}", record.floor),
                LedgerKind::Opened { .. }
                | LedgerKind::Frontier { .. }
                | LedgerKind::Reserved
                | LedgerKind::Recovered { .. }
                | LedgerKind::CleanStop { .. } => String::new(),
            };
            format!("{}{}{more}", record.kind.code(), mark.unwrap_or_default())
        }
        Err(_) => "damaged".to_owned(),
    };
    slots.iter().skip(from).map(text).collect()
}
