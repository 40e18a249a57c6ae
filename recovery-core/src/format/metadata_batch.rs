//! A batch of the metadata log: a header of 64 bytes, then records of 32 (`docs/format.md`, section 8).
//!
//! Promises: a batch says where it lies, which one it follows and how much of the log was durable when it
//! was written, so the log needs no ledger beside it; bytes that are not in use are zero, or the batch does
//! not verify. Leaves out: what the records say together ([`crate::wal`]).

use thiserror::Error;

use super::Checksum;
use super::bytes::{put_u32, put_u64, u32_at, u64_at};
use super::metadata_record::{METADATA_RECORD_BYTES, MetadataRecord};
use crate::units::{Length, Position};

/// Size of a batch's header in bytes. Headers and records make every batch begin at a multiple of 32.
pub const METADATA_HEADER_BYTES: usize = 64;

/// `TMLG` in the file.
const MAGIC: u32 = 0x474c_4d54;
const VERSION: u16 = 1;
const CHECKSUM_AT: usize = 56;

/// Bytes of the header that its checksum covers, ahead of the records.
pub const METADATA_HASHED_BYTES: usize = CHECKSUM_AT;

/// The header of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataHeader {
    /// All bytes of the batch, this header included.
    pub length: Length,
    /// The batch's number, counted from 0.
    pub sequence: u64,
    /// Where it begins in the log: a batch anywhere else is not the log's.
    pub position: Position,
    /// All bytes before this one were durable when the batch was written.
    pub frontier: Position,
    /// The checksum of the batch before it; 0 for the first.
    pub previous: Checksum,
    /// How many records follow. A batch without one says only how much was durable.
    pub record_count: u32,
    /// Of the 56 bytes before it, then of every record.
    pub checksum: Checksum,
}

/// Why 64 bytes are no header of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MetadataDamage {
    /// The first four bytes.
    #[error("the magic is {found:#010x}")]
    Magic {
        /// What is there.
        found: u32,
    },
    /// A version this build does not know.
    #[error("the version is {found}, and this build reads version 1")]
    Version {
        /// What is there.
        found: u16,
    },
    /// The length is not that of so many records.
    #[error("the batch claims {length} bytes and {record_count} records")]
    Length {
        /// The claimed length.
        length: Length,
        /// The claimed records.
        record_count: u32,
    },
    /// A field holds what no writer of this version puts there.
    #[error("the {field} makes no sense")]
    Contents {
        /// The field.
        field: &'static str,
    },
}

impl MetadataHeader {
    /// Decodes a header and checks what it can show by itself; its checksum covers the records too.
    ///
    /// # Errors
    ///
    /// When a field holds what no writer of this version puts there.
    pub fn decode(bytes: &[u8; METADATA_HEADER_BYTES]) -> Result<Self, MetadataDamage> {
        let found = u32_at(bytes, 0);
        if found != MAGIC {
            return Err(MetadataDamage::Magic { found });
        }
        let found = u16::from_le_bytes([bytes[4], bytes[5]]);
        if found != VERSION {
            return Err(MetadataDamage::Version { found });
        }
        let header = Self {
            length: Length::new(u64_at(bytes, 8)),
            sequence: u64_at(bytes, 16),
            position: Position::new(u64_at(bytes, 24)),
            frontier: Position::new(u64_at(bytes, 32)),
            previous: Checksum::new(u64_at(bytes, 40)),
            record_count: u32_at(bytes, 48),
            checksum: Checksum::new(u64_at(bytes, CHECKSUM_AT)),
        };
        let Self { length, record_count, .. } = header;
        if length != batch_length(u64::from(record_count)) {
            return Err(MetadataDamage::Length { length, record_count });
        }
        if bytes[6..8] != [0; 2] || u32_at(bytes, 52) != 0 {
            return Err(MetadataDamage::Contents { field: "reserved field" });
        }
        if header.frontier > header.position {
            return Err(MetadataDamage::Contents { field: "frontier" });
        }
        Ok(header)
    }

    /// Encodes a batch of `records` into `bytes`, which is emptied first; returns its header.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{Checksum, MetadataDraft, MetadataHeader};
    /// use recovery_core::units::Position;
    ///
    /// // A batch without records says that all before it is durable.
    /// let draft = MetadataDraft {
    ///     sequence: 0,
    ///     position: Position::ZERO,
    ///     frontier: Position::ZERO,
    ///     previous: Checksum::new(0),
    /// };
    /// let mut bytes = Vec::new();
    /// let header = MetadataHeader::encode(&draft, &[], &mut bytes);
    /// let decoded = MetadataHeader::decode(bytes.first_chunk().expect("a whole header"));
    /// assert_eq!(decoded.as_ref(), Ok(&header));
    /// ```
    pub fn encode(draft: &MetadataDraft, records: &[MetadataRecord], bytes: &mut Vec<u8>) -> Self {
        let record_count = u32::try_from(records.len()).expect("a batch is bounded by the ceiling");
        let length = batch_length(u64::from(record_count));
        let MetadataDraft { sequence, position, frontier, previous } = *draft;
        assert!(frontier <= position, "nothing behind a batch is durable before it");
        bytes.clear();
        bytes.resize(METADATA_HEADER_BYTES, 0);
        put_u32(bytes, 0, MAGIC);
        bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
        put_u64(bytes, 8, length.get());
        put_u64(bytes, 16, sequence);
        put_u64(bytes, 24, position.get());
        put_u64(bytes, 32, frontier.get());
        put_u64(bytes, 40, previous.get());
        put_u32(bytes, 48, record_count);
        for record in records {
            bytes.extend_from_slice(&record.encode());
        }
        let mut hasher = super::Hasher::new();
        hasher.update(&bytes[..METADATA_HASHED_BYTES]);
        hasher.update(&bytes[METADATA_HEADER_BYTES..]);
        let checksum = hasher.finish();
        put_u64(bytes, CHECKSUM_AT, checksum.get());
        Self { length, sequence, position, frontier, previous, record_count, checksum }
    }
}

/// What the writer says of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataDraft {
    /// See [`MetadataHeader::sequence`].
    pub sequence: u64,
    /// See [`MetadataHeader::position`].
    pub position: Position,
    /// See [`MetadataHeader::frontier`].
    pub frontier: Position,
    /// See [`MetadataHeader::previous`].
    pub previous: Checksum,
}

/// Bytes of a batch of `records` records.
const fn batch_length(records: u64) -> Length {
    Length::new(METADATA_HEADER_BYTES as u64 + records * METADATA_RECORD_BYTES as u64)
}
