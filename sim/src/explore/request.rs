//! What is asked of a sweep.
//!
//! Promises: plain data. Leaves out: running it.

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Where the node goes down.
    Crash,
    /// Which call fails, and how.
    Error,
    /// What survives.
    Survivors,
    /// What is damaged.
    Fields,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Crash, Self::Error, Self::Survivors, Self::Fields];

    /// The permanent word.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Error => "error",
            Self::Survivors => "survivors",
            Self::Fields => "fields",
        }
    }
}

/// What is asked of a sweep.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is varied.
    pub kinds: Vec<Kind>,
    /// Crashes one after the other: 1, or 2 for one more in the recovery that follows.
    pub depth: u32,
    /// Most worlds, those that only lead to a state included.
    pub runs: u64,
    /// Threads.
    pub jobs: usize,
    /// Whether states that were met before are gone on with all the same.
    pub keeps_equal: bool,
}
