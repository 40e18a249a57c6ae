//! The rows of the two decision tables, each with a permanent id.
//!
//! Promises: every cell of the segment table lies in exactly one row, and [`super::decide_telling`] names
//! every row that it used. Reach goals and `sim list rows` stand on these ids. Leaves out: what a row
//! rules ([`super::judge`], [`super::decide`]).

macro_rules! rows {
    ($($(#[$doc:meta])* $row:ident = $code:literal, $table:ident;)*) => {
        /// One row of a decision table (DESIGN section 6).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Row {
            $($(#[$doc])* $row,)*
        }

        impl Row {
            /// Every row: those of the segment table, then those of the partition and its chain.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$row),*];

            /// The permanent id of this row.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$row => $code,)*
                }
            }

            /// The table that this row stands in.
            pub const fn table(self) -> Table {
                match self {
                    $(Self::$row => Table::$table,)*
                }
            }
        }
    };
}

/// Which of the two tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Stop, evidence and residue of one segment.
    Segment,
    /// The partition and its chain of segments.
    Partition,
}

impl Table {
    /// Both tables.
    pub const ALL: [Self; 2] = [Self::Segment, Self::Partition];

    /// The permanent word for this table.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Segment => "segment",
            Self::Partition => "partition",
        }
    }
}

rows! {
    /// The log is whole, and nothing is known of it.
    EndUnknown = "end-unknown", Segment;
    /// The log is whole, and all that was durable is in it.
    EndAtOrAbove = "end-at-or-above", Segment;
    /// The log ends early, on a batch boundary.
    EndBelow = "end-below", Segment;
    /// Durable bytes are damaged.
    DamageBelow = "damage-below", Segment;
    /// Damage where nothing was durable.
    DamageAtOrAbove = "damage-at-or-above", Segment;
    /// Damage that nothing is known of, and only zeros behind it.
    DamageUnknownZeros = "damage-unknown-zeros", Segment;
    /// Damage that nothing is known of, and no batch behind it.
    DamageUnknownNoise = "damage-unknown-noise", Segment;
    /// Damage that nothing is known of, and only batches behind it that do not belong there.
    DamageUnknownStray = "damage-unknown-stray", Segment;
    /// Damage that nothing is known of, and a batch behind it that continues this partition.
    DamageUnknownSurvivor = "damage-unknown-survivor", Segment;
    /// Damage that nothing is known of, and more behind it than the budget allowed to judge.
    DamageUnknownUnproven = "damage-unknown-unproven", Segment;
    /// A whole batch that does not belong there, where nothing is known.
    MisplacedUnknown = "misplaced-unknown", Segment;
    /// A whole batch that does not belong there, among bytes that were durable.
    MisplacedBelow = "misplaced-below", Segment;
    /// A whole batch that does not belong there, where nothing was durable.
    MisplacedAtOrAbove = "misplaced-at-or-above", Segment;
    /// A whole batch above the ceiling, where nothing was durable.
    CeilingAtOrAbove = "ceiling-at-or-above", Segment;
    /// The log verifies and is not the log that the ledger speaks of.
    ConflictBelow = "conflict-below", Segment;
    /// The log cannot be read.
    Unreadable = "unreadable", Segment;
    /// No bytes have these facts.
    Impossible = "impossible", Segment;

    /// A segment cannot be read, and so nothing is said of the partition.
    PartitionUnavailable = "partition-unavailable", Partition;
    /// The ledger belongs to another partition, or to another life of this one.
    LedgerMismatch = "ledger-mismatch", Partition;
    /// The superblock belongs to another cluster or replica.
    SuperblockMismatch = "superblock-mismatch", Partition;
    /// A superblock slot holds bytes that do not verify.
    SuperblockUnreadable = "superblock-unreadable", Partition;
    /// A name ends in `.log` and is no segment.
    UnexpectedFile = "unexpected-file", Partition;
    /// A segment lies below the floor.
    SegmentExpired = "segment-expired", Partition;
    /// A segment with a mark has no log.
    MissingSegment = "missing-segment", Partition;
    /// The first segment starts above the floor.
    ChainAboveFloor = "chain-above-floor", Partition;
    /// The segment table refuses a segment.
    SegmentRefused = "segment-refused", Partition;
    /// A segment starts directly behind the one before it.
    LinkMeets = "link-meets", Partition;
    /// A segment starts above the end of the one before it, and records explain just that gap.
    LinkRecordedGap = "link-recorded-gap", Partition;
    /// A segment starts at an offset that the one before it holds.
    LinkOverlap = "link-overlap", Partition;
    /// A segment without a batch is followed by another, and no record explains the gap.
    LinkEmptyBefore = "link-empty-before", Partition;
    /// A segment starts above the end of the one before it, and no record explains the gap.
    LinkHole = "link-hole", Partition;
    /// A segment is followed by another, and all logs of the chain are of 0 bytes or zeros.
    LinkAllEmpty = "link-all-empty", Partition;
    /// The last segment is sealed, and the next one was never made.
    RollCutShort = "roll-cut-short", Partition;
    /// The next offset directly follows the chain.
    NextOffsetMeets = "next-offset-meets", Partition;
    /// The next offset is where a seal says that the next segment starts.
    NextOffsetSeal = "next-offset-seal", Partition;
    /// The next offset is the reserved one.
    NextOffsetReserved = "next-offset-reserved", Partition;
    /// The next offset lies behind a survivor that is cut.
    NextOffsetSurvivor = "next-offset-survivor", Partition;
    /// The next offset lies behind all that a residue could hold which was not judged whole.
    NextOffsetUnproven = "next-offset-unproven", Partition;
}
