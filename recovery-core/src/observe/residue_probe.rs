//! What lies between the proven prefix and the end of the file: zeros, noise, survivors, strays?
//!
//! Promises: every byte offset is a candidate; each candidate is verified in stages, so that bait buys no
//! hashing; the work is bounded by the residue's own size, charged before it is done (F44 to F52); each
//! byte of the residue is read once in order and hashed, so that a copy can be compared with what was
//! judged; a candidate that other bytes speak against, which no copy is compared with, is looked at twice.
//! Leaves out: any ruling on what is found.

use super::candidate::find;
use super::drive::{Allowance, Drive, Drover};
use super::finds::Finds;
use super::meter::Meter;
use super::payload::{Belongs, Payload};
use super::residue_reader::ResidueReader;
use super::run_collector::{RunCollector, RunRules};
use super::verifier::{Depth, Verifier};
use super::window::{Fill, Source, Window};
use super::{Find, ResidueFacts};
use crate::format::{BATCH_HASHED_BYTES, BATCH_HEADER_BYTES, BatchHeader, FRAME_HEADER_BYTES};
use crate::storage::{Storage, StorageError};
use crate::units::{Length, Offset, PartitionId, Position};

/// Frame bytes walked over and bytes hashed that candidates may cost, for each byte of residue. An honest
/// residue costs about three at most: 48-byte frames, walked twice and hashed once.
pub const PROBE_BYTES_PER_RESIDUE_BYTE: u64 = 4;

/// Bytes that verifying candidates may look at, for each byte of residue: frame headers, what lies between
/// frames that are near each other, bodies. An honest residue costs two.
pub const PROBE_READS_PER_RESIDUE_BYTE: u64 = 8;

/// Bytes of candidates that may be looked at twice, for each byte of residue: a batch, and one torn before it.
pub const SECOND_LOOKS_PER_RESIDUE_BYTE: u64 = 2;

/// Residue bytes for each candidate that is looked at. Honest headers lie 256 bytes apart, bait as close
/// as 248 (F46), with up to twenty shifted readings of each.
pub const RESIDUE_BYTES_PER_CANDIDATE: u64 = 16;

/// Candidates that any residue may have, however short.
const CANDIDATES_MIN: u64 = 16;

const HEADER: u64 = BATCH_HEADER_BYTES as u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Looking for the next plausible header.
    Scan,
    /// Asking whether a plausible header is payload.
    Payload(Candidate),
    /// Walking its frames.
    Skeleton(Candidate),
    /// Hashing its bodies.
    Bodies(Candidate),
    /// Looking at it for the second time, from the beginning.
    Again(Candidate),
    /// Only reading on, for the checksum.
    Finish,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    position: u64,
    header: BatchHeader,
    is_second_look: bool,
}

/// A probe of one residue.
#[derive(Debug)]
pub(crate) struct ResidueProbe {
    partition: PartitionId,
    next: Offset,
    stop: u64,
    end: u64,
    /// Whether a batch that verifies at the stop itself contradicts the walk.
    stop_is_damage: bool,
    phase: Phase,
    scan: u64,
    reader: ResidueReader,
    payload: Payload,
    allowance: Allowance,
    /// What was left of it when the candidate in hand was begun with.
    allowance_before: Allowance,
    /// Bytes of candidates that may still be looked at twice. Batches that were torn claim those behind them, too.
    second_looks: u64,
    candidates: u64,
    is_exhausted: bool,
    is_contradicted: bool,
    finds: Finds,
    runs: RunCollector,
}

/// The windows and the account that a probe uses in one step.
pub(crate) struct ProbeTools<'a, 'b, S: Storage> {
    pub(crate) log: &'a Source<'b, S>,
    pub(crate) log_window: &'a mut Window,
    pub(crate) candidate_window: &'a mut Window,
    pub(crate) verifier: &'a mut Verifier,
    pub(crate) meter: &'a mut Meter,
}

impl ResidueProbe {
    /// A probe from the end of a prefix, which `rules` name, to that of the file.
    pub(crate) fn new(rules: RunRules, end: Length, stop_is_damage: bool) -> Self {
        let (partition, next, stop) = (rules.partition(), rules.next, rules.stop);
        assert!(stop.get() < end.get(), "there is a residue to probe");
        let length = end.get() - stop.get();
        let allowance = Allowance::new(
            times(length, PROBE_BYTES_PER_RESIDUE_BYTE),
            times(length, PROBE_READS_PER_RESIDUE_BYTE),
        );
        Self {
            partition,
            next,
            stop: stop.get(),
            end: end.get(),
            stop_is_damage,
            phase: Phase::Scan,
            scan: stop.get(),
            reader: ResidueReader::new(stop.get()),
            payload: Payload::behind(stop.get()),
            allowance,
            allowance_before: allowance,
            second_looks: times(length, SECOND_LOOKS_PER_RESIDUE_BYTE),
            candidates: 0,
            is_exhausted: false,
            is_contradicted: false,
            finds: Finds::default(),
            runs: RunCollector::new(rules),
        }
    }

    /// Whether a batch verifies where the walk saw damage: two readings of one place differ.
    pub(crate) fn is_contradicted(&self) -> bool {
        self.is_contradicted
    }

    /// Goes on until the probe is over (`Ready`) or the step is.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn step<S: Storage>(
        &mut self,
        tools: &mut ProbeTools<'_, '_, S>,
    ) -> Result<Fill, StorageError> {
        // Each pass that goes on moves the scan or a candidate's verification forward; both are bounded by
        // the residue and its allowance.
        loop {
            let fill = match self.phase {
                Phase::Done => return Ok(Fill::Ready),
                Phase::Scan => self.scan(tools)?,
                Phase::Payload(candidate) => self.ask_payload(candidate, tools)?,
                Phase::Skeleton(candidate) => self.verify(candidate, Depth::Skeleton, tools)?,
                Phase::Bodies(candidate) => self.verify(candidate, Depth::Full, tools)?,
                Phase::Again(candidate) => self.begin(candidate, Depth::Skeleton, tools),
                Phase::Finish => self.finish_reading(tools)?,
            };
            if fill == Fill::Paused {
                return Ok(Fill::Paused);
            }
        }
    }

    fn scan<S: Storage>(&mut self, tools: &mut ProbeTools<'_, '_, S>) -> Result<Fill, StorageError> {
        if self.end - self.scan.min(self.end) < HEADER {
            self.phase = Phase::Finish;
            return Ok(Fill::Ready);
        }
        if self.reader.read_to(self.scan, tools)? == Fill::Paused {
            return Ok(Fill::Paused);
        }
        let ahead = tools.meter.left() / 2;
        let shown = tools.log_window.ensure(tools.log, self.scan, BATCH_HEADER_BYTES, ahead, tools.meter)?;
        if shown == Fill::Paused || self.reader.hash_shown(tools) == Fill::Paused {
            return Ok(Fill::Paused);
        }
        let bytes = tools.log_window.from(self.scan);
        match find(bytes, 0, self.end - self.scan) {
            Err(index) => self.scan += index as u64,
            Ok((index, header)) => {
                let position = self.scan + index as u64;
                self.scan = position;
                self.consider(Candidate { position, header, is_second_look: false });
            }
        }
        Ok(Fill::Ready)
    }

    fn consider(&mut self, candidate: Candidate) {
        let most = (self.end - self.stop) / RESIDUE_BYTES_PER_CANDIDATE + CANDIDATES_MIN;
        if self.candidates == most {
            self.exhaust();
            return;
        }
        self.candidates += 1;
        self.phase = Phase::Payload(candidate);
    }

    fn ask_payload<S: Storage>(
        &mut self,
        candidate: Candidate,
        tools: &mut ProbeTools<'_, '_, S>,
    ) -> Result<Fill, StorageError> {
        let belongs = self.payload.ask(
            candidate.position,
            tools.log,
            tools.candidate_window,
            tools.meter,
            &mut self.allowance,
        )?;
        match belongs {
            Belongs::Paused => return Ok(Fill::Paused),
            Belongs::Exhausted => self.exhaust(),
            Belongs::ToFrame { end } => {
                self.scan = end;
                self.phase = Phase::Scan;
            }
            Belongs::ToNone => {
                self.allowance_before = self.allowance;
                return Ok(self.begin(candidate, Depth::Skeleton, tools));
            }
        }
        Ok(Fill::Ready)
    }

    fn begin<S: Storage>(
        &mut self,
        candidate: Candidate,
        depth: Depth,
        tools: &mut ProbeTools<'_, '_, S>,
    ) -> Fill {
        if tools.meter.left() < BATCH_HASHED_BYTES as u64 {
            return Fill::Paused;
        }
        if !self.allowance.charge(BATCH_HASHED_BYTES as u64) {
            self.exhaust();
            return Fill::Ready;
        }
        self.allowance.jump();
        match tools.verifier.begin(&candidate.header, depth) {
            Ok(taken) => {
                tools.meter.hash(taken.hashed);
                self.phase = match depth {
                    Depth::Skeleton => Phase::Skeleton(candidate),
                    Depth::Full => Phase::Bodies(candidate),
                };
            }
            Err(_) => self.reject(candidate),
        }
        Fill::Ready
    }

    fn verify<S: Storage>(
        &mut self,
        candidate: Candidate,
        depth: Depth,
        tools: &mut ProbeTools<'_, '_, S>,
    ) -> Result<Fill, StorageError> {
        let whole = candidate.header.batch_length.get();
        let in_log_window = tools.log_window.covers(candidate.position, whole);
        let window = if in_log_window { &mut *tools.log_window } else { &mut *tools.candidate_window };
        let mut drover = Drover {
            source: tools.log,
            window,
            base: candidate.position,
            ahead: u64::MAX,
            meter: tools.meter,
            allowance: &mut self.allowance,
        };
        match drover.drive(tools.verifier)? {
            Drive::Paused => return Ok(Fill::Paused),
            Drive::Exhausted => self.exhaust(),
            // What is in that window is what was hashed. Other bytes may be those of one wrong read.
            Drive::Fault(_) => {
                if !in_log_window {
                    tools.candidate_window.forget();
                }
                self.doubt(candidate, in_log_window);
            }
            Drive::Whole(_) if depth == Depth::Skeleton => {
                return Ok(self.begin(candidate, Depth::Full, tools));
            }
            Drive::Whole(_) => self.record(&candidate),
        }
        Ok(Fill::Ready)
    }

    /// Looks at a candidate once more before it is rejected, where that was not done, unless what `is_hashed` was seen.
    fn doubt(&mut self, candidate: Candidate, is_hashed: bool) {
        if candidate.is_second_look {
            self.reject(candidate);
            return;
        }
        // The walk has read the batch at the stop twice. What the header of a torn one claims reaches over those behind
        // it, and is looked at only as far as it holds together.
        let is_at_stop = candidate.position == self.stop;
        let looked = self.allowance.looked_since(&self.allowance_before);
        let charged = if is_at_stop { 0 } else { looked.min(candidate.header.batch_length.get()) };
        let Some(left) = self.second_looks.checked_sub(charged) else {
            // One wrong read may have hidden it, and who cannot look again does not know. What a window happens to show
            // must not matter, so that holds whether or not this one was hashed.
            self.is_exhausted = true;
            self.reject(candidate);
            return;
        };
        self.second_looks = left;
        if is_hashed {
            self.reject(candidate);
            return;
        }
        // What the first look cost is given back: it must not matter how much a window shows.
        self.allowance = self.allowance_before;
        self.phase = Phase::Again(Candidate { is_second_look: true, ..candidate });
    }

    fn reject(&mut self, candidate: Candidate) {
        self.scan = candidate.position + 1;
        self.phase = Phase::Scan;
    }

    fn exhaust(&mut self) {
        self.is_exhausted = true;
        self.phase = Phase::Finish;
    }

    fn record(&mut self, candidate: &Candidate) {
        let header = &candidate.header;
        if candidate.position == self.stop {
            self.is_contradicted |= self.stop_is_damage;
            // Only what a damaged batch held is known for payload.
            self.payload = Payload::of_nothing();
        }
        let find = Find {
            position: Position::new(candidate.position),
            partition_id: header.partition_id,
            base_offset: header.base_offset,
            message_count: header.message_count,
            batch_length: header.batch_length,
        };
        let is_survivor = self.continues(candidate);
        self.runs.take(find.position, header, is_survivor);
        match header.next_offset() {
            Some(next) if is_survivor => self.finds.survivor(find, next),
            Some(_) | None => self.finds.stray(find),
        }
        self.scan = candidate.position + header.batch_length.get();
        self.phase = Phase::Scan;
    }

    /// Whether the batch could have been appended behind what the residue's first bytes once were: the
    /// bytes skipped can hold the offsets skipped, 256 bytes a batch and 48 a message.
    fn continues(&self, candidate: &Candidate) -> bool {
        let header = &candidate.header;
        let Some(skipped) = header.base_offset.checked_since(self.next) else { return false };
        let room = candidate.position - self.stop;
        let fits = match skipped
            .checked_mul(FRAME_HEADER_BYTES as u64)
            .and_then(|bytes| bytes.checked_add(HEADER))
        {
            Some(needed) => skipped == 0 || room >= needed,
            None => false,
        };
        fits && header.partition_id == self.partition
    }

    fn finish_reading<S: Storage>(
        &mut self,
        tools: &mut ProbeTools<'_, '_, S>,
    ) -> Result<Fill, StorageError> {
        if self.reader.read_to(self.end, tools)? == Fill::Paused {
            return Ok(Fill::Paused);
        }
        self.phase = Phase::Done;
        Ok(Fill::Ready)
    }

    /// The facts, once the probe is over.
    pub(crate) fn finish(self) -> ResidueFacts {
        assert!(self.phase == Phase::Done, "a residue is judged when all of it was read");
        let (checksum, is_zero) = self.reader.finish(self.end);
        let length = self.end - self.stop;
        // Where the budget ran out, a survivor may hold any offset that the residue has room for.
        let bound = if self.is_exhausted { Some(offset_bound(self.next, length)) } else { None };
        ResidueFacts {
            kind: self.finds.kind(self.is_exhausted, is_zero),
            length: Length::new(length),
            checksum: Some(checksum),
            survivor_count: self.finds.survivor_count,
            survivors: self.finds.survivors,
            survivors_next_offset: self.finds.survivors_next.max(bound),
            runs: self.runs.finish(),
            stray_count: self.finds.stray_count,
            strays: self.finds.strays,
            candidates: self.candidates,
        }
    }
}

/// A budget for `length` bytes of a file. Lengths of files stay below 2^63, so only a budget can be capped.
fn times(length: u64, factor: u64) -> u64 {
    length.checked_mul(factor).unwrap_or(u64::MAX - 1)
}

/// One behind the largest offset a run of `bytes` could hold if it began with a batch at `next`: every
/// message takes at least a frame header. No message has the offset `u64::MAX`, so that is the most.
fn offset_bound(next: Offset, bytes: u64) -> Offset {
    match next.checked_add(bytes / FRAME_HEADER_BYTES as u64) {
        Some(bound) => bound,
        None => Offset::new(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_more_offsets_than_there_are_reaches_up_to_the_last_one() {
        let bound = |next, bytes| offset_bound(Offset::new(next), bytes).get();
        assert_eq!(bound(5, 47), 5);
        assert_eq!(bound(5, 96), 7);
        assert_eq!(bound(u64::MAX - 2, 96), u64::MAX);
        assert_eq!(bound(u64::MAX - 2, 144), u64::MAX);
        assert_eq!(bound(u64::MAX, 48), u64::MAX);
    }
}
