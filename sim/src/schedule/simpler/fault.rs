//! Faults that hit less, or more plainly.

use super::lower;
use crate::schedule::fault::{Edit, Fault, FaultInside, StrayEntry, Times};
use crate::schedule::field::BatchField;
use crate::schedule::step::Interruption;
use crate::schedule::target::{Destination, Target};

/// How often, at most, a fault is let happen that was to happen for ever.
const TIMES_MAX: u32 = 3;

impl Interruption {
    pub(super) fn simpler(&self) -> Vec<Self> {
        match self {
            Self::Crash(inside) => inside.simpler().into_iter().map(Self::Crash).collect(),
            Self::Fault(inside) => inside.simpler().into_iter().map(Self::Fault).collect(),
        }
    }
}

impl FaultInside {
    fn simpler(&self) -> Vec<Self> {
        let earlier = self.at.lower().map(|at| Self { at, ..self.clone() });
        let faults = self.fault.simpler().into_iter().map(|fault| Self { fault, ..self.clone() });
        faults.chain(earlier).collect()
    }
}

impl Fault {
    /// The same kind, with fewer properties or smaller ones.
    pub(super) fn simpler(&self) -> Vec<Self> {
        let mut found = vec![
            Self { edit: None, ..self.clone() },
            Self { restamp: false, ..self.clone() },
            Self { bytes: None, ..self.clone() },
            Self { entry: StrayEntry::File, ..self.clone() },
            Self { to: Destination::default(), ..self.clone() },
            Self { to: Destination { batch: None, ..self.to }, ..self.clone() },
            Self { to: Destination { segment: None, ..self.to }, ..self.clone() },
            Self { to: Destination { partition: None, ..self.to }, ..self.clone() },
        ];
        found.retain(|other| other != self);
        let counts = match self.times {
            Times::Count(count) => lower(count, 1),
            Times::Always => (1..=TIMES_MAX).collect(),
        };
        found.extend(counts.into_iter().map(|count| Self { times: Times::Count(count), ..self.clone() }));
        let edits: Vec<Edit> = match self.edit {
            None => Vec::new(),
            Some(Edit::Bit(bit)) => lower(bit, 0).into_iter().map(Edit::Bit).collect(),
            Some(Edit::Value(value)) => lower(value, 0).into_iter().map(Edit::Value).collect(),
        };
        found.extend(edits.into_iter().map(|edit| Self { edit: Some(edit), ..self.clone() }));
        let lengths = self.bytes.map(|bytes| lower(bytes, 0)).unwrap_or_default().into_iter();
        found.extend(lengths.map(|bytes| Self { bytes: Some(bytes), ..self.clone() }));
        found.extend(self.target.simpler().into_iter().map(|target| Self { target, ..self.clone() }));
        found
    }
}

impl Target {
    fn simpler(&self) -> Vec<Self> {
        let mut found: Vec<Self> = match self {
            Self::Any => return Vec::new(),
            Self::Partition(_) => return vec![Self::Any],
            Self::Batch { partition, batch, field: Some(field) } => {
                let to = |field| Self::Batch { partition: *partition, batch: *batch, field };
                let frames = match field {
                    BatchField::Header(_) => Vec::new(),
                    BatchField::Frame { frame, field } => {
                        let frames = lower(*frame, 0).into_iter();
                        frames.map(|frame| to(Some(BatchField::Frame { frame, field: *field }))).collect()
                    }
                };
                [to(None)].into_iter().chain(frames).collect()
            }
            Self::IndexEntry { partition, segment, index, field } => {
                let to = |index, field| Self::IndexEntry {
                    partition: *partition,
                    segment: *segment,
                    index,
                    field,
                };
                let indexes = lower(*index, 0).into_iter().map(|index| to(index, *field));
                [to(*index, None)].into_iter().chain(indexes).collect()
            }
            Self::LedgerRecord { partition, record, field } => {
                let to = |record, field| Self::LedgerRecord { partition: *partition, record, field };
                let records = lower(*record, 0).into_iter().map(|record| to(record, *field));
                [to(*record, None)].into_iter().chain(records).collect()
            }
            Self::Superblock { partition, slot, field: Some(_) } => {
                vec![Self::Superblock { partition: *partition, slot: *slot, field: None }]
            }
            Self::File { partition, file, position, length } => {
                let to =
                    |position, length| Self::File { partition: *partition, file: *file, position, length };
                let lengths = length.map(|length| lower(length, 1)).unwrap_or_default();
                let positions = lower(*position, 0).into_iter().map(|position| to(position, *length));
                let lengths = lengths.into_iter().map(|length| to(*position, Some(length)));
                [to(*position, None)].into_iter().chain(positions).chain(lengths).collect()
            }
            Self::Batch { field: None, .. }
            | Self::Segment { .. }
            | Self::Superblock { field: None, .. }
            | Self::Name { .. } => Vec::new(),
        };
        found.retain(|other| other != self);
        found
    }
}
