//! What the exit status says (CONTRACTS 2). A status is a public promise: none changes its meaning.

use std::process::{ExitCode, Termination};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Served, nothing to repair; or the help, or the bytes to inspect, were shown.
    Clean,
    /// The command line is wrong.
    Usage,
    /// A repair is due, or was made.
    Repair,
    /// Refused.
    Refused,
    /// Nothing could be learnt now.
    Unavailable,
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) const fn status(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Usage => 2,
            Self::Repair => 10,
            Self::Refused => 20,
            Self::Unavailable => 30,
        }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self.status())
    }
}
