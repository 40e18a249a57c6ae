//! Makes the batches that a schedule names: the same step gives the same bytes, always.

use recovery_core::format::{BatchBuilder, Message};

use crate::schedule::{Append, BatchId};

/// Microseconds since the Unix epoch at which every world begins.
const EPOCH_MICROSECONDS: u64 = 1_700_000_000_000_000;

/// The time of a step: one millisecond each.
pub(super) fn time_of(step: u32) -> u64 {
    EPOCH_MICROSECONDS + u64::from(step) * 1000
}

/// Encodes one batch of an append in producer form, replacing what `bytes` held.
pub(super) fn produce(
    append: &Append,
    batch: BatchId,
    time: u64,
    bytes: &mut Vec<u8>,
    payload: &mut Vec<u8>,
) {
    bytes.clear();
    let mut builder = BatchBuilder::begin(bytes, time);
    for index in 0..append.messages {
        fill(append.content, batch, index, append.payload_bytes, payload);
        let id = (u128::from(batch.0) << 32 | u128::from(index)) + 1;
        let message = Message { id, timestamp_delta: index, payload, user_headers: &[] };
        builder.push(&message).expect("a schedule's batches lie below the ceiling");
    }
    builder.finish();
}

/// Bytes of the word that a payload repeats.
const WORD_BYTES: usize = 12;

/// Fills a payload: a word of letters that names its batch and message, again and again, so that a
/// person who sees a hex dump knows where the bytes came from.
fn fill(content: u64, batch: BatchId, index: u32, length: u32, payload: &mut Vec<u8>) {
    let mut state = content ^ (u64::from(batch.0) << 32) ^ u64::from(index) ^ 0x9e37_79b9_7f4a_7c15;
    let mut word = [0; WORD_BYTES];
    for letter in &mut word {
        // A multiplicative step of a linear congruential generator; its high bits are what is used.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *letter = b'a' + ((state >> 33) % 26) as u8;
    }
    payload.clear();
    while payload.len() < length as usize {
        payload.extend_from_slice(&word);
    }
    payload.truncate(length as usize);
}
