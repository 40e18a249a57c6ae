//! "In every crash state" is a query, and here it is held against all crash states of tiny programs.
//!
//! Promises: what the query says to be there is there in each of them; where nothing is ordered it doubts
//! nothing that is. Leaves out: programs whose states are too many to go through.

use std::ops::Range;

use recovery_core::storage::Storage;

use super::explore::choices;
use super::hand::{Hand, name};
use crate::disk::rules::rules_of;
use crate::disk::{DirectoryId, FileChoice, Snapshot, SurvivorChoice};
use crate::schedule::tape::{Stream, Tape};
use crate::schedule::{Filesystem, Fill, Restart, SizeChoice};

/// One step of a program on two files; names are `a` and `b`.
#[derive(Clone, Copy, Debug)]
pub(in crate::disk) enum Step {
    Create(usize),
    Write(usize, u64, u64, u8),
    SetLength(usize, u64),
    Sync(usize),
    SyncRoot,
    Rename(usize),
    Remove(usize),
}

const NAMES: [&str; 2] = ["a", "b"];

/// Ranges that are asked about beside the whole file.
const RANGES: [Range<u64>; 4] = [0..0, 0..40, 60..70, 100..290];

/// Draws a program for a filesystem, and holds the query to every crash state of it; returns how many.
///
/// # Errors
///
/// What the query says, and what some state, or every state, shows.
pub fn hold_to_every_state(seed: u64) -> Result<u32, String> {
    let mut tape = Tape::from_seed(seed);
    let filesystems = Filesystem::ALL.len() as u64;
    let filesystem = Filesystem::ALL[draw(&mut tape, filesystems)];
    let count = 1 + draw(&mut tape, 7);
    let steps: Vec<Step> = (0..count).map(|_| step(&mut tape)).collect();
    hold_program(filesystem, &steps)
}

fn draw(tape: &mut Tape, below: u64) -> usize {
    usize::try_from(tape.range(Stream::Workload, 0, below - 1)).expect("a small number")
}

fn step(tape: &mut Tape) -> Step {
    let kind = draw(tape, 12);
    let file = draw(tape, 2);
    let (position, length) = (draw(tape, 300) as u64, 1 + draw(tape, 129) as u64);
    match kind {
        0 | 1 => Step::Create(file),
        2..=5 => Step::Write(file, position, length, b'a'),
        6 => Step::SetLength(file, position),
        7 | 8 => Step::Sync(file),
        9 => Step::SyncRoot,
        10 => Step::Rename(file),
        _ => Step::Remove(file),
    }
}

/// Holds the query to every crash state behind a program; returns how many there were.
///
/// # Errors
///
/// What the query says, and what some state, or every state, shows.
pub(in crate::disk) fn hold_program(filesystem: Filesystem, steps: &[Step]) -> Result<u32, String> {
    let hand = Hand::with_rules(filesystem, rules_of(filesystem));
    for step in steps {
        run(&hand, *step);
    }
    let mut states = 0;
    for text in NAMES {
        let of = name(text);
        let answer = hand.disk.is_file_durable(DirectoryId::ROOT, &of).is_ok();
        let expected = range_of(&hand, text, &(0..u64::MAX));
        let mut is_everywhere = expected.is_some();
        states +=
            for_each_state(&hand, |hand| is_everywhere &= range_of(hand, text, &(0..u64::MAX)) == expected);
        compare(filesystem, text, answer, is_everywhere)?;
        for range in RANGES {
            let answer = hand.disk.is_durable(DirectoryId::ROOT, &of, range.clone()).is_ok();
            let expected = range_of(&hand, text, &range);
            let is_whole = |bytes: &Vec<u8>| bytes.len() as u64 == range.end - range.start;
            let mut is_everywhere = expected.as_ref().is_some_and(is_whole);
            states += for_each_state(&hand, |hand| is_everywhere &= range_of(hand, text, &range) == expected);
            compare(filesystem, &format!("{text} {range:?}"), answer, is_everywhere)?;
        }
    }
    Ok(states)
}

/// Where nothing is ordered the query is exact. Elsewhere it may doubt what order saves.
fn compare(filesystem: Filesystem, what: &str, answer: bool, is_everywhere: bool) -> Result<(), String> {
    let is_exact = filesystem == Filesystem::Adversarial;
    match (answer, is_everywhere) {
        (true, false) => Err(format!("{what} on {}: not in every crash state", filesystem.code())),
        (false, true) if is_exact => Err(format!("{what}: in every crash state, and doubted")),
        (true, true) | (false, _) => Ok(()),
    }
}

fn run(hand: &Hand, step: Step) {
    let is_there = |which: usize| hand.look(NAMES[which]).is_some();
    match step {
        Step::Create(which) if !is_there(which) => hand.disk.close(hand.create(NAMES[which])),
        Step::Write(which, position, length, byte) if is_there(which) => {
            let file = hand.open(NAMES[which]);
            hand.write(&file, position, byte, length);
            hand.disk.close(file);
        }
        Step::SetLength(which, length) if is_there(which) => {
            let file = hand.open(NAMES[which]);
            hand.set_length(&file, length);
            hand.disk.close(file);
        }
        Step::Sync(which) if is_there(which) => {
            let file = hand.open(NAMES[which]);
            hand.sync(&file);
            hand.disk.close(file);
        }
        Step::SyncRoot => hand.sync_root(),
        Step::Rename(from) if is_there(from) => hand.rename(NAMES[from], NAMES[1 - from]),
        Step::Remove(which) if is_there(which) => hand.remove(NAMES[which]),
        Step::Create(_)
        | Step::Write(..)
        | Step::SetLength(..)
        | Step::Sync(_)
        | Step::Rename(_)
        | Step::Remove(_) => {}
    }
}

/// What a range of a file is: its bytes, as far as they go, or nothing if there is no such file.
fn range_of(hand: &Hand, text: &str, range: &Range<u64>) -> Option<Vec<u8>> {
    let bytes = hand.look(text)?;
    let at =
        |position: u64| usize::try_from(position).map_or(bytes.len(), |position| position.min(bytes.len()));
    Some(bytes[at(range.start)..at(range.end)].to_vec())
}

/// Every crash state of a power loss, with each length and every fill; returns how many.
fn for_each_state(hand: &Hand, mut look: impl FnMut(&Hand)) -> u32 {
    let mut before = Snapshot::default();
    hand.disk.snapshot(&mut before);
    let elements = hand.disk.file_ids().map(|file| hand.disk.pending_elements(file)).max().unwrap_or(0);
    let mut states = 0;
    for survive in choices(elements) {
        for names in choices(hand.disk.pending_names()) {
            for length in [None, Some(SizeChoice::New), Some(SizeChoice::Old)] {
                for fill in [Fill::Zeros, Fill::Noise] {
                    let everything = FileChoice { length, fill, ..FileChoice::of(survive) };
                    let choice = SurvivorChoice { everything, names, files: Vec::new() };
                    hand.disk.crash(Restart::Power, &choice);
                    look(hand);
                    hand.disk.rewind(&before);
                    states += 1;
                }
            }
        }
    }
    states
}
