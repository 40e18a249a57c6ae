//! Why a walk over a log stopped, as a word for the decision table and with the numbers behind it.

use crate::format::{Checksum, HeaderDamage, Mark};
use crate::storage::Errno;
use crate::units::{Length, Offset, PartitionId, Position};

/// Why a walk over a log stopped (DESIGN section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stop {
    /// The file ended exactly behind a batch.
    End,
    /// Damage: the next batch, or its header, passes the end of the file.
    Short,
    /// Damage: no header, or frames that do not tile the batch.
    Undecodable,
    /// Damage: a message checksum or the batch checksum does not match.
    BadChecksum,
    /// Damage: the file goes on past its sealed length.
    Overrun,
    /// Misplaced: a batch that verifies, of another partition id.
    Foreign,
    /// Misplaced: a batch that verifies, above the next offset.
    Gap,
    /// Misplaced: a batch that verifies, below the next offset.
    Regression,
    /// Misplaced: a batch that verifies, behind whose last message no offset fits.
    Overflow,
    /// Misplaced: a batch that verifies, larger than any door lets in.
    Oversize,
    /// A mark of the ledger lies on no batch boundary, or its offset or chain hash differs.
    Conflict,
    /// The bytes cannot be read, twice in a row, or two reads of them differ.
    Unreadable,
}

impl Stop {
    /// Every stop, in the order of the decision table.
    pub const ALL: [Self; 12] = [
        Self::End,
        Self::Short,
        Self::Undecodable,
        Self::BadChecksum,
        Self::Overrun,
        Self::Foreign,
        Self::Gap,
        Self::Regression,
        Self::Overflow,
        Self::Oversize,
        Self::Conflict,
        Self::Unreadable,
    ];

    /// The permanent word for this stop.
    pub const fn code(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Short => "short",
            Self::Undecodable => "undecodable",
            Self::BadChecksum => "bad-checksum",
            Self::Overrun => "overrun",
            Self::Foreign => "foreign",
            Self::Gap => "gap",
            Self::Regression => "regression",
            Self::Overflow => "overflow",
            Self::Oversize => "oversize",
            Self::Conflict => "conflict",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Why a walk stopped, with the numbers behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopDetail {
    /// See [`Stop::End`].
    End,
    /// See [`Stop::Short`].
    Short {
        /// Bytes that the batch, or its header, needs.
        needed: Length,
        /// Bytes that the file still has.
        available: Length,
    },
    /// See [`Stop::Undecodable`].
    Undecodable(Undecodable),
    /// See [`Stop::BadChecksum`].
    BadChecksum(BadChecksum),
    /// See [`Stop::Overrun`].
    Overrun {
        /// The length the segment was sealed at.
        sealed: Length,
    },
    /// See [`Stop::Foreign`].
    Foreign {
        /// The partition id that the batch carries.
        found: PartitionId,
    },
    /// See [`Stop::Gap`].
    Gap {
        /// The batch's base offset.
        found: Offset,
    },
    /// See [`Stop::Regression`].
    Regression {
        /// The batch's base offset.
        found: Offset,
    },
    /// See [`Stop::Overflow`].
    Overflow {
        /// The batch's base offset.
        base_offset: Offset,
        /// Its message count.
        message_count: u32,
    },
    /// See [`Stop::Oversize`].
    Oversize {
        /// The batch's length.
        batch_length: Length,
    },
    /// See [`Stop::Conflict`].
    Conflict {
        /// The last mark of the segment that agrees, if any does.
        agrees: Option<Mark>,
        /// The first that does not.
        differs: Mark,
    },
    /// See [`Stop::Unreadable`].
    Unreadable {
        /// The second error, or [`Errno::STALE`] if two reads of the same place differ.
        errno: Errno,
        /// Where the read began.
        position: Position,
    },
}

impl StopDetail {
    /// The stop without its numbers, as the decision table takes it.
    pub const fn stop(&self) -> Stop {
        match self {
            Self::End => Stop::End,
            Self::Short { .. } => Stop::Short,
            Self::Undecodable(_) => Stop::Undecodable,
            Self::BadChecksum(_) => Stop::BadChecksum,
            Self::Overrun { .. } => Stop::Overrun,
            Self::Foreign { .. } => Stop::Foreign,
            Self::Gap { .. } => Stop::Gap,
            Self::Regression { .. } => Stop::Regression,
            Self::Overflow { .. } => Stop::Overflow,
            Self::Oversize { .. } => Stop::Oversize,
            Self::Conflict { .. } => Stop::Conflict,
            Self::Unreadable { .. } => Stop::Unreadable,
        }
    }
}

/// What is wrong with the structure of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecodable {
    /// The header itself.
    Header(HeaderDamage),
    /// The count of messages cannot fit the claimed length.
    Count {
        /// The claimed count.
        claimed: u32,
    },
    /// A frame does not fit what is left of the batch, or its reserved field is not zero.
    Frame {
        /// Index of the frame.
        index: u32,
    },
    /// The frames end before the batch does, or are more than the header counts.
    Tiling {
        /// The claimed count.
        claimed: u32,
        /// Frames found before the batch ended or the count was reached.
        found: u32,
    },
}

/// Which checksum does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadChecksum {
    /// That of a message.
    Message {
        /// Index of its frame.
        index: u32,
        /// The stored value.
        stored: Checksum,
        /// The value of the bytes.
        actual: Checksum,
    },
    /// That of the batch.
    Batch {
        /// The stored value.
        stored: Checksum,
        /// The value of the bytes.
        actual: Checksum,
    },
}
