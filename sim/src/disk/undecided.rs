//! What a crash will have to choose about: every pending change, element by element.
//!
//! Promises: elements and names stand in the order in which a [`SurvivorChoice`](super::SurvivorChoice) counts
//! them. Leaves out: what a filesystem lets be chosen; a crash drops the rest.

use super::SimDisk;
use super::file::FileId;
use super::geometry::index;
use super::pending::Change;

/// One element of a file's pending changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// A sector with all of its bytes as they are if this is the last element of it that survives.
    Sector {
        /// Which pending change it belongs to, counted from 0 over the file.
        change: u32,
        /// Whether it is the zeros behind an end that moves, part of the change of length behind it.
        is_tail: bool,
        /// Which sector of the file.
        sector: u32,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A change of length alone.
    Length {
        /// Which pending change it is, counted from 0 over the file.
        change: u32,
        /// When it was issued, counted over all changes of the disk.
        sequence: u32,
    },
}

impl SimDisk {
    /// What a crash has to choose about a file.
    pub fn undecided(&self, file: FileId) -> Vec<Undecided> {
        let disk = self.disk.borrow();
        let sector_bytes = index(disk.geometry.sector_bytes());
        let mut elements = Vec::new();
        for (number, change) in (0..).zip(&disk.state.file(file).pending) {
            match change.change {
                Change::Write | Change::TailZeros => {
                    let contents = disk.arena.sectors(change.contents, change.sectors);
                    let sectors = (change.first_sector..).zip(contents.chunks(sector_bytes));
                    elements.extend(sectors.map(|(sector, bytes)| Undecided::Sector {
                        change: number,
                        is_tail: change.change == Change::TailZeros,
                        sector,
                        bytes: bytes.to_vec(),
                    }));
                }
                Change::SetLength => {
                    elements.push(Undecided::Length { change: number, sequence: change.sequence });
                }
            }
        }
        elements
    }

    /// When each change of names was begun that a crash has to choose about, counted over all changes of the
    /// disk. A rename is one where the filesystem makes it atomic.
    pub fn undecided_names(&self) -> Vec<u32> {
        let disk = self.disk.borrow();
        let changes = &disk.state.name_changes;
        let starts = |at: &usize| {
            !disk.rules.groups_are_whole || *at == 0 || changes[at - 1].group != changes[*at].group
        };
        (0..changes.len()).filter(starts).map(|at| changes[at].sequence).collect()
    }
}
