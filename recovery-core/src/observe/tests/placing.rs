//! A batch that verifies, at the end of a chain.

use crate::format::{BATCH_BYTES_MAX, BatchHeader, Checksum};
use crate::observe::{StopDetail, misplacement};
use crate::units::{Length, Offset, PartitionId};

#[test]
fn a_batch_as_long_as_any_that_is_let_in_has_its_place_and_a_longer_one_has_none() {
    let (partition, next) = (PartitionId::new(3), Offset::new(41));
    let ceiling = BATCH_BYTES_MAX.get();
    for (length, has_place) in [(ceiling - 1, true), (ceiling, true), (ceiling + 1, false)] {
        let batch_length = Length::new(length);
        let header = BatchHeader {
            partition_id: partition,
            base_offset: next,
            base_timestamp: 0,
            origin_timestamp: 0,
            batch_length,
            batch_checksum: Checksum::new(1),
            message_count: 1,
        };
        let expected = (!has_place).then_some(StopDetail::Oversize { batch_length });
        assert_eq!(misplacement(&header, partition, next), expected, "{length}");
    }
}
