//! Reads a residue once, in order, and hashes it: a copy made later is compared with what was judged.

use super::candidate::first_nonzero;
use super::residue_probe::ProbeTools;
use super::window::{Fill, in_buffer};
use crate::format::{Checksum, Hasher};
use crate::storage::{Storage, StorageError};

/// How far a residue has been read and hashed.
#[derive(Debug)]
pub(crate) struct ResidueReader {
    hashed_to: u64,
    hasher: Hasher,
    is_zero: bool,
}

impl ResidueReader {
    /// A reader at the residue's first byte.
    pub(crate) fn new(start: u64) -> Self {
        Self { hashed_to: start, hasher: Hasher::new(), is_zero: true }
    }

    /// Reads and hashes on, in order, until every byte below `target` has been.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn read_to<S: Storage>(
        &mut self,
        target: u64,
        tools: &mut ProbeTools<'_, '_, S>,
    ) -> Result<Fill, StorageError> {
        // Each pass hashes at least one byte.
        while self.hashed_to < target {
            let ahead = tools.meter.left() / 2;
            let shown = tools.log_window.ensure(tools.log, self.hashed_to, 1, ahead, tools.meter)?;
            if shown == Fill::Paused || self.hash_shown(tools) == Fill::Paused {
                return Ok(Fill::Paused);
            }
        }
        Ok(Fill::Ready)
    }

    /// Hashes what the window shows and no step has hashed yet.
    pub(crate) fn hash_shown<S: Storage>(&mut self, tools: &mut ProbeTools<'_, '_, S>) -> Fill {
        let bytes = tools.log_window.from(self.hashed_to);
        if bytes.is_empty() {
            return Fill::Ready;
        }
        let count = (bytes.len() as u64).min(tools.meter.left());
        if count == 0 {
            return Fill::Paused;
        }
        let bytes = &bytes[..in_buffer(count)];
        self.is_zero = self.is_zero && first_nonzero(bytes).is_none();
        self.hasher.update(bytes);
        tools.meter.hash(count);
        self.hashed_to += count;
        Fill::Ready
    }

    /// The checksum, and whether every byte is zero, once the residue is read to its end.
    pub(crate) fn finish(self, end: u64) -> (Checksum, bool) {
        assert!(self.hashed_to == end, "a residue is hashed to its end");
        (self.hasher.finish(), self.is_zero)
    }
}
