//! Litmus tests: each cell of FAULT_MODEL 2.5, 2.6 and 2.8 as a tiny program with allowed and forbidden
//! outcomes.
//!
//! Promises: a forbidden outcome that a filesystem's model can produce, and an allowed one that it cannot,
//! are both found, so that six filesystems are six models and not six names. Leaves out: real kernels, which
//! `sim kernel-check` is for.

pub mod every_state;
pub(super) mod explore;
mod failed_parts;
mod failed_sync;
pub(super) mod hand;
mod medium;
mod restart;
mod shown_by_kernels;
mod survival_bytes;
mod survival_names;

use crate::schedule::Filesystem;

use super::rules::{Rules, rules_of};
use hand::Hand;

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
#[derive(Debug)]
struct Seen {
    /// What the filesystem is taken to promise: its own rules, or wrong ones that must be found out.
    rules: &'static Rules,
    outcomes: Vec<&'static str>,
    states: u32,
}

impl Seen {
    /// An empty disk for the program.
    fn hand(&self, filesystem: Filesystem) -> Hand {
        Hand::with_rules(filesystem, self.rules)
    }

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
    survival_bytes::TESTS
        .iter()
        .chain(survival_names::TESTS)
        .chain(medium::TESTS)
        .chain(failed_sync::TESTS)
        .chain(failed_parts::TESTS)
        .chain(restart::TESTS)
        .chain(shown_by_kernels::TESTS)
}

/// Runs every litmus test on every filesystem.
///
/// # Examples
///
/// ```
/// use sim::disk::litmus::{LitmusVerdict, litmus_tests, run_litmus_tests};
/// use sim::schedule::Filesystem;
///
/// let results = run_litmus_tests();
/// assert_eq!(results.len(), litmus_tests().count() * Filesystem::ALL.len());
/// // Every outcome that the model of a filesystem allows was seen, and no other.
/// assert!(results.iter().all(|result| matches!(result.verdict, LitmusVerdict::Holds { .. })));
/// ```
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
        self.run_by(filesystem, rules_of(filesystem))
    }

    fn run_by(&self, filesystem: Filesystem, rules: &'static Rules) -> LitmusVerdict {
        let mut seen = Seen { rules, outcomes: Vec::new(), states: 0 };
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
    use super::super::rules::{AppendOrder, FailedData, FailedJournal, Fills, NamesSynced, Sequence};
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

    const SYNCED: [NamesSynced; 4] =
        [NamesSynced::Nothing, NamesSynced::Own, NamesSynced::Earlier, NamesSynced::All];

    /// A wrong row for each cell of a filesystem's row, with the cell's name.
    fn wrong_rules(right: Rules) -> Vec<(&'static str, Rules)> {
        let mut wrong = Vec::new();
        macro_rules! flip {
            ($($field:ident),*) => {
                $(wrong.push((stringify!($field), Rules { $field: !right.$field, ..right }));)*
            };
        }
        macro_rules! change {
            ($($field:ident: $values:expr),*) => {
                $(for value in $values {
                    if value != right.$field {
                        wrong.push((stringify!($field), Rules { $field: value, ..right }));
                    }
                })*
            };
        }
        flip!(
            groups_are_whole,
            overwrites_order_all,
            new_pages_are_whole,
            old_pages_are_whole,
            length_waits_in_new_page,
            length_waits_in_old_page,
            lengths_follow_pages,
            lengths_end_at_sectors,
            fills_old_pages,
            rename_waits_for_length,
            cut_waits_for_zeros,
            blocks_are_new_after_cut,
            checks_data
        );
        change!(
            sequence: [Sequence::Nothing, Sequence::Metadata, Sequence::Everything],
            append_order: [AppendOrder::Nothing, AppendOrder::Pages, AppendOrder::Calls],
            fills: [Fills::Zeros, Fills::Stale, Fills::Any],
            file_sync_names: SYNCED,
            directory_sync_names: SYNCED,
            failed_data: [
                FailedData::LengthStays,
                FailedData::LengthStaysReportedLate,
                FailedData::LengthDropped,
                FailedData::Reverted
            ],
            failed_journal: [FailedJournal::ReadOnly, FailedJournal::Shutdown, FailedJournal::SyncFails]
        );
        wrong
    }

    /// Rules that change nothing on some filesystems, since another rule of theirs is stronger.
    const MEANINGLESS: &[(&str, &str)] = &[
        // One sequence of everything leaves nothing else to order.
        ("new_pages_are_whole", "j"),
        ("append_order", "j"),
        ("blocks_are_new_after_cut", "j"),
        // Names or cuts have no order to wait in.
        ("rename_waits_for_length", "jbp"),
        ("cut_waits_for_zeros", "jbp"),
        // A length that waits for its page never ends inside one, nor shows what was behind a cut.
        ("lengths_end_at_sectors", "jxb"),
        // A page that shows whole, or whose lengths wait, has nothing to fill.
        ("fills", "jxb"),
        ("fills_old_pages", "ojxb"),
    ];

    #[test]
    fn a_wrong_rule_is_found_out() {
        let mut missed = Vec::new();
        for filesystem in Filesystem::ALL {
            for (field, rules) in wrong_rules(*rules_of(filesystem)) {
                let rules: &'static Rules = Box::leak(Box::new(rules));
                let holds = |litmus: &Litmus| {
                    let verdict = std::panic::catch_unwind(|| litmus.run_by(filesystem, rules));
                    matches!(verdict, Ok(LitmusVerdict::Holds { .. }))
                };
                let entry = (letter_of(filesystem), field);
                if litmus_tests().all(holds) && !missed.contains(&entry) {
                    missed.push(entry);
                }
            }
        }
        let expected =
            MEANINGLESS.iter().flat_map(|&(field, letters)| letters.chars().map(move |it| (it, field)));
        let mut expected: Vec<(char, &str)> = expected.collect();
        expected.sort_unstable();
        missed.sort_unstable();
        assert_eq!(missed, expected);
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
