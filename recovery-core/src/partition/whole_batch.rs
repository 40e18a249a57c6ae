//! Verifies a batch whose bytes are all at hand, with the one acceptor.

use crate::format::{BatchHeader, FRAME_HEADER_BYTES, FrameHeader};
use crate::observe::{Depth, StopDetail, Verifier, Want};

/// Verifies every byte of `batch`, whose decoded header is `header`; returns how many messages carry a
/// delta that disagrees with their place.
///
/// # Errors
///
/// What is wrong with the batch.
pub(super) fn verify(verifier: &mut Verifier, header: &BatchHeader, batch: &[u8]) -> Result<u64, StopDetail> {
    assert!(batch.len() as u64 == header.batch_length.get(), "all of the batch is at hand");
    verifier.begin(header, Depth::Full)?;
    // Each pass takes at least a frame header, so the length bounds the loop.
    loop {
        match verifier.want()? {
            Want::Nothing => return verifier.finish(),
            Want::Body { at, left } => {
                let from = index(at);
                verifier.take_body(&batch[from..from + index(left)]);
            }
            Want::FrameHeader { at } => {
                let rest = &batch[index(at)..];
                let bytes =
                    rest.first_chunk::<FRAME_HEADER_BYTES>().expect("the acceptor counts what is left");
                match whole_frame(bytes, rest) {
                    Some((frame, bytes)) => verifier.take_frame(&frame, bytes)?,
                    // It does not fit, or does not decode: the acceptor says how.
                    None => verifier.take_frame_header(bytes)?,
                };
            }
        }
    }
}

fn whole_frame<'a>(bytes: &[u8; FRAME_HEADER_BYTES], rest: &'a [u8]) -> Option<(FrameHeader, &'a [u8])> {
    let Ok(frame) = FrameHeader::decode(bytes) else { return None };
    let length = frame.frame_length().get();
    (length <= rest.len() as u64).then(|| (frame, &rest[..index(length)]))
}

fn index(distance: u64) -> usize {
    usize::try_from(distance).expect("a distance within bytes at hand")
}
