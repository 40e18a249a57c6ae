//! I17: work is linear: what a start reads and hashes stays under a constant times what there is, and no
//! single step of it under a limit of its own is much longer than that limit. I20 in part: it ends.
//!
//! Asked at every start. Bytes read are counted by the disk, the rest by the core's own meter. Does not
//! claim anything about memory, which is the window's and the caller's.
//!
//! Findings: F54, F58, N22.

use recovery_core::observe::{PartitionFacts, Work};

use crate::oracle::{Check, Content, PartitionImage, Value, Violation};

/// Times that each byte may be read or hashed: settled, walked, probed, read again before it is copied,
/// compared with its copy, and covered by three checksums.
const TIMES: u64 = 16;
/// Bytes that a start may read whatever there is: superblocks, an empty ledger, reason files.
const SPARE_BYTES: u64 = 64 * 1024;
/// Most bytes that are read and hashed of the superblock, in one step whatever its limit: two slots of 4132
/// bytes, each twice.
const SUPERBLOCK_BYTES: u64 = 2 * 2 * 2 * 4132;

/// What a start spent that it should not have. `bytes_read` is the disk's count, and `step_bytes` the
/// limit of a step; `window_bytes` are read whole, whatever is left of the limit.
pub fn check_work(
    before: &PartitionImage,
    facts: &PartitionFacts,
    bytes_read: u64,
    (step_bytes, window_bytes): (u64, u64),
) -> Option<Violation> {
    let most = TIMES * bytes_of(before) + SPARE_BYTES;
    let Work { bytes_hashed, bytes_walked, longest_step_bytes, .. } = facts.work;
    let longest = step_bytes + 4 * window_bytes + SUPERBLOCK_BYTES;
    let spent = [
        ("bytes read", bytes_read, most),
        ("bytes hashed", bytes_hashed, most),
        ("bytes walked", bytes_walked, most),
        ("bytes of the longest step", longest_step_bytes, longest),
    ];
    let (subject, actual, most) = spent.into_iter().find(|(_, actual, most)| actual > most)?;
    Some(Violation::new(Check::I17, subject, Value::Number(most), Value::Number(actual)))
}

/// Times that each byte of a residue may be hashed before a plan is made: four times by the budget of its probe (F44), and
/// three times for what is looked at twice, which is given back to it; twice by the walk, which reads a torn batch again;
/// and once each for its checksum and for what the chain's hash covers.
const TIMES_PROBED: u64 = 4 + 3 + 2 + 2;

/// What looking at a residue cost that it should not have: `baited` is of a start that found what `first` did, and more
/// behind it.
pub fn check_probing(first: &PartitionFacts, baited: &PartitionFacts) -> Option<Violation> {
    let residues = baited.segments.iter().map(|segment| segment.residue.length.get());
    let most = 2 * first.work.bytes_hashed + SUPERBLOCK_BYTES + TIMES_PROBED * residues.sum::<u64>();
    let actual = baited.work.bytes_hashed;
    let subject = "bytes hashed of a residue";
    (actual > most).then(|| Violation::new(Check::I17, subject, Value::Number(most), Value::Number(actual)))
}

/// Steps that a start may take whatever there is.
pub const STEPS_SPARE: u64 = 1024;

/// Bytes that any step moves on by, if not by a file: copies are made through the smallest window there is.
const STEP_BYTES_LEAST: u64 = 512;

/// Steps that a start may take.
pub fn steps_max(image: &PartitionImage) -> u64 {
    let fences = image.fences.iter().map(|fence| &fence.image);
    let files: usize = fences.chain([&image.directory]).map(|image| image.entries.len()).sum();
    STEPS_SPARE + TIMES * (files as u64 + bytes_of(image).div_ceil(STEP_BYTES_LEAST))
}

/// I20: a start comes to an end.
pub fn check_ends(image: &PartitionImage, steps: u64) -> Option<Violation> {
    if steps <= STEPS_SPARE {
        return None;
    }
    let most = steps_max(image);
    let subject = "steps of a start";
    (steps > most).then(|| Violation::new(Check::I20, subject, Value::Number(most), Value::Number(steps)))
}

/// All bytes of the partition and of what was set aside.
fn bytes_of(image: &PartitionImage) -> u64 {
    let fences = image.fences.iter().map(|fence| &fence.image);
    let entries = fences.chain([&image.directory]).flat_map(|image| &image.entries);
    let lengths = entries.map(|entry| match &entry.content {
        Content::File(file) => file.bytes.len() as u64,
        Content::Unopenable | Content::Directory | Content::Other => 0,
    });
    lengths.sum()
}
