//! Crashes: which restart it is, and what of the unsynced work survives it.
//!
//! Promises: every choice is data, drawn beforehand. Leaves out: closing a choice under a filesystem's
//! order, which the disk does by *dropping* what lacks its prerequisite (CONTRACTS 8).

use recovery_core::storage::Call;
use recovery_core::units::Namespace;

use super::fault::TornKind;
use super::target::FileRole;
use super::word::words;

words! {
    /// Which parts of a node lose their memory (FAULT_MODEL 2.8).
    Restart, "a kind of crash" {
        /// The process alone: the page cache stays, falsely clean pages included.
        Process = "process",
        /// The kernel: the page cache goes, the device's cache stays.
        Os = "os",
        /// Power: both go.
        Power = "power",
    }
}

words! {
    /// Where inside a sync the node goes down (FAULT_MODEL 2.4).
    SyncStage, "a stage of a sync" {
        /// While data pages are on their way.
        Data = "data",
        /// Data is down, metadata is not.
        Metadata = "metadata",
        /// Metadata is down, the device has not flushed.
        Flush = "flush",
        /// All is durable, and the caller never learns.
        Report = "report",
    }
}

words! {
    /// What shows where a surviving length covers sectors that did not survive.
    Fill, "a fill" {
        /// Zeros.
        Zeros = "zeros",
        /// Freed blocks of the same partition.
        StaleSame = "stale-same",
        /// Freed blocks of another partition.
        StaleForeign = "stale-foreign",
        /// Noise.
        Noise = "noise",
    }
}

words! {
    /// Which length and extents a file keeps.
    SizeChoice, "a size" {
        /// The newest one.
        New = "new",
        /// The last durable one.
        Old = "old",
    }
}

words! {
    /// Which of the pending writes survive, without the numbers.
    SurvivorsWord, "a choice of survivors" {
        /// See [`Survivors::None`].
        None = "none",
        /// See [`Survivors::All`].
        All = "all",
        /// See [`Survivors::Prefix`].
        Prefix = "prefix",
        /// See [`Survivors::Suffix`].
        Suffix = "suffix",
        /// See [`Survivors::Subset`].
        Subset = "subset",
        /// See [`Survivors::Window`].
        Window = "window",
    }
}

/// Which of a file's pending sector writes survive, counted in issue order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Survivors {
    /// None of them.
    None,
    /// All of them.
    All,
    /// The `n` oldest.
    Prefix {
        /// How many.
        n: u32,
    },
    /// The `n` newest.
    Suffix {
        /// How many.
        n: u32,
    },
    /// Those whose bit is set: bit 0 is the oldest, and the mask repeats every 64.
    Subset {
        /// The bits.
        mask: u64,
    },
    /// `n` neighbours, the first of them `from`.
    Window {
        /// First one that survives, counted from 0.
        from: u32,
        /// How many are lost.
        n: u32,
    },
}

impl Survivors {
    /// The choice without its numbers.
    pub const fn word(self) -> SurvivorsWord {
        match self {
            Self::None => SurvivorsWord::None,
            Self::All => SurvivorsWord::All,
            Self::Prefix { .. } => SurvivorsWord::Prefix,
            Self::Suffix { .. } => SurvivorsWord::Suffix,
            Self::Subset { .. } => SurvivorsWord::Subset,
            Self::Window { .. } => SurvivorsWord::Window,
        }
    }

    /// Whether the pending write at `index` survives, of `count` in all.
    ///
    /// # Panics
    ///
    /// If `index` is not below `count`.
    pub fn keeps(self, index: u32, count: u32) -> bool {
        assert!(index < count, "only a pending write can survive");
        match self {
            Self::None => false,
            Self::All => true,
            Self::Prefix { n } => index < n,
            Self::Suffix { n } => count - index <= n,
            Self::Subset { mask } => mask >> (index % 64) & 1 == 1,
            Self::Window { from, n } => index >= from && index - from < n,
        }
    }

    /// How reach counts a choice that can tear a write; `None` for all or nothing.
    pub const fn torn_kind(self) -> Option<TornKind> {
        match self {
            Self::None | Self::All => None,
            Self::Prefix { .. } => Some(TornKind::Prefix),
            Self::Suffix { .. } => Some(TornKind::Suffix),
            Self::Subset { .. } => Some(TornKind::Subset),
            Self::Window { .. } => Some(TornKind::Window),
        }
    }
}

/// A node goes down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Crash {
    /// See [`Restart::Process`]. Nothing that was written is lost.
    Process,
    /// See [`Restart::Os`].
    Os(Survival),
    /// See [`Restart::Power`].
    Power(Survival),
}

impl Crash {
    /// Which restart it is.
    pub const fn restart(&self) -> Restart {
        match self {
            Self::Process => Restart::Process,
            Self::Os(_) => Restart::Os,
            Self::Power(_) => Restart::Power,
        }
    }

    /// What survives; `None` where nothing is lost.
    pub const fn survival(&self) -> Option<&Survival> {
        match self {
            Self::Process => None,
            Self::Os(survival) | Self::Power(survival) => Some(survival),
        }
    }
}

/// What survives of everything that was not durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survival {
    /// The pending sector writes of each file, and the pending names of each directory.
    pub survive: Survivors,
    /// What shows in place of what did not survive.
    pub fill: Fill,
    /// Lengths and extents; `None`: new where a surviving sector needs it, else old.
    pub size: Option<SizeChoice>,
    /// Objects for which the choice is another one.
    pub exceptions: Vec<Exception>,
}

impl Survival {
    /// The same choice for everything, zeros in the holes.
    pub const fn of(survive: Survivors) -> Self {
        Self { survive, fill: Fill::Zeros, size: None, exceptions: Vec::new() }
    }
}

/// A choice for one object alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exception {
    /// For one file. What is `None` is as for everything else.
    File {
        /// Whose file.
        partition: Namespace,
        /// Which.
        file: FileRole,
        /// Its pending sector writes.
        survive: Option<Survivors>,
        /// Its holes.
        fill: Option<Fill>,
        /// Its length and extents.
        size: Option<SizeChoice>,
    },
    /// For the pending names of every directory.
    Names {
        /// Which survive.
        survive: Survivors,
    },
}

/// A crash before one of the storage calls of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashInside {
    /// Before which call.
    pub at: CallPoint,
    /// Inside that call, when it is a sync; `None` for before it.
    pub inside: Option<SyncStage>,
    /// The crash.
    pub crash: Crash,
}

/// One storage call of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallPoint {
    /// Counts only this call; `None` counts all.
    pub on: Option<Call>,
    /// The K-th, counted from 1 within the step.
    pub call: u32,
}
