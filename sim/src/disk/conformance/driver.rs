//! A storage with handles open on it, driven by the steps of a program.

use recovery_core::storage::{Call, EntryKind, Errno, Name, Storage, StorageError};

use super::program::{SLOTS, Step};

/// What a call answered, in a form that two disks can be compared by.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    Done,
    Number(u64),
    Bytes(Vec<u8>),
    Entries(Vec<(Name, EntryKind)>),
    Failed(Call, Errno),
    /// The step's handle is not open; no call was made.
    Skipped,
}

/// A disk with the handles that a case has opened on it. Slot 0 of the directories starts as the root.
pub(super) struct Driver<S: Storage> {
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
    pub(super) fn new(storage: &S) -> Self {
        let mut driver = Self { files: [const { None }; SLOTS], directories: [const { None }; SLOTS] };
        driver.directories[0] = Some(storage.root().expect("the data directory is there"));
        driver
    }

    /// Lets go of all handles, as a process that ends.
    pub(super) fn close_all(&mut self, storage: &S) {
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

    pub(super) fn run(&mut self, storage: &S, step: &Step) -> Answer {
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
