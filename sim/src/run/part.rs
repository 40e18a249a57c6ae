//! What a run of a profile does besides its seeds: the self-check, the kill table and the sweeps.

use crate::exit::Exit;
use crate::schedule::word::words;

words! {
    /// A command that a profile runs behind its seeds.
    Part, "a part of a profile" {
        /// The harness sees what it must (`sim self-check`).
        SelfCheck = "self-check",
        /// Every planted bug must die by its check (`sim mutants`).
        KillTable = "kill-table",
        /// Every crash, error and survivor set of every scenario (`sim sweep --all`).
        Sweeps = "sweeps",
    }
}

/// How a part ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartEnd {
    /// Which.
    pub part: Part,
    /// How.
    pub exit: Exit,
}
