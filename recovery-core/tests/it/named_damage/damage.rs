//! One damage to a partition directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::collection::vec;
use proptest::prelude::*;
use recovery_core::format::{Checksum, FRAME_HASHED_FROM, FileName};
use recovery_core::storage::Name;

use super::field::{Extent, FIELDS, Field, Structure, batches, extents, frames};

/// What is done to the bytes of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edit {
    FlipBit(usize),
    Zeros,
    Ones,
    /// The number goes up or down by one.
    Up,
    Down,
}

/// One damage. Numbers choose among what is there, so each damage fits any directory.
#[derive(Clone, Debug)]
pub(super) enum Damage {
    /// To a field of one structure; checksums are made to fit if it is to look written so.
    Field { field: Field, which: usize, edit: Edit, restamp: bool },
    /// A file ends early, at a boundary of its structures or anywhere.
    Cut { file: usize, at: usize, on_boundary: bool },
    /// A file goes on with these bytes, or with bytes of its own.
    Extend { file: usize, with: Tail },
    /// A range is zeros.
    Zero { file: usize, at: usize, bytes: usize },
    /// Two batches of a log change places.
    Swap { file: usize, left: usize, right: usize },
    /// A file is gone.
    Remove { file: usize },
    /// A file has another file's contents.
    Copy { from: usize, to: usize },
    /// A file has another name.
    Rename { file: usize, to: usize },
    /// A file that nobody expects, with a few bytes.
    Stray { name: usize, bytes: Vec<u8> },
    /// Something that is no regular file stands there instead.
    Special { name: usize, kind: Kind },
}

#[derive(Clone, Debug)]
pub(super) enum Tail {
    Zeros(usize),
    Noise(Vec<u8>),
    /// One of its own batches once more, in its place in the numbering or as it was.
    Again(usize),
    /// One of its own batches as another partition's.
    Foreign(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Directory,
    /// To a file outside that would do.
    Link,
    /// To nothing.
    DeadLink,
    Fifo,
}

/// Names that files get, or are there under.
const NAMES: &[&str] = &[
    "00000000000000000000.log",
    "00000000000000000003.log",
    "00000000000000000009.log",
    "18446744073709551615.log",
    "5.log",
    "00000000000000000000.index",
    "00000000000000000077.index",
    "00000000000000000000.index.staging",
    "ledger",
    "ledger.staging",
    "superblock.a",
    "superblock.b",
    "superblock.c",
    "notes.txt",
];

/// Names of the format that are there in a whole partition, or that recovery needs beside its first log.
const NEEDED: &[usize] = &[0, 5, 7, 8, 9, 10, 11];

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => any::<usize>().prop_map(Edit::FlipBit),
        1 => Just(Edit::Zeros),
        1 => Just(Edit::Ones),
        1 => Just(Edit::Up),
        1 => Just(Edit::Down),
    ]
}

fn tail() -> impl Strategy<Value = Tail> {
    prop_oneof![
        (1..9000_usize).prop_map(Tail::Zeros),
        vec(any::<u8>(), 1..600).prop_map(Tail::Noise),
        any::<usize>().prop_map(Tail::Again),
        any::<usize>().prop_map(Tail::Foreign),
    ]
}

pub(super) fn damage() -> impl Strategy<Value = Damage> {
    let kind = prop_oneof![Just(Kind::Directory), Just(Kind::Link), Just(Kind::DeadLink), Just(Kind::Fifo)];
    let number = any::<usize>;
    prop_oneof![
        12 => (0..FIELDS.len(), number(), edit(), any::<bool>()).prop_map(|(field, which, edit, restamp)| {
            Damage::Field { field: FIELDS[field], which, edit, restamp }
        }),
        4 => (number(), number(), any::<bool>())
            .prop_map(|(file, at, on_boundary)| Damage::Cut { file, at, on_boundary }),
        4 => (number(), tail()).prop_map(|(file, with)| Damage::Extend { file, with }),
        2 => (number(), number(), 1..2000_usize)
            .prop_map(|(file, at, bytes)| Damage::Zero { file, at, bytes }),
        2 => (number(), number(), number())
            .prop_map(|(file, left, right)| Damage::Swap { file, left, right }),
        2 => number().prop_map(|file| Damage::Remove { file }),
        2 => (number(), number()).prop_map(|(from, to)| Damage::Copy { from, to }),
        2 => (number(), number()).prop_map(|(file, to)| Damage::Rename { file, to }),
        2 => (number(), vec(any::<u8>(), 0..100)).prop_map(|(name, bytes)| Damage::Stray { name, bytes }),
        1 => (number(), kind).prop_map(|(name, kind)| Damage::Special { name, kind }),
    ]
}

/// One of several by any number; `None` if there is none.
fn pick<T>(all: &[T], number: usize) -> Option<&T> {
    all.get(number.checked_rem(all.len())?)
}

/// The regular files of the directory, by name.
fn files(partition: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(partition).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> =
        entries.filter(|entry| entry.file_type().unwrap().is_file()).map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn structure_of(path: &Path) -> Structure {
    let name = Name::new(path.file_name().unwrap().as_encoded_bytes()).unwrap();
    match FileName::classify(&name) {
        FileName::Index(_) | FileName::StrayIndex | FileName::Staging => Structure::Index,
        FileName::Ledger => Structure::Ledger,
        FileName::Superblock(_) => Structure::Superblock,
        FileName::Log(_) | FileName::StrayLog | FileName::Other => Structure::Header,
    }
}

fn holds(structure: Structure, path: &Path) -> bool {
    let found = structure_of(path);
    found == structure || (structure == Structure::Frame && found == Structure::Header)
}

/// Changes the bytes of a file.
fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn put_checksum(bytes: &mut [u8], at: usize, checksum: Checksum) {
    bytes[at..at + 8].copy_from_slice(&checksum.get().to_le_bytes());
}

/// Makes the checksums of one structure fit what it holds.
fn restamp(structure: Structure, bytes: &mut [u8], (from, end): Extent) {
    match structure {
        Structure::Index => {}
        Structure::Ledger | Structure::Superblock => {
            let checksum = Checksum::of(&bytes[from..end - 8]);
            put_checksum(bytes, end - 8, checksum);
        }
        Structure::Header => {
            let mut hashed = Vec::new();
            for (frame, next) in frames(bytes, (from, end)) {
                let checksum = Checksum::of(&bytes[frame + FRAME_HASHED_FROM..next]);
                put_checksum(bytes, frame, checksum);
                hashed.extend_from_slice(&checksum.get().to_le_bytes());
            }
            // Every field before the checksum, the count behind it, then the checksums of the frames
            // (IGGY_FORMAT section 3).
            let header = [&bytes[from..from + 40], &bytes[from + 48..from + 52], &hashed].concat();
            put_checksum(bytes, from + 40, Checksum::of(&header));
        }
        Structure::Frame => {
            let around = batches(bytes).into_iter().find(|batch| batch.0 < from && end <= batch.1);
            if let Some(batch) = around {
                restamp(Structure::Header, bytes, batch);
            }
        }
    }
}

fn edit_bytes(bytes: &mut [u8], edit: Edit) {
    let step = |bytes: &mut [u8], carries: u8, add: u8| {
        for byte in bytes {
            *byte = byte.wrapping_add(add);
            if *byte != carries {
                break;
            }
        }
    };
    match edit {
        Edit::FlipBit(bit) => {
            let bit = bit % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        Edit::Zeros => bytes.fill(0),
        Edit::Ones => bytes.fill(0xff),
        Edit::Up => step(bytes, 0, 1),
        Edit::Down => step(bytes, 0xff, 0xff),
    }
}

impl Damage {
    /// One field damaged in every way, in the first and in the last of its structures.
    pub(super) fn each_way(field: Field) -> impl Iterator<Item = Self> {
        let edits = [Edit::FlipBit(2), Edit::Zeros, Edit::Ones, Edit::Up];
        let of = move |which, edit| [false, true].map(|restamp| Self::Field { field, which, edit, restamp });
        [0, usize::MAX]
            .into_iter()
            .flat_map(move |which| edits.into_iter().flat_map(move |edit| of(which, edit)))
    }

    /// Every needed name on everything that is no regular file.
    pub(super) fn each_special() -> impl Iterator<Item = Self> {
        let kinds = [Kind::Directory, Kind::Link, Kind::DeadLink, Kind::Fifo];
        NEEDED.iter().flat_map(move |name| kinds.map(|kind| Self::Special { name: *name, kind }))
    }

    /// Does the damage; nothing if what it aims at is not there.
    pub(super) fn apply(&self, partition: &Path) {
        let files = files(partition);
        match self {
            Self::Field { field, which, edit, restamp } => {
                damage_field(&files, *field, *which, *edit, *restamp);
            }
            Self::Cut { file, at, on_boundary } => {
                let Some(path) = pick(&files, *file) else { return };
                change(path, |bytes| {
                    let ends: Vec<_> =
                        extents(structure_of(path), bytes).into_iter().map(|(_, end)| end).collect();
                    let end = if *on_boundary { pick(&ends, *at).copied() } else { None };
                    bytes.truncate(end.unwrap_or(*at % (bytes.len() + 1)));
                });
            }
            Self::Extend { file, with } => {
                if let Some(path) = pick(&files, *file) {
                    change(path, |bytes| with.append(bytes));
                }
            }
            Self::Zero { file, at, bytes: count } => {
                let Some(path) = pick(&files, *file) else { return };
                change(path, |bytes| {
                    let from = *at % (bytes.len() + 1);
                    let end = bytes.len().min(from + count);
                    bytes[from..end].fill(0);
                });
            }
            Self::Swap { file, left, right } => {
                if let Some(path) = pick(&files, *file) {
                    change(path, |bytes| swap(bytes, *left, *right));
                }
            }
            Self::Remove { file } => {
                if let Some(path) = pick(&files, *file) {
                    fs::remove_file(path).unwrap();
                }
            }
            Self::Copy { from, to } => {
                if let (Some(from), Some(to)) = (pick(&files, *from), pick(&files, *to))
                    && from != to
                {
                    fs::copy(from, to).unwrap();
                }
            }
            Self::Rename { file, to } => {
                let target = partition.join(NAMES[*to % NAMES.len()]);
                if let Some(path) = pick(&files, *file)
                    && !target.symlink_metadata().is_ok_and(|found| found.is_dir())
                {
                    fs::rename(path, target).unwrap();
                }
            }
            Self::Stray { name, bytes } => {
                let target = partition.join(NAMES[*name % NAMES.len()]);
                if target.symlink_metadata().map_or(true, |found| found.is_file()) {
                    fs::write(target, bytes).unwrap();
                }
            }
            Self::Special { name, kind } => kind.put(&partition.join(NAMES[*name % NAMES.len()])),
        }
    }
}

fn damage_field(files: &[PathBuf], field: Field, which: usize, edit: Edit, is_restamped: bool) {
    let held = files.iter().filter(|path| holds(field.structure, path)).flat_map(|path| {
        let bytes = fs::read(path).unwrap();
        extents(field.structure, &bytes).into_iter().map(move |extent| (path, extent))
    });
    let held: Vec<_> = held.filter(|(_, (from, end))| from + field.at < *end).collect();
    // The largest number is the last one.
    let which = if which == usize::MAX { held.len().saturating_sub(1) } else { which };
    let Some((path, extent)) = pick(&held, which) else { return };
    change(path, |bytes| {
        let from = extent.0 + field.at;
        let end = (from + field.bytes).min(extent.1);
        edit_bytes(&mut bytes[from..end], edit);
        // A length that leads elsewhere is hashed as far as the structure went.
        if is_restamped {
            restamp(field.structure, bytes, *extent);
        }
    });
}

fn swap(bytes: &mut Vec<u8>, left: usize, right: usize) {
    let batches = batches(bytes);
    let (Some(left), Some(right)) = (pick(&batches, left), pick(&batches, right)) else { return };
    let ((from, end), (next, last)) = if left < right { (*left, *right) } else { (*right, *left) };
    if end <= next {
        let parts =
            [&bytes[..from], &bytes[next..last], &bytes[end..next], &bytes[from..end], &bytes[last..]];
        *bytes = parts.concat();
    }
}

impl Tail {
    fn append(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Zeros(count) => bytes.resize(bytes.len() + count, 0),
            Self::Noise(noise) => bytes.extend_from_slice(noise),
            Self::Again(which) => {
                if let Some((from, end)) = pick(&batches(bytes), *which).copied() {
                    bytes.extend_from_within(from..end);
                }
            }
            Self::Foreign(which) => {
                let Some((from, end)) = pick(&batches(bytes), *which).copied() else { return };
                let start = bytes.len();
                bytes.extend_from_within(from..end);
                bytes[start] ^= 1;
                let extent = (start, bytes.len());
                restamp(Structure::Header, bytes, extent);
            }
        }
    }
}

impl Kind {
    /// Puts it under a name, in place of whatever file is there.
    fn put(self, path: &Path) {
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => return,
            Ok(_) => {
                // What a link leads to is what was there, outside of the partition directory.
                let outside = path.parent().unwrap().parent().unwrap().join("outside");
                fs::rename(path, outside).unwrap();
            }
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
        }
        match self {
            Self::Directory => fs::create_dir(path).unwrap(),
            Self::Link => symlink("../outside", path).unwrap(),
            Self::DeadLink => symlink("nowhere", path).unwrap(),
            Self::Fifo => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        }
    }
}
