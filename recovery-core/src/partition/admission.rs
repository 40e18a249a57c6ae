//! The door for producers: a batch is checked completely before it gets an offset.
//!
//! Promises: whatever is let in is accepted by recovery, by readers and by peers, and holds at least one
//! message, its deltas counting from 0; the *sum* of a batch is bounded, however small its messages (F72,
//! F73). Leaves out: what is in a payload.

use thiserror::Error;

use super::whole_batch;
use crate::format::{BATCH_BYTES_MAX, BATCH_HEADER_BYTES, BatchHeader, HeaderDamage};
use crate::observe::{StopDetail, Verifier};
use crate::units::{Length, Offset};

/// Why a batch is not taken in. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Rejection {
    /// Above the ceiling that binds: the format's, or the smaller one that was asked for.
    #[error("the batch has {given} bytes, and {ceiling} is the most that is let in")]
    TooLarge {
        /// Its bytes.
        given: Length,
        /// The ceiling.
        ceiling: Length,
    },
    /// The bytes are fewer or more than one batch.
    #[error("the batch claims {claimed} bytes, and {given} were given")]
    Length {
        /// The claimed length; 256 where there is no whole header.
        claimed: Length,
        /// Bytes given.
        given: Length,
    },
    /// The header does not decode.
    #[error("the batch does not decode: {0}")]
    Header(HeaderDamage),
    /// A field that is the server's is set.
    #[error("the {field} of the batch is {value}, and it is the server's to set")]
    ServerField {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// A batch of no messages would move no offset.
    #[error("the batch holds no message")]
    Empty,
    /// Frames or checksums.
    #[error("the batch does not verify ({})", .0.stop().code())]
    Damaged(StopDetail),
    /// A reader that adds deltas up would find other offsets than recovery counts.
    #[error("the stored offset deltas of {mismatches} of {message_count} messages do not count from 0")]
    Deltas {
        /// How many disagree.
        mismatches: u64,
        /// How many there are.
        message_count: u32,
    },
    /// No offsets are left for it (N16).
    #[error("the next offset is {next_offset}, and {message_count} more do not fit")]
    OffsetsExhausted {
        /// The next offset.
        next_offset: Offset,
        /// The batch's messages.
        message_count: u32,
    },
}

impl Rejection {
    /// The permanent code of this rejection.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "batch-too-large",
            Self::Length { .. } => "batch-length",
            Self::Header(_) => "batch-header",
            Self::ServerField { .. } => "batch-server-field",
            Self::Empty => "batch-empty",
            Self::Damaged(_) => "batch-damaged",
            Self::Deltas { .. } => "batch-deltas",
            Self::OffsetsExhausted { .. } => "offsets-exhausted",
        }
    }
}

/// Checks producers' batches; reused from one to the next.
#[derive(Debug)]
pub struct Admission {
    ceiling: Length,
    verifier: Verifier,
}

impl Admission {
    /// Lets in batches of at most `batch_bytes_max`, or of the format's ceiling if that is less.
    pub fn new(batch_bytes_max: Length) -> Self {
        Self { ceiling: batch_bytes_max.min(BATCH_BYTES_MAX), verifier: Verifier::new() }
    }

    /// Checks one batch in producer form, which will get `next_offset`; returns its header and the offset
    /// behind its last message.
    ///
    /// # Errors
    ///
    /// Why it is not taken in. The size comes first, before anything is hashed.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{BATCH_BYTES_MAX, BatchBuilder, Message};
    /// use recovery_core::partition::Admission;
    /// use recovery_core::units::Offset;
    ///
    /// let mut admission = Admission::new(BATCH_BYTES_MAX);
    /// let mut batch = Vec::new();
    /// let mut builder = BatchBuilder::begin(&mut batch, 1);
    /// builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// builder.finish();
    /// let (_, behind) = admission.check(&batch, Offset::new(41))?;
    /// assert_eq!(behind, Offset::new(42));
    /// batch.pop();
    /// assert_eq!(admission.check(&batch, Offset::new(41)).unwrap_err().code(), "batch-length");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&mut self, batch: &[u8], next_offset: Offset) -> Result<(BatchHeader, Offset), Rejection> {
        let given = Length::new(batch.len() as u64);
        if given > self.ceiling {
            let ceiling = if given > BATCH_BYTES_MAX { BATCH_BYTES_MAX } else { self.ceiling };
            return Err(Rejection::TooLarge { given, ceiling });
        }
        let Some(bytes) = batch.first_chunk::<BATCH_HEADER_BYTES>() else {
            return Err(Rejection::Length { claimed: Length::new(BATCH_HEADER_BYTES as u64), given });
        };
        let header = BatchHeader::decode(bytes).map_err(Rejection::Header)?;
        if header.batch_length != given {
            return Err(Rejection::Length { claimed: header.batch_length, given });
        }
        check_server_fields(&header)?;
        if header.message_count == 0 {
            return Err(Rejection::Empty);
        }
        let mismatches =
            whole_batch::verify(&mut self.verifier, &header, batch).map_err(Rejection::Damaged)?;
        let message_count = header.message_count;
        if mismatches > 0 {
            return Err(Rejection::Deltas { mismatches, message_count });
        }
        match next_offset.checked_add(u64::from(message_count)) {
            Some(behind) => Ok((header, behind)),
            None => Err(Rejection::OffsetsExhausted { next_offset, message_count }),
        }
    }
}

/// A producer leaves three fields zero, and its checksum covers the zeros (IGGY_FORMAT section 2).
fn check_server_fields(header: &BatchHeader) -> Result<(), Rejection> {
    let fields = [
        ("partition id", header.partition_id.get()),
        ("base offset", header.base_offset.get()),
        ("base timestamp", header.base_timestamp),
    ];
    match fields.into_iter().find(|(_, value)| *value != 0) {
        Some((field, value)) => Err(Rejection::ServerField { field, value }),
        None => Ok(()),
    }
}
