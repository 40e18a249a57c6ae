//! Exit codes: a public interface (CONTRACTS 3).

use std::process::ExitCode;

/// How a command ended. Several at once: the first in the order of [`Exit::worst`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All held.
    Held = 0,
    /// A check failed, or an expectation did.
    Failed = 1,
    /// The command line, a file or a token is wrong.
    Usage = 2,
    /// One schedule gave two digests.
    Nondeterminism = 3,
    /// Nothing ran, or a goal was missed.
    Nothing = 4,
    /// A bug of the harness itself.
    Harness = 70,
    /// Somebody ended it; what was found is kept and reported.
    Interrupted = 130,
}

impl Exit {
    /// Every way to end, the worst first: what is wrong of several at once.
    pub const ALL: [Self; 7] = [
        Self::Usage,
        Self::Harness,
        Self::Nondeterminism,
        Self::Failed,
        Self::Interrupted,
        Self::Nothing,
        Self::Held,
    ];

    /// The code of a command that ended in several ways at once.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        let rank = |exit| Self::ALL.iter().position(|ranked| *ranked == exit);
        if rank(self) <= rank(other) { self } else { other }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_two_ends_is_the_same_in_either_order() {
        for one in Exit::ALL {
            for other in Exit::ALL {
                assert_eq!(one.worst(other), other.worst(one));
            }
            assert_eq!(one.worst(Exit::Held), one);
        }
        assert_eq!(Exit::Failed.worst(Exit::Harness), Exit::Harness);
        assert_eq!(Exit::Failed.worst(Exit::Interrupted), Exit::Failed);
        assert_eq!(Exit::Nothing.worst(Exit::Interrupted), Exit::Interrupted);
    }
}
