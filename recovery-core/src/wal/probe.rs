//! Looks behind damage in a metadata log: what is it, and was anything written after it was durable?
//!
//! Promises: linear work, held by a budget; every residue of zeros is known as one. Leaves out: what follows
//! from the answer.

use super::MetadataFault;
use super::walk::{OpenBatch, header_at};
use crate::format::{Checksum, Hasher, METADATA_HEADER_BYTES, METADATA_RECORD_BYTES};
use crate::observe::{Fill, Meter, Source, Workspace};
use crate::storage::{Storage, StorageError};
use crate::units::{Length, Position};

/// Most bytes that candidates are hashed for, a byte of residue. Every batch names its own place, so honest
/// bytes hold few candidates.
const HASHED_BYTES_PER_RESIDUE_BYTE: u64 = 8;

/// What the residue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probed {
    /// Nothing in it was written after its first byte was durable.
    Torn {
        /// XXH3-64 of all of it.
        checksum: Checksum,
        /// Whether all of it is zero, so that there is nothing to keep.
        is_zeros: bool,
    },
    /// Nothing in the log may be acted on.
    Fault(MetadataFault),
}

enum Part {
    Hashing { hasher: Hasher, next: u64, is_zeros: bool },
    Searching { checksum: Checksum, next: u64, candidate: Option<OpenBatch>, hashed: u64 },
}

/// A probe under way.
pub(super) struct Probe {
    from: u64,
    length: u64,
    part: Part,
}

impl Probe {
    /// Of the bytes from `from` on, in a log of `length` bytes.
    pub(super) fn new(from: Position, length: u64) -> Self {
        let from = from.get();
        let part = Part::Hashing { hasher: Hasher::new(), next: from, is_zeros: true };
        Self { from, length, part }
    }

    /// Goes on; `None` while there is more to look at.
    pub(super) fn step<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        workspace: &mut Workspace,
        meter: &mut Meter,
    ) -> Result<Option<Probed>, StorageError> {
        if let Part::Hashing { hasher, next, is_zeros } = &mut self.part {
            // Each pass takes at least one byte.
            while *next < self.length {
                if workspace.log.from(*next).is_empty()
                    && workspace.log.ensure(source, *next, 1, meter.left() / 2, meter)? == Fill::Paused
                {
                    return Ok(None);
                }
                let shown = workspace.log.from(*next);
                let count = usize::try_from(meter.left()).map_or(shown.len(), |left| left.min(shown.len()));
                if count == 0 {
                    return Ok(None);
                }
                hasher.update(&shown[..count]);
                *is_zeros &= shown[..count].iter().all(|byte| *byte == 0);
                meter.hash(count as u64);
                *next += count as u64;
            }
            let checksum = hasher.finish();
            if *is_zeros {
                return Ok(Some(Probed::Torn { checksum, is_zeros: true }));
            }
            let next = self.from + METADATA_RECORD_BYTES as u64;
            self.part = Part::Searching { checksum, next, candidate: None, hashed: 0 };
        }
        self.search(source, workspace, meter)
    }

    /// Looks for a batch that says that the first byte of the residue was durable.
    fn search<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        workspace: &mut Workspace,
        meter: &mut Meter,
    ) -> Result<Option<Probed>, StorageError> {
        let Part::Searching { checksum, next, candidate, hashed } = &mut self.part else { return Ok(None) };
        let residue = self.length - self.from;
        let budget = residue.checked_mul(HASHED_BYTES_PER_RESIDUE_BYTE);
        // Each pass moves on by a record's width, or hashes a candidate to its end.
        loop {
            if let Some(batch) = candidate {
                let Some(verifies) = batch.verify(source, workspace, meter)? else { return Ok(None) };
                let header = *batch.header();
                if verifies && header.frontier.get() > self.from {
                    return Ok(Some(Probed::Fault(MetadataFault::InteriorDamage {
                        position: Position::new(self.from),
                        survivor_position: header.position,
                        frontier: header.frontier,
                    })));
                }
                *candidate = None;
            }
            if self.length.checked_sub(*next).is_none_or(|left| left < METADATA_HEADER_BYTES as u64) {
                return Ok(Some(Probed::Torn { checksum: *checksum, is_zeros: false }));
            }
            let Some(bytes) = header_at(source, *next, workspace, meter)? else { return Ok(None) };
            *candidate = OpenBatch::begin(&bytes, *next, self.length);
            *next += METADATA_RECORD_BYTES as u64;
            if let Some(batch) = candidate {
                *hashed += batch.header().length.get();
                if budget.is_none_or(|budget| *hashed > budget) {
                    return Ok(Some(Probed::Fault(MetadataFault::UnprovenResidue {
                        position: Position::new(self.from),
                        residue_bytes: Length::new(residue),
                    })));
                }
            }
        }
    }
}
