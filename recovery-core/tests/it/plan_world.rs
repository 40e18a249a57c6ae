//! A partition for the tests of plans: logs whose proven prefix the test decides, and an observer for it.
//!
//! Promises: facts and verdict as the real ones would be, as far as a plan looks at them, derived anew
//! from whatever lies in the storage. Leaves out: batches; a log is any bytes here.

use recovery_core::decide::{Action, Disposition, SegmentVerdict, Verdict};
use recovery_core::format::{
    ChainHash, Checksum, FileName, INDEX_ENTRY_BYTES, IndexEntry, LEDGER_RECORD_BYTES, LedgerKind,
    LedgerRecord,
};
use recovery_core::observe::{
    BadChecksum, Evidence, IndexFacts, IndexState, LedgerFacts, LedgerState, Listing, PartitionFacts, Proven,
    Residue, ResidueFacts, SegmentFacts, StopDetail, SuperblockState, Work,
};
use recovery_core::units::{Durability, Incarnation, Length, Namespace, Offset, Position, SegmentStart};

use crate::memory_storage::{MemoryStorage, name};

pub(crate) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
pub(crate) const PARENT: &str = "streams/1/topics/2/partitions";
pub(crate) const DIRECTORY: &str = "streams/1/topics/2/partitions/3";
pub(crate) const INCARNATION: Incarnation = Incarnation::new(7);

/// One segment as the test made it.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) start: u64,
    pub(crate) proven: Vec<u8>,
    pub(crate) residue: Vec<u8>,
    /// Whether observation reads the residue to its end.
    pub(crate) is_read_whole: bool,
    /// How many entries a new index has.
    pub(crate) entries: u64,
    /// The index on disk.
    pub(crate) index: Option<Vec<u8>>,
}

impl Segment {
    /// A whole segment of `bytes` bytes, each a message, with a good index.
    pub(crate) fn whole(start: u64, bytes: u64) -> Self {
        let proven = (0..bytes).map(|at| (start + at).to_le_bytes()[0] | 1).collect();
        let mut segment =
            Self { start, proven, residue: Vec::new(), is_read_whole: true, entries: 2, index: None };
        segment.index = Some(segment.new_index());
        segment
    }

    /// The same with bytes behind the proof.
    pub(crate) fn with_residue(mut self, residue: &[u8]) -> Self {
        self.residue = residue.to_vec();
        self
    }

    pub(crate) fn with_index(mut self, index: Option<&[u8]>) -> Self {
        self.index = index.map(<[u8]>::to_vec);
        self
    }

    pub(crate) fn rebuilt(&self) -> Vec<IndexEntry> {
        let entry = |number| IndexEntry {
            offset: Offset::new(self.start + number),
            timestamp: 1_000 + number,
            position: Position::new(number),
        };
        (0..self.entries).map(entry).collect()
    }

    pub(crate) fn new_index(&self) -> Vec<u8> {
        self.rebuilt().iter().flat_map(IndexEntry::encode).collect()
    }

    fn next_offset(&self) -> Offset {
        Offset::new(self.start + self.proven.len() as u64)
    }

    fn log_path(&self) -> String {
        format!("{DIRECTORY}/{}", FileName::log(SegmentStart::new(self.start)))
    }

    fn index_path(&self) -> String {
        format!("{DIRECTORY}/{}", FileName::index(SegmentStart::new(self.start)))
    }
}

/// A partition as the test made it.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) segments: Vec<Segment>,
    pub(crate) has_ledger: bool,
    /// One behind the last offset of the survivors in the residues.
    pub(crate) survivors: Option<u64>,
    /// Other files in the partition directory, or beside it where the path starts with the parent's.
    pub(crate) others: Vec<(&'static str, Vec<u8>)>,
}

impl World {
    /// Puts the partition on a disk.
    pub(crate) fn storage(&self) -> MemoryStorage {
        let storage = MemoryStorage::new();
        storage.put_directory(DIRECTORY);
        for segment in &self.segments {
            storage.put(&segment.log_path(), &[&segment.proven[..], &segment.residue].concat());
            if let Some(index) = &segment.index {
                storage.put(&segment.index_path(), index);
            }
        }
        for (path, bytes) in &self.others {
            let path =
                if path.contains('/') { format!("{PARENT}/{path}") } else { format!("{DIRECTORY}/{path}") };
            storage.put(&path, bytes);
        }
        if self.has_ledger {
            storage.put(&format!("{DIRECTORY}/ledger"), &first_record().encode());
        }
        storage
    }

    /// What observation would find.
    pub(crate) fn observe(&self, storage: &MemoryStorage) -> PartitionFacts {
        let files = storage.files();
        let ledger = match files.get(&format!("{DIRECTORY}/ledger")) {
            Some(bytes) => LedgerState::Known(ledger_facts(bytes)),
            None => LedgerState::None { length: None },
        };
        let has_ledger = ledger.known().is_some();
        let segments: Vec<_> = self
            .segments
            .iter()
            .map(|segment| {
                let log = &files[&segment.log_path()];
                segment_facts(segment, log, files.get(&segment.index_path()), has_ledger)
            })
            .collect();
        PartitionFacts {
            namespace: NAMESPACE,
            durability: Durability::Buffered,
            listing: listing(self, files.keys()),
            ledger,
            superblock: SuperblockState::None,
            segments,
            expired: Vec::new(),
            work: Work::default(),
        }
    }

    /// What would be decided.
    pub(crate) fn decide(&self, facts: &PartitionFacts) -> Verdict {
        let segments: Vec<_> = facts
            .segments
            .iter()
            .map(|facts| SegmentVerdict { start: facts.start, action: action(facts) })
            .collect();
        let cuts = segments.iter().any(|verdict| verdict.action.code() == "cut");
        let proven = facts.segments.last().map_or(Offset::ZERO, |last| last.proven.next_offset);
        let reserved = facts.ledger.known().map_or(Offset::ZERO, |ledger| ledger.newest.reserved_offset);
        let survivors = self.survivors.filter(|_| cuts).map(Offset::new);
        let next_offset = proven.max(reserved).max(survivors.unwrap_or(Offset::ZERO));
        let disposition = match next_offset.before() {
            Some(last) if next_offset > proven => Disposition::ServeFrom { first: proven, last },
            Some(_) | None => Disposition::Serve,
        };
        Verdict { disposition, next_offset: Some(next_offset), reserve: survivors, segments }
    }
}

/// The record that a ledger begins with.
pub(crate) fn first_record() -> LedgerRecord {
    LedgerRecord {
        kind: LedgerKind::Floor,
        durability: Durability::Synced,
        namespace: NAMESPACE,
        incarnation: INCARNATION,
        epoch: 1,
        slot: 0,
        generation: 0,
        floor: SegmentStart::ZERO,
        reserved_offset: Offset::ZERO,
    }
}

fn ledger_facts(bytes: &[u8]) -> LedgerFacts {
    let records: Vec<_> = bytes
        .chunks_exact(LEDGER_RECORD_BYTES)
        .filter_map(|slot| LedgerRecord::decode(slot.try_into().expect("a whole slot")).ok())
        .collect();
    LedgerFacts {
        newest: *records.last().expect("a ledger in a test has a record"),
        next_slot: bytes.len().div_ceil(LEDGER_RECORD_BYTES) as u64,
        valid: records.len() as u64,
        skipped: 0,
        segments: Vec::new(),
        gaps: Vec::new(),
        given_up: Vec::new(),
    }
}

fn listing<'a>(world: &World, paths: impl Iterator<Item = &'a String>) -> Listing {
    let mut listing = Listing::default();
    let starts: Vec<_> = world.segments.iter().map(|segment| SegmentStart::new(segment.start)).collect();
    for path in paths {
        let Some(file) = path.strip_prefix(&format!("{DIRECTORY}/")).filter(|file| !file.contains('/'))
        else {
            continue;
        };
        let file = name(file);
        match FileName::classify(&file) {
            FileName::Log(start) => listing.segments.push(start),
            FileName::Index(start) if starts.contains(&start) => {}
            FileName::Index(_) | FileName::StrayIndex | FileName::Staging => listing.scratch.push(file),
            FileName::StrayLog | FileName::Ledger | FileName::Superblock(_) | FileName::Other => {}
        }
    }
    listing
}

fn segment_facts(segment: &Segment, log: &[u8], index: Option<&Vec<u8>>, has_ledger: bool) -> SegmentFacts {
    assert!(log.starts_with(&segment.proven), "proven bytes of segment {} are gone", segment.start);
    let residue = &log[segment.proven.len()..];
    let start = SegmentStart::new(segment.start);
    let chain_hash = has_ledger.then(|| ChainHash::start(NAMESPACE, INCARNATION, start));
    SegmentFacts {
        start,
        log_length: Length::new(log.len() as u64),
        proven: Proven {
            end: Position::new(segment.proven.len() as u64),
            next_offset: segment.next_offset(),
            batches: segment.proven.len() as u64,
            messages: segment.proven.len() as u64,
            delta_mismatches: 0,
            chain_hash,
        },
        stop: if residue.is_empty() {
            StopDetail::End
        } else {
            let (stored, actual) = (Checksum::new(1), Checksum::new(2));
            StopDetail::BadChecksum(BadChecksum::Batch { stored, actual })
        },
        residue: residue_facts(residue, segment.is_read_whole),
        evidence: if has_ledger { Evidence::AtOrAbove } else { Evidence::Unknown },
        mark: None,
        seal: None,
        accepts_loss: false,
        index: index_facts(segment, index),
    }
}

fn residue_facts(residue: &[u8], is_read_whole: bool) -> ResidueFacts {
    let kind = if residue.is_empty() {
        Residue::None
    } else if residue.iter().all(|byte| *byte == 0) {
        Residue::Zeros
    } else if is_read_whole {
        Residue::Noise
    } else {
        Residue::Unproven
    };
    ResidueFacts {
        kind,
        length: Length::new(residue.len() as u64),
        checksum: (kind != Residue::Unproven).then(|| Checksum::of(residue)),
        survivor_count: 0,
        survivors: Vec::new(),
        survivors_next_offset: None,
        runs: Vec::new(),
        stray_count: 0,
        strays: Vec::new(),
        candidates: 0,
    }
}

fn index_facts(segment: &Segment, index: Option<&Vec<u8>>) -> IndexFacts {
    let rebuilt = segment.new_index();
    let is_prefix = index.is_none_or(|index| rebuilt.starts_with(index));
    let state = match index {
        None => IndexState::Absent,
        Some(index) if index.is_empty() && !rebuilt.is_empty() => IndexState::Absent,
        Some(index) if is_prefix && index.len() % INDEX_ENTRY_BYTES == 0 => IndexState::Good,
        Some(_) if is_prefix => IndexState::PartialTail,
        Some(_) => IndexState::Wrong,
    };
    IndexFacts {
        state,
        length: index.map(|index| Length::new(index.len() as u64)),
        checksum: index.map(|index| Checksum::of(index)),
        entries: index.map_or(0, |index| (index.len() / INDEX_ENTRY_BYTES) as u64),
        beyond: None,
        rebuilt: if state == IndexState::Good { Vec::new() } else { segment.rebuilt() },
        is_prefix_of_rebuilt: is_prefix,
    }
}

fn action(facts: &SegmentFacts) -> Action {
    let length = facts.residue.length;
    match facts.residue.kind {
        Residue::None if facts.index.state == IndexState::Good => Action::Keep,
        Residue::None => Action::RebuildIndex,
        Residue::Zeros => Action::Cut { at: facts.proven.end, save: Length::ZERO },
        Residue::Noise | Residue::Survivor | Residue::Stray | Residue::Unproven => {
            Action::Cut { at: facts.proven.end, save: length }
        }
    }
}
