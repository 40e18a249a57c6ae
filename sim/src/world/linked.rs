//! The linked core on one image, undisturbed, as the operator's tool runs it: what another program is compared
//! with.

use recovery_core::observe::{Expectation, Progress, Workspace};
use recovery_core::plan::PlanOptions;
use recovery_core::recovery::{Mode, Recovered, Recovery};
use recovery_core::storage::{LockMode, Name, PartitionDirectory};

use super::boot::STEP_BYTES;
use super::look;
use super::told::BootTold;
use crate::disk::{Cause, DirectoryId, Geometry, SimDisk, Stray};
use crate::oracle::{Content, Image, PartitionImage};
use crate::schedule::Filesystem;

/// Bytes of the window over files; verdicts do not depend on it.
const WINDOW_BYTES: usize = 64 * 1024;

/// The operator's tool hands a partition over as if its server had stopped cleanly, and makes no ledger.
const TOOL_OPTIONS: PlanOptions = PlanOptions { sync_indexes: true, clean_stop: true, makes_ledger: false };

/// Recovers `image` of the partition that `components` lead to: what the core says, and what it leaves.
///
/// # Panics
///
/// If a disk without faults fails.
pub(super) fn recover_linked(
    image: &PartitionImage,
    components: &[Name; 6],
    expectation: Expectation,
) -> (BootTold, PartitionImage) {
    let disk = SimDisk::new(Geometry::DEFAULT, Filesystem::Ext4Ordered);
    look::make_directories(&disk, components).expect("a disk without faults takes directories");
    let directory = look::directory(&disk, components).expect("it was just made");
    lay(&disk, directory, &image.directory);
    let above = look::directory(&disk, &components[..5]).expect("it was just made");
    for fence in &image.fences {
        put(&disk, above, &fence.name, Stray::Directory);
        let directory = look::fence(&disk, components, &fence.name).expect("it was just made");
        lay(&disk, directory, &fence.image);
    }
    let partition = PartitionDirectory::open(&disk, components).expect("it is there");
    partition.lock(&disk, LockMode::Exclusive).expect("nobody else has it");
    let mut workspace = Workspace::new(WINDOW_BYTES);
    let mut recovery = Recovery::new(expectation, Mode::Repair, TOOL_OPTIONS, &mut workspace);
    while recovery.step(&disk, &partition, &mut workspace, STEP_BYTES) == Progress::More {}
    let Recovered { facts, verdict, plan, ledger, .. } = recovery.finish();
    if let Some(ledger) = ledger {
        ledger.close(&disk);
    }
    partition.close(&disk);
    let namespace = expectation.namespace;
    let told = BootTold { node: 0, step: 0, namespace, facts, verdict, plan, remark: None };
    (told, look::image(&disk, components))
}

fn lay(disk: &SimDisk, directory: DirectoryId, image: &Image) {
    for entry in &image.entries {
        match &entry.content {
            Content::File(file) => put(disk, directory, &entry.name, Stray::File(&file.bytes)),
            Content::Unopenable => put(disk, directory, &entry.name, Stray::File(&[])),
            Content::Directory => put(disk, directory, &entry.name, Stray::Directory),
            Content::Other => put(disk, directory, &entry.name, Stray::Link),
        }
    }
}

fn put(disk: &SimDisk, directory: DirectoryId, name: &Name, stray: Stray<'_>) {
    let put = disk.put_stray(directory, name, stray, Cause::Plant);
    assert!(put.is_some(), "an image has no name twice");
}
