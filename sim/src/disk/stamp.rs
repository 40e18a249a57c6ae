//! Stamps: the self-check that what a sync reported durable stays as it was.
//!
//! Promises: with stamps on, each sector that an honest sync covered is remembered until it is written,
//! cut or damaged on purpose; a crash that changes it otherwise is a bug of the simulator, and is found at
//! once. Leaves out: what a crash may do to everything else.

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::file::FileId;
use super::geometry::index;
use super::state::Disk;

/// A sector that was reported durable and is another one now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "sector {sector} of file {file} was reported durable as {stamped:#018x} and is {found:#018x} now",
    file = file.number()
)]
pub struct StampBroken {
    /// Whose sector.
    pub file: FileId,
    /// Which, counted from 0.
    pub sector: u32,
    /// XXH3-64 of its bytes when a sync reported it.
    pub stamped: u64,
    /// XXH3-64 of as many bytes there now, or 0 if the file is shorter.
    pub found: u64,
}

/// One stamped sector.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    file: FileId,
    sector: u32,
    /// How many of its bytes the file had.
    length: usize,
    hash: u64,
}

/// All stamped sectors; none while the check is off.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamps {
    is_on: bool,
    stamps: Vec<Stamp>,
}

impl Stamps {
    pub(super) fn reset(&mut self) {
        self.is_on = false;
        self.stamps.clear();
    }

    pub(super) fn turn_on(&mut self) {
        self.is_on = true;
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Forgets the sectors of a file from `first` up to `end`.
    pub(super) fn forget(&mut self, file: FileId, first: u32, end: u32) {
        if self.is_on {
            self.stamps.retain(|stamp| stamp.file != file || stamp.sector < first || stamp.sector >= end);
        }
    }

    /// Forgets a file.
    pub(super) fn forget_file(&mut self, file: FileId) {
        self.forget(file, 0, u32::MAX);
    }
}

impl Disk {
    /// Stamps every sector of a file that a sync has just reported durable.
    pub(super) fn stamp(&mut self, id: FileId) {
        if !self.stamps.is_on {
            return;
        }
        self.stamps.forget_file(id);
        let length = self.state.file(id).durable_length;
        for sector in 0..self.geometry.sector_count(length) {
            let in_sector = self.geometry.sector_bytes().min(length - self.geometry.sector_start(sector));
            let stamp = Stamp { file: id, sector, length: index(in_sector), hash: 0 };
            let hash = self.hash_of(stamp);
            self.stamps.stamps.push(Stamp { hash, ..stamp });
        }
    }

    /// Whether every stamped sector is on the medium as it was reported.
    pub(super) fn check_stamps(&self) -> Result<(), StampBroken> {
        for &stamp in &self.stamps.stamps {
            let is_short = self.state.file(stamp.file).durable_length
                < self.geometry.sector_start(stamp.sector) + stamp.length as u64;
            let found = if is_short { 0 } else { self.hash_of(stamp) };
            if found != stamp.hash {
                let Stamp { file, sector, hash: stamped, .. } = stamp;
                return Err(StampBroken { file, sector, stamped, found });
            }
        }
        Ok(())
    }

    fn hash_of(&self, stamp: Stamp) -> u64 {
        let per_page = self.geometry.sectors_per_page();
        let slot = self.state.file(stamp.file).pages.get((stamp.sector / per_page) as usize);
        match slot.map(|slot| slot.medium) {
            Some(run) if run.is_stored() => {
                let sector = self.arena.sectors(run.plus(stamp.sector % per_page), 1);
                xxh3_64(&sector[..stamp.length])
            }
            Some(_) | None => xxh3_64(&vec![0; stamp.length]),
        }
    }
}
