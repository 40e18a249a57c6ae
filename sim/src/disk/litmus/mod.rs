//! Litmus tests: each cell of FAULT_MODEL 2.5, 2.6 and 2.8 as a tiny program with allowed and forbidden
//! outcomes.
//!
//! Promises: a forbidden outcome that a filesystem's model can produce, and an allowed one that it cannot,
//! are both found, so that six filesystems are six models and not six names. Leaves out: real kernels, which
//! `sim kernel-check` is for.

mod explore;
mod failed_sync;
mod hand;
mod restart;
mod survival_bytes;
mod survival_names;

use crate::schedule::Filesystem;

/// A tiny program: it runs on one filesystem and names every outcome it sees.
type Program = fn(Filesystem, &mut Seen);

/// One litmus test.
#[derive(Clone, Copy, Debug)]
pub struct Litmus {
    /// What it is about, as a permanent kebab-case word.
    pub name: &'static str,
    /// The cell it stands for.
    pub cell: &'static str,
    /// Each outcome, and the filesystems that allow it, by their letters in a token (`owjxbp`). On every
    /// other filesystem it is forbidden, as is any outcome that is not listed.
    pub outcomes: &'static [(&'static str, &'static str)],
    program: Program,
}

/// What one litmus test came to on one filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LitmusResult {
    /// Which test.
    pub name: &'static str,
    /// On which filesystem.
    pub filesystem: Filesystem,
    /// How it went.
    pub verdict: LitmusVerdict,
}

/// How a litmus test went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LitmusVerdict {
    /// Every allowed outcome was seen, and no other.
    Holds {
        /// How many states were looked at.
        states: u32,
    },
    /// An outcome was seen that the filesystem forbids.
    ForbiddenSeen {
        /// Which.
        outcome: &'static str,
    },
    /// An outcome was not seen that the filesystem allows.
    AllowedNeverSeen {
        /// Which.
        outcome: &'static str,
    },
}

/// The outcomes that a program saw.
#[derive(Debug, Default)]
struct Seen {
    outcomes: Vec<&'static str>,
    states: u32,
}

impl Seen {
    /// Notes the outcome of one state.
    fn note(&mut self, outcome: &'static str) {
        self.states += 1;
        if !self.outcomes.contains(&outcome) {
            self.outcomes.push(outcome);
        }
    }
}

/// Every litmus test, in the order of FAULT_MODEL.
pub fn litmus_tests() -> impl Iterator<Item = &'static Litmus> {
    survival_bytes::TESTS.iter().chain(survival_names::TESTS).chain(failed_sync::TESTS).chain(restart::TESTS)
}

/// Runs every litmus test on every filesystem.
pub fn run_litmus_tests() -> Vec<LitmusResult> {
    let mut results = Vec::new();
    for litmus in litmus_tests() {
        for filesystem in Filesystem::ALL {
            let verdict = litmus.run(filesystem);
            results.push(LitmusResult { name: litmus.name, filesystem, verdict });
        }
    }
    results
}

impl Litmus {
    /// Runs the test on one filesystem.
    pub fn run(&self, filesystem: Filesystem) -> LitmusVerdict {
        let mut seen = Seen::default();
        (self.program)(filesystem, &mut seen);
        let letter = letter_of(filesystem);
        let allows = |(outcome, letters): &&(&'static str, &'static str)| {
            assert!(letters.chars().all(|letter| LETTERS.contains(letter)), "{outcome} names filesystems");
            letters.contains(letter)
        };
        let allowed: Vec<&'static str> = self.outcomes.iter().filter(allows).map(|row| row.0).collect();
        if let Some(outcome) = seen.outcomes.iter().find(|outcome| !allowed.contains(outcome)) {
            return LitmusVerdict::ForbiddenSeen { outcome };
        }
        if let Some(outcome) = allowed.iter().find(|outcome| !seen.outcomes.contains(outcome)) {
            return LitmusVerdict::AllowedNeverSeen { outcome };
        }
        LitmusVerdict::Holds { states: seen.states }
    }
}

/// The letters of all filesystems.
const LETTERS: &str = "owjxbp";

/// A filesystem's letter in a token.
fn letter_of(filesystem: Filesystem) -> char {
    match filesystem {
        Filesystem::Ext4Ordered => 'o',
        Filesystem::Ext4Writeback => 'w',
        Filesystem::Ext4Journal => 'j',
        Filesystem::Xfs => 'x',
        Filesystem::Btrfs => 'b',
        Filesystem::Adversarial => 'p',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_allowed_outcome_is_reached_and_no_forbidden_one() {
        let mut wrong = Vec::new();
        for result in run_litmus_tests() {
            let LitmusResult { name, filesystem, verdict } = result;
            match verdict {
                LitmusVerdict::Holds { .. } => {}
                LitmusVerdict::ForbiddenSeen { outcome } => {
                    wrong.push(format!("{name} on {}: {outcome} is forbidden, and seen", filesystem.code()));
                }
                LitmusVerdict::AllowedNeverSeen { outcome } => {
                    wrong.push(format!(
                        "{name} on {}: {outcome} is allowed, and never seen",
                        filesystem.code()
                    ));
                }
            }
        }
        assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    }

    #[test]
    fn no_two_filesystems_allow_the_same() {
        let rows = |filesystem: Filesystem| -> Vec<(&str, &str)> {
            let letter = letter_of(filesystem);
            let all = litmus_tests().flat_map(|litmus| litmus.outcomes.iter().map(|row| (litmus.name, row)));
            all.filter(|(_, row)| row.1.contains(letter)).map(|(name, row)| (name, row.0)).collect()
        };
        for (at, left) in Filesystem::ALL.into_iter().enumerate() {
            for right in Filesystem::ALL.into_iter().skip(at + 1) {
                assert_ne!(rows(left), rows(right), "{} and {}", left.code(), right.code());
            }
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = litmus_tests().map(|litmus| litmus.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
