//! Partition directories that a real server wrote (`tests/data/iggy-real/MANIFEST.md`), each unpacked into
//! a data directory of its own; and the facts of them that need no walker of ours.

use std::fs;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use recovery_core::format::{
    BATCH_HEADER_BYTES, BatchHeader, Checksum, FRAME_HASHED_FROM, FrameHeader, IndexEntry,
    partition_components,
};
use recovery_core::units::{Namespace, Offset, PartitionId, Position};
use tempfile::TempDir;

/// A data directory with one real partition in it. It goes when this value goes.
pub(crate) struct Fixture {
    /// The partition. The real stream and topic where the manifest tells them.
    pub(crate) namespace: Namespace,
    directory: TempDir,
}

impl Fixture {
    /// One segment of 30 small batches with user headers, cleanly stopped.
    pub(crate) fn headers() -> Self {
        let fixture = Self::empty(Namespace { stream: 2, topic: 0, partition: 0 });
        copy_tree(&packed("headers/partition-0"), &fixture.partition_path());
        // Git keeps no empty directory.
        fs::create_dir(fixture.partition_path().join("offsets/groups")).unwrap();
        fixture
    }

    /// Two segments of 4 MiB, the last batch torn by `kill -9`.
    pub(crate) fn torn_tail() -> Self {
        let fixture = Self::empty(Namespace { stream: 1, topic: 0, partition: 0 });
        let archive = fs::File::open(packed("kill9-torn-tail.tar.gz")).unwrap();
        let unpacked = fixture.path().join("unpacked");
        tar::Archive::new(GzDecoder::new(archive)).unpack(&unpacked).unwrap();
        fs::rename(unpacked.join("partition-0"), fixture.partition_path()).unwrap();
        fs::remove_dir(unpacked).unwrap();
        fixture
    }

    /// A data directory without the partition directory, but with all that is above it.
    fn empty(namespace: Namespace) -> Self {
        let fixture = Self { namespace, directory: tempfile::tempdir().unwrap() };
        fs::create_dir_all(fixture.partition_path().parent().unwrap()).unwrap();
        fixture
    }

    /// The data directory, which holds `streams`.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The partition directory.
    pub(crate) fn partition_path(&self) -> PathBuf {
        let components = partition_components(self.namespace).map(|name| name.to_string());
        self.path().join(components.iter().collect::<PathBuf>())
    }

    /// The contents of one file of the partition.
    pub(crate) fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.partition_path().join(file)).unwrap()
    }
}

fn packed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/iggy-real").join(name)
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The whole batches at the start of `log`, with every checksum compared, in the simplest way there is.
fn whole_batches(log: &[u8]) -> Vec<(Position, BatchHeader, Vec<FrameHeader>)> {
    let mut batches = Vec::new();
    let mut at = 0;
    while let Some(header) = log[at..].first_chunk::<BATCH_HEADER_BYTES>() {
        let header = BatchHeader::decode(header).unwrap();
        let length = usize::try_from(header.batch_length.get()).unwrap();
        let Some(batch) = log[at..].get(..length) else { break };
        let mut hashed = header.hashed_fields().to_vec();
        let mut frames = Vec::new();
        let mut left = &batch[BATCH_HEADER_BYTES..];
        for _ in 0..header.message_count {
            let frame = FrameHeader::decode(left.first_chunk().unwrap()).unwrap();
            let (whole, rest) = left.split_at(usize::try_from(frame.frame_length().get()).unwrap());
            assert_eq!(Checksum::of(&whole[FRAME_HASHED_FROM..]), frame.checksum);
            hashed.extend_from_slice(&whole[..FRAME_HASHED_FROM]);
            frames.push(frame);
            left = rest;
        }
        assert!(left.is_empty());
        assert_eq!(Checksum::of(&hashed), header.batch_checksum);
        batches.push((Position::new(at as u64), header, frames));
        at += length;
    }
    batches
}

struct Segment {
    stem: &'static str,
    log_bytes: usize,
    batches: usize,
    first_offset: u64,
    messages: u64,
    index_entries: usize,
    proven_bytes: u64,
}

/// Compares one real segment with what the manifest says of it.
fn check_segment(fixture: &Fixture, segment: &Segment) {
    let log = fixture.read(&format!("{}.log", segment.stem));
    assert_eq!(log.len(), segment.log_bytes);
    let batches = whole_batches(&log);
    assert_eq!(batches.len(), segment.batches);
    let mut next = Offset::new(segment.first_offset);
    for (_, header, _) in &batches {
        assert_eq!(header.partition_id, PartitionId::new(0));
        assert_eq!(header.base_offset, next);
        next = header.next_offset().unwrap();
    }
    assert_eq!(next.checked_since(Offset::new(segment.first_offset)), Some(segment.messages));
    let (position, last, _) = batches.last().unwrap();
    assert_eq!(position.checked_add(last.batch_length), Some(Position::new(segment.proven_bytes)));

    let index = fixture.read(&format!("{}.index", segment.stem));
    let (entries, odd) = index.as_chunks();
    assert_eq!((entries.len(), odd.len()), (segment.index_entries, 0));
    let mut after = None;
    for entry in entries.iter().map(IndexEntry::decode) {
        let named = batches.iter().find(|(position, ..)| *position == entry.position);
        let (_, header, _) = named.expect("an entry names a batch");
        assert_eq!((header.base_offset, header.base_timestamp), (entry.offset, entry.timestamp));
        assert!(after < Some(entry.position), "entries ascend");
        after = Some(entry.position);
    }
    assert_eq!(IndexEntry::decode(&entries[0]).position, Position::ZERO);
    assert_eq!(IndexEntry::decode(&entries[0]).offset, Offset::new(segment.first_offset));
}

#[test]
fn the_real_partition_with_user_headers_is_what_its_manifest_says() {
    let fixture = Fixture::headers();
    let segment = Segment {
        stem: "00000000000000000000",
        log_bytes: 58_062,
        batches: 30,
        first_offset: 0,
        messages: 180,
        index_entries: 15,
        proven_bytes: 58_062,
    };
    check_segment(&fixture, &segment);
    for (_, _, frames) in whole_batches(&fixture.read("00000000000000000000.log")) {
        let has_headers: Vec<bool> = frames.iter().map(|frame| frame.user_headers_length > 0).collect();
        assert_eq!(has_headers, [true, true, false, true, true, false], "120 of 180 messages");
        assert!(frames.iter().all(|frame| (10..=400).contains(&frame.payload_length)));
    }
    assert_eq!(fixture.read("offsets/consumers/3")[..8], 55_u64.to_le_bytes());
}

#[test]
fn the_real_partition_with_a_torn_tail_is_what_its_manifest_says() {
    let fixture = Fixture::torn_tail();
    let first = Segment {
        stem: "00000000000000000000",
        log_bytes: 4_602_556,
        batches: 5,
        first_offset: 0,
        messages: 50,
        index_entries: 5,
        proven_bytes: 4_602_556,
    };
    check_segment(&fixture, &first);
    let second = Segment {
        stem: "00000000000000000050",
        log_bytes: 3_641_344,
        batches: 4,
        first_offset: 50,
        messages: 40,
        index_entries: 4,
        proven_bytes: 3_639_704,
    };
    check_segment(&fixture, &second);
}

/// A directory that is gone when the test is over, in memory where the machine has a place for that. For tests that make
/// thousands of syncs and are not about the disk, which takes milliseconds for each.
pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
