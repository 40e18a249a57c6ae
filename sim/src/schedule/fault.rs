//! Faults: what goes wrong, where, and how often.
//!
//! Promises: every kind has one permanent word and one meaning, as a step of its own (damage now) and as
//! a child of a step (one of its calls goes wrong). Leaves out: how a disk makes it so, and whether the
//! target is there.

use super::crash::{CallPoint, Fill};
use super::target::{Destination, Target};
use super::word::words;

words! {
    /// What goes wrong (FAULT_MODEL 1.2).
    FaultKind, "a fault kind" {
        /// One bit is another one from now on.
        BitFlip = "bit-flip",
        /// The bytes read as zeros.
        Zeroed = "zeroed",
        /// The bytes are noise; which noise is a function of the place.
        Noise = "noise",
        /// The first `bytes` of a write are new and the rest is old, inside a sector too.
        ShornWrite = "shorn-write",
        /// Write and sync succeed, and the medium keeps what it had, lengths included.
        LostWrite = "lost-write",
        /// A sync succeeds, and nothing has crossed the device's cache.
        LyingFlush = "lying-flush",
        /// The bytes land at the destination, and the place that was meant keeps what it had.
        MisdirectedWrite = "misdirected-write",
        /// Reads return what lies at the destination; the medium is right.
        MisdirectedRead = "misdirected-read",
        /// The batch is copied to the destination, in another partition.
        ForeignBatch = "foreign-batch",
        /// The batch, cut or deleted in an earlier generation, is back at the destination.
        StaleGenerationBatch = "stale-generation-batch",
        /// The batch is copied to the destination, in its own partition.
        DuplicateBatch = "duplicate-batch",
        /// Reads fail until the sectors are written again.
        LatentSectorError = "latent-sector-error",
        /// A read returns a flipped bit; the next one does not.
        TransientReadCorruption = "transient-read-corruption",
        /// A read, length or list call fails with EIO.
        ReadError = "read-error",
        /// A changing call fails with EIO.
        WriteError = "write-error",
        /// A sync fails, with the aftermath of the filesystem.
        SyncFailure = "sync-failure",
        /// A sync succeeds although a page failed, and the next one on the file fails.
        DeferredSyncError = "deferred-sync-error",
        /// A page fails, and no sync ever says so.
        SwallowedSyncError = "swallowed-sync-error",
        /// A read returns at most `bytes`.
        ShortRead = "short-read",
        /// A write takes at most `bytes`.
        ShortWrite = "short-write",
        /// A call fails with EINTR.
        Interrupted = "interrupted",
        /// A call fails with ENOSPC.
        NoSpace = "no-space",
        /// A call fails with EMFILE.
        TooManyFiles = "too-many-files",
        /// A call fails with EACCES.
        PermissionDenied = "permission-denied",
        /// Every changing call fails with EROFS from here on.
        ReadOnly = "read-only",
        /// A name is gone although its directory was synced.
        LostDirectoryEntry = "lost-directory-entry",
        /// A rename is undone although its directory was synced.
        UndoneRename = "undone-rename",
        /// A removed name is back although its directory was synced.
        UndoneUnlink = "undone-unlink",
        /// Listings come in another order, which `value` decides.
        ListingOrder = "listing-order",
        /// A name that nobody of ours made.
        StrayFile = "stray-file",
        /// The operator removes an index.
        OperatorDeletesIndex = "operator-deletes-index",
        /// The operator copies a segment to the destination.
        OperatorCopiesSegment = "operator-copies-segment",
        /// The operator puts back the file as it was when the node last went down.
        OperatorRestoresFile = "operator-restores-file",
        /// The operator removes the ledger.
        OperatorDropsLedger = "operator-drops-ledger",
    }
}

impl FaultKind {
    /// Whether it is an error that a call reports, or an order that listings may have anyway: all that
    /// the legal regime knows besides crashes (CONTRACTS 6).
    pub const fn is_legal(self) -> bool {
        match self {
            Self::ReadError
            | Self::WriteError
            | Self::SyncFailure
            | Self::ShortRead
            | Self::ShortWrite
            | Self::Interrupted
            | Self::NoSpace
            | Self::TooManyFiles
            | Self::PermissionDenied
            | Self::ReadOnly
            | Self::ListingOrder => true,
            Self::BitFlip
            | Self::Zeroed
            | Self::Noise
            | Self::ShornWrite
            | Self::LostWrite
            | Self::LyingFlush
            | Self::MisdirectedWrite
            | Self::MisdirectedRead
            | Self::ForeignBatch
            | Self::StaleGenerationBatch
            | Self::DuplicateBatch
            | Self::LatentSectorError
            | Self::TransientReadCorruption
            | Self::DeferredSyncError
            | Self::SwallowedSyncError
            | Self::LostDirectoryEntry
            | Self::UndoneRename
            | Self::UndoneUnlink
            | Self::StrayFile
            | Self::OperatorDeletesIndex
            | Self::OperatorCopiesSegment
            | Self::OperatorRestoresFile
            | Self::OperatorDropsLedger => false,
        }
    }
}

/// What a kind of fault means as a step of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsStep {
    /// Bytes of a file are damaged now.
    Bytes,
    /// A batch is laid somewhere now. A partition as the target means its newest batch.
    Batch,
    /// An entry of a partition's directory comes or goes now.
    Entry,
    /// Listings come in another order from now on.
    Listing,
    /// Calls on the target go wrong from now on, as often as the fault says, until the node goes down.
    Calls,
}

impl FaultKind {
    /// What it means as a step of its own.
    pub const fn as_step(self) -> AsStep {
        match self {
            Self::BitFlip
            | Self::Zeroed
            | Self::Noise
            | Self::ShornWrite
            | Self::LostWrite
            | Self::LatentSectorError => AsStep::Bytes,
            Self::MisdirectedWrite
            | Self::ForeignBatch
            | Self::StaleGenerationBatch
            | Self::DuplicateBatch => AsStep::Batch,
            Self::LostDirectoryEntry
            | Self::UndoneRename
            | Self::UndoneUnlink
            | Self::StrayFile
            | Self::OperatorDeletesIndex
            | Self::OperatorCopiesSegment
            | Self::OperatorRestoresFile
            | Self::OperatorDropsLedger => AsStep::Entry,
            Self::ListingOrder => AsStep::Listing,
            Self::LyingFlush
            | Self::MisdirectedRead
            | Self::TransientReadCorruption
            | Self::ReadError
            | Self::WriteError
            | Self::SyncFailure
            | Self::DeferredSyncError
            | Self::SwallowedSyncError
            | Self::ShortRead
            | Self::ShortWrite
            | Self::Interrupted
            | Self::NoSpace
            | Self::TooManyFiles
            | Self::PermissionDenied
            | Self::ReadOnly => AsStep::Calls,
        }
    }

    /// Whether it can happen to a storage call, as a child of a step.
    pub const fn hits_calls(self) -> bool {
        let hits_both =
            matches!(self, Self::ShornWrite | Self::LostWrite | Self::MisdirectedWrite | Self::ListingOrder);
        hits_both || matches!(self.as_step(), AsStep::Calls)
    }
}

words! {
    /// Crash choices that reach counts as fault kinds too.
    TornKind, "a torn write" {
        /// See [`super::Survivors::Prefix`].
        Prefix = "torn-prefix",
        /// See [`super::Survivors::Suffix`].
        Suffix = "torn-suffix",
        /// See [`super::Survivors::Subset`].
        Subset = "torn-subset",
        /// See [`super::Survivors::Window`].
        Window = "torn-window",
        /// Freed blocks show in a hole.
        StaleBlockFill = "stale-block-fill",
    }
}

impl Fill {
    /// How reach counts the fill; `None` for the fills that are no old batches.
    pub const fn torn_kind(self) -> Option<TornKind> {
        match self {
            Self::StaleSame | Self::StaleForeign => Some(TornKind::StaleBlockFill),
            Self::Zeros | Self::Noise => None,
        }
    }
}

/// A fault and what it hits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// What it hits.
    pub target: Target,
    /// What becomes of the field, for the kinds that change one.
    pub edit: Option<Edit>,
    /// Whether checksums are made to fit the change: damage that verifies.
    pub restamp: bool,
    /// Where misdirected and copied bytes go.
    pub to: Destination,
    /// Bytes that a short transfer or a shorn write lets through, or that a stray file holds; `None`:
    /// half of what was asked for, rounded up, and an empty stray file.
    pub bytes: Option<u64>,
    /// What a stray name is.
    pub entry: StrayEntry,
    /// How often, for the kinds that hit calls. As a step it counts calls on the target from now on.
    pub times: Times,
}

impl Fault {
    /// Why the fault means nothing as a step of its own; `None` if it means something.
    pub fn nonsense_as_step(&self) -> Option<&'static str> {
        let is_any = self.target == Target::Any;
        let is_batch = matches!(self.target, Target::Batch { field: None, .. } | Target::Partition(_));
        let is_stray = self.kind == FaultKind::StrayFile;
        match self.kind.as_step() {
            AsStep::Bytes if is_any => Some("it damages bytes, and no partition is named"),
            AsStep::Batch if !is_batch => Some("it is about a whole batch"),
            AsStep::Entry if is_any => Some("it is about a name, and no partition is named"),
            AsStep::Entry if is_stray && !matches!(self.target, Target::Name { .. }) => {
                Some("it needs the property name")
            }
            AsStep::Calls => self.nonsense_at_calls(),
            AsStep::Bytes | AsStep::Batch | AsStep::Entry | AsStep::Listing => None,
        }
    }

    /// Why the fault means nothing as a child of a step; `None` if it means something.
    pub fn nonsense_inside(&self) -> Option<&'static str> {
        if self.kind.hits_calls() {
            self.nonsense_at_calls()
        } else {
            Some("it happens to what lies on the disk, and not to a call")
        }
    }

    /// Why the fault means nothing where a peer sends bytes; `None` if it means something.
    pub const fn nonsense_at_peer(&self) -> Option<&'static str> {
        match self.kind {
            FaultKind::TransientReadCorruption
            | FaultKind::MisdirectedRead
            | FaultKind::ShortRead
            | FaultKind::ReadError => None,
            FaultKind::BitFlip
            | FaultKind::Zeroed
            | FaultKind::Noise
            | FaultKind::ShornWrite
            | FaultKind::LostWrite
            | FaultKind::LyingFlush
            | FaultKind::MisdirectedWrite
            | FaultKind::ForeignBatch
            | FaultKind::StaleGenerationBatch
            | FaultKind::DuplicateBatch
            | FaultKind::LatentSectorError
            | FaultKind::WriteError
            | FaultKind::SyncFailure
            | FaultKind::DeferredSyncError
            | FaultKind::SwallowedSyncError
            | FaultKind::ShortWrite
            | FaultKind::Interrupted
            | FaultKind::NoSpace
            | FaultKind::TooManyFiles
            | FaultKind::PermissionDenied
            | FaultKind::ReadOnly
            | FaultKind::LostDirectoryEntry
            | FaultKind::UndoneRename
            | FaultKind::UndoneUnlink
            | FaultKind::ListingOrder
            | FaultKind::StrayFile
            | FaultKind::OperatorDeletesIndex
            | FaultKind::OperatorCopiesSegment
            | FaultKind::OperatorRestoresFile
            | FaultKind::OperatorDropsLedger => Some("a peer only reads"),
        }
    }

    fn nonsense_at_calls(&self) -> Option<&'static str> {
        let is_misdirected = matches!(self.kind, FaultKind::MisdirectedRead | FaultKind::MisdirectedWrite);
        if is_misdirected && self.target == Target::Any && self.to.partition.is_none() {
            Some("it needs a destination")
        } else if self.kind == FaultKind::Interrupted && self.times == Times::Always {
            Some("a signal that comes for ever would be waited for for ever")
        } else {
            None
        }
    }

    /// A fault with every property at its default.
    pub const fn new(kind: FaultKind, target: Target) -> Self {
        Self {
            kind,
            target,
            edit: None,
            restamp: false,
            to: Destination { batch: None, segment: None, partition: None },
            bytes: None,
            entry: StrayEntry::File,
            times: Times::Count(1),
        }
    }
}

/// What becomes of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edit {
    /// This bit of it flips, counted from its first byte, least significant first.
    Bit(u32),
    /// It takes this value, little-endian, cut or widened with zeros to the field.
    Value(u64),
}

words! {
    /// What a stray name is.
    StrayEntry, "a kind of entry" {
        /// A regular file.
        File = "file",
        /// A directory.
        Directory = "directory",
        /// A symbolic link or another thing that is neither.
        Other = "other",
    }
}

/// How often a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Times {
    /// That many matching calls, at least 1.
    Count(u32),
    /// Every matching call: until the step ends, or for a step of its own until the node goes down.
    Always,
}

/// A fault on one of the storage calls of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultInside {
    /// Which call, and with more than one time those after it.
    pub at: CallPoint,
    /// Whether it hits what a peer sends in a transfer, and no call of the step's own node: `at` counts the reads that
    /// the peer is asked for in the step.
    pub at_peer: bool,
    /// What goes wrong.
    pub fault: Fault,
}
