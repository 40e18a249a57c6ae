//! Nodes between which a partition goes, for the tests of transfer.

use recovery_core::format::FileName;
use recovery_core::observe::{PartitionFacts, Progress, Workspace};
use recovery_core::recovery::Mode;
use recovery_core::storage::{Storage, StorageError};
use recovery_core::transfer::{
    Install, InstallError, InstallOptions, Offer, Source, StorageSource, finish_install,
};
use recovery_core::units::Durability;

use crate::loss_world::{DIRECTORY, INCARNATION, NAMESPACE, SERVER, look, open, recover};
use crate::memory_storage::{MemoryStorage, name};
use crate::recovery_run::Files;

/// Offers what a node serves.
pub(crate) fn offer(storage: &MemoryStorage) -> Offer {
    let (facts, verdict) = look(storage);
    Offer::of(&facts, &verdict, INCARNATION).expect("it is served")
}

pub(crate) fn options() -> InstallOptions {
    InstallOptions {
        namespace: NAMESPACE,
        incarnation: INCARNATION,
        durability: Durability::Proven,
        superblock: None,
        why: "the log says \"no\"".to_owned(),
    }
}

/// Installs from a source.
pub(crate) fn install_from<R: Source>(
    storage: &MemoryStorage,
    local: Option<&PartitionFacts>,
    offer: &Offer,
    source: &mut R,
    slices: (usize, u64),
) -> Result<(), InstallError> {
    let mut workspace = Workspace::new(slices.0);
    let parent = open_parent(storage)?;
    let mut install = Install::new(offer.clone(), local, options());
    let done = loop {
        match install.step(storage, &parent, &name("3"), source, &mut workspace, slices.1) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    storage.close_directory(parent);
    done
}

pub(crate) fn open_parent(
    storage: &MemoryStorage,
) -> Result<<MemoryStorage as Storage>::Directory, StorageError> {
    let mut directory = storage.root()?;
    for component in DIRECTORY.split('/').take(5) {
        let below = storage.open_directory(&directory, &name(component));
        storage.close_directory(directory);
        directory = below?;
    }
    Ok(directory)
}

/// Installs what `peer` serves.
pub(crate) fn install(
    storage: &MemoryStorage,
    local: Option<&PartitionFacts>,
    peer: &MemoryStorage,
) -> Result<(), InstallError> {
    let offer = offer(peer);
    let partition = open(peer);
    let mut source = StorageSource::new(peer, &partition, &offer);
    let done = install_from(storage, local, &offer, &mut source, (16 * 1024, 1 << 20));
    source.close();
    partition.close(peer);
    done
}

/// A node that has the parents of the partition, and nothing else.
pub(crate) fn bare() -> MemoryStorage {
    let storage = MemoryStorage::new();
    storage.put_directory("streams/1/topics/2/partitions");
    storage
}

/// Every log by its name, up to its proven end.
pub(crate) fn logs(storage: &MemoryStorage) -> Files {
    let mut files = storage.files();
    let is_log = |file: &str| matches!(FileName::classify(&name(file)), FileName::Log(_));
    files.retain(|path, _| {
        path.strip_prefix(&format!("{DIRECTORY}/")).is_some_and(|file| !file.contains('/') && is_log(file))
    });
    files
}

/// A start of the node; what is served then.
pub(crate) fn start(storage: &MemoryStorage) -> PartitionFacts {
    let parent = open_parent(storage).unwrap();
    finish_install(storage, &parent, &name("3")).unwrap();
    storage.close_directory(parent);
    let recovered = recover(storage, Mode::Repair, SERVER);
    assert!(recovered.verdict.is_served(), "{:?}", recovered.verdict.disposition);
    recovered.facts
}

#[track_caller]
pub(crate) fn check_same(peer: &MemoryStorage, storage: &MemoryStorage) {
    let (there, here) = (offer(peer), offer(storage));
    assert_eq!((here.segments, here.next_offset), (there.segments, there.next_offset));
    assert!(logs(peer) == logs(storage), "the same logs, byte for byte");
}
