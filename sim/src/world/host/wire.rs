//! What goes wrong with bytes on their way from a peer: the schedule says with which of the reads that a transfer asks
//! the peer for.
//!
//! Promises: both disks and what either host knows of its own are as they were; only what comes is another thing than
//! what was sent, or less, or nothing. Nothing is excused by it: what is installed is what was offered (I19). Leaves
//! out: what goes wrong on the peer's disk itself.

use recovery_core::storage::{Call, StorageError};
use recovery_core::transfer::{Source, SourceError};
use recovery_core::units::{Position, SegmentStart};

use crate::disk::{Disturbance, SimDisk, View};
use crate::schedule::{FaultInside, Times};
use crate::world::interrupt;
use crate::world::node::Node;

/// One fault, and which reads it hits.
#[derive(Clone, Copy)]
pub(super) struct Hit {
    first: u32,
    times: Times,
    disturbance: Disturbance,
}

/// Everything that goes wrong between a peer and this node in a step.
#[derive(Default)]
pub(super) struct Wire {
    hits: Vec<Hit>,
    /// Reads that the peer was asked for.
    reads: u32,
    /// How many of the faults hit a read.
    struck: Vec<bool>,
}

impl Wire {
    pub(super) fn clear(&mut self) {
        self.hits.clear();
        self.struck.clear();
        self.reads = 0;
    }

    /// Adds a fault on what `peer` sends. Whether what it is about is there.
    pub(super) fn add(&mut self, peer: &Node, inside: &FaultInside) -> bool {
        let Some(disturbance) = interrupt::disturbance(peer, &inside.fault) else { return false };
        self.hits.push(Hit { first: inside.at.call, times: inside.fault.times, disturbance });
        self.struck.push(false);
        true
    }

    /// How many faults there are.
    pub(super) fn len(&self) -> usize {
        self.hits.len()
    }

    /// How many of them hit nothing.
    pub(super) fn missed(&self) -> u32 {
        u32::try_from(self.struck.iter().filter(|struck| !**struck).count()).expect("a step has few faults")
    }

    /// What happens to the next read.
    fn next(&mut self) -> Option<Disturbance> {
        self.reads += 1;
        let reads = self.reads;
        let is_hit = |hit: &Hit| match hit.times {
            Times::Always => hit.first <= reads,
            Times::Count(times) => hit.first <= reads && reads - hit.first < times,
        };
        let at = self.hits.iter().position(is_hit)?;
        self.struck[at] = true;
        Some(self.hits[at].disturbance)
    }
}

/// A source whose bytes come over a wire.
pub(super) struct Wired<'a, R: Source> {
    /// What sends.
    pub(super) source: R,
    /// The disk that it sends from.
    pub(super) disk: &'a SimDisk,
    /// What goes wrong on the way.
    pub(super) wire: &'a mut Wire,
}

impl<R: Source> Source for Wired<'_, R> {
    fn read(
        &mut self,
        segment: SegmentStart,
        position: Position,
        buffer: &mut [u8],
    ) -> Result<usize, SourceError> {
        let disturbance = self.wire.next();
        let asked = match disturbance {
            Some(Disturbance::Fail { errno }) => {
                let file = recovery_core::format::FileName::log(segment);
                return Err(SourceError::Io(StorageError { call: Call::Read, file, errno }));
            }
            Some(Disturbance::Short { bytes }) => {
                let most = bytes.and_then(|bytes| usize::try_from(bytes).ok());
                most.unwrap_or(buffer.len().div_ceil(2)).clamp(1, buffer.len())
            }
            Some(_) | None => buffer.len(),
        };
        let count = self.source.read(segment, position, &mut buffer[..asked])?;
        match disturbance {
            Some(Disturbance::CorruptRead { byte, bit }) if count > 0 => {
                let at = usize::try_from(byte % count as u64).expect("a place in a buffer");
                buffer[at] ^= 1 << bit;
            }
            Some(Disturbance::MisdirectRead { file, position }) => {
                // As many bytes as were to come, of what lies elsewhere; behind its end nothing was ever sent.
                let came = self.disk.peek(file, View::Visible, position, &mut buffer[..count]);
                buffer[came..count].fill(0);
            }
            Some(_) | None => {}
        }
        Ok(count)
    }
}
