//! An index that says something was durable, read once more: what one read shows is no evidence (N13), and an index
//! has no checksum of its own.
//!
//! Promises: every byte is read again, in order. Leaves out: what its entries say ([`super::index_walk`]).

use super::meter::Meter;
use super::window::{Fill, Source, Window, in_buffer};
use crate::format::{Checksum, Hasher};
use crate::storage::{Storage, StorageError};

/// How far an index has been read for the second time.
#[derive(Debug)]
pub(crate) struct IndexAgain {
    seen: u64,
    hasher: Hasher,
}

impl IndexAgain {
    /// At its first byte, through a window that shows nothing of it any more.
    pub(crate) fn begin(window: &mut Window) -> Self {
        window.forget();
        Self { seen: 0, hasher: Hasher::new() }
    }

    /// Goes on until the index is read (`Ready`) or the step is over.
    ///
    /// # Errors
    ///
    /// As [`Storage::read`].
    pub(crate) fn step<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        window: &mut Window,
        meter: &mut Meter,
    ) -> Result<Fill, StorageError> {
        // Each pass hashes at least one byte.
        while self.seen < source.length {
            let ahead = meter.left() / 2;
            if window.ensure(source, self.seen, 1, ahead, meter)? == Fill::Paused {
                return Ok(Fill::Paused);
            }
            let shown = window.from(self.seen);
            let count = (shown.len() as u64).min(meter.left());
            if count == 0 {
                return Ok(Fill::Paused);
            }
            self.hasher.update(&shown[..in_buffer(count)]);
            meter.hash(count);
            self.seen += count;
        }
        Ok(Fill::Ready)
    }

    /// Of all that was read.
    pub(crate) fn checksum(&self) -> Checksum {
        self.hasher.finish()
    }
}
