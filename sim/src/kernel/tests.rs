//! The test of membership, tested against every set of survivors there is.

use std::collections::BTreeSet;

use super::{Program, Remains, explain, simulate};
use crate::disk::{FileChoice, FileId, Geometry, SimDisk, Snapshot, SurvivorChoice};
use crate::schedule::tape::{Stream, Tape};
use crate::schedule::{Filesystem, Restart, SizeChoice, Survivors};

/// Filesystems that a real kernel is held to.
const FILESYSTEMS: [Filesystem; 2] = [Filesystem::Ext4Ordered, Filesystem::Xfs];

/// Two sectors a page: few enough to go through every set of them.
fn geometry() -> Geometry {
    Geometry::new(128, 256).expect("powers of two")
}

fn disk_of(program: &Program, filesystem: Filesystem) -> SimDisk {
    let disk = SimDisk::new(geometry(), filesystem);
    simulate(&disk, program).expect("every step can be taken");
    disk
}

/// What a crash with a choice leaves. The disk is as it was before.
fn left_by(disk: &SimDisk, choice: &SurvivorChoice) -> Remains {
    let mut before = Snapshot::default();
    disk.snapshot(&mut before);
    disk.crash(Restart::Os, choice);
    let remains = Remains::of_disk(disk);
    disk.rewind(&before);
    remains
}

const LENGTHS: [Option<SizeChoice>; 3] = [None, Some(SizeChoice::New), Some(SizeChoice::Old)];

/// A set of survivors of a file with every length that it may have.
fn with_lengths(survive: Survivors) -> Vec<FileChoice> {
    let base = FileChoice::of(survive);
    let mut choices: Vec<_> = LENGTHS.map(|length| FileChoice { length, ..base }).to_vec();
    for from in 0..8 {
        for length in [None, Some(SizeChoice::New)] {
            choices.push(FileChoice { length, old_lengths_from: Some(from), ..base });
        }
    }
    choices
}

/// A choice in which a number decides everything: survivors of names and of each file, and lengths.
fn drawn_choice(disk: &SimDisk, tape: &mut Tape) -> SurvivorChoice {
    let mut file = || FileChoice {
        length: tape.pick(Stream::Crashes, &LENGTHS),
        old_lengths_from: tape.pick(Stream::Crashes, &[None, None, Some(0), Some(1), Some(2)]),
        ..FileChoice::of(match tape.range(Stream::Crashes, 0, 3) {
            0 => Survivors::All,
            1 => Survivors::None,
            2 => Survivors::Prefix {
                n: u32::try_from(tape.range(Stream::Crashes, 0, 30)).expect("it is small"),
            },
            _ => Survivors::Subset { mask: tape.word(Stream::Crashes) },
        })
    };
    let files = disk.file_ids().map(|id| (id, file())).collect();
    let everything = file();
    let n = u32::try_from(tape.range(Stream::Crashes, 0, 8)).expect("it is small");
    SurvivorChoice { everything, names: Survivors::Prefix { n }, files }
}

/// Choices, names apart, that are gone through, at most.
const CHOICES_MAX: usize = 1500;

/// Every remains that a small program can leave, by every choice there is; `None`: it has too many.
fn all_remains(disk: &SimDisk) -> Option<BTreeSet<Remains>> {
    let pending: Vec<(FileId, u32)> =
        disk.file_ids().map(|id| (id, disk.pending_elements(id))).filter(|(_, count)| *count > 0).collect();
    let elements: u32 = pending.iter().map(|(_, count)| count).sum();
    let mut all = BTreeSet::new();
    let names = u32::try_from(disk.undecided_names().len()).expect("there are few");
    let shapes = with_lengths(Survivors::None).len();
    let lengths = shapes.pow(u32::try_from(pending.len()).expect("there are few"));
    if lengths << elements > CHOICES_MAX {
        return None;
    }
    for mask in 0..1_u64 << elements {
        for lengths in 0..lengths {
            for n in 0..=names {
                let (mut mask, mut lengths) = (mask, lengths);
                let files = pending.iter().map(|(id, count)| {
                    let own = Survivors::Subset { mask };
                    let own = with_lengths(own)[lengths % shapes];
                    mask >>= count;
                    lengths /= shapes;
                    (*id, own)
                });
                let files = files.collect();
                let everything = FileChoice::of(Survivors::None);
                let names = Survivors::Prefix { n };
                all.insert(left_by(disk, &SurvivorChoice { everything, names, files }));
            }
        }
    }
    Some(all)
}

#[test]
fn whatever_the_model_leaves_is_explained() {
    for seed in 0..200 {
        let program = Program::from_seed(seed, geometry());
        for filesystem in FILESYSTEMS {
            let disk = disk_of(&program, filesystem);
            let mut tape = Tape::from_seed(seed);
            for _ in 0..12 {
                let choice = drawn_choice(&disk, &mut tape);
                let remains = left_by(&disk, &choice);
                let explained = explain(&disk, &remains);
                let explained = explained.unwrap_or_else(|| {
                    panic!("seed {seed} on {}: {program}\nleft {remains}\nby {choice:?}", filesystem.code())
                });
                assert_eq!(left_by(&disk, &explained), remains, "seed {seed}");
            }
        }
    }
}

/// A filesystem without any order leaves more than the others; what they do not leave must be told apart.
#[test]
fn what_the_model_cannot_leave_is_not_explained() {
    let (mut allowed, mut forbidden) = (0, 0);
    for seed in 0..250 {
        let program = Program::from_seed(seed, geometry());
        let lawless = disk_of(&program, Filesystem::Adversarial);
        for filesystem in FILESYSTEMS {
            let disk = disk_of(&program, filesystem);
            let Some(all) = all_remains(&disk) else { continue };
            let mut tape = Tape::from_seed(seed);
            for _ in 0..4 {
                let remains = left_by(&lawless, &drawn_choice(&lawless, &mut tape));
                let is_allowed = all.contains(&remains);
                let is_explained = explain(&disk, &remains).is_some();
                assert_eq!(is_explained, is_allowed, "seed {seed}: {program}\nleft {remains}");
                *(if is_allowed { &mut allowed } else { &mut forbidden }) += 1;
            }
        }
    }
    assert!(allowed > 50 && forbidden > 50, "{allowed} allowed, {forbidden} forbidden");
}

/// One byte that nobody wrote, a name that nobody made, a file that is missing: each is found.
#[test]
fn a_damaged_image_is_not_explained() {
    let mut tried = 0;
    for seed in 0..100 {
        let program = Program::from_seed(seed, geometry());
        let disk = disk_of(&program, Filesystem::Ext4Ordered);
        let whole = Remains::of_disk(&disk);
        assert!(explain(&disk, &whole).is_some(), "seed {seed}");
        let mut stray = whole.clone();
        stray.files.insert("stray".to_owned(), Vec::new());
        assert_eq!(explain(&disk, &stray), None, "seed {seed}");
        for bytes in whole.files.values().filter(|bytes| !bytes.is_empty()).take(1) {
            let mut damaged = whole.clone();
            let name = whole.files.iter().find(|(_, other)| *other == bytes).expect("it is there").0.clone();
            let last = bytes.len() - 1;
            damaged.files.get_mut(&name).expect("it is there")[last] ^= 0x55;
            assert_eq!(explain(&disk, &damaged), None, "seed {seed}");
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried}");
}
