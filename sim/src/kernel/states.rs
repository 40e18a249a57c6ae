//! Every state that the model lets a crash leave of a small program, page by page.
//!
//! Promises: each state is one that the simulated disk gave; sectors of one page's part of a change share their
//! fate, as they do on a device that takes whole blocks. Leaves out: torn pages.

use std::collections::BTreeSet;

use crate::disk::{FileChoice, FileId, SimDisk, Snapshot, SurvivorChoice};
use crate::schedule::{Restart, Survivors};

use super::explanation::{Reading, cuts, names_below};
use super::remains::Remains;

/// The states that a crash of the disk may leave. The disk is as it was before.
pub(super) fn all_states(disk: &SimDisk) -> BTreeSet<Remains> {
    let mut before = Snapshot::default();
    disk.snapshot(&mut before);
    let mut states = BTreeSet::new();
    for cut in cuts(disk) {
        let files: Vec<(FileId, Vec<FileChoice>)> =
            disk.file_ids().map(|file| (file, choices(disk, file, cut))).collect();
        let everything = FileChoice::of(Survivors::All);
        let mut choice = SurvivorChoice { everything, names: names_below(disk, cut), files: Vec::new() };
        visit(&files, &mut choice, &mut |choice| {
            disk.crash(Restart::Os, choice);
            states.insert(Remains::of_disk(disk));
            disk.rewind(&before);
        });
    }
    states
}

/// Every choice for one file below a cut.
fn choices(disk: &SimDisk, file: FileId, cut: u32) -> Vec<FileChoice> {
    let elements = disk.undecided(file);
    let reading = Reading { elements: &elements, target: &[], geometry: disk.geometry(), cut };
    let sets = reading.sets_of_pieces();
    sets.into_iter().flat_map(|survive| reading.shapes(survive)).collect()
}

/// Visits every combination of the files' choices.
fn visit(
    files: &[(FileId, Vec<FileChoice>)],
    choice: &mut SurvivorChoice,
    see: &mut dyn FnMut(&SurvivorChoice),
) {
    let Some(((file, choices), rest)) = files.split_first() else {
        see(choice);
        return;
    };
    for own in choices {
        choice.files.push((*file, *own));
        visit(rest, choice, see);
        choice.files.pop();
    }
}
