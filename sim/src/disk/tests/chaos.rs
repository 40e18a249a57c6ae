//! Anything at all, in any order: the disk stays whole, and the same steps give the same disk.

use proptest::collection::vec;
use proptest::prelude::*;
use recovery_core::storage::{Access, Call, EntryKind, Errno, Name, Storage};

use crate::disk::{
    Cause, Damage, DirectoryId, Disturbance, Event, FileChoice, FileId, Geometry, Injection, Node, Scope,
    SimDirectory, SimDisk, SimFile, Snapshot, Standing, Stray, SurvivorChoice, SyncPart, View,
};
use crate::schedule::{
    CallPoint, FaultKind, Filesystem, Fill, Restart, SizeChoice, Survivors, SyncStage, Times,
};

const CALLS: &[Call] = &Call::ALL;

/// One step; each number is taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    Open(u8, u8),
    Create(u8, u8),
    Write(u8, u16, u16),
    Read(u8, u16),
    SetLength(u8, u16),
    Sync(u8),
    SyncDirectory(u8),
    DropCache(u8),
    Close(u8),
    Rename(u8, u8, u8),
    Remove(u8, u8),
    List(u8),
    Disturb(u8, u8, u8),
    Arm(u8, u8),
    Crash(u8, u64, u8, u8),
    Damage(u8, u8, u16, u16),
    Names(u8, u8),
    Limit(u8, u8),
    GoBack,
}

fn step() -> impl Strategy<Value = Step> {
    let small = 0..4_u8;
    let place = 0..1200_u16;
    prop_oneof![
        3 => (small.clone(), small.clone()).prop_map(|(into, name)| Step::Open(into, name)),
        3 => (small.clone(), small.clone()).prop_map(|(into, name)| Step::Create(into, name)),
        8 => (small.clone(), place.clone(), 1..600_u16).prop_map(|(file, at, count)| Step::Write(file, at, count)),
        3 => (small.clone(), place.clone()).prop_map(|(file, at)| Step::Read(file, at)),
        2 => (small.clone(), place.clone()).prop_map(|(file, length)| Step::SetLength(file, length)),
        4 => small.clone().prop_map(Step::Sync),
        2 => small.clone().prop_map(Step::SyncDirectory),
        1 => small.clone().prop_map(Step::DropCache),
        1 => small.clone().prop_map(Step::Close),
        2 => (small.clone(), small.clone(), any::<u8>()).prop_map(|(from, to, over)| Step::Rename(from, to, over)),
        1 => (small.clone(), small.clone()).prop_map(|(directory, name)| Step::Remove(directory, name)),
        1 => small.clone().prop_map(Step::List),
        4 => (any::<u8>(), any::<u8>(), 1..4_u8).prop_map(|(what, call, number)| Step::Disturb(what, call, number)),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(what, call)| Step::Arm(what, call)),
        2 => (any::<u8>(), any::<u64>(), any::<u8>(), any::<u8>())
            .prop_map(|(restart, mask, length, fill)| Step::Crash(restart, mask, length, fill)),
        3 => (small.clone(), any::<u8>(), place, 1..300_u16)
            .prop_map(|(file, what, at, count)| Step::Damage(file, what, at, count)),
        2 => (any::<u8>(), small.clone()).prop_map(|(what, name)| Step::Names(what, name)),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(what, much)| Step::Limit(what, much)),
        1 => Just(Step::GoBack),
    ]
}

fn name(number: u8) -> Name {
    Name::new(&[b'a' + number % 4]).unwrap()
}

/// A disk under all of it.
struct World<'a> {
    disk: &'a SimDisk,
    files: [Option<SimFile>; 4],
    directories: [Option<SimDirectory>; 2],
    moment: Snapshot,
}

impl World<'_> {
    fn open_directories(&mut self) {
        self.directories = [self.disk.root().ok(), None];
        if let Some(root) = &self.directories[0] {
            let directory = Name::new(b"directory").unwrap();
            self.directories[1] = self.disk.open_directory(root, &directory).ok();
        }
    }

    fn file_ids(&self) -> Vec<FileId> {
        self.disk.file_ids().collect()
    }

    fn disturbance(&self, what: u8) -> Disturbance {
        let victim = self.file_ids().last().copied();
        match (what % 15, victim) {
            (0, _) => Disturbance::Fail { errno: Errno::IO },
            (1, _) => Disturbance::Fail { errno: Errno::NO_SPACE },
            (2, _) => Disturbance::Fail { errno: Errno::INTERRUPTED },
            (3, _) => Disturbance::Short { bytes: Some(u64::from(what)) },
            (4, _) => Disturbance::LieAboutFlush,
            (5, _) => Disturbance::LoseWrite,
            (6, _) => Disturbance::ShearWrite { bytes: None },
            (7, Some(file)) => Disturbance::MisdirectWrite { file, position: 100 },
            (8, Some(file)) => Disturbance::MisdirectRead { file, position: 50 },
            (9, _) => Disturbance::CorruptRead { byte: 3, bit: what % 8 },
            (10, _) => {
                let fill = [Fill::Zeros, Fill::StaleSame, Fill::Noise][usize::from(what) % 3];
                Disturbance::FailSync {
                    part: SyncPart::Data,
                    errno: Errno::IO,
                    pages: !u64::from(what),
                    fill,
                }
            }
            (11, _) => Disturbance::DeferSyncError,
            (12, _) => Disturbance::SwallowSyncError,
            (13, _) => Disturbance::ListInOrder { order: u64::from(what) },
            (_, _) => Disturbance::FailSync {
                part: SyncPart::Journal,
                errno: Errno::IO,
                pages: 0,
                fill: Fill::Zeros,
            },
        }
    }

    fn run(&mut self, step: &Step) {
        let disk = self.disk;
        match *step {
            Step::Disturb(what, call, number) => {
                disk.end_step();
                let at = CallPoint { on: Some(Call::ALL[usize::from(call) % 14]), call: u32::from(number) };
                let stages = [None, Some(SyncStage::Data), Some(SyncStage::Metadata), Some(SyncStage::Flush)];
                let injection = if what.is_multiple_of(3) {
                    let restart = Restart::ALL[usize::from(what) % 3];
                    let inside =
                        stages[usize::from(call) % 4].or(Some(SyncStage::Report)).filter(|_| what > 50);
                    let disturbance = Disturbance::Crash { restart, inside };
                    Injection { at, times: Times::Count(1), cause: None, disturbance }
                } else {
                    let cause = Some(Cause::Fault(FaultKind::ALL[usize::from(what) % FaultKind::ALL.len()]));
                    Injection { at, times: Times::Always, cause, disturbance: self.disturbance(what / 3) }
                };
                disk.begin_step(&[injection]);
            }
            Step::Arm(what, call) => disk.arm(Standing {
                scope: [Scope::Disk, Scope::Directory(DirectoryId::ROOT)][usize::from(what) % 2],
                on: &CALLS[usize::from(call) % 14..][..1],
                times: Times::Count(2),
                cause: Cause::Fault(FaultKind::ReadError),
                disturbance: self.disturbance(what),
            }),
            Step::Crash(restart, mask, length, fill) => self.crash(restart, mask, length, fill),
            Step::Damage(file, what, at, count) => self.damage(file, what, u64::from(at), u64::from(count)),
            Step::Names(what, number) => self.change_names(what, number),
            Step::Limit(what, much) => match what % 4 {
                0 => disk.set_free_pages(Some(u64::from(much % 8))),
                1 => disk.set_free_pages(None),
                2 => disk.set_descriptors_max(Some(u32::from(much))),
                _ => disk.set_descriptors_max(None),
            },
            Step::GoBack => {
                let hash = disk.image_hash(View::Visible);
                disk.snapshot(&mut self.moment);
                disk.crash_anyhow();
                disk.rewind(&self.moment);
                assert_eq!(disk.image_hash(View::Visible), hash);
            }
            Step::Open(..)
            | Step::Create(..)
            | Step::Write(..)
            | Step::Read(..)
            | Step::SetLength(..)
            | Step::Sync(_)
            | Step::SyncDirectory(_)
            | Step::DropCache(_)
            | Step::Close(_)
            | Step::Rename(..)
            | Step::Remove(..)
            | Step::List(_) => {
                self.call(step);
            }
        }
    }

    fn crash(&mut self, restart: u8, mask: u64, length: u8, fill: u8) {
        let crashed = self.disk.end_step().crashed;
        let everything = FileChoice {
            survive: Survivors::Subset { mask },
            length: [None, Some(SizeChoice::New), Some(SizeChoice::Old)][usize::from(length) % 3],
            fill: Fill::ALL[usize::from(fill) % Fill::ALL.len()],
            old_lengths_from: (mask & 1 == 1).then_some(u32::from(length) % 4),
        };
        let names = Survivors::Subset { mask: mask.rotate_left(17) };
        let choice = SurvivorChoice { everything, names, files: Vec::new() };
        self.disk.crash(crashed.unwrap_or(Restart::ALL[usize::from(restart) % 3]), &choice);
        self.files = [const { None }; 4];
        self.open_directories();
    }

    fn damage(&mut self, file: u8, what: u8, position: u64, length: u64) {
        let files = self.file_ids();
        let Some(&file) = files.get(usize::from(file) % files.len().max(1)) else { return };
        let bytes = vec![what; usize::try_from(length).unwrap()];
        let damage = match what % 6 {
            0 => Damage::FlipBit { position, bit: what },
            1 => Damage::Zero { position, length },
            2 => Damage::Noise { position, length },
            3 => Damage::Overwrite { position, bytes: &bytes },
            4 => Damage::Unreadable { position, length },
            _ => Damage::Length { length: position },
        };
        self.disk.damage(file, damage, Cause::Fault(FaultKind::Noise), what > 127);
        if what.is_multiple_of(7) {
            self.disk.evict_all();
        }
    }

    fn change_names(&mut self, what: u8, number: u8) {
        let (disk, root, name) = (self.disk, DirectoryId::ROOT, name(number));
        let cause = Cause::Fault(FaultKind::StrayFile);
        let applied = match what % 8 {
            0 => disk.take_name(root, &name, cause),
            1 => disk.undo_unlink(root, &name, cause),
            2 => disk.undo_rename(root, &name, cause),
            3 => disk.put_back(root, &name, cause),
            4 => disk.put_stray(root, &name, Stray::File(&[what; 300]), cause),
            5 => disk.put_file(root, &name, &[what; 100], cause),
            6 => disk.put_stray(root, &name, Stray::Link, cause),
            _ => Some(disk.set_listing_order(u64::from(what), cause)),
        };
        if let Some(fault) = applied {
            disk.is_fault_read(fault);
        }
    }

    /// Makes a storage call if its handle is open. What it answers is in the events.
    fn call(&mut self, step: &Step) -> Option<()> {
        let disk = self.disk;
        let file = |at: u8| self.files[usize::from(at) % 4].as_ref();
        let directory = |at: u8| self.directories[usize::from(at) % 2].as_ref();
        match *step {
            Step::Open(into, number) => {
                let opened = disk.open(directory(into)?, &name(number), Access::ReadWrite).ok();
                self.keep(into, opened);
            }
            Step::Create(into, number) => {
                let made = disk.create(directory(into)?, &name(number)).ok();
                self.keep(into, made);
            }
            Step::Write(at, position, count) => {
                let bytes = vec![u8::try_from(position % 251).unwrap(); usize::from(count)];
                disk.write(file(at)?, u64::from(position), &bytes).ok()?;
            }
            Step::Read(at, position) => {
                disk.read(file(at)?, u64::from(position), &mut [0; 700]).ok()?;
            }
            Step::SetLength(at, length) => disk.set_length(file(at)?, u64::from(length)).ok()?,
            Step::Sync(at) => disk.sync(file(at)?).ok()?,
            Step::SyncDirectory(at) => disk.sync_directory(directory(at)?).ok()?,
            Step::DropCache(at) => disk.drop_cache(file(at)?).ok()?,
            Step::Close(at) => disk.close(self.files[usize::from(at) % 4].take()?),
            Step::Rename(from, to, over) => {
                let (source, target) = (directory(over)?, directory(over / 2)?);
                disk.rename(source, &name(from), target, &name(to)).ok()?;
            }
            Step::Remove(at, number) => disk.remove(directory(at)?, &name(number), EntryKind::File).ok()?,
            Step::List(at) => disk.list(directory(at)?, &mut |_, _| {}).ok()?,
            Step::Disturb(..)
            | Step::Arm(..)
            | Step::Crash(..)
            | Step::Damage(..)
            | Step::Names(..)
            | Step::Limit(..)
            | Step::GoBack => {}
        }
        Some(())
    }

    fn keep(&mut self, into: u8, opened: Option<SimFile>) {
        if let Some(file) = opened
            && let Some(old) = self.files[usize::from(into) % 4].replace(file)
        {
            self.disk.close(old);
        }
    }
}

impl SimDisk {
    /// Goes down as the step left it, or for good.
    fn crash_anyhow(&self) {
        let restart = self.end_step().crashed.unwrap_or(Restart::Power);
        self.crash(restart, &SurvivorChoice::of(Survivors::Prefix { n: 3 }));
    }
}

/// Everything that a run shows.
#[derive(Debug, PartialEq)]
struct Shown {
    events: Vec<Event>,
    visible: u64,
    durable: u64,
    tally: crate::disk::FaultTally,
}

fn run(disk: &SimDisk, geometry: Geometry, filesystem: Filesystem, steps: &[Step]) -> Shown {
    disk.reset(geometry, filesystem);
    disk.turn_stamps_on();
    disk.record(true);
    let root = disk.root().unwrap();
    disk.make_directory(&root, &Name::new(b"directory").unwrap()).unwrap();
    disk.sync_directory(&root).unwrap();
    let mut world =
        World { disk, files: [const { None }; 4], directories: [None, None], moment: Snapshot::default() };
    world.open_directories();
    for step in steps {
        world.run(step);
        // Both views can be walked and read at any time.
        disk.image_hash(View::Durable);
    }
    disk.crash_anyhow();
    let mut events = Vec::new();
    disk.take_events(&mut events);
    let (visible, durable) = (disk.image_hash(View::Visible), disk.image_hash(View::Durable));
    assert!(disk.node_at("", View::Visible).is_some_and(|node| node == Node::Directory(DirectoryId::ROOT)));
    Shown { events, visible, durable, tally: disk.fault_tally() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_steps_give_the_same_disk_whatever_they_are(
        steps in vec(step(), 1..100),
        filesystem in 0..Filesystem::ALL.len(),
        is_small in any::<bool>(),
    ) {
        let geometry = if is_small { Geometry::SMALL } else { Geometry::DEFAULT };
        let filesystem = Filesystem::ALL[filesystem];
        let disk = SimDisk::new(geometry, filesystem);
        let first = run(&disk, geometry, filesystem, &steps);
        // On a used disk, and on a new one.
        prop_assert_eq!(&run(&disk, geometry, filesystem, &steps), &first);
        prop_assert_eq!(&run(&SimDisk::new(geometry, filesystem), geometry, filesystem, &steps), &first);
    }
}
