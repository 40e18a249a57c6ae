//! A record of the metadata log: what became of one life of one partition (`docs/format.md`, section 8).
//!
//! Promises: 32 bytes, and whatever a kind does not use is zero. Leaves out: whether a record may follow the
//! others ([`crate::wal::Registry`]).

use super::bytes::{put_u64, u64_at};
use super::ledger_record::{durability_number, durability_of, unpack};
use crate::units::{Durability, Incarnation, Namespace};

/// Size of a record in bytes.
pub const METADATA_RECORD_BYTES: usize = 32;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataKind {
    /// The partition is to be. Nothing of it need be on the disk yet.
    Created {
        /// On how many nodes; 1 at least.
        replicas: u8,
        /// What its writer promises.
        durability: Durability,
    },
    /// Its directory is durable: from here on its absence is loss.
    Made,
    /// It is to go. Written before the first file is removed.
    Deleting,
    /// Nothing of it is left. Written after that was looked up.
    Deleted,
}

impl MetadataKind {
    /// The permanent word for this kind.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Created { .. } => "created",
            Self::Made => "made",
            Self::Deleting => "deleting",
            Self::Deleted => "deleted",
        }
    }

    const fn number(self) -> u8 {
        match self {
            Self::Created { .. } => 1,
            Self::Made => 2,
            Self::Deleting => 3,
            Self::Deleted => 4,
        }
    }
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataRecord {
    /// What it says.
    pub kind: MetadataKind,
    /// Of which partition.
    pub namespace: Namespace,
    /// Of which life of it.
    pub incarnation: Incarnation,
}

impl MetadataRecord {
    /// Encodes the record.
    pub fn encode(&self) -> [u8; METADATA_RECORD_BYTES] {
        assert!(self.namespace.is_packable(), "a namespace that a record can hold");
        let mut bytes = [0; METADATA_RECORD_BYTES];
        bytes[0] = self.kind.number();
        if let MetadataKind::Created { replicas, durability } = self.kind {
            bytes[1] = durability_number(durability);
            bytes[2] = replicas;
        }
        put_u64(&mut bytes, 8, self.namespace.packed());
        put_u64(&mut bytes, 16, self.incarnation.get());
        bytes
    }

    /// Decodes a record, or `None` if no writer of this version makes such bytes.
    pub fn decode(bytes: &[u8; METADATA_RECORD_BYTES]) -> Option<Self> {
        let kind = match bytes[0] {
            1 => MetadataKind::Created { replicas: bytes[2], durability: durability_of(bytes[1])? },
            2 => MetadataKind::Made,
            3 => MetadataKind::Deleting,
            4 => MetadataKind::Deleted,
            _ => return None,
        };
        let record = Self {
            kind,
            namespace: unpack(u64_at(bytes, 8))?,
            incarnation: Incarnation::new(u64_at(bytes, 16)),
        };
        let has_replicas = !matches!(kind, MetadataKind::Created { replicas: 0, .. });
        // What is not in use must be zero, and encoding says what is.
        (has_replicas && record.encode() == *bytes).then_some(record)
    }
}
