//! The superblock record: one of two slots beside a partition (IGGY_FORMAT section 6).
//!
//! Promises: a record that decodes has the right magic, version, length and checksum. Leaves out: which of
//! two slots wins, and what a slot that does not decode means ([`crate::observe`]).

use thiserror::Error;

use super::Checksum;
use super::bytes::{put_u32, put_u64, put_u128, u32_at, u64_at, u128_at};
use crate::units::Offset;

/// Longest superblock file: 36 bytes around a payload of at most 4096.
pub const SUPERBLOCK_BYTES_MAX: usize = 36 + 4096;

const MAGIC: u32 = 0x5342_4c4b;
const VERSION: u16 = 1;
const PAYLOAD_AT: usize = 28;
const CHECKSUM_BYTES: usize = 8;
const PAYLOAD_BYTES: usize = 66;
/// A payload without the offset frontier: accepted, and read as 0.
const PAYLOAD_BYTES_SHORT: usize = 58;

/// Why bytes are no superblock record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SuperblockDamage {
    /// The file's length is not what the payload length asks for, or no record can be that long.
    #[error("the slot has {found} bytes, and its record needs {needed}")]
    Length {
        /// Bytes of the file.
        found: usize,
        /// Bytes of the record.
        needed: usize,
    },
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
    /// The checksum does not match.
    #[error("the record hashes to {actual}, and {stored} is stored")]
    Checksum {
        /// The stored value.
        stored: Checksum,
        /// The value of the bytes.
        actual: Checksum,
    },
    /// The payload has neither known length, or its log view is above its view.
    #[error("the record verifies, but its payload makes no sense")]
    Payload,
}

/// One decoded record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Raised by each write; the higher of two valid slots counts.
    pub sequence: u64,
    /// Which cluster.
    pub cluster: u128,
    /// Which replica.
    pub replica: u8,
    /// Of how many.
    pub replica_count: u8,
    /// View.
    pub view: u32,
    /// View of the log, at most `view`.
    pub log_view: u32,
    /// Highest committed operation known.
    pub commit: u64,
    /// Next offset to mint; 0 says none was recorded.
    pub offset_frontier: Offset,
}

impl Superblock {
    /// Encodes the record as a partition's writer does: checkpoint fields zero.
    pub fn encode(&self) -> [u8; PAYLOAD_AT + PAYLOAD_BYTES + CHECKSUM_BYTES] {
        let mut bytes = [0; PAYLOAD_AT + PAYLOAD_BYTES + CHECKSUM_BYTES];
        put_u32(&mut bytes, 0, MAGIC);
        bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
        put_u64(&mut bytes, 8, self.sequence);
        put_u32(&mut bytes, 24, u32::try_from(PAYLOAD_BYTES).expect("66 fits"));
        let payload = &mut bytes[PAYLOAD_AT..];
        put_u128(payload, 0, self.cluster);
        payload[16] = self.replica;
        payload[17] = self.replica_count;
        put_u32(payload, 18, self.view);
        put_u32(payload, 22, self.log_view);
        put_u64(payload, 26, self.commit);
        put_u64(payload, 58, self.offset_frontier.get());
        let checksum = Checksum::of(&bytes[..PAYLOAD_AT + PAYLOAD_BYTES]);
        put_u64(&mut bytes, PAYLOAD_AT + PAYLOAD_BYTES, checksum.get());
        bytes
    }

    /// Decodes the whole contents of one slot.
    ///
    /// # Errors
    ///
    /// When magic, version, length, checksum or payload is not that of a record. Empty contents are no
    /// record either; that an empty slot counts as a missing one is for the caller to say.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::Superblock;
    /// use recovery_core::units::Offset;
    ///
    /// let superblock = Superblock {
    ///     sequence: 1,
    ///     cluster: 7,
    ///     replica: 0,
    ///     replica_count: 3,
    ///     view: 0,
    ///     log_view: 0,
    ///     commit: 0,
    ///     offset_frontier: Offset::new(42),
    /// };
    /// let mut bytes = superblock.encode();
    /// assert_eq!(Superblock::decode(&bytes).as_ref(), Ok(&superblock));
    /// bytes[20] ^= 1;
    /// assert!(Superblock::decode(&bytes).is_err());
    /// ```
    pub fn decode(bytes: &[u8]) -> Result<Self, SuperblockDamage> {
        let smallest = PAYLOAD_AT + CHECKSUM_BYTES;
        if bytes.len() < smallest || bytes.len() > SUPERBLOCK_BYTES_MAX {
            return Err(SuperblockDamage::Length { found: bytes.len(), needed: smallest + PAYLOAD_BYTES });
        }
        let magic = u32_at(bytes, 0);
        if magic != MAGIC {
            return Err(SuperblockDamage::Magic { found: magic });
        }
        let version = u16::from_le_bytes([bytes[4], bytes[5]]);
        if version != VERSION {
            return Err(SuperblockDamage::Version { found: version });
        }
        let payload_length = u32_at(bytes, 24) as usize;
        let needed = smallest + payload_length;
        if bytes.len() != needed {
            return Err(SuperblockDamage::Length { found: bytes.len(), needed });
        }
        let stored = Checksum::new(u64_at(bytes, needed - CHECKSUM_BYTES));
        let actual = Checksum::of(&bytes[..needed - CHECKSUM_BYTES]);
        if stored != actual {
            return Err(SuperblockDamage::Checksum { stored, actual });
        }
        Self::decode_payload(u64_at(bytes, 8), &bytes[PAYLOAD_AT..needed - CHECKSUM_BYTES])
    }

    fn decode_payload(sequence: u64, payload: &[u8]) -> Result<Self, SuperblockDamage> {
        let offset_frontier = match payload.len() {
            PAYLOAD_BYTES_SHORT => Offset::ZERO,
            PAYLOAD_BYTES => Offset::new(u64_at(payload, PAYLOAD_BYTES_SHORT)),
            _ => return Err(SuperblockDamage::Payload),
        };
        let record = Self {
            sequence,
            cluster: u128_at(payload, 0),
            replica: payload[16],
            replica_count: payload[17],
            view: u32_at(payload, 18),
            log_view: u32_at(payload, 22),
            commit: u64_at(payload, 26),
            offset_frontier,
        };
        if record.log_view > record.view { Err(SuperblockDamage::Payload) } else { Ok(record) }
    }
}
