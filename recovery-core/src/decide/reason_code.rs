//! The permanent codes of the reasons, without the numbers behind them.
//!
//! Promises: a code never changes and is never used again for something else.

/// Which reason, without its fields. Lists, tables and counters use it ([`super::Reason`] has the fields).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReasonCode {
    /// See [`super::Reason::LostDurable`].
    LostDurable,
    /// See [`super::Reason::InteriorDamage`].
    InteriorDamage,
    /// See [`super::Reason::UnprovenResidue`].
    UnprovenResidue,
    /// See [`super::Reason::ForeignBatch`].
    ForeignBatch,
    /// See [`super::Reason::OffsetDiscontinuity`].
    OffsetDiscontinuity,
    /// See [`super::Reason::OffsetOverflow`].
    OffsetOverflow,
    /// See [`super::Reason::RecordCeiling`].
    RecordCeiling,
    /// See [`super::Reason::Hole`].
    Hole,
    /// See [`super::Reason::Overlap`].
    Overlap,
    /// See [`super::Reason::EmptyNonTailSegment`].
    EmptyNonTailSegment,
    /// See [`super::Reason::MissingSegment`].
    MissingSegment,
    /// See [`super::Reason::UnexpectedFile`].
    UnexpectedFile,
    /// See [`super::Reason::SuperblockUnreadable`].
    SuperblockUnreadable,
    /// See [`super::Reason::IdentityMismatch`].
    IdentityMismatch,
    /// See [`super::Reason::EvidenceConflict`].
    EvidenceConflict,
    /// See [`super::Reason::MissingPartition`].
    MissingPartition,
}

impl ReasonCode {
    /// Every code.
    pub const ALL: [Self; 16] = [
        Self::LostDurable,
        Self::InteriorDamage,
        Self::UnprovenResidue,
        Self::ForeignBatch,
        Self::OffsetDiscontinuity,
        Self::OffsetOverflow,
        Self::RecordCeiling,
        Self::Hole,
        Self::Overlap,
        Self::EmptyNonTailSegment,
        Self::MissingSegment,
        Self::UnexpectedFile,
        Self::SuperblockUnreadable,
        Self::IdentityMismatch,
        Self::EvidenceConflict,
        Self::MissingPartition,
    ];

    /// The permanent word for this reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::LostDurable => "lost-durable",
            Self::InteriorDamage => "interior-damage",
            Self::UnprovenResidue => "unproven-residue",
            Self::ForeignBatch => "foreign-batch",
            Self::OffsetDiscontinuity => "offset-discontinuity",
            Self::OffsetOverflow => "offset-overflow",
            Self::RecordCeiling => "record-ceiling",
            Self::Hole => "hole",
            Self::Overlap => "overlap",
            Self::EmptyNonTailSegment => "empty-non-tail-segment",
            Self::MissingSegment => "missing-segment",
            Self::UnexpectedFile => "unexpected-file",
            Self::SuperblockUnreadable => "superblock-unreadable",
            Self::IdentityMismatch => "identity-mismatch",
            Self::EvidenceConflict => "evidence-conflict",
            Self::MissingPartition => "missing-partition",
        }
    }
}
