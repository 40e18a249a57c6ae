//! The acceptor of batches: one answer however the bytes are cut, and what it wants, takes and hashes for it.

use recovery_core::format::{
    BATCH_HASHED_BYTES, BATCH_HEADER_BYTES, BatchHeader, Checksum, FRAME_HASHED_FROM, FRAME_HEADER_BYTES,
    FrameHeader,
};
use recovery_core::observe::{
    BadChecksum, Depth, HEADER_HASHED_BYTES_MAX, StopDetail, Taken, Undecodable, Verifier, Want,
};
use recovery_core::units::{Length, Offset, PartitionId};

use crate::observe_world::batch;

fn part(bytes: &[u8], at: u64, length: u64) -> &[u8] {
    let from = usize::try_from(at).expect("a test's batch is small");
    &bytes[from..from + usize::try_from(length).expect("a test's batch is small")]
}

fn header_of(bytes: &[u8]) -> BatchHeader {
    BatchHeader::read(bytes.first_chunk().expect("a whole header"))
}

fn frame_at(bytes: &[u8], at: u64) -> (FrameHeader, &[u8; FRAME_HEADER_BYTES]) {
    let header = part(bytes, at, FRAME_HEADER_BYTES as u64).first_chunk().expect("a whole frame header");
    (FrameHeader::read(header), header)
}

/// Verifies with whole frames, or with bodies in pieces of `piece` bytes; counts what is hashed.
fn verify(bytes: &[u8], depth: Depth, piece: Option<u64>) -> (Result<u64, StopDetail>, u64) {
    let mut verifier = Verifier::new();
    let mut hashed = 0;
    let mut count = |taken: Taken| hashed += taken.hashed;
    let outcome = (|| {
        count(verifier.begin(&header_of(bytes), depth)?);
        loop {
            match verifier.want()? {
                Want::FrameHeader { at } => {
                    let (frame, header) = frame_at(bytes, at);
                    let length = frame.frame_length().get();
                    let taken = match piece {
                        None => verifier.take_frame(&frame, part(bytes, at, length))?,
                        Some(_) => verifier.take_frame_header(header)?,
                    };
                    count(taken);
                }
                Want::Body { at, left } => {
                    let length = left.min(piece.expect("a whole frame wants no body"));
                    count(verifier.take_body(part(bytes, at, length)));
                }
                Want::Nothing => return verifier.finish(),
            }
        }
    })();
    (outcome, hashed)
}

/// The answer, and the bytes hashed, at this depth, in every way.
#[track_caller]
fn check(bytes: &[u8], depth: Depth, expected: (Result<u64, StopDetail>, u64)) {
    for piece in [None, Some(1), Some(7), Some(1 << 20)] {
        assert_eq!(verify(bytes, depth, piece), expected, "{depth:?}, in pieces of {piece:?}");
    }
}

const HEADER: u64 = BATCH_HASHED_BYTES as u64;
const FRAME: u64 = FRAME_HEADER_BYTES as u64;

/// Lets the header say something else, and stamps nothing anew.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut BatchHeader)) -> Vec<u8> {
    let mut header = header_of(bytes);
    change(&mut header);
    [&header.encode()[..], &bytes[BATCH_HEADER_BYTES..]].concat()
}

/// A batch of messages without a payload, with these deltas, all checksums right.
fn with_deltas(deltas: &[u32]) -> Vec<u8> {
    let mut frames = Vec::new();
    let mut header = BatchHeader {
        partition_id: PartitionId::new(3),
        base_offset: Offset::ZERO,
        base_timestamp: 5,
        origin_timestamp: 5,
        batch_length: Length::new(BATCH_HEADER_BYTES as u64 + FRAME * deltas.len() as u64),
        batch_checksum: Checksum::default(),
        message_count: u32::try_from(deltas.len()).expect("few messages"),
    };
    let mut hashed = header.hashed_fields().to_vec();
    for delta in deltas {
        let mut frame = FrameHeader {
            checksum: Checksum::default(),
            id: 1,
            offset_delta: *delta,
            timestamp_delta: 0,
            user_headers_length: 0,
            payload_length: 0,
        };
        frame.checksum = Checksum::of(&frame.encode()[FRAME_HASHED_FROM..]);
        hashed.extend(&frame.encode()[..FRAME_HASHED_FROM]);
        frames.extend(frame.encode());
    }
    header.batch_checksum = Checksum::of(&hashed);
    [&header.encode()[..], &frames].concat()
}

#[test]
fn a_whole_batch_is_hashed_once_and_a_skeleton_without_its_bodies() {
    let bytes = batch(0, &[b"first", b"second"]);
    let frames = 2 * FRAME + 11;
    check(&bytes, Depth::Full, (Ok(0), HEADER + frames));
    check(&bytes, Depth::Skeleton, (Ok(0), HEADER + 2 * FRAME_HASHED_FROM as u64));
    assert_eq!(HEADER_HASHED_BYTES_MAX, FRAME, "a frame header and its checksum, each once");
}

#[test]
fn a_skeleton_says_nothing_of_payloads() {
    let mut bytes = batch(0, &[b"first", b"second"]);
    *bytes.last_mut().expect("it has bytes") ^= 1;
    check(&bytes, Depth::Skeleton, (Ok(0), HEADER + 2 * FRAME_HASHED_FROM as u64));
}

#[test]
fn behind_a_message_that_is_damaged_no_body_is_hashed() {
    let mut bytes = batch(0, &[b"first", b"second", b"third"]);
    let at = BATCH_HEADER_BYTES + FRAME_HEADER_BYTES;
    bytes[at] ^= 1;
    let (frame, _) = frame_at(&bytes, BATCH_HEADER_BYTES as u64);
    let actual = Checksum::of(&bytes[BATCH_HEADER_BYTES + FRAME_HASHED_FROM..at + 5]);
    let fault = StopDetail::BadChecksum(BadChecksum::Message { index: 0, stored: frame.checksum, actual });
    check(&bytes, Depth::Full, (Err(fault), HEADER + FRAME + 5 + 2 * FRAME_HASHED_FROM as u64));
}

#[test]
fn deltas_that_disagree_with_their_place_are_counted_and_no_fault() {
    for (deltas, mismatches) in [(&[0, 1, 2][..], 0), (&[0, 2, 2], 1), (&[1, 2, 3], 3), (&[9], 1)] {
        let bytes = with_deltas(deltas);
        let frames = FRAME * deltas.len() as u64;
        check(&bytes, Depth::Full, (Ok(mismatches), HEADER + frames));
    }
}

#[test]
fn a_frame_that_passes_the_end_of_its_batch_is_undecodable() {
    let bytes = batch(0, &[b"first", b"second"]);
    let short = with_header(&bytes, |header| {
        header.batch_length = Length::new(header.batch_length.get() - 1);
    });
    let fault = StopDetail::Undecodable(Undecodable::Frame { index: 1 });
    check(&short, Depth::Full, (Err(fault), HEADER + FRAME + 5));
}

#[test]
fn a_batch_that_goes_on_behind_its_last_frame_does_not_tile() {
    let bytes = with_header(&batch(0, &[b"first", b"second"]), |header| header.message_count = 1);
    let fault = StopDetail::Undecodable(Undecodable::Tiling { claimed: 1, found: 1 });
    check(&bytes, Depth::Full, (Err(fault), HEADER + FRAME + 5));
}

#[test]
fn the_body_that_is_wanted_reaches_to_the_end_of_its_frame() {
    let bytes = batch(0, &[b"first", b"second"]);
    let mut verifier = Verifier::new();
    let first = BATCH_HEADER_BYTES as u64;
    verifier.begin(&header_of(&bytes), Depth::Full).expect("the count fits");
    assert_eq!(verifier.want(), Ok(Want::FrameHeader { at: first }));
    let taken = verifier.take_frame_header(frame_at(&bytes, first).1).expect("the frame fits");
    assert_eq!(taken, Taken { consumed: FRAME, hashed: HEADER_HASHED_BYTES_MAX });
    assert_eq!(verifier.want(), Ok(Want::Body { at: first + FRAME, left: 5 }));
    assert_eq!(verifier.take_body(b"fir"), Taken { consumed: 3, hashed: 3 });
    assert_eq!(verifier.want(), Ok(Want::Body { at: first + FRAME + 3, left: 2 }));
    assert_eq!(verifier.take_body(b"st"), Taken { consumed: 2, hashed: 2 });
    assert_eq!(verifier.want(), Ok(Want::FrameHeader { at: first + FRAME + 5 }));
    let (frame, _) = frame_at(&bytes, first + FRAME + 5);
    let whole = verifier.take_frame(&frame, part(&bytes, first + FRAME + 5, FRAME + 6));
    assert_eq!(whole, Ok(Taken { consumed: FRAME + 6, hashed: FRAME + 6 }));
    assert_eq!(verifier.want(), Ok(Want::Nothing));
    assert_eq!(verifier.finish(), Ok(0));
}
