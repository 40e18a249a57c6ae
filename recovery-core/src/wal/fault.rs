//! Why a metadata log is refused: nothing it says is acted on, and not one byte of it is touched.
//!
//! Promises: permanent codes, and sentences that say what was found and where.

use thiserror::Error;

use super::Contradiction;
use crate::format::BATCH_BYTES_MAX;
use crate::units::{Length, Position};

/// Why the log is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MetadataFault {
    /// The log gets its name after its first batch is durable, and there is no such batch.
    #[error("the metadata log has {length} bytes, and no batch verifies at its start")]
    Headless {
        /// Bytes of the file.
        length: Length,
    },
    /// Damage, and behind it a batch that was written after the damaged bytes were durable.
    #[error(
        "the metadata log is damaged at byte {position}, and a batch at byte {survivor_position} says that \
         all was durable up to byte {frontier}"
    )]
    InteriorDamage {
        /// Where the damage starts.
        position: Position,
        /// Where that batch lies.
        survivor_position: Position,
        /// How far the log was durable when it was written.
        frontier: Position,
    },
    /// Damage, and the bytes behind it could not be judged within the budget.
    #[error(
        "the metadata log is damaged at byte {position}, and the {residue_bytes} bytes from there could not \
         all be judged within the budget"
    )]
    UnprovenResidue {
        /// Where the damage starts.
        position: Position,
        /// Bytes from there to the end of the file.
        residue_bytes: Length,
    },
    /// A whole batch larger than any door lets in.
    #[error(
        "the metadata log holds at byte {position} a whole batch of {batch_bytes} bytes, and the ceiling is \
         {BATCH_BYTES_MAX}"
    )]
    RecordCeiling {
        /// Where it lies.
        position: Position,
        /// Its bytes.
        batch_bytes: Length,
    },
    /// A whole batch holds bytes that are no record, or a record that may not follow the others.
    #[error("the metadata log holds at byte {position} a whole batch that makes no sense: {why}")]
    Senseless {
        /// Where the batch lies.
        position: Position,
        /// What is wrong with it.
        why: Contradiction,
    },
}

impl MetadataFault {
    /// The permanent code of this fault.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Headless { .. } => "metadata-headless",
            Self::InteriorDamage { .. } => "metadata-interior-damage",
            Self::UnprovenResidue { .. } => "metadata-unproven-residue",
            Self::RecordCeiling { .. } => "metadata-record-ceiling",
            Self::Senseless { .. } => "metadata-senseless",
        }
    }
}
