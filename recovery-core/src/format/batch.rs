//! The batch header: 256 bytes before the frames of one batch (IGGY_FORMAT section 2).
//!
//! Promises: decoding checks what a header can show by itself, which is little: a length of at least a
//! header, and reserved bytes that are all zero. Leaves out: frames ([`super::frame`]), and whether the
//! batch belongs where it lies.

use thiserror::Error;

use super::bytes::{put_u32, put_u64, u32_at, u64_at};
use super::{Checksum, FRAME_HEADER_BYTES};
use crate::units::{Length, Offset, PartitionId};

/// Bytes of a batch header.
pub const BATCH_HEADER_BYTES: usize = 256;

/// Largest batch that any door lets in: 256 MiB of frames and the header. A frozen constant of the
/// format and no setting, so that no later build or knob reads old bytes differently (F15, F71 to F76).
pub const BATCH_BYTES_MAX: Length = Length::new(256 * 1024 * 1024 + BATCH_HEADER_BYTES as u64);

/// Bytes of the header fields that the batch checksum covers, before the message checksums.
pub const BATCH_HASHED_BYTES: usize = 44;

/// First reserved byte; from here to the end of the header every byte is zero.
pub(crate) const RESERVED_AT: usize = 52;

/// Why 256 bytes are no batch header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeaderDamage {
    /// The batch claims to be smaller than its own header.
    #[error("the header claims a batch of {claimed} bytes, and a header alone takes 256")]
    Length {
        /// The stored `batch_length`.
        claimed: u64,
    },
    /// A reserved byte is not zero (N31).
    #[error("reserved byte {at} of the header is {value:#04x}")]
    Reserved {
        /// Index of the byte inside the header, 52 to 255.
        at: usize,
        /// Its value.
        value: u8,
    },
}

/// The decoded fields of a batch header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchHeader {
    /// The partition number alone; neither stream nor topic (F28).
    pub partition_id: PartitionId,
    /// Offset of the first message.
    pub base_offset: Offset,
    /// Server time of the append, microseconds since the Unix epoch.
    pub base_timestamp: u64,
    /// Smallest producer time of the batch, microseconds.
    pub origin_timestamp: u64,
    /// All bytes of the batch, header included.
    pub batch_length: Length,
    /// XXH3-64 of the header fields and the message checksums ([`BatchHeader::hashed_fields`]).
    pub batch_checksum: Checksum,
    /// How many frames follow.
    pub message_count: u32,
}

impl BatchHeader {
    /// Decodes a header.
    ///
    /// # Errors
    ///
    /// When the claimed length is below 256 or a reserved byte is not zero. Nothing else is judged.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{BatchBuilder, BatchHeader};
    ///
    /// let mut bytes = Vec::new();
    /// let written = BatchBuilder::begin(&mut bytes, 7).finish();
    /// let header = BatchHeader::decode(bytes.first_chunk().expect("a whole header"))?;
    /// assert_eq!(header, written);
    /// assert_eq!(header.origin_timestamp, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode(bytes: &[u8; BATCH_HEADER_BYTES]) -> Result<Self, HeaderDamage> {
        let header = Self::read(bytes);
        if header.batch_length.get() < BATCH_HEADER_BYTES as u64 {
            return Err(HeaderDamage::Length { claimed: header.batch_length.get() });
        }
        match bytes[RESERVED_AT..].iter().position(|byte| *byte != 0) {
            Some(index) => {
                Err(HeaderDamage::Reserved { at: RESERVED_AT + index, value: bytes[RESERVED_AT + index] })
            }
            None => Ok(header),
        }
    }

    /// Reads the fields without judging any of them: for `inspect`, which shows damaged headers too.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{BatchBuilder, BatchHeader, HeaderDamage};
    ///
    /// let mut bytes = Vec::new();
    /// let written = BatchBuilder::begin(&mut bytes, 7).finish();
    /// bytes[100] = 1;
    /// let header = bytes.first_chunk().expect("a whole header");
    /// // A reserved byte is damaged, and the fields can be shown all the same.
    /// assert_eq!(BatchHeader::decode(header), Err(HeaderDamage::Reserved { at: 100, value: 1 }));
    /// assert_eq!(BatchHeader::read(header), written);
    /// ```
    pub fn read(bytes: &[u8; BATCH_HEADER_BYTES]) -> Self {
        Self {
            partition_id: PartitionId::new(u64_at(bytes, 0)),
            base_offset: Offset::new(u64_at(bytes, 8)),
            base_timestamp: u64_at(bytes, 16),
            origin_timestamp: u64_at(bytes, 24),
            batch_length: Length::new(u64_at(bytes, 32)),
            batch_checksum: Checksum::new(u64_at(bytes, 40)),
            message_count: u32_at(bytes, 48),
        }
    }

    /// Encodes the header, reserved bytes zero.
    pub fn encode(&self) -> [u8; BATCH_HEADER_BYTES] {
        let mut bytes = [0; BATCH_HEADER_BYTES];
        put_u64(&mut bytes, 0, self.partition_id.get());
        put_u64(&mut bytes, 8, self.base_offset.get());
        put_u64(&mut bytes, 16, self.base_timestamp);
        put_u64(&mut bytes, 24, self.origin_timestamp);
        put_u64(&mut bytes, 32, self.batch_length.get());
        put_u64(&mut bytes, 40, self.batch_checksum.get());
        put_u32(&mut bytes, 48, self.message_count);
        bytes
    }

    /// The 44 bytes that the batch checksum starts with: every field but the checksum itself, packed.
    /// The stored checksum of each frame follows, in order (IGGY_FORMAT section 3).
    #[inline]
    pub fn hashed_fields(&self) -> [u8; BATCH_HASHED_BYTES] {
        let mut bytes = [0; BATCH_HASHED_BYTES];
        put_u64(&mut bytes, 0, self.partition_id.get());
        put_u64(&mut bytes, 8, self.base_offset.get());
        put_u64(&mut bytes, 16, self.base_timestamp);
        put_u64(&mut bytes, 24, self.origin_timestamp);
        put_u64(&mut bytes, 32, self.batch_length.get());
        put_u32(&mut bytes, 40, self.message_count);
        bytes
    }

    /// Bytes of all frames together.
    #[inline]
    pub fn blob_length(&self) -> Length {
        assert!(self.batch_length.get() >= BATCH_HEADER_BYTES as u64, "a decoded header claims itself");
        Length::new(self.batch_length.get() - BATCH_HEADER_BYTES as u64)
    }

    /// Whether the claimed frames could fit the claimed length at all.
    #[inline]
    pub fn count_fits_blob(&self) -> bool {
        u64::from(self.message_count) * FRAME_HEADER_BYTES as u64 <= self.blob_length().get()
            && (self.message_count > 0 || self.blob_length() == Length::ZERO)
    }

    /// The offset one behind the last message, or `None` if it would not stay below `u64::MAX + 1`, that
    /// is, if the last message would have offset `u64::MAX` or more (N16).
    #[inline]
    pub fn next_offset(&self) -> Option<Offset> {
        self.base_offset.checked_add(u64::from(self.message_count))
    }
}
