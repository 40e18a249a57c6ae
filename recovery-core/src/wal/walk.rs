//! The walk over a metadata log from its start: batch by batch, as far as each verifies and follows.
//!
//! Promises: a batch is taken in only once all of it has verified; memory does not depend on what a header
//! claims; a step reads plus hashes no more than its limit. Leaves out: what lies behind the last batch
//! ([`super::probe`]).

use super::{Contradiction, MetadataFault, Registry};
use crate::format::{
    BATCH_BYTES_MAX, Checksum, Hasher, METADATA_HASHED_BYTES, METADATA_HEADER_BYTES, METADATA_RECORD_BYTES,
    MetadataHeader, MetadataRecord,
};
use crate::observe::{Fill, Meter, Source, Workspace};
use crate::storage::{Storage, StorageError};
use crate::units::{Length, Position};

/// A batch under verification.
pub(super) struct OpenBatch {
    header: MetadataHeader,
    hasher: Hasher,
    next: u64,
}

impl OpenBatch {
    /// A batch whose header is `bytes`, found at `position`, if it may be one of a log of `length` bytes.
    pub(super) fn begin(bytes: &[u8; METADATA_HEADER_BYTES], position: u64, length: u64) -> Option<Self> {
        let Ok(header) = MetadataHeader::decode(bytes) else { return None };
        let end = header.position.checked_add(header.length)?;
        if header.position.get() != position || end.get() > length {
            return None;
        }
        let mut hasher = Hasher::new();
        hasher.update(&bytes[..METADATA_HASHED_BYTES]);
        Some(Self { header, hasher, next: position + METADATA_HEADER_BYTES as u64 })
    }

    pub(super) const fn header(&self) -> &MetadataHeader {
        &self.header
    }

    fn end(&self) -> u64 {
        let end = self.header.position.checked_add(self.header.length);
        end.expect("the end of a batch was checked when it began").get()
    }

    /// Hashes on; says whether all of it verifies once that is known.
    pub(super) fn verify<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        workspace: &mut Workspace,
        meter: &mut Meter,
    ) -> Result<Option<bool>, StorageError> {
        // Each pass takes at least one byte of the batch.
        while self.next < self.end() {
            if workspace.log.from(self.next).is_empty()
                && workspace.log.ensure(source, self.next, 1, meter.left() / 2, meter)? == Fill::Paused
            {
                return Ok(None);
            }
            let most = (self.end() - self.next).min(meter.left());
            let shown = workspace.log.from(self.next);
            let count = usize::try_from(most).map_or(shown.len(), |most| most.min(shown.len()));
            if count == 0 {
                return Ok(None);
            }
            self.hasher.update(&shown[..count]);
            meter.hash(count as u64);
            self.next += count as u64;
        }
        Ok(Some(self.hasher.finish() == self.header.checksum))
    }
}

/// Whether the header at `position` is shown, and what it says.
pub(super) fn header_at<S: Storage>(
    source: &Source<'_, S>,
    position: u64,
    workspace: &mut Workspace,
    meter: &mut Meter,
) -> Result<Option<[u8; METADATA_HEADER_BYTES]>, StorageError> {
    let need = METADATA_HEADER_BYTES;
    let ahead = meter.left() / 2;
    if workspace.log.ensure(source, position, need, ahead, meter)? == Fill::Paused
        || meter.left() < need as u64
    {
        return Ok(None);
    }
    meter.hash(need as u64);
    let mut bytes = [0; METADATA_HEADER_BYTES];
    bytes.copy_from_slice(&workspace.log.from(position)[..need]);
    Ok(Some(bytes))
}

enum Part {
    /// The next batch is looked for.
    Header,
    /// It is hashed.
    Hashing(OpenBatch),
    /// It has verified, and its records are taken in from here on.
    Taking { header: MetadataHeader, next: u64 },
}

/// How a walk has gone on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walked {
    /// The step is over.
    Paused,
    /// The log ends behind the last batch.
    End,
    /// No batch follows where one should.
    Damaged,
    /// A whole batch says what cannot be.
    Fault(MetadataFault),
}

/// A walk under way, and what it has learnt.
pub(super) struct Walk {
    /// Bytes of the file.
    pub(super) length: u64,
    /// One behind the last batch taken in.
    pub(super) end: u64,
    /// The number of the next batch.
    pub(super) sequence: u64,
    /// The checksum of the last batch.
    pub(super) previous: Checksum,
    /// Whether the last batch holds records, so that nothing says yet that they were durable.
    pub(super) is_unconfirmed: bool,
    /// What the records say.
    pub(super) registry: Registry,
    part: Part,
}

impl Walk {
    pub(super) fn new(length: u64) -> Self {
        Self {
            length,
            end: 0,
            sequence: 0,
            previous: Checksum::new(0),
            is_unconfirmed: false,
            registry: Registry::default(),
            part: Part::Header,
        }
    }

    pub(super) fn step<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        workspace: &mut Workspace,
        meter: &mut Meter,
    ) -> Result<Walked, StorageError> {
        // Each pass takes a header, hashes a batch to its end, or takes one in: the length bounds them.
        loop {
            match &mut self.part {
                Part::Header => {
                    if self.length == self.end {
                        return Ok(Walked::End);
                    }
                    if self.length - self.end < METADATA_HEADER_BYTES as u64 {
                        return Ok(Walked::Damaged);
                    }
                    let Some(bytes) = header_at(source, self.end, workspace, meter)? else {
                        return Ok(Walked::Paused);
                    };
                    match OpenBatch::begin(&bytes, self.end, self.length) {
                        Some(batch) => self.part = Part::Hashing(batch),
                        None => return Ok(Walked::Damaged),
                    }
                }
                Part::Hashing(batch) => {
                    let Some(verifies) = batch.verify(source, workspace, meter)? else {
                        return Ok(Walked::Paused);
                    };
                    let header = *batch.header();
                    let follows = header.sequence == self.sequence && header.previous == self.previous;
                    if !verifies || !follows {
                        return Ok(Walked::Damaged);
                    }
                    if header.length > BATCH_BYTES_MAX {
                        let (position, batch_bytes) = (header.position, header.length);
                        return Ok(Walked::Fault(MetadataFault::RecordCeiling { position, batch_bytes }));
                    }
                    let next = self.end + METADATA_HEADER_BYTES as u64;
                    self.part = Part::Taking { header, next };
                }
                Part::Taking { .. } => match self.take(source, workspace, meter)? {
                    None => {}
                    Some(stopped) => return Ok(stopped),
                },
            }
        }
    }

    /// Takes records in; `None` once it was the last one of the batch.
    fn take<S: Storage>(
        &mut self,
        source: &Source<'_, S>,
        workspace: &mut Workspace,
        meter: &mut Meter,
    ) -> Result<Option<Walked>, StorageError> {
        let Part::Taking { header, next } = &mut self.part else { return Ok(None) };
        let end = self.end + header.length.get();
        while *next < end {
            let need = METADATA_RECORD_BYTES;
            if workspace.log.ensure(source, *next, need, meter.left() / 2, meter)? == Fill::Paused {
                return Ok(Some(Walked::Paused));
            }
            let mut bytes = [0; METADATA_RECORD_BYTES];
            bytes.copy_from_slice(&workspace.log.from(*next)[..need]);
            let at = *next - self.end - METADATA_HEADER_BYTES as u64;
            let index = u32::try_from(at / need as u64).expect("a batch counts its records in 32 bits");
            let taken = match MetadataRecord::decode(&bytes) {
                Some(record) => self.registry.apply(&record),
                None => Err(Contradiction::NoRecord { index }),
            };
            if let Err(why) = taken {
                return Ok(Some(Walked::Fault(MetadataFault::Senseless { position: header.position, why })));
            }
            *next += need as u64;
        }
        self.is_unconfirmed = header.record_count > 0;
        self.previous = header.checksum;
        self.sequence += 1;
        self.end = end;
        self.part = Part::Header;
        Ok(None)
    }

    /// Where the next batch would begin.
    pub(super) const fn position(&self) -> Position {
        Position::new(self.end)
    }

    /// Bytes behind the last batch.
    pub(super) const fn residue(&self) -> Length {
        Length::new(self.length - self.end)
    }
}
