//! The fold over one file's pending changes: each lands, or does not, on what the earlier ones left.
//!
//! Promises: a page on the medium is copied before it is changed. Leaves out: what shows in holes (`hole`).

use crate::schedule::SizeChoice;

use super::arena::{Arena, Run, sector_bits};
use super::directory::{DirectoryId, Reach};
use super::file::{FileId, PageSlot};
use super::freed::FreedPool;
use super::geometry::{Geometry, index};
use super::pending::{Change, Landing, Pending};
use super::resolve::{Resolution, Resolved};
use super::rules::{AppendOrder, LIED, Rules, Sequence};

/// What is known of one page while its file is resolved.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Fold {
    /// The page on the medium is this resolution's own copy.
    pub(super) is_own: bool,
    /// The medium had no block for it.
    pub(super) is_new: bool,
    /// The medium has one now, whatever it shows.
    pub(super) is_mapped: bool,
    /// Part of it was lost, so no later version of it shows.
    pub(super) is_broken: bool,
    /// Sectors that some pending change meant.
    pub(super) touched: u64,
    /// Sectors that landed.
    pub(super) landed: u64,
}

/// One file while it is resolved.
pub(super) struct Folding<'a> {
    pub(super) geometry: Geometry,
    pub(super) arena: &'a mut Arena,
    pub(super) freed: &'a mut FreedPool,
    pub(super) home: DirectoryId,
    pub(super) file: FileId,
    pub(super) pages: &'a mut Vec<PageSlot>,
    pub(super) folds: &'a mut Vec<Fold>,
    pub(super) bits: &'a [u64],
    pub(super) resolution: Resolution,
    pub(super) old_length: u64,
    pub(super) length: u64,
    /// No later append shows.
    pub(super) is_stuck: bool,
    /// The change at the cut of everything has lost a page; its later ones are lost too.
    pub(super) has_stopped: bool,
    /// Where bytes start whose blocks only a lost cut would have given them.
    pub(super) lost_cut: u64,
    pub(super) resolved: Resolved,
}

/// One page's part of a change.
#[derive(Clone, Copy)]
struct Piece {
    page: usize,
    /// Its sectors, as bits of the page.
    sectors: u64,
    /// Where its part of the change starts and ends.
    start: u64,
    end: u64,
    /// Where its sectors lie in the change.
    first: u32,
    /// Whether it makes the file no longer, as the choice says.
    stays_short: bool,
}

impl Folding<'_> {
    fn rules_for(&self, change: &Pending) -> Option<&'static Rules> {
        let crash = self.resolution.crash?;
        Some(if change.is_lied_about { &LIED } else { crash.rules })
    }

    /// Whether the choice keeps lengths old from an element on that comes no later than this one.
    fn stays_short(&self, element: u32) -> bool {
        let from = self.resolution.old_lengths_from;
        from.is_some_and(|from| element - self.resolution.first_element >= from)
    }

    /// Whether the choice keeps each of `count` elements from `element` on, as bits from 0.
    fn chosen(&self, element: u32, count: u32) -> u64 {
        if self.resolution.crash.is_none() {
            return sector_bits(0, count);
        }
        let (word, bit) = (index(u64::from(element / 64)), element % 64);
        let low = self.bits[word] >> bit;
        let high = if bit == 0 { 0 } else { self.bits.get(word + 1).map_or(0, |next| next << (64 - bit)) };
        (low | high) & sector_bits(0, count)
    }

    /// Whether a change of names or length at this place in the order may survive.
    fn is_in_order(&self, change: &Pending) -> bool {
        let (Some(rules), Some(crash)) = (self.rules_for(change), self.resolution.crash) else { return true };
        if change.is_committed || (crash.keeps_device && change.length_reach == Reach::Device) {
            return true;
        }
        match rules.sequence {
            Sequence::Nothing => !rules.overwrites_order_all || change.sequence <= crash.everything_cut,
            Sequence::Metadata => change.sequence < crash.metadata_cut,
            Sequence::Everything => change.sequence <= crash.everything_cut,
        }
    }

    pub(super) fn set_length(&mut self, change: &Pending, element: u32) {
        let is_in_device = self
            .resolution
            .crash
            .is_some_and(|crash| crash.keeps_device && change.length_reach == Reach::Device);
        let is_forced = change.is_committed || is_in_device;
        let is_chosen = match self.resolution.length {
            Some(SizeChoice::New) => !self.stays_short(element),
            Some(SizeChoice::Old) => false,
            None => self.chosen(element, 1) == 1,
        };
        let is_stopped = self.is_stuck || self.has_stopped || self.is_the_cut(change);
        if is_forced || (is_chosen && self.is_in_order(change) && !is_stopped) {
            self.resolved.kept += 1;
            self.length = change.length_after;
            if change.cuts() {
                self.free_from(self.geometry.page_count(change.length_after));
            }
            return;
        }
        self.resolved.lost += 1;
        let Some(rules) = self.rules_for(change) else { return };
        if rules.blocks_are_new_after_cut && change.cuts() {
            let kept_end = change.length_after.next_multiple_of(self.geometry.page_bytes());
            self.lost_cut = self.lost_cut.min(kept_end);
            self.is_stuck = true;
        }
    }

    /// Whether the change is the one that takes everything behind it along, and is itself lost.
    fn is_the_cut(&self, change: &Pending) -> bool {
        let Some(crash) = self.resolution.crash else { return false };
        self.rules_for(change).is_some_and(|rules| rules.sequence == Sequence::Everything)
            && change.sequence == crash.everything_cut
    }

    fn free_from(&mut self, page: usize) {
        for at in page..self.pages.len() {
            let medium = std::mem::replace(&mut self.pages[at].medium, Run::NONE);
            self.freed.free(medium, self.home);
            self.folds[at] = Fold::default();
        }
    }

    pub(super) fn write(&mut self, change: &Pending, element: u32) {
        let per_page = self.geometry.sectors_per_page();
        let mut is_whole = true;
        let mut first = 0;
        while first < change.sectors {
            let sector = change.first_sector + first;
            let count = (per_page - sector % per_page).min(change.sectors - first);
            let page = index(u64::from(sector / per_page));
            let page_start = self.geometry.page_start(page);
            let piece = Piece {
                page,
                sectors: sector_bits(sector % per_page, count),
                start: change.position.max(page_start),
                end: change.end.min(page_start + self.geometry.page_bytes()),
                first,
                stays_short: self.stays_short(element + first),
            };
            let chosen = self.chosen(element + first, count) << (sector % per_page);
            is_whole &= self.write_page(change, piece, chosen);
            first += count;
        }
        let order = self.rules_for(change).map(|rules| rules.append_order);
        if order == Some(AppendOrder::Calls) && change.extends() && !is_whole {
            self.is_stuck = true;
        }
    }

    /// Lands what it may of one page of a change; returns whether all of it did.
    fn write_page(&mut self, change: &Pending, piece: Piece, asked: u64) -> bool {
        let chosen = self.close(change, piece, asked);
        let rules = self.rules_for(change);
        let fold = self.folds[piece.page];
        let was_new = fold.is_new || !self.pages[piece.page].medium.is_stored();
        // Once an earlier change has come down in the page's block, later ones are written in place.
        let is_new = was_new && fold.landed == 0;
        let length_follows = rules.is_some_and(|rules| rules.lengths_follow_pages);
        let ends_here = change.ends_before_gap() && length_follows;
        let extends = (change.extends() || ends_here) && piece.end > change.length_before;
        let is_whole = chosen == piece.sectors;
        let is_in_order = self.is_in_order(change);
        let mut lands = chosen;
        if let Some(rules) = rules {
            if piece.start >= self.lost_cut {
                lands = 0;
            } else if is_new {
                let is_torn = !is_whole || fold.is_broken || (self.is_stuck && extends);
                if rules.new_pages_are_whole && is_torn {
                    lands = 0;
                    self.folds[piece.page].is_broken = true;
                }
                if !is_in_order {
                    lands = 0;
                }
                if rules.append_order == AppendOrder::Pages && extends && lands != piece.sectors {
                    self.is_stuck = true;
                }
            } else if rules.old_pages_are_whole && !is_whole {
                lands = 0;
            }
        }
        self.folds[piece.page].touched |= piece.sectors;
        self.folds[piece.page].is_new = was_new;
        let stays_short = piece.stays_short && rules.is_some_and(|rules| !rules.old_pages_are_whole);
        let wants_length = !stays_short
            && match self.resolution.length {
                Some(SizeChoice::New) => true,
                Some(SizeChoice::Old) => false,
                // The bytes of a failed page are settled; whether its length was committed is not.
                None if change.landing == Landing::Failed => asked != 0,
                None => chosen != 0,
            };
        let waits = rules.is_some_and(|rules| {
            if is_new { rules.length_waits_in_new_page } else { rules.length_waits_in_old_page }
        });
        let shows = is_in_order && piece.start < self.lost_cut && (!waits || lands == piece.sectors);
        if is_new && shows && (lands != 0 || (extends && wants_length)) {
            self.folds[piece.page].is_mapped = true;
        }
        self.land(change, piece, lands);
        // What had made the file longer may be lost, and this page lie behind the end that is left.
        let fills_in = length_follows && !extends && lands != 0 && matches!(change.change, Change::Write);
        if (extends || fills_in) && wants_length && shows && !self.is_stuck {
            let end = match rules {
                Some(rules) if rules.lengths_end_at_sectors && self.resolution.length.is_none() => {
                    self.end_of(piece, chosen)
                }
                Some(_) | None => piece.end,
            };
            if end > if extends { change.length_before } else { self.length } {
                self.length = end;
            }
        }
        lands == piece.sectors
    }

    /// The part of a choice that the order of everything, and the device's cache, leave of it.
    fn close(&mut self, change: &Pending, piece: Piece, chosen: u64) -> u64 {
        let (Some(rules), Some(crash)) = (self.rules_for(change), self.resolution.crash) else {
            return chosen;
        };
        if (crash.keeps_device && change.is_in_device()) || change.landing == Landing::Failed {
            return piece.sectors;
        }
        let is_ordered = rules.sequence == Sequence::Everything || rules.overwrites_order_all;
        if is_ordered && change.sequence > crash.everything_cut {
            return 0;
        }
        if rules.sequence == Sequence::Everything && change.sequence == crash.everything_cut {
            self.has_stopped |= chosen != piece.sectors;
            return if self.has_stopped { 0 } else { chosen };
        }
        chosen
    }

    /// Puts sectors of a change onto the medium.
    fn land(&mut self, change: &Pending, piece: Piece, lands: u64) {
        let lost = piece.sectors & !lands;
        self.resolved.kept += lands.count_ones();
        self.resolved.lost += lost.count_ones();
        if lost != 0 {
            let span = self.span_of(piece.page, lost);
            widen(&mut self.resolved.lost_bytes, (span.0.max(piece.start), span.1.min(piece.end)));
        }
        if lands == 0 || change.landing == Landing::Lost {
            return;
        }
        let run = self.own_page(piece.page);
        let first = piece.sectors.trailing_zeros();
        if lands == piece.sectors {
            self.arena.copy(change.contents.plus(piece.first), run.plus(first), lands.count_ones());
        } else {
            for sector in BitsOf(lands) {
                let source = change.contents.plus(piece.first + sector - first);
                self.arena.copy(source, run.plus(sector), 1);
            }
        }
        self.folds[piece.page].landed |= lands;
    }

    /// The page on the medium as a run that this resolution may write.
    pub(super) fn own_page(&mut self, page: usize) -> Run {
        let medium = self.pages[page].medium;
        if self.folds[page].is_own {
            return medium;
        }
        let run = if medium.is_stored() {
            self.arena.allocate_copy(medium, self.geometry.sectors_per_page())
        } else {
            self.arena.allocate_zeroed(self.geometry.sectors_per_page())
        };
        self.pages[page].medium = run;
        self.folds[page].is_own = true;
        run
    }

    /// The bytes from the first to the last of some sectors of a page.
    pub(super) fn span_of(&self, page: usize, sectors: u64) -> (u64, u64) {
        let start = self.geometry.page_start(page);
        let bytes = self.geometry.sector_bytes();
        let (first, end) = (u64::from(sectors.trailing_zeros()), u64::from(64 - sectors.leading_zeros()));
        (start + first * bytes, start + end * bytes)
    }

    /// Where the last of the chosen sectors ends, or the change itself if that is earlier.
    fn end_of(&self, piece: Piece, chosen: u64) -> u64 {
        if chosen == 0 { piece.start } else { self.span_of(piece.page, chosen).1.min(piece.end) }
    }
}

/// The numbers of the bits that are set, ascending.
pub(super) struct BitsOf(pub(super) u64);

impl Iterator for BitsOf {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let bit = self.0.trailing_zeros();
        if bit == 64 {
            return None;
        }
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// Makes a span take in another one.
pub(super) fn widen(span: &mut Option<(u64, u64)>, other: (u64, u64)) {
    let (start, end) = span.unwrap_or(other);
    *span = Some((start.min(other.0), end.max(other.1)));
}
