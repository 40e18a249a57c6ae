//! What shows where a length survived and its bytes did not: zeros, freed blocks, noise.
//!
//! Promises: which freed block shows, and which noise, is a function of the place. Leaves out: whether the
//! filesystem lets anything but zeros show; its rules say so.

use crate::schedule::Fill;

use super::arena::{Run, sector_bits};
use super::fold::{BitsOf, Fold, Folding, widen};
use super::freed::{mix, noise};

impl Folding<'_> {
    /// Lets blocks show something where the length survived and the bytes did not.
    pub(super) fn fill_holes(&mut self) {
        let rules = self.resolution.crash.map(|crash| crash.rules);
        for page in 0..self.folds.len() {
            let fold = self.folds[page];
            if fold.touched == 0 {
                continue;
            }
            let fill = rules.map_or(Fill::Zeros, |rules| rules.fills.allow(self.resolution.fill));
            let is_filled =
                if fold.is_new { fold.is_mapped } else { rules.is_some_and(|it| it.fills_old_pages) };
            let missing = self.missing(page, fold);
            if fill != Fill::Zeros && is_filled && missing != 0 {
                self.fill_page(page, fill, missing);
            }
            if fold.is_new && fold.is_broken && rules.is_some_and(|it| it.leaves_unwritten) {
                let slot = &mut self.pages[page];
                if !slot.medium.is_stored() {
                    slot.medium = Run::ZEROS;
                }
            }
        }
    }

    /// Sectors of a page below the length that did not land, although a change meant them or they lie behind
    /// the old end. Whatever else a new block holds was a hole before, and stays zeros.
    fn missing(&self, page: usize, fold: Fold) -> u64 {
        let start = self.geometry.page_start(page);
        let end = self.length.min(start + self.geometry.page_bytes());
        let meant = if fold.is_new { fold.touched } else { 0 };
        let behind =
            self.sectors_between(start, self.old_length.max(start), start + self.geometry.page_bytes());
        (meant | behind) & self.sectors_between(start, start, end) & !fold.landed
    }

    /// The sectors that start in a range of a page, as bits of it.
    fn sectors_between(&self, page_start: u64, from: u64, end: u64) -> u64 {
        let base = self.geometry.sector_of(page_start);
        let first = self.geometry.sector_count(from) - base;
        let last = self.geometry.sector_count(end.max(page_start)) - base;
        if last <= first { 0 } else { sector_bits(first, last - first) }
    }

    fn fill_page(&mut self, page: usize, fill: Fill, missing: u64) {
        let place = mix(u64::from(self.file.number())) ^ page as u64;
        let stale = match fill {
            Fill::Zeros | Fill::Noise => None,
            Fill::StaleSame => self.freed.choose(self.home, false, place),
            Fill::StaleForeign => self.freed.choose(self.home, true, place),
        };
        if stale.is_none() && fill != Fill::Noise {
            return;
        }
        let run = self.own_page(page);
        for sector in BitsOf(missing) {
            match stale {
                Some(stale) => self.arena.copy(stale.plus(sector), run.plus(sector), 1),
                None => noise(mix(place) ^ u64::from(sector), self.arena.sectors_mut(run.plus(sector), 1)),
            }
        }
        let span = self.span_of(page, missing);
        widen(&mut self.resolved.filled_bytes, span);
    }
}
