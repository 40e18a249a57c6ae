//! A reason's own fields by name, so that every program that prints them uses the same names.
//!
//! Promises: names are snake case and permanent, and a name has the same type in every reason. Leaves out:
//! the code and the sentence, which every reason has.

use super::{FoundIdentity, Reason};
use crate::storage::EntryKind;
use crate::units::{Incarnation, Length, Namespace, Offset, PartitionId, Position, SegmentStart};

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// An offset, a position, a number of bytes or a count.
    Number(u64),
    /// A word or a name.
    Text(String),
    /// Nothing of the kind is known; null in JSON.
    Absent,
}

macro_rules! numbers {
    ($($unit:ident),*) => {
        $(impl From<$unit> for FieldValue {
            fn from(value: $unit) -> Self {
                Self::Number(value.get())
            }
        })*
    };
}

numbers!(Incarnation, Length, Offset, PartitionId, Position, SegmentStart);

impl From<u64> for FieldValue {
    fn from(value: u64) -> Self {
        Self::Number(value)
    }
}

impl From<Namespace> for FieldValue {
    fn from(value: Namespace) -> Self {
        Self::Text(value.to_string())
    }
}

impl From<&str> for FieldValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl<Value: Into<Self>> From<Option<Value>> for FieldValue {
    fn from(value: Option<Value>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

/// Pairs each variable with its own name.
macro_rules! fields {
    ($($name:ident),*) => {
        vec![$((stringify!($name), FieldValue::from($name))),*]
    };
}

impl Reason {
    /// The reason's own fields, in the order in which they are printed (CONTRACTS section 2).
    pub fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        match *self {
            Self::LostDurable {
                segment,
                proven_bytes,
                stop,
                witness,
                durable_bytes,
                first_lost_offset,
                durable_next_offset,
            } => {
                let (stop, witness) = (stop.code(), witness.code());
                fields![
                    segment,
                    proven_bytes,
                    stop,
                    witness,
                    durable_bytes,
                    first_lost_offset,
                    durable_next_offset
                ]
            }
            Self::InteriorDamage {
                segment,
                position,
                stop,
                survivor_position,
                survivor_offset,
                survivors,
            } => {
                let stop = stop.code();
                fields![segment, position, stop, survivor_position, survivor_offset, survivors]
            }
            Self::UnprovenResidue { segment, position, residue_bytes, candidates } => {
                fields![segment, position, residue_bytes, candidates]
            }
            Self::ForeignBatch { segment, position, found_partition, expected_partition } => {
                fields![segment, position, found_partition, expected_partition]
            }
            Self::OffsetDiscontinuity { segment, position, found_offset, expected_offset } => {
                fields![segment, position, found_offset, expected_offset]
            }
            Self::OffsetOverflow { segment, position, base_offset, message_count } => {
                let message_count = u64::from(message_count);
                fields![segment, position, base_offset, message_count]
            }
            Self::RecordCeiling { segment, position, batch_bytes, ceiling_bytes } => {
                fields![segment, position, batch_bytes, ceiling_bytes]
            }
            Self::Hole { segment, next_segment, first_missing_offset, last_missing_offset } => {
                fields![segment, next_segment, first_missing_offset, last_missing_offset]
            }
            Self::Overlap { segment, last_offset, next_segment } => {
                fields![segment, last_offset, next_segment]
            }
            Self::EmptyNonTailSegment { segment, log_bytes, next_segment } => {
                fields![segment, log_bytes, next_segment]
            }
            Self::MissingSegment { segment, durable_bytes, first_present, missing } => {
                fields![segment, durable_bytes, first_present, missing]
            }
            Self::UnexpectedFile { file, kind, files } => {
                let file = FieldValue::Text(file.to_string());
                let kind = match kind {
                    EntryKind::File => "file",
                    EntryKind::Directory => "directory",
                    EntryKind::Other => "other",
                };
                fields![file, kind, files]
            }
            Self::SuperblockUnreadable { slot, length_bytes } => {
                let file = FieldValue::Text(slot.name().to_string());
                fields![file, length_bytes]
            }
            Self::IdentityMismatch { namespace, found } => {
                let (file, found_namespace, found_incarnation, beside) = match found {
                    FoundIdentity::Ledger { namespace, incarnation, beside } => {
                        ("ledger".to_owned(), Some(namespace), Some(incarnation), beside)
                    }
                    FoundIdentity::Superblock { slot } => (slot.name().to_string(), None, None, None),
                };
                let file = FieldValue::Text(file);
                fields![namespace, file, found_namespace, found_incarnation, beside]
            }
            Self::EvidenceConflict {
                segment,
                agrees_bytes,
                agrees_next_offset,
                differs_bytes,
                differs_next_offset,
            } => {
                fields![segment, agrees_bytes, agrees_next_offset, differs_bytes, differs_next_offset]
            }
            Self::MissingPartition { namespace } => fields![namespace],
        }
    }
}
