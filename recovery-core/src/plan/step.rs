//! The steps that carry a verdict out: pure data, in the order in which they must be done.
//!
//! Promises: every step is safe to do again after a crash, and leaves the stop and the evidence of every
//! segment as they were, so a second recovery derives the same plan for what is left. Leaves out: which
//! fence the copies go to and which of them are already there; only the disk can tell
//! ([`super::Applying`]).

use crate::format::{Checksum, FileName, Mark};
use crate::storage::Name;
use crate::units::{Length, Offset, Position, SegmentStart};

/// One step. The order of the variants is the order in which they occur in a plan, but for the second
/// [`Step::SyncFence`], which follows the last [`Step::SetAside`], and for a plan that only carries batches
/// over ([`Plan::carries`]), which saves what it replaces first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Batches behind damage that the operator has accepted are written beside their log as a segment of their
    /// own, synced, read again and verified.
    StageRun {
        /// The segment whose log holds them.
        segment: SegmentStart,
        /// Bytes of that log's prefix which come first: where the new segment takes its place.
        prefix: Length,
        /// Where the batches start.
        position: Position,
        /// Their bytes.
        length: Length,
        /// The mark at the end of the new segment.
        mark: Mark,
    },
    /// The new segment gets its name.
    InstallRun {
        /// The new segment.
        segment: SegmentStart,
    },
    /// The ledger gets a `Sealed` record, synced: the segment ends here, and the next one starts there.
    RecordSealed {
        /// The end.
        mark: Mark,
        /// Where the next segment starts.
        next_start: SegmentStart,
    },
    /// The ledger gets a `Frontier` record, synced: the last segment is proven as far as this.
    RecordFrontier {
        /// How far.
        mark: Mark,
    },
    /// Bytes that are set aside, and whose checksum observation does not know, are read to name them.
    Identify {
        /// The file.
        file: Name,
        /// Where the bytes start.
        position: Position,
        /// How many they are; `None` for all of a file whose length is not known yet.
        length: Option<Length>,
    },
    /// Copies that an earlier run made are looked for; unless all are there, a fence is made; the names
    /// of fences are made durable.
    MakeFence,
    /// A residue of zeros, which is not saved, is read again: it must still be zeros (N13).
    CheckZeros {
        /// The segment.
        segment: SegmentStart,
        /// Where the zeros start.
        position: Position,
        /// How many there are.
        length: Length,
    },
    /// A residue is written into the fence, synced, and compared with a second read of the log (N12, N13).
    SaveResidue {
        /// The segment.
        segment: SegmentStart,
        /// Where the residue starts.
        position: Position,
        /// Its length.
        length: Length,
        /// Its checksum as observation read it; `None` if that gave up before its end.
        checksum: Option<Checksum>,
    },
    /// An index that its successor does not contain is written into the fence in the same way.
    SaveIndex {
        /// The segment.
        segment: SegmentStart,
        /// Length of the index.
        length: Length,
        /// Its checksum as observation read it.
        checksum: Checksum,
    },
    /// `REASON.toml` gets an entry for each copy that it does not list.
    WriteReason,
    /// The names in the fence are made durable.
    SyncFence,
    /// The ledger gets a `Reserved` record, synced: without it a crash after the cut forgets the offsets
    /// of the survivors that are cut.
    ReserveOffset {
        /// No smaller offset will be minted.
        offset: Offset,
    },
    /// A log is cut, if it still has the length that was judged, and synced. Never extended.
    CutLog {
        /// The segment.
        segment: SegmentStart,
        /// The length that was judged.
        from: Length,
        /// The proven end.
        to: Position,
    },
    /// Scratch is moved into the fence, never unlinked (N02, N23).
    SetAside {
        /// Its name in the partition directory.
        file: Name,
    },
    /// A new index is written beside the old one (F07).
    StageIndex {
        /// The segment.
        segment: SegmentStart,
        /// How many entries it has.
        entries: u64,
        /// Whether it is synced before it is installed.
        sync: bool,
    },
    /// The new index replaces the old one.
    InstallIndex {
        /// The segment.
        segment: SegmentStart,
    },
    /// The names in the partition directory are made durable: one barrier for all installs (F89).
    SyncDirectory,
    /// The ledger gets a `Recovered` record, synced.
    RecordRecovered {
        /// The proven end of the last segment.
        mark: Mark,
    },
    /// The ledger gets a `CleanStop` record, synced.
    RecordCleanStop {
        /// The proven end of the last segment.
        mark: Mark,
        /// The reserved offset falls to exactly this.
        next_offset: Offset,
    },
}

impl Step {
    /// The permanent word for this step.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::StageRun { .. } => "stage-run",
            Self::InstallRun { .. } => "install-run",
            Self::RecordSealed { .. } => "record-sealed",
            Self::RecordFrontier { .. } => "record-frontier",
            Self::Identify { .. } => "identify",
            Self::MakeFence => "make-fence",
            Self::CheckZeros { .. } => "check-zeros",
            Self::SaveResidue { .. } => "save-residue",
            Self::SaveIndex { .. } => "save-index",
            Self::WriteReason => "write-reason",
            Self::SyncFence => "sync-fence",
            Self::ReserveOffset { .. } => "reserve-offset",
            Self::CutLog { .. } => "cut-log",
            Self::SetAside { .. } => "set-aside",
            Self::StageIndex { .. } => "stage-index",
            Self::InstallIndex { .. } => "install-index",
            Self::SyncDirectory => "sync-directory",
            Self::RecordRecovered { .. } => "record-recovered",
            Self::RecordCleanStop { .. } => "record-clean-stop",
        }
    }

    /// The file that the step reads or changes, in the partition directory; `None` for a step that works
    /// on the fence or on a directory as a whole.
    pub fn file(&self) -> Option<Name> {
        match self {
            Self::Identify { file, .. } | Self::SetAside { file } => Some(*file),
            Self::InstallRun { segment }
            | Self::CheckZeros { segment, .. }
            | Self::SaveResidue { segment, .. }
            | Self::CutLog { segment, .. } => Some(FileName::log(*segment)),
            Self::SaveIndex { segment, .. } | Self::InstallIndex { segment } => {
                Some(FileName::index(*segment))
            }
            Self::StageRun { mark, .. } => Some(FileName::log_staging(mark.segment)),
            Self::StageIndex { segment, .. } => Some(FileName::index_staging(*segment)),
            Self::RecordSealed { .. }
            | Self::RecordFrontier { .. }
            | Self::ReserveOffset { .. }
            | Self::RecordRecovered { .. }
            | Self::RecordCleanStop { .. } => Some(FileName::ledger()),
            Self::MakeFence | Self::WriteReason | Self::SyncFence | Self::SyncDirectory => None,
        }
    }
}

/// What is to be done, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
}

impl Plan {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What sets the ledger aside, so that the directory is judged without it.
    pub(crate) fn of_ledger_set_aside() -> Self {
        let file = FileName::ledger();
        let steps = vec![
            Step::Identify { file, position: Position::ZERO, length: None },
            Step::MakeFence,
            Step::WriteReason,
            Step::SyncFence,
            Step::SetAside { file },
            Step::SyncFence,
            Step::SyncDirectory,
        ];
        Self { steps }
    }

    /// Whether it only carries batches over, so that the partition is looked at again behind it.
    pub fn carries(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(step, Step::InstallRun { .. } | Step::RecordSealed { .. } | Step::RecordFrontier { .. })
        })
    }

    /// Whether a log, an index or a name changes. A plan of nothing but a clean stop repairs nothing.
    pub fn repairs(&self) -> bool {
        self.steps.iter().any(|step| match step {
            Step::CutLog { .. }
            | Step::SetAside { .. }
            | Step::InstallIndex { .. }
            | Step::InstallRun { .. }
            | Step::RecordSealed { .. }
            | Step::RecordFrontier { .. } => true,
            Step::StageRun { .. }
            | Step::Identify { .. }
            | Step::MakeFence
            | Step::CheckZeros { .. }
            | Step::SaveResidue { .. }
            | Step::SaveIndex { .. }
            | Step::WriteReason
            | Step::SyncFence
            | Step::ReserveOffset { .. }
            | Step::StageIndex { .. }
            | Step::SyncDirectory
            | Step::RecordRecovered { .. }
            | Step::RecordCleanStop { .. } => false,
        })
    }
}
