//! One partition directory in memory and what an observation states of it, for the tests of observation.

use recovery_core::format::{BatchBuilder, Message, partition_components, stamp};
use recovery_core::observe::{Expectation, Observation, Observed, PartitionFacts, Progress, Workspace};
use recovery_core::storage::PartitionDirectory;
use recovery_core::units::{Namespace, Offset, PartitionId};

use crate::memory_storage::MemoryStorage;

pub(crate) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
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

/// A storage that holds the partition with these files in it.
pub(crate) fn storage_of(files: &[(&str, &[u8])]) -> MemoryStorage {
    let storage = MemoryStorage::new();
    storage.put_directory(DIRECTORY);
    for (file, bytes) in files {
        storage.put(&format!("{DIRECTORY}/{file}"), bytes);
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
