//! Finds the places in a run of bytes where a batch header could start.
//!
//! Promises: every such place, in order, in time linear in the bytes. Leaves out: whether a batch is there.

use crate::format::{BATCH_HEADER_BYTES, BatchHeader};

/// First and one behind the last byte of the header's length field.
const LENGTH_AT: usize = 32;
const LENGTH_END: usize = 40;
/// First reserved byte of a header.
const RESERVED_AT: usize = 52;

/// Returns the first `index >= from` at which `bytes` hold a plausible header of a batch that ends within
/// `room` bytes from the run's first byte, and the header.
///
/// Plausible: decodes, and its count of messages fits its length. An index is only looked at while all 256
/// bytes of the header are in the run; the second value says where to go on with more bytes.
pub(crate) fn find(bytes: &[u8], from: usize, room: u64) -> Result<(usize, BatchHeader), usize> {
    let mut index = from;
    // Each pass that goes on moves forward by at least one byte.
    while index + BATCH_HEADER_BYTES <= bytes.len() {
        let header = &bytes[index..index + BATCH_HEADER_BYTES];
        // A header ends in 204 zero bytes: no header can start before the last byte that is not zero has
        // left that range. In noise this moves on by 204 bytes at a time.
        if let Some(last) = header[RESERVED_AT..].iter().rposition(|byte| *byte != 0) {
            index += last + 1;
            continue;
        }
        // The length field holds a byte that is not zero. In a run of zeros this moves to its end.
        if header[LENGTH_AT..LENGTH_END].iter().all(|byte| *byte == 0) {
            match first_nonzero(&bytes[index + LENGTH_END..]) {
                None => return Err(bytes.len() - BATCH_HEADER_BYTES + 1),
                Some(ahead) => index += ahead + 1,
            }
            continue;
        }
        let mut array = [0; BATCH_HEADER_BYTES];
        array.copy_from_slice(header);
        match BatchHeader::decode(&array) {
            Ok(header) if header.batch_length.get() <= room - index as u64 && header.count_fits_blob() => {
                return Ok((index, header));
            }
            Ok(_) | Err(_) => index += 1,
        }
    }
    Err(index)
}

/// Index of the first byte that is not zero.
pub(crate) fn first_nonzero(bytes: &[u8]) -> Option<usize> {
    const STRIDE: usize = 64;
    let zeros = [0; STRIDE];
    let skipped = bytes.chunks_exact(STRIDE).take_while(|chunk| **chunk == zeros).count() * STRIDE;
    bytes[skipped..].iter().position(|byte| *byte != 0).map(|index| skipped + index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Checksum;
    use crate::units::{Length, Offset, PartitionId};

    /// Every plausible place, by looking at each index on its own.
    fn slow(bytes: &[u8], room: u64) -> Vec<usize> {
        (0..bytes.len().saturating_sub(BATCH_HEADER_BYTES - 1))
            .filter(|index| {
                let mut array = [0; BATCH_HEADER_BYTES];
                array.copy_from_slice(&bytes[*index..*index + BATCH_HEADER_BYTES]);
                BatchHeader::decode(&array).is_ok_and(|header| {
                    header.batch_length.get() <= room - *index as u64 && header.count_fits_blob()
                })
            })
            .collect()
    }

    fn fast(bytes: &[u8], room: u64) -> Vec<usize> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Ok((index, _)) = find(bytes, from, room) {
            found.push(index);
            from = index + 1;
        }
        found
    }

    fn header(length: u64, count: u32) -> [u8; BATCH_HEADER_BYTES] {
        BatchHeader {
            partition_id: PartitionId::new(1),
            base_offset: Offset::new(2),
            base_timestamp: 3,
            origin_timestamp: 4,
            batch_length: Length::new(length),
            batch_checksum: Checksum::new(5),
            message_count: count,
        }
        .encode()
    }

    #[track_caller]
    fn check(bytes: &[u8], room: u64, expected: usize) {
        assert_eq!(fast(bytes, room), slow(bytes, room));
        assert_eq!(fast(bytes, room).len(), expected);
    }

    #[test]
    fn zeros_and_noise_hold_no_candidate() {
        check(&[0; 2000], 2000, 0);
        check(&[7; 2000], 2000, 0);
        check(&[], 0, 0);
    }

    #[test]
    fn headers_are_found_wherever_they_start() {
        for lead in [0, 1, 7, 63, 64, 65, 200, 256, 300] {
            for filler in [0_u8, 9] {
                let mut bytes = vec![filler; lead];
                bytes.extend_from_slice(&header(304, 1));
                bytes.extend_from_slice(&[filler; 48]);
                let room = bytes.len() as u64;
                assert_eq!(fast(&bytes, room), slow(&bytes, room));
                assert!(fast(&bytes, room).contains(&lead));
            }
        }
    }

    #[test]
    fn bait_at_the_smallest_pitch_is_all_seen() {
        // The zeros of the next header's partition id end one header's reserved bytes (F46).
        let mut bytes = vec![0; 248 * 40 + 256];
        for index in 0..40 {
            let at = index * 248 + 8;
            bytes[at..at + 248].copy_from_slice(&header(6 << 20, 1)[8..]);
        }
        let room = 8 << 20;
        assert_eq!(fast(&bytes, room), slow(&bytes, room));
        assert!(fast(&bytes, room).len() >= 40);
    }

    #[test]
    fn a_header_behind_what_looks_like_a_longer_length_is_found() {
        // The last bytes of its origin timestamp, and its length, are all not zero.
        let mut bytes = vec![1, 2, 3];
        bytes.extend_from_slice(&header(0x0101_0101_0101, 1));
        bytes[3 + 24..3 + 32].fill(0xee);
        bytes[3 + 40..3 + 48].copy_from_slice(&[7, 7, 7, 7, 7, 7, 7, 7]);
        check(&bytes, 1 << 41, 1);
        let mut shorter = vec![1, 2, 3];
        shorter.extend_from_slice(&header(0x01_0101_0101, 1));
        shorter[3 + 24..3 + 32].fill(0xee);
        check(&shorter, 1 << 36, 1);
    }

    #[test]
    fn behind_zeros_the_next_look_begins_at_the_first_place_that_was_not_seen_whole() {
        for length in [BATCH_HEADER_BYTES, BATCH_HEADER_BYTES + 1, 600, 2000] {
            let next = length - BATCH_HEADER_BYTES + 1;
            assert_eq!(find(&vec![0; length], 0, 1 << 20).err(), Some(next), "{length} bytes");
        }
    }

    #[test]
    fn a_claim_past_the_end_is_no_candidate() {
        check(&header(257, 0), 256, 0);
        check(&header(256, 0), 256, 1);
    }
}
