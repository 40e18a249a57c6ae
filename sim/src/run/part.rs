//! What a run of a profile does besides its seeds: the self-check, the kill table and the sweeps.

use std::time::Duration;

use crate::exit::Exit;
use crate::schedule::word::words;

words! {
    /// A command that a profile runs beside its seeds.
    Part, "a part of a profile" {
        /// The harness sees what it must (`sim self-check`).
        SelfCheck = "self-check",
        /// Every planted bug must die by its check (`sim mutants`).
        KillTable = "kill-table",
        /// Every crash, error and survivor set of every scenario (`sim sweep --all`).
        Sweeps = "sweeps",
    }
}

impl Part {
    /// Whether it runs before the seeds, so that its time is taken off theirs: what takes seconds does, and what may
    /// take hours has a time of its own.
    pub const fn comes_first(self) -> bool {
        match self {
            Self::SelfCheck => true,
            Self::KillTable | Self::Sweeps => false,
        }
    }
}

/// How a part ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartEnd {
    /// Which.
    pub part: Part,
    /// How.
    pub exit: Exit,
    /// How long it took.
    pub elapsed: Duration,
}
