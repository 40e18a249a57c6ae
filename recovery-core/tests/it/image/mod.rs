//! A partition directory as a fuzzer's input decides it, recovered, and held to the law.
//!
//! Promises: any input is an image, and the same input is always the same one. Batches are mostly whole and
//! mostly where they belong, so that inputs get past the first check. Leaves out: files that cannot be
//! read, and disks that lie; the simulator has those.
//!
//! The fuzz target (`fuzz/`) and the tests of this crate share these files.

pub(crate) mod check;
mod draw;
mod evidence;
pub(crate) mod log;

use std::fs;
use std::path::Path;

use recovery_core::format::{Checksum, CopyName, FileName, SuperblockSlot};
use recovery_core::observe::{Expectation, SuperblockIdentity};
use recovery_core::plan::PlanOptions;
use recovery_core::storage::Name;
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset, Position, SegmentStart};

use crate::memory_storage::MemoryStorage;
use crate::recovery_run::Files;
use draw::Draw;
use log::Log;

pub(crate) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
const INCARNATION: Incarnation = Incarnation::new(7);
const SUPERBLOCK: SuperblockIdentity = SuperblockIdentity { cluster: 5, replica: 1, replica_count: 3 };

/// A server without and with a ledger to come, and the tool.
const OPTIONS: [PlanOptions; 3] = [
    PlanOptions { sync_indexes: false, clean_stop: false, makes_ledger: false },
    PlanOptions { sync_indexes: true, clean_stop: true, makes_ledger: false },
    PlanOptions { sync_indexes: true, clean_stop: false, makes_ledger: true },
];

/// The partition directory.
pub(crate) const DIRECTORY: &str = "streams/1/topics/2/partitions/3";

/// Files that recovery sets aside, overwrites, leaves alone, or is stopped by.
const OTHER_NAMES: &[&str] = &[
    "x.staging",
    "00000000000000000003.index",
    "00000000000000000000.index.staging",
    "00000000000000000000.log.staging",
    "ledger.staging",
    "notes.txt",
    "99999999999999999999.log",
    "5.log",
    "18446744073709551615.log",
    "superblock.c",
];

/// One directory, and what its reader knows and asks for.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    /// Every file by its path.
    pub(crate) files: Files,
    /// Directories that are in the way of files.
    folders: Vec<String>,
    pub(crate) expectation: Expectation,
    pub(crate) options: PlanOptions,
    /// Bytes of a window, and of a step.
    pub(crate) window: usize,
    pub(crate) limit: u64,
    /// Where among its calls recovery is cut short, in parts of 256.
    pub(crate) crash_at: u64,
}

impl Image {
    /// The image that these bytes are.
    pub(crate) fn of(input: &[u8]) -> Self {
        let draw = &mut Draw::new(input);
        let mut image = Self {
            files: Files::new(),
            folders: Vec::new(),
            expectation: Expectation {
                namespace: NAMESPACE,
                incarnation: draw.pick(&[Some(INCARNATION), None]),
                durability: draw.pick(&Durability::ALL),
                superblock: draw.pick(&[None, Some(SUPERBLOCK)]),
            },
            options: draw.pick(&OPTIONS),
            window: draw.pick(&[512, 4096, 1000, 64 * 1024]),
            limit: draw.pick(&[4096, 512, 1 << 20]),
            crash_at: draw.below(256) as u64,
        };
        let logs = image.draw_segments(draw);
        image.draw_evidence(draw, &logs);
        image.draw_others(draw, &logs);
        image
    }

    /// The image on a disk.
    pub(crate) fn storage(&self) -> MemoryStorage {
        let storage = MemoryStorage::new();
        storage.put_directory(DIRECTORY);
        for folder in &self.folders {
            storage.put_directory(folder);
        }
        for (path, bytes) in &self.files {
            storage.put(path, bytes);
        }
        storage
    }

    /// The image below a real directory.
    pub(crate) fn write_below(&self, root: &Path) {
        let folders = self.folders.iter().map(String::as_str).chain([DIRECTORY]);
        for folder in folders {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for (path, bytes) in &self.files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }

    /// All bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.values().map(|bytes| bytes.len() as u64).sum()
    }

    fn put(&mut self, name: impl ToString, bytes: Vec<u8>) {
        self.files.insert(format!("{DIRECTORY}/{}", name.to_string()), bytes);
    }

    fn draw_segments(&mut self, draw: &mut Draw<'_>) -> Vec<Log> {
        let first = if draw.one_in(4) { draw.number() } else { 0 };
        let mut start = SegmentStart::new(first);
        let mut logs: Vec<Log> = Vec::new();
        for _ in 0..=draw.below(4) {
            let log = Log::draw(draw, start);
            // Mostly the next segment meets this one.
            let next = match draw.below(8) {
                0..=5 => log.next.get(),
                6 => log.next.checked_add(draw.below(5) as u64).map_or(u64::MAX, Offset::get),
                _ => draw.number(),
            };
            if let Some(index) = log.draw_index(draw) {
                self.put(FileName::index(log.start), index);
            }
            self.put(FileName::log(log.start), log.bytes.clone());
            logs.push(log);
            start = SegmentStart::new(next);
        }
        logs
    }

    fn draw_evidence(&mut self, draw: &mut Draw<'_>, logs: &[Log]) {
        if let Some(ledger) = evidence::ledger(draw, logs) {
            self.put(FileName::ledger(), ledger);
        }
        for slot in [SuperblockSlot::A, SuperblockSlot::B] {
            if let Some(bytes) = evidence::superblock(draw) {
                self.put(slot.name(), bytes);
            }
        }
    }

    fn draw_others(&mut self, draw: &mut Draw<'_>, logs: &[Log]) {
        for _ in 0..draw.below(3) {
            let name = draw.pick(OTHER_NAMES);
            let bytes = draw.run(100);
            self.put(name, bytes);
        }
        for _ in 0..draw.below(4) {
            let fence = format!("{DIRECTORY}.fenced.{}", draw.pick(&[0, 1, 7]));
            match draw.below(6) {
                0 => self.folders.push(fence),
                1 => drop(self.files.insert(format!("{fence}/REASON.toml"), draw.run(40))),
                2 => drop(self.files.insert(format!("{fence}/mine.txt"), draw.run(40))),
                _ => {
                    let (name, bytes) = copy(draw, logs);
                    self.files.insert(format!("{fence}/{name}"), bytes);
                }
            }
        }
        if draw.one_in(16) {
            self.folders.push(format!("{DIRECTORY}/00000000000000000099.log"));
        }
    }
}

/// A copy of the tail of a log, as an earlier recovery may have made it, whole or not.
fn copy(draw: &mut Draw<'_>, logs: &[Log]) -> (String, Vec<u8>) {
    let log = &logs[draw.below(logs.len())];
    // Behind a true boundary, where a cut may have been.
    let mark = log.marks[draw.below(log.marks.len())];
    let from = usize::try_from(mark.position.get()).unwrap().min(log.bytes.len());
    let mut bytes = log.bytes[from..].to_vec();
    let length = Length::new(bytes.len() as u64);
    let position = Position::new(from as u64);
    let file: Name = FileName::log(log.start);
    let name = CopyName::new(&file, position, length, Checksum::of(&bytes)).name().to_string();
    match draw.below(4) {
        0..=1 => (name, bytes),
        2 => {
            draw.edit(&mut bytes);
            (name, bytes)
        }
        _ => (format!("{name}.staging"), bytes),
    }
}
