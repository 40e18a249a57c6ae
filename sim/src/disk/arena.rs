//! The memory of a world's disk: runs of sectors that are handed out and never given back.
//!
//! Promises: a run keeps its bytes until the arena is reset or rewound; runs of a shared image or of a
//! snapshot are never written again, so a copy of their ids is a copy of the disk. Memory grows by blocks that
//! never move, nearly all of one small size, so that a world takes what it uses and the rest can be given back. Leaves out: any
//! knowledge of files; who may write a run is for its owner to know.

use std::sync::Arc;

use super::geometry::{Geometry, index};

/// Bytes of a piece as a power of two: the largest page, and less than what allocators treat apart.
const PIECE_SHIFT: u32 = 16;

/// Memory that stays where it is: a piece, or as many as one run takes.
#[derive(Debug)]
struct Block {
    /// Where it starts, counted in bytes of this arena.
    start: usize,
    bytes: Box<[u8]>,
}

/// The first sector of a run in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run(u32);

impl Run {
    /// No run: not in the cache, or a hole on the medium.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// No run, but known to read as zeros: a hole that the cache knows of, or an unwritten extent.
    pub(super) const ZEROS: Self = Self(u32::MAX - 1);

    /// Whether there are bytes behind it.
    #[inline]
    pub(super) const fn is_stored(self) -> bool {
        self.0 < Self::ZEROS.0
    }

    /// The run that starts `sectors` further on.
    #[inline]
    pub(super) const fn plus(self, sectors: u32) -> Self {
        Self(self.0 + sectors)
    }
}

/// Sectors by number: those of the shared image first, then those of this world.
#[derive(Debug)]
pub(super) struct Arena {
    geometry: Geometry,
    image: Option<Arc<[u8]>>,
    image_sectors: u32,
    blocks: Vec<Block>,
    /// The block that each piece lies in. Those of one block follow each other.
    pieces: Vec<usize>,
    used_sectors: u32,
    frozen_below: u32,
}

impl Arena {
    pub(super) fn new(geometry: Geometry) -> Self {
        Self {
            geometry,
            image: None,
            image_sectors: 0,
            blocks: Vec::new(),
            pieces: Vec::new(),
            used_sectors: 0,
            frozen_below: 0,
        }
    }

    /// Forgets everything but the memory itself.
    pub(super) fn reset(&mut self, geometry: Geometry) {
        self.geometry = geometry;
        self.image = None;
        self.image_sectors = 0;
        self.used_sectors = 0;
        self.frozen_below = 0;
    }

    /// Puts an image under an empty arena: its sectors are runs `0..`, and nobody may write them.
    pub(super) fn lay(&mut self, image: Arc<[u8]>) {
        assert!(self.used_sectors == 0 && self.image.is_none(), "an image lies under an empty arena");
        let length = image.len() as u64;
        assert!(length.is_multiple_of(self.geometry.sector_bytes()), "an image is whole sectors");
        self.image_sectors = self.geometry.sector_count(length);
        self.frozen_below = self.image_sectors;
        self.image = Some(image);
    }

    /// The run at sector `number` of the image.
    pub(super) fn image_run(&self, number: u32) -> Run {
        assert!(number < self.image_sectors, "the run lies in the image");
        Run(number)
    }

    /// Sectors handed out so far, the image's included.
    pub(super) fn mark(&self) -> u32 {
        self.image_sectors + self.used_sectors
    }

    /// Makes every run so far immutable.
    pub(super) fn freeze(&mut self) {
        self.frozen_below = self.mark();
    }

    /// Takes back every run handed out after `mark`. Runs before it stay immutable.
    pub(super) fn rewind(&mut self, mark: u32) {
        assert!(mark >= self.image_sectors && mark <= self.mark(), "the mark is one of this arena");
        self.used_sectors = mark - self.image_sectors;
        self.frozen_below = mark;
    }

    /// Whether the run must not be written.
    #[inline]
    pub(super) fn is_frozen(&self, run: Run) -> bool {
        run.0 < self.frozen_below
    }

    /// A run with whatever bytes were there before, for a caller that writes all of it. It lies in one block.
    pub(super) fn allocate(&mut self, sectors: u32) -> Run {
        let in_piece = 1 << (PIECE_SHIFT - self.geometry.sector_shift());
        let left = in_piece - self.used_sectors % in_piece;
        if sectors > left {
            self.used_sectors = self.room_for(sectors.div_ceil(in_piece), in_piece) * in_piece;
        }
        let run = Run(self.mark());
        self.used_sectors += sectors;
        assert!(self.mark() < Run::ZEROS.0, "the arena is used up");
        let pieces = index(u64::from(self.used_sectors.div_ceil(in_piece)));
        if let Some(missing) = pieces.checked_sub(self.pieces.len()).filter(|missing| *missing > 0) {
            let (start, bytes) = (self.pieces.len() << PIECE_SHIFT, missing << PIECE_SHIFT);
            self.pieces.resize(pieces, self.blocks.len());
            self.blocks.push(Block { start, bytes: vec![0; bytes].into_boxed_slice() });
        }
        run
    }

    /// The next piece from which on so many lie in one block, or the first one that is not there yet.
    fn room_for(&self, count: u32, in_piece: u32) -> u32 {
        let count = index(u64::from(count));
        let mut first = self.used_sectors.div_ceil(in_piece);
        // Pieces are finite.
        while let Some(block) = self.pieces.get(index(u64::from(first))) {
            if self.pieces.get(index(u64::from(first)) + count - 1) == Some(block) {
                break;
            }
            first += 1;
        }
        first
    }

    /// A run of zeros.
    pub(super) fn allocate_zeroed(&mut self, sectors: u32) -> Run {
        let run = self.allocate(sectors);
        self.sectors_mut(run, sectors).fill(0);
        run
    }

    /// A run with the bytes of another one.
    pub(super) fn allocate_copy(&mut self, source: Run, sectors: u32) -> Run {
        let run = self.allocate(sectors);
        self.copy(source, run, sectors);
        run
    }

    /// Copies sectors from one run to another, which must not be frozen.
    pub(super) fn copy(&mut self, source: Run, target: Run, sectors: u32) {
        let length = self.length_of(sectors);
        let (to_block, to) = self.own_place(target);
        if source.0 < self.image_sectors {
            let image = self.image.as_ref().expect("image sectors mean an image");
            let from = index(u64::from(source.0) << self.geometry.sector_shift());
            self.blocks[to_block].bytes[to..to + length].copy_from_slice(&image[from..from + length]);
            return;
        }
        let (from_block, from) = self.own_place(source);
        if from_block == to_block {
            self.blocks[to_block].bytes.copy_within(from..from + length, to);
            return;
        }
        let [from_block, to_block] =
            self.blocks.get_disjoint_mut([from_block, to_block]).expect("two blocks of this world");
        to_block.bytes[to..to + length].copy_from_slice(&from_block.bytes[from..from + length]);
    }

    /// The bytes of a run.
    #[inline]
    pub(super) fn sectors(&self, run: Run, sectors: u32) -> &[u8] {
        let length = self.length_of(sectors);
        if run.0 < self.image_sectors {
            let image = self.image.as_ref().expect("image sectors mean an image");
            let from = index(u64::from(run.0) << self.geometry.sector_shift());
            return &image[from..from + length];
        }
        let (block, from) = self.own_place(run);
        &self.blocks[block].bytes[from..from + length]
    }

    /// The bytes of a run that is not frozen.
    #[inline]
    pub(super) fn sectors_mut(&mut self, run: Run, sectors: u32) -> &mut [u8] {
        assert!(!self.is_frozen(run), "a run of an image or a snapshot is never written");
        let length = self.length_of(sectors);
        let (block, from) = self.own_place(run);
        &mut self.blocks[block].bytes[from..from + length]
    }

    /// The bytes of a page.
    #[inline]
    pub(super) fn page(&self, run: Run) -> &[u8] {
        self.sectors(run, self.geometry.sectors_per_page())
    }

    /// The bytes of a page that is not frozen.
    #[inline]
    pub(super) fn page_mut(&mut self, run: Run) -> &mut [u8] {
        self.sectors_mut(run, self.geometry.sectors_per_page())
    }

    /// Bytes of so many sectors.
    #[inline]
    fn length_of(&self, sectors: u32) -> usize {
        index(u64::from(sectors) << self.geometry.sector_shift())
    }

    /// The block that a run of this world lies in, and where it starts there.
    #[inline]
    fn own_place(&self, run: Run) -> (usize, usize) {
        let own = run.0.checked_sub(self.image_sectors).expect("the run is one of this world");
        let start = index(u64::from(own) << self.geometry.sector_shift());
        let block = self.pieces[start >> PIECE_SHIFT];
        (block, start - self.blocks[block].start)
    }

    /// Bytes of memory that this world uses.
    pub(super) fn used_bytes(&self) -> u64 {
        u64::from(self.used_sectors) << self.geometry.sector_shift()
    }
}

/// `count` bits from bit `sector_in_page` on: one bit for each sector of a page.
#[inline]
pub(super) fn sector_bits(sector_in_page: u32, count: u32) -> u64 {
    assert!(count >= 1 && sector_in_page + count <= 64, "the sectors lie in one page");
    (u64::MAX >> (64 - count)) << sector_in_page
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of one sector, of a page, and of more than a piece, each filled with a byte of its own.
    fn fill(arena: &mut Arena) -> Vec<(Run, u32, u8)> {
        let lengths = [1, 4, 2000, 1, 3, 1024, 4, 5000, 4, 2, 1023, 1];
        let runs = lengths.into_iter().zip(1..).map(|(sectors, byte)| {
            let run = arena.allocate(sectors);
            arena.sectors_mut(run, sectors).fill(byte);
            (run, sectors, byte)
        });
        runs.collect()
    }

    fn check(arena: &Arena, runs: &[(Run, u32, u8)]) {
        for (run, sectors, byte) in runs {
            assert!(arena.sectors(*run, *sectors).iter().all(|found| found == byte), "{run:?} holds {byte}");
        }
    }

    #[test]
    fn runs_of_every_length_keep_their_bytes_and_the_next_world_takes_no_more_memory() {
        let mut arena = Arena::new(Geometry::SMALL);
        let runs = fill(&mut arena);
        check(&arena, &runs);
        let blocks = arena.blocks.len();
        for _ in 0..3 {
            arena.reset(Geometry::SMALL);
            let runs = fill(&mut arena);
            check(&arena, &runs);
            assert_eq!(arena.blocks.len(), blocks, "memory is used again");
        }
    }

    #[test]
    fn a_copy_is_the_same_within_a_block_and_between_two() {
        let mut arena = Arena::new(Geometry::SMALL);
        let runs = fill(&mut arena);
        for (run, sectors, byte) in &runs {
            let copy = arena.allocate_copy(*run, *sectors);
            check(&arena, &[(copy, *sectors, *byte)]);
            arena.sectors_mut(copy, *sectors).fill(0);
        }
        check(&arena, &runs);
    }
}
