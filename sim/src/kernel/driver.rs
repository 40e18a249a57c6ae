//! Takes the steps of a program on a disk, simulated or real.
//!
//! Promises: both go through the core's own storage trait, so that what runs on the kernel is what runs on
//! the model; a step that fails is an error, since no step of a program can. Leaves out: partial writeback,
//! which the trait has no call for: the model needs none, since what it asks for may always happen.

use std::io;

use recovery_core::storage::{Access, EntryKind, Storage, StorageError, exact};

use crate::disk::SimDisk;

use super::program::{Program, Step, name_of};

/// Starts to write bytes of a file back: its name by number, the first byte, how many, and whether it is waited
/// for.
pub(super) type WriteBack<'a> = &'a dyn Fn(usize, u64, u64, bool) -> io::Result<()>;

/// Takes all steps of a program on the model, which writes back whatever it wants, whenever it wants.
///
/// # Errors
///
/// What could not be done.
pub fn simulate(disk: &SimDisk, program: &Program) -> Result<(), StepError> {
    (0..program.steps.len()).try_for_each(|at| take(disk, program, at, &|_, _, _, _| Ok(())))
}

/// Why a step could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// A storage call failed.
    #[error("step {step}, {text}: {error}")]
    Call {
        /// Which step, counted from 0.
        step: usize,
        /// The step.
        text: String,
        /// What failed.
        error: StorageError,
    },
    /// Writing back failed.
    #[error("step {step}: writing back: {error}")]
    WriteBack {
        /// Which step, counted from 0.
        step: usize,
        /// What failed.
        error: io::Error,
    },
}

/// Takes one step of a program on a disk whose root is its directory.
///
/// # Errors
///
/// What could not be done.
pub(super) fn take<S: Storage>(
    disk: &S,
    program: &Program,
    at: usize,
    write_back: WriteBack<'_>,
) -> Result<(), StepError> {
    let step = program.steps[at];
    if let Step::WriteBack { name, position, length, waits } = step {
        let written = write_back(name, position, length, waits);
        return written.map_err(|error| StepError::WriteBack { step: at, error });
    }
    call(disk, program, at).map_err(|error| StepError::Call { step: at, text: step.to_string(), error })
}

fn call<S: Storage>(disk: &S, program: &Program, at: usize) -> Result<(), StorageError> {
    let root = disk.root()?;
    let on_file = |number: usize, run: &dyn Fn(&S::File) -> Result<(), StorageError>| {
        let file = disk.open(&root, &name_of(number), Access::ReadWrite)?;
        let ran = run(&file);
        disk.close(file);
        ran
    };
    let ran = match program.steps[at] {
        Step::Create(number) => disk.create(&root, &name_of(number)).map(|file| disk.close(file)),
        Step::Write { name, position, length } => {
            let bytes = program.bytes(program.number(at), position, length);
            on_file(name, &|file| exact::write_all(disk, file, &name_of(name), position, &bytes))
        }
        Step::SetLength { name, length } => on_file(name, &|file| disk.set_length(file, length)),
        Step::Rename { from, to } => disk.rename(&root, &name_of(from), &root, &name_of(to)),
        Step::Remove(number) => disk.remove(&root, &name_of(number), EntryKind::File),
        Step::Sync(number) => on_file(number, &|file| disk.sync(file)),
        Step::SyncDirectory => disk.sync_directory(&root),
        Step::WriteBack { .. } => Ok(()),
    };
    disk.close_directory(root);
    ran
}
