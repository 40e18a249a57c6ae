//! One partition directory in memory, the records of its ledger, and what an observation states of it.

use recovery_core::format::{
    BatchBuilder, ChainHash, LedgerKind, LedgerRecord, Mark, Message, partition_components, stamp,
};
use recovery_core::observe::{Expectation, Observation, Observed, PartitionFacts, Progress, Workspace};
use recovery_core::storage::PartitionDirectory;
use recovery_core::units::{Durability, Incarnation, Namespace, Offset, PartitionId, Position, SegmentStart};

use crate::memory_storage::MemoryStorage;

pub(crate) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
pub(crate) const INCARNATION: Incarnation = Incarnation::new(7);
pub(crate) const DIRECTORY: &str = "streams/1/topics/2/partitions/3";
pub(crate) const LOG: &str = "00000000000000000000.log";
pub(crate) const INDEX: &str = "00000000000000000000.index";

/// The timestamp of every batch.
pub(crate) const STAMPED_AT: u64 = 5;

/// A batch of the partition, with a message for each payload.
pub(crate) fn batch(offset: u64, payloads: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut builder = BatchBuilder::begin(&mut bytes, 1_000);
    for payload in payloads {
        builder.push(&Message { payload, ..Message::default() }).expect("a test's batch is small");
    }
    builder.finish();
    stamp(&mut bytes, PartitionId::new(3), Offset::new(offset), STAMPED_AT).expect("it was just built");
    bytes
}

/// A mark at the beginning of `segment`.
pub(crate) fn first_mark(segment: SegmentStart) -> Mark {
    let chain_hash = ChainHash::start(NAMESPACE, INCARNATION, segment);
    Mark { segment, position: Position::ZERO, next_offset: segment.offset(), chain_hash }
}

/// The `slot`-th record of the ledger of a partition from whose front nothing was removed.
pub(crate) const fn record(slot: u64, kind: LedgerKind) -> LedgerRecord {
    LedgerRecord {
        kind,
        durability: Durability::Synced,
        namespace: NAMESPACE,
        incarnation: INCARNATION,
        epoch: 1,
        slot,
        generation: 0,
        floor: SegmentStart::ZERO,
        reserved_offset: Offset::ZERO,
    }
}

/// A storage that holds the partition with these files in it.
pub(crate) fn storage_of<N: AsRef<str>, B: AsRef<[u8]>>(files: &[(N, B)]) -> MemoryStorage {
    let storage = MemoryStorage::new();
    storage.put_directory(DIRECTORY);
    for (file, bytes) in files {
        storage.put(&format!("{DIRECTORY}/{}", file.as_ref()), bytes.as_ref());
    }
    storage
}

/// Observes through windows of `window` bytes in steps of `limit`.
pub(crate) fn observed(
    storage: &MemoryStorage,
    expectation: Expectation,
    window: usize,
    limit: u64,
) -> Observed {
    let partition =
        PartitionDirectory::open(storage, &partition_components(NAMESPACE)).expect("the directory is there");
    let mut workspace = Workspace::new(window);
    let mut observation = Observation::new(expectation, &mut workspace);
    while observation.step(storage, &partition, &mut workspace, limit) == Progress::More {}
    partition.close(storage);
    observation.finish()
}

/// The facts of a partition of which only the name is known, where no call fails.
pub(crate) fn facts(storage: &MemoryStorage, window: usize, limit: u64) -> PartitionFacts {
    let Observed { facts, failure } = observed(storage, Expectation::of(NAMESPACE), window, limit);
    assert_eq!(failure, None, "no call fails");
    facts
}
