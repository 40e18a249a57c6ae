//! Which survivors of a crash give what was found, if any do: the test of membership.
//!
//! Promises: what it accepts the model allows, since the simulated disk itself gave that very image; what it
//! rejects the model does not allow, as far as its search goes, and on small disks its tests compare it with
//! every set of survivors there is. Leaves out: filesystems that show old blocks or noise in holes.
//!
//! # The search
//!
//! Names and changes of length are one sequence, so a place where it is cut decides about all of them. For
//! each cut, newest first, each file is looked at alone: of each sector the version that was found, with every
//! older one, survives, and no newer one. What the found bytes do not decide (sectors behind the end, versions
//! that agree as far as they show) is tried both ways. If none of it gives the file that was found, all pages
//! of its pending changes are tried in and out.

use std::collections::BTreeMap;

use crate::disk::{
    DirectoryId, FileChoice, FileId, Geometry, Node, SimDisk, Snapshot, SurvivorChoice, Undecided, View,
};
use crate::schedule::{Restart, SizeChoice, Survivors};

use super::remains::Remains;

/// Pages of pending changes of one file of which every set is tried, at most.
const PIECES_MAX: usize = 7;

/// The survivors that give what was found, or `None` if the model knows none. The disk is as it was before.
pub fn explain(disk: &SimDisk, found: &Remains) -> Option<SurvivorChoice> {
    let mut before = Snapshot::default();
    disk.snapshot(&mut before);
    let search = Search { disk, before, found };
    cuts(disk).into_iter().rev().find_map(|cut| search.at_cut(cut))
}

/// The places where the sequence of names and lengths may be cut: the first change that is lost.
pub(super) fn cuts(disk: &SimDisk) -> Vec<u32> {
    let mut cuts = disk.undecided_names();
    for file in disk.file_ids() {
        cuts.extend(disk.undecided(file).iter().filter_map(|element| match element {
            Undecided::Length { sequence, .. } => Some(*sequence),
            Undecided::Sector { .. } => None,
        }));
    }
    cuts.push(u32::MAX);
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// The names that come before a cut.
pub(super) fn names_below(disk: &SimDisk, cut: u32) -> Survivors {
    let names = disk.undecided_names().iter().filter(|&&sequence| sequence < cut).count();
    Survivors::Prefix { n: u32::try_from(names).expect("a program has few names") }
}

struct Search<'a> {
    disk: &'a SimDisk,
    before: Snapshot,
    found: &'a Remains,
}

/// What a cut leaves if all data survives.
struct Base {
    choice: SurvivorChoice,
    files: Files,
    cut: u32,
}

/// What a file is after a crash: its name, and its bytes.
type Files = BTreeMap<FileId, (String, Vec<u8>)>;

impl Search<'_> {
    fn at_cut(&self, cut: u32) -> Option<SurvivorChoice> {
        let mut choice = self.kept_below(cut);
        let files = self.crash(&choice);
        if !self.are_names_found(&files) {
            return None;
        }
        let base = Base { choice: choice.clone(), files, cut };
        for (file, (name, _)) in &base.files {
            let elements = self.disk.undecided(*file);
            if !elements.is_empty() {
                let own = self.explain_file(&base, *file, name, &elements)?;
                set(&mut choice, *file, own);
            }
        }
        let files = self.crash(&choice);
        let is_found = self.are_names_found(&files)
            && files.values().all(|(name, bytes)| self.found.files[name] == *bytes);
        is_found.then_some(choice)
    }

    /// Whether the names are those that were found.
    fn are_names_found(&self, files: &Files) -> bool {
        let mut names = files.values().map(|(name, _)| name);
        files.len() == self.found.files.len() && names.all(|name| self.found.files.contains_key(name))
    }

    /// All data, and the names and lengths that come before a cut.
    fn kept_below(&self, cut: u32) -> SurvivorChoice {
        let names = names_below(self.disk, cut);
        let everything = FileChoice::of(Survivors::All);
        let files = self.disk.file_ids().map(|file| {
            let elements = self.disk.undecided(file);
            (file, FileChoice::of(mask(elements.iter().map(|element| is_below(element, cut)))))
        });
        SurvivorChoice { everything, names, files: files.collect() }
    }

    /// What the model leaves by a choice. The disk is as it was before.
    fn crash(&self, choice: &SurvivorChoice) -> Files {
        self.disk.crash(Restart::Os, choice);
        let entries = self.disk.entries(DirectoryId::ROOT, View::Visible);
        let files = entries.into_iter().filter_map(|(name, node)| match node {
            Node::File(file) => Some((file, (name.to_string(), self.disk.contents_of(file, View::Visible)))),
            Node::Directory(_) | Node::Link | Node::Special => None,
        });
        let files = files.collect();
        self.disk.rewind(&self.before);
        files
    }

    /// A choice for one file that gives it the bytes that were found under its name.
    fn explain_file(
        &self,
        base: &Base,
        file: FileId,
        name: &str,
        elements: &[Undecided],
    ) -> Option<FileChoice> {
        let target = &self.found.files[name];
        let gives = |own: &FileChoice| {
            let mut choice = base.choice.clone();
            set(&mut choice, file, *own);
            let files = self.crash(&choice);
            // A choice for one file may cut the names earlier: that is another cut.
            let names = |files: &Files| -> Vec<(FileId, String)> {
                files.iter().map(|(file, (name, _))| (*file, name.clone())).collect()
            };
            files.get(&file).is_some_and(|(_, bytes)| bytes == target) && names(&files) == names(&base.files)
        };
        let read = Reading { elements, target, geometry: self.disk.geometry(), cut: base.cut };
        let read_off = read.masks().into_iter().flat_map(|survive| read.shapes(survive));
        read_off.chain(read.all_pieces().into_iter().flat_map(|survive| read.shapes(survive))).find(gives)
    }
}

fn set(choice: &mut SurvivorChoice, file: FileId, own: FileChoice) {
    choice.files.retain(|(other, _)| *other != file);
    choice.files.push((file, own));
}

/// Whether an element is data, or a change of length before a cut.
fn is_below(element: &Undecided, cut: u32) -> bool {
    match element {
        Undecided::Sector { .. } => true,
        Undecided::Length { sequence, .. } => *sequence < cut,
    }
}

fn mask(keeps: impl Iterator<Item = bool>) -> Survivors {
    let mut mask = 0;
    for (at, keeps) in keeps.enumerate() {
        assert!(at < 64, "programs keep below what a mask can tell apart");
        mask |= u64::from(keeps) << at;
    }
    Survivors::Subset { mask }
}

/// One file's pending elements beside the bytes that were found.
pub(super) struct Reading<'a> {
    pub(super) elements: &'a [Undecided],
    pub(super) target: &'a [u8],
    pub(super) geometry: Geometry,
    pub(super) cut: u32,
}

/// What the found bytes say of one element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// They are its bytes, as far as the file goes.
    Same,
    /// They are other bytes.
    Other,
    /// The file ends before it.
    Behind,
}

/// How what the bytes do not decide is guessed.
#[derive(Clone, Copy)]
struct Guess {
    takes_newest: bool,
    keeps_behind: bool,
    keeps_tails: bool,
}

impl Reading<'_> {
    /// A set of survivors with each length that it may have.
    pub(super) fn shapes(&self, survive: Survivors) -> Vec<FileChoice> {
        let base = FileChoice::of(survive);
        let lengths = [None, Some(SizeChoice::New), Some(SizeChoice::Old)];
        let mut shapes: Vec<_> = lengths.into_iter().map(|length| FileChoice { length, ..base }).collect();
        for element in self.begins() {
            for length in [None, Some(SizeChoice::New)] {
                shapes.push(FileChoice { length, old_lengths_from: Some(element), ..base });
            }
        }
        shapes
    }

    /// The elements at which a page of a change, or a change of length, begins.
    fn begins(&self) -> Vec<u32> {
        let piece = |element: &Undecided| match element {
            Undecided::Sector { change, sector, .. } => (*change, self.page_of(*sector)),
            Undecided::Length { change, .. } => (*change, 0),
        };
        let pieces: Vec<(u32, u64)> = self.elements.iter().map(piece).collect();
        let is_first = |at: &usize| *at == 0 || pieces[*at - 1] != pieces[*at];
        let begins = (0..pieces.len()).filter(is_first);
        begins.map(|at| u32::try_from(at).expect("a program has few elements")).collect()
    }

    fn look(&self, element: &Undecided) -> Look {
        let Undecided::Sector { sector, bytes, .. } = element else { return Look::Behind };
        let start = u64::from(*sector) * self.geometry.sector_bytes();
        let start = usize::try_from(start).expect("a program's file is short");
        match self.target.get(start..) {
            None | Some([]) => Look::Behind,
            Some(rest) => {
                let shown = rest.len().min(bytes.len());
                if rest[..shown] == bytes[..shown] { Look::Same } else { Look::Other }
            }
        }
    }

    /// The sets that can be read off the bytes: of each sector, all versions up to the newest (or the oldest)
    /// one that was found; what lies behind the end, and the zeros of cuts that are kept, wholly or not at all.
    fn masks(&self) -> Vec<Survivors> {
        let looks = self.looks();
        let guesses = (0..8).map(|bits| Guess {
            takes_newest: bits & 1 == 0,
            keeps_behind: bits & 2 == 2,
            keeps_tails: bits & 4 == 0,
        });
        let mut masks: Vec<Survivors> =
            guesses.map(|guess| mask((0..looks.len()).map(|at| self.keeps(&looks, at, guess)))).collect();
        masks.dedup();
        masks
    }

    fn looks(&self) -> Vec<Look> {
        self.elements.iter().map(|element| self.look(element)).collect()
    }

    fn keeps(&self, looks: &[Look], at: usize, guess: Guess) -> bool {
        let Undecided::Sector { sector, .. } = &self.elements[at] else {
            return is_below(&self.elements[at], self.cut);
        };
        if guess.keeps_tails && self.is_of_kept_cut(at) {
            return true;
        }
        if looks[at] == Look::Behind {
            return guess.keeps_behind;
        }
        let is_version = |other: &usize| {
            matches!(&self.elements[*other], Undecided::Sector { sector: its, .. } if its == sector)
                && looks[*other] == Look::Same
        };
        let shown = if guess.takes_newest {
            (0..looks.len()).rev().find(is_version)
        } else {
            (0..looks.len()).find(is_version)
        };
        shown.is_some_and(|shown| at <= shown)
    }

    /// Whether an element is the zeros of a change of length that is kept: they come first. Where there is no
    /// block for them, the disk drops them again.
    fn is_of_kept_cut(&self, at: usize) -> bool {
        let is_tail = matches!(self.elements[at], Undecided::Sector { is_tail: true, .. });
        let behind =
            self.elements[at..].iter().find(|it| !matches!(it, Undecided::Sector { is_tail: true, .. }));
        is_tail
            && behind.is_some_and(|behind| match behind {
                Undecided::Length { sequence, .. } => *sequence < self.cut,
                Undecided::Sector { .. } => false,
            })
    }

    /// Every set of whole pages of pending changes.
    pub(super) fn sets_of_pieces(&self) -> Vec<Survivors> {
        let pieces = self.pieces();
        let keeps_in = |set: u32, element: &Undecided| {
            let Undecided::Sector { change, sector, .. } = element else {
                return is_below(element, self.cut);
            };
            let piece = (*change, self.page_of(*sector));
            let place = pieces.iter().position(|other| *other == piece).expect("it is one of them");
            set >> place & 1 == 1
        };
        let sets = 0..1_u32 << pieces.len();
        sets.map(|set| mask(self.elements.iter().map(|element| keeps_in(set, element)))).collect()
    }

    /// Every set of whole pages of pending changes, or of what was read off them, if there are few.
    fn all_pieces(&self) -> Vec<Survivors> {
        let looks = self.looks();
        let guess = Guess { takes_newest: true, keeps_behind: false, keeps_tails: false };
        let pieces = self.pieces();
        if pieces.len() > PIECES_MAX {
            return Vec::new();
        }
        let sets = 3_u32.pow(u32::try_from(pieces.len()).expect("there are few"));
        let keeps_in = |set: u32, at: usize| {
            let Undecided::Sector { change, sector, .. } = &self.elements[at] else {
                return is_below(&self.elements[at], self.cut);
            };
            let piece = (*change, self.page_of(*sector));
            let place = pieces.iter().position(|other| *other == piece).expect("it is one of them");
            match set / 3_u32.pow(u32::try_from(place).expect("there are few")) % 3 {
                0 => true,
                1 => false,
                _ => self.keeps(&looks, at, guess),
            }
        };
        (0..sets).map(|set| mask((0..self.elements.len()).map(|at| keeps_in(set, at)))).collect()
    }

    /// Which page of which pending change each sector belongs to.
    fn pieces(&self) -> Vec<(u32, u64)> {
        let mut pieces: Vec<(u32, u64)> = Vec::new();
        for element in self.elements {
            if let Undecided::Sector { change, sector, .. } = element {
                let piece = (*change, self.page_of(*sector));
                if pieces.last() != Some(&piece) {
                    pieces.push(piece);
                }
            }
        }
        pieces
    }

    fn page_of(&self, sector: u32) -> u64 {
        u64::from(sector) * self.geometry.sector_bytes() / self.geometry.page_bytes()
    }
}
