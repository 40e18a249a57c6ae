//! Makes partition directories for tests, byte by byte from `IGGY_FORMAT` and `docs/format.md`.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use recovery_core::observe::Expectation;
use recovery_core::storage::Name;
use recovery_core::units::{Durability, Incarnation, Namespace};
use xxhash_rust::xxh3::xxh3_64;

use crate::oracle::reference::{Reference, recover};
use crate::oracle::{Content, FileImage, Image, ImageEntry};

pub(in crate::oracle) const NAMESPACE: Namespace = Namespace { stream: 1, topic: 2, partition: 3 };
pub(in crate::oracle) const INCARNATION: u64 = 7;
/// Bytes of a batch of one message, and of each message more.
pub(in crate::oracle) const ONE: usize = 356;
pub(in crate::oracle) const MORE: usize = 100;

/// A frame with this payload and index in its batch.
pub(in crate::oracle) fn frame(index: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; 48];
    frame[8..12].copy_from_slice(&(index + 1).to_le_bytes());
    frame[24..28].copy_from_slice(&index.to_le_bytes());
    frame[36..40].copy_from_slice(&u32::try_from(payload.len()).unwrap().to_le_bytes());
    frame.extend_from_slice(payload);
    let checksum = xxh3_64(&frame[8..]);
    frame[..8].copy_from_slice(&checksum.to_le_bytes());
    frame
}

/// A batch of these payloads, as the server writes it.
pub(in crate::oracle) fn batch_of(partition_id: u64, base_offset: u64, payloads: &[&[u8]]) -> Vec<u8> {
    let mut batch = vec![0; 256];
    for (payload, index) in payloads.iter().zip(0..) {
        batch.extend(frame(index, payload));
    }
    let length = batch.len() as u64;
    for (at, value) in
        [(0, partition_id), (8, base_offset), (16, 1_000 + base_offset % 1_000), (24, 900), (32, length)]
    {
        batch[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    batch[48..52].copy_from_slice(&u32::try_from(payloads.len()).unwrap().to_le_bytes());
    restamp(&mut batch);
    batch
}

/// Makes the batch checksum fit whatever the header now says.
pub(in crate::oracle) fn restamp(batch: &mut [u8]) {
    let mut hashed = batch[..40].to_vec();
    hashed.extend_from_slice(&batch[48..52]);
    let mut at = 256;
    while at + 48 <= batch.len() {
        hashed.extend_from_slice(&batch[at..at + 8]);
        let length = |from: usize| u32::from_le_bytes(batch[from..from + 4].try_into().unwrap()) as usize;
        at += 48 + length(at + 32) + length(at + 36);
    }
    let checksum = xxh3_64(&hashed);
    batch[40..48].copy_from_slice(&checksum.to_le_bytes());
}

/// A batch of `messages` messages of 52 bytes, of our partition.
pub(in crate::oracle) fn batch(base_offset: u64, messages: usize) -> Vec<u8> {
    batch_of(3, base_offset, &vec![&[b'x'; 52][..]; messages])
}

/// `count` batches of one message each, from `base_offset` on.
pub(in crate::oracle) fn batches(base_offset: u64, count: u64) -> Vec<u8> {
    (base_offset..base_offset + count).flat_map(|offset| batch(offset, 1)).collect()
}

/// An index entry for the batch with this base offset at this position.
pub(in crate::oracle) fn entry(base_offset: u64, position: usize) -> Vec<u8> {
    [base_offset, 1_000 + base_offset % 1_000, position as u64]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// One entry for each of `count` batches of one message each.
pub(in crate::oracle) fn entries(base_offset: u64, count: u64) -> Vec<u8> {
    (0..count)
        .zip((0..).step_by(ONE))
        .flat_map(|(batch, position)| entry(base_offset + batch, position))
        .collect()
}

/// One ledger record, its fields open to any change.
#[derive(Clone, Debug)]
pub(in crate::oracle) struct Record {
    pub(in crate::oracle) kind: u8,
    pub(in crate::oracle) epoch: u64,
    pub(in crate::oracle) slot: Option<u64>,
    pub(in crate::oracle) floor: u64,
    pub(in crate::oracle) reserved: u64,
    pub(in crate::oracle) mark: [u64; 4],
    pub(in crate::oracle) numbers: [u64; 2],
    pub(in crate::oracle) namespace: u64,
    pub(in crate::oracle) incarnation: u64,
}

/// A record of a kind, without a mark.
pub(in crate::oracle) fn record(kind: u8) -> Record {
    Record {
        kind,
        epoch: 1,
        slot: None,
        floor: 0,
        reserved: 0,
        mark: [0; 4],
        numbers: [0; 2],
        namespace: NAMESPACE.packed(),
        incarnation: INCARNATION,
    }
}

pub(in crate::oracle) const OPENED: u8 = 1;
pub(in crate::oracle) const FRONTIER: u8 = 2;
pub(in crate::oracle) const SEALED: u8 = 3;
pub(in crate::oracle) const FLOOR: u8 = 4;
pub(in crate::oracle) const RESERVED: u8 = 5;
pub(in crate::oracle) const RECOVERED: u8 = 6;
pub(in crate::oracle) const ACCEPTED_LOSS: u8 = 7;
pub(in crate::oracle) const CLEAN_STOP: u8 = 8;

/// A record of a kind with a mark at the end of `log`, whose batches all fit.
pub(in crate::oracle) fn mark(kind: u8, segment: u64, log: &[u8]) -> Record {
    let hash = |numbers: &[u64]| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        xxh3_64(&bytes)
    };
    let field = |at: usize| u64::from_le_bytes(log[at..at + 8].try_into().unwrap());
    let mut chain = hash(&[NAMESPACE.packed(), INCARNATION, segment]);
    let (mut at, mut next_offset) = (0, segment);
    while at < log.len() {
        chain = hash(&[chain, field(at + 40)]);
        next_offset += field(at + 48) & u64::from(u32::MAX);
        at += usize::try_from(field(at + 32)).unwrap();
    }
    Record { mark: [segment, at as u64, next_offset, chain], ..record(kind) }
}

/// A seal at the end of `log`.
pub(in crate::oracle) fn seal(segment: u64, log: &[u8], next_start: u64) -> Record {
    Record { numbers: [next_start, 0], ..mark(SEALED, segment, log) }
}

/// The bytes of a ledger file.
pub(in crate::oracle) fn ledger(records: &[Record]) -> Vec<u8> {
    records.iter().zip(0..).flat_map(|(record, slot)| encode(record, slot)).collect()
}

fn encode(record: &Record, slot: u64) -> [u8; 128] {
    let mut bytes = [0; 128];
    bytes[..4].copy_from_slice(&[record.kind, 1, 1, 0]);
    let identity: Vec<u8> =
        [record.namespace, record.incarnation].iter().flat_map(|number| number.to_le_bytes()).collect();
    let [segment, position, next_offset, chain_hash] = record.mark;
    let fields = [
        xxh3_64(&identity),
        record.epoch,
        record.slot.unwrap_or(slot),
        0,
        record.floor,
        record.reserved,
        segment,
        position,
        next_offset,
        chain_hash,
        record.numbers[0],
        record.numbers[1],
        record.namespace,
        record.incarnation,
    ];
    for (value, at) in fields.iter().zip((8..).step_by(8)) {
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    let checksum = xxh3_64(&bytes[..120]);
    bytes[120..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// A superblock slot of 102 bytes.
pub(in crate::oracle) fn superblock(sequence: u64, frontier: u64) -> Vec<u8> {
    let mut bytes = vec![0; 94];
    bytes[..4].copy_from_slice(b"KLBS");
    bytes[4] = 1;
    bytes[8..16].copy_from_slice(&sequence.to_le_bytes());
    bytes[24..28].copy_from_slice(&66_u32.to_le_bytes());
    bytes[86..94].copy_from_slice(&frontier.to_le_bytes());
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// A partition directory in the making.
#[derive(Clone, Debug, Default)]
pub(in crate::oracle) struct Directory {
    pub(in crate::oracle) image: Image,
    pub(in crate::oracle) incarnation: Option<u64>,
    pub(in crate::oracle) durability: Durability,
}

impl Directory {
    pub(in crate::oracle) fn new() -> Self {
        Self { incarnation: Some(INCARNATION), ..Self::default() }
    }

    pub(in crate::oracle) fn entry(mut self, name: &str, content: Content) -> Self {
        let name = Name::new(name.as_bytes()).unwrap();
        self.image.entries.retain(|entry| entry.name != name);
        self.image.entries.push(ImageEntry { name, content });
        self
    }

    pub(in crate::oracle) fn file(self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.entry(name, Content::File(FileImage::readable(bytes.into())))
    }

    pub(in crate::oracle) fn log(self, segment: u64, bytes: impl Into<Vec<u8>>) -> Self {
        self.file(&format!("{segment:020}.log"), bytes)
    }

    pub(in crate::oracle) fn index(self, segment: u64, bytes: impl Into<Vec<u8>>) -> Self {
        self.file(&format!("{segment:020}.index"), bytes)
    }

    /// A whole segment of `count` batches of one message each, with its index.
    pub(in crate::oracle) fn segment(self, start: u64, count: u64) -> Self {
        self.log(start, batches(start, count)).index(start, entries(start, count))
    }

    pub(in crate::oracle) fn ledger(self, records: &[Record]) -> Self {
        self.file("ledger", ledger(records))
    }

    pub(in crate::oracle) fn synced(mut self) -> Self {
        self.durability = Durability::Synced;
        self
    }

    pub(in crate::oracle) fn expectation(&self) -> Expectation {
        Expectation {
            namespace: NAMESPACE,
            incarnation: self.incarnation.map(Incarnation::new),
            durability: self.durability,
            superblock: None,
        }
    }

    pub(in crate::oracle) fn recover(&self) -> Reference {
        recover(&self.image, &self.expectation())
    }
}
