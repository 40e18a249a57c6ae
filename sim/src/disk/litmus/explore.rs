//! Every crash state of a tiny program, or a fair share of them.
//!
//! Promises: all subsets where there are few, else all prefixes, suffixes, single holes and single survivors
//! and a fixed spread of the rest; each with every length, fill and kind of restart. Leaves out: chance.

use crate::disk::{Cause, FileChoice, Node, Snapshot, SurvivorChoice, View};
use crate::schedule::{FaultKind, Fill, Restart, SizeChoice, Survivors};

use super::Seen;
use super::hand::{Hand, name};

/// Most elements of which all subsets are tried.
const EXHAUSTIVE_MAX: u32 = 5;

/// Byte of freed blocks of the program's own directory.
pub(super) const STALE_SAME: u8 = b's';

/// Byte of freed blocks of another directory.
pub(super) const STALE_FOREIGN: u8 = b'f';

/// Puts the node down in every way and notes what is there afterwards.
pub(super) fn explore(hand: &mut Hand, seen: &mut Seen, judge: fn(&Hand) -> &'static str) {
    explore_restarts(hand, seen, &[Restart::Os, Restart::Power], judge);
}

/// Puts the node down by these restarts, with every choice of survivors, and notes what is there afterwards.
pub(super) fn explore_restarts(
    hand: &mut Hand,
    seen: &mut Seen,
    restarts: &[Restart],
    judge: fn(&Hand) -> &'static str,
) {
    fill_pool(hand);
    let disk = &hand.disk;
    let most = disk.file_ids().map(|file| disk.pending_elements(file)).max().unwrap_or(0);
    let names = disk.pending_names();
    let mut before = Snapshot::default();
    disk.snapshot(&mut before);
    for &restart in restarts {
        for survive in choices(most) {
            for everything in shapes(survive) {
                for names in choices(names) {
                    disk.crash(restart, &SurvivorChoice { everything, names, files: Vec::new() });
                    seen.note(judge(hand));
                    disk.rewind(&before);
                }
            }
        }
    }
}

/// Gives the pool blocks of both kinds.
fn fill_pool(hand: &Hand) {
    let root = hand.disk.node_at("", View::Visible);
    let Some(Node::Directory(root)) = root else { unreachable!("the root is a directory") };
    hand.disk.add_freed_block(Some(root), &[STALE_SAME; 256]);
    hand.disk.add_freed_block(None, &[STALE_FOREIGN; 256]);
}

/// Lengths with fills: each length with zeros, and each other fill with the lengths that let it show.
fn shapes(survive: Survivors) -> Vec<FileChoice> {
    let base = FileChoice::of(survive);
    let lengths = [None, Some(SizeChoice::New), Some(SizeChoice::Old)];
    let mut shapes: Vec<_> = lengths.into_iter().map(|length| FileChoice { length, ..base }).collect();
    for fill in [Fill::StaleSame, Fill::StaleForeign, Fill::Noise] {
        shapes.push(FileChoice { length: Some(SizeChoice::New), fill, ..base });
    }
    // The second of two writes lands in place, and the file is no longer than the first made it.
    for length in [None, Some(SizeChoice::New)] {
        shapes.push(FileChoice { length, old_lengths_from: Some(1), ..base });
    }
    shapes
}

/// Choices over `count` elements in issue order.
pub(in crate::disk) fn choices(count: u32) -> Vec<Survivors> {
    if count <= EXHAUSTIVE_MAX {
        return (0..1_u64 << count).map(|mask| Survivors::Subset { mask }).collect();
    }
    let mut choices = vec![Survivors::None, Survivors::All];
    for n in 1..count {
        choices.push(Survivors::Prefix { n });
        choices.push(Survivors::Suffix { n });
    }
    for at in 0..count.min(64) {
        choices.push(Survivors::Subset { mask: 1 << at });
        choices.push(Survivors::Subset { mask: !(1 << at) });
    }
    for stride in [0x5555_5555_5555_5555, 0x3333_3333_3333_3333, 0x0f0f_0f0f_0f0f_0f0f] {
        choices.push(Survivors::Subset { mask: stride });
        choices.push(Survivors::Subset { mask: !stride });
    }
    choices
}

/// The place in [`Cause`] of a fault that a program injects by hand.
pub(super) const CAUSE: Option<Cause> = Some(Cause::Fault(FaultKind::SyncFailure));

/// Whether a name is there.
pub(in crate::disk) fn is_there(hand: &Hand, text: &str) -> bool {
    let root = hand.disk.node_at("", View::Visible);
    let Some(Node::Directory(root)) = root else { unreachable!("the root is a directory") };
    hand.disk.entry(root, &name(text), View::Visible).is_some()
}
