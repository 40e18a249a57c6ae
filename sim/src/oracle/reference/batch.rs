//! One batch, judged by itself: does it decode, and does every checksum match (IGGY_FORMAT sections 2 to 4).
//!
//! Promises: all of a batch is checked or it is no batch. Leaves out: whether it belongs where it lies.

use xxhash_rust::xxh3::xxh3_64;

use super::little_endian::{is_all_zero, u32_at, u64_at};

/// Bytes of a batch header.
pub(super) const HEADER_BYTES: usize = 256;
/// Bytes of a frame header; the fewest bytes that a message takes.
pub(super) const FRAME_BYTES: usize = 48;
/// The header field that holds the length of the whole batch.
const LENGTH_AT: usize = 32;
/// The header field that holds the number of messages.
const MESSAGES_AT: usize = 48;
/// Where the bytes of a header begin that are zero to its end.
const RESERVED_AT: usize = 52;

/// A batch in which every checksum matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    pub(super) partition_id: u64,
    pub(super) base_offset: u64,
    pub(super) base_timestamp: u64,
    pub(super) length: usize,
    pub(super) messages: u32,
    pub(super) checksum: u64,
}

/// Why there is no batch at a place, in the words of DESIGN section 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    Short,
    Undecodable,
    BadChecksum,
}

impl Batch {
    /// One behind the batch's last offset; `None` where no such offset exists.
    pub(super) fn next_offset(&self) -> Option<u64> {
        self.base_offset.checked_add(u64::from(self.messages))
    }
}

/// The batch that starts at `at`, or why there is none.
pub(super) fn verify(log: &[u8], at: usize) -> Result<Batch, Flaw> {
    let rest = &log[at..];
    if rest.len() < HEADER_BYTES {
        return Err(Flaw::Short);
    }
    let length = u64_at(rest, LENGTH_AT);
    if length < HEADER_BYTES as u64 || !is_all_zero(&rest[RESERVED_AT..HEADER_BYTES]) {
        return Err(Flaw::Undecodable);
    }
    if length > rest.len() as u64 {
        return Err(Flaw::Short);
    }
    let batch = Batch {
        partition_id: u64_at(rest, 0),
        base_offset: u64_at(rest, 8),
        base_timestamp: u64_at(rest, 16),
        length: usize::try_from(length).expect("the batch lies in memory"),
        messages: u32_at(rest, MESSAGES_AT),
        checksum: u64_at(rest, 40),
    };
    let bytes = &rest[..batch.length];
    if !frames_tile(bytes, batch.messages) {
        return Err(Flaw::Undecodable);
    }
    if !checksums_match(bytes, &batch) {
        return Err(Flaw::BadChecksum);
    }
    Ok(batch)
}

/// The first place from `from` on where a whole batch could start, by the cheapest things that most places
/// fail: the header's last byte is zero, and its length lies within the file.
pub(super) fn next_candidate(log: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while log.len() - at >= HEADER_BYTES {
        if log[at + HEADER_BYTES - 1] != 0 {
            // The reserved bytes are zero, so no header has this byte among them.
            at += HEADER_BYTES - RESERVED_AT;
            if at > log.len() {
                break;
            }
            continue;
        }
        let length = claimed_length(log, at);
        if length >= HEADER_BYTES as u64 && length <= (log.len() - at) as u64 {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The length that a header at `at` claims for its batch.
pub(super) fn claimed_length(log: &[u8], at: usize) -> u64 {
    u64_at(log, at + LENGTH_AT)
}

/// What it takes to look at a batch, in bytes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    /// What is gone over: all of it where its frames tile it, else the headers of as many as hold together, and of the
    /// one that does not.
    pub(super) work: u64,
    /// What is looked at at most, by those who read what lies between two headers, too.
    pub(super) look: u64,
}

/// What it takes to look at a batch at `at`, whose header passes [`next_candidate`].
pub(super) fn cost(log: &[u8], at: usize) -> Cost {
    let claimed = claimed_length(log, at);
    let messages = u32_at(log, at + MESSAGES_AT);
    let mut end = at + HEADER_BYTES;
    let mut headers = HEADER_BYTES as u64;
    for _ in 0..messages {
        // The frame at which it ends is looked at, too.
        headers += FRAME_BYTES as u64;
        let Some(length) = frame_length(log, end) else { break };
        end += length;
        if (end - at) as u64 > claimed {
            break;
        }
    }
    let gone_over = (end - at) as u64;
    if gone_over == claimed {
        return Cost { work: claimed, look: claimed };
    }
    Cost { work: headers.min(claimed), look: (gone_over + FRAME_BYTES as u64).min(claimed) }
}

/// The whole length of the frame at `at`, or `None` if it passes the end of `bytes`.
pub(super) fn frame_length(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    if rest.len() < FRAME_BYTES {
        return None;
    }
    let length = FRAME_BYTES as u64 + u64::from(u32_at(rest, 32)) + u64::from(u32_at(rest, 36));
    usize::try_from(length).ok().filter(|length| *length <= rest.len())
}

/// Whether the checksum of a whole frame matches.
pub(super) fn frame_matches(frame: &[u8]) -> bool {
    u64_at(frame, 0) == xxh3_64(&frame[8..])
}

fn frames_tile(batch: &[u8], messages: u32) -> bool {
    let mut at = HEADER_BYTES;
    for _ in 0..messages {
        let Some(length) = frame_length(batch, at) else { return false };
        if u64_at(batch, at + 40) != 0 {
            return false;
        }
        at += length;
    }
    at == batch.len()
}

fn checksums_match(bytes: &[u8], batch: &Batch) -> bool {
    let mut hashed = Vec::with_capacity(44 + 8 * batch.messages as usize);
    hashed.extend_from_slice(&bytes[..40]);
    hashed.extend_from_slice(&bytes[48..52]);
    let mut at = HEADER_BYTES;
    while at < bytes.len() {
        let length = frame_length(bytes, at).expect("the frames tile the batch");
        if !frame_matches(&bytes[at..at + length]) {
            return false;
        }
        hashed.extend_from_slice(&bytes[at..at + 8]);
        at += length;
    }
    batch.checksum == xxh3_64(&hashed)
}
