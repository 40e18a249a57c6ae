//! The simulated disk beside a real one: without faults they must answer alike.
//!
//! Each case drives one random sequence of calls through [`SimDisk`] and through
//! [`OsStorage`](recovery_core::storage::os::OsStorage) in a temporary directory, and compares every answer:
//! bytes, lengths, listings and error numbers. Between the calls the simulated node restarts, with
//! everything surviving, and its cache is dropped: neither may show.

use proptest::collection::vec;
use proptest::prelude::*;
use recovery_core::storage::os::OsStorage;
use recovery_core::storage::{Access, Call, EntryKind, Errno, LockMode, Name, Storage, StorageError};

use super::{Geometry, SimDisk, SurvivorChoice};
use crate::schedule::{Filesystem, Restart, Survivors};

/// How many handles of each kind a case may hold open at once.
const SLOTS: usize = 4;

/// One step of a case. Slots and names are small numbers, so that they meet often.
#[derive(Clone, Debug)]
enum Step {
    OpenDirectory { parent: usize, name: usize, into: usize },
    MakeDirectory { parent: usize, name: usize },
    SyncDirectory { directory: usize },
    List { directory: usize },
    Lock { directory: usize, mode: LockMode },
    CloseDirectory { directory: usize },
    Open { directory: usize, name: usize, access: Access, into: usize },
    Create { directory: usize, name: usize, into: usize },
    Read { file: usize, position: u64, length: usize },
    Write { file: usize, position: u64, length: usize, seed: u8 },
    Length { file: usize },
    SetLength { file: usize, length: u64 },
    Sync { file: usize },
    DropCache { file: usize },
    Close { file: usize },
    Rename { from_directory: usize, from: usize, to_directory: usize, to: usize },
    Remove { directory: usize, name: usize, kind: EntryKind },
    Restart { restart: Restart },
}

fn step() -> impl Strategy<Value = Step> {
    let slot = 0..SLOTS;
    let name = 0..4_usize;
    let position = 0..1400_u64;
    let access = prop_oneof![1 => Just(Access::Read), 4 => Just(Access::ReadWrite)];
    let mode = prop_oneof![Just(LockMode::Shared), Just(LockMode::Exclusive)];
    let kind = prop_oneof![3 => Just(EntryKind::File), 1 => Just(EntryKind::Directory)];
    let restart = prop_oneof![Just(Restart::Process), Just(Restart::Os), Just(Restart::Power)];
    prop_oneof![
        2 => (slot.clone(), name.clone(), slot.clone())
            .prop_map(|(parent, name, into)| Step::OpenDirectory { parent, name, into }),
        2 => (slot.clone(), name.clone()).prop_map(|(parent, name)| Step::MakeDirectory { parent, name }),
        1 => slot.clone().prop_map(|directory| Step::SyncDirectory { directory }),
        2 => slot.clone().prop_map(|directory| Step::List { directory }),
        1 => (slot.clone(), mode).prop_map(|(directory, mode)| Step::Lock { directory, mode }),
        1 => slot.clone().prop_map(|directory| Step::CloseDirectory { directory }),
        3 => (slot.clone(), name.clone(), access, slot.clone())
            .prop_map(|(directory, name, access, into)| Step::Open { directory, name, access, into }),
        4 => (slot.clone(), name.clone(), slot.clone())
            .prop_map(|(directory, name, into)| Step::Create { directory, name, into }),
        6 => (slot.clone(), position.clone(), 0..900_usize)
            .prop_map(|(file, position, length)| Step::Read { file, position, length }),
        8 => (slot.clone(), position.clone(), 0..700_usize, any::<u8>())
            .prop_map(|(file, position, length, seed)| Step::Write { file, position, length, seed }),
        2 => slot.clone().prop_map(|file| Step::Length { file }),
        4 => (slot.clone(), position).prop_map(|(file, length)| Step::SetLength { file, length }),
        2 => slot.clone().prop_map(|file| Step::Sync { file }),
        1 => slot.clone().prop_map(|file| Step::DropCache { file }),
        1 => slot.clone().prop_map(|file| Step::Close { file }),
        3 => (slot.clone(), name.clone(), slot.clone(), name.clone())
            .prop_map(|(from_directory, from, to_directory, to)| Step::Rename { from_directory, from, to_directory, to }),
        2 => (slot, name, kind).prop_map(|(directory, name, kind)| Step::Remove { directory, name, kind }),
        1 => restart.prop_map(|restart| Step::Restart { restart }),
    ]
}

/// What a call answered, in a form that two disks can be compared by.
#[derive(Debug, PartialEq)]
enum Answer {
    Done,
    Number(u64),
    Bytes(Vec<u8>),
    Entries(Vec<(Name, EntryKind)>),
    Failed(Call, Errno),
    /// The step's handle is not open; no call was made.
    Skipped,
}

/// A disk with the handles that a case has opened on it. Slot 0 of the directories starts as the root.
struct Driver<S: Storage> {
    files: [Option<S::File>; SLOTS],
    directories: [Option<S::Directory>; SLOTS],
}

fn name(number: usize) -> Name {
    Name::new([b"a", b"b", b"c", b"d"][number]).expect("one letter is a name")
}

fn kept<T>(answer: Result<T, StorageError>, keep: impl FnOnce(T) -> Answer) -> Answer {
    match answer {
        Ok(value) => keep(value),
        Err(error) => Answer::Failed(error.call, error.errno),
    }
}

impl<S: Storage> Driver<S> {
    fn new(storage: &S) -> Self {
        let mut driver = Self { files: [const { None }; SLOTS], directories: [const { None }; SLOTS] };
        driver.directories[0] = Some(storage.root().expect("the data directory is there"));
        driver
    }

    /// Lets go of all handles, as a process that ends.
    fn close_all(&mut self, storage: &S) {
        self.files.iter_mut().filter_map(Option::take).for_each(|file| storage.close(file));
        let directories = self.directories.iter_mut().filter_map(Option::take);
        directories.for_each(|directory| storage.close_directory(directory));
        self.directories[0] = Some(storage.root().expect("the data directory is there"));
    }

    fn keep_file(&mut self, storage: &S, into: usize, opened: Result<S::File, StorageError>) -> Answer {
        kept(opened, |file| {
            if let Some(old) = self.files[into].replace(file) {
                storage.close(old);
            }
            Answer::Done
        })
    }

    fn run(&mut self, storage: &S, step: &Step) -> Answer {
        match self.run_on_names(storage, step) {
            Some(answer) => answer,
            None => self.run_on_file(storage, step).unwrap_or(Answer::Skipped),
        }
    }

    fn run_on_names(&mut self, storage: &S, step: &Step) -> Option<Answer> {
        let slots = &self.directories;
        Some(match *step {
            Step::OpenDirectory { parent, name: number, into } => {
                let opened = storage.open_directory(slots[parent].as_ref()?, &name(number));
                kept(opened, |directory| {
                    if let Some(old) = self.directories[into].replace(directory) {
                        storage.close_directory(old);
                    }
                    Answer::Done
                })
            }
            Step::MakeDirectory { parent, name: number } => {
                kept(storage.make_directory(slots[parent].as_ref()?, &name(number)), |()| Answer::Done)
            }
            Step::SyncDirectory { directory } => {
                kept(storage.sync_directory(slots[directory].as_ref()?), |()| Answer::Done)
            }
            Step::List { directory } => {
                let mut entries = Vec::new();
                let listed = storage.list(slots[directory].as_ref()?, &mut |name, kind| {
                    entries.push((*name, kind));
                });
                entries.sort();
                kept(listed, |()| Answer::Entries(entries))
            }
            Step::Lock { directory, mode } => {
                kept(storage.lock(slots[directory].as_ref()?, mode), |()| Answer::Done)
            }
            Step::CloseDirectory { directory } => {
                // Without the root nothing more would happen.
                let directory = (directory > 0).then(|| self.directories[directory].take()).flatten()?;
                storage.close_directory(directory);
                Answer::Done
            }
            Step::Open { directory, name: number, access, into } => {
                let opened = storage.open(slots[directory].as_ref()?, &name(number), access);
                self.keep_file(storage, into, opened)
            }
            Step::Create { directory, name: number, into } => {
                let opened = storage.create(slots[directory].as_ref()?, &name(number));
                self.keep_file(storage, into, opened)
            }
            Step::Rename { from_directory, from, to_directory, to } => {
                let (source, target) = (slots[from_directory].as_ref()?, slots[to_directory].as_ref()?);
                kept(storage.rename(source, &name(from), target, &name(to)), |()| Answer::Done)
            }
            Step::Remove { directory, name: number, kind } => {
                kept(storage.remove(slots[directory].as_ref()?, &name(number), kind), |()| Answer::Done)
            }
            Step::Read { .. }
            | Step::Write { .. }
            | Step::Length { .. }
            | Step::SetLength { .. }
            | Step::Sync { .. }
            | Step::DropCache { .. }
            | Step::Close { .. }
            | Step::Restart { .. } => return None,
        })
    }

    fn run_on_file(&mut self, storage: &S, step: &Step) -> Option<Answer> {
        let slots = &self.files;
        Some(match *step {
            Step::Read { file, position, length } => {
                let mut bytes = vec![0xaa; length];
                let read = storage.read(slots[file].as_ref()?, position, &mut bytes);
                kept(read, |count| {
                    bytes.truncate(count);
                    Answer::Bytes(bytes)
                })
            }
            Step::Write { file, position, length, seed } => {
                let bytes: Vec<u8> =
                    (0..=u8::MAX).cycle().map(|at| seed.wrapping_add(at)).take(length).collect();
                let written = storage.write(slots[file].as_ref()?, position, &bytes);
                kept(written, |count| Answer::Number(count as u64))
            }
            Step::Length { file } => kept(storage.length(slots[file].as_ref()?), Answer::Number),
            Step::SetLength { file, length } => {
                kept(storage.set_length(slots[file].as_ref()?, length), |()| Answer::Done)
            }
            Step::Sync { file } => kept(storage.sync(slots[file].as_ref()?), |()| Answer::Done),
            Step::DropCache { file } => kept(storage.drop_cache(slots[file].as_ref()?), |()| Answer::Done),
            Step::Close { file } => {
                storage.close(self.files[file].take()?);
                Answer::Done
            }
            Step::OpenDirectory { .. }
            | Step::MakeDirectory { .. }
            | Step::SyncDirectory { .. }
            | Step::List { .. }
            | Step::Lock { .. }
            | Step::CloseDirectory { .. }
            | Step::Open { .. }
            | Step::Create { .. }
            | Step::Rename { .. }
            | Step::Remove { .. }
            | Step::Restart { .. } => return None,
        })
    }
}

fn check(filesystem: Filesystem, geometry: Geometry, steps: &[Step]) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let real = OsStorage::open(directory.path()).expect("it was just made");
    let simulated = SimDisk::new(geometry, filesystem);
    simulated.turn_stamps_on();
    let mut on_real = Driver::<OsStorage>::new(&real);
    let mut on_simulated = Driver::<SimDisk>::new(&simulated);
    for (at, step) in steps.iter().enumerate() {
        if let Step::Restart { restart } = step {
            // Everything survives, so the restart must not show but in the handles. A file without a name
            // dies with them on both.
            simulated.crash(*restart, &SurvivorChoice::of(Survivors::All));
            on_simulated.close_all(&simulated);
            on_real.close_all(&real);
            continue;
        }
        let expected = on_real.run(&real, step);
        let actual = on_simulated.run(&simulated, step);
        assert_eq!(actual, expected, "step {at}, {step:?}, on {}", filesystem.code());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_is_answered_as_a_real_filesystem_answers_it(
        steps in vec(step(), 1..160),
        filesystem in 0..Filesystem::ALL.len(),
        is_small in any::<bool>(),
    ) {
        let geometry = if is_small { Geometry::SMALL } else { Geometry::DEFAULT };
        check(Filesystem::ALL[filesystem], geometry, &steps);
    }
}
