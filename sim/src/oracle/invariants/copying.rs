//! I19 of what lies around a copy: it is begun only from a peer that gives all that verifies here, what a whole peer
//! gives comes, and what has the place of a partition is the newest that had it.
//!
//! Asked when a copy is begun, when one is given up, and when a partition is served. Does not claim anything of the bytes
//! of a copy ([`super::check_installed`]).

use recovery_core::units::Offset;

use crate::oracle::{Check, Value, Violation};

/// What is here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Offsets that verify, each run with one behind its last.
    pub runs: Vec<(Offset, Offset)>,
    /// One behind the last offset that a mark has as durable, whatever has become of it since.
    pub marked_next: Offset,
    /// Whether a part of a log cannot be read: it may hold anything.
    pub is_unreadable: bool,
}

/// What a peer offers, as far as its numbers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Where the peer's chain starts: what lies below it retention has removed there.
    pub floor: Offset,
    /// The first offset of each segment that has one, and one behind its last, ascending.
    pub runs: Vec<(Offset, Offset)>,
    /// The offset that its next message gets.
    pub next: Offset,
}

/// What is wrong with a copy that was begun: offsets that are here, and that the peer does not give (N21, G25).
pub fn check_begun(held: &Held, given: &Given) -> Option<Violation> {
    if given.next < held.marked_next {
        let subject = "the end of a copy";
        return Some(Violation::new(Check::I19, subject, held.marked_next.into(), given.next.into()));
    }
    if given.runs.is_empty() && held.is_unreadable {
        let (expected, actual) = (Value::Code("a message"), Value::None);
        return Some(Violation::new(Check::I19, "a copy for what cannot be read", expected, actual));
    }
    let is_given = |(first, next): &(Offset, Offset)| {
        let from = (*first).max(given.floor);
        let end = given.runs.iter().fold(from, |at, run| if run.0 <= at { at.max(run.1) } else { at });
        !given.runs.is_empty() && *next <= end
    };
    let left_out = held.runs.iter().find(|run| !is_given(run))?;
    Some(Violation::new(Check::I19, "what a copy leaves out", Value::None, left_out.0.into()))
}

/// What is wrong with a copy that was given up because of what came: the peer, and all on the way, is whole.
pub fn check_came(is_whole: bool, why: &'static str) -> Option<Violation> {
    let (expected, actual) = (Value::Code("installed"), Value::Code(why));
    is_whole.then(|| Violation::new(Check::I19, "a copy of a whole peer", expected, actual))
}

/// What is wrong with what is served again: it is not what was served last, and did not come from a peer since.
pub fn check_newest(is_newest: bool) -> Option<Violation> {
    let (expected, actual) = (Value::Code("the newest"), Value::Code("an older one"));
    (!is_newest).then(|| Violation::new(Check::I19, "the directory that is served", expected, actual))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(runs: &[(u64, u64)]) -> Vec<(Offset, Offset)> {
        runs.iter().map(|(first, next)| (Offset::new(*first), Offset::new(*next))).collect()
    }

    #[track_caller]
    fn check(held: &[(u64, u64)], floor: u64, given: &[(u64, u64)], expected: Option<u64>) {
        let next = Offset::new(given.last().map_or(floor, |run| run.1));
        let given = Given { floor: Offset::new(floor), runs: runs(given), next };
        let held = Held { runs: runs(held), marked_next: Offset::ZERO, is_unreadable: false };
        let found = check_begun(&held, &given).map(|violation| (violation.check, violation.actual));
        assert_eq!(found, expected.map(|first| (Check::I19, Value::Number(first))));
    }

    #[test]
    fn a_copy_that_holds_what_is_here_passes() {
        check(&[], 0, &[], None);
        check(&[(0, 2), (2, 3)], 0, &[(0, 4)], None);
        check(&[(0, 2), (2, 5)], 0, &[(0, 3), (3, 5)], None);
        // Retention has removed it there.
        check(&[(0, 2), (2, 5)], 3, &[(3, 5)], None);
    }

    #[test]
    fn a_copy_that_leaves_something_out_is_a_violation() {
        check(&[(0, 2), (2, 5)], 0, &[(0, 4)], Some(2));
        check(&[(0, 2), (2, 5)], 0, &[(0, 2), (3, 5)], Some(2));
        check(&[(4, 5)], 0, &[(0, 4), (5, 6)], Some(4));
        // It has no message at all.
        check(&[(0, 2)], 3, &[], Some(0));
    }

    #[test]
    fn a_copy_that_ends_before_what_a_mark_has_is_a_violation() {
        let held = |marked_next| Held {
            runs: Vec::new(),
            marked_next: Offset::new(marked_next),
            is_unreadable: false,
        };
        let given = Given { floor: Offset::ZERO, runs: runs(&[(0, 4)]), next: Offset::new(5) };
        assert!(check_begun(&held(5), &given).is_none());
        assert_eq!(check_begun(&held(6), &given).map(|violation| violation.check), Some(Check::I19));
    }

    #[test]
    fn a_copy_without_a_message_for_what_cannot_be_read_is_a_violation() {
        let held = |is_unreadable| Held { is_unreadable, ..Held::default() };
        let given = |all: &[(u64, u64)]| Given { floor: Offset::ZERO, runs: runs(all), next: Offset::new(4) };
        let found = check_begun(&held(true), &given(&[])).map(|violation| violation.check);
        assert_eq!(found, Some(Check::I19));
        assert!(check_begun(&held(true), &given(&[(0, 4)])).is_none());
        assert!(check_begun(&held(false), &given(&[])).is_none());
    }

    #[test]
    fn a_whole_copy_that_is_not_taken_and_an_old_one_that_is_are_violations() {
        assert_eq!(check_came(true, "not-as-offered").map(|violation| violation.check), Some(Check::I19));
        assert!(check_came(false, "not-as-offered").is_none());
        assert_eq!(check_newest(false).map(|violation| violation.check), Some(Check::I19));
        assert!(check_newest(true).is_none());
    }
}
