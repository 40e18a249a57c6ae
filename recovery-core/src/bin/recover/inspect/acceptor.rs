//! The verdict of the core's own acceptor on the batch under inspection, below the checks shown one by one.
//!
//! Promises: it is the acceptor that recovery, the reader and transfer ask, so what it says here is what they
//! go by. Leaves out: whether the batch continues its partition.

use recovery_core::format::{BATCH_HEADER_BYTES, BatchHeader, FRAME_HEADER_BYTES};
use recovery_core::observe::{Depth, StopDetail, Undecodable, Verifier, Want};
use recovery_core::storage::{Storage, StorageError};
use recovery_core::units::Length;

use super::source::{Source, WINDOW_BYTES};

/// What is wrong with the batch at `position`, whose header the file has; `None` if it is accepted.
///
/// # Errors
///
/// When the file cannot be read.
pub(super) fn fault<S: Storage>(
    source: &mut Source<'_, S>,
    position: u64,
) -> Result<Option<StopDetail>, StorageError> {
    let bytes: [u8; BATCH_HEADER_BYTES] = source.array(position)?;
    let header = match BatchHeader::decode(&bytes) {
        Ok(header) => header,
        Err(damage) => return Ok(Some(StopDetail::Undecodable(Undecodable::Header(damage)))),
    };
    let available = Length::new(source.left(position));
    if header.batch_length > available {
        return Ok(Some(StopDetail::Short { needed: header.batch_length, available }));
    }
    let mut verifier = Verifier::new();
    if let Err(fault) = verifier.begin(&header, Depth::Full) {
        return Ok(Some(fault));
    }
    // Each pass consumes bytes of the batch, so its length bounds the loop.
    loop {
        let taken = match verifier.want() {
            Err(fault) => Err(fault),
            Ok(Want::Nothing) => return Ok(verifier.finish().err()),
            Ok(Want::FrameHeader { at }) => {
                let bytes: [u8; FRAME_HEADER_BYTES] = source.array(position + at)?;
                verifier.take_frame_header(&bytes)
            }
            Ok(Want::Body { at, left }) => {
                let count = usize::try_from(left.min(WINDOW_BYTES as u64)).expect("a window");
                Ok(verifier.take_body(source.slice(position + at, count)?))
            }
        };
        if let Err(fault) = taken {
            return Ok(Some(fault));
        }
    }
}
