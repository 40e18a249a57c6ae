//! Why a partition is refused: one variant a reason, its own fields, a permanent code, one sentence.
//!
//! Promises: a sentence says what was found and where. It never says what will be done with the files:
//! only the layer that does something says that (F59, F84). Leaves out: the fields by name for machines
//! ([`super::FieldValue`]).

use thiserror::Error;

use super::{ReasonCode, Witness};
use crate::format::SuperblockSlot;
use crate::observe::Stop;
use crate::storage::{EntryKind, Name};
use crate::units::{Incarnation, Length, Namespace, Offset, PartitionId, Position, SegmentStart};

/// Why a partition is not served. The same bytes always earn the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Reason {
    /// Bytes that were made durable are damaged or gone.
    #[error(
        "segment {segment} is proven to byte {proven_bytes} (offset {first_lost_offset} next) and stops there \
         ({}), and {} has it durable to byte {durable_bytes} (offset {durable_next_offset} next)",
        stop.code(),
        witness.phrase()
    )]
    LostDurable {
        /// The segment.
        segment: SegmentStart,
        /// Where the proven prefix ends.
        proven_bytes: Length,
        /// Why it ends there.
        stop: Stop,
        /// What says that more was durable.
        witness: Witness,
        /// How many bytes were durable at least.
        durable_bytes: Length,
        /// First offset that is lost.
        first_lost_offset: Offset,
        /// One behind the last offset that was durable at least.
        durable_next_offset: Offset,
    },
    /// Damage, and behind it a batch that continues this partition.
    #[error(
        "segment {segment} is damaged at byte {position} ({}), and a whole batch of this partition with \
         base offset {survivor_offset} follows at byte {survivor_position} ({survivors} such in all)",
        stop.code()
    )]
    InteriorDamage {
        /// The segment.
        segment: SegmentStart,
        /// Where the damage starts.
        position: Position,
        /// What it is.
        stop: Stop,
        /// Where the first survivor lies.
        survivor_position: Position,
        /// Its base offset.
        survivor_offset: Offset,
        /// How many survivors there are.
        survivors: u64,
    },
    /// Damage, and the bytes behind it could not be judged within the budget.
    #[error(
        "segment {segment} is damaged at byte {position}, and of the {residue_bytes} bytes from there the \
         budget did not allow all to be judged ({candidates} candidates looked at)"
    )]
    UnprovenResidue {
        /// The segment.
        segment: SegmentStart,
        /// Where the damage starts.
        position: Position,
        /// Bytes from there to the end of the file.
        residue_bytes: Length,
        /// Candidates looked at before the budget ran out.
        candidates: u64,
    },
    /// A whole batch of another partition lies at the end of the chain.
    #[error(
        "segment {segment} holds at byte {position} a whole batch of partition {found_partition}, \
         and this is partition {expected_partition}"
    )]
    ForeignBatch {
        /// The segment.
        segment: SegmentStart,
        /// Where the batch lies.
        position: Position,
        /// The partition id it carries.
        found_partition: PartitionId,
        /// The partition id of this partition.
        expected_partition: PartitionId,
    },
    /// A whole batch does not continue the chain.
    #[error(
        "segment {segment} holds at byte {position} a whole batch with base offset {found_offset}, and \
         the chain continues at {expected_offset}"
    )]
    OffsetDiscontinuity {
        /// The segment.
        segment: SegmentStart,
        /// Where the batch lies.
        position: Position,
        /// Its base offset.
        found_offset: Offset,
        /// The offset that would continue the chain.
        expected_offset: Offset,
    },
    /// A whole batch leaves no next offset.
    #[error(
        "segment {segment} holds at byte {position} a whole batch of {message_count} messages from offset \
         {base_offset}, behind which no offset is left"
    )]
    OffsetOverflow {
        /// The segment.
        segment: SegmentStart,
        /// Where the batch lies.
        position: Position,
        /// Its base offset.
        base_offset: Offset,
        /// Its message count.
        message_count: u32,
    },
    /// A whole batch larger than any door lets in.
    #[error(
        "segment {segment} holds at byte {position} a whole batch of {batch_bytes} bytes, and the ceiling \
         is {ceiling_bytes}"
    )]
    RecordCeiling {
        /// The segment.
        segment: SegmentStart,
        /// Where the batch lies.
        position: Position,
        /// Its length.
        batch_bytes: Length,
        /// The frozen ceiling.
        ceiling_bytes: Length,
    },
    /// Offsets between two segments that no record explains.
    #[error(
        "offsets {first_missing_offset} to {last_missing_offset} lie between segment {segment} and segment {next_segment}, \
         and no record explains their absence"
    )]
    Hole {
        /// The earlier segment.
        segment: SegmentStart,
        /// The later segment.
        next_segment: SegmentStart,
        /// First missing offset.
        first_missing_offset: Offset,
        /// Last missing offset, inclusive.
        last_missing_offset: Offset,
    },
    /// A segment starts at offsets that the one before it holds.
    #[error("segment {segment} holds offsets up to {last_offset}, and segment {next_segment} follows it")]
    Overlap {
        /// The earlier segment.
        segment: SegmentStart,
        /// Its last offset.
        last_offset: Offset,
        /// The later segment.
        next_segment: SegmentStart,
    },
    /// A segment without a proven batch, followed by another one.
    #[error(
        "segment {segment} proves no batch in its {log_bytes} bytes, and segment {next_segment} follows it"
    )]
    EmptyNonTailSegment {
        /// The empty segment.
        segment: SegmentStart,
        /// Length of its log.
        log_bytes: Length,
        /// The segment that follows.
        next_segment: SegmentStart,
    },
    /// The ledger names a segment that is not there.
    #[error("{}", missing_segment_sentence(*.segment, *.durable_bytes, *.first_present, *.missing))]
    MissingSegment {
        /// The first such segment.
        segment: SegmentStart,
        /// How many bytes of it were durable at least; `None` if the ledger says only that the chain
        /// starts there.
        durable_bytes: Option<Length>,
        /// The first segment that is there, if any is.
        first_present: Option<SegmentStart>,
        /// How many such segments there are.
        missing: u64,
    },
    /// A name that ends in `.log` and is no segment, or a name of the format on what is no regular file.
    #[error("{}", unexpected_file_sentence(.file, *.kind, *.files))]
    UnexpectedFile {
        /// The first such name.
        file: Name,
        /// What it is.
        kind: EntryKind,
        /// How many such names there are.
        files: u64,
    },
    /// A superblock slot holds bytes that do not verify.
    #[error("superblock slot {} holds {length_bytes} bytes that do not verify", slot.name())]
    SuperblockUnreadable {
        /// The slot.
        slot: SuperblockSlot,
        /// Length of its file.
        length_bytes: Length,
    },
    /// The ledger, or the superblock, belongs to something else.
    #[error("{}", identity_sentence(.namespace, .found))]
    IdentityMismatch {
        /// The partition that was asked for.
        namespace: Namespace,
        /// Whose evidence lies in the directory.
        found: FoundIdentity,
    },
    /// The log verifies, and is not the log that the ledger speaks of.
    #[error(
        "segment {segment} agrees with the ledger up to byte {agrees_bytes} (offset \
         {agrees_next_offset} next), and verifies behind it, but not as the ledger has it: it differs from the \
         ledger's mark at byte {differs_bytes} (offset {differs_next_offset} next)"
    )]
    EvidenceConflict {
        /// The segment.
        segment: SegmentStart,
        /// Position of the last mark that agrees; 0 if none does.
        agrees_bytes: Position,
        /// Next offset there.
        agrees_next_offset: Offset,
        /// Position of the first mark that does not.
        differs_bytes: Position,
        /// Next offset of that mark.
        differs_next_offset: Offset,
    },
    /// The metadata says that the partition was made, and its directory is gone.
    #[error("partition {namespace} was made, and its directory is not there")]
    MissingPartition {
        /// The partition.
        namespace: Namespace,
    },
}

/// Whose evidence was found instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundIdentity {
    /// A ledger of another partition, or of another life of this one.
    Ledger {
        /// Its namespace.
        namespace: Namespace,
        /// Its incarnation.
        incarnation: Incarnation,
        /// The life that other records in it are of, where they name two and the caller knows neither.
        beside: Option<Incarnation>,
    },
    /// A superblock of another cluster or replica.
    Superblock {
        /// The slot.
        slot: SuperblockSlot,
    },
}

fn identity_sentence(expected: &Namespace, found: &FoundIdentity) -> String {
    match found {
        FoundIdentity::Ledger { namespace, incarnation, beside: Some(beside) } => format!(
            "the ledger holds records of two lives of partition {namespace}, incarnations {beside} and \
             {incarnation}, and which of them this is was not given"
        ),
        FoundIdentity::Ledger { namespace, incarnation, beside: None } => format!(
            "the ledger belongs to partition {namespace}, incarnation {incarnation}, and not to this life \
             of partition {expected}"
        ),
        FoundIdentity::Superblock { slot } => format!(
            "superblock slot {} of partition {expected} belongs to another cluster or replica",
            slot.name()
        ),
    }
}

fn missing_segment_sentence(
    segment: SegmentStart,
    durable_bytes: Option<Length>,
    first_present: Option<SegmentStart>,
    missing: u64,
) -> String {
    let known = match durable_bytes {
        Some(bytes) => format!("the ledger has segment {segment} durable to byte {bytes}"),
        None => format!("the ledger has the chain start at segment {segment}"),
    };
    let found = match first_present {
        Some(first) => format!("the first log in the directory is that of segment {first}"),
        None => "no log is in the directory".to_owned(),
    };
    format!("{known}, and its log is not there ({missing} missing in all; {found})")
}

fn unexpected_file_sentence(file: &Name, kind: EntryKind, files: u64) -> String {
    let what = match kind {
        EntryKind::File => "ends in .log and is not named by the 20 digits of an offset",
        EntryKind::Directory => "has the name of a file of the log and is a directory",
        EntryKind::Other => {
            "has the name of a file of the log and is a link, a pipe or a device, which is not followed"
        }
    };
    format!("the entry {file} {what} ({files} such in all)")
}

impl Reason {
    /// The reason without its fields.
    pub const fn reason_code(&self) -> ReasonCode {
        match self {
            Self::LostDurable { .. } => ReasonCode::LostDurable,
            Self::InteriorDamage { .. } => ReasonCode::InteriorDamage,
            Self::UnprovenResidue { .. } => ReasonCode::UnprovenResidue,
            Self::ForeignBatch { .. } => ReasonCode::ForeignBatch,
            Self::OffsetDiscontinuity { .. } => ReasonCode::OffsetDiscontinuity,
            Self::OffsetOverflow { .. } => ReasonCode::OffsetOverflow,
            Self::RecordCeiling { .. } => ReasonCode::RecordCeiling,
            Self::Hole { .. } => ReasonCode::Hole,
            Self::Overlap { .. } => ReasonCode::Overlap,
            Self::EmptyNonTailSegment { .. } => ReasonCode::EmptyNonTailSegment,
            Self::MissingSegment { .. } => ReasonCode::MissingSegment,
            Self::UnexpectedFile { .. } => ReasonCode::UnexpectedFile,
            Self::SuperblockUnreadable { .. } => ReasonCode::SuperblockUnreadable,
            Self::IdentityMismatch { .. } => ReasonCode::IdentityMismatch,
            Self::EvidenceConflict { .. } => ReasonCode::EvidenceConflict,
            Self::MissingPartition { .. } => ReasonCode::MissingPartition,
        }
    }

    /// The permanent code of this reason.
    pub const fn code(&self) -> &'static str {
        self.reason_code().code()
    }
}
