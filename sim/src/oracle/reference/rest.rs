//! What lies between the proven prefix of a log and its end (DESIGN section 5).
//!
//! Promises: every byte offset at which a batch could start is tried, and nothing is tried inside what is known to be payload.
//! Leaves out: budgets. The reference has none, and so never answers "unproven".

use std::ops::Range;

use recovery_core::observe::Residue;

use super::batch::{
    Batch, FRAME_BYTES, HEADER_BYTES, cost, frame_length, frame_matches, next_candidate, verify,
};
use super::little_endian::is_all_zero;
use super::walk::CEILING_BYTES;

/// Places where a batch could start that no budget is too small for.
const HONEST_CANDIDATES: u32 = 16;

/// What a residue holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    /// Its kind.
    pub(super) kind: Residue,
    /// Its length in bytes.
    pub(super) length: u64,
    /// Offsets of each survivor in it: its first, and one behind its last.
    pub(super) survivors: Vec<(u64, u64)>,
    /// Whether places where a batch could start are many, or take more to look at than there are bytes, once or where
    /// they fail once more: only then can a budget for that run out, even if one read goes wrong.
    pub(super) has_bait: bool,
    /// Runs of batches that a loss, once accepted, carries over.
    pub(super) runs: Vec<Run>,
}

/// Batches that follow each other in bytes and offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Position of the first.
    pub(super) position: usize,
    end: usize,
    /// First offset.
    pub(super) first: u64,
    /// One behind the last.
    pub(super) next: u64,
}

/// The chain that a survivor would continue.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    pub(super) partition_id: u64,
    pub(super) next_offset: u64,
    /// Offsets that are another segment's, or recorded as nobody's: `[first, next)`.
    pub(super) barred: Vec<(u64, u64)>,
}

/// Looks at everything from `stop` to the end of the log.
pub(super) fn look(log: &[u8], stop: usize, chain: &Chain) -> Rest {
    let bytes = &log[stop..];
    let (kind, length) = (Residue::None, bytes.len() as u64);
    let mut rest = Rest { kind, length, survivors: Vec::new(), has_bait: false, runs: Vec::new() };
    if bytes.is_empty() {
        return rest;
    }
    if is_all_zero(bytes) {
        rest.kind = Residue::Zeros;
        return rest;
    }
    rest.kind = Residue::Noise;
    let mut payloads = known_payloads(log, stop).into_iter().peekable();
    let mut from = stop;
    let (mut candidates, mut work, mut again) = (0, 0, 0);
    while let Some(at) = next_candidate(log, from) {
        while payloads.peek().is_some_and(|payload| payload.end <= at) {
            payloads.next();
        }
        if let Some(payload) = payloads.peek().filter(|payload| payload.contains(&at)) {
            from = payload.end;
            continue;
        }
        candidates += 1;
        let cost = cost(log, at);
        let verified = verify(log, at);
        work += cost.work;
        // What fails is looked at twice, but for the batch at the stop: the walk has seen that one already.
        again += if verified.is_err() && at > stop { cost.look } else { 0 };
        rest.has_bait = candidates > HONEST_CANDIDATES || work.max(again) > bytes.len() as u64;
        let Ok(batch) = verified else {
            from = at + 1;
            continue;
        };
        let survivor = survivor_next_offset(&batch, (at - stop) as u64, chain);
        gather(&mut rest.runs, &batch, at, chain, survivor.is_some() || at == stop);
        match survivor {
            Some(next_offset) => {
                rest.kind = Residue::Survivor;
                rest.survivors.push((batch.base_offset, next_offset));
            }
            None if rest.kind == Residue::Noise => rest.kind = Residue::Stray,
            None => {}
        }
        from = at + batch.length;
    }
    rest
}

/// Adds a batch to the runs, if it holds offsets of its own behind all before it.
fn gather(runs: &mut Vec<Run>, batch: &Batch, at: usize, chain: &Chain, is_admitted: bool) {
    let Some(next) = batch.next_offset() else { return };
    let behind = runs.last().map_or(chain.next_offset, |run| run.next);
    let first = batch.base_offset;
    let is_barred = chain.barred.iter().any(|(from, to)| *from < next && first < *to);
    if batch.partition_id != chain.partition_id
        || batch.length as u64 > CEILING_BYTES
        || first < behind
        || is_barred
    {
        return;
    }
    match runs.last_mut() {
        Some(run) if run.end == at && run.next == first => (run.end, run.next) = (at + batch.length, next),
        Some(_) | None if is_admitted && batch.messages > 0 => {
            runs.push(Run { position: at, end: at + batch.length, first, next });
        }
        Some(_) | None => {}
    }
}

/// One behind the last offset of a batch that continues the chain; `None` if the batch is a stray.
fn survivor_next_offset(batch: &Batch, skipped_bytes: u64, chain: &Chain) -> Option<u64> {
    if batch.partition_id != chain.partition_id {
        return None;
    }
    let skipped_offsets = batch.base_offset.checked_sub(chain.next_offset)?;
    let needed_bytes = if skipped_offsets == 0 {
        0
    } else {
        HEADER_BYTES as u128 + FRAME_BYTES as u128 * u128::from(skipped_offsets)
    };
    if u128::from(skipped_bytes) < needed_bytes {
        return None;
    }
    // A batch behind which no offset is left continues nothing.
    batch.next_offset()
}

/// The whole frames of the damaged batch at `stop` whose checksum matches, ascending: their bytes are
/// payload, whatever they look like.
fn known_payloads(log: &[u8], stop: usize) -> Vec<Range<usize>> {
    let mut payloads = Vec::new();
    if verify(log, stop).is_ok() {
        return payloads;
    }
    let mut at = stop + HEADER_BYTES;
    // A frame that is damaged, but whose length still leads to the next one, hides nothing behind it.
    while at < log.len() {
        let Some(length) = frame_length(log, at) else { break };
        let frame = at..at + length;
        if frame_matches(&log[frame.clone()]) {
            payloads.push(frame);
        }
        at += length;
    }
    payloads
}
