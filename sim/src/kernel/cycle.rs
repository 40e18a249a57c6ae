//! One crash of a real filesystem, and many programs that it interrupts.
//!
//! Promises: each program has a directory of its own, durable before its first step; what it left is read
//! after the filesystem was shut down and mounted again. Leaves out: whether that may be.
//!
//! # Why many programs may share one crash
//!
//! Their directories are apart, so no step of one touches a file or a name of another. What joins them is the
//! journal: a sync of one commits what is pending of all, and a writeback may take neighbours along. For the
//! one that did not ask, that is the kernel writing back on its own, which it may do at any moment with any
//! program, and which the model always allows. It is wanted, even: half of the crashes have one such commit
//! at a random moment behind every program's own syncs.

use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use recovery_core::storage::os::OsStorage;
use rustix::fs::{Advice, OFlags, fadvise, syncfs};

use crate::schedule::tape::{Stream, Tape};

use super::crashed::{Crashed, Wronged};
use super::driver::{StepError, take};
use super::mount::{Mount, MountError};
use super::partition::{Partition, PartitionError};
use super::program::{Program, name_of};
use super::remains::Remains;

/// Bytes that reads past the cache are aligned to.
const ALIGNMENT: usize = 4096;

/// Why a crash told nothing.
#[derive(Debug, thiserror::Error)]
pub enum CycleError {
    /// The filesystem could not be had or kept.
    #[error("{0}")]
    Mount(#[from] MountError),
    /// A directory could not be made or read.
    #[error("the directories of the programs: {0}")]
    Directory(#[from] io::Error),
    /// The data directory could not be opened.
    #[error("the directory of program {seed}: {told}")]
    Open {
        /// Which program.
        seed: u64,
        /// What was said of it.
        told: String,
    },
    /// A partition could not be written or recovered.
    #[error("{0}")]
    Partition(#[from] PartitionError),
    /// A step failed on the real filesystem, or on the model.
    #[error("program {seed} ({program}): {error}")]
    Step {
        /// Which program.
        seed: u64,
        /// Its steps.
        program: String,
        /// What failed.
        error: StepError,
    },
}

/// A program on the real filesystem.
struct Running<'a> {
    program: &'a Program,
    path: PathBuf,
    storage: OsStorage,
    /// The next step.
    next: usize,
}

/// Takes all programs' steps in a drawn order, crashes the filesystem, and tells what each program left.
///
/// # Errors
///
/// What failed.
pub(super) fn crash_in(
    mount: &mut Mount,
    programs: &[Program],
    tape: &mut Tape,
) -> Result<Vec<Remains>, CycleError> {
    let point = mount.point();
    clear(&point)?;
    let start = |(at, program)| start(point.join(format!("program-{at}")), program);
    let mut running = programs.iter().enumerate().map(start).collect::<Result<Vec<_>, _>>()?;
    syncfs(fs::File::open(&point)?).map_err(io::Error::from)?;
    // Most often all barriers come first, so that every program has something to lose.
    if tape.chance(STREAM, 700) {
        interleave(&mut running, tape, Program::quiet_from, None)?;
    }
    let beat = tape.chance(STREAM, 500).then(|| point.join("beat"));
    interleave(&mut running, tape, |program| program.steps.len(), beat.as_deref())?;
    let paths: Vec<PathBuf> = running.into_iter().map(|running| running.path).collect();
    mount.crash()?;
    Ok(paths.iter().map(|path| Remains::of_directory(path)).collect::<io::Result<_>>()?)
}

/// Takes the steps of some partitions in a drawn order, crashes the filesystem, recovers each and tells what is
/// wrong with it.
///
/// # Errors
///
/// What failed.
pub(super) fn crash_partitions(
    mount: &mut Mount,
    seeds: &[u64],
    tape: &mut Tape,
) -> Result<Vec<Wronged>, CycleError> {
    let point = mount.point();
    clear(&point)?;
    let root = |seed: &u64| point.join(format!("partition-{seed}"));
    let mut partitions = Vec::new();
    for seed in seeds {
        fs::create_dir(root(seed))?;
        fs::File::open(&point)?.sync_all()?;
        partitions.push(Partition::begin(&root(seed), *seed)?);
    }
    loop {
        let busy: Vec<usize> = (0..partitions.len()).filter(|&at| partitions[at].is_busy()).collect();
        if busy.is_empty() {
            break;
        }
        partitions[tape.pick(STREAM, &busy)].step()?;
    }
    let crashed: Vec<Crashed> = partitions.into_iter().map(Partition::end).collect();
    mount.crash()?;
    let judged = crashed.into_iter().map(Crashed::judge).collect::<Result<Vec<_>, _>>()?;
    Ok(judged.into_iter().flatten().collect())
}

const STREAM: Stream = Stream::Crashes;

/// Empties the filesystem of what the crash before left.
fn clear(point: &Path) -> io::Result<()> {
    for entry in fs::read_dir(point)? {
        let entry = entry?;
        if entry.file_name() == "lost+found" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn start(path: PathBuf, program: &Program) -> Result<Running<'_>, CycleError> {
    fs::create_dir(&path)?;
    let storage = OsStorage::open(&path)
        .map_err(|error| CycleError::Open { seed: program.seed, told: error.to_string() })?;
    Ok(Running { program, path, storage, next: 0 })
}

/// Takes steps of the programs up to where `until` says, one of a random program at a time; at a random
/// moment, syncs a file of nobody's.
fn interleave(
    running: &mut [Running<'_>],
    tape: &mut Tape,
    until: impl Fn(&Program) -> usize,
    beat: Option<&Path>,
) -> Result<(), CycleError> {
    let left = |running: &[Running<'_>]| {
        running.iter().map(|it| until(it.program).saturating_sub(it.next)).sum::<usize>()
    };
    let beat_at = beat.map(|path| (tape.index(STREAM, left(running) + 1), path));
    while left(running) > 0 {
        if let Some((at, path)) = beat_at
            && at == left(running)
        {
            commit(path)?;
        }
        let open: Vec<usize> =
            (0..running.len()).filter(|&at| running[at].next < until(running[at].program)).collect();
        running[tape.pick(STREAM, &open)].step()?;
    }
    Ok(())
}

/// Makes the filesystem commit its journal.
fn commit(path: &Path) -> io::Result<()> {
    let file = fs::File::create(path)?;
    file.write_all_at(b"beat", 0)?;
    file.sync_all()
}

impl Running<'_> {
    fn step(&mut self) -> Result<(), CycleError> {
        let write_back = |name: usize, position: u64, length: u64, waits: bool| {
            let path = self.path.join(name_of(name).to_string());
            if waits {
                read_past_cache(&path, position, length)
            } else {
                ask_to_write_back(&path, position, length)
            }
        };
        take(&self.storage, self.program, self.next, &write_back).map_err(|error| CycleError::Step {
            seed: self.program.seed,
            program: self.program.to_string(),
            error,
        })?;
        self.next += 1;
        Ok(())
    }
}

/// Asks for pages to be dropped: those that are dirty are written back, without waiting.
pub(super) fn ask_to_write_back(path: &Path, position: u64, length: u64) -> io::Result<()> {
    let file = fs::File::open(path)?;
    Ok(fadvise(&file, position, NonZeroU64::new(length), Advice::DontNeed)?)
}

/// Reads past the cache: what is dirty is written back first, and waited for.
fn read_past_cache(path: &Path, position: u64, length: u64) -> io::Result<()> {
    let flags = i32::try_from(OFlags::DIRECT.bits()).expect("a flag of open(2) is an int");
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let length = usize::try_from(length).expect("a program's file is short");
    let mut bytes = vec![0; length.next_multiple_of(ALIGNMENT) + ALIGNMENT];
    let from = bytes.as_ptr().align_offset(ALIGNMENT);
    let until = from + length.next_multiple_of(ALIGNMENT);
    file.read_at(&mut bytes[from..until], position)?;
    Ok(())
}
