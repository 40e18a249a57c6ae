//! The frames of a damaged batch whose messages are still whole: their bytes are payload, and a batch
//! inside a payload is no survivor (N09).
//!
//! Promises: a range is excluded only where a frame's own checksum verifies; frames start 256 bytes behind
//! the stop, whatever is left of the header. Leaves out: anything behind the first frame that
//! passes the end of the file: no length leads on from there.

use super::drive::Allowance;
use super::meter::Meter;
use super::window::{Fill, Source, Window, in_buffer};
use crate::format::{
    BATCH_HEADER_BYTES, Checksum, FRAME_HASHED_FROM, FRAME_HEADER_BYTES, FrameHeader, Hasher,
};
use crate::storage::{Storage, StorageError};

/// A run over the frames of a damaged batch, as far as anybody has asked.
#[derive(Debug)]
pub(crate) struct Payload {
    /// Where the next frame would start; `None` once there is none.
    frontier: Option<u64>,
    /// The last frame whose checksum verified.
    whole: Option<(u64, u64)>,
    open: Option<OpenFrame>,
}

#[derive(Debug)]
struct OpenFrame {
    start: u64,
    end: u64,
    at: u64,
    stored: Checksum,
    hasher: Hasher,
}

/// What a position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belongs {
    /// Part of a whole frame that ends at this position.
    ToFrame {
        /// One behind the frame.
        end: u64,
    },
    /// Part of none.
    ToNone,
    /// The step's limit ended first.
    Paused,
    /// The allowance ended first.
    Exhausted,
}

impl Payload {
    /// The frames of the batch that is damaged at `stop`.
    pub(crate) fn behind(stop: u64) -> Self {
        Self { frontier: Some(stop + BATCH_HEADER_BYTES as u64), whole: None, open: None }
    }

    /// Asks about `position`. Positions must not descend.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn ask<S: Storage>(
        &mut self,
        position: u64,
        source: &Source<'_, S>,
        window: &mut Window,
        meter: &mut Meter,
        allowance: &mut Allowance,
    ) -> Result<Belongs, StorageError> {
        // Each pass that goes on moves the frontier or the open frame forward.
        loop {
            if let Some(open) = &mut self.open {
                if meter.left() < 2 {
                    return Ok(Belongs::Paused);
                }
                // No more is read than the frame has: the window is shared with the candidates.
                let ahead = (meter.left() / 2).min(open.end - open.at);
                if window.ensure(source, open.at, 1, ahead, meter)? == Fill::Paused {
                    return Ok(Belongs::Paused);
                }
                let shown = window.from(open.at);
                let count = (shown.len() as u64).min(open.end - open.at).min(meter.left());
                if count == 0 {
                    return Ok(Belongs::Paused);
                }
                if !allowance.charge(count) {
                    return Ok(Belongs::Exhausted);
                }
                open.hasher.update(&shown[..in_buffer(count)]);
                meter.hash(count);
                open.at += count;
                self.close_if_ended();
                continue;
            }
            if let Some((_, end)) = self.whole.filter(|(start, end)| *start <= position && position < *end) {
                return Ok(Belongs::ToFrame { end });
            }
            match self.frontier {
                Some(frontier) if frontier <= position => {
                    if !self.open_at(frontier, source, window, meter)? {
                        return Ok(Belongs::Paused);
                    }
                }
                Some(_) | None => return Ok(Belongs::ToNone),
            }
        }
    }

    /// Opens the frame at the frontier, or ends the run. False if the step's limit ended first.
    fn open_at<S: Storage>(
        &mut self,
        start: u64,
        source: &Source<'_, S>,
        window: &mut Window,
        meter: &mut Meter,
    ) -> Result<bool, StorageError> {
        let left = source.length - start.min(source.length);
        if left < FRAME_HEADER_BYTES as u64 {
            self.frontier = None;
            return Ok(true);
        }
        let need = FRAME_HEADER_BYTES;
        if window.ensure(source, start, need, need as u64, meter)? == Fill::Paused {
            return Ok(false);
        }
        let mut bytes = [0; FRAME_HEADER_BYTES];
        bytes.copy_from_slice(&window.from(start)[..FRAME_HEADER_BYTES]);
        // A frame whose reserved bytes are damaged is not whole, but it still leads to the one behind it.
        let frame = FrameHeader::read(&bytes);
        let length = frame.frame_length().get();
        if length <= left {
            let end = start + length;
            let at = start + FRAME_HASHED_FROM as u64;
            self.open = Some(OpenFrame { start, end, at, stored: frame.checksum, hasher: Hasher::new() });
            self.frontier = Some(end);
        } else {
            self.frontier = None;
        }
        Ok(true)
    }

    fn close_if_ended(&mut self) {
        let Some(open) = &self.open else { return };
        if open.at == open.end {
            if open.hasher.finish() == open.stored {
                self.whole = Some((open.start, open.end));
            }
            self.open = None;
        }
    }
}
