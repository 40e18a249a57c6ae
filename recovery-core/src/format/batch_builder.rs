//! Makes whole batches: encodes messages as a producer does, and stamps a batch as a server does.
//!
//! Promises: what [`BatchBuilder`] makes decodes, its deltas count from 0, and it never passes the
//! ceiling; nothing is allocated but by the caller's `Vec`. Leaves out: user headers' inner layout, and
//! whether a batch may enter a partition (the writer's admission).

use thiserror::Error;

use super::bytes::put_u64;
use super::{
    BATCH_BYTES_MAX, BATCH_HEADER_BYTES, BatchHeader, Checksum, FRAME_HASHED_FROM, FRAME_HEADER_BYTES,
    FrameHeader, Hasher, HeaderDamage,
};
use crate::units::{Length, Offset, PartitionId};

/// One message to be put into a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its id. A server's producer draws one at random; here 0 is kept as 0.
    pub id: u128,
    /// Microseconds after the batch's origin timestamp.
    pub timestamp_delta: u32,
    /// The payload.
    pub payload: &'a [u8],
    /// The encoded user headers, or nothing. They are stored behind the payload.
    pub user_headers: &'a [u8],
}

/// The batch would pass the ceiling; nothing of the message was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the batch would have {needed} bytes, and the ceiling is {BATCH_BYTES_MAX}")]
pub struct BatchTooLarge {
    /// Bytes of the batch with the message.
    pub needed: Length,
}

/// Encodes one batch in producer form: partition id, base offset and base timestamp are 0, and the batch
/// checksum covers those zeros (IGGY_FORMAT section 2).
///
/// The batch is appended to the caller's bytes and is whole only after [`BatchBuilder::finish`].
#[derive(Debug)]
#[must_use = "a batch is whole only when it is finished"]
pub struct BatchBuilder<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
    origin_timestamp: u64,
    message_count: u32,
}

impl<'a> BatchBuilder<'a> {
    /// Begins a batch behind what `bytes` already holds. `origin_timestamp` is the smallest producer time
    /// of its messages, in microseconds since the Unix epoch.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{BatchBuilder, Message};
    ///
    /// let mut bytes = Vec::new();
    /// let mut builder = BatchBuilder::begin(&mut bytes, 1_700_000_000_000_000);
    /// builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// let header = builder.finish();
    /// assert_eq!(header.message_count, 1);
    /// assert_eq!(header.batch_length.get(), bytes.len() as u64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin(bytes: &'a mut Vec<u8>, origin_timestamp: u64) -> Self {
        let start = bytes.len();
        bytes.resize(start + BATCH_HEADER_BYTES, 0);
        Self { bytes, start, origin_timestamp, message_count: 0 }
    }

    /// Adds one message behind the others.
    ///
    /// # Errors
    ///
    /// When the batch would pass [`BATCH_BYTES_MAX`]. The batch stays as it was and may be finished.
    pub fn push(&mut self, message: &Message<'_>) -> Result<(), BatchTooLarge> {
        let body_bytes = message.payload.len() as u128 + message.user_headers.len() as u128;
        let needed = self.length() as u128 + FRAME_HEADER_BYTES as u128 + body_bytes;
        if needed > u128::from(BATCH_BYTES_MAX.get()) {
            let needed = Length::new(u64::try_from(needed).expect("slices in memory add up to less"));
            return Err(BatchTooLarge { needed });
        }
        let field = |length: usize| u32::try_from(length).expect("the ceiling is below 2^32");
        let header = FrameHeader {
            checksum: Checksum::default(),
            id: message.id,
            offset_delta: self.message_count,
            timestamp_delta: message.timestamp_delta,
            user_headers_length: field(message.user_headers.len()),
            payload_length: field(message.payload.len()),
        };
        let frame_at = self.bytes.len();
        self.bytes.extend_from_slice(&header.encode());
        self.bytes.extend_from_slice(message.payload);
        self.bytes.extend_from_slice(message.user_headers);
        let checksum = Checksum::of(&self.bytes[frame_at + FRAME_HASHED_FROM..]);
        put_u64(self.bytes, frame_at, checksum.get());
        self.message_count += 1;
        Ok(())
    }

    /// Bytes of the batch so far, header included.
    #[inline]
    pub fn length(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Messages so far.
    #[inline]
    pub const fn message_count(&self) -> u32 {
        self.message_count
    }

    /// Writes the header. A batch without a message is whole too, though no writer admits it.
    pub fn finish(self) -> BatchHeader {
        let mut header = BatchHeader {
            partition_id: PartitionId::ZERO,
            base_offset: Offset::ZERO,
            base_timestamp: 0,
            origin_timestamp: self.origin_timestamp,
            batch_length: Length::new(self.length() as u64),
            batch_checksum: Checksum::default(),
            message_count: self.message_count,
        };
        let batch = &mut self.bytes[self.start..];
        header.batch_checksum = batch_checksum(&header, &batch[BATCH_HEADER_BYTES..])
            .expect("frames that were pushed one behind the other tile the batch");
        batch[..BATCH_HEADER_BYTES].copy_from_slice(&header.encode());
        header
    }
}

/// Why bytes cannot be stamped: they are not laid out as exactly one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LayoutDamage {
    /// The bytes are fewer or more than the batch claims, or fewer than a header.
    #[error("the batch claims {claimed} bytes, and {given} were given")]
    Length {
        /// The claimed length; 256 where there is no whole header.
        claimed: Length,
        /// The number of bytes given.
        given: Length,
    },
    /// The header itself.
    #[error(transparent)]
    Header(#[from] HeaderDamage),
    /// The frames do not fill the batch exactly, or are not as many as the header counts.
    #[error("the header counts {claimed} frames, and {found} whole ones stand before byte {position}")]
    Frames {
        /// The claimed count.
        claimed: u32,
        /// Whole frames found.
        found: u32,
        /// Where the last of them ends, counted from the start of the batch.
        position: u64,
    },
}

/// Stamps one batch as a server does when it takes it in: sets the three fields that are the server's and
/// computes the batch checksum anew from the stored message checksums (IGGY_FORMAT sections 2 and 3).
///
/// Message checksums are used as they stand and not verified; verify first. Returns the new header.
///
/// # Errors
///
/// When `batch` is not laid out as exactly one batch. It is unchanged then.
///
/// # Examples
///
/// ```
/// use recovery_core::format::{BatchBuilder, Message, stamp};
/// use recovery_core::units::{Offset, PartitionId};
///
/// let mut bytes = Vec::new();
/// let mut builder = BatchBuilder::begin(&mut bytes, 1);
/// builder.push(&Message { payload: b"hello", ..Message::default() })?;
/// builder.finish();
/// let header = stamp(&mut bytes, PartitionId::new(3), Offset::new(41), 1_700_000_000_000_000)?;
/// assert_eq!(header.base_offset, Offset::new(41));
/// assert_eq!(header.next_offset(), Some(Offset::new(42)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn stamp(
    batch: &mut [u8],
    partition_id: PartitionId,
    base_offset: Offset,
    base_timestamp: u64,
) -> Result<BatchHeader, LayoutDamage> {
    let given = Length::new(batch.len() as u64);
    let Some((header_bytes, frames)) = batch.split_first_chunk_mut::<BATCH_HEADER_BYTES>() else {
        return Err(LayoutDamage::Length { claimed: Length::new(BATCH_HEADER_BYTES as u64), given });
    };
    let mut header = BatchHeader::decode(header_bytes)?;
    if header.batch_length != given {
        return Err(LayoutDamage::Length { claimed: header.batch_length, given });
    }
    header.partition_id = partition_id;
    header.base_offset = base_offset;
    header.base_timestamp = base_timestamp;
    header.batch_checksum = batch_checksum(&header, frames)?;
    header_bytes.copy_from_slice(&header.encode());
    Ok(header)
}

/// The batch checksum: of the header fields, then of every frame's stored checksum in order.
fn batch_checksum(header: &BatchHeader, frames: &[u8]) -> Result<Checksum, LayoutDamage> {
    let claimed = header.message_count;
    let mut hasher = Hasher::new();
    hasher.update(&header.hashed_fields());
    let mut rest = frames;
    let mut found = 0;
    // Each pass takes at least a frame header, so the length bounds the loop.
    while !rest.is_empty() && found < claimed {
        let Some(frame) = first_frame(rest) else { break };
        hasher.update(&frame[..FRAME_HASHED_FROM]);
        rest = &rest[frame.len()..];
        found += 1;
    }
    if found == claimed && rest.is_empty() {
        return Ok(hasher.finish());
    }
    let position = (BATCH_HEADER_BYTES + frames.len() - rest.len()) as u64;
    Err(LayoutDamage::Frames { claimed, found, position })
}

/// The frame that `bytes` begin with, if it is whole and its reserved field is zero.
fn first_frame(bytes: &[u8]) -> Option<&[u8]> {
    let Ok(header) = FrameHeader::decode(bytes.first_chunk()?) else { return None };
    let Ok(length) = usize::try_from(header.frame_length().get()) else { return None };
    bytes.get(..length)
}
