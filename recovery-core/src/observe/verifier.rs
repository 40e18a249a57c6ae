//! The one acceptor of batches: recovery's walk and probe, the reader, transfer and the tool all ask it.
//!
//! Promises: the same answer however the bytes are cut into pieces; memory of constant size; structure
//! outranks checksums, so a batch whose frames do not tile is undecodable even if an earlier message
//! checksum fails. Leaves out: whether the batch belongs where it lies ([`super::misplacement`]).

use crate::format::{
    BATCH_HASHED_BYTES, BATCH_HEADER_BYTES, BatchHeader, Checksum, FRAME_HASHED_FROM, FRAME_HEADER_BYTES,
    FrameHeader, Hasher,
};

use super::window::in_buffer;
use super::{BadChecksum, StopDetail, Undecodable};

/// What a verification hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Frame headers, and the batch checksum over their stored checksums: cheap, and enough to reject
    /// almost everything that is no batch (staged verification, DESIGN section 5).
    Skeleton,
    /// Every byte.
    Full,
}

/// What a verification needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The 48 bytes of a frame header at this distance from the batch's first byte.
    FrameHeader {
        /// The distance.
        at: u64,
    },
    /// Bytes of a frame's body, as many as are at hand, at most `left`.
    Body {
        /// The distance.
        at: u64,
        /// Bytes until the frame ends.
        left: u64,
    },
    /// Nothing: ask [`Verifier::finish`].
    Nothing,
}

/// Verifies one batch, piece by piece.
#[derive(Clone, Debug)]
pub struct Verifier {
    header: BatchHeader,
    depth: Depth,
    /// Over the header fields, then each frame's stored checksum.
    batch: Hasher,
    message: Hasher,
    /// Distance of the next byte wanted from the batch's first byte.
    at: u64,
    frames: u32,
    frame: Option<OpenFrame>,
    fault: Option<BadChecksum>,
    delta_mismatches: u64,
}

#[derive(Clone, Copy, Debug)]
struct OpenFrame {
    stored: Checksum,
    end: u64,
}

/// Bytes that a piece cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Bytes consumed: the verification never wants them again.
    pub consumed: u64,
    /// Bytes given to a hash.
    pub hashed: u64,
}

/// Bytes of a stored checksum, as it enters the batch checksum.
pub(crate) const STORED_CHECKSUM_BYTES: u64 = 8;

/// Bytes of stored checksums that are given to the batch's hash at once.
const GATHERED_BYTES: usize = 32 * FRAME_HASHED_FROM;

/// The most bytes that one call hashes beyond the body bytes it is given: a frame header without its
/// checksum, and the checksum into the batch's.
pub const HEADER_HASHED_BYTES_MAX: u64 =
    (FRAME_HEADER_BYTES - FRAME_HASHED_FROM) as u64 + STORED_CHECKSUM_BYTES;

impl Verifier {
    /// A verifier to be used again and again through [`Verifier::begin`].
    ///
    /// # Examples
    ///
    /// ```
    /// use recovery_core::format::{BATCH_HEADER_BYTES, BatchBuilder, BatchHeader, FRAME_HEADER_BYTES, Message};
    /// use recovery_core::observe::{BadChecksum, Depth, StopDetail, Verifier, Want};
    ///
    /// /// How many messages have a delta that disagrees with their place, or what is wrong with the batch.
    /// fn verify(verifier: &mut Verifier, batch: &[u8]) -> Result<u64, StopDetail> {
    ///     let header = BatchHeader::read(batch.first_chunk().expect("a whole header"));
    ///     verifier.begin(&header, Depth::Full)?;
    ///     // Distances are in bytes from the first byte of the batch.
    ///     let part = |at: u64, length: u64| &batch[at as usize..(at + length) as usize];
    ///     loop {
    ///         match verifier.want()? {
    ///             Want::FrameHeader { at } => {
    ///                 let frame = part(at, FRAME_HEADER_BYTES as u64).first_chunk().expect("a whole frame header");
    ///                 verifier.take_frame_header(frame)?;
    ///             }
    ///             // Any number of bytes will do: here one at a time.
    ///             Want::Body { at, .. } => drop(verifier.take_body(part(at, 1))),
    ///             Want::Nothing => return verifier.finish(),
    ///         }
    ///     }
    /// }
    ///
    /// let mut batch = Vec::new();
    /// let mut builder = BatchBuilder::begin(&mut batch, 1);
    /// builder.push(&Message { payload: b"hello", ..Message::default() })?;
    /// builder.finish();
    /// let mut verifier = Verifier::new();
    /// assert_eq!(verify(&mut verifier, &batch), Ok(0));
    /// *batch.last_mut().expect("it has bytes") ^= 1;
    /// let stop = verify(&mut verifier, &batch).expect_err("the payload is another one");
    /// assert!(matches!(stop, StopDetail::BadChecksum(BadChecksum::Message { index: 0, .. })));
    /// # assert!(batch.len() > BATCH_HEADER_BYTES);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        let header = BatchHeader::read(&[0; BATCH_HEADER_BYTES]);
        Self {
            header,
            depth: Depth::Full,
            batch: Hasher::new(),
            message: Hasher::new(),
            at: 0,
            frames: 0,
            frame: None,
            fault: None,
            delta_mismatches: 0,
        }
    }

    /// Begins a batch behind its decoded header. Hashes [`BATCH_HASHED_BYTES`].
    ///
    /// # Errors
    ///
    /// When the claimed count cannot fit the claimed length.
    pub fn begin(&mut self, header: &BatchHeader, depth: Depth) -> Result<Taken, StopDetail> {
        if !header.count_fits_blob() {
            let claimed = header.message_count;
            return Err(StopDetail::Undecodable(Undecodable::Count { claimed }));
        }
        self.header = *header;
        self.depth = depth;
        self.batch.reset();
        self.batch.update(&header.hashed_fields());
        self.at = BATCH_HEADER_BYTES as u64;
        self.frames = 0;
        self.frame = None;
        self.fault = None;
        self.delta_mismatches = 0;
        Ok(Taken { consumed: BATCH_HEADER_BYTES as u64, hashed: BATCH_HASHED_BYTES as u64 })
    }

    /// The header it verifies.
    pub fn header(&self) -> &BatchHeader {
        &self.header
    }

    /// What it needs next.
    ///
    /// # Errors
    ///
    /// When the batch goes on behind its last frame, or has no room for the header of the next one.
    #[inline]
    pub fn want(&self) -> Result<Want, StopDetail> {
        if let Some(frame) = self.frame {
            return Ok(Want::Body { at: self.at, left: frame.end - self.at });
        }
        let left = self.header.batch_length.get() - self.at;
        if left == 0 {
            Ok(Want::Nothing)
        } else if self.frames == self.header.message_count {
            Err(self.tiling())
        } else if left < FRAME_HEADER_BYTES as u64 {
            Err(self.bad_frame())
        } else {
            Ok(Want::FrameHeader { at: self.at })
        }
    }

    /// Whether the batch has room for all of this frame where the next one starts.
    #[inline]
    pub(crate) fn fits(&self, frame: &FrameHeader) -> bool {
        frame.frame_length().get() <= self.header.batch_length.get() - self.at
    }

    /// Takes the frame header that [`Want::FrameHeader`] asked for.
    ///
    /// # Errors
    ///
    /// When the frame does not fit the batch, or has a reserved field that is not zero.
    #[inline]
    pub fn take_frame_header(&mut self, bytes: &[u8; FRAME_HEADER_BYTES]) -> Result<Taken, StopDetail> {
        assert!(self.frame.is_none(), "a frame header follows a whole frame");
        let frame = FrameHeader::decode(bytes).map_err(|_| self.bad_frame())?;
        let left = self.header.batch_length.get() - self.at;
        let length = frame.frame_length().get();
        if length > left {
            return Err(self.bad_frame());
        }
        self.batch.update(&bytes[..FRAME_HASHED_FROM]);
        if frame.offset_delta != self.frames {
            self.delta_mismatches += 1;
        }
        let end = self.at + length;
        let with_body = self.hashes_bodies();
        if with_body {
            self.message.reset();
            self.message.update(&bytes[FRAME_HASHED_FROM..]);
        }
        self.frame = Some(OpenFrame { stored: frame.checksum, end });
        self.at = if with_body { self.at + FRAME_HEADER_BYTES as u64 } else { end };
        self.close_if_ended(None);
        let hashed = if with_body { HEADER_HASHED_BYTES_MAX } else { STORED_CHECKSUM_BYTES };
        Ok(Taken { consumed: FRAME_HEADER_BYTES as u64, hashed })
    }

    /// Takes a whole frame at once, header and body: the fast way when all of it is at hand.
    ///
    /// # Errors
    ///
    /// As [`Verifier::take_frame_header`].
    #[inline]
    pub fn take_frame(&mut self, frame: &FrameHeader, bytes: &[u8]) -> Result<Taken, StopDetail> {
        assert!(self.frame.is_none(), "a frame follows a whole frame");
        assert!(bytes.len() as u64 == frame.frame_length().get(), "the whole frame is at hand");
        if bytes.len() as u64 > self.header.batch_length.get() - self.at {
            return Err(self.bad_frame());
        }
        self.batch.update(&bytes[..FRAME_HASHED_FROM]);
        if frame.offset_delta != self.frames {
            self.delta_mismatches += 1;
        }
        self.at += bytes.len() as u64;
        self.frame = Some(OpenFrame { stored: frame.checksum, end: self.at });
        let mut hashed = STORED_CHECKSUM_BYTES;
        if self.hashes_bodies() {
            hashed += (bytes.len() - FRAME_HASHED_FROM) as u64;
            self.close_if_ended(Some(Checksum::of(&bytes[FRAME_HASHED_FROM..])));
        } else {
            self.close_if_ended(None);
        }
        Ok(Taken { consumed: bytes.len() as u64, hashed })
    }

    /// Takes as many frames as lie whole at the front of `bytes` and give a hash at most `limit` bytes: the
    /// fast way through a log. It ends before a frame that is wrong in its structure, and behind one that is
    /// wrong in its checksum; what is wrong is for the other ways to say.
    #[inline]
    pub(crate) fn take_whole_frames(&mut self, bytes: &[u8], limit: u64) -> Taken {
        assert!(self.frame.is_none(), "a frame follows a whole frame");
        let mut taken = Taken { consumed: 0, hashed: 0 };
        let mut stored = [0; GATHERED_BYTES];
        let mut gathered = 0;
        let mut rest = bytes;
        // Each pass takes a frame of at least a header, so the bytes bound the loop.
        while self.hashes_bodies() && self.frames < self.header.message_count {
            let Some(header) = rest.first_chunk() else { break };
            let Ok(frame) = FrameHeader::decode(header) else { break };
            let length = frame.frame_length().get();
            let hashed = length - FRAME_HASHED_FROM as u64 + STORED_CHECKSUM_BYTES;
            if length > rest.len() as u64 || !self.fits(&frame) || hashed > limit - taken.hashed {
                break;
            }
            let (whole, behind) = rest.split_at(in_buffer(length));
            if gathered == stored.len() {
                self.batch.update(&stored);
                gathered = 0;
            }
            stored[gathered..gathered + FRAME_HASHED_FROM].copy_from_slice(&whole[..FRAME_HASHED_FROM]);
            gathered += FRAME_HASHED_FROM;
            self.delta_mismatches += u64::from(frame.offset_delta != self.frames);
            self.at += length;
            self.frame = Some(OpenFrame { stored: frame.checksum, end: self.at });
            self.close_if_ended(Some(Checksum::of(&whole[FRAME_HASHED_FROM..])));
            taken.consumed += length;
            taken.hashed += hashed;
            rest = behind;
        }
        self.batch.update(&stored[..gathered]);
        taken
    }

    /// Takes bytes of the body that [`Want::Body`] asked for.
    #[inline]
    pub fn take_body(&mut self, bytes: &[u8]) -> Taken {
        let frame = self.frame.expect("a body belongs to an open frame");
        assert!(bytes.len() as u64 <= frame.end - self.at, "a body ends with its frame");
        self.message.update(bytes);
        self.at += bytes.len() as u64;
        self.close_if_ended(None);
        Taken { consumed: bytes.len() as u64, hashed: bytes.len() as u64 }
    }

    /// The answer, once nothing more is wanted: the messages whose stored delta disagrees with their place.
    ///
    /// # Errors
    ///
    /// What is wrong with the batch.
    pub fn finish(&self) -> Result<u64, StopDetail> {
        assert!(self.frame.is_none(), "a batch is judged behind its last frame");
        assert!(self.at == self.header.batch_length.get(), "a batch is judged when all of it was seen");
        if self.frames != self.header.message_count {
            return Err(self.tiling());
        }
        if let Some(fault) = self.fault {
            return Err(StopDetail::BadChecksum(fault));
        }
        let actual = self.batch.finish();
        let stored = self.header.batch_checksum;
        if actual != stored {
            return Err(StopDetail::BadChecksum(BadChecksum::Batch { stored, actual }));
        }
        Ok(self.delta_mismatches)
    }

    /// Whether bodies are hashed: not in a skeleton, and not behind a checksum that already failed, where
    /// only the structure is still looked at.
    pub(crate) fn hashes_bodies(&self) -> bool {
        self.depth == Depth::Full && self.fault.is_none()
    }

    fn close_if_ended(&mut self, whole: Option<Checksum>) {
        let Some(frame) = self.frame else { return };
        if self.at < frame.end {
            return;
        }
        if self.hashes_bodies() {
            let actual = whole.unwrap_or_else(|| self.message.finish());
            if actual != frame.stored {
                let (index, stored) = (self.frames, frame.stored);
                self.fault = Some(BadChecksum::Message { index, stored, actual });
            }
        }
        self.frames += 1;
        self.frame = None;
    }

    fn bad_frame(&self) -> StopDetail {
        StopDetail::Undecodable(Undecodable::Frame { index: self.frames })
    }

    fn tiling(&self) -> StopDetail {
        let (claimed, found) = (self.header.message_count, self.frames);
        StopDetail::Undecodable(Undecodable::Tiling { claimed, found })
    }
}

impl Default for Verifier {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{BatchBuilder, Message};

    /// A verifier behind the header of a batch with these payloads, and the frames.
    fn begun(payloads: &[&[u8]], depth: Depth, change: impl FnOnce(&mut BatchHeader)) -> (Verifier, Vec<u8>) {
        let mut bytes = Vec::new();
        let mut builder = BatchBuilder::begin(&mut bytes, 1);
        for payload in payloads {
            builder.push(&Message { payload, ..Message::default() }).expect("a test's batch is small");
        }
        let mut header = builder.finish();
        change(&mut header);
        let mut verifier = Verifier::new();
        verifier.begin(&header, depth).expect("the count fits");
        (verifier, bytes.split_off(BATCH_HEADER_BYTES))
    }

    /// Two frames of 50 and 53 bytes, so many bytes of them and of those behind, and what is taken of that.
    #[track_caller]
    fn check(shown: usize, limit: u64, consumed: u64) {
        let (mut verifier, mut bytes) = begun(&[b"ab", b"cdefg"], Depth::Full, |_| {});
        bytes.extend([0; 100]);
        // A frame's bytes are hashed once: its checksum enters that of the batch, and the others that of the message.
        assert_eq!(verifier.take_whole_frames(&bytes[..shown], limit), Taken { consumed, hashed: consumed });
    }

    #[test]
    fn all_frames_that_are_shown_whole_are_taken() {
        check(203, 1000, 103);
        check(103, 1000, 103);
        check(102, 1000, 50);
        check(50, 1000, 50);
        check(49, 1000, 0);
        check(0, 1000, 0);
    }

    #[test]
    fn the_limit_is_used_up_to_its_last_byte_and_never_passed() {
        check(203, 103, 103);
        check(203, 102, 50);
        check(203, 50, 50);
        check(203, 49, 0);
    }

    #[test]
    fn what_was_taken_is_judged_as_frame_by_frame() {
        let (mut verifier, bytes) = begun(&[b"ab", b"cdefg"], Depth::Full, |_| {});
        verifier.take_whole_frames(&bytes, 1000);
        assert_eq!(verifier.want(), Ok(Want::Nothing));
        assert_eq!(verifier.finish(), Ok(0));
    }

    #[test]
    fn a_delta_that_disagrees_with_its_place_is_counted() {
        let (mut verifier, mut bytes) = begun(&[b"", b""], Depth::Full, |_| {});
        for (frame, delta) in bytes.chunks_exact_mut(FRAME_HEADER_BYTES).zip([4, 5]) {
            frame[24] = delta;
            let checksum = Checksum::of(&frame[FRAME_HASHED_FROM..]);
            frame[..FRAME_HASHED_FROM].copy_from_slice(&checksum.get().to_le_bytes());
        }
        verifier.take_whole_frames(&bytes, 1000);
        assert_eq!(verifier.delta_mismatches, 2);
    }

    #[test]
    fn no_frame_is_taken_that_the_batch_has_no_room_for_or_does_not_count() {
        let (mut verifier, bytes) = begun(&[b"ab", b"cdefg"], Depth::Full, |header| {
            header.batch_length = crate::units::Length::new(header.batch_length.get() - 1);
        });
        assert_eq!(verifier.take_whole_frames(&bytes, 1000).consumed, 50);
        let (mut verifier, bytes) = begun(&[b"ab", b"cdefg"], Depth::Full, |header| header.message_count = 1);
        assert_eq!(verifier.take_whole_frames(&bytes, 1000).consumed, 50);
    }

    #[test]
    fn a_skeleton_and_what_lies_behind_a_damaged_message_go_the_other_way() {
        let (mut verifier, bytes) = begun(&[b"ab", b"cdefg"], Depth::Skeleton, |_| {});
        assert_eq!(verifier.take_whole_frames(&bytes, 1000), Taken { consumed: 0, hashed: 0 });
        let (mut verifier, mut bytes) = begun(&[b"ab", b"cdefg"], Depth::Full, |_| {});
        bytes[FRAME_HEADER_BYTES] ^= 1;
        assert_eq!(verifier.take_whole_frames(&bytes, 1000), Taken { consumed: 50, hashed: 50 });
    }
}
