//! Small programs of storage calls on a few files of one directory, drawn from a seed.
//!
//! Promises: the same seed is the same program; every step can be taken where it stands, so nothing in it
//! fails; every byte that is written tells which step wrote it and where, and none is zero; no file has more
//! pending sectors than a crash can be told about one by one. Leaves out: taking the steps (`driver`).

use std::collections::BTreeMap;
use std::fmt;

use recovery_core::storage::Name;

use crate::disk::Geometry;
use crate::schedule::tape::{Stream, Tape};

/// Names that programs use.
const NAMES: [&str; 3] = ["a", "b", "c"];

/// Pages that a file of a program has at most.
const FILE_PAGES_MAX: u64 = 4;

/// Elements of one file of which a crash decides, at most: a mask of survivors repeats behind it.
const ELEMENTS_MAX: u64 = 60;

/// Steps of a program, at most.
const STEPS_MAX: u64 = 12;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Makes an empty file.
    Create(usize),
    /// Writes bytes that no other step writes.
    Write {
        /// Which name.
        name: usize,
        /// The first byte.
        position: u64,
        /// How many.
        length: u64,
    },
    /// Cuts or extends a file.
    SetLength {
        /// Which name.
        name: usize,
        /// The new length in bytes.
        length: u64,
    },
    /// Gives a file another name; what had it is gone.
    Rename {
        /// The old one.
        from: usize,
        /// The new one.
        to: usize,
    },
    /// Takes a name away.
    Remove(usize),
    /// Makes a file durable.
    Sync(usize),
    /// Makes the names durable.
    SyncDirectory,
    /// Asks for some pages to be written back, and promises nothing.
    WriteBack {
        /// Which name.
        name: usize,
        /// The first byte.
        position: u64,
        /// How many.
        length: u64,
        /// Whether it is waited for.
        waits: bool,
    },
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What it was drawn from; its bytes depend on it.
    pub seed: u64,
    /// Its steps.
    pub steps: Vec<Step>,
}

impl Program {
    /// The program of a seed, for pages and sectors of `geometry`.
    pub fn from_seed(seed: u64, geometry: Geometry) -> Self {
        Self { seed, steps: Draft::new(geometry, Tape::from_seed(seed)).steps() }
    }

    /// Behind the last step that is a barrier: what comes from there on is all that a crash can lose.
    pub fn quiet_from(&self) -> usize {
        let is_barrier = |step: &Step| matches!(step, Step::Sync(_) | Step::SyncDirectory);
        self.steps.iter().rposition(is_barrier).map_or(0, |last| last + 1)
    }

    /// The number of a step, writeback apart: a program with more of it writes the same bytes.
    pub(super) fn number(&self, at: usize) -> usize {
        let is_counted = |step: &&Step| !matches!(step, Step::WriteBack { .. });
        self.steps[..at].iter().filter(is_counted).count()
    }

    /// The bytes that a step writes at `position`: each word of eight is its own.
    pub fn bytes(&self, step: usize, position: u64, length: u64) -> Vec<u8> {
        (position..position + length).map(|at| byte(self.seed, step as u64, at)).collect()
    }
}

/// The byte that a step of a program writes at a place. It is never zero.
fn byte(seed: u64, step: u64, at: u64) -> u8 {
    let word = mix(mix(seed) ^ mix((step << 32) ^ (at / 8)));
    word.to_le_bytes()[usize::try_from(at % 8).expect("below eight")] | 1 << (step % 8)
}

/// A well mixed function of a place (the finalizer of `splitmix64`).
fn mix(place: u64) -> u64 {
    let mut value = place.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The name with a number.
pub(super) fn name_of(number: usize) -> Name {
    Name::new(NAMES[number].as_bytes()).expect("one letter is a name")
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Create(name) => write!(f, "create {}", NAMES[name]),
            Self::Write { name, position, length } => {
                write!(f, "write {} {position}+{length}", NAMES[name])
            }
            Self::SetLength { name, length } => write!(f, "set-length {} {length}", NAMES[name]),
            Self::Rename { from, to } => write!(f, "rename {} {}", NAMES[from], NAMES[to]),
            Self::Remove(name) => write!(f, "remove {}", NAMES[name]),
            Self::Sync(name) => write!(f, "sync {}", NAMES[name]),
            Self::SyncDirectory => f.write_str("sync-directory"),
            Self::WriteBack { name, position, length, waits } => {
                let how = if waits { "write-back-and-wait" } else { "write-back" };
                write!(f, "{how} {} {position}+{length}", NAMES[name])
            }
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{step}")?;
        }
        Ok(())
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Create,
    Append,
    Overwrite,
    WriteBehind,
    Cut,
    Extend,
    Rename,
    Remove,
    Sync,
    SyncDirectory,
    WriteBack,
}

/// How often each is drawn, where it can be taken at all.
const SHARES: [(u32, Kind); 11] = [
    (4, Kind::Create),
    (8, Kind::Append),
    (5, Kind::Overwrite),
    (1, Kind::WriteBehind),
    (3, Kind::Cut),
    (1, Kind::Extend),
    (3, Kind::Rename),
    (1, Kind::Remove),
    (3, Kind::Sync),
    (1, Kind::SyncDirectory),
    (5, Kind::WriteBack),
];

/// A program under construction: what its directory looks like where it has come to.
struct Draft {
    geometry: Geometry,
    tape: Tape,
    /// Each name that is there, with the length of its file and how many elements of it are pending.
    files: BTreeMap<usize, (u64, u64)>,
}

const STREAM: Stream = Stream::Workload;

impl Draft {
    fn new(geometry: Geometry, tape: Tape) -> Self {
        Self { geometry, tape, files: BTreeMap::new() }
    }

    fn steps(mut self) -> Vec<Step> {
        let count = self.tape.range(STREAM, 2, STEPS_MAX);
        let mut steps = Vec::new();
        for _ in 0..count {
            let kind = self.tape.weighted(STREAM, &SHARES);
            // Where there is nothing to do it on, something is made.
            let step = self.step(kind).or_else(|| self.create());
            steps.extend(step);
        }
        steps
    }

    fn step(&mut self, kind: Kind) -> Option<Step> {
        match kind {
            Kind::Create => self.create(),
            Kind::Append => self.write(|_, length| length),
            Kind::Overwrite => self.write(Self::place_inside),
            Kind::WriteBehind => self.write(|draft, length| length + draft.size()),
            Kind::Cut => self.set_length(Self::place_inside),
            Kind::Extend => self.set_length(|draft, length| length + draft.size()),
            Kind::Rename => self.rename(),
            Kind::Remove => {
                let name = self.pick()?;
                self.files.remove(&name);
                Some(Step::Remove(name))
            }
            Kind::Sync => {
                let name = self.pick()?;
                self.files.get_mut(&name)?.1 = 0;
                Some(Step::Sync(name))
            }
            Kind::SyncDirectory => Some(Step::SyncDirectory),
            Kind::WriteBack => self.write_back(),
        }
    }

    /// A name that is there.
    fn pick(&mut self) -> Option<usize> {
        let names: Vec<usize> = self.files.keys().copied().collect();
        if names.is_empty() { None } else { Some(self.tape.pick(STREAM, &names)) }
    }

    fn create(&mut self) -> Option<Step> {
        let free: Vec<usize> = (0..NAMES.len()).filter(|name| !self.files.contains_key(name)).collect();
        if free.is_empty() {
            return None;
        }
        let name = self.tape.pick(STREAM, &free);
        self.files.insert(name, (0, 0));
        Some(Step::Create(name))
    }

    fn rename(&mut self) -> Option<Step> {
        let from = self.pick()?;
        let others: Vec<usize> = (0..NAMES.len()).filter(|&to| to != from).collect();
        let to = self.tape.pick(STREAM, &others);
        let file = self.files.remove(&from)?;
        self.files.insert(to, file);
        Some(Step::Rename { from, to })
    }

    /// How much is moved: pages, sectors, or a few bytes.
    fn size(&mut self) -> u64 {
        let (sector, page) = (self.geometry.sector_bytes(), self.geometry.page_bytes());
        match self.tape.range(STREAM, 0, 3) {
            0 => page,
            1 => page * self.tape.range(STREAM, 1, 2),
            2 => sector * self.tape.range(STREAM, 1, page / sector),
            _ => self.tape.range(STREAM, 1, page),
        }
    }

    /// A place before the end of a file: at a page, at a sector or anywhere.
    fn place_inside(&mut self, length: u64) -> u64 {
        let at = self.tape.range(STREAM, 0, length.saturating_sub(1));
        match self.tape.range(STREAM, 0, 2) {
            0 => at - at % self.geometry.page_bytes(),
            1 => at - at % self.geometry.sector_bytes(),
            _ => at,
        }
    }

    fn write(&mut self, place: impl FnOnce(&mut Self, u64) -> u64) -> Option<Step> {
        let name = self.pick()?;
        let (before, _) = *self.files.get(&name)?;
        let position = place(self, before);
        let length = self.size();
        let end = position + length;
        // The rest of the old last page may have to be zeroed first.
        let sectors = length.div_ceil(self.geometry.sector_bytes()) + 2 + self.sectors_of_page();
        self.take(name, end, before.max(end), sectors)?;
        Some(Step::Write { name, position, length })
    }

    fn set_length(&mut self, length: impl FnOnce(&mut Self, u64) -> u64) -> Option<Step> {
        let name = self.pick()?;
        let (before, _) = *self.files.get(&name)?;
        let length = length(self, before);
        if length == before {
            return None;
        }
        self.take(name, length, length, 1 + self.sectors_of_page())?;
        Some(Step::SetLength { name, length })
    }

    fn sectors_of_page(&self) -> u64 {
        self.geometry.page_bytes() / self.geometry.sector_bytes()
    }

    /// Notes what a step makes of a file, if there is room for it.
    fn take(&mut self, name: usize, end: u64, length: u64, elements: u64) -> Option<()> {
        let file = self.files.get_mut(&name)?;
        let fits = end <= FILE_PAGES_MAX * self.geometry.page_bytes() && file.1 + elements <= ELEMENTS_MAX;
        fits.then(|| *file = (length, file.1 + elements))
    }

    fn write_back(&mut self) -> Option<Step> {
        let name = self.pick()?;
        let (length, _) = *self.files.get(&name)?;
        let page = self.geometry.page_bytes();
        let pages = length.div_ceil(page);
        if pages == 0 {
            return None;
        }
        let first = self.tape.range(STREAM, 0, pages - 1);
        let count = self.tape.range(STREAM, 1, pages - first);
        let waits = self.tape.chance(STREAM, 500);
        Some(Step::WriteBack { name, position: first * page, length: count * page, waits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_tells_its_step_and_place_and_none_is_zero() {
        let program = Program { seed: 7, steps: Vec::new() };
        let (one, other) = (program.bytes(1, 512, 512), program.bytes(2, 512, 512));
        assert!(one.iter().chain(&other).all(|&byte| byte != 0));
        assert_ne!(one[..8], other[..8]);
        assert_ne!(one[..8], one[8..16]);
        assert_eq!(program.bytes(1, 520, 8), one[8..16]);
    }

    #[test]
    fn the_same_seed_is_the_same_program_and_all_kinds_of_step_come_up() {
        let mut seen = BTreeMap::new();
        for seed in 0..200 {
            let program = Program::from_seed(seed, Geometry::DEFAULT);
            assert_eq!(program, Program::from_seed(seed, Geometry::DEFAULT));
            for step in &program.steps {
                let text = step.to_string();
                let word = text.split(' ').next().expect("a step has a word").to_owned();
                *seen.entry(word).or_insert(0) += 1;
            }
        }
        assert_eq!(seen.len(), 9, "{seen:?}");
    }
}
