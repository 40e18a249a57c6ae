//! Partitions that are recovered at the same time over one storage, each on a thread of its caller.

use std::fs;
use std::path::Path;
use std::sync::Barrier;

use recovery_core::decide::Verdict;
use recovery_core::format::{partition_components, stamp};
use recovery_core::observe::{Expectation, Progress, STEP_BYTES_MIN, WINDOW_BYTES_MIN, Workspace};
use recovery_core::plan::PlanOptions;
use recovery_core::recovery::{Mode, Recovery};
use recovery_core::storage::os::OsStorage;
use recovery_core::storage::{LockMode, PartitionDirectory};
use recovery_core::units::{Namespace, Offset};

use crate::loss_world::{BATCH, batch};
use crate::recovery_run::{Files, check_nothing_is_lost, files_below};

const PARTITIONS: [Namespace; 2] =
    [Namespace { stream: 1, topic: 2, partition: 3 }, Namespace { stream: 1, topic: 2, partition: 4 }];

/// Partitions of forty segments of three batches, the last of them torn, and no index.
fn lay(root: &Path) {
    for namespace in PARTITIONS {
        let names = partition_components(namespace);
        let directory = names.iter().fold(root.to_owned(), |path, name| path.join(name.to_string()));
        fs::create_dir_all(&directory).unwrap();
        for segment in 0..40_u64 {
            let mut log = Vec::new();
            for offset in 3 * segment..3 * segment + 3 {
                let mut batch = batch(u8::try_from(offset).unwrap());
                stamp(&mut batch, namespace.partition_id(), Offset::new(offset), 5_000).unwrap();
                log.extend(batch);
            }
            if segment == 39 {
                log.truncate(3 * BATCH - 7);
            }
            fs::write(directory.join(format!("{:020}.log", 3 * segment)), log).unwrap();
        }
    }
}

/// Recovers one partition in the smallest steps, and counts them.
fn recover(storage: &OsStorage, namespace: Namespace) -> (Verdict, u64) {
    let partition = PartitionDirectory::open(storage, &partition_components(namespace)).unwrap();
    assert!(partition.lock(storage, LockMode::Exclusive).is_ok(), "nobody else has it");
    let mut workspace = Workspace::new(WINDOW_BYTES_MIN);
    let options = PlanOptions::default();
    let mut recovery = Recovery::new(Expectation::of(namespace), Mode::Repair, options, &mut workspace);
    let mut steps = 1;
    while recovery.step(storage, &partition, &mut workspace, STEP_BYTES_MIN) == Progress::More {
        steps += 1;
    }
    let recovered = recovery.finish();
    partition.close(storage);
    (recovered.verdict, steps)
}

/// Issue 4, point 1: where the caller wants it, two partitions recover in parallel: storage is shared, and all else
/// belongs to one recovery.
#[test]
fn two_partitions_recover_at_the_same_time_as_they_do_one_after_the_other() {
    let (apart, together) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    lay(apart.path());
    lay(together.path());
    let before = files_below(together.path());
    let storage = OsStorage::open(apart.path()).unwrap();
    let expected = PARTITIONS.map(|namespace| recover(&storage, namespace));
    assert!(expected.iter().all(|(verdict, steps)| verdict.is_served() && *steps > 100), "{expected:?}");

    let storage = OsStorage::open(together.path()).unwrap();
    let gate = Barrier::new(PARTITIONS.len());
    let found = std::thread::scope(|scope| {
        let threads = PARTITIONS.map(|namespace| {
            let (storage, gate) = (&storage, &gate);
            scope.spawn(move || {
                gate.wait();
                recover(storage, namespace)
            })
        });
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(found, expected);
    let after = files_below(together.path());
    assert!(after == files_below(apart.path()), "the same files");
    for namespace in PARTITIONS {
        let beside = format!("partitions/{}", namespace.partition);
        let of_it = |files: &Files| -> Files {
            files.clone().into_iter().filter(|(path, _)| path.contains(&beside)).collect()
        };
        check_nothing_is_lost(namespace, &of_it(&before), &of_it(&after));
    }
}
