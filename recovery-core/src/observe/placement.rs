//! Whether a batch that verifies belongs at the place where it was found.

use crate::format::{BATCH_BYTES_MAX, BatchHeader};
use crate::units::{Offset, PartitionId};

use super::StopDetail;

/// Judges a verified batch at the end of a chain: `None` if it continues it, else the misplaced stop.
///
/// Only ever asked after every checksum has passed, so that no verdict depends on the direction of a
/// flipped bit (F29). The partition id comes first: offsets of another partition say nothing (F27).
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
