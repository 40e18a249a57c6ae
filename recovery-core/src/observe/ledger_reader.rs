//! Reads a ledger, and reads it again before a slot that does not count is taken for one that says nothing.
//!
//! A record that a single read did not show is a mark, a floor or a reserved offset that is forgotten, and a
//! ledger without any is set aside. So where slots are skipped the file is read twice, and both readings must
//! say the same (N13). Promises: two readings that differ are an error, and never evidence. Leaves out: what
//! one reading says ([`super::ledger_reading`]).

use super::LedgerState;
use super::ledger_reading::LedgerReading;
use super::meter::Meter;
use super::window::{Fill, Source, Window};
use crate::storage::{Call, Errno, Name, Storage, StorageError};
use crate::units::{Incarnation, Namespace, SegmentStart};

/// A ledger that is being read.
#[derive(Debug)]
pub(crate) struct LedgerReader {
    /// The reading before it has begun.
    fresh: LedgerReading,
    reading: LedgerReading,
    /// What a first reading came to that skipped slots.
    doubted: Option<LedgerState>,
}

impl LedgerReader {
    /// A ledger of `length` bytes, beside logs of the segments in `present`.
    pub(crate) fn new(
        namespace: Namespace,
        incarnation: Option<Incarnation>,
        present: &[SegmentStart],
        length: u64,
    ) -> Self {
        let fresh = LedgerReading::new(namespace, incarnation, present, length);
        Self { reading: fresh.clone(), fresh, doubted: None }
    }

    /// Goes on until the file is read or the step is over.
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
        // Each pass ends a reading, and there are two at most.
        loop {
            if self.reading.step(source, window, meter)? == Fill::Paused {
                return Ok(Fill::Paused);
            }
            if self.doubted.is_some() || !self.reading.is_doubtful() {
                return Ok(Fill::Ready);
            }
            let doubtful = std::mem::replace(&mut self.reading, self.fresh.clone());
            self.doubted = Some(doubtful.finish());
            window.forget();
        }
    }

    /// What the ledger called `name` says, once it is read.
    ///
    /// # Errors
    ///
    /// [`Errno::STALE`] if two readings do not say the same.
    pub(crate) fn finish(self, name: &Name) -> Result<LedgerState, StorageError> {
        let state = self.reading.finish();
        match self.doubted {
            Some(doubted) if doubted != state => {
                Err(StorageError { call: Call::Read, file: *name, errno: Errno::STALE })
            }
            Some(_) | None => Ok(state),
        }
    }
}
