//! What a start costs after a restore that dropped every index (F89).
//!
//! `restore_without_indexes`: 10,000 segments of one batch each, with a ledger and no index, recovered on a
//! real filesystem: every log is read, every index written, and the barriers are those of one segment.

#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reads a clock, makes its own files and prints what it measured"
)]

use std::fs;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use recovery_core::format::{
    BatchBuilder, BatchHeader, ChainHash, FileName, LedgerKind, Mark, Message, stamp,
};
use recovery_core::ledger::{LedgerWriter, NewLedger};
use recovery_core::observe::{Expectation, Progress, Workspace};
use recovery_core::plan::PlanOptions;
use recovery_core::recovery::{Mode, Recovery};
use recovery_core::storage::os::OsStorage;
use recovery_core::storage::{Name, PartitionDirectory};
use recovery_core::units::{Durability, Incarnation, Namespace, Offset, Position, SegmentStart};

const SEGMENTS: u64 = 10_000;
const WINDOW_BYTES: usize = 64 * 1024;
const STEP_BYTES: u64 = 4 * 1024 * 1024;
const NAMESPACE: Namespace = Namespace { stream: 1, topic: 1, partition: 1 };
const INCARNATION: Incarnation = Incarnation::new(1);

struct Fixture {
    directory: tempfile::TempDir,
    bytes: u64,
}

impl Fixture {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("1")).unwrap();
        let mut fixture = Self { directory, bytes: 0 };
        fixture.fill();
        fixture
    }

    fn path(&self, name: &Name) -> std::path::PathBuf {
        self.directory.path().join("1").join(name.to_string())
    }

    /// Writes the logs, and the ledger of a partition that was stopped cleanly.
    fn fill(&mut self) {
        let storage = OsStorage::open(self.directory.path()).unwrap();
        let partition = PartitionDirectory::open(&storage, &[Name::new(b"1").unwrap()]).unwrap();
        let new = NewLedger {
            namespace: NAMESPACE,
            incarnation: INCARNATION,
            durability: Durability::Synced,
            epoch: 1,
            generation: 0,
            floor: SegmentStart::ZERO,
            reserved_offset: Offset::ZERO,
        };
        let mut ledger = LedgerWriter::create(&storage, &partition.directory, &new).unwrap();
        for offset in 0..SEGMENTS {
            let start = SegmentStart::new(offset);
            let mut log = Vec::new();
            let mut builder = BatchBuilder::begin(&mut log, 1);
            builder.push(&Message { id: 1, payload: &[7; 700], ..Message::default() }).unwrap();
            builder.finish();
            stamp(&mut log, NAMESPACE.partition_id(), Offset::new(offset), 2).unwrap();
            fs::write(self.path(&FileName::log(start)), &log).unwrap();
            self.bytes += log.len() as u64;
            let header = BatchHeader::decode(log.first_chunk().unwrap()).unwrap();
            let mark = Mark {
                segment: start,
                position: Position::new(log.len() as u64),
                next_offset: Offset::new(offset + 1),
                chain_hash: ChainHash::start(NAMESPACE, INCARNATION, start).after(header.batch_checksum),
            };
            if offset + 1 < SEGMENTS {
                let next_start = SegmentStart::new(offset + 1);
                ledger.append(&storage, LedgerKind::Sealed { mark, next_start }).unwrap();
            } else {
                ledger.clean_stop(&storage, mark, mark.next_offset).unwrap();
            }
        }
        ledger.sync(&storage).unwrap();
        ledger.close(&storage);
        partition.close(&storage);
    }

    fn drop_indexes(&self) {
        for offset in 0..SEGMENTS {
            let index = self.path(&FileName::index(SegmentStart::new(offset)));
            if index.exists() {
                fs::remove_file(index).unwrap();
            }
        }
    }

    /// One start, as a server's, and how long it took.
    fn restore(&self, workspace: &mut Workspace) -> Duration {
        self.drop_indexes();
        let begin = Instant::now();
        let storage = OsStorage::open(self.directory.path()).unwrap();
        let partition = PartitionDirectory::open(&storage, &[Name::new(b"1").unwrap()]).unwrap();
        let expectation = Expectation { incarnation: Some(INCARNATION), ..Expectation::of(NAMESPACE) };
        let options = PlanOptions { makes_ledger: true, ..PlanOptions::default() };
        let mut recovery = Recovery::new(expectation, Mode::Repair, options, workspace);
        while recovery.step(&storage, &partition, workspace, STEP_BYTES) == Progress::More {}
        let recovered = recovery.finish();
        let took = begin.elapsed();
        assert!(recovered.verdict.is_served(), "{:?}", recovered.verdict.disposition);
        assert_eq!(recovered.facts.segments.len() as u64, SEGMENTS);
        recovered.ledger.expect("what was repaired is recorded").close(&storage);
        partition.close(&storage);
        took
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut workspace = Workspace::new(WINDOW_BYTES);
    let fixture = Fixture::new();
    let took = fixture.restore(&mut workspace);
    println!("restore_without_indexes: {SEGMENTS} segments, {} bytes of logs, {took:?}", fixture.bytes);
    let mut group = criterion.benchmark_group("restore_without_indexes");
    group.throughput(Throughput::Elements(SEGMENTS)).sample_size(10);
    group.bench_function("10,000 segments", |bencher| {
        bencher.iter_custom(|count| (0..count).map(|_| fixture.restore(&mut workspace)).sum());
    });
    group.finish();
    criterion.final_summary();
}
