//! How fast recovery observes a partition, beside a plain loop that reads and hashes the same file.
//!
//! `recover_walk`: full verification of a 1 GiB segment of 1 KiB messages, 100 a batch, from the page cache.
//! `recover_index_rebuild`: the same of 128 MiB without its index. `probe_bait`: 8 MiB of residue with a
//! plausible header every 248 bytes, each claiming 6 MiB. Ratios are measured in one run, alternating.
//!
//! What F56 asks for: the cost is measured, beside a loop that does nothing else.

#![allow(
    missing_docs,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reads a clock, makes its own files and prints what it measured"
)]

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use recovery_core::format::{BatchBuilder, Checksum, FileName, IndexEntry, Message, stamp};
use recovery_core::observe::{Expectation, Observation, Observed, Progress, Residue, Workspace};
use recovery_core::storage::os::OsStorage;
use recovery_core::storage::{Access, Name, PartitionDirectory, Storage, exact};
use recovery_core::units::{Namespace, Offset, Position, SegmentStart};

const WINDOW_BYTES: usize = 64 * 1024;
const STEP_BYTES: u64 = 4 * 1024 * 1024;
const MESSAGE_BYTES: usize = 1024;
const MESSAGES_PER_BATCH: u64 = 100;
const NAMESPACE: Namespace = Namespace { stream: 1, topic: 1, partition: 1 };

struct Fixture {
    directory: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("1")).unwrap();
        Self { directory }
    }

    fn path(&self, name: &Name) -> std::path::PathBuf {
        self.directory.path().join("1").join(name.to_string())
    }

    /// Writes a log of at least `bytes` bytes, and its index if asked to; returns the log's length.
    fn write_log(&self, bytes: usize, with_index: bool) -> u64 {
        let mut log = Vec::with_capacity(bytes + MESSAGE_BYTES * 128);
        let mut index = Vec::new();
        let mut next = 0;
        while log.len() < bytes {
            let start = log.len();
            let payload: Vec<u8> =
                (0..MESSAGE_BYTES as u64).map(|at| ((at * 7 + next) % 251) as u8).collect();
            let mut builder = BatchBuilder::begin(&mut log, 1);
            for id in 0..MESSAGES_PER_BATCH {
                let message = Message { id: u128::from(id), payload: &payload, ..Message::default() };
                builder.push(&message).unwrap();
            }
            builder.finish();
            stamp(&mut log[start..], NAMESPACE.partition_id(), Offset::new(next), 2).unwrap();
            let position = Position::new(start as u64);
            let entry = IndexEntry { offset: Offset::new(next), timestamp: 2, position };
            index.extend_from_slice(&entry.encode());
            next += MESSAGES_PER_BATCH;
        }
        fs::write(self.path(&FileName::log(SegmentStart::ZERO)), &log).unwrap();
        if with_index {
            fs::write(self.path(&FileName::index(SegmentStart::ZERO)), &index).unwrap();
        }
        log.len() as u64
    }

    /// Writes 8 MiB of bait: where one header's reserved zeros end, the next one's base offset begins.
    fn write_bait(&self) -> u64 {
        const BAIT_BYTES: usize = 8 * 1024 * 1024;
        const PITCH: usize = 248;
        let mut log = vec![0; BAIT_BYTES];
        for at in (0..BAIT_BYTES - PITCH - 8).step_by(PITCH) {
            let header = &mut log[at + 8..at + PITCH];
            header[0..8].copy_from_slice(&7_u64.to_le_bytes());
            header[24..32].copy_from_slice(&(6_u64 << 20).to_le_bytes());
            header[32..40].copy_from_slice(&9_u64.to_le_bytes());
            header[40..44].copy_from_slice(&1_u32.to_le_bytes());
        }
        fs::write(self.path(&FileName::log(SegmentStart::ZERO)), &log).unwrap();
        BAIT_BYTES as u64
    }

    fn observe(&self, workspace: &mut Workspace) -> Observed {
        let storage = OsStorage::open(self.directory.path()).unwrap();
        let partition = PartitionDirectory::open(&storage, &[Name::new(b"1").unwrap()]).unwrap();
        let mut observation = Observation::new(Expectation::of(NAMESPACE), workspace);
        while observation.step(&storage, &partition, workspace, STEP_BYTES) == Progress::More {}
        partition.close(&storage);
        observation.finish()
    }

    /// Reads the log with the same window and hashes each window in one call.
    fn hash_plainly(&self, window: &mut [u8]) -> u64 {
        let storage = OsStorage::open(self.directory.path()).unwrap();
        let partition = PartitionDirectory::open(&storage, &[Name::new(b"1").unwrap()]).unwrap();
        let name = FileName::log(SegmentStart::ZERO);
        let file = storage.open(&partition.directory, &name, Access::Read).unwrap();
        let (mut position, mut sum) = (0, 0_u64);
        loop {
            let count = exact::read(&storage, &file, position, window).unwrap();
            if count == 0 {
                break;
            }
            sum ^= Checksum::of(&window[..count]).get();
            position += count as u64;
        }
        storage.close(file);
        partition.close(&storage);
        sum
    }
}

fn time(mut work: impl FnMut()) -> Duration {
    let begin = Instant::now();
    work();
    begin.elapsed()
}

/// Best of five, alternating, both warm.
fn print_ratio(fixture: &Fixture, length: u64, workspace: &mut Workspace) {
    let mut window = vec![0; WINDOW_BYTES];
    let (mut plain, mut walk) = (Duration::MAX, Duration::MAX);
    for _ in 0..5 {
        plain = plain.min(time(|| {
            black_box(fixture.hash_plainly(&mut window));
        }));
        walk = walk.min(time(|| {
            black_box(fixture.observe(workspace));
        }));
    }
    let rate = |duration: Duration| length as f64 / duration.as_secs_f64() / f64::from(1 << 30);
    println!(
        "recover_walk: plain loop {:.2} GiB/s, full verification {:.2} GiB/s, ratio {:.2}",
        rate(plain),
        rate(walk),
        plain.as_secs_f64() / walk.as_secs_f64()
    );
}

fn recover_walk(criterion: &mut Criterion, workspace: &mut Workspace) {
    let fixture = Fixture::new();
    let length = fixture.write_log(1 << 30, true);
    print_ratio(&fixture, length, workspace);
    let mut group = criterion.benchmark_group("recover_walk");
    group.throughput(Throughput::Bytes(length)).sample_size(10);
    group.bench_function("1 GiB", |bencher| bencher.iter(|| fixture.observe(workspace)));
    group.finish();
}

fn recover_index_rebuild(criterion: &mut Criterion, workspace: &mut Workspace) {
    let fixture = Fixture::new();
    let length = fixture.write_log(128 << 20, false);
    let mut group = criterion.benchmark_group("recover_index_rebuild");
    group.throughput(Throughput::Bytes(length)).sample_size(10);
    group.bench_function("128 MiB", |bencher| bencher.iter(|| fixture.observe(workspace)));
    group.finish();
}

fn probe_bait(criterion: &mut Criterion, workspace: &mut Workspace) {
    let fixture = Fixture::new();
    let length = fixture.write_bait();
    let observed = fixture.observe(workspace);
    let segment = &observed.facts.segments[0];
    assert!(segment.residue.kind != Residue::Unproven, "bait is classified and not given up on");
    assert!(
        observed.facts.work.bytes_hashed <= 4 * length,
        "bait buys at most four times its size in hashing"
    );
    println!(
        "probe_bait: {} candidates, residue {}, {:.2} bytes hashed and {:.2} read a byte of residue",
        segment.residue.candidates,
        segment.residue.kind.code(),
        observed.facts.work.bytes_hashed as f64 / length as f64,
        observed.facts.work.bytes_read as f64 / length as f64,
    );
    let mut group = criterion.benchmark_group("probe_bait");
    group.throughput(Throughput::Bytes(length)).sample_size(10);
    group.bench_function("8 MiB", |bencher| bencher.iter(|| fixture.observe(workspace)));
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut workspace = Workspace::new(WINDOW_BYTES);
    recover_walk(&mut criterion, &mut workspace);
    recover_index_rebuild(&mut criterion, &mut workspace);
    probe_bait(&mut criterion, &mut workspace);
    criterion.final_summary();
}
