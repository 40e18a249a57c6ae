//! How a host's work is cut into slices, and which partition has the next one.
//!
//! Promises: both are functions of the schedule. Leaves out: the work.

use recovery_core::observe::Progress;

use crate::schedule::Schedule;

/// Slices after which something that should come to an end is given up; the longest takes a few hundred.
pub(super) const SLICES_MAX: u32 = 10_000;

/// Bytes of a slice of a host's work, at least: small, so that partitions take turns often.
const SLICE_BYTES: u64 = 4096;

/// Bytes of a slice of a host's work.
pub(super) fn slice_bytes(schedule: &Schedule) -> u64 {
    u64::from(schedule.world.window_bytes).clamp(SLICE_BYTES, 16 * SLICE_BYTES)
}

/// Goes on until it is done; says whether it came to an end.
pub(super) fn to_the_end(mut slice: impl FnMut() -> Progress) -> bool {
    (0..SLICES_MAX).any(|_| slice() == Progress::Done)
}

/// Which of `count` goes on next, by a word of the schedule's: its step, and the turn.
pub(super) fn turn(step: u32, turn: u32, count: usize) -> usize {
    let word = (u64::from(step) << 32 | u64::from(turn)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    usize::try_from(word % count as u64).expect("a remainder fits")
}
