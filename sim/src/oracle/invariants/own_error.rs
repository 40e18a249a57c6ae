//! I20 and I21 of a host: an error that it tells of has a failed call behind it, and one error is not enough to give up
//! what lies here.
//!
//! Asked of every partition that is called unavailable, of every copy that is given up for an error of storage, and of
//! every partition that is given up because it stays unreadable. Does not claim that a failed call is reason enough.

use recovery_core::host::UNREADABLE_TRIES;
use recovery_core::storage::{Errno, StorageError};

use crate::oracle::{Check, Value, Violation};

/// What is wrong with an error that a host tells of: `failed` are the errors of the calls that it made.
pub fn check_own_error(error: &StorageError, failed: impl IntoIterator<Item = Errno>) -> Option<Violation> {
    // A name that is taken is no failure of the disk: whoever wanted it has chosen it.
    let is_chosen = error.errno == Errno::EXISTS || error.errno == Errno::NOT_EMPTY;
    let has_cause = !is_chosen && failed.into_iter().any(|errno| errno == error.errno);
    let (expected, actual) = (Value::Code("a call that failed"), Value::Code("none"));
    (!has_cause).then(|| Violation::new(Check::I20, "the cause of an error", expected, actual))
}

/// What is wrong with giving up what stays unreadable: nothing could be said of it `tries` times in a row before.
pub fn check_given_up(tries: u8) -> Option<Violation> {
    let (expected, actual) = (Value::Number(UNREADABLE_TRIES.into()), Value::Number((tries + 1).into()));
    let subject = "tries before what is unreadable is given up";
    (tries + 1 < UNREADABLE_TRIES).then(|| Violation::new(Check::I21, subject, expected, actual))
}

#[cfg(test)]
mod tests {
    use recovery_core::format::FileName;
    use recovery_core::storage::Call;

    use super::*;

    #[track_caller]
    fn check(errno: Errno, failed: &[Errno], expected: Option<Check>) {
        let error = StorageError { call: Call::Rename, file: FileName::complete(), errno };
        let found = check_own_error(&error, failed.iter().copied());
        assert_eq!(found.map(|violation| violation.check), expected);
    }

    #[test]
    fn an_error_of_a_call_passes_and_one_of_the_host_is_a_violation() {
        check(Errno::IO, &[Errno::IO], None);
        check(Errno::IO, &[], Some(Check::I20));
        check(Errno::STALE, &[Errno::IO], Some(Check::I20));
        check(Errno::EXISTS, &[Errno::EXISTS], Some(Check::I20));
    }

    #[test]
    fn giving_up_before_the_last_try_is_a_violation() {
        assert!(check_given_up(UNREADABLE_TRIES - 1).is_none());
        assert_eq!(check_given_up(0).map(|violation| violation.check), Some(Check::I21));
    }
}
