//! Random programs of storage calls, drawn from a tape: a seed's, or one that a test shrinks.

use recovery_core::storage::{Access, EntryKind, LockMode};

use crate::schedule::tape::{Stream, Tape};
use crate::schedule::{Restart, Survivors};

/// How many handles of each kind a program may hold open at once, and how many names there are.
pub(super) const SLOTS: usize = 4;

/// Most steps of a program.
const STEPS_MAX: u64 = 160;

/// One step of a program. Slots and names are small numbers, so that they meet often.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
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

/// What a step does, and how often in 49.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    OpenDirectory,
    MakeDirectory,
    SyncDirectory,
    List,
    Lock,
    CloseDirectory,
    Open,
    Create,
    Read,
    Write,
    Length,
    SetLength,
    Sync,
    DropCache,
    Close,
    Rename,
    Remove,
    Restart,
}

const SHARES: [(u64, Kind); 18] = [
    (2, Kind::OpenDirectory),
    (2, Kind::MakeDirectory),
    (1, Kind::SyncDirectory),
    (2, Kind::List),
    (1, Kind::Lock),
    (1, Kind::CloseDirectory),
    (3, Kind::Open),
    (4, Kind::Create),
    (6, Kind::Read),
    (8, Kind::Write),
    (2, Kind::Length),
    (4, Kind::SetLength),
    (2, Kind::Sync),
    (1, Kind::DropCache),
    (1, Kind::Close),
    (3, Kind::Rename),
    (2, Kind::Remove),
    (1, Kind::Restart),
];

/// The program that a tape spells. A used-up tape adds nothing but directories that are opened.
pub(super) fn program(tape: &mut Tape) -> Vec<Step> {
    let count = tape.range(STREAM, 1, STEPS_MAX);
    (0..count).map(|_| step(tape)).collect()
}

const STREAM: Stream = Stream::Workload;

fn step(tape: &mut Tape) -> Step {
    let all: u64 = SHARES.iter().map(|(share, _)| share).sum();
    let mut draw = tape.range(STREAM, 0, all - 1);
    let kind = SHARES.iter().find_map(|(share, kind)| match draw.checked_sub(*share) {
        Some(rest) => {
            draw = rest;
            None
        }
        None => Some(*kind),
    });
    let mut slot = || tape.index(STREAM, SLOTS);
    let (first, second, third, fourth) = (slot(), slot(), slot(), slot());
    match kind.expect("the draw is below the sum of all shares") {
        Kind::OpenDirectory => Step::OpenDirectory { parent: first, name: second, into: third },
        Kind::MakeDirectory => Step::MakeDirectory { parent: first, name: second },
        Kind::SyncDirectory => Step::SyncDirectory { directory: first },
        Kind::List => Step::List { directory: first },
        Kind::Lock => {
            Step::Lock { directory: first, mode: tape.pick(STREAM, &[LockMode::Shared, LockMode::Exclusive]) }
        }
        Kind::CloseDirectory => Step::CloseDirectory { directory: first },
        Kind::Open => {
            let access = if tape.chance(STREAM, 800) { Access::ReadWrite } else { Access::Read };
            Step::Open { directory: first, name: second, access, into: third }
        }
        Kind::Create => Step::Create { directory: first, name: second, into: third },
        Kind::Read => Step::Read { file: first, position: position(tape), length: length(tape, 899) },
        Kind::Write => {
            let (position, length) = (position(tape), length(tape, 699));
            let seed = u8::try_from(tape.range(STREAM, 0, 255)).expect("a byte");
            Step::Write { file: first, position, length, seed }
        }
        Kind::Length => Step::Length { file: first },
        Kind::SetLength => Step::SetLength { file: first, length: position(tape) },
        Kind::Sync => Step::Sync { file: first },
        Kind::DropCache => Step::DropCache { file: first },
        Kind::Close => Step::Close { file: first },
        Kind::Rename => Step::Rename { from_directory: first, from: second, to_directory: third, to: fourth },
        Kind::Remove => {
            let kind = if tape.chance(STREAM, 250) { EntryKind::Directory } else { EntryKind::File };
            Step::Remove { directory: first, name: second, kind }
        }
        Kind::Restart => Step::Restart { restart: tape.pick(STREAM, &Restart::ALL) },
    }
}

fn position(tape: &mut Tape) -> u64 {
    tape.range(STREAM, 0, 1399)
}

fn length(tape: &mut Tape, most: u64) -> usize {
    usize::try_from(tape.range(STREAM, 0, most)).expect("a length is short")
}

/// What survives a crash, where the programs are to lose something.
pub(super) fn survivors(tape: &mut Tape) -> Survivors {
    let mut number = |most| u32::try_from(tape.range(STREAM, 0, most)).expect("a small number");
    match number(5) {
        0 => Survivors::None,
        1 => Survivors::All,
        2 => Survivors::Prefix { n: number(9) },
        3 => Survivors::Suffix { n: number(9) },
        4 => Survivors::Window { from: number(9), n: number(9) },
        _ => Survivors::Subset { mask: tape.word(STREAM) },
    }
}
