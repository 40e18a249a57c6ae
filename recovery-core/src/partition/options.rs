//! How a partition is written. Every limit is checked here, once, before anything uses it.
//!
//! Promises: the first error names the ceiling that binds in the end, so an operator who follows it is not
//! sent through a row of others (F75); no ceiling is stated that nothing enforces (F76).

use thiserror::Error;

use crate::format::{BATCH_BYTES_MAX, BATCH_HEADER_BYTES, FRAME_HEADER_BYTES, LEDGER_RECORD_BYTES};
use crate::units::{Durability, Incarnation, Length};

/// Smallest size at which a segment may be closed: one sector.
pub const SEGMENT_BYTES_MIN: Length = Length::new(512);

/// Largest size at which a segment is closed; that of Apache Iggy (IGGY_FORMAT section 5).
pub const SEGMENT_BYTES_MAX: Length = Length::new(1024 * 1024 * 1024);

/// Smallest batch that holds a message.
const BATCH_BYTES_MIN: Length = Length::new((BATCH_HEADER_BYTES + FRAME_HEADER_BYTES) as u64);

/// Smallest ledger worth compacting.
const LEDGER_BYTES_MIN: Length = Length::new(8 * LEDGER_RECORD_BYTES as u64);

/// How a partition is written. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionOptions {
    /// What is promised before an acknowledgement.
    pub durability: Durability,
    /// A partition without a ledger gets one before its first append, for this life of it; `None` leaves
    /// it without. One that has a ledger keeps it in any case.
    pub new_ledger: Option<Incarnation>,
    /// Largest batch that is admitted, header included; at most [`BATCH_BYTES_MAX`], which no setting
    /// raises (F15, F71).
    pub batch_bytes_max: Length,
    /// A segment of at least so many bytes gets no further flush. Batches are never split, so it may be
    /// longer by one flush.
    pub segment_bytes: Length,
    /// How many offsets are reserved ahead of the acknowledged ones; 0 reserves none.
    pub reserve_block: u64,
    /// A ledger of at least so many bytes is compacted, where that makes it smaller by half.
    pub ledger_bytes_max: Length,
}

impl PartitionOptions {
    /// The usual sizes: batches up to the ceiling, segments of 1 GiB, a ledger of 1 MiB, none reserved.
    pub const fn new(durability: Durability, new_ledger: Option<Incarnation>) -> Self {
        Self {
            durability,
            new_ledger,
            batch_bytes_max: BATCH_BYTES_MAX,
            segment_bytes: SEGMENT_BYTES_MAX,
            reserve_block: 0,
            ledger_bytes_max: Length::new(1024 * 1024),
        }
    }

    /// Checks every limit. The ceiling of the format comes first, since no other setting moves it.
    ///
    /// # Errors
    ///
    /// The first limit that is passed.
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::partition::{OptionsError, PartitionOptions};
    /// use recovery_core::units::{Durability, Length};
    ///
    /// let mut options = PartitionOptions::new(Durability::Buffered, None);
    /// assert_eq!(options.validate(), Ok(()));
    /// options.segment_bytes = Length::new(100);
    /// assert!(matches!(options.validate(), Err(OptionsError::SegmentTooSmall { .. })));
    /// ```
    pub fn validate(&self) -> Result<(), OptionsError> {
        let batch_bytes = self.batch_bytes_max;
        if batch_bytes > BATCH_BYTES_MAX {
            return Err(OptionsError::BatchAboveCeiling { batch_bytes });
        }
        if batch_bytes < BATCH_BYTES_MIN {
            return Err(OptionsError::BatchTooSmall { batch_bytes });
        }
        let segment_bytes = self.segment_bytes;
        if segment_bytes > SEGMENT_BYTES_MAX {
            return Err(OptionsError::SegmentTooLarge { segment_bytes });
        }
        if segment_bytes < SEGMENT_BYTES_MIN {
            return Err(OptionsError::SegmentTooSmall { segment_bytes });
        }
        let ledger_bytes = self.ledger_bytes_max;
        if ledger_bytes < LEDGER_BYTES_MIN {
            return Err(OptionsError::LedgerTooSmall { ledger_bytes });
        }
        Ok(())
    }
}

/// Which limit an option passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// Batches that recovery would refuse are not let in.
    #[error(
        "batches of {batch_bytes} bytes are asked for, and no setting lets in more than {BATCH_BYTES_MAX}"
    )]
    BatchAboveCeiling {
        /// What is asked for.
        batch_bytes: Length,
    },
    /// No batch with a message would be let in.
    #[error(
        "batches of {batch_bytes} bytes are asked for, and one with an empty message takes {BATCH_BYTES_MIN}"
    )]
    BatchTooSmall {
        /// What is asked for.
        batch_bytes: Length,
    },
    /// Segments larger than any other server reads.
    #[error(
        "segments of {segment_bytes} bytes are asked for, and they are closed at {SEGMENT_BYTES_MAX} or less"
    )]
    SegmentTooLarge {
        /// What is asked for.
        segment_bytes: Length,
    },
    /// Segments smaller than a sector.
    #[error("segments of {segment_bytes} bytes are asked for, and they take {SEGMENT_BYTES_MIN} or more")]
    SegmentTooSmall {
        /// What is asked for.
        segment_bytes: Length,
    },
    /// A ledger that would be compacted at once, again and again.
    #[error("a ledger of {ledger_bytes} bytes is asked for, and it takes {LEDGER_BYTES_MIN} or more")]
    LedgerTooSmall {
        /// What is asked for.
        ledger_bytes: Length,
    },
    /// A reserved block is recorded in the ledger and nowhere else.
    #[error("blocks of {reserve_block} offsets are to be reserved, and there is no ledger to record them in")]
    ReserveNeedsLedger {
        /// What is asked for.
        reserve_block: u64,
    },
}

impl OptionsError {
    /// The permanent code of this error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BatchAboveCeiling { .. } => "batch-above-ceiling",
            Self::BatchTooSmall { .. } => "batch-too-small",
            Self::SegmentTooLarge { .. } => "segment-too-large",
            Self::SegmentTooSmall { .. } => "segment-too-small",
            Self::LedgerTooSmall { .. } => "ledger-too-small",
            Self::ReserveNeedsLedger { .. } => "reserve-needs-ledger",
        }
    }
}
