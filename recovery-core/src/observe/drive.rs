//! Feeds a [`Verifier`] from a window over a file, within the step's limit and a probe's allowance.

use super::StopDetail;
use super::meter::Meter;
use super::verifier::{HEADER_HASHED_BYTES_MAX, STORED_CHECKSUM_BYTES, Verifier, Want};
use super::window::{Fill, Source, Window, in_buffer};
use crate::format::{FRAME_HEADER_BYTES, FrameHeader};
use crate::storage::{Storage, StorageError};

/// Bytes between two frames that still count as one run of reading.
const NEAR_BYTES: u64 = 512;

/// How far a verification came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drive {
    /// The step's limit ended first.
    Paused,
    /// The allowance ended first.
    Exhausted,
    /// The batch verifies, with so many deltas that disagree.
    Whole(u64),
    /// It does not.
    Fault(StopDetail),
}

/// What a probe may still spend on candidates. The walk along the chain has no such limit, since the
/// extents it visits are disjoint (F58).
///
/// Both budgets are charged by what is looked at, whether or not a window shows it already: what runs out,
/// and so what is found, must not depend on the window. What is read besides is at most as much again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// Frame bytes to walk over and bytes to hash.
    work: u64,
    /// Bytes to look at.
    reads: u64,
    /// Bytes looked at without a gap until now: as many may be read ahead. `None` for no limit.
    run: Option<u64>,
}

impl Allowance {
    pub(crate) const UNLIMITED: Self = Self { work: u64::MAX, reads: u64::MAX, run: None };

    pub(crate) const fn new(work: u64, reads: u64) -> Self {
        Self { work, reads, run: Some(0) }
    }

    /// Whether this is a probe's, and not that of a walk along the chain.
    const fn is_bounded(&self) -> bool {
        self.run.is_some()
    }

    /// Takes `count` bytes of work, or all of it if there are not so many left. Charged before the work is
    /// done (F49).
    #[must_use]
    pub(crate) fn charge(&mut self, count: u64) -> bool {
        take(&mut self.work, count)
    }

    /// Takes `count` bytes to look at, which lie behind those before.
    #[must_use]
    fn look(&mut self, count: u64) -> bool {
        let is_left = take(&mut self.reads, count);
        self.run = self.run.map(|run| run + count);
        is_left
    }

    /// Bytes looked at since it was `before`.
    pub(crate) fn looked_since(&self, before: &Self) -> u64 {
        before.reads.checked_sub(self.reads).expect("what is looked at is taken off")
    }

    /// The bytes looked at next lie somewhere else.
    pub(crate) fn jump(&mut self) {
        self.run = self.run.map(|_| 0);
    }

    /// How many bytes a read that needs `need` may ask for.
    fn ahead(&self, need: u64) -> u64 {
        self.run.map_or(u64::MAX, |run| run.max(need))
    }
}

/// Takes `count` of what is left, or all of it and says no.
fn take(left: &mut u64, count: u64) -> bool {
    let is_enough = count <= *left;
    *left -= count.min(*left);
    is_enough
}

/// A verification under way: a batch at `base` of a file.
pub(crate) struct Drover<'a, 'b, S: Storage> {
    pub(crate) source: &'a Source<'b, S>,
    pub(crate) window: &'a mut Window,
    /// Position of the batch's header.
    pub(crate) base: u64,
    /// Most bytes that one read may ask for.
    pub(crate) ahead: u64,
    pub(crate) meter: &'a mut Meter,
    pub(crate) allowance: &'a mut Allowance,
}

impl<S: Storage> Drover<'_, '_, S> {
    /// Goes on until the batch is judged, the step is over, or the allowance is used up.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn drive(&mut self, verifier: &mut Verifier) -> Result<Drive, StorageError> {
        // Each pass consumes at least one byte of the batch, so its length bounds the loop.
        loop {
            let pause = match verifier.want() {
                Err(fault) => return Ok(Drive::Fault(fault)),
                Ok(Want::Nothing) => {
                    return Ok(match verifier.finish() {
                        Ok(delta_mismatches) => Drive::Whole(delta_mismatches),
                        Err(fault) => Drive::Fault(fault),
                    });
                }
                Ok(Want::FrameHeader { at }) => self.frame(verifier, self.base + at)?,
                Ok(Want::Body { at, left }) => self.body(verifier, self.base + at, left)?,
            };
            if let Some(drive) = pause {
                return Ok(drive);
            }
        }
    }

    fn frame(&mut self, verifier: &mut Verifier, position: u64) -> Result<Option<Drive>, StorageError> {
        if !self.allowance.is_bounded() {
            let taken = verifier.take_whole_frames(self.window.from(position), self.meter.left());
            if taken.consumed > 0 {
                self.meter.hash(taken.hashed);
                return Ok(None);
            }
        }
        if let Some(drive) = self.show(position, FRAME_HEADER_BYTES)? {
            return Ok(Some(drive));
        }
        if self.meter.left() < HEADER_HASHED_BYTES_MAX {
            return Ok(Some(Drive::Paused));
        }
        let mut header = [0; FRAME_HEADER_BYTES];
        header.copy_from_slice(&self.window.from(position)[..FRAME_HEADER_BYTES]);
        if self.allowance.is_bounded() {
            self.meter.walk(FRAME_HEADER_BYTES as u64);
        }
        let hashed = if verifier.hashes_bodies() { HEADER_HASHED_BYTES_MAX } else { STORED_CHECKSUM_BYTES };
        if !self.allowance.charge(FRAME_HEADER_BYTES as u64 + hashed) {
            return Ok(Some(Drive::Exhausted));
        }
        let frame = match FrameHeader::decode(&header) {
            Ok(frame) if verifier.fits(&frame) => Some(frame),
            Ok(_) | Err(_) => None,
        };
        if !self.charge_frame(frame.as_ref(), verifier.hashes_bodies()) {
            return Ok(Some(Drive::Exhausted));
        }
        let whole = match frame {
            Some(frame) if verifier.hashes_bodies() => self.show_whole(position, &frame)?.then_some(frame),
            Some(_) | None => None,
        };
        let taken = match whole {
            Some(frame) => {
                let length = in_buffer(frame.frame_length().get());
                verifier.take_frame(&frame, &self.window.from(position)[..length])
            }
            None => verifier.take_frame_header(&header),
        };
        match taken {
            Ok(taken) => {
                self.meter.hash(taken.hashed);
                Ok(None)
            }
            Err(fault) => Ok(Some(Drive::Fault(fault))),
        }
    }

    /// Charges what taking this frame looks at and hashes, all of it at once: what is left afterwards must
    /// not depend on how many pieces a window shows it in.
    fn charge_frame(&mut self, frame: Option<&FrameHeader>, hashes_body: bool) -> bool {
        let header = FRAME_HEADER_BYTES as u64;
        let Some(frame) = frame else { return self.allowance.look(header) };
        let body = frame.frame_length().get() - header;
        if hashes_body {
            self.allowance.look(header + body) && self.allowance.charge(body)
        } else if body <= NEAR_BYTES {
            self.allowance.look(header + body)
        } else {
            let is_left = self.allowance.look(header);
            self.allowance.jump();
            is_left
        }
    }

    /// Tries to have a whole frame in the window, so that it is hashed in one call.
    fn show_whole(&mut self, position: u64, frame: &FrameHeader) -> Result<bool, StorageError> {
        let length = frame.frame_length().get();
        if length > self.window.capacity() as u64 / 2 || length > self.source.length - position {
            return Ok(false);
        }
        let missing = length - length.min(self.window.from(position).len() as u64);
        let affordable = missing <= self.ahead.min(self.allowance.ahead(length))
            && missing + length + HEADER_HASHED_BYTES_MAX <= self.meter.left();
        if !affordable {
            return Ok(false);
        }
        let shown = self.show_leaving(position, in_buffer(length), length + HEADER_HASHED_BYTES_MAX)?;
        Ok(shown.is_none())
    }

    fn body(
        &mut self,
        verifier: &mut Verifier,
        position: u64,
        left: u64,
    ) -> Result<Option<Drive>, StorageError> {
        if let Some(drive) = self.show(position, 1)? {
            return Ok(Some(drive));
        }
        let shown = self.window.from(position);
        let count = (shown.len() as u64).min(left).min(self.meter.left());
        if count == 0 {
            return Ok(Some(Drive::Paused));
        }
        let taken = verifier.take_body(&shown[..in_buffer(count)]);
        self.meter.hash(taken.hashed);
        Ok(None)
    }

    fn show(&mut self, position: u64, need: usize) -> Result<Option<Drive>, StorageError> {
        // Half of the step is kept for hashing what this half reads.
        let keep = self.meter.left() / 2;
        self.show_leaving(position, need, keep)
    }

    /// Makes bytes shown while leaving `keep` bytes of the step for hashing.
    fn show_leaving(&mut self, position: u64, need: usize, keep: u64) -> Result<Option<Drive>, StorageError> {
        if self.window.covers(position, need as u64) {
            return Ok(None);
        }
        // A frame far from the last one says nothing of what lies behind it: only it is read.
        let is_near = position <= self.window.end() + NEAR_BYTES;
        let wanted = if is_near { self.allowance.ahead(need as u64) } else { need as u64 };
        let ahead = wanted.min(self.ahead).min(self.meter.left() - keep);
        let fill = self.window.ensure(self.source, position, need, ahead, self.meter)?;
        match fill {
            Fill::Ready => Ok(None),
            Fill::Paused => Ok(Some(Drive::Paused)),
        }
    }
}
