//! The frame: 48 bytes, then the payload, then the user headers of one message (IGGY_FORMAT section 2).
//!
//! The trap of this structure: the length fields stand in the order headers, payload; the bytes in the
//! order payload, headers.

use thiserror::Error;

use super::Checksum;
use super::bytes::{put_u32, put_u64, put_u128, u32_at, u64_at, u128_at};
use crate::units::Length;

/// Bytes of a frame before its payload.
pub const FRAME_HEADER_BYTES: usize = 48;

/// Where the bytes start that the message checksum covers; they end with the frame.
pub const FRAME_HASHED_FROM: usize = 8;

/// Why 48 bytes are no frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the reserved field of the frame is {value:#018x}")]
pub struct FrameDamage {
    /// The field's value, which must be zero.
    pub value: u64,
}

/// The decoded fields of a frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// XXH3-64 of the frame from byte 8 to its end.
    pub checksum: Checksum,
    /// The message's id.
    pub id: u128,
    /// Offset of the message minus the batch's base offset. Recovery counts instead of believing it.
    pub offset_delta: u32,
    /// Microseconds after the batch's origin timestamp.
    pub timestamp_delta: u32,
    /// Bytes of user headers, behind the payload.
    pub user_headers_length: u32,
    /// Bytes of payload.
    pub payload_length: u32,
}

impl FrameHeader {
    /// Decodes a frame header.
    ///
    /// # Errors
    ///
    /// When the reserved field is not zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{BATCH_HEADER_BYTES, BatchBuilder, FrameHeader, Message};
    ///
    /// let mut bytes = Vec::new();
    /// let mut builder = BatchBuilder::begin(&mut bytes, 1);
    /// builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// builder.finish();
    /// let frame = bytes[BATCH_HEADER_BYTES..].first_chunk().expect("a whole frame header");
    /// assert_eq!(FrameHeader::decode(frame).expect("what was built decodes").payload_length, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn decode(bytes: &[u8; FRAME_HEADER_BYTES]) -> Result<Self, FrameDamage> {
        let reserved = u64_at(bytes, 40);
        if reserved != 0 {
            return Err(FrameDamage { value: reserved });
        }
        Ok(Self::read(bytes))
    }

    /// Reads the fields without judging them.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{BATCH_HEADER_BYTES, BatchBuilder, FrameDamage, FrameHeader, Message};
    ///
    /// let mut bytes = Vec::new();
    /// let mut builder = BatchBuilder::begin(&mut bytes, 1);
    /// builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// builder.finish();
    /// bytes[BATCH_HEADER_BYTES + 40] = 1;
    /// let frame = bytes[BATCH_HEADER_BYTES..].first_chunk().expect("a whole frame header");
    /// // The reserved field is damaged, and the others can be shown all the same.
    /// assert_eq!(FrameHeader::decode(frame), Err(FrameDamage { value: 1 }));
    /// assert_eq!(FrameHeader::read(frame).payload_length, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn read(bytes: &[u8; FRAME_HEADER_BYTES]) -> Self {
        Self {
            checksum: Checksum::new(u64_at(bytes, 0)),
            id: u128_at(bytes, 8),
            offset_delta: u32_at(bytes, 24),
            timestamp_delta: u32_at(bytes, 28),
            user_headers_length: u32_at(bytes, 32),
            payload_length: u32_at(bytes, 36),
        }
    }

    /// Encodes the frame header, reserved field zero.
    pub fn encode(&self) -> [u8; FRAME_HEADER_BYTES] {
        let mut bytes = [0; FRAME_HEADER_BYTES];
        put_u64(&mut bytes, 0, self.checksum.get());
        put_u128(&mut bytes, 8, self.id);
        put_u32(&mut bytes, 24, self.offset_delta);
        put_u32(&mut bytes, 28, self.timestamp_delta);
        put_u32(&mut bytes, 32, self.user_headers_length);
        put_u32(&mut bytes, 36, self.payload_length);
        bytes
    }

    /// Bytes of the whole frame. At most 48 + 2 * (2^32 - 1), so it always fits.
    #[inline]
    pub fn frame_length(&self) -> Length {
        Length::new(
            FRAME_HEADER_BYTES as u64 + u64::from(self.payload_length) + u64::from(self.user_headers_length),
        )
    }
}
