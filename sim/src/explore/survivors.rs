//! Every set of pending changes that may survive a crash, and what may show in place of the others.
//!
//! Promises: where there are few pending changes, every set of them; where there are more, no change, all,
//! every beginning, every set without one, every single one and every pair (FAULT_MODEL 3.3). The disk drops
//! from a set what the filesystem's order forbids, so what is left are the legal ones, and equal ones are
//! found by their state. Leaves out: single sectors of a file with more than 64 pending ones, where a mask
//! repeats.

use crate::schedule::{Exception, Filesystem, Fill, SizeChoice, Survival, Survivors};
use crate::world::Pending;

/// Most pending changes of which every set is tried.
const ALL_SETS_MAX: u32 = 9;

/// Most pending changes of which every pair is tried.
const PAIRS_MAX: u32 = 24;

/// The choices for what is pending, on a filesystem.
pub(super) fn choices(pending: &Pending, filesystem: Filesystem) -> Vec<Survival> {
    let mut choices = Vec::new();
    for set in sets(pending.choices()) {
        for (size, fill) in shapes(filesystem) {
            choices.push(survival(pending, &set, size, fill));
        }
    }
    choices
}

/// Sets of `count` things, each as one truth a thing.
fn sets(count: u32) -> Vec<Vec<bool>> {
    let of = |keeps: &dyn Fn(u32) -> bool| (0..count).map(keeps).collect::<Vec<bool>>();
    if count <= ALL_SETS_MAX {
        return (0..1_u32 << count).map(|mask| of(&|at| mask >> at & 1 == 1)).collect();
    }
    let mut sets = vec![of(&|_| false), of(&|_| true)];
    for one in 0..count {
        sets.extend([of(&|at| at < one), of(&|at| at != one), of(&|at| at == one)]);
    }
    if count <= PAIRS_MAX {
        for one in 0..count {
            for other in 0..one {
                sets.push(of(&|at| at == one || at == other));
            }
        }
    }
    sets
}

/// Lengths and fills: the length that the survivors need and, where a longer one may show what did not
/// survive, that one with each thing that may show.
fn shapes(filesystem: Filesystem) -> Vec<(Option<SizeChoice>, Fill)> {
    let needed = (None, Fill::Zeros);
    let new = |fill| (Some(SizeChoice::New), fill);
    match filesystem {
        Filesystem::Ext4Writeback | Filesystem::Adversarial => {
            vec![needed, new(Fill::Zeros), new(Fill::StaleSame), new(Fill::StaleForeign)]
        }
        Filesystem::Ext4Ordered | Filesystem::Ext4Journal | Filesystem::Xfs | Filesystem::Btrfs => {
            vec![needed, new(Fill::Zeros)]
        }
    }
}

/// A set as the schedule says it: one mask a file, one for all other files, one for names.
fn survival(pending: &Pending, set: &[bool], size: Option<SizeChoice>, fill: Fill) -> Survival {
    let mut rest = set;
    let mut next = |count: u32| {
        let (these, others) = rest.split_at(count as usize);
        rest = others;
        let bits = these.iter().zip(0_u32..64).filter(|(keeps, _)| **keeps);
        Survivors::Subset { mask: bits.fold(0, |mask, (_, at)| mask | 1 << at) }
    };
    let mut exceptions = Vec::new();
    for (partition, file, elements) in &pending.files {
        let survive = Some(next(*elements));
        exceptions.push(Exception::File {
            partition: *partition,
            file: *file,
            survive,
            fill: None,
            size: None,
        });
    }
    let survive = next(pending.elsewhere);
    exceptions.push(Exception::Names { survive: next(pending.names) });
    Survival { survive, fill, size, exceptions }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

    use std::collections::BTreeSet;

    use recovery_core::storage::{Access, Name, Storage};

    use super::*;
    use crate::disk::{FileChoice, Geometry, Node, SimDisk, Snapshot, SurvivorChoice, View};
    use crate::schedule::Restart;

    /// A call on one of the two files: a write of some sectors, or a sync.
    #[derive(Clone, Copy)]
    enum Call {
        Log(u64),
        Index(u64),
        SyncLog,
        SyncIndex,
    }

    const SECTOR: u64 = 64;

    /// Both files, long enough and durable: what a crash decides is bytes alone.
    fn disk() -> SimDisk {
        let disk = SimDisk::new(Geometry::new(64, 256).unwrap(), Filesystem::Adversarial);
        let root = disk.root().unwrap();
        for name in ["log", "index"] {
            let file = disk.create(&root, &Name::new(name.as_bytes()).unwrap()).unwrap();
            assert_eq!(disk.write(&file, 0, &[0xee; 512]).unwrap(), 512);
            disk.sync(&file).unwrap();
            disk.close(file);
        }
        disk.sync_directory(&root).unwrap();
        disk.close_directory(root);
        disk
    }

    fn file(disk: &SimDisk, name: &str) -> crate::disk::FileId {
        match disk.node_at(name, View::Visible) {
            Some(Node::File(file)) => file,
            other => panic!("{name} is {other:?}"),
        }
    }

    /// The images after a crash before each of the calls and behind the last, with every survivor set.
    fn survivor_sets(program: &[Call]) -> usize {
        let disk = disk();
        let root = disk.root().unwrap();
        let open = |name: &str| disk.open(&root, &Name::new(name.as_bytes()).unwrap(), Access::ReadWrite);
        let (log, index) = (open("log").unwrap(), open("index").unwrap());
        let files = [file(&disk, "log"), file(&disk, "index")];
        let mut images = BTreeSet::new();
        let mut before = Snapshot::default();
        for step in 0..=program.len() {
            let counts = files.map(|file| disk.pending_elements(file));
            disk.snapshot(&mut before);
            for set in sets(counts.iter().sum()) {
                let mask = |bits: &[bool]| {
                    let bits = bits.iter().zip(0_u32..).filter(|(keeps, _)| **keeps);
                    Survivors::Subset { mask: bits.fold(0, |mask, (_, at)| mask | 1 << at) }
                };
                let (of_log, of_index) = set.split_at(counts[0] as usize);
                let own =
                    [(files[0], FileChoice::of(mask(of_log))), (files[1], FileChoice::of(mask(of_index)))];
                let choice = SurvivorChoice { files: own.into(), ..SurvivorChoice::of(Survivors::None) };
                disk.crash(Restart::Power, &choice);
                images.insert(disk.image_hash(View::Durable));
                disk.rewind(&before);
            }
            match program.get(step) {
                Some(Call::Log(at)) => {
                    let bytes = [u8::try_from(*at).unwrap(); 128];
                    assert_eq!(disk.write(&log, at * 2 * SECTOR, &bytes).unwrap(), 128);
                }
                Some(Call::Index(at)) => {
                    let bytes = [u8::try_from(*at).unwrap(); 64];
                    assert_eq!(disk.write(&index, at * SECTOR, &bytes).unwrap(), 64);
                }
                Some(Call::SyncLog) => disk.sync(&log).unwrap(),
                Some(Call::SyncIndex) => disk.sync(&index).unwrap(),
                None => {}
            }
        }
        images.len()
    }

    /// FAULT_MODEL 3.2: three times a batch of two sectors and an index entry.
    #[test]
    fn the_worked_examples_have_as_many_survivor_sets_as_was_computed() {
        use Call::{Index, Log, SyncIndex, SyncLog};
        let at_the_end = [Log(0), Index(0), Log(1), Index(1), Log(2), Index(2), SyncLog, SyncIndex];
        assert_eq!(survivor_sets(&at_the_end), 512);
        let log_first = [Log(0), SyncLog, Index(0), Log(1), SyncLog, Index(1), Log(2), SyncLog, Index(2)];
        assert_eq!(survivor_sets(&log_first), 29);
        let both = [
            Log(0),
            SyncLog,
            Index(0),
            SyncIndex,
            Log(1),
            SyncLog,
            Index(1),
            SyncIndex,
            Log(2),
            SyncLog,
            Index(2),
            SyncIndex,
        ];
        assert_eq!(survivor_sets(&both), 13);
    }

    #[test]
    fn few_changes_have_every_set_and_many_have_the_suspect_ones() {
        assert_eq!(sets(0).len(), 1);
        assert_eq!(sets(5).len(), 32);
        assert_eq!(sets(20).len(), 2 + 3 * 20 + 190);
        assert_eq!(sets(40).len(), 2 + 3 * 40);
    }
}
