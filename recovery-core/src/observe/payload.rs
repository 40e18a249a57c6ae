//! The frames of a damaged batch whose messages are still whole: their bytes are payload, and a batch
//! inside a payload is no survivor (N09).
//!
//! Promises: a range is excluded only where a frame's own checksum verifies; frames start 256 bytes behind
//! the stop, whatever is left of the header; a frame that does not verify is one that two looks showed so, both
//! with the same length, or the last of three (N13). Leaves out: anything behind the first frame that passes the end of the file:
//! no length leads on from there.

use super::drive::Allowance;
use super::meter::Meter;
use super::window::{Fill, Source, Window, in_buffer};
use crate::format::{
    BATCH_HEADER_BYTES, Checksum, FRAME_HASHED_FROM, FRAME_HEADER_BYTES, FrameHeader, Hasher,
};
use crate::storage::{Storage, StorageError};

/// Looks at one frame, at most: with one wrong read among them, two of three show the same length.
const LOOKS_MAX: u8 = 3;

/// A run over the frames of a damaged batch, as far as anybody has asked.
#[derive(Debug)]
pub(crate) struct Payload {
    /// Where the next frame starts, or the open one; `None` once there is none.
    frontier: Option<u64>,
    /// The last frame whose checksum verified.
    whole: Option<(u64, u64)>,
    open: Option<OpenFrame>,
    doubt: Doubt,
}

/// What earlier looks at the frame at the frontier came to.
#[derive(Clone, Copy, Debug, Default)]
struct Doubt {
    looks: u8,
    /// The length that the last of them showed.
    length: u64,
}

#[derive(Debug)]
struct OpenFrame {
    start: u64,
    end: u64,
    at: u64,
    stored: Checksum,
    hasher: Hasher,
    /// What was left of the allowance before it was looked at.
    allowance: Allowance,
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
        let frontier = Some(stop + BATCH_HEADER_BYTES as u64);
        Self { frontier, whole: None, open: None, doubt: Doubt::default() }
    }

    /// No frames: what lies at the stop is a whole batch, and nothing of a damaged one.
    pub(crate) fn of_nothing() -> Self {
        Self { frontier: None, whole: None, open: None, doubt: Doubt::default() }
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
                self.close_if_ended(window, allowance);
                continue;
            }
            if let Some((_, end)) = self.whole.filter(|(start, end)| *start <= position && position < *end) {
                return Ok(Belongs::ToFrame { end });
            }
            match self.frontier {
                Some(frontier) if frontier <= position => {
                    if !self.open_at(frontier, source, window, meter, allowance)? {
                        return Ok(Belongs::Paused);
                    }
                }
                Some(_) | None => return Ok(Belongs::ToNone),
            }
        }
    }

    /// Opens the frame at the frontier, doubts it, or ends the run. False if the step's limit ended first.
    fn open_at<S: Storage>(
        &mut self,
        start: u64,
        source: &Source<'_, S>,
        window: &mut Window,
        meter: &mut Meter,
        allowance: &Allowance,
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
            let (stored, hasher) = (frame.checksum, Hasher::new());
            self.open = Some(OpenFrame { start, end, at, stored, hasher, allowance: *allowance });
        } else if self.is_believed(length, window) {
            self.frontier = None;
        }
        Ok(true)
    }

    fn close_if_ended(&mut self, window: &mut Window, allowance: &mut Allowance) {
        let Some(open) = self.open.take_if(|open| open.at == open.end) else { return };
        if open.hasher.finish() == open.stored {
            self.whole = Some((open.start, open.end));
        } else if !self.is_believed(open.end - open.start, window) {
            // Looking again costs nothing: it must not matter that a read went wrong.
            *allowance = open.allowance;
            return;
        }
        self.frontier = Some(open.end);
        self.doubt = Doubt::default();
    }

    /// Whether a frame of this length that does not verify is taken for damaged. Otherwise storage is asked again.
    fn is_believed(&mut self, length: u64, window: &mut Window) -> bool {
        let before = self.doubt;
        if (before.looks > 0 && before.length == length) || before.looks + 1 == LOOKS_MAX {
            return true;
        }
        self.doubt = Doubt { looks: before.looks + 1, length };
        window.forget();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths that looks at one frame showed; which look is believed.
    #[track_caller]
    fn check(lengths: &[u64], believed: usize) {
        let mut payload = Payload::behind(0);
        let mut window = Window::new(512);
        let first = lengths.iter().position(|length| payload.is_believed(*length, &mut window));
        assert_eq!(first, Some(believed - 1), "{lengths:?}");
    }

    #[test]
    fn two_looks_in_a_row_that_show_the_same_are_believed_and_so_is_the_third() {
        check(&[60, 60], 2);
        check(&[60, 70, 70], 3);
        check(&[60, 70, 60], 3);
        check(&[60, 70, 80], 3);
    }

    #[test]
    fn a_frame_that_does_not_verify_is_doubted_by_its_own_length_and_the_look_costs_nothing() {
        let mut payload = Payload::behind(0);
        let before = Allowance::new(1_000, 1_000);
        let mut allowance = Allowance::new(900, 1_000);
        let hasher = Hasher::new();
        let stored = Checksum::new(hasher.finish().get() ^ 1);
        payload.open = Some(OpenFrame { start: 256, end: 356, at: 356, stored, hasher, allowance: before });
        payload.close_if_ended(&mut Window::new(512), &mut allowance);
        assert_eq!((payload.doubt.looks, payload.doubt.length), (1, 100));
        assert_eq!(payload.frontier, Some(256), "it is looked at again");
        assert_eq!(allowance, before);
    }
}
