//! The segment strip: one line of letters that shows where in a log what lies.
//!
//! Promises: every region has at least one letter, whatever its size, as long as there are no more regions
//! than letters; the letters read without colour. Leaves out: exact positions, which the report lists.

use anstyle::Style;
use recovery_core::observe::{Find, Residue, SegmentFacts};

use crate::palette::{BAD, DIM, FENCED, GOOD, REPAIR, STRAY, UNKNOWN, paint};

/// Letters between the brackets.
pub(crate) const CELLS: usize = 72;

/// What a stretch of a log is, in rising order of what a person must see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RegionKind {
    /// Batches that verify and continue the chain.
    Proven,
    /// Only zero bytes.
    Zeros,
    /// Copied into the fence and cut off.
    Fenced,
    /// Damaged, and no batch in it verifies.
    Torn,
    /// Not read, or not judged.
    Unread,
    /// A batch that verifies and does not continue this partition.
    Stray,
    /// A batch that verifies and continues this partition.
    Survivor,
    /// Was durable, and lies past the end of the file.
    Missing,
}

impl RegionKind {
    /// Every kind, in the order of legends.
    pub(crate) const ALL: [Self; 8] = [
        Self::Proven,
        Self::Torn,
        Self::Zeros,
        Self::Survivor,
        Self::Stray,
        Self::Fenced,
        Self::Unread,
        Self::Missing,
    ];

    /// Its letter in the strip.
    pub(crate) const fn letter(self) -> char {
        match self {
            Self::Proven => 'p',
            Self::Torn => 'T',
            Self::Zeros => 'Z',
            Self::Survivor => 'S',
            Self::Stray => 'X',
            Self::Fenced => 'F',
            Self::Unread => '?',
            Self::Missing => 'M',
        }
    }

    /// Its word in legends.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Torn => "torn",
            Self::Zeros => "zeros",
            Self::Survivor => "survivor",
            Self::Stray => "stray",
            Self::Fenced => "fenced",
            Self::Unread => "not judged",
            Self::Missing => "missing",
        }
    }

    /// Its colour.
    pub(crate) const fn style(self) -> Style {
        match self {
            Self::Proven => GOOD,
            Self::Torn => REPAIR,
            Self::Zeros => DIM,
            Self::Survivor | Self::Missing => BAD,
            Self::Stray => STRAY,
            Self::Fenced => FENCED,
            Self::Unread => UNKNOWN,
        }
    }
}

/// A stretch of a log: bytes `[from, to)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// What it is.
    pub(crate) kind: RegionKind,
    /// First byte.
    pub(crate) from: u64,
    /// One behind the last byte.
    pub(crate) to: u64,
}

/// The regions of a log in order, without gap or overlap. `is_fenced` says that the residue has been cut
/// off; what of it is not all zeros lies in the fence then.
pub(crate) fn regions(facts: &SegmentFacts, is_fenced: bool) -> Vec<Region> {
    let proven = facts.proven.end.get();
    let length = facts.log_length.get();
    let mut regions = Vec::new();
    let mut push = |kind, from: u64, to: u64| {
        if from < to {
            regions.push(Region { kind, from, to });
        }
    };
    push(RegionKind::Proven, 0, proven);
    if is_fenced && facts.residue.kind != Residue::Zeros {
        push(RegionKind::Fenced, proven, length);
    } else {
        let filling = filling(facts.residue.kind);
        let mut at = proven;
        for (kind, find) in finds(facts) {
            let from = find.position.get().clamp(at, length);
            // A find was read whole, so it ends inside the file.
            let to = find
                .position
                .get()
                .checked_add(find.batch_length.get())
                .map_or(length, |end| end.min(length));
            push(filling, at, from);
            push(kind, from, to);
            at = to.max(from);
        }
        push(filling, at, length);
    }
    if let Some(mark) = facts.mark {
        push(RegionKind::Missing, length, mark.position.get());
    }
    regions
}

/// What the bytes of a residue are that belong to no find.
const fn filling(residue: Residue) -> RegionKind {
    match residue {
        Residue::None | Residue::Noise | Residue::Survivor | Residue::Stray => RegionKind::Torn,
        Residue::Zeros => RegionKind::Zeros,
        Residue::Unproven => RegionKind::Unread,
    }
}

/// All listed finds by position.
fn finds(facts: &SegmentFacts) -> Vec<(RegionKind, Find)> {
    let survivors = facts.residue.survivors.iter().map(|find| (RegionKind::Survivor, *find));
    let strays = facts.residue.strays.iter().map(|find| (RegionKind::Stray, *find));
    let mut all: Vec<_> = survivors.chain(strays).collect();
    all.sort_by_key(|(_, find)| find.position);
    all
}

/// The strip of these regions, in brackets.
pub(crate) fn draw(regions: &[Region]) -> String {
    if regions.is_empty() {
        return "[empty]".to_owned();
    }
    let mut text = String::from("[");
    for (kind, width) in cells(regions) {
        let letters = String::from(kind.letter()).repeat(width);
        text.push_str(&paint(kind.style(), &letters));
    }
    text.push(']');
    text
}

/// How many letters each region gets: one, and its share of the rest by size. With more regions than
/// letters, neighbours share one, and the kind that a person must see wins it.
fn cells(regions: &[Region]) -> Vec<(RegionKind, usize)> {
    let count = regions.len();
    if count > CELLS {
        let shared = |cell: usize| {
            let group = &regions[cell * count / CELLS..(cell + 1) * count / CELLS];
            group.iter().map(|region| region.kind).max().expect("more regions than cells")
        };
        return (0..CELLS).map(|cell| (shared(cell), 1)).collect();
    }
    let spare = (CELLS - count) as u128;
    let total: u128 = regions.iter().map(|region| u128::from(region.to - region.from)).sum();
    let proportion = |region: &Region| {
        let cells = u128::from(region.to - region.from) * spare / total;
        usize::try_from(cells).expect("a share of the cells")
    };
    let mut cells: Vec<_> = regions.iter().map(|region| (region.kind, 1 + proportion(region))).collect();
    // What rounding left over goes to the largest region, where it shows least.
    let given: usize = cells.iter().map(|(_, width)| width).sum();
    let widest = cells.iter_mut().max_by_key(|(_, width)| *width).expect("there are regions");
    widest.1 += CELLS - given;
    assert!(cells.iter().map(|(_, width)| width).sum::<usize>() == CELLS, "every cell is given once");
    cells
}

/// The letters that occur, each with its word, in the order of [`RegionKind::ALL`].
pub(crate) fn legend(kinds: &[RegionKind]) -> String {
    let entries: Vec<String> = RegionKind::ALL
        .into_iter()
        .filter(|kind| kinds.contains(kind))
        .map(|kind| format!("{} {}", paint(kind.style(), &kind.letter().to_string()), kind.word()))
        .collect();
    entries.join("  ")
}
