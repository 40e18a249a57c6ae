//! Whether a batch that verifies belongs at the place where it was found.

use crate::format::{BATCH_BYTES_MAX, BatchHeader};
use crate::units::{Offset, PartitionId};

use super::StopDetail;

/// Judges a verified batch at the end of a chain: `None` if it continues it, else the misplaced stop.
///
/// Only ever asked after every checksum has passed, so that no verdict depends on the direction of a
/// flipped bit (F29). The partition id comes first: offsets of another partition say nothing (F27).
///
/// # Examples
///
/// ```
/// use recovery_core::format::{BatchBuilder, Message, stamp};
/// use recovery_core::observe::{StopDetail, misplacement};
/// use recovery_core::units::{Offset, PartitionId};
///
/// let mut bytes = Vec::new();
/// let mut builder = BatchBuilder::begin(&mut bytes, 1);
/// builder.push(&Message { payload: b"hello", ..Message::default() })?;
/// builder.finish();
/// let (partition, base) = (PartitionId::new(3), Offset::new(41));
/// let header = stamp(&mut bytes, partition, base, 2)?;
/// assert_eq!(misplacement(&header, partition, base), None);
/// // Two offsets lie between the end of the chain and this batch.
/// assert_eq!(misplacement(&header, partition, Offset::new(39)), Some(StopDetail::Gap { found: base }));
/// // What is of another partition is that first, wherever it lies.
/// let foreign = misplacement(&header, PartitionId::new(4), Offset::new(39));
/// assert_eq!(foreign, Some(StopDetail::Foreign { found: partition }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[inline]
pub fn misplacement(header: &BatchHeader, partition: PartitionId, next: Offset) -> Option<StopDetail> {
    if header.partition_id != partition {
        return Some(StopDetail::Foreign { found: header.partition_id });
    }
    if header.base_offset > next {
        return Some(StopDetail::Gap { found: header.base_offset });
    }
    if header.base_offset < next {
        return Some(StopDetail::Regression { found: header.base_offset });
    }
    if header.next_offset().is_none() {
        let (base_offset, message_count) = (header.base_offset, header.message_count);
        return Some(StopDetail::Overflow { base_offset, message_count });
    }
    if header.batch_length > BATCH_BYTES_MAX {
        return Some(StopDetail::Oversize { batch_length: header.batch_length });
    }
    None
}
